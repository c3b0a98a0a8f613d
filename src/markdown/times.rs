//! Global times: `<time:2017-06-05T22:30:00Z>`, shown by each client in its reader's time zone.

use std::ops::Range;

use jiff::{
    Timestamp,
    civil::{Date, Time},
    tz::{Offset, TimeZone},
};

use super::html::{Attribute, Element, Node, Tag, text};

/// The next time.
pub fn find(source: &str, from: usize) -> Option<(Range<usize>, Option<Vec<Node>>)> {
    const OPENING: &str = "<time:";
    let start = from + source[from..].find(OPENING)?;
    let typed = &source[start + OPENING.len()..];
    let typed = &typed[..typed.find('>')?];
    let end = start + OPENING.len() + typed.len() + 1;
    let node = match parse(typed) {
        Some(time) => Element::new(Tag::Time, vec![text(typed)])
            .with(vec![Attribute::DateTime(time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string())]),
        None => Element::new(Tag::Span, vec![text(format!("Invalid time format: {typed}"))])
            .with(vec![Attribute::Class("timestamp-error".to_owned())]),
    };
    Some((start..end, Some(vec![node.node()])))
}

/// A point in time as people write it: ISO 8601, seconds since 1970, or `Jun 5th 2017, 10:30PM`.
fn parse(typed: &str) -> Option<Timestamp> {
    let time = seconds(typed).or_else(|| words(typed))?;
    (1..=9999).contains(&time.to_zoned(TimeZone::UTC).year()).then_some(time)
}

/// More than eight digits are seconds; up to eight could be a date.
fn seconds(typed: &str) -> Option<Timestamp> {
    let typed = typed.trim();
    let whole = typed.split_once('.').map_or(typed, |(whole, _)| whole);
    let digits = whole.strip_prefix('-').unwrap_or(whole);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) || digits.len() == 8 {
        return None;
    }
    Timestamp::from_second(whole.parse().ok()?).ok()
}

/// What the words of a time have said so far.
#[derive(Default)]
struct Parts {
    year: Option<i16>,
    month: Option<i8>,
    day: Option<i8>,
    time: Option<Time>,
    offset: Option<Offset>,
}

fn words(typed: &str) -> Option<Timestamp> {
    let mut parts = Parts::default();
    let lower = typed.to_ascii_lowercase();
    for word in lower.split([' ', ',']).filter(|word| !word.is_empty()) {
        parts.read(word)?;
    }
    let date = Date::new(parts.year?, parts.month?, parts.day?).ok()?;
    let zone = parts.offset.unwrap_or(Offset::UTC);
    zone.to_timestamp(date.to_datetime(parts.time.unwrap_or_else(Time::midnight))).ok()
}

impl Parts {
    /// Takes in a word; `None` if it says nothing about a time.
    fn read(&mut self, word: &str) -> Option<()> {
        if let Some((date, time)) =
            word.split_once('t').filter(|(date, _)| date.contains('-') && date.len() >= 8)
        {
            self.read(date)?;
            return self.read_time(time);
        }
        if word.contains(':') {
            return self.read_time(word);
        }
        if let Some(month) = month(word) {
            return set(&mut self.month, month);
        }
        if matches!(word, "z" | "utc" | "gmt") {
            return set(&mut self.offset, Offset::UTC);
        }
        if self.time.is_some() && word.starts_with(['+', '-']) {
            return set(&mut self.offset, offset(word)?);
        }
        if matches!(word, "am" | "pm") {
            let time = self.time.take()?;
            return set(&mut self.time, twelve_hours(time, word)?);
        }
        if weekday(word) || matches!(word, "at" | "on" | "of" | "and") {
            return Some(());
        }
        self.read_date(word)
    }

    fn read_date(&mut self, word: &str) -> Option<()> {
        let fields: Vec<&str> = word.split(['-', '/', '.']).filter(|field| !field.is_empty()).collect();
        match fields[..] {
            [year, month_field, day] if year.len() == 4 => {
                set(&mut self.year, year.parse().ok()?)?;
                set(&mut self.month, month(month_field).or_else(|| month_field.parse().ok())?)?;
                set(&mut self.day, day.parse().ok()?)
            }
            [first, second, year] if year.len() == 4 => {
                set(&mut self.year, year.parse().ok()?)?;
                if let Some(named) = month(second) {
                    set(&mut self.month, named)?;
                    return set(&mut self.day, first.parse().ok()?);
                }
                // Month first, unless that cannot be a month.
                let (first, second): (i8, i8) = (first.parse().ok()?, second.parse().ok()?);
                let (month, day) = if first > 12 { (second, first) } else { (first, second) };
                set(&mut self.month, month)?;
                set(&mut self.day, day)
            }
            [year, month] if year.len() == 4 => {
                set(&mut self.year, year.parse().ok()?)?;
                set(&mut self.month, month.parse().ok()?)?;
                set(&mut self.day, 1)
            }
            [date] if date.len() == 8 && date.bytes().all(|byte| byte.is_ascii_digit()) => {
                set(&mut self.year, date[..4].parse().ok()?)?;
                set(&mut self.month, date[4..6].parse().ok()?)?;
                set(&mut self.day, date[6..].parse().ok()?)
            }
            [number] => {
                let digits = number.trim_end_matches(|c: char| c.is_ascii_alphabetic());
                match (digits.len(), &number[digits.len()..]) {
                    (4, "") => set(&mut self.year, digits.parse().ok()?),
                    (1 | 2, "" | "st" | "nd" | "rd" | "th") => set(&mut self.day, digits.parse().ok()?),
                    (1 | 2, half @ ("am" | "pm")) => {
                        let hour = Time::new(digits.parse().ok()?, 0, 0, 0).ok()?;
                        set(&mut self.time, twelve_hours(hour, half)?)
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// `22:30`, `22:30:15.5`, `10:30pm`, each with an offset from UTC or without.
    fn read_time(&mut self, word: &str) -> Option<()> {
        let end = word.find(|c: char| !c.is_ascii_digit() && !matches!(c, ':' | '.')).unwrap_or(word.len());
        let (clock, rest) = word.split_at(end);
        let mut fields = clock.split(':');
        let hour = fields.next()?.parse().ok()?;
        let minute = fields.next().map_or(Some(0), |minute| minute.parse().ok())?;
        // Fractions of a second are not shown.
        let second = fields.next().map_or(Some(0), |second| second.split('.').next()?.parse().ok())?;
        if fields.next().is_some() {
            return None;
        }
        let time = Time::new(hour, minute, second, 0).ok()?;
        match rest {
            "" => set(&mut self.time, time),
            "am" | "pm" => set(&mut self.time, twelve_hours(time, rest)?),
            _ => {
                set(&mut self.time, time)?;
                set(&mut self.offset, offset(rest)?)
            }
        }
    }
}

/// Says a thing once; a second time contradicts.
fn set<T>(place: &mut Option<T>, value: T) -> Option<()> {
    place.is_none().then(|| *place = Some(value))
}

fn month(word: &str) -> Option<i8> {
    const MONTHS: [&str; 12] = [
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
    ];
    let word = word.trim_end_matches('.');
    if word == "sept" {
        return Some(9);
    }
    let at =
        MONTHS.iter().position(|month| *month == word || (word.len() == 3 && month.starts_with(word)))?;
    i8::try_from(at + 1).ok()
}

fn weekday(word: &str) -> bool {
    const DAYS: [&str; 7] = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
    DAYS.iter().any(|day| *day == word || (word.len() >= 3 && day.starts_with(word)))
}

fn twelve_hours(time: Time, half: &str) -> Option<Time> {
    let hour = time.hour();
    if !(1..=12).contains(&hour) {
        return None;
    }
    let hour = hour % 12 + if half == "pm" { 12 } else { 0 };
    Time::new(hour, time.minute(), time.second(), 0).ok()
}

/// `z`, `+02`, `+0200`, `+02:00`.
fn offset(word: &str) -> Option<Offset> {
    if matches!(word, "z" | "utc" | "gmt") {
        return Some(Offset::UTC);
    }
    let sign = match word.chars().next()? {
        '+' => 1,
        '-' => -1,
        _ => return None,
    };
    let digits: String = word[1..].chars().filter(|&c| c != ':').collect();
    if !matches!(digits.len(), 2 | 4) || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let hours: i32 = digits[..2].parse().ok()?;
    let minutes: i32 = if digits.len() == 4 { digits[2..].parse().ok()? } else { 0 };
    Offset::from_seconds(sign * (hours * 3600 + minutes * 60)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_people_write_them() {
        for (typed, time) in [
            ("2017-06-05T22:30:00Z", Some("2017-06-05T22:30:00Z")),
            ("2017-06-05T22:30:00+02:00", Some("2017-06-05T20:30:00Z")),
            ("2017-06-05 22:30", Some("2017-06-05T22:30:00Z")),
            ("2017-06-05T22:30:15.250-0330", Some("2017-06-06T02:00:15Z")),
            ("Jun 5th 2017, 10:30PM", Some("2017-06-05T22:30:00Z")),
            ("Mon, 5 June 2017 12:05 am", Some("2017-06-05T00:05:00Z")),
            ("6/5/2017", Some("2017-06-05T00:00:00Z")),
            ("25/5/2017", Some("2017-05-25T00:00:00Z")),
            ("20170605", Some("2017-06-05T00:00:00Z")),
            ("1496701800", Some("2017-06-05T22:30:00Z")),
            ("1496701800.75", Some("2017-06-05T22:30:00Z")),
            ("1234567890123", None),
            ("0001-01-01T01:00:00+02:00", None),
            ("2017-13-05", None),
            ("10:30", None),
            ("tomorrow", None),
            ("2017-06-05T25:00", None),
            ("", None),
            ("2017 2018 June 5", None),
        ] {
            let read = parse(typed).map(|time| time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string());
            assert_eq!(read.as_deref(), time, "{typed}");
        }
    }
}

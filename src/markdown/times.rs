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
        Some(time) => {
            Element::new(Tag::Time, vec![text(typed)]).with(vec![Attribute::DateTime(written(time))])
        }
        None => Element::new(Tag::Span, vec![text(format!("Invalid time format: {typed}"))])
            .with(vec![Attribute::Class("timestamp-error".to_owned())]),
    };
    Some((start..end, Some(vec![node.node()])))
}

/// The time in UTC, with its microseconds if there are any.
fn written(time: Timestamp) -> String {
    let format = if time.subsec_microsecond() == 0 { "%Y-%m-%dT%H:%M:%SZ" } else { "%Y-%m-%dT%H:%M:%S.%6fZ" };
    time.strftime(format).to_string()
}

/// A point in time as people write it: ISO 8601, seconds since 1970, or `Jun 5th 2017, 10:30PM`.
fn parse(typed: &str) -> Option<Timestamp> {
    // Eight digits are a date if they can be, other numbers are seconds.
    let is_date = typed.trim().len() == 8;
    let date = is_date.then(|| words(typed)).flatten();
    let time = date.or_else(|| seconds(typed)).or_else(|| words(typed))?;
    (1..=9999).contains(&time.to_zoned(TimeZone::UTC).year()).then_some(time)
}

/// Digits, with or without a fraction.
fn seconds(typed: &str) -> Option<Timestamp> {
    let typed = typed.trim();
    let (whole, fraction) = typed.split_once('.').unwrap_or((typed, ""));
    let digits = whole.strip_prefix('-').unwrap_or(whole);
    let is_number = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit());
    if digits.is_empty() || !is_number(digits) || !is_number(fraction) {
        return None;
    }
    let fraction = subsecond(fraction)?;
    let seconds: i64 = whole.parse().ok()?;
    Timestamp::new(seconds, if whole.starts_with('-') { -fraction } else { fraction }).ok()
}

/// The nanoseconds that the digits behind a point mean; what is finer than a microsecond is dropped.
fn subsecond(digits: &str) -> Option<i32> {
    let digits = digits.get(..digits.len().min(6))?;
    let micros: i32 = format!("{digits:0<6}").parse().ok()?;
    micros.checked_mul(1000)
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
    let mut words = lower.split([' ', ',']).filter(|word| !word.is_empty()).peekable();
    while let Some(word) = words.next() {
        match words.next_if(|next| matches!(*next, "am" | "pm")) {
            Some(half) => parts.read(&format!("{word}{half}"))?,
            None => parts.read(word)?,
        }
    }
    let date = Date::new(parts.year?, parts.month?, parts.day?).ok()?;
    let zone = parts.offset.unwrap_or(Offset::UTC);
    zone.to_timestamp(date.to_datetime(parts.time.unwrap_or_else(Time::midnight))).ok()
}

impl Parts {
    /// Takes in a word; `None` if it says nothing about a time.
    fn read(&mut self, word: &str) -> Option<()> {
        if let Some((date, time)) = word.split_once('t').filter(|(date, _)| {
            date.len() >= 8 && date.starts_with(|c: char| c.is_ascii_digit()) && !date.contains(':')
        }) {
            self.read(date)?;
            return self.read_time(&with_colons(time));
        }
        if self.time.is_some() && word.starts_with(['+', '-']) {
            return set(&mut self.offset, offset(word)?);
        }
        if word.contains(':') {
            return self.read_time(word);
        }
        if let Some(month) = month(word) {
            return set(&mut self.month, month);
        }
        if let Some(offset) = zone(word) {
            return set(&mut self.offset, offset);
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
            [first, second, year] if matches!(year.len(), 2 | 4) => {
                set(&mut self.year, full_year(year)?)?;
                if let Some(named) = month(first) {
                    set(&mut self.month, named)?;
                    return set(&mut self.day, second.parse().ok()?);
                }
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
        let (second, fraction) =
            fields.next().map_or(("0", ""), |second| second.split_once('.').unwrap_or((second, "")));
        if fields.next().is_some() {
            return None;
        }
        let time = Time::new(hour, minute, second.parse().ok()?, subsecond(fraction)?).ok()?;
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
    if hour > 12 {
        return None;
    }
    let hour = hour % 12 + if half == "pm" { 12 } else { 0 };
    Time::new(hour, time.minute(), time.second(), time.subsec_nanosecond()).ok()
}

/// `17` means 2017, `99` means 1999.
fn full_year(year: &str) -> Option<i16> {
    let number: i16 = year.parse().ok()?;
    match (year.len(), number) {
        (2, 0..69) => Some(number + 2000),
        (2, _) => Some(number + 1900),
        _ => Some(number),
    }
}

/// `2230` and `223015` with colons.
fn with_colons(time: &str) -> String {
    let digits = time.bytes().take_while(u8::is_ascii_digit).count();
    match digits {
        4 => format!("{}:{}", &time[..2], &time[2..]),
        6 => format!("{}:{}:{}", &time[..2], &time[2..4], &time[4..]),
        _ => time.to_owned(),
    }
}

/// Abbreviations of time zones that people write, with their minutes east of Greenwich. Where several places use one,
/// it is the place that most people mean.
const ZONES: [(&str, i32); 49] = [
    ("z", 0),
    ("utc", 0),
    ("gmt", 0),
    ("wet", 0),
    ("west", 60),
    ("bst", 60),
    ("cet", 60),
    ("wat", 60),
    ("cest", 120),
    ("eet", 120),
    ("cat", 120),
    ("sast", 120),
    ("eest", 180),
    ("eat", 180),
    ("msk", 180),
    ("idt", 180),
    ("pkt", 300),
    ("ist", 330),
    ("wib", 420),
    ("wita", 480),
    ("hkt", 480),
    ("awst", 480),
    ("wit", 540),
    ("jst", 540),
    ("kst", 540),
    ("acst", 570),
    ("aest", 600),
    ("chst", 600),
    ("acdt", 630),
    ("aedt", 660),
    ("nzst", 720),
    ("nzdt", 780),
    ("ndt", -150),
    ("nst", -210),
    ("adt", -180),
    ("ast", -240),
    ("edt", -240),
    ("est", -300),
    ("cdt", -300),
    ("cst", -360),
    ("mdt", -360),
    ("mst", -420),
    ("pdt", -420),
    ("pst", -480),
    ("akdt", -480),
    ("akst", -540),
    ("hdt", -540),
    ("hst", -600),
    ("sst", -660),
];

fn zone(word: &str) -> Option<Offset> {
    let &(_, minutes) = ZONES.iter().find(|(name, _)| *name == word)?;
    Offset::from_seconds(minutes * 60).ok()
}

/// `z`, `+02`, `+0200`, `+02:00`, `pst`.
fn offset(word: &str) -> Option<Offset> {
    if let Some(zone) = zone(word) {
        return Some(zone);
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
    if hours >= 24 || minutes >= 60 {
        return None;
    }
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
            ("2017-06-05T22:30:15.250-0330", Some("2017-06-06T02:00:15.250000Z")),
            ("2017-06-05T22:30:00 +02:00", Some("2017-06-05T20:30:00Z")),
            ("2017-06-05T22:30:00+25:00", None),
            ("20170605T2230", Some("2017-06-05T22:30:00Z")),
            ("20170605T223015Z", Some("2017-06-05T22:30:15Z")),
            ("May 28 2020, 1:30 PM IST", Some("2020-05-28T08:00:00Z")),
            ("2017-06-05 22:30 PST", Some("2017-06-06T06:30:00Z")),
            ("2017-06-05 10 PM", Some("2017-06-05T22:00:00Z")),
            ("12 am June 5 2017", Some("2017-06-05T00:00:00Z")),
            ("2017-06-05 13 PM", None),
            ("Jun-05-2017", Some("2017-06-05T00:00:00Z")),
            ("05.06.2017", Some("2017-05-06T00:00:00Z")),
            ("2017.06.05", Some("2017-06-05T00:00:00Z")),
            ("6/5/17", Some("2017-06-05T00:00:00Z")),
            ("6/5/99", Some("1999-06-05T00:00:00Z")),
            ("Jun 5th 2017, 10:30PM", Some("2017-06-05T22:30:00Z")),
            ("Mon, 5 June 2017 12:05 am", Some("2017-06-05T00:05:00Z")),
            ("6/5/2017", Some("2017-06-05T00:00:00Z")),
            ("25/5/2017", Some("2017-05-25T00:00:00Z")),
            ("20170605", Some("2017-06-05T00:00:00Z")),
            ("12345678", Some("1970-05-23T21:21:18Z")),
            ("1496701800", Some("2017-06-05T22:30:00Z")),
            ("1496701800.75", Some("2017-06-05T22:30:00.750000Z")),
            ("1234567890123", None),
            ("0001-01-01T01:00:00+02:00", None),
            ("2017-13-05", None),
            ("10:30", None),
            ("tomorrow", None),
            ("2017-06-05T25:00", None),
            ("", None),
            ("2017 2018 June 5", None),
        ] {
            let read = parse(typed).map(written);
            assert_eq!(read.as_deref(), time, "{typed}");
        }
    }
}

//! Global times: `<time:2017-06-05T22:30:00Z>`, shown by each client in its reader's time zone.

use jiff::{
    Timestamp,
    civil::{Date, Time},
    fmt::strtime::BrokenDownTime,
    tz::{Offset, TimeZone},
};

use super::{
    html::{Attribute, Element, Tag, text},
    placeholders::Match,
};

/// Finds the next time.
pub fn find(source: &str, from: usize) -> Option<Match> {
    const OPENING: &str = "<time:";
    let start = from + source[from..].find(OPENING)?;
    let typed = &source[start + OPENING.len()..];
    let typed = &typed[..typed.find('>')?];
    let end = start + OPENING.len() + typed.len() + 1;
    let node = match parse(typed) {
        Some(time) => {
            Element::new(Tag::Time, vec![text(typed)]).with(vec![Attribute::DateTime(datetime(time))])
        }
        None => Element::new(Tag::Span, vec![text(format!("Invalid time format: {typed}"))])
            .with(vec![Attribute::Class("timestamp-error".to_owned())]),
    };
    Some((start..end, Some(vec![node.node()])))
}

/// Writes a time in UNIX seconds as a global time.
pub fn global_time(seconds: i64) -> String {
    let time = Timestamp::from_second(seconds).unwrap_or_default();
    format!("<time:{}>", time.strftime("%Y-%m-%dT%H:%M:%S+00:00"))
}

/// Formats a time in UTC, with its microseconds if there are any.
fn datetime(time: Timestamp) -> String {
    let format = if time.subsec_microsecond() == 0 { "%Y-%m-%dT%H:%M:%SZ" } else { "%Y-%m-%dT%H:%M:%S.%6fZ" };
    time.strftime(format).to_string()
}

/// Parses a time as people write it: ISO 8601, seconds since 1970, or `Jun 5th 2017, 10:30PM`.
fn parse(typed: &str) -> Option<Timestamp> {
    let typed = typed.trim();
    let time = basic_date(typed).or_else(|| seconds(typed)).or_else(|| civil(typed))?;
    (1..=9999).contains(&time.to_zoned(TimeZone::UTC).year()).then_some(time)
}

/// Parses eight digits, which are a date if they can be. Other numbers are seconds.
fn basic_date(typed: &str) -> Option<Timestamp> {
    let parsed = BrokenDownTime::parse("%Y%m%d", typed).ok().filter(|_| typed.len() == 8)?;
    Offset::UTC.to_timestamp(parsed.to_date().ok()?.to_datetime(Time::midnight())).ok()
}

fn seconds(typed: &str) -> Option<Timestamp> {
    let parsed = BrokenDownTime::parse("%s%.f", typed.trim_end_matches('.')).ok()?;
    let fraction = i64::from(parsed.subsec_nanosecond().unwrap_or(0));
    let fraction = if typed.starts_with('-') { -fraction } else { fraction };
    parsed.to_timestamp().ok()?.checked_add(jiff::SignedDuration::from_nanos(fraction)).ok()
}

/// Formats of dates, after [`normalized`]. Two digits of a year are tried before four, and the month before the day.
const DATES: [&str; 16] = [
    "%Y %m %d", "%m %d %y", "%m %d %Y", "%d %m %y", "%d %m %Y", "%Y%m%d", "%b %d %y", "%b %d %Y", "%B %d %y",
    "%B %d %Y", "%d %b %y", "%d %b %Y", "%d %B %y", "%d %B %Y", "%Y %b %d", "%Y %B %d",
];

/// Formats of times. White space in a format is optional.
const TIMES: [&str; 5] = ["%I:%M:%S%.f %p", "%I:%M %p", "%I %p", "%H:%M:%S%.f", "%H:%M"];

/// Formats of times that are only understood behind a date.
const BASIC_TIMES: [&str; 2] = ["%H%M%S", "%H%M"];

/// Parses a date with or without a time and an offset, in either order.
fn civil(typed: &str) -> Option<Timestamp> {
    let text = normalized(typed);
    let time_after_date = dates(&text).find_map(|(date, rest)| {
        let mut times =
            times(&TIMES, rest).chain(times(&BASIC_TIMES, rest)).chain([(Time::midnight(), rest)]);
        times.find_map(|(time, rest)| offset(rest)?.to_timestamp(date.to_datetime(time)).ok())
    });
    time_after_date.or_else(|| {
        times(&TIMES, &text).find_map(|(time, rest)| {
            dates(rest.trim_start())
                .find_map(|(date, rest)| offset(rest)?.to_timestamp(date.to_datetime(time)).ok())
        })
    })
}

/// Parses a date at the start of a text. A year of four digits has to have four.
fn dates(text: &str) -> impl Iterator<Item = (Date, &str)> {
    let dates = prefixes(&DATES, text).filter(|(_, rest)| rest.is_empty() || rest.starts_with(' '));
    dates.filter_map(|(parsed, rest)| Some((parsed.to_date().ok().filter(|date| date.year() >= 1000)?, rest)))
}

/// Parses a time at the start of a text.
fn times<'a>(formats: &'static [&'static str], text: &'a str) -> impl Iterator<Item = (Time, &'a str)> {
    prefixes(formats, text).filter_map(|(parsed, rest)| Some((parsed.to_time().ok()?, rest)))
}

/// Parses a prefix of a text by each format, and returns the rest of the text too.
fn prefixes<'a>(
    formats: &'static [&'static str],
    text: &'a str,
) -> impl Iterator<Item = (BrokenDownTime, &'a str)> {
    formats.iter().filter_map(move |format| {
        let (parsed, length) = BrokenDownTime::parse_prefix(format, text).ok()?;
        Some((parsed, text.get(length..)?))
    })
}

/// Lower case, spaces for the separators of dates, and no words without meaning.
fn normalized(typed: &str) -> String {
    let mut text = typed.to_ascii_lowercase().replace(',', " ");
    let is_digit = |c: char| c.is_ascii_digit();
    if let Some((date, time)) = text.split_once('t')
        && date.ends_with(is_digit)
        && time.starts_with(is_digit)
    {
        text = format!("{date} {time}");
    }
    let mut normalized = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        let word = match word.trim_end_matches('.') {
            "sept" => "sep",
            word if is_weekday(word) || matches!(word, "at" | "on" | "of" | "and") => continue,
            word => word,
        };
        let number = ["st", "nd", "rd", "th"].iter().find_map(|suffix| word.strip_suffix(suffix));
        let word = number.filter(|number| number.bytes().all(|byte| byte.is_ascii_digit())).unwrap_or(word);
        if !normalized.is_empty() {
            normalized.push(' ');
        }
        // `2017-06-05`, `6/5/17`, `05.06.2017`, but not `-0330` or `22:30:15.250`.
        match word.split(['-', '/', '.']).collect::<Vec<_>>()[..] {
            [first, second, third] if !word.contains(':') => {
                normalized.extend([first, " ", second, " ", third]);
            }
            _ => normalized.push_str(word),
        }
    }
    normalized
}

fn is_weekday(word: &str) -> bool {
    const DAYS: [&str; 7] = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
    word.len() >= 3 && DAYS.iter().any(|day| day.starts_with(word))
}

/// Abbreviations of time zones by their minutes east of Greenwich. An ambiguous one has its most common meaning.
const ZONES: [(i32, &str); 26] = [
    (0, "z utc gmt wet"),
    (60, "west bst cet wat"),
    (120, "cest eet cat sast"),
    (180, "eest eat msk idt"),
    (300, "pkt"),
    (330, "ist"),
    (420, "wib"),
    (480, "wita hkt awst"),
    (540, "wit jst kst"),
    (570, "acst"),
    (600, "aest chst"),
    (630, "acdt"),
    (660, "aedt"),
    (720, "nzst"),
    (780, "nzdt"),
    (-150, "ndt"),
    (-180, "adt"),
    (-210, "nst"),
    (-240, "ast edt"),
    (-300, "est cdt"),
    (-360, "cst mdt"),
    (-420, "mst pdt"),
    (-480, "pst akdt"),
    (-540, "akst hdt"),
    (-600, "hst"),
    (-660, "sst"),
];

/// Parses an offset: nothing, `pst`, `+2`, `+02`, `+0200`, `+02:00` or `utc+2`. All with a plus are east of Greenwich, as people
/// mean them. The published server reverses the sign after `utc` and `gmt`, as POSIX does, and ignores it after a space.
fn offset(text: &str) -> Option<Offset> {
    let text = text.trim();
    if text.is_empty() {
        return Some(Offset::UTC);
    }
    if let Some((minutes, _)) = ZONES.iter().find(|(_, names)| names.split(' ').any(|name| name == text)) {
        return Offset::from_seconds(minutes * 60).ok();
    }
    let number = ["utc", "gmt"].iter().find_map(|zone| text.strip_prefix(zone)).unwrap_or(text).trim_start();
    let (sign, hours) = number.split_at_checked(1)?;
    let is_digit = |c: char| c.is_ascii_digit();
    let zero = if hours.trim_start_matches(is_digit).len() + 1 == hours.len() { "0" } else { "" };
    let number = format!("{sign}{zero}{hours}");
    let parsed =
        ["%z", "%:::z"].iter().find_map(|format| BrokenDownTime::parse(format, &number).ok()?.offset())?;
    (parsed.seconds().abs() < 24 * 60 * 60).then_some(parsed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_written_as_global_times() {
        assert_eq!(global_time(1_790_000_000), "<time:2026-09-21T14:13:20+00:00>");
    }

    // conformance: md-53, md-54
    #[test]
    fn times_are_parsed_as_people_write_them() {
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
            ("January 25, 2021, 1:00 PM EST", Some("2021-01-25T18:00:00Z")),
            ("January 25, 2021, 13:00 UTC-5", Some("2021-01-25T18:00:00Z")),
            ("2017-06-05 22:30 GMT +5:30", Some("2017-06-05T17:00:00Z")),
            ("2017-06-05T22:30+2", Some("2017-06-05T20:30:00Z")),
            ("2017-06-05 22:30 UTC+25", None),
            ("2017-06-05 22:30 UTC5", None),
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
            let read = parse(typed).map(datetime);
            assert_eq!(read.as_deref(), time, "{typed}");
        }
    }
}

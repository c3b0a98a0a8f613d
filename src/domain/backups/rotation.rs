//! Names of backups by date, and which of them are kept.

use crate::types::timestamp;
use jiff::Zoned;
use jiff::tz::TimeZone;
use std::collections::BTreeSet;
use std::fmt::{Display, Formatter};
use std::str::FromStr;

const PREFIX: &str = "teamchat-";

/// The endings of plain and of encrypted backups.
const ENDING: &str = ".sqlite.zst";
const ENCRYPTED_ENDING: &str = ".sqlite.zst.age";

/// The time in a name, UTC.
const FORMAT: &str = "%Y-%m-%dT%H-%M-%SZ";

/// Formats a time, in UNIX seconds, so that it can be part of the name of a file.
pub(super) fn stamp(time: i64) -> String {
    in_utc(time).strftime(FORMAT).to_string()
}

/// Returns the name of a backup that was made at a time, in UNIX seconds.
pub fn name_of(time: i64, is_encrypted: bool) -> String {
    let ending = if is_encrypted { ENCRYPTED_ENDING } else { ENDING };
    format!("{PREFIX}{}{ending}", stamp(time))
}

fn in_utc(time: i64) -> Zoned {
    timestamp(time).to_zoned(TimeZone::UTC)
}

/// A rule of retention: the newest of each of the last hours, days, weeks, months and years that have any.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Keep {
    hours: u32,
    days: u32,
    weeks: u32,
    months: u32,
    years: u32,
}

/// The unit of a number, and the period in which a time lies.
type Unit = (char, fn(&Zoned) -> (i16, i16));

const UNITS: [Unit; 5] = [
    ('h', |time| (time.year(), time.day_of_year() * 24 + i16::from(time.hour()))),
    ('d', |time| (time.year(), time.day_of_year())),
    ('w', |time| {
        let week = time.date().iso_week_date();
        (week.year(), i16::from(week.week()))
    }),
    ('m', |time| (time.year(), i16::from(time.month()))),
    ('y', |time| (time.year(), 0)),
];

impl Keep {
    fn numbers(self) -> [u32; 5] {
        [self.hours, self.days, self.weeks, self.months, self.years]
    }

    /// Returns the times, in UNIX seconds, whose backups are not kept. The newest is always kept.
    pub fn superfluous(self, times: &[i64]) -> Vec<i64> {
        let mut times = times.to_vec();
        times.sort_unstable_by(|a, b| b.cmp(a));
        let mut kept: BTreeSet<i64> = times.iter().take(1).copied().collect();
        for (number, (_, period)) in self.numbers().into_iter().zip(UNITS) {
            let mut periods = BTreeSet::new();
            for time in &times {
                if periods.len() == number as usize {
                    break;
                }
                if periods.insert(period(&in_utc(*time))) {
                    kept.insert(*time);
                }
            }
        }
        times.retain(|time| !kept.contains(time));
        times
    }
}

impl FromStr for Keep {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let usage = "write numbers of hours, days, weeks, months and years, for example 7d,4w,6m";
        let mut numbers = [0; 5];
        for part in text.split(',').map(str::trim) {
            let unit =
                part.chars().next_back().and_then(|unit| UNITS.iter().position(|(name, _)| *name == unit));
            let unit = unit.ok_or(usage)?;
            let number: u32 = part[..part.len() - 1].parse().map_err(|_| usage)?;
            if number == 0 || numbers[unit] != 0 {
                return Err(format!("each unit comes once, with a number above 0; {usage}"));
            }
            numbers[unit] = number;
        }
        let [hours, days, weeks, months, years] = numbers;
        Ok(Self { hours, days, weeks, months, years })
    }
}

impl Display for Keep {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        let parts = self.numbers().into_iter().zip(UNITS).filter(|(number, _)| *number > 0);
        let parts: Vec<String> = parts.map(|(number, (unit, _))| format!("{number}{unit}")).collect();
        formatter.write_str(&parts.join(","))
    }
}

#[cfg(test)]
mod tests {
    use crate::domain::backups::rotation::*;
    use jiff::Timestamp;

    #[test]
    fn names_have_the_time() {
        assert_eq!(name_of(1_790_000_000, false), "teamchat-2026-09-21T14-13-20Z.sqlite.zst");
        assert_eq!(name_of(1_790_000_000, true), "teamchat-2026-09-21T14-13-20Z.sqlite.zst.age");
    }

    #[test]
    fn rules_are_read_and_shown() {
        for text in ["7d,4w,6m", "24h", "1h,2d,3w,4m,5y"] {
            assert_eq!(text.parse::<Keep>().unwrap().to_string(), text);
        }
        for text in ["", "7", "d", "7x", "7d,,4w", "0d", "7d,3d", "-1d", "7d4w", "é"] {
            assert!(text.parse::<Keep>().unwrap_err().contains("7d,4w,6m"), "{text}");
        }
    }

    /// Backups of every six hours for two years, of which the rule is applied after each, as the server does.
    #[test]
    fn generations_are_kept() {
        let time = |text: &str| text.parse::<Timestamp>().unwrap().as_second();
        let keep: Keep = "7d,4w,6m".parse().unwrap();
        let mut there = Vec::new();
        let mut now = time("2024-11-30T03:00:00Z");
        while now <= time("2026-11-26T15:00:00Z") {
            there.push(now);
            for gone in keep.superfluous(&there) {
                there.retain(|time| *time != gone);
            }
            now += 6 * 3600;
        }
        let kept: Vec<String> = there.iter().map(|time| stamp(*time)[..13].to_owned()).collect();
        let expected = [
            "2026-06-30T21",
            "2026-07-31T21",
            "2026-08-31T21",
            "2026-09-30T21",
            "2026-10-31T21", // months
            "2026-11-08T21",
            "2026-11-15T21", // weeks; that of the 22nd is a day's too
            "2026-11-20T21",
            "2026-11-21T21",
            "2026-11-22T21",
            "2026-11-23T21",
            "2026-11-24T21",
            "2026-11-25T21",
            "2026-11-26T15",
        ];
        assert_eq!(kept, expected);
        assert_eq!(keep.superfluous(&[]), [0; 0]);
        assert_eq!("1y".parse::<Keep>().unwrap().superfluous(&[now, now - 1]), [now - 1]);
        // A rule that allows nothing more than the newest.
        assert_eq!(Keep::default().superfluous(&[1, 3, 2]), [2, 1]);
    }
}

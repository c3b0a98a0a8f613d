//! When requests to push services are repeated.

use crate::scheduler;
use hyper::HeaderMap;
use std::time::Duration;

/// Time limit of a request to a push service or the bouncer.
pub const TIMEOUT: Duration = Duration::from_secs(10);

/// Lifetime of a notification, here and at the push service, in seconds: as on phones.
pub const LIFETIME: i64 = 24 * 60 * 60;

/// The delays before the retries, in seconds; the last is repeated.
const PAUSES: [i64; 5] = [10, 60, 300, 1800, 7200];

/// The pause after a failed attempt, in seconds, by the number of those before it.
pub fn pause_after(failed_tries: i64) -> i64 {
    scheduler::pause_after(&PAUSES, failed_tries.unsigned_abs())
}

/// The seconds of `Retry-After`, a number or a date; at most [`LIFETIME`].
pub fn retry_after(headers: &HeaderMap, now: i64) -> i64 {
    let value = headers.get("retry-after").and_then(|value| value.to_str().ok()).map(str::trim);
    let seconds = value.and_then(|value| {
        let date = || Some(jiff::fmt::rfc2822::parse(value).ok()?.timestamp().as_second() - now);
        value.parse().ok().or_else(date)
    });
    seconds.unwrap_or(0).clamp(0, LIFETIME)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn push_services_say_when_to_ask_again() {
        let seconds = |value: &str| {
            let headers = HeaderMap::from_iter([("retry-after".parse().unwrap(), value.parse().unwrap())]);
            retry_after(&headers, 1_790_000_000)
        };
        let cases = [
            ("120", 120),
            ("0", 0),
            ("-5", 0),
            ("99999999", LIFETIME),
            ("Mon, 21 Sep 2026 14:14:20 GMT", 60),
            ("Mon, 21 Sep 2020 14:14:20 GMT", 0),
            ("soon", 0),
        ];
        for (value, expected) in cases {
            assert_eq!(seconds(value), expected, "{value}");
        }
        assert_eq!(retry_after(&HeaderMap::new(), 0), 0);
    }
}

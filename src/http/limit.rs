//! Limits on failed logins, and on making accounts.

use crate::error::{ApiError, ApiResult};
use std::collections::HashMap;
use std::hash::Hash;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};

/// So many failures in so many milliseconds.
struct Rule {
    failures: usize,
    window: i64,
}

/// Wrong passwords for one account: 5 in 30 minutes.
const PASSWORDS: Rule = Rule { failures: 5, window: 30 * 60 * 1000 };

/// Wrong passwords from one address, over all accounts: 100 in a minute.
const PASSWORDS_OF_ADDRESS: Rule = Rule { failures: 100, window: 60 * 1000 };

/// Requests with wrong keys from one address: 100 in a minute.
const KEYS_OF_ADDRESS: Rule = Rule { failures: 100, window: 60 * 1000 };

/// Filled-in sign-up pages from one address: 100 in 10 minutes. Each may cost the hash of a password.
const SIGN_UPS_OF_ADDRESS: Rule = Rule { failures: 100, window: 10 * 60 * 1000 };

/// Accounts or addresses remembered; the oldest failures go first when there are more.
const REMEMBERED: usize = 10_000;

/// Counts failures of the recent past, in memory.
#[derive(Default)]
pub struct Limits {
    accounts: Counter<String>,
    password_addresses: Counter<IpAddr>,
    key_addresses: Counter<IpAddr>,
    sign_ups: Counter<IpAddr>,
}

impl Limits {
    /// Whether a password for this account from this address may be tried at all.
    pub fn may_try_password(&self, account: &str, peer: IpAddr, now: i64) -> ApiResult<()> {
        self.accounts.check(&account.to_owned(), &PASSWORDS, now)?;
        self.password_addresses.check(&peer, &PASSWORDS_OF_ADDRESS, now)
    }

    /// Counts a wrong password.
    pub fn failed_password(&self, account: &str, peer: IpAddr, now: i64) {
        self.accounts.record(account.to_owned(), &PASSWORDS, now);
        self.password_addresses.record(peer, &PASSWORDS_OF_ADDRESS, now);
    }

    /// A right password ends the account's series.
    pub fn right_password(&self, account: &str) {
        self.accounts.forget(&account.to_owned());
    }

    /// Counts a request with wrong credentials; `Err` instead of their own error when there were too many.
    pub fn failed_key(&self, peer: IpAddr, now: i64) -> ApiResult<()> {
        self.key_addresses.check(&peer, &KEYS_OF_ADDRESS, now)?;
        self.key_addresses.record(peer, &KEYS_OF_ADDRESS, now);
        Ok(())
    }

    /// Counts somebody who fills in the sign-up page; `Err` when there were too many.
    pub fn sign_up(&self, peer: IpAddr, now: i64) -> ApiResult<()> {
        self.sign_ups.check(&peer, &SIGN_UPS_OF_ADDRESS, now)?;
        self.sign_ups.record(peer, &SIGN_UPS_OF_ADDRESS, now);
        Ok(())
    }
}

struct Counter<K>(Mutex<HashMap<K, Vec<i64>>>);

impl<K> Default for Counter<K> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: Eq + Hash> Counter<K> {
    fn check(&self, key: &K, rule: &Rule, now: i64) -> ApiResult<()> {
        let mut failures = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(times) = failures.get_mut(key) else { return Ok(()) };
        times.retain(|time| now - time < rule.window);
        if times.len() < rule.failures {
            return Ok(());
        }
        let oldest = times.first().copied().unwrap_or(now);
        #[expect(clippy::cast_precision_loss, reason = "a few minutes in milliseconds")]
        let seconds = (oldest + rule.window - now) as f64 / 1000.0;
        Err(ApiError::rate_limited(seconds)
            .with_header("X-RateLimit-Limit", rule.failures.to_string())
            .with_header("X-RateLimit-Remaining", "0".to_owned())
            .with_header("X-RateLimit-Reset", ((oldest + rule.window) / 1000).to_string()))
    }

    fn record(&self, key: K, rule: &Rule, now: i64) {
        let mut failures = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if failures.len() >= REMEMBERED {
            failures.retain(|_, times| times.last().is_some_and(|time| now - time < rule.window));
            if failures.len() >= REMEMBERED {
                failures.clear();
            }
        }
        failures.entry(key).or_default().push(now);
    }

    fn forget(&self, key: &K) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PEER: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);

    #[test]
    fn the_sixth_password_within_half_an_hour_is_not_tried() {
        let limits = Limits::default();
        for minute in 0..5 {
            limits.may_try_password("a", PEER, minute * 60_000).unwrap();
            limits.failed_password("a", PEER, minute * 60_000);
        }
        let refusal = limits.may_try_password("a", PEER, 300_000).unwrap_err();
        assert_eq!((refusal.status(), refusal.code()), (429, "RATE_LIMIT_HIT"));
        assert_eq!(refusal.body()["retry-after"], 1500.0);
        limits.may_try_password("b", PEER, 300_000).unwrap();
        limits.may_try_password("a", PEER, 30 * 60_000).unwrap();
    }

    #[test]
    fn a_right_password_ends_the_series() {
        let limits = Limits::default();
        for _ in 0..5 {
            limits.failed_password("a", PEER, 0);
        }
        limits.right_password("a");
        limits.may_try_password("a", PEER, 0).unwrap();
    }
}

//! Rate limits on failed logins and on sign-ups.

use crate::error::{ApiError, ApiResult};
use std::collections::HashMap;
use std::hash::Hash;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};

/// A limit: at most `attempts` in `window` milliseconds.
struct Rule {
    attempts: usize,
    window: i64,
}

/// Wrong passwords for one account: 5 in 30 minutes.
const PASSWORDS: Rule = Rule { attempts: 5, window: 30 * 60 * 1000 };

/// Wrong passwords from one address, over all accounts: 100 in a minute.
const PASSWORDS_OF_ADDRESS: Rule = Rule { attempts: 100, window: 60 * 1000 };

/// Requests with wrong API keys from one address: 100 in a minute.
const KEYS_OF_ADDRESS: Rule = Rule { attempts: 100, window: 60 * 1000 };

/// Submitted sign-up pages from one address: 100 in 10 minutes. Each may cost a password hash.
const SIGN_UPS_OF_ADDRESS: Rule = Rule { attempts: 100, window: 10 * 60 * 1000 };

/// The most accounts or addresses in one counter. Beyond it, expired entries are dropped, or else all.
const CAPACITY: usize = 10_000;

/// Counts recent failures to authenticate, in memory. All times are UNIX milliseconds.
///
/// Right API keys always pass: a key is too long to guess, so limits on keys only bound the cost of guessing.
#[derive(Default)]
pub struct AuthRateLimiter {
    accounts: Counter<String>,
    password_addresses: Counter<IpAddr>,
    key_addresses: Counter<IpAddr>,
    sign_ups: Counter<IpAddr>,
}

impl AuthRateLimiter {
    /// Checks whether a password for this account may be tried from this address.
    pub fn check_password_attempt(&self, account: &str, peer: IpAddr, now: i64) -> ApiResult<()> {
        self.accounts.check(&account.to_owned(), &PASSWORDS, now)?;
        self.password_addresses.check(&peer, &PASSWORDS_OF_ADDRESS, now)
    }

    /// Records a wrong password.
    pub fn record_password_failure(&self, account: &str, peer: IpAddr, now: i64) {
        self.accounts.record(account.to_owned(), &PASSWORDS, now);
        self.password_addresses.record(peer, &PASSWORDS_OF_ADDRESS, now);
    }

    /// Forgets the account's wrong passwords, after a right one.
    pub fn reset_password_failures(&self, account: &str) {
        self.accounts.forget(&account.to_owned());
    }

    /// Records a request with wrong credentials. Fails if there were too many; that error replaces the request's own.
    pub fn record_key_failure(&self, peer: IpAddr, now: i64) -> ApiResult<()> {
        self.key_addresses.check(&peer, &KEYS_OF_ADDRESS, now)?;
        self.key_addresses.record(peer, &KEYS_OF_ADDRESS, now);
        Ok(())
    }

    /// Records a submitted sign-up page. Fails if there were too many.
    pub fn record_sign_up(&self, peer: IpAddr, now: i64) -> ApiResult<()> {
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
        if times.len() < rule.attempts {
            return Ok(());
        }
        let oldest = times.first().copied().unwrap_or(now);
        #[expect(clippy::cast_precision_loss, reason = "a few minutes in milliseconds")]
        let seconds = (oldest + rule.window - now) as f64 / 1000.0;
        Err(ApiError::rate_limited(seconds)
            .with_header("X-RateLimit-Limit", rule.attempts.to_string())
            .with_header("X-RateLimit-Remaining", "0".to_owned())
            .with_header("X-RateLimit-Reset", ((oldest + rule.window) / 1000).to_string()))
    }

    fn record(&self, key: K, rule: &Rule, now: i64) {
        let mut failures = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if failures.len() >= CAPACITY {
            failures.retain(|_, times| times.last().is_some_and(|time| now - time < rule.window));
            if failures.len() >= CAPACITY {
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
        let limiter = AuthRateLimiter::default();
        for minute in 0..5 {
            limiter.check_password_attempt("a", PEER, minute * 60_000).unwrap();
            limiter.record_password_failure("a", PEER, minute * 60_000);
        }
        let refusal = limiter.check_password_attempt("a", PEER, 300_000).unwrap_err();
        assert_eq!((refusal.status(), refusal.code()), (429, "RATE_LIMIT_HIT"));
        assert_eq!(refusal.body()["retry-after"], 1500.0);
        limiter.check_password_attempt("b", PEER, 300_000).unwrap();
        limiter.check_password_attempt("a", PEER, 30 * 60_000).unwrap();
    }

    #[test]
    fn a_right_password_ends_the_series() {
        let limiter = AuthRateLimiter::default();
        for _ in 0..5 {
            limiter.record_password_failure("a", PEER, 0);
        }
        limiter.reset_password_failures("a");
        limiter.check_password_attempt("a", PEER, 0).unwrap();
    }
}

//! Rate limits on requests, wrong API keys and sign-ups. Guesses at passwords: [`super::password_attempts`].

use super::caller::Caller;
use super::password_attempts::PasswordAttempts;
use super::window::{CAPACITY, MINUTE, Rule, Window, make_room, seconds};
use crate::error::{ApiError, ApiResult};
use crate::types::{Clock, UserId, address_block};
use std::collections::HashMap;
use std::hash::Hash;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};

/// Requests with wrong API keys from one address: 100 in a minute.
const KEYS_OF_ADDRESS: Rule = Rule { attempts: 100, window: MINUTE };

/// Submitted sign-up pages from one address: 100 in 10 minutes. Each may cost a password hash.
const SIGN_UPS_OF_ADDRESS: Rule = Rule { attempts: 100, window: 10 * MINUTE };

/// Requests of one user: 200 in a minute, as on the published server.
const REQUESTS_OF_USER: Rule = Rule { attempts: 200, window: MINUTE };

/// Requests of all bots of one person together: 600 in a minute.
const REQUESTS_OF_BOTS: Rule = Rule { attempts: 600, window: MINUTE };

/// Requests without a login from one address: 100 in a minute, as on the published server.
const REQUESTS_OF_ADDRESS: Rule = Rule { attempts: 100, window: MINUTE };

/// All rate limits, in memory. An address of IPv6 counts for its /64 network. Times are of the monotonic clock, so that
/// nobody is locked for longer when the time of day is set.
///
/// Right API keys always pass: a key is too long to guess, so the limit on wrong ones only bounds their cost.
#[derive(Default)]
pub struct RateLimiter {
    /// Guesses at passwords.
    pub passwords: PasswordAttempts,
    wrong_keys: Counter<IpAddr>,
    sign_ups: Counter<IpAddr>,
    requests_of_users: Counter<UserId>,
    requests_of_bots: Counter<UserId>,
    requests_of_addresses: Counter<IpAddr>,
}

impl RateLimiter {
    /// Counts a request with wrong credentials. Fails if there were too many; that error replaces the request's own.
    pub fn count_wrong_key(&self, peer: IpAddr, clock: &Clock) -> ApiResult<()> {
        self.wrong_keys.count(address_block(peer), KEYS_OF_ADDRESS, clock).check()
    }

    /// Counts a submitted sign-up page. Fails if there were too many.
    pub fn count_sign_up(&self, peer: IpAddr, clock: &Clock) -> ApiResult<()> {
        self.sign_ups.count(address_block(peer), SIGN_UPS_OF_ADDRESS, clock).check()
    }

    /// Counts a request of a user, or without one of an address. That of a bot also counts for the person who is
    /// accountable for it: the limit of which less is left is returned.
    pub fn count_request(&self, caller: Option<&Caller>, peer: IpAddr, clock: &Clock) -> Usage {
        let Some(caller) = caller else {
            return self.requests_of_addresses.count(address_block(peer), REQUESTS_OF_ADDRESS, clock);
        };
        let own = self.requests_of_users.count(caller.user_id, REQUESTS_OF_USER, clock);
        if !caller.is_bot() {
            return own;
        }
        let of_all = self.requests_of_bots.count(caller.accountable(), REQUESTS_OF_BOTS, clock);
        if of_all.rest_of_limit() < own.rest_of_limit() { of_all } else { own }
    }

    /// Forgets everything.
    pub fn clear(&self) {
        self.passwords.clear();
        self.wrong_keys.clear();
        self.sign_ups.clear();
        self.requests_of_users.clear();
        self.requests_of_bots.clear();
        self.requests_of_addresses.clear();
    }

    /// Drops what does not count any more. Runs once a minute.
    pub fn remove_expired(&self, clock: &Clock) {
        let now = clock.monotonic();
        self.passwords.remove_expired(now);
        self.wrong_keys.remove_expired(KEYS_OF_ADDRESS, now);
        self.sign_ups.remove_expired(SIGN_UPS_OF_ADDRESS, now);
        self.requests_of_users.remove_expired(REQUESTS_OF_USER, now);
        self.requests_of_bots.remove_expired(REQUESTS_OF_BOTS, now);
        self.requests_of_addresses.remove_expired(REQUESTS_OF_ADDRESS, now);
    }
}

/// How much of a limit is used, after the last attempt was counted.
#[derive(Clone, Copy, Debug)]
pub struct Usage {
    limit: u32,
    count: u32,
    /// Milliseconds until the window ends.
    rest: i64,
    /// When it ends, in UNIX seconds.
    reset: i64,
}

impl Usage {
    /// How many attempts are left; negative if the limit is exceeded.
    fn rest_of_limit(self) -> i64 {
        i64::from(self.limit) - i64::from(self.count)
    }

    /// Fails with 429 if the limit is exceeded.
    pub fn check(self) -> ApiResult<()> {
        if self.count <= self.limit {
            return Ok(());
        }
        let refusal = ApiError::rate_limited(seconds(self.rest));
        Err(self
            .headers()
            .into_iter()
            .fold(refusal, |refusal, (name, value)| refusal.with_header(name, value)))
    }

    /// The published headers of responses to which a limit applies.
    pub fn headers(self) -> [(&'static str, String); 3] {
        [
            ("X-RateLimit-Limit", self.limit.to_string()),
            ("X-RateLimit-Remaining", self.limit.saturating_sub(self.count).to_string()),
            ("X-RateLimit-Reset", self.reset.to_string()),
        ]
    }
}

struct Counter<K>(Mutex<HashMap<K, Window>>);

impl<K> Default for Counter<K> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: Eq + Hash> Counter<K> {
    fn count(&self, key: K, rule: Rule, clock: &Clock) -> Usage {
        let now = clock.monotonic();
        let mut windows = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if windows.len() >= CAPACITY && !windows.contains_key(&key) {
            windows.retain(|_, window| !window.is_over(rule, now));
            make_room(&mut windows, |window| window.total());
        }
        let window = windows.entry(key).or_default();
        let count = window.count(rule, now);
        let rest = window.rest(rule, now);
        Usage { limit: rule.attempts, count, rest, reset: clock.seconds() + rest.div_euclid(1000) }
    }

    fn clear(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    fn remove_expired(&self, rule: Rule, now: i64) {
        let mut windows = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        windows.retain(|_, window| !window.is_over(rule, now));
        windows.shrink_to(CAPACITY / 16);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::{BotType, Role};
    use std::net::Ipv6Addr;

    fn address(network: u64, host: u64) -> IpAddr {
        IpAddr::V6(Ipv6Addr::from_bits((0x2001_0db8 << 96) | (u128::from(network) << 64) | u128::from(host)))
    }

    #[test]
    fn a_network_of_ipv6_counts_as_one_address() {
        let (limiter, clock) = (RateLimiter::default(), Clock::manual(0));
        for host in 0..100 {
            limiter.count_wrong_key(address(1, host), &clock).unwrap();
        }
        let refusal = limiter.count_wrong_key(address(1, 1000), &clock).unwrap_err();
        assert_eq!((refusal.status(), refusal.code()), (429, "RATE_LIMIT_HIT"));
        limiter.count_wrong_key(address(2, 1000), &clock).unwrap();
        clock.advance(60);
        limiter.count_wrong_key(address(1, 1000), &clock).unwrap();
    }

    #[test]
    fn who_fills_a_counter_frees_nobody_who_is_over_the_limit() {
        let (limiter, clock) = (RateLimiter::default(), Clock::manual(0));
        let guesser = address(u64::MAX >> 32, 0);
        for _ in 0..100 {
            limiter.count_wrong_key(guesser, &clock).unwrap();
        }
        for network in 0..3 * CAPACITY as u64 {
            limiter.count_wrong_key(address(network, 0), &clock).unwrap();
            assert!(limiter.wrong_keys.0.lock().unwrap().len() <= CAPACITY);
        }
        assert!(limiter.count_wrong_key(guesser, &clock).is_err());
        clock.advance(60);
        limiter.remove_expired(&clock);
        assert!(limiter.wrong_keys.0.lock().unwrap().is_empty());
    }

    fn caller(user_id: i64, owner: Option<i64>) -> Caller {
        Caller {
            user_id: UserId(user_id),
            role: Role::Member,
            bot_type: owner.map(|_| BotType::Generic),
            bot_owner_id: owner.map(UserId),
            bot_creator_id: owner.map(UserId),
            credential: crate::auth::Credential::ApiKey(1),
            version: 0,
        }
    }

    #[test]
    fn the_bots_of_a_person_share_a_limit_beside_their_own() {
        let (limiter, clock) = (RateLimiter::default(), Clock::manual(0));
        let peer = address(1, 1);
        let count = |caller: &Caller| limiter.count_request(Some(caller), peer, &clock);
        let bots: Vec<Caller> = (10..20).map(|id| caller(id, Some(7))).collect();
        for request in 0..600 {
            count(&bots[request % 10]).check().unwrap();
        }
        let usage = count(&bots[0]);
        usage.check().unwrap_err();
        assert_eq!(usage.headers().map(|(_, value)| value)[..2], ["600", "0"]);
        // The person and the bots of others are not concerned, and one bot has no more than a person.
        let (ada, other) = (caller(7, None), caller(30, Some(8)));
        for client in [&ada, &other] {
            for _ in 0..200 {
                count(client).check().unwrap();
            }
            assert_eq!(count(client).headers()[0].1, "200");
            count(client).check().unwrap_err();
        }
    }

    #[test]
    fn requests_are_counted_by_user_and_without_one_by_address() {
        let (limiter, clock) = (RateLimiter::default(), Clock::manual(1_790_000_000));
        let peer = address(1, 1);
        let ada = caller(7, None);
        for _ in 0..200 {
            limiter.count_request(Some(&ada), peer, &clock).check().unwrap();
        }
        clock.advance(20);
        let usage = limiter.count_request(Some(&ada), peer, &clock);
        let refusal = usage.check().unwrap_err();
        assert_eq!(refusal.body()["retry-after"], 40.0);
        assert_eq!(usage.headers().map(|(_, value)| value), ["200", "0", "1790000060"]);
        let usage = limiter.count_request(None, peer, &clock);
        assert_eq!(usage.headers().map(|(_, value)| value), ["100", "99", "1790000080"]);
    }
}

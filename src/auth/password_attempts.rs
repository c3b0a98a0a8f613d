//! Limits on guessing passwords. An attempt is counted before the password is hashed, and given back when it is right:
//! guesses at the same time are counted as those one after another.
//!
//! - *One account from one address*: 5 wrong passwords in 30 minutes. Further attempts are refused, even with the right
//!   password. A guesser locks only their own address out of an account.
//! - *One account from all addresses*: 20 wrong passwords in 30 minutes, which stops guessing from many addresses. It
//!   does not apply to known addresses: those with a right password in the last 30 days, or with a session in use. So
//!   guessers cannot lock users out of their usual places. The caller passes the known addresses, from the file.
//! - *All accounts from one address*: 100 wrong passwords in a minute. Beyond it attempts are serialized, and only
//!   successes are reported: other users of the same address (a family, an office, clients behind an undeclared proxy)
//!   can still log in. The other two rules bound the guesses for each account, and the number of concurrent attempts
//!   bounds the processor time of an address.
//! - *All accounts from a /48 network of IPv6*: 300 wrong passwords in a minute, with the same effect. Such a network
//!   has 65,536 addresses of the other rules. It does not count for known addresses.
//!
//! An attempt that might exceed a limit, if those that are being judged turn out wrong, waits for them. So a person with
//! many devices who gives the right password everywhere at once is let in everywhere.
//!
//! An account that does not exist is counted like one that does, and is known by a digest, so that long names take no
//! memory.

use super::window::{CAPACITY, MINUTE, Rule, Window, make_room};
use crate::error::{ApiError, ApiResult};
use crate::metrics::Count;
use crate::types::{Clock, address_block, address_site, fractional_seconds};
use parking_lot::{Mutex, MutexGuard};
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::net::IpAddr;
use tokio::sync::Notify;

/// Wrong passwords for one account from one address.
const ACCOUNT_AND_ADDRESS: Rule = Rule { attempts: 5, window: 30 * MINUTE };

/// Wrong passwords for one account from all addresses that are not known.
const ACCOUNT: Rule = Rule { attempts: 20, window: 30 * MINUTE };

/// Wrong passwords from one address.
const ADDRESS: Rule = Rule { attempts: 100, window: MINUTE };

/// Wrong passwords from one /48 network of IPv6.
const SITE: Rule = Rule { attempts: 300, window: MINUTE };

/// Maximum number of concurrent attempts of one address, and of one /48 network of IPv6.
const JUDGED_AT_ONCE: usize = 8;
const JUDGED_AT_ONCE_OF_SITE: usize = 16;

/// Maximum duration of the lock of an account, in minutes.
pub const LOCK_MINUTES: i64 = ACCOUNT.window / MINUTE;

/// The longest name of an account in bytes: that of an email address.
const MAX_NAME_LENGTH: usize = 254;

/// The attempts of the last 30 minutes, and those that are being judged.
#[derive(Default)]
pub struct PasswordAttempts {
    state: Mutex<State>,
    /// An attempt was decided, or an account was unlocked.
    decided: Notify,
    pub(super) refusals: Count,
}

#[derive(Default)]
struct State {
    accounts: HashMap<AccountKey, Account>,
    /// Addresses, and networks that count as one; the two do not overlap.
    addresses: HashMap<Origin, Address>,
}

/// Origin of attempts.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Origin {
    Address(IpAddr),
    Site(IpAddr),
}

impl Origin {
    fn rule(self) -> Rule {
        if let Self::Address(_) = self { ADDRESS } else { SITE }
    }

    fn judged_at_once(self) -> usize {
        if let Self::Address(_) = self { JUDGED_AT_ONCE } else { JUDGED_AT_ONCE_OF_SITE }
    }
}

/// The place that an attempt comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    address: IpAddr,
    site: Option<IpAddr>,
    /// True for an address that the person used before.
    is_known: bool,
}

impl Place {
    fn origins(self) -> impl Iterator<Item = Origin> {
        let site = self.site.filter(|_| !self.is_known).map(Origin::Site);
        std::iter::once(Origin::Address(self.address)).chain(site)
    }
}

type AccountKey = [u8; 16];

#[derive(Default)]
struct Account {
    /// Wrong passwords: places and times, the oldest first.
    wrong: Vec<(Place, i64)>,
    /// The places of attempts that are being judged.
    judged: Vec<Place>,
    /// Start of the last reported lock.
    reported: Option<i64>,
}

#[derive(Default)]
struct Address {
    wrong: Window,
    judged: usize,
}

enum Decision {
    Judge,
    /// Wait until another attempt is decided.
    Wait,
    /// Too many were wrong; milliseconds until one may be judged.
    Refuse(i64),
}

/// An attempt that is being judged. It counts as wrong if it is dropped, as it is when the client hangs up.
pub struct PasswordAttempt<'a> {
    attempts: &'a PasswordAttempts,
    clock: &'a Clock,
    account: AccountKey,
    place: Place,
    is_decided: bool,
}

/// A wrong password.
pub struct Wrong {
    /// The error for the client: its own, or that of the limit of its address.
    pub error: ApiError,
    /// True if the attempt locks the account for some address, reported once per lock duration.
    pub begins_lock: bool,
}

impl PasswordAttempts {
    /// Counts an attempt for an account, by its name in lower case, before the password is judged. `is_known` is whether the
    /// account's person was at this address before. Fails with 429 if there were too many, and with 401 if no account can
    /// have the name.
    pub async fn begin<'a>(
        &'a self,
        name: &str,
        peer: IpAddr,
        is_known: bool,
        clock: &'a Clock,
    ) -> ApiResult<PasswordAttempt<'a>> {
        if name.len() > MAX_NAME_LENGTH {
            return Err(wrong_password());
        }
        let place = Place { address: address_block(peer), site: address_site(peer), is_known };
        let account = key_of(name);
        loop {
            let decided = self.decided.notified();
            let decision = self.state.lock().admit(account, place, clock.monotonic());
            match decision {
                Decision::Judge => {
                    return Ok(PasswordAttempt { attempts: self, clock, account, place, is_decided: false });
                }
                Decision::Wait => decided.await,
                Decision::Refuse(rest) => {
                    self.refusals.increment();
                    return Err(refusal(ACCOUNT_AND_ADDRESS, rest, clock));
                }
            }
        }
    }

    /// Forgets the wrong passwords of an account. Returns whether there were any.
    pub fn unlock(&self, name: &str) -> bool {
        let mut state = self.state.lock();
        let account = state.accounts.get_mut(&key_of(name));
        let wrong = account.map(|account| std::mem::take(&mut account.wrong)).unwrap_or_default();
        drop(state);
        self.decided.notify_waiters();
        !wrong.is_empty()
    }

    /// Forgets all wrong passwords, but not the attempts that are being judged.
    pub(super) fn clear(&self) {
        self.remove_expired(i64::MAX / 2);
        self.decided.notify_waiters();
    }

    /// Drops expired entries.
    pub(super) fn remove_expired(&self, now: i64) {
        let mut state = self.state.lock();
        state.remove_expired(now);
        state.accounts.shrink_to(CAPACITY / 16);
        state.addresses.shrink_to(CAPACITY / 16);
    }
}

impl<'a> PasswordAttempt<'a> {
    /// The password was right: the attempt does not count, and neither do earlier ones from this address.
    pub fn right(mut self) {
        let address = self.place.address;
        let mut state = self.give_back();
        if let Some(account) = state.accounts.get_mut(&self.account) {
            account.wrong.retain(|(place, _)| place.address != address);
        }
    }

    /// The password was wrong. The error for the client is `own`, or that of the limit of the address or the network.
    pub fn wrong(mut self, own: ApiError) -> Wrong {
        let now = self.clock.monotonic();
        let (exceeded, begins_lock) = self.count_wrong();
        let error = exceeded.map(|(rule, window)| refusal(rule, window.rest(rule, now), self.clock));
        Wrong { error: error.unwrap_or(own), begins_lock }
    }

    /// The password was not judged, or the account may not be used anyhow: the attempt does not count.
    pub fn cancel(mut self) {
        drop(self.give_back());
    }

    /// Counts the attempt as wrong. Returns the exceeded rule of its address or network, if any, and true if a lock
    /// begins that should be reported.
    fn count_wrong(&mut self) -> (Option<(Rule, Window)>, bool) {
        let (now, place) = (self.clock.monotonic(), self.place);
        let mut state = self.give_back();
        let account = state.accounts.entry(self.account).or_default();
        account.wrong.push((place, now));
        let begins_lock = account.begins_lock(place, now);
        let mut exceeded = None;
        for origin in place.origins() {
            let wrong = &mut state.addresses.entry(origin).or_default().wrong;
            if wrong.count(origin.rule(), now) > origin.rule().attempts {
                exceeded = Some((origin.rule(), *wrong));
            }
        }
        (exceeded, begins_lock)
    }

    fn give_back(&mut self) -> MutexGuard<'a, State> {
        self.is_decided = true;
        let attempts = self.attempts;
        let mut state = attempts.state.lock();
        if let Some(account) = state.accounts.get_mut(&self.account)
            && let Some(index) = account.judged.iter().position(|place| *place == self.place)
        {
            account.judged.swap_remove(index);
        }
        for origin in self.place.origins() {
            if let Some(address) = state.addresses.get_mut(&origin) {
                address.judged = address.judged.saturating_sub(1);
            }
        }
        // Waiting attempts check the state again after the lock is released.
        attempts.decided.notify_waiters();
        state
    }
}

impl Drop for PasswordAttempt<'_> {
    fn drop(&mut self) {
        if !self.is_decided {
            self.count_wrong();
        }
    }
}

impl State {
    /// Decides about an attempt, and counts it if it is to be judged.
    fn admit(&mut self, account: AccountKey, place: Place, now: i64) -> Decision {
        let is_full = |length: usize| length >= CAPACITY;
        if is_full(self.accounts.len()) || is_full(self.addresses.len()) {
            self.remove_expired(now);
            make_room(&mut self.accounts, Account::weight);
            make_room(&mut self.addresses, Address::weight);
        }
        let account = self.accounts.entry(account).or_default();
        let decision = account.decide(place, now);
        if !matches!(decision, Decision::Judge) {
            return decision;
        }
        let is_full = |origin: Origin| {
            self.addresses.get(&origin).is_some_and(|of_origin| {
                let is_over = of_origin.wrong.counted(origin.rule(), now) >= origin.rule().attempts;
                of_origin.judged >= if is_over { 1 } else { origin.judged_at_once() }
            })
        };
        if place.origins().any(is_full) {
            return Decision::Wait;
        }
        for origin in place.origins() {
            self.addresses.entry(origin).or_default().judged += 1;
        }
        account.judged.push(place);
        Decision::Judge
    }

    fn remove_expired(&mut self, now: i64) {
        self.accounts.retain(|_, account| {
            account.remove_expired(now);
            !(account.wrong.is_empty() && account.judged.is_empty())
        });
        self.addresses
            .retain(|origin, address| address.judged > 0 || address.wrong.counted(origin.rule(), now) > 0);
    }
}

impl Account {
    fn decide(&mut self, place: Place, now: i64) -> Decision {
        self.remove_expired(now);
        let is_there = |other: &Place| other.address == place.address;
        let of_address = within(ACCOUNT_AND_ADDRESS, now, &self.wrong, &self.judged, is_there);
        if place.is_known || !matches!(of_address, Decision::Judge) {
            return of_address;
        }
        within(ACCOUNT, now, &self.wrong, &self.judged, |other| !other.is_known)
    }

    /// True if the account is locked for a place now, and no lock was reported within its duration.
    fn begins_lock(&mut self, place: Place, now: i64) -> bool {
        let is_reported = self.reported.is_some_and(|start| now - start < ACCOUNT.window);
        if is_reported || !matches!(self.decide(place, now), Decision::Refuse(_)) {
            return false;
        }
        self.reported = Some(now);
        true
    }

    fn remove_expired(&mut self, now: i64) {
        self.wrong.retain(|(_, time)| now - time < ACCOUNT.window);
    }

    /// Priority of the account when entries are evicted.
    fn weight(&self) -> u32 {
        let judged = if self.judged.is_empty() { 0 } else { 1 << 20 };
        judged + self.wrong.len() as u32
    }
}

impl Address {
    fn weight(&self) -> u32 {
        let judged = if self.judged == 0 { 0 } else { 1 << 20 };
        judged + self.wrong.total()
    }
}

/// Applies a rule to the attempts of some addresses.
fn within(
    rule: Rule,
    now: i64,
    wrong: &[(Place, i64)],
    judged: &[Place],
    counts: impl Fn(&Place) -> bool,
) -> Decision {
    let limit = rule.attempts as usize;
    let wrong: Vec<i64> = wrong.iter().filter(|(place, _)| counts(place)).map(|(_, time)| *time).collect();
    if wrong.len() >= limit {
        // When the last `limit` of them are not all within the window any more.
        let decisive = wrong.get(wrong.len() - limit).copied().unwrap_or(now);
        return Decision::Refuse(decisive + rule.window - now);
    }
    let judged = judged.iter().filter(|place| counts(place)).count();
    if wrong.len() + judged >= limit { Decision::Wait } else { Decision::Judge }
}

fn key_of(name: &str) -> AccountKey {
    let digest: [u8; 32] = Sha256::digest(name.as_bytes()).into();
    let mut key = [0; 16];
    key.copy_from_slice(&digest[..16]);
    key
}

fn refusal(rule: Rule, rest: i64, clock: &Clock) -> ApiError {
    ApiError::rate_limited(fractional_seconds(rest))
        .with_header("X-RateLimit-Limit", rule.attempts.to_string())
        .with_header("X-RateLimit-Remaining", "0".to_owned())
        .with_header("X-RateLimit-Reset", (clock.seconds() + rest.div_euclid(1000)).to_string())
}

/// 401 `AUTHENTICATION_FAILED`: the account does not exist, or the password is another one.
pub fn wrong_password() -> ApiError {
    ApiError::new(401, "AUTHENTICATION_FAILED", "Your username or password is incorrect")
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;

    const HOME: &str = "198.51.100.1";

    /// An address that is known for every account.
    const KNOWN: &str = "198.51.100.7";

    struct Case {
        attempts: PasswordAttempts,
        clock: Clock,
    }

    impl Case {
        fn new() -> Self {
            Self { attempts: PasswordAttempts::default(), clock: Clock::manual(1_790_000_000) }
        }

        /// An attempt that needs not wait.
        fn begin(&self, account: &str, address: &str) -> Option<ApiResult<PasswordAttempt<'_>>> {
            let is_known = address == KNOWN;
            self.attempts.begin(account, address.parse().unwrap(), is_known, &self.clock).now_or_never()
        }

        fn wrong(&self, account: &str, address: &str) -> u16 {
            match self.begin(account, address).unwrap() {
                Ok(attempt) => attempt.wrong(wrong_password()).error.status(),
                Err(refusal) => refusal.status() + 1000,
            }
        }

        fn passes(&self, account: &str, address: &str) -> bool {
            self.begin(account, address).is_some_and(|attempt| attempt.map(PasswordAttempt::right).is_ok())
        }
    }

    /// Refused without being judged.
    const NOT_JUDGED: u16 = 1429;

    #[test]
    fn five_wrong_passwords_lock_an_account_for_one_address() {
        let case = Case::new();
        for _ in 0..5 {
            assert_eq!(case.wrong("ada", HOME), 401);
            case.clock.advance(60);
        }
        let refusal = case.begin("ada", HOME).unwrap().err().unwrap();
        assert_eq!((refusal.status(), refusal.code()), (429, "RATE_LIMIT_HIT"));
        assert_eq!(refusal.body()["retry-after"], 1500.0);
        assert!(case.passes("bob", HOME) && case.passes("ada", "198.51.100.2"));
        case.clock.advance(1500);
        assert_eq!(case.wrong("ada", HOME), 401);
        assert_eq!(case.wrong("ada", HOME), NOT_JUDGED);
    }

    #[test]
    fn a_right_password_ends_the_series() {
        let case = Case::new();
        for _ in 0..4 {
            case.wrong("ada", HOME);
        }
        assert!(case.passes("ada", HOME));
        for _ in 0..5 {
            assert_eq!(case.wrong("ada", HOME), 401);
        }
        assert_eq!(case.wrong("ada", HOME), NOT_JUDGED);
        assert!(case.attempts.unlock("ada") && !case.attempts.unlock("ada"));
        assert!(case.passes("ada", HOME));
    }

    #[test]
    fn concurrent_guesses_are_counted_before_hashing() {
        let case = Case::new();
        let judged: Vec<_> = (0..61).map_while(|_| case.begin("ada", HOME)).collect();
        assert_eq!(judged.len(), 5);
        let mut waiting = Box::pin(case.attempts.begin("ada", HOME.parse().unwrap(), false, &case.clock));
        assert!(waiting.as_mut().now_or_never().is_none());
        drop(judged);
        assert_eq!(waiting.now_or_never().unwrap().err().unwrap().status(), 429);
    }

    #[test]
    fn concurrent_right_passwords_pass() {
        let case = Case::new();
        let judged: Vec<_> = (0..5).map(|_| case.begin("ada", HOME).unwrap().unwrap()).collect();
        let mut sixth = Box::pin(case.attempts.begin("ada", HOME.parse().unwrap(), false, &case.clock));
        assert!(sixth.as_mut().now_or_never().is_none());
        for attempt in judged {
            attempt.right();
        }
        sixth.now_or_never().unwrap().unwrap().cancel();
        assert_eq!(
            case.attempts.state.lock().accounts.values().map(|account| account.judged.len()).sum::<usize>(),
            0
        );
    }

    #[test]
    fn guesses_from_many_addresses_do_not_lock_known_places() {
        let case = Case::new();
        let mut judged = 0;
        for number in 0..100 {
            judged += u32::from(case.wrong("ada", &format!("203.0.113.{number}")) == 401);
        }
        assert_eq!(judged, 20);
        assert!(case.passes("ada", KNOWN));
        assert!(!case.passes("ada", HOME));
        assert!(case.passes("bob", "203.0.113.1"));
    }

    #[test]
    fn limited_addresses_still_accept_right_passwords() {
        let case = Case::new();
        for number in 0..100 {
            assert_eq!(case.wrong(&format!("nobody{number}"), HOME), 401);
        }
        assert_eq!(case.wrong("ada", HOME), 429);
        let first = case.begin("bob", HOME).unwrap().unwrap();
        assert!(case.begin("cay", HOME).is_none(), "one is judged at a time");
        first.right();
        assert!(case.passes("ada", HOME));
        case.clock.advance(60);
        assert_eq!(case.wrong("ada", HOME), 401);
    }

    #[test]
    fn locks_are_reported_once_per_lock() {
        let case = Case::new();
        let begins_lock = |address: &str| match case.begin("ada", address).unwrap() {
            Ok(attempt) => attempt.wrong(wrong_password()).begins_lock,
            Err(_) => false,
        };
        let reported: Vec<bool> = (0..7).map(|_| begins_lock(HOME)).collect();
        assert_eq!(reported, [false, false, false, false, true, false, false]);
        assert!((0..40).all(|number| !begins_lock(&format!("203.0.113.{number}"))));
        case.clock.advance(30 * 60);
        assert_eq!((0..25).filter(|number| begins_lock(&format!("203.0.113.{number}"))).count(), 1);
    }

    #[test]
    fn a_network_of_many_addresses_is_limited_as_one() {
        let case = Case::new();
        for number in 0..300 {
            assert_eq!(case.wrong(&format!("nobody{number}"), &format!("2001:db8:1:{number:x}::1")), 401);
        }
        assert_eq!(case.wrong("nobody", "2001:db8:1:ffff::1"), 429);
        let first = case.begin("ada", "2001:db8:1:fffe::1").unwrap().unwrap();
        assert!(case.begin("bob", "2001:db8:1:fffd::1").is_none(), "one is judged at a time");
        let at = |address: &str, is_known| {
            case.attempts.begin("bob", address.parse().unwrap(), is_known, &case.clock).now_or_never()
        };
        assert!(at("2001:db8:1:fffd::1", true).is_some(), "known addresses do not wait for it");
        assert!(at("2001:db8:2:fffd::1", false).is_some(), "nor do other networks");
        first.right();
        case.clock.advance(60);
        assert_eq!(case.wrong("nobody", "2001:db8:1:ffff::1"), 401);
        let judged: Vec<_> = (0..40)
            .map_while(|number| case.begin(&format!("x{number}"), &format!("2001:db8:3:{number:x}::1")))
            .collect();
        assert_eq!(judged.len(), 16);
    }

    #[test]
    fn long_names_are_refused_and_take_no_memory() {
        let case = Case::new();
        assert_eq!(case.wrong(&"a".repeat(255), HOME), 1401);
        assert!(case.attempts.state.lock().accounts.is_empty());
    }

    #[test]
    fn eviction_keeps_locks() {
        let case = Case::new();
        for _ in 0..5 {
            case.wrong("ada", HOME);
        }
        for number in 0..CAPACITY + 10 {
            let address = format!("10.{}.{}.{}", number >> 16, (number >> 8) & 255, number & 255);
            assert_eq!(case.wrong(&format!("nobody{number}"), &address), 401);
            assert!(case.attempts.state.lock().accounts.len() <= CAPACITY);
        }
        assert_eq!(case.wrong("ada", HOME), NOT_JUDGED);
        case.clock.advance(30 * 60);
        case.attempts.remove_expired(case.clock.monotonic());
        assert!(case.attempts.state.lock().accounts.is_empty());
        assert!(case.attempts.state.lock().addresses.is_empty());
    }
}

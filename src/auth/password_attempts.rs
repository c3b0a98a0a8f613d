//! Limits on guessing passwords. An attempt is counted before the password is hashed, and given back when it is right:
//! guesses at the same time are counted as those one after another.
//!
//! - *One account from one address*: 5 wrong passwords in 30 minutes. After that nothing is judged, not even the right
//!   one. Whoever mistypes waits; whoever guesses for somebody else's account locks only their own address out of it.
//! - *One account from all addresses*: 20 wrong passwords in 30 minutes, which ends guessing from many addresses. It does
//!   not count for an address from which a right password came in the last 30 days, so that nobody can lock people out of
//!   where they usually are.
//! - *All accounts from one address*: 100 wrong passwords in a minute. Beyond it passwords are still judged, one at a time,
//!   and only the right one is told: others of the same address (a family, an office, everybody behind a proxy that the
//!   server was not told of) log in as before. How often each account may be guessed at is bounded by the other two
//!   rules, and how much of the machine an address takes by the number of attempts that are judged at a time.
//!
//! An attempt that might exceed a limit, if those that are being judged turn out wrong, waits for them. So a person with
//! many devices who gives the right password everywhere at once is let in everywhere.
//!
//! An account that does not exist is counted like one that does, and is known by a digest, so that long names take no
//! memory.

use super::window::{CAPACITY, MINUTE, Rule, Window, make_room, seconds};
use crate::error::{ApiError, ApiResult};
use crate::types::{Clock, address_block};
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// Wrong passwords for one account from one address.
const ACCOUNT_AND_ADDRESS: Rule = Rule { attempts: 5, window: 30 * MINUTE };

/// Wrong passwords for one account from all addresses that are not known.
const ACCOUNT: Rule = Rule { attempts: 20, window: 30 * MINUTE };

/// Wrong passwords from one address.
const ADDRESS: Rule = Rule { attempts: 100, window: MINUTE };

/// How many attempts of one address are judged at a time.
const JUDGED_AT_ONCE: usize = 8;

/// How long an address is known from which a right password came, and how many of them an account has.
const KNOWN_FOR: i64 = 30 * 24 * 60 * MINUTE;
const KNOWN_ADDRESSES: usize = 16;

/// The longest name of an account in bytes: that of an email address.
pub const MAX_NAME_LENGTH: usize = 254;

/// The attempts of the last 30 minutes, and those that are being judged.
#[derive(Default)]
pub struct PasswordAttempts {
    state: Mutex<State>,
    /// An attempt was decided, or an account was unlocked.
    decided: Notify,
}

#[derive(Default)]
struct State {
    accounts: HashMap<AccountKey, Account>,
    addresses: HashMap<IpAddr, Address>,
}

type AccountKey = [u8; 16];

#[derive(Default)]
struct Account {
    /// Wrong passwords: addresses and times, the oldest first.
    wrong: Vec<(IpAddr, i64)>,
    /// The addresses of attempts that are being judged.
    judged: Vec<IpAddr>,
    /// Addresses of right passwords, and their times.
    known: Vec<(IpAddr, i64)>,
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
    address: IpAddr,
    is_decided: bool,
}

impl PasswordAttempts {
    /// Counts an attempt for an account, by its name in lower case, before the password is judged. Fails with 429 if there
    /// were too many, and with 401 if no account can have the name.
    pub async fn begin<'a>(
        &'a self,
        name: &str,
        peer: IpAddr,
        clock: &'a Clock,
    ) -> ApiResult<PasswordAttempt<'a>> {
        if name.len() > MAX_NAME_LENGTH {
            return Err(wrong_password());
        }
        let (account, address) = (key_of(name), address_block(peer));
        loop {
            let decided = self.decided.notified();
            let decision = self.state().admit(account, address, clock.monotonic());
            match decision {
                Decision::Judge => {
                    return Ok(PasswordAttempt {
                        attempts: self,
                        clock,
                        account,
                        address,
                        is_decided: false,
                    });
                }
                Decision::Wait => decided.await,
                Decision::Refuse(rest) => return Err(refusal(ACCOUNT_AND_ADDRESS, rest, clock)),
            }
        }
    }

    /// Forgets the wrong passwords of an account. Returns whether there were any.
    pub fn unlock(&self, name: &str) -> bool {
        let mut state = self.state();
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

    /// Drops what does not count any more.
    pub(super) fn remove_expired(&self, now: i64) {
        let mut state = self.state();
        state.remove_expired(now);
        state.accounts.shrink_to(CAPACITY / 16);
        state.addresses.shrink_to(CAPACITY / 16);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<'a> PasswordAttempt<'a> {
    /// The password was right: the attempt does not count, and neither do earlier ones from this address.
    pub fn right(mut self) {
        let now = self.clock.monotonic();
        let mut state = self.give_back();
        let account = state.accounts.entry(self.account).or_default();
        account.wrong.retain(|(address, _)| *address != self.address);
        account.known.retain(|(address, _)| *address != self.address);
        account.known.push((self.address, now));
        if account.known.len() > KNOWN_ADDRESSES {
            account.known.remove(0);
        }
    }

    /// The password was wrong. Returns the error for the client: `own`, or that of the limit of the address.
    pub fn wrong(mut self, own: ApiError) -> ApiError {
        let count = self.count_wrong();
        if count <= ADDRESS.attempts {
            return own;
        }
        let now = self.clock.monotonic();
        let window = self.attempts.state().addresses.get(&self.address).map(|address| address.wrong);
        refusal(ADDRESS, window.unwrap_or_default().rest(ADDRESS, now), self.clock)
    }

    /// The password was not judged, or the account may not be used anyhow: the attempt does not count.
    pub fn cancel(mut self) {
        drop(self.give_back());
    }

    /// Counts the attempt as wrong, and returns the number of wrong ones from its address.
    fn count_wrong(&mut self) -> u32 {
        let now = self.clock.monotonic();
        let mut state = self.give_back();
        state.accounts.entry(self.account).or_default().wrong.push((self.address, now));
        state.addresses.entry(self.address).or_default().wrong.count(ADDRESS, now)
    }

    fn give_back(&mut self) -> MutexGuard<'a, State> {
        self.is_decided = true;
        let attempts = self.attempts;
        let mut state = attempts.state();
        if let Some(account) = state.accounts.get_mut(&self.account)
            && let Some(place) = account.judged.iter().position(|address| *address == self.address)
        {
            account.judged.swap_remove(place);
        }
        if let Some(address) = state.addresses.get_mut(&self.address) {
            address.judged = address.judged.saturating_sub(1);
        }
        // Those who wait look at the state when its lock is free again.
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
    fn admit(&mut self, account: AccountKey, address: IpAddr, now: i64) -> Decision {
        let is_full = |length: usize| length >= CAPACITY;
        if is_full(self.accounts.len()) || is_full(self.addresses.len()) {
            self.remove_expired(now);
            make_room(&mut self.accounts, Account::weight);
            make_room(&mut self.addresses, Address::weight);
        }
        let account = self.accounts.entry(account).or_default();
        let decision = account.decide(address, now);
        if !matches!(decision, Decision::Judge) {
            return decision;
        }
        let of_address = self.addresses.entry(address).or_default();
        let is_over = of_address.wrong.counted(ADDRESS, now) >= ADDRESS.attempts;
        if of_address.judged >= if is_over { 1 } else { JUDGED_AT_ONCE } {
            return Decision::Wait;
        }
        of_address.judged += 1;
        account.judged.push(address);
        Decision::Judge
    }

    fn remove_expired(&mut self, now: i64) {
        self.accounts.retain(|_, account| {
            account.remove_expired(now);
            !(account.wrong.is_empty() && account.judged.is_empty() && account.known.is_empty())
        });
        self.addresses.retain(|_, address| address.judged > 0 || address.wrong.counted(ADDRESS, now) > 0);
    }
}

impl Account {
    fn decide(&mut self, address: IpAddr, now: i64) -> Decision {
        self.remove_expired(now);
        let is_known = |other: &IpAddr| self.known.iter().any(|(known, _)| known == other);
        let of_address =
            within(ACCOUNT_AND_ADDRESS, now, &self.wrong, &self.judged, |other| *other == address);
        if is_known(&address) || !matches!(of_address, Decision::Judge) {
            return of_address;
        }
        within(ACCOUNT, now, &self.wrong, &self.judged, |other| !is_known(other))
    }

    fn remove_expired(&mut self, now: i64) {
        self.wrong.retain(|(_, time)| now - time < ACCOUNT.window);
        self.known.retain(|(_, time)| now - time < KNOWN_FOR);
    }

    /// How much is lost if the account is forgotten.
    fn weight(&self) -> u32 {
        let known = if self.known.is_empty() { 0 } else { 1 << 16 };
        let judged = if self.judged.is_empty() { 0 } else { 1 << 20 };
        known + judged + self.wrong.len() as u32
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
    wrong: &[(IpAddr, i64)],
    judged: &[IpAddr],
    counts: impl Fn(&IpAddr) -> bool,
) -> Decision {
    let limit = rule.attempts as usize;
    let wrong: Vec<i64> =
        wrong.iter().filter(|(address, _)| counts(address)).map(|(_, time)| *time).collect();
    if wrong.len() >= limit {
        // When the last `limit` of them are not all within the window any more.
        let decisive = wrong.get(wrong.len() - limit).copied().unwrap_or(now);
        return Decision::Refuse(decisive + rule.window - now);
    }
    let judged = judged.iter().filter(|address| counts(address)).count();
    if wrong.len() + judged >= limit { Decision::Wait } else { Decision::Judge }
}

fn key_of(name: &str) -> AccountKey {
    let digest: [u8; 32] = Sha256::digest(name.as_bytes()).into();
    let mut key = [0; 16];
    key.copy_from_slice(&digest[..16]);
    key
}

fn refusal(rule: Rule, rest: i64, clock: &Clock) -> ApiError {
    ApiError::rate_limited(seconds(rest))
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
            self.attempts.begin(account, address.parse().unwrap(), &self.clock).now_or_never()
        }

        fn wrong(&self, account: &str, address: &str) -> u16 {
            match self.begin(account, address).unwrap() {
                Ok(attempt) => attempt.wrong(wrong_password()).status(),
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
    fn guesses_at_once_are_counted_before_they_are_judged() {
        let case = Case::new();
        let judged: Vec<_> = (0..61).map_while(|_| case.begin("ada", HOME)).collect();
        assert_eq!(judged.len(), 5);
        let mut waiting = Box::pin(case.attempts.begin("ada", HOME.parse().unwrap(), &case.clock));
        assert!(waiting.as_mut().now_or_never().is_none());
        drop(judged);
        assert_eq!(waiting.now_or_never().unwrap().err().unwrap().status(), 429);
    }

    #[test]
    fn right_passwords_at_once_all_pass() {
        let case = Case::new();
        let judged: Vec<_> = (0..5).map(|_| case.begin("ada", HOME).unwrap().unwrap()).collect();
        let mut sixth = Box::pin(case.attempts.begin("ada", HOME.parse().unwrap(), &case.clock));
        assert!(sixth.as_mut().now_or_never().is_none());
        for attempt in judged {
            attempt.right();
        }
        sixth.now_or_never().unwrap().unwrap().cancel();
        assert_eq!(
            case.attempts.state().accounts.values().map(|account| account.judged.len()).sum::<usize>(),
            0
        );
    }

    #[test]
    fn guessing_from_many_addresses_ends_and_locks_nobody_out_of_home() {
        let case = Case::new();
        assert!(case.passes("ada", HOME));
        let mut judged = 0;
        for number in 0..100 {
            judged += u32::from(case.wrong("ada", &format!("203.0.113.{number}")) == 401);
        }
        assert_eq!(judged, 20);
        assert!(case.passes("ada", HOME));
        assert!(!case.passes("ada", "198.51.100.2"));
        assert!(case.passes("bob", "203.0.113.1"));
    }

    #[test]
    fn an_address_that_is_over_its_limit_still_tells_the_right_password() {
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
    fn long_names_are_refused_and_take_no_memory() {
        let case = Case::new();
        assert_eq!(case.wrong(&"a".repeat(255), HOME), 1401);
        assert!(case.attempts.state().accounts.is_empty());
    }

    #[test]
    fn who_fills_the_memory_unlocks_nobody() {
        let case = Case::new();
        for _ in 0..5 {
            case.wrong("ada", HOME);
        }
        assert!(case.passes("bob", HOME));
        for number in 0..CAPACITY + 10 {
            let address = format!("10.{}.{}.{}", number >> 16, (number >> 8) & 255, number & 255);
            assert_eq!(case.wrong(&format!("nobody{number}"), &address), 401);
            assert!(case.attempts.state().accounts.len() <= CAPACITY);
        }
        assert_eq!(case.wrong("ada", HOME), NOT_JUDGED);
        assert_eq!(case.attempts.state().accounts[&key_of("bob")].known.len(), 1);
        case.clock.advance(30 * 60);
        case.attempts.remove_expired(case.clock.monotonic());
        assert_eq!(case.attempts.state().accounts.len(), 1);
        assert!(case.attempts.state().addresses.is_empty());
    }
}

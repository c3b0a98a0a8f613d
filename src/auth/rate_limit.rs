//! Rate limits on requests, wrong API keys, sign-ups and sign-ons. Guesses at passwords: [`super::password_attempts`].

use super::caller::Caller;
use super::password_attempts::PasswordAttempts;
use super::window::{CAPACITY, MINUTE, Rule, Window, make_room};
use crate::error::{ApiError, ApiResult};
use crate::metrics::Count;
use crate::types::{Clock, UserId, address_block, address_site, fractional_seconds};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::hash::Hash;
use std::net::IpAddr;

/// A day in milliseconds.
const DAY: i64 = 24 * 60 * MINUTE;

/// The part of a file's path that is counted, in characters: paths of files are shorter.
const MAX_PATH_LENGTH: usize = 255;

/// All rate limits, in memory. An IPv6 address counts for its /64 network. Times are of the monotonic clock, so that a
/// change of the system clock cannot extend a lock.
///
/// Right API keys always pass: a key is too long to guess, so the limit on wrong ones only bounds their cost.
pub struct RateLimiter {
    /// Guesses at passwords.
    pub passwords: PasswordAttempts,
    /// Requests with wrong API keys from one address.
    wrong_keys: Counter<IpAddr>,
    /// Lines of the log about them.
    wrong_key_lines: Counter<IpAddr>,
    /// Submitted sign-up pages from one address. Each may cost a password hash.
    sign_ups: Counter<IpAddr>,
    /// Steps of logins at providers from one address, and from one /48 network of IPv6. Some have the server ask the provider, and
    /// those that are under way may push out the ones of others.
    sign_ons: [Counter<IpAddr>; 2],
    /// Requests of one user, as on the published server.
    requests_of_users: Counter<UserId>,
    /// Requests of all bots of one person together.
    requests_of_bots: Counter<UserId>,
    /// Requests without a login from one address, as on the published server.
    requests_of_addresses: Counter<IpAddr>,
    /// Searches of visitors from one address. No other request of a visitor costs as much.
    searches_of_addresses: Counter<IpAddr>,
    /// Requests of all visitors for one file or image of a user, as on the published server.
    visits_of_files: Counter<String>,
    /// Mails to all addresses of channels: four times as many as of one person.
    mails: [Counter<()>; 3],
    /// Mails to the addresses of channels that one person has asked for, as on the published server for all. Strangers may
    /// know an address, and use it up for its person only.
    mails_of_users: [Counter<UserId>; 3],
    /// Emails that are caused without a login from one address, as on the published server, and from one /48 network of IPv6.
    letters_of_addresses: [Counter<IpAddr>; 2],
    /// Emails with a link for a new password, or that prove a new address, of one account, as on the published server. As many
    /// emails of each other kind go to one address, however many people ask for them.
    letters_of_accounts: [Counter<String>; 2],
    /// Invitations by mail of one person who is not an administrator.
    invitations_of_users: Counter<UserId>,
    /// Messages that one person who is not a moderator moves, with one more for each KiB of their text: as many as keep the
    /// writer busy for a few seconds.
    moves_of_users: Counter<UserId>,
}

impl Default for RateLimiter {
    fn default() -> Self {
        Self {
            passwords: PasswordAttempts::default(),
            wrong_keys: Counter::new(100, MINUTE),
            wrong_key_lines: Counter::new(1, MINUTE),
            sign_ups: Counter::new(100, 10 * MINUTE),
            sign_ons: [Counter::new(200, 10 * MINUTE), Counter::new(2000, 10 * MINUTE)],
            requests_of_users: Counter::new(200, MINUTE),
            requests_of_bots: Counter::new(600, MINUTE),
            requests_of_addresses: Counter::new(100, MINUTE),
            searches_of_addresses: Counter::new(20, MINUTE),
            visits_of_files: Counter::new(1000, DAY),
            mails: [
                Counter::new(200, MINUTE),
                Counter::new(480, 5 * MINUTE),
                Counter::new(2400, 60 * MINUTE),
            ],
            mails_of_users: [
                Counter::new(50, MINUTE),
                Counter::new(120, 5 * MINUTE),
                Counter::new(600, 60 * MINUTE),
            ],
            letters_of_addresses: [Counter::new(5, DAY), Counter::new(50, DAY)],
            letters_of_accounts: [Counter::new(2, 60 * MINUTE), Counter::new(5, DAY)],
            invitations_of_users: Counter::new(100, DAY),
            moves_of_users: Counter::new(20_000, 60 * MINUTE),
        }
    }
}

impl RateLimiter {
    /// All limits but that of passwords, by their names in the metrics.
    fn limits(&self) -> [(&'static str, &dyn Limit); 14] {
        [
            ("wrong_keys", &self.wrong_keys),
            ("sign_ups", &self.sign_ups),
            ("sign_ons", &self.sign_ons),
            ("requests_of_users", &self.requests_of_users),
            ("requests_of_bots", &self.requests_of_bots),
            ("requests_of_addresses", &self.requests_of_addresses),
            ("searches_of_addresses", &self.searches_of_addresses),
            ("visits_of_files", &self.visits_of_files),
            ("mails", &self.mails),
            ("mails_of_users", &self.mails_of_users),
            ("letters_of_addresses", &self.letters_of_addresses),
            ("letters_of_accounts", &self.letters_of_accounts),
            ("invitations_of_users", &self.invitations_of_users),
            ("moves_of_users", &self.moves_of_users),
        ]
    }

    /// Counts a request with wrong credentials. Fails if there were too many; that error replaces the request's own.
    pub fn count_wrong_key(&self, peer: IpAddr, clock: &Clock) -> ApiResult<()> {
        self.wrong_keys.count(address_block(peer), clock).check()
    }

    /// Writes the address of a request with a wrong API key to the log, once a minute for each address.
    pub fn log_wrong_key(&self, peer: IpAddr, clock: &Clock) {
        if self.wrong_key_lines.count(address_block(peer), clock).pause().is_none() {
            tracing::info!(address = %peer, "a wrong API key");
        }
    }

    /// Counts a submitted sign-up page. Fails if there were too many.
    pub fn count_sign_up(&self, peer: IpAddr, clock: &Clock) -> ApiResult<()> {
        self.sign_ups.count(address_block(peer), clock).check()
    }

    /// Counts a step of a login at a provider. Fails if there were too many.
    pub fn count_sign_on(&self, peer: IpAddr, clock: &Clock) -> ApiResult<()> {
        count_peer(&self.sign_ons, peer, clock)
    }

    /// Counts a request of a user, or an anonymous one of an address. Requests of a bot also count for its quota owner.
    /// Returns the limit of which less is left.
    pub fn count_request(&self, caller: Option<&Caller>, peer: IpAddr, clock: &Clock) -> Usage {
        let Some(caller) = caller else {
            return self.requests_of_addresses.count(address_block(peer), clock);
        };
        self.count_action(caller, clock)
    }

    /// Counts a search of a visitor. Fails if there were too many.
    pub fn count_visitor_search(&self, peer: IpAddr, clock: &Clock) -> ApiResult<()> {
        self.searches_of_addresses.count(address_block(peer), clock).check()
    }

    /// Counts a request of a visitor for a file, by its path. Fails if all visitors together made too many.
    pub fn count_visit(&self, path: &str, clock: &Clock) -> ApiResult<()> {
        let path = path.chars().take(MAX_PATH_LENGTH).collect();
        self.visits_of_files.count(path, clock).check()
    }

    /// Counts a mail to the address of a channel that a person has asked for. Fails if there were too many.
    pub fn count_mail(&self, asker: UserId, clock: &Clock) -> ApiResult<()> {
        // A mail that one limit refuses comes again, and does not count for the next ones until it is taken.
        self.mails_of_users.iter().try_for_each(|mails| mails.count(asker, clock).check())?;
        self.mails.iter().try_for_each(|mails| mails.count((), clock).check())
    }

    /// Counts an email of a kind to a recipient, which an address causes without a login. Fails if there were too many of either.
    pub fn count_letter_to(&self, kind: &str, email: &str, peer: IpAddr, clock: &Clock) -> ApiResult<()> {
        self.count_letter(peer, clock)?;
        self.count_letter_of_account(&format!("{kind} {email}"), clock)
    }

    /// Counts an email that an address causes without a login. Fails if there were too many.
    pub fn count_letter(&self, peer: IpAddr, clock: &Clock) -> ApiResult<()> {
        count_peer(&self.letters_of_addresses, peer, clock)
    }

    /// Counts an email with a link that changes an account: `account` is its address, or another name of it. Fails if there were
    /// too many.
    pub fn count_letter_of_account(&self, account: &str, clock: &Clock) -> ApiResult<()> {
        let account: String = account.trim().to_lowercase().chars().take(MAX_PATH_LENGTH).collect();
        self.letters_of_accounts.iter().try_for_each(|letters| letters.count(account.clone(), clock).check())
    }

    /// Counts an invitation that a person sends by mail to an email. Fails if there were too many of either.
    pub fn count_invitation(&self, user_id: UserId, email: &str, clock: &Clock) -> ApiResult<()> {
        self.invitations_of_users.count(user_id, clock).check()?;
        self.count_letter_of_account(&format!("invitation {email}"), clock)
    }

    /// Counts messages that a person moves: `cost` is their number, and one for each KiB of their text. Fails if there were too
    /// many.
    pub fn count_moved(&self, user_id: UserId, cost: u32, clock: &Clock) -> ApiResult<()> {
        let usage = self.moves_of_users.count_many(user_id, cost, clock);
        if usage.count <= usage.limit {
            return Ok(());
        }
        let wait = match (usage.rest + MINUTE - 1) / MINUTE {
            ..=1 => "a minute".to_owned(),
            minutes => format!("{minutes} minutes"),
        };
        let msg = format!("You have moved too many messages within an hour. Try again in {wait}.");
        Err(ApiError::bad_request(msg))
    }

    /// Counts what the server does for a user like a request of theirs: posting to the webhook of a bot, which may reply.
    pub fn count_action(&self, caller: &Caller, clock: &Clock) -> Usage {
        let own = self.requests_of_users.count(caller.user_id, clock);
        if !caller.is_bot() {
            return own;
        }
        let of_all = self.requests_of_bots.count(caller.quota_owner(), clock);
        if of_all.rest_of_limit() < own.rest_of_limit() { of_all } else { own }
    }

    /// Forgets everything.
    pub fn clear(&self) {
        self.passwords.clear();
        self.wrong_key_lines.clear();
        self.limits().into_iter().for_each(|(_, limit)| limit.clear());
    }

    /// The number of refusals by each limit.
    pub fn refusals(&self) -> Vec<(&'static str, u64)> {
        let others = self.limits().into_iter().map(|(name, limit)| (name, limit.refusals()));
        std::iter::once(("passwords", self.passwords.refusals.get())).chain(others).collect()
    }

    /// Drops expired entries. Runs once a minute.
    pub fn remove_expired(&self, clock: &Clock) {
        let now = clock.monotonic();
        self.passwords.remove_expired(now);
        self.wrong_key_lines.remove_expired(now);
        self.limits().into_iter().for_each(|(_, limit)| limit.remove_expired(now));
    }
}

/// Counts an attempt from an address, and from its /48 network of IPv6. Fails if there were too many from either.
fn count_peer([of_addresses, of_sites]: &[Counter<IpAddr>; 2], peer: IpAddr, clock: &Clock) -> ApiResult<()> {
    of_addresses.count(address_block(peer), clock).check()?;
    address_site(peer).map_or(Ok(()), |site| of_sites.count(site, clock).check())
}

/// Usage of a limit after the last attempt was counted.
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
    /// Number of remaining attempts; negative if the limit is exceeded.
    fn rest_of_limit(self) -> i64 {
        i64::from(self.limit) - i64::from(self.count)
    }

    /// Seconds until the limit allows more, rounded up; `None` if it is not exceeded.
    pub fn pause(self) -> Option<i64> {
        (self.count > self.limit).then(|| self.rest.div_euclid(1000) + 1)
    }

    /// Fails with 429 if the limit is exceeded.
    pub fn check(self) -> ApiResult<()> {
        if self.count <= self.limit {
            return Ok(());
        }
        let refusal = ApiError::rate_limited(fractional_seconds(self.rest));
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

/// A limit whatever its keys, and several limits that count the same attempts.
trait Limit {
    fn clear(&self);
    fn remove_expired(&self, now: i64);
    fn refusals(&self) -> u64;
}

/// The attempts of each key under a rule.
struct Counter<K> {
    rule: Rule,
    windows: Mutex<HashMap<K, Window>>,
    refusals: Count,
}

impl<K: Eq + Hash> Counter<K> {
    fn new(attempts: u32, window: i64) -> Self {
        Self { rule: Rule { attempts, window }, windows: Mutex::default(), refusals: Count::default() }
    }

    fn count(&self, key: K, clock: &Clock) -> Usage {
        self.count_many(key, 1, clock)
    }

    fn count_many(&self, key: K, attempts: u32, clock: &Clock) -> Usage {
        let (rule, now) = (self.rule, clock.monotonic());
        let mut windows = self.windows.lock();
        if windows.len() >= CAPACITY && !windows.contains_key(&key) {
            windows.retain(|_, window| !window.is_over(rule, now));
            make_room(&mut windows, |window| window.total());
        }
        let window = windows.entry(key).or_default();
        let count = window.count_many(attempts, rule, now);
        let rest = window.rest(rule, now);
        if count > rule.attempts {
            self.refusals.increment();
        }
        Usage { limit: rule.attempts, count, rest, reset: clock.seconds() + rest.div_euclid(1000) }
    }
}

impl<K: Eq + Hash> Limit for Counter<K> {
    fn clear(&self) {
        self.windows.lock().clear();
    }

    fn remove_expired(&self, now: i64) {
        let mut windows = self.windows.lock();
        windows.retain(|_, window| !window.is_over(self.rule, now));
        windows.shrink_to(CAPACITY / 16);
    }

    fn refusals(&self) -> u64 {
        self.refusals.get()
    }
}

impl<L: Limit, const N: usize> Limit for [L; N] {
    fn clear(&self) {
        self.iter().for_each(L::clear);
    }

    fn remove_expired(&self, now: i64) {
        for limit in self {
            limit.remove_expired(now);
        }
    }

    fn refusals(&self) -> u64 {
        self.iter().map(L::refusals).sum()
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

    /// Uses up the limit of a /48 network from its /64 networks, and checks that the limit is of this network only, for this time.
    fn use_up_large_network(
        count: impl Fn(&RateLimiter, IpAddr, &Clock) -> ApiResult<()>,
        of_each: u64,
        limit: u64,
        seconds: i64,
    ) {
        let (limiter, clock) = (RateLimiter::default(), Clock::manual(0));
        let count = |peer: IpAddr| count(&limiter, peer, &clock);
        for attempt in 0..limit {
            count(address(attempt / of_each, 1)).unwrap();
        }
        let next = address(limit / of_each, 1);
        let refusal = count(next).unwrap_err();
        assert_eq!((refusal.status(), refusal.code()), (429, "RATE_LIMIT_HIT"));
        count(address(1 << 16, 1)).unwrap();
        count("198.51.100.1".parse().unwrap()).unwrap();
        clock.advance(seconds);
        count(next).unwrap();
    }

    #[test]
    fn sign_ons_of_a_large_network_do_not_push_out_those_of_others() {
        use_up_large_network(RateLimiter::count_sign_on, 100, 2000, 600);
    }

    #[test]
    fn a_large_network_causes_few_emails_without_a_login() {
        use_up_large_network(RateLimiter::count_letter, 5, 50, 24 * 60 * 60);
    }

    #[test]
    fn mails_to_channels_have_limits_for_three_times() {
        let (limiter, clock) = (RateLimiter::default(), Clock::manual(0));
        let mut taken = Vec::new();
        for _minute in 0..61 {
            taken.push((0..60).filter(|_| limiter.count_mail(UserId(1), &clock).is_ok()).count());
            clock.advance(60);
        }
        assert_eq!(taken[..6], [50, 50, 20, 0, 0, 50]);
        assert_eq!(taken[..60].iter().sum::<usize>(), 600);
        assert_eq!(taken[60], 50);
        clock.advance(3600);
        let all = (1..=5)
            .flat_map(|user| [UserId(user); 60])
            .filter(|user| limiter.count_mail(*user, &clock).is_ok());
        assert_eq!(all.count(), 200);
    }

    #[test]
    fn eviction_keeps_exceeded_limits() {
        let (limiter, clock) = (RateLimiter::default(), Clock::manual(0));
        let guesser = address(u64::MAX >> 32, 0);
        for _ in 0..100 {
            limiter.count_wrong_key(guesser, &clock).unwrap();
        }
        for network in 0..3 * CAPACITY as u64 {
            limiter.count_wrong_key(address(network, 0), &clock).unwrap();
            assert!(limiter.wrong_keys.windows.lock().len() <= CAPACITY);
        }
        assert!(limiter.count_wrong_key(guesser, &clock).is_err());
        clock.advance(60);
        limiter.remove_expired(&clock);
        assert!(limiter.wrong_keys.windows.lock().is_empty());
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

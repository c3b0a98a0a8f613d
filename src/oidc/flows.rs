//! Logins that are under way, and tokens of logins that another program completes. They are in memory, each is used once, and the
//! oldest make room for new ones.

use crate::types::{Clock, UserId};
use parking_lot::Mutex;
use std::collections::HashMap;

/// Lifetime of a login at a provider, in seconds.
pub const FLOW_LIFETIME: i64 = 10 * 60;

/// Lifetime of the token of a login, in seconds, as published.
const TOKEN_LIFETIME: i64 = 15;

/// Maximum number of entries of each kind. Addresses have limits of their own.
const CAPACITY: usize = 10_000;

/// A login at a provider.
#[derive(Clone, Debug)]
pub struct Flow {
    pub provider: String,
    /// The secret of the cookie of the browser that began it.
    pub browser: String,
    /// The address to which the provider sends the browser back.
    pub redirect_uri: String,
    /// The text that the token has to repeat.
    pub(super) nonce: String,
    /// The secret of which the provider has the digest (PKCE).
    pub(super) verifier: String,
    /// The purpose of the login, which the provider does not learn.
    pub purpose: Purpose,
}

/// The purpose of a login.
#[derive(Clone, Debug)]
pub struct Purpose {
    /// The path of this server to which the browser goes.
    pub next: String,
    /// The secret part of an invitation link.
    pub invitation: Option<String>,
    /// The program that logs in.
    pub ending: Ending,
}

/// The end of a login, by the program that logs in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// A session, whose cookie the browser gets.
    Browser,
    /// An API key for the mobile app, encrypted with its one-time pad.
    Mobile(Pad),
    /// A token for the desktop app, encrypted with its key.
    Desktop(Pad),
}

/// The secret of an app: 64 hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pad([u8; 32]);

impl Pad {
    /// Reads 64 hexadecimal digits; `None` for any other text.
    pub fn parse(text: &str) -> Option<Self> {
        if text.len() != 64 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return None;
        }
        let mut bytes = [0; 32];
        for (byte, digits) in bytes.iter_mut().zip(text.as_bytes().chunks(2)) {
            *byte = u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
        }
        Some(Self(bytes))
    }

    /// The digits as bytes: a key of 256 bits.
    pub fn bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Encrypts a text of up to 32 bytes: each byte with one of the pad.
    pub fn encrypt(&self, text: &str) -> Vec<u8> {
        text.bytes().zip(self.0).map(|(byte, secret)| byte ^ secret).collect()
    }
}

/// A login that another program completes.
#[derive(Clone, Debug)]
pub struct Handover {
    /// The user whom the token logs in.
    pub user_id: UserId,
    /// The path of this server to which the program goes.
    pub next: String,
}

/// Logins that are under way.
#[derive(Default)]
pub struct Flows {
    flows: Mutex<Expiring<Flow>>,
    handovers: Mutex<Expiring<Handover>>,
}

impl Flows {
    /// Keeps a login under its `state`.
    pub(super) fn insert(&self, state: String, flow: Flow, clock: &Clock) {
        self.flows.lock().insert(state, flow, FLOW_LIFETIME, clock);
    }

    /// Takes a login, which ends it.
    pub fn take(&self, state: &str, clock: &Clock) -> Option<Flow> {
        self.flows.lock().take(state, FLOW_LIFETIME, clock)
    }

    /// Keeps a login for another program under a token.
    pub fn hand_over(&self, token: String, handover: Handover, clock: &Clock) {
        self.handovers.lock().insert(token, handover, TOKEN_LIFETIME, clock);
    }

    /// Takes the login of a token, which ends it.
    pub fn take_over(&self, token: &str, clock: &Clock) -> Option<Handover> {
        self.handovers.lock().take(token, TOKEN_LIFETIME, clock)
    }
}

/// Values that end after a time, with the monotonic milliseconds of their start.
struct Expiring<T>(HashMap<String, (i64, T)>);

impl<T> Default for Expiring<T> {
    fn default() -> Self {
        Self(HashMap::new())
    }
}

impl<T> Expiring<T> {
    fn insert(&mut self, key: String, value: T, lifetime: i64, clock: &Clock) {
        let now = clock.monotonic();
        if self.0.len() >= CAPACITY {
            self.0.retain(|_, (start, _)| !is_over(*start, lifetime, now));
        }
        if self.0.len() >= CAPACITY {
            let oldest = self.0.iter().min_by_key(|(_, (start, _))| *start).map(|(key, _)| key.clone());
            if let Some(key) = oldest {
                self.0.remove(&key);
            }
        }
        self.0.insert(key, (now, value));
    }

    fn take(&mut self, key: &str, lifetime: i64, clock: &Clock) -> Option<T> {
        let (start, value) = self.0.remove(key)?;
        (!is_over(start, lifetime, clock.monotonic())).then_some(value)
    }
}

fn is_over(start: i64, lifetime: i64, now: i64) -> bool {
    now - start >= lifetime * 1000
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::hex;

    #[test]
    fn values_are_taken_once_and_in_time() {
        let clock = Clock::manual(0);
        let mut values = Expiring::default();
        values.insert("a".to_owned(), 1, 15, &clock);
        assert_eq!(values.take("a", 15, &clock), Some(1));
        assert_eq!(values.take("a", 15, &clock), None);
        for (seconds, expected) in [(14, Some(2)), (15, None)] {
            values.insert("b".to_owned(), 2, 15, &clock);
            clock.advance(seconds);
            assert_eq!(values.take("b", 15, &clock), expected, "{seconds}");
        }
    }

    #[test]
    fn the_oldest_make_room() {
        let clock = Clock::manual(0);
        let mut values = Expiring::default();
        for number in 0..=CAPACITY {
            values.insert(number.to_string(), number, 1000, &clock);
            clock.advance_milliseconds(1);
        }
        assert_eq!(values.0.len(), CAPACITY);
        assert_eq!(values.take("0", 1000, &clock), None);
        assert_eq!(values.take("1", 1000, &clock), Some(1));
    }

    #[test]
    fn pads_have_64_digits() {
        let pad = "00112233445566778899aabbccddeeff".repeat(2);
        let encrypted = Pad::parse(&pad).unwrap().encrypt("QGgu3NKgm2fFYZiCHstHj4hyz6FvYYmU");
        let expected = "51564546771b2d10e5abccfd958787bc4862567b2e610e0ef2afeccd958483aa";
        assert_eq!(hex(&encrypted), expected);
        assert_eq!(Pad::parse(&pad.to_uppercase()), Pad::parse(&pad));
        for text in ["", &pad[1..], &format!("{pad}0"), &pad.replace('f', "g"), &"é".repeat(32)] {
            assert_eq!(Pad::parse(text), None, "{text}");
        }
    }
}

//! Credentials of a request: the `Authorization` header, API keys, sessions, and their accounts. [`admit`] judges them all.

use super::caller::{Caller, Credential, EFFECTIVE_ROLE, invalid_key, refused_key};
use super::session;
use crate::error::{ApiError, ApiResult};
use crate::types::BotType;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rusqlite::{Connection, OptionalExtension};
use sha2::{Digest, Sha256};
use std::sync::atomic::{AtomicI64, Ordering};

/// Length of an API key in characters. Clients of the one-time-password login rely on it.
pub const API_KEY_LENGTH: usize = 32;

/// Minimum interval between renewals of a session's cookies, in seconds.
const RENEWAL_INTERVAL: i64 = 3600;

/// The credentials of a request, by its entry point.
#[derive(Clone, Copy)]
pub enum Shown<'a> {
    /// The value of `Authorization`: HTTP Basic with the email and an API key.
    Header(&'a str),
    /// The secret of a browser's session, from its cookie. No other site forged the request.
    Session(&'a str),
    /// An API key in the query string, on routes for other programs' webhooks.
    KeyInQuery(&'a str),
    /// None below `/api`, where programs have a key: no one is a visitor there. Elsewhere a request without credentials
    /// shows nothing.
    NoKey,
}

/// A secret that has a row: of which table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SecretKind {
    ApiKey,
    /// A browser's session.
    Session,
}

/// A credential and the account that it belongs to, as stored.
pub struct CredentialRow {
    caller: Caller,
    is_active: bool,
    /// The real email and the API email, in lower case. The published server accepts the real one only, the
    /// specification speaks of the API email: both are accepted.
    emails: [String; 2],
    is_realm_deactivated: bool,
    /// When the credential was last used as far as is known, in UNIX seconds.
    last_used: AtomicI64,
    /// When the session's cookies were last sent, in UNIX seconds; 0 if that is not known.
    renewed: AtomicI64,
}

impl CredentialRow {
    /// The tables that [`CredentialRow::find`] reads, for a cache that has to know when they
    /// change. Who made a bot never does. Jobs that leave bots of a guest to another one, or change the last ones, change `user`.
    pub const TABLES: &[&str] = &["api_key", "session", "user", "realm"];

    /// Loads the credential of a kind with this digest. `version` is one of before. System bots have none: a restored backup from
    /// elsewhere could have an owner among them, whom no list shows.
    pub fn find(
        connection: &Connection,
        kind: SecretKind,
        digest: &[u8; 32],
        version: u64,
    ) -> ApiResult<Option<Self>> {
        let statement = match kind {
            SecretKind::ApiKey => {
                format!(
                    "SELECT user_id, {EFFECTIVE_ROLE}, bot_type, bot_owner_id, is_active, delivery_email_key, api_key.id,
                            (SELECT deactivated FROM realm), lower(email), coalesce(last_used, date_created),
                            (SELECT created_by FROM bot WHERE bot.user_id = user.user_id)
                     FROM api_key JOIN user USING (user_id) LEFT JOIN api_key_use ON api_key_id = api_key.id
                     WHERE digest = ?1 AND NOT is_system_bot"
                )
            }
            SecretKind::Session => {
                format!(
                    "SELECT user_id, {EFFECTIVE_ROLE}, bot_type, bot_owner_id, is_active, delivery_email_key, session.id,
                            (SELECT deactivated FROM realm), lower(email), coalesce(last_used, date_created),
                            (SELECT created_by FROM bot WHERE bot.user_id = user.user_id)
                     FROM session JOIN user USING (user_id) LEFT JOIN session_use ON session_id = session.id
                     WHERE digest = ?1 AND NOT is_system_bot"
                )
            }
        };
        let found = connection
            .prepare_cached(&statement)?
            .query_row([digest], |row| {
                let id = row.get(6)?;
                let caller = Caller {
                    user_id: row.get(0)?,
                    role: row.get(1)?,
                    bot_type: row.get(2)?,
                    bot_owner_id: row.get(3)?,
                    bot_creator_id: row.get(10)?,
                    credential: match kind {
                        SecretKind::ApiKey => Credential::ApiKey(id),
                        SecretKind::Session => Credential::Session(id),
                    },
                    version,
                };
                Ok(Self {
                    caller,
                    is_active: row.get(4)?,
                    emails: [row.get(5)?, row.get(8)?],
                    is_realm_deactivated: row.get(7)?,
                    last_used: AtomicI64::new(row.get(9)?),
                    renewed: AtomicI64::new(0),
                })
            })
            .optional()?;
        Ok(found)
    }

    /// Records a use at a time in UNIX seconds.
    pub fn use_at(&self, now: i64) {
        self.last_used.fetch_max(now, Ordering::Relaxed);
    }

    /// True if the cookies of the session should be renewed; marks them as renewed. Cookies expire like unused
    /// sessions.
    pub fn take_renewal(&self, now: i64) -> bool {
        let is_due = |renewed| (!(renewed..renewed + RENEWAL_INTERVAL).contains(&now)).then_some(now);
        self.renewed.fetch_update(Ordering::Relaxed, Ordering::Relaxed, is_due).is_ok()
    }

    /// True if the credentials are right: the email of a header belongs to its key.
    pub fn is_proven_by(&self, shown: Shown<'_>) -> bool {
        match shown {
            Shown::Header(header) => parse_basic(header).is_ok_and(|(email, _)| self.has_email(&email)),
            Shown::Session(_) | Shown::KeyInQuery(_) => true,
            Shown::NoKey => false,
        }
    }

    fn has_email(&self, email: &str) -> bool {
        self.emails.contains(&email.trim().to_lowercase())
    }

    /// Checks that do not depend on the entry point: the organization and the account must be active.
    fn check_account(&self) -> ApiResult<()> {
        if self.is_realm_deactivated {
            return Err(ApiError::realm_deactivated());
        }
        if self.is_active { Ok(()) } else { Err(ApiError::user_deactivated()) }
    }
}

/// Maps credentials to a caller: the only place that combines the entry point, the kind of account and the route.
///
/// - An API key belongs to a person or a bot, and counts in the header with one of its account's emails, or alone in the
///   query string of routes that read it there. Refusals of the header are 401 `UNAUTHORIZED`, as published.
/// - A session belongs to a person, and ends when it is not used for [`session::IDLE`]. One that ended, or that belongs to
///   no person, is none: the caller is a stranger.
/// - A bot of type "incoming webhook" calls routes that are for it, and no others, whichever way it comes.
/// - A stranger is admitted as a [`Visitor`](super::Visitor) by routes for visitors, at pages, files and below `/json`.
///   Below `/api` a request without a key is refused, and a wrong key is refused everywhere.
pub fn admit(
    shown: Shown<'_>,
    login: Option<&CredentialRow>,
    is_for_webhooks: bool,
    now: i64,
) -> ApiResult<Option<Caller>> {
    let check = |login: &CredentialRow| -> ApiResult<()> {
        login.check_account()?;
        if login.caller.bot_type == Some(BotType::IncomingWebhook) && !is_for_webhooks {
            return Err(ApiError::bad_request("This API is not available to incoming webhook bots."));
        }
        Ok(())
    };
    match shown {
        Shown::NoKey => Err(ApiError::not_logged_in()),
        Shown::Session(_) => {
            let is_alive =
                |login: &&CredentialRow| now - login.last_used.load(Ordering::Relaxed) < session::IDLE;
            let login = login.filter(is_alive).filter(|login| {
                matches!(login.caller.credential, Credential::Session(_)) && !login.caller.is_bot()
            });
            login.map(|login| check(login).map(|()| login.caller.clone())).transpose()
        }
        Shown::Header(header) => {
            let (email, key) = parse_basic(header)?;
            let checked = login.ok_or_else(|| unknown_key(&key)).and_then(|login| {
                if !login.has_email(&email) {
                    return Err(invalid_key());
                }
                check(login).map(|()| login.caller.clone())
            });
            checked.map(Some).map_err(refused_key)
        }
        Shown::KeyInQuery(key) => {
            let login = login.ok_or_else(|| unknown_key(key))?;
            check(login).map(|()| Some(login.caller.clone()))
        }
    }
}

/// The refusal of an API key that does not exist. Only then is its form looked at: fixtures may have keys of any form.
fn unknown_key(key: &str) -> ApiError {
    if key.len() == API_KEY_LENGTH && key.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return invalid_key();
    }
    ApiError::new(401, "INVALID_API_KEY", "Malformed API key")
}

/// The digest of an API key or of the secret of a session. Only digests are stored.
pub fn digest(key: &str) -> [u8; 32] {
    Sha256::digest(key.as_bytes()).into()
}

/// Parses an `Authorization` header into email and API key.
pub fn parse_basic(header: &str) -> ApiResult<(String, String)> {
    let (scheme, encoded) = header.trim().split_once(' ').unwrap_or((header.trim(), ""));
    if !scheme.eq_ignore_ascii_case("basic") {
        return Err(ApiError::bad_request("This endpoint requires HTTP basic authentication."));
    }
    let pair = STANDARD.decode(encoded.trim()).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    let pair = pair.as_deref().and_then(|pair| pair.split_once(':'));
    let (email, key) =
        pair.ok_or_else(|| ApiError::unauthorized("Invalid authorization header for basic auth"))?;
    Ok((email.to_owned(), key.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_read_and_refused_as_published() {
        let key = "0123456789abcdefABCDEF0123456789";
        let basic = |pair: &str| format!("Basic {}", STANDARD.encode(pair));
        let good = (String::from("a@b.example"), key.to_owned());
        assert_eq!(parse_basic(&basic(&format!("a@b.example:{key}"))).unwrap(), good);
        let lower = basic(&format!("a@b.example:{key}")).replace("Basic", "bAsIc ");
        assert_eq!(parse_basic(&lower).unwrap(), good);

        let cases = [
            ("Bearer x".to_owned(), 400, "BAD_REQUEST", "This endpoint requires HTTP basic authentication."),
            ("Basic".to_owned(), 401, "UNAUTHORIZED", "Invalid authorization header for basic auth"),
            ("Basic !!!".to_owned(), 401, "UNAUTHORIZED", "Invalid authorization header for basic auth"),
            (basic("no colon"), 401, "UNAUTHORIZED", "Invalid authorization header for basic auth"),
        ];
        for (header, status, code, msg) in cases {
            let error = parse_basic(&header).unwrap_err();
            assert_eq!((error.status(), error.code(), error.msg()), (status, code, msg), "{header:?}");
        }
        for unknown in ["short".to_owned(), "-".repeat(32), String::new()] {
            assert_eq!(unknown_key(&unknown).msg(), "Malformed API key", "{unknown:?}");
        }
        assert_eq!(unknown_key(key).msg(), "Invalid API key");
    }
}

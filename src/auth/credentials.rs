//! Credentials of a request: the `Authorization` header, API keys, and their owners.

use super::caller::{Caller, deactivated, invalid_key, realm_deactivated};
use crate::error::{ApiError, ApiResult};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rusqlite::{Connection, OptionalExtension};
use sha2::{Digest, Sha256};

/// Length of an API key in characters. Clients of the one-time-password login rely on it.
pub const API_KEY_LENGTH: usize = 32;

/// The owner of an API key, as stored.
#[derive(Clone)]
pub struct ApiKeyOwner {
    caller: Caller,
    is_active: bool,
    /// The real email and the API email, in lower case. The published server accepts the real one only, the
    /// specification speaks of the API email: both are accepted.
    emails: [String; 2],
    is_realm_deactivated: bool,
}

impl ApiKeyOwner {
    /// The tables that [`ApiKeyOwner::find`] reads, for a cache that has to know when they change. Who made a bot never does.
    pub const TABLES: &[&str] = &["api_key", "user", "realm"];

    /// Loads the owner of the key with this digest. `version` is one of before.
    pub fn find(connection: &Connection, digest: &[u8; 32], version: u64) -> ApiResult<Option<Self>> {
        let found = connection
            .prepare_cached(
                "SELECT user_id, role, bot_type, bot_owner_id, is_active, delivery_email_key, api_key.id,
                        (SELECT deactivated FROM realm), lower(email),
                        (SELECT created_by FROM bot WHERE bot.user_id = user.user_id)
                 FROM api_key JOIN user USING (user_id) WHERE digest = ?1",
            )?
            .query_row([digest], |row| {
                let caller = Caller {
                    user_id: row.get(0)?,
                    role: row.get(1)?,
                    bot_type: row.get(2)?,
                    bot_owner_id: row.get(3)?,
                    bot_creator_id: row.get(9)?,
                    api_key_id: row.get(6)?,
                    version,
                };
                let emails = [row.get(5)?, row.get(8)?];
                Ok(Self { caller, is_active: row.get(4)?, emails, is_realm_deactivated: row.get(7)? })
            })
            .optional()?;
        Ok(found)
    }

    /// Returns the caller if `email` is one of the owner's emails or `None`, and the account may be used.
    pub fn authenticate(&self, email: Option<&str>) -> ApiResult<Caller> {
        if email.is_some_and(|email| !self.emails.contains(&email.trim().to_lowercase())) {
            return Err(invalid_key());
        }
        if self.is_realm_deactivated {
            return Err(realm_deactivated());
        }
        if !self.is_active {
            return Err(deactivated());
        }
        Ok(self.caller.clone())
    }
}

/// The refusal of an API key that does not exist. Only then is its form looked at: fixtures may have keys of any form.
pub fn unknown_key(key: &str) -> ApiError {
    if key.len() == API_KEY_LENGTH && key.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return invalid_key();
    }
    ApiError::new(401, "INVALID_API_KEY", "Malformed API key")
}

/// The digest of an API key. Only digests are stored.
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

/// Authenticates with an API key alone, for endpoints that take it as a parameter.
pub fn authenticate_key(connection: &Connection, key: &str) -> ApiResult<Caller> {
    ApiKeyOwner::find(connection, &digest(key), 0)?.ok_or_else(|| unknown_key(key))?.authenticate(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_read_and_refused_in_the_published_words() {
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

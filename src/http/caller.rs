//! Who calls: credentials to a [`Caller`], and the kinds of caller that a route can ask for.
//!
//! The failures and their order are those of the published server (`Authorization: Basic`, delivery email and API key).

use crate::error::{ApiError, ApiResult};
use crate::types::{BotType, Role, UserId};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rusqlite::{Connection, OptionalExtension};
use sha2::{Digest, Sha256};
use std::ops::Deref;

/// Length of an API key in characters; clients of the one-time-password login count on it.
pub const API_KEY_LENGTH: usize = 32;

/// A user who proved who they are.
#[derive(Clone, Debug)]
pub struct Caller {
    /// The user.
    pub user_id: UserId,
    /// Their role now.
    pub role: Role,
    /// Set for bots.
    pub bot_type: Option<BotType>,
    /// A bot's owner.
    pub bot_owner_id: Option<UserId>,
    /// The key that the request carried.
    pub api_key_id: i64,
}

impl Caller {
    /// Whether the caller is a bot.
    pub fn is_bot(&self) -> bool {
        self.bot_type.is_some()
    }

    /// Whether the caller is a guest.
    pub fn is_guest(&self) -> bool {
        self.role == Role::Guest
    }

    /// Finds the user of a key that came as a parameter.
    pub fn with_key(connection: &Connection, key: &str) -> ApiResult<Self> {
        check_form(key)?;
        KeyHolder::find(connection, &digest(key))?.ok_or_else(invalid_key)?.admit(None)
    }

    /// The same caller as the file knows them now. The writer asks again: what was true when the request came may not
    /// be true any more.
    pub fn reload(&mut self, connection: &Connection) -> ApiResult<()> {
        let now = connection
            .prepare_cached("SELECT role, is_active FROM user WHERE user_id = ?1")?
            .query_row([self.user_id], |row| Ok((row.get(0)?, row.get::<_, bool>(1)?)))
            .optional()?;
        match now {
            Some((role, true)) => {
                self.role = role;
                Ok(())
            }
            _ => Err(deactivated()),
        }
    }
}

/// Whose a key is, as the file has it.
#[derive(Clone)]
pub struct KeyHolder {
    caller: Caller,
    is_active: bool,
    /// Lower-case: the real email and the API email. The published server knows the real one only; the specification
    /// speaks of the API email. Either will do.
    emails: [String; 2],
    is_realm_deactivated: bool,
}

impl KeyHolder {
    /// The tables that [`KeyHolder::find`] reads.
    pub const TABLES: &[&str] = &["api_key", "user", "realm"];

    /// Finds whose key this is the digest of.
    pub fn find(connection: &Connection, digest: &[u8; 32]) -> ApiResult<Option<Self>> {
        let found = connection
            .prepare_cached(
                "SELECT user_id, role, bot_type, bot_owner_id, is_active, delivery_email_key, api_key.id,
                        (SELECT deactivated FROM realm), lower(email)
                 FROM api_key JOIN user USING (user_id) WHERE digest = ?1",
            )?
            .query_row([digest], |row| {
                let caller = Caller {
                    user_id: row.get(0)?,
                    role: row.get(1)?,
                    bot_type: row.get(2)?,
                    bot_owner_id: row.get(3)?,
                    api_key_id: row.get(6)?,
                };
                let emails = [row.get(5)?, row.get(8)?];
                Ok(Self { caller, is_active: row.get(4)?, emails, is_realm_deactivated: row.get(7)? })
            })
            .optional()?;
        Ok(found)
    }

    /// The caller, if they gave one of their emails, or none, and may call at all.
    pub fn admit(&self, email: Option<&str>) -> ApiResult<Caller> {
        if email.is_some_and(|email| !self.emails.contains(&email.trim().to_lowercase())) {
            return Err(invalid_key());
        }
        if self.is_realm_deactivated {
            return Err(ApiError::new(401, "REALM_DEACTIVATED", "This organization has been deactivated"));
        }
        if !self.is_active {
            return Err(deactivated());
        }
        Ok(self.caller.clone())
    }
}

/// The refusal of a key that nobody has.
pub fn invalid_key() -> ApiError {
    ApiError::new(401, "INVALID_API_KEY", "Invalid API key")
}

fn deactivated() -> ApiError {
    ApiError::new(401, "USER_DEACTIVATED", "Account is deactivated")
}

/// What is stored of a key.
pub fn digest(key: &str) -> [u8; 32] {
    Sha256::digest(key.as_bytes()).into()
}

/// Email and key of an `Authorization` header.
pub fn credentials(header: &str) -> ApiResult<(String, String)> {
    let (scheme, encoded) = header.trim().split_once(' ').unwrap_or((header.trim(), ""));
    if !scheme.eq_ignore_ascii_case("basic") {
        return Err(ApiError::bad_request("This endpoint requires HTTP basic authentication."));
    }
    let pair = STANDARD.decode(encoded.trim()).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    let pair = pair.as_deref().and_then(|pair| pair.split_once(':'));
    let (email, key) =
        pair.ok_or_else(|| ApiError::unauthorized("Invalid authorization header for basic auth"))?;
    check_form(key)?;
    Ok((email.to_owned(), key.to_owned()))
}

/// Refuses what cannot be a key.
fn check_form(key: &str) -> ApiResult<()> {
    if key.len() == API_KEY_LENGTH && key.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return Ok(());
    }
    Err(ApiError::new(401, "INVALID_API_KEY", "Malformed API key"))
}

/// A kind of caller: what a handler may count on. A route names one and its handler takes the same.
pub trait Kind: Send + Sync + Sized + 'static {
    /// The kind's name in the table of routes.
    const NAME: &'static str;

    /// Whether the header has to be looked at.
    const NEEDS_LOGIN: bool = true;

    /// Admits a caller, or says why not. `None` came without credentials, or they were not looked at.
    fn admit(caller: ApiResult<Option<Caller>>) -> ApiResult<Self>;

    /// Checks on the writer that what was true still is.
    fn recheck(&mut self, connection: &Connection) -> ApiResult<()>;
}

/// A route's access: the kind of caller its handler takes.
pub struct Access<C>(std::marker::PhantomData<fn() -> C>);

impl<C> Clone for Access<C> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<C> Copy for Access<C> {}

/// Nobody has to log in.
pub const ANYONE: Access<Anyone> = Access(std::marker::PhantomData);
/// Nobody has to log in, but who does is known.
pub const VISITOR: Access<Visitor> = Access(std::marker::PhantomData);
/// Any active user or bot.
pub const USER: Access<User> = Access(std::marker::PhantomData);
/// Administrators and owners.
pub const ADMINISTRATOR: Access<Administrator> = Access(std::marker::PhantomData);
/// Owners.
pub const OWNER: Access<Owner> = Access(std::marker::PhantomData);

/// No credentials needed. Wrong ones do no harm: a client may send what it has before it knows whether it is right.
pub struct Anyone;

/// Somebody who may have credentials or none. Wrong ones are refused.
pub struct Visitor(pub Option<User>);

/// An active user or bot.
pub struct User(Caller);

/// An administrator or owner of the organization.
pub struct Administrator(Caller);

/// An owner of the organization.
pub struct Owner(Caller);

impl Kind for Anyone {
    const NAME: &'static str = "anyone";
    const NEEDS_LOGIN: bool = false;

    fn admit(_caller: ApiResult<Option<Caller>>) -> ApiResult<Self> {
        Ok(Self)
    }

    fn recheck(&mut self, _connection: &Connection) -> ApiResult<()> {
        Ok(())
    }
}

impl Kind for Visitor {
    const NAME: &'static str = "visitor";

    fn admit(caller: ApiResult<Option<Caller>>) -> ApiResult<Self> {
        Ok(Self(caller?.map(User)))
    }

    fn recheck(&mut self, connection: &Connection) -> ApiResult<()> {
        self.0.as_mut().map_or(Ok(()), |user| user.recheck(connection))
    }
}

impl Kind for User {
    const NAME: &'static str = "user";

    fn admit(caller: ApiResult<Option<Caller>>) -> ApiResult<Self> {
        Ok(Self(logged_in(caller)?))
    }

    fn recheck(&mut self, connection: &Connection) -> ApiResult<()> {
        self.0.reload(connection)
    }
}

impl Kind for Administrator {
    const NAME: &'static str = "administrator";

    fn admit(caller: ApiResult<Option<Caller>>) -> ApiResult<Self> {
        let caller = logged_in(caller)?;
        if caller.role.is_administrator() { Ok(Self(caller)) } else { Err(ApiError::administrators_only()) }
    }

    fn recheck(&mut self, connection: &Connection) -> ApiResult<()> {
        self.0.reload(connection)?;
        if self.0.role.is_administrator() { Ok(()) } else { Err(ApiError::administrators_only()) }
    }
}

impl Kind for Owner {
    const NAME: &'static str = "owner";

    fn admit(caller: ApiResult<Option<Caller>>) -> ApiResult<Self> {
        let caller = logged_in(caller)?;
        if caller.role == Role::Owner { Ok(Self(caller)) } else { Err(ApiError::owners_only()) }
    }

    fn recheck(&mut self, connection: &Connection) -> ApiResult<()> {
        self.0.reload(connection)?;
        if self.0.role == Role::Owner { Ok(()) } else { Err(ApiError::owners_only()) }
    }
}

fn logged_in(caller: ApiResult<Option<Caller>>) -> ApiResult<Caller> {
    caller?.ok_or_else(ApiError::not_logged_in)
}

impl Deref for User {
    type Target = Caller;

    fn deref(&self) -> &Caller {
        &self.0
    }
}

impl Deref for Administrator {
    type Target = Caller;

    fn deref(&self) -> &Caller {
        &self.0
    }
}

impl Deref for Owner {
    type Target = Caller;

    fn deref(&self) -> &Caller {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_read_and_refused_in_the_published_words() {
        let key = "0123456789abcdefABCDEF0123456789";
        let basic = |pair: &str| format!("Basic {}", STANDARD.encode(pair));
        let good = (String::from("a@b.example"), key.to_owned());
        assert_eq!(credentials(&basic(&format!("a@b.example:{key}"))).unwrap(), good);
        let lower = basic(&format!("a@b.example:{key}")).replace("Basic", "bAsIc ");
        assert_eq!(credentials(&lower).unwrap(), good);

        let cases = [
            ("Bearer x".to_owned(), 400, "BAD_REQUEST", "This endpoint requires HTTP basic authentication."),
            ("Basic".to_owned(), 401, "UNAUTHORIZED", "Invalid authorization header for basic auth"),
            ("Basic !!!".to_owned(), 401, "UNAUTHORIZED", "Invalid authorization header for basic auth"),
            (basic("no colon"), 401, "UNAUTHORIZED", "Invalid authorization header for basic auth"),
            (basic("a@b.example:short"), 401, "INVALID_API_KEY", "Malformed API key"),
            (basic(&format!("a@b.example:{}", "-".repeat(32))), 401, "INVALID_API_KEY", "Malformed API key"),
        ];
        for (header, status, code, msg) in cases {
            let error = credentials(&header).unwrap_err();
            assert_eq!((error.status(), error.code(), error.msg()), (status, code, msg), "{header:?}");
        }
    }

    #[test]
    fn who_has_no_credentials_is_a_visitor_and_no_user() {
        assert!(Visitor::admit(Ok(None)).is_ok_and(|visitor| visitor.0.is_none()));
        let Err(error) = User::admit(Ok(None)) else { panic!("a user has credentials") };
        let msg = "Not logged in: API authentication or user session required";
        assert_eq!((error.status(), error.code(), error.msg()), (401, "UNAUTHORIZED", msg));
        let wrong = || Err(ApiError::unauthorized("wrong"));
        assert!(Visitor::admit(wrong()).is_err() && User::admit(wrong()).is_err());
    }
}

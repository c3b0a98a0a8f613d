//! Callers, and the kinds of caller that a route can ask for.

use crate::error::{ApiError, ApiResult};
use crate::store::Tx;
use crate::types::{BotType, Origin, Role, UserId};
use rusqlite::{Connection, OptionalExtension};
use std::marker::PhantomData;
use std::net::IpAddr;
use std::ops::Deref;

/// The role of a row of `user`. Bots of a new guest become guests in follow-up jobs. Until theirs has run, their requests have the
/// rights of a guest: the guest has their keys.
pub(super) const EFFECTIVE_ROLE: &str = "coalesce((SELECT owner.role FROM user AS owner
    WHERE owner.user_id = user.bot_owner_id AND owner.role = 600 AND EXISTS (SELECT 1 FROM follow_up
        WHERE id > 0 AND name = 'bots_of_guest' AND data ->> 'owner_id' = owner.user_id)), role)";

/// An authenticated user or bot.
#[derive(Clone, Debug)]
pub struct Caller {
    /// The user's id.
    pub user_id: UserId,
    /// The role at the time of [`Caller::reload`], or else of authentication.
    pub role: Role,
    /// The kind of bot; `None` for people.
    pub bot_type: Option<BotType>,
    /// A bot's owner.
    pub bot_owner_id: Option<UserId>,
    /// A bot's first owner, who made it.
    pub bot_creator_id: Option<UserId>,
    /// The credential that authenticated the request.
    pub credential: Credential,
    /// The version of accounts and keys as of which this is known, for requests: see
    /// [`CredentialCache::is_current`](super::CredentialCache::is_current).
    pub version: u64,
}

/// The row of a credential that authenticates a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Credential {
    /// None: the server acts on the user's behalf.
    Server,
    /// None: a visitor without an account.
    Visitor,
    /// The row of an API key, from HTTP Basic or a parameter.
    ApiKey(i64),
    /// A browser's session, by its id.
    Session(i64),
}

impl Credential {
    /// The id of the API key; `None` for other credentials.
    pub fn api_key_id(self) -> Option<i64> {
        if let Self::ApiKey(id) = self { Some(id) } else { None }
    }

    /// The id of the session; `None` for other credentials.
    pub fn session_id(self) -> Option<i64> {
        if let Self::Session(id) = self { Some(id) } else { None }
    }

    /// The refusal of a credential that does not exist any more.
    fn gone(self) -> ApiError {
        match self {
            Self::ApiKey(_) => refused_key(invalid_key()),
            Self::Session(_) | Self::Server | Self::Visitor => ApiError::not_logged_in(),
        }
    }

    /// A refusal of the account, as clients with this credential expect it.
    fn refusal(self, error: ApiError) -> ApiError {
        if let Self::ApiKey(_) = self { refused_key(error) } else { error }
    }

    /// True if the credential still belongs to the user.
    fn exists(self, connection: &Connection, user_id: UserId) -> rusqlite::Result<bool> {
        let (statement, id) = match self {
            Self::Server => return Ok(true),
            Self::Visitor => return Ok(false),
            Self::ApiKey(id) => ("SELECT EXISTS (SELECT 1 FROM api_key WHERE id = ?1 AND user_id = ?2)", id),
            Self::Session(id) => ("SELECT EXISTS (SELECT 1 FROM session WHERE id = ?1 AND user_id = ?2)", id),
        };
        connection.prepare_cached(statement)?.query_row((id, user_id), |row| row.get(0))
    }
}

impl Caller {
    /// A visitor without an account, who has a guest's role and no row: the id belongs to no user.
    pub const VISITOR: Self = Self {
        user_id: UserId(0),
        role: Role::Guest,
        bot_type: None,
        bot_owner_id: None,
        bot_creator_id: None,
        credential: Credential::Visitor,
        version: 0,
    };

    /// True if the caller has no account. What visitors may read: `domain::access::visitors`.
    pub fn is_visitor(&self) -> bool {
        self.credential == Credential::Visitor
    }

    /// True if the caller is a bot.
    pub fn is_bot(&self) -> bool {
        self.bot_type.is_some()
    }

    /// Fails for bots: the operation is for people.
    pub fn check_is_person(&self) -> ApiResult<()> {
        if self.is_bot() {
            return Err(ApiError::bad_request("This endpoint does not accept bot requests."));
        }
        Ok(())
    }

    /// Fails for guests.
    pub fn check_is_not_guest(&self) -> ApiResult<()> {
        if self.is_guest() {
            return Err(ApiError::bad_request("Not allowed for guest users"));
        }
        Ok(())
    }

    /// Fails for guests and for bots.
    pub fn check_is_member(&self) -> ApiResult<()> {
        self.check_is_not_guest()?;
        self.check_is_person()
    }

    /// Fails unless the caller is an administrator or an owner.
    pub fn check_is_administrator(&self) -> ApiResult<()> {
        if self.role.is_administrator() { Ok(()) } else { Err(ApiError::administrators_only()) }
    }

    /// Fails unless the caller is an owner.
    pub fn check_is_owner(&self) -> ApiResult<()> {
        if self.role == Role::Owner { Ok(()) } else { Err(ApiError::owners_only()) }
    }

    /// The person whose quotas the caller's work counts against: budgets, rates, and limits on owned objects. That is
    /// the caller, or the creator of a bot (not its owner). So bots do not multiply the limits of a person, and giving
    /// a bot away does not move its usage. The bots of a person are those with `bot.created_by`, including deactivated
    /// ones.
    pub fn quota_owner(&self) -> UserId {
        self.bot_creator_id.or(self.bot_owner_id).unwrap_or(self.user_id)
    }

    /// True if the caller is a guest.
    pub fn is_guest(&self) -> bool {
        self.role == Role::Guest
    }

    /// Updates the role and the owner. Fails as authentication does if the organization was closed, the user deactivated
    /// or the credential revoked. Jobs on the writer call it, since all of these may have changed after the request was
    /// authenticated.
    pub fn reload(&mut self, connection: &Connection) -> ApiResult<()> {
        let row = connection
            .prepare_cached(&format!(
                "SELECT {EFFECTIVE_ROLE}, bot_owner_id, is_active, (SELECT deactivated FROM realm)
                 FROM user WHERE user_id = ?1"
            ))?
            .query_row([self.user_id], |row| {
                let (is_active, is_realm_deactivated): (bool, bool) = (row.get(2)?, row.get(3)?);
                Ok((row.get(0)?, row.get(1)?, is_active, is_realm_deactivated))
            })
            .optional()?;
        let refused = |error| Err(self.credential.refusal(error));
        let Some((role, bot_owner_id, is_active, is_realm_deactivated)) = row else {
            return refused(ApiError::user_deactivated());
        };
        if is_realm_deactivated {
            return refused(ApiError::realm_deactivated());
        }
        if !is_active {
            return refused(ApiError::user_deactivated());
        }
        if !self.credential.exists(connection, self.user_id)? {
            return Err(self.credential.gone());
        }
        (self.role, self.bot_owner_id) = (role, bot_owner_id);
        Ok(())
    }

    /// Returns the current role. Fails if the credential was revoked, but not if the organization or the user was
    /// deactivated: waiting polls receive the event.
    pub fn role_now(&self, connection: &Connection) -> ApiResult<Role> {
        if !self.credential.exists(connection, self.user_id)? {
            return Err(self.credential.gone());
        }
        let statement = format!("SELECT {EFFECTIVE_ROLE} FROM user WHERE user_id = ?1");
        Ok(connection.prepare_cached(&statement)?.query_row([self.user_id], |row| row.get(0))?)
    }
}

/// A kind of caller, as a type, which handlers rely on. A route names one in its [`Access`], and its handler takes the
/// same one.
pub trait CallerKind: Send + Sync + Sized + 'static {
    /// The kind's name in the table of routes.
    const NAME: &'static str;

    /// True if the `Authorization` header is read.
    const NEEDS_LOGIN: bool = true;

    /// Checks that a caller is of this kind. `caller` is `None` without credentials, or if they were not looked at.
    fn admit(caller: Option<Caller>) -> ApiResult<Self>;

    /// Checks on the writer that the caller still is of this kind.
    fn revalidate(&mut self, connection: &Connection) -> ApiResult<()>;

    /// The caller, if authenticated.
    fn caller(&self) -> Option<&Caller>;

    /// Runs a job on the writer for a request from an address, if the caller still is of this kind. The caller is the author
    /// of its changes, and in each line of the log.
    fn run<T>(
        mut self,
        tx: &mut Tx<'_>,
        address: IpAddr,
        job: impl FnOnce(&mut Tx<'_>, &Self) -> ApiResult<T>,
    ) -> ApiResult<T> {
        // Most often, no account and no credential changed since the request was authenticated.
        let version = self.caller().map(|caller| caller.version);
        if version.is_none() || version != tx.table_version() {
            self.revalidate(tx)?;
        }
        let user_id = self.caller().map(|caller| caller.user_id);
        tx.set_origin(Origin::request(user_id, address));
        let span = user_id
            .map_or_else(tracing::Span::none, |user_id| tracing::info_span!("by", user_id = user_id.0));
        span.in_scope(|| job(tx, &self))
    }
}

/// A route's access: a token for the kind of caller that its handler takes.
pub struct Access<C>(PhantomData<fn() -> C>);

impl<C> Clone for Access<C> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<C> Copy for Access<C> {}

/// No login; credentials are not looked at.
pub const ANYONE: Access<Anyone> = Access(PhantomData);
/// Login is optional, but credentials that are sent must be right. Not below `/api`.
pub const VISITOR: Access<Visitor> = Access(PhantomData);
/// Any active user or bot.
pub const USER: Access<User> = Access(PhantomData);
/// Administrators and owners.
pub const ADMINISTRATOR: Access<Administrator> = Access(PhantomData);
/// Routes for owners of the organization.
pub const OWNER: Access<Owner> = Access(PhantomData);

/// A client with or without credentials, even wrong ones: some clients send credentials before they are verified.
pub struct Anyone;

/// A client with right credentials, or one without: then the caller is [`Caller::VISITOR`].
pub struct Visitor(Caller);

/// An active user or bot.
pub struct User(Caller);

/// An administrator or owner of the organization.
pub struct Administrator(Caller);

/// An owner of the organization.
pub struct Owner(Caller);

impl CallerKind for Anyone {
    const NAME: &'static str = "anyone";
    const NEEDS_LOGIN: bool = false;

    fn admit(_caller: Option<Caller>) -> ApiResult<Self> {
        Ok(Self)
    }

    fn revalidate(&mut self, _connection: &Connection) -> ApiResult<()> {
        Ok(())
    }

    fn caller(&self) -> Option<&Caller> {
        None
    }
}

impl Visitor {
    /// The caller, if they have an account.
    pub fn user(&self) -> Option<&Caller> {
        (!self.is_visitor()).then_some(&self.0)
    }
}

impl CallerKind for Visitor {
    const NAME: &'static str = "visitor";

    fn admit(caller: Option<Caller>) -> ApiResult<Self> {
        Ok(Self(caller.unwrap_or(Caller::VISITOR)))
    }

    fn revalidate(&mut self, connection: &Connection) -> ApiResult<()> {
        if self.is_visitor() { Ok(()) } else { self.0.reload(connection) }
    }

    fn caller(&self) -> Option<&Caller> {
        self.user()
    }
}

impl CallerKind for User {
    const NAME: &'static str = "user";

    fn admit(caller: Option<Caller>) -> ApiResult<Self> {
        Ok(Self(logged_in(caller)?))
    }

    fn revalidate(&mut self, connection: &Connection) -> ApiResult<()> {
        self.0.reload(connection)
    }

    fn caller(&self) -> Option<&Caller> {
        Some(self)
    }
}

impl CallerKind for Administrator {
    const NAME: &'static str = "administrator";

    fn admit(caller: Option<Caller>) -> ApiResult<Self> {
        let caller = logged_in(caller)?;
        caller.check_is_administrator()?;
        Ok(Self(caller))
    }

    fn revalidate(&mut self, connection: &Connection) -> ApiResult<()> {
        self.0.reload(connection)?;
        self.0.check_is_administrator()
    }

    fn caller(&self) -> Option<&Caller> {
        Some(self)
    }
}

impl CallerKind for Owner {
    const NAME: &'static str = "owner";

    fn admit(caller: Option<Caller>) -> ApiResult<Self> {
        let caller = logged_in(caller)?;
        caller.check_is_owner()?;
        Ok(Self(caller))
    }

    fn revalidate(&mut self, connection: &Connection) -> ApiResult<()> {
        self.0.reload(connection)?;
        self.0.check_is_owner()
    }

    fn caller(&self) -> Option<&Caller> {
        Some(self)
    }
}

/// The refusal of an API key that does not exist.
pub fn invalid_key() -> ApiError {
    ApiError::new(401, "INVALID_API_KEY", "Invalid API key")
}

/// The refusal of an API key or its account below `/api/v1`: as published, 401 `UNAUTHORIZED` with a challenge for
/// every reason. The text has the reason.
pub(super) fn refused_key(error: ApiError) -> ApiError {
    if error.status() >= 500 { error } else { ApiError::unauthorized(error.msg().to_owned()) }
}

fn logged_in(caller: Option<Caller>) -> ApiResult<Caller> {
    caller.ok_or_else(ApiError::not_logged_in)
}

impl Deref for Visitor {
    type Target = Caller;

    fn deref(&self) -> &Caller {
        &self.0
    }
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
    fn anonymous_callers_are_visitors() {
        assert!(Visitor::admit(None).is_ok_and(|visitor| visitor.is_visitor() && visitor.user().is_none()));
        let Err(error) = User::admit(None) else { panic!("a user has credentials") };
        let msg = "Not logged in: API authentication or user session required";
        assert_eq!((error.status(), error.code(), error.msg()), (401, "UNAUTHORIZED", msg));
    }
}

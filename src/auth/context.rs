//! The context of a rule or a query: caller, connection and time.

use super::caller::Caller;
use crate::store::Tx;
use rusqlite::Connection;
use std::ops::Deref;

/// The database as one caller sees it at one moment. Rules and queries that depend on the caller take it in place of a
/// connection, a caller and a time. Dereferences to the connection.
///
/// Cheap to copy. Handlers that read get one from their request, jobs on the writer from [`Tx::ctx`].
#[derive(Clone, Copy)]
pub struct Ctx<'a> {
    /// A snapshot, or the transaction of a job.
    pub connection: &'a Connection,
    /// The user on whose behalf the work is done.
    pub caller: &'a Caller,
    /// The current time in UNIX seconds, the same for the whole request or job.
    pub now: i64,
}

impl<'a> Ctx<'a> {
    /// A context from its parts.
    pub fn new(connection: &'a Connection, caller: &'a Caller, now: i64) -> Self {
        Self { connection, caller, now }
    }
}

impl Tx<'_> {
    /// The context of a job for a caller. It borrows the transaction: it has to end before the job changes something.
    pub fn ctx<'a>(&'a self, caller: &'a Caller) -> Ctx<'a> {
        Ctx::new(self, caller, self.now())
    }
}

impl Deref for Ctx<'_> {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        self.connection
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::auth::Credential;
    use crate::types::{Role, UserId};

    #[test]
    fn a_context_is_the_connection_with_a_caller_and_a_time() {
        let connection = Connection::open_in_memory().unwrap();
        let caller = Caller {
            user_id: UserId(7),
            role: Role::Member,
            bot_type: None,
            bot_owner_id: None,
            bot_creator_id: None,
            credential: Credential::ApiKey(1),
            version: 0,
        };
        let ctx = Ctx::new(&connection, &caller, 1_790_000_000);
        let (user_id, now): (i64, i64) =
            ctx.query_row("SELECT ?1, ?2", (ctx.caller.user_id, ctx.now), |row| row.try_into()).unwrap();
        assert_eq!((user_id, now), (7, 1_790_000_000));
    }
}

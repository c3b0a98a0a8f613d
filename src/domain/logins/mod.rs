//! Logins of people: sessions of browsers, where people logged in from, and ending all that is logged in.
//!
//! - [`sessions`]: the rows of sessions;
//! - [`known`]: clients and addresses from which people logged in.
//!
//! What ends everything that a person has, or all but what asks, is here and not with the keys, so that no kind of
//! credential is forgotten.

pub mod known;
pub mod sessions;

use crate::app::App;
use crate::auth::password_attempts::LOCK_MINUTES;
use crate::domain::keys;
use crate::domain::logins::known::LoginSource;
use crate::domain::notices::security;
use crate::http::{ApiResult, Caller};
use crate::store::Tx;
use crate::types::UserId;
use futures_util::FutureExt;
use std::net::IpAddr;

/// Records a login with the right password, and tells the person of one from where they were not before. Nobody is told of
/// the first.
pub fn record(tx: &mut Tx<'_>, user_id: UserId, source: &LoginSource) -> ApiResult<()> {
    tracing::info!(user_id = user_id.0, address = %source.address, client = source.client, "a login");
    if known::record(tx, user_id, &source.client, source.address)? {
        security::new_login(tx, user_id, &source.client, source.address)?;
    }
    Ok(())
}

/// Tells a person that nobody can log in to their account for some time. The answer does not wait for it, so that its time does
/// not tell which accounts exist.
pub fn tell_locked_out(app: &App, user_id: UserId, address: IpAddr) {
    tracing::info!(user_id = user_id.0, %address, "an account was locked by wrong passwords");
    let job = move |tx: &mut Tx<'_>| -> ApiResult<()> {
        security::locked_out(tx, user_id, address, LOCK_MINUTES).inspect_err(
            |error| tracing::warn!(%error, %user_id, "the notice of a locked account was not sent"),
        )
    };
    // The first poll hands the job to the writer, which completes it.
    let _submitted = app.writer.run(job).now_or_never();
}

/// Ends all API keys and sessions of a user.
pub fn end_all(tx: &Tx<'_>, user_id: UserId) -> ApiResult<()> {
    keys::revoke_others(tx, user_id, None)?;
    sessions::end_others(tx, user_id, None)
}

/// Ends all API keys and sessions of the caller but the one that asks.
pub fn end_others(tx: &Tx<'_>, caller: &Caller) -> ApiResult<()> {
    keys::revoke_others(tx, caller.user_id, caller.credential.api_key_id())?;
    sessions::end_others(tx, caller.user_id, caller.credential.session_id())
}

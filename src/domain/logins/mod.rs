//! Logins of people: sessions of browsers, where people logged in from, and ending all that is logged in.
//!
//! - [`sessions`]: the rows of sessions;
//! - [`known`]: clients and addresses from which people logged in;
//! - [`identities`]: identities of people at providers of OpenID Connect.
//!
//! Ending all credentials of a person, or all but the current one, is implemented here and not with the keys, so that
//! it covers every kind of credential.

pub mod identities;
pub mod known;
pub mod sessions;

use crate::app::App;
use crate::auth::Caller;
use crate::auth::password_attempts::LOCK_MINUTES;
use crate::domain::audit::{Action, Entry};
use crate::domain::logins::known::LoginSource;
use crate::domain::{keys, mail, notices};
use crate::error::ApiResult;
use crate::store::Tx;
use crate::types::{Author, Origin, UserId};
use futures_util::FutureExt;
use serde_json::json;
use std::net::IpAddr;

/// Records a login with the right password or at a provider, and notifies the person if it is from a new place; the first login
/// is not reported. By mail, each login is reported but those right after the creation of the account. The author of the job's
/// further changes, such as a new key, is the person.
pub fn record(tx: &mut Tx<'_>, user_id: UserId, source: &LoginSource) -> ApiResult<()> {
    tx.set_origin(Origin { author: Author::User(user_id), ..tx.origin() });
    tx.audit(Entry::new(Action::Login, user_id).after(json!({ "client": source.client })))?;
    if known::record(tx, user_id, &source.client, source.address)? {
        notices::security::new_login(tx, user_id, &source.client, source.address)?;
    }
    mail::letters::new_login(tx, user_id, &source.client, source.address)
}

/// Notifies a person that their account is locked for some time. The answer does not wait for it, so that its time does
/// not reveal which accounts exist.
pub fn tell_locked_out(app: &App, user_id: UserId, address: IpAddr) {
    let job = move |tx: &mut Tx<'_>| -> ApiResult<()> {
        tx.set_origin(Origin::request(None, address));
        tx.audit(Entry::new(Action::AccountLocked, user_id))?;
        notices::security::locked_out(tx, user_id, address, LOCK_MINUTES).inspect_err(
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

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
use crate::auth::password_attempts::LOCK_MINUTES;
use crate::auth::{Caller, Credential, CredentialUse};
use crate::domain::audit::{Action, Entry};
use crate::domain::logins::known::LoginSource;
use crate::domain::{audit, keys, mail, mail_addresses, notices};
use crate::error::ApiResult;
use crate::store::{ExecuteCached, Tx};
use crate::types::{Author, Origin, UserId};
use futures_util::FutureExt;
use serde_json::json;
use std::collections::VecDeque;
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

/// Records a login, begins a session, and returns its secret.
pub fn begin_session(tx: &mut Tx<'_>, user_id: UserId, source: &LoginSource) -> ApiResult<String> {
    record(tx, user_id, source)?;
    sessions::begin(tx, user_id, source)
}

/// Records a failed login to an account, or to none, in the audit log. Attempts to log in do not fail if that fails.
pub async fn record_failure(app: &App, address: IpAddr, user_id: Option<UserId>, reason: &'static str) {
    let recorded = app.writer.run(move |tx| {
        tx.set_origin(Origin::request(None, address));
        audit::record_failure(tx, user_id, reason)
    });
    if let Err(error) = recorded.await {
        tracing::warn!(%error, "a failed login was not recorded");
    }
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

/// Saves when keys and sessions were used. Uses before the call are in the file when it returns.
pub async fn save_uses(app: &App) -> ApiResult<()> {
    let unsaved = app.credential_cache.unsaved_uses();
    if unsaved.is_empty() {
        return Ok(());
    }
    let mut uses = VecDeque::from(unsaved.clone());
    let save = move |tx: &mut Tx<'_>| -> ApiResult<bool> {
        let Some(CredentialUse { credential, time, address }) = uses.pop_front() else { return Ok(true) };
        match credential {
            Credential::ApiKey(id) => {
                keys::set_last_used(tx, id, time)?;
                known::record_use_of_key(tx, id, address)?;
            }
            Credential::Session(id) => sessions::set_last_used(tx, id, time, address)?,
            Credential::Server | Credential::Visitor => {}
        }
        Ok(uses.is_empty())
    };
    app.writer.run_in_steps("credential_uses", save).await?;
    app.credential_cache.mark_saved(&unsaved);
    Ok(())
}

/// Ends what may have been requested with a stolen key or session: the link that changes a user's address, the links with
/// which an administrator lets others and themselves set passwords, and the email addresses of channels that have the user or
/// a bot as the sender. The other addresses remain: programs and other people use them, and the end of one device is often no
/// theft. They end with all keys and sessions.
pub fn end_requested(tx: &Tx<'_>, user_id: UserId) -> ApiResult<()> {
    end_requested_links(tx, user_id)?;
    Ok(mail_addresses::forget_with_sender(tx, user_id)?)
}

fn end_requested_links(tx: &Tx<'_>, user_id: UserId) -> ApiResult<()> {
    mail::confirmation::delete_of_user(tx, user_id)?;
    mail::letters::withdraw_password_reset(tx, user_id)?;
    tx.execute_cached("DELETE FROM password_reset WHERE created_by = ?1", [user_id])?;
    Ok(())
}

/// Ends all API keys and sessions of a user, and what was requested with them. Returns whether email addresses of channels ended.
pub fn end_all(tx: &Tx<'_>, user_id: UserId) -> ApiResult<bool> {
    end_all_but(tx, user_id, None)
}

/// Ends all API keys and sessions of the caller but the one that asks, and what was requested with them. Returns whether email
/// addresses of channels ended.
pub fn end_others(tx: &Tx<'_>, caller: &Caller) -> ApiResult<bool> {
    end_all_but(tx, caller.user_id, Some(caller.credential))
}

fn end_all_but(tx: &Tx<'_>, user_id: UserId, kept: Option<Credential>) -> ApiResult<bool> {
    let lost_addresses = mail_addresses::forget_channels(tx, user_id)?;
    end_requested_links(tx, user_id)?;
    keys::revoke_others(tx, user_id, kept.and_then(Credential::api_key_id))?;
    sessions::end_others(tx, user_id, kept.and_then(Credential::session_id))?;
    Ok(lost_addresses)
}

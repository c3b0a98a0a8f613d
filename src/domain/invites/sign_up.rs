//! Sign-up with a proven address, where this server sends mail: an invitation without an inviter, or with the terms of a
//! reusable link, to the address that a person gave.

use crate::domain::invites::record::InviteRow;
use crate::domain::invites::{letters, sql};
use crate::domain::{mail, realm};
use crate::error::ApiResult;
use crate::store::Tx;
use crate::types::{Language, Role, random_key};
use rusqlite::Connection;

/// Seconds for which the link works: a day, and no longer than the reusable link.
const VALIDITY: i64 = 24 * 60 * 60;

/// True if people can sign up without an invitation: the organization wants it, and their addresses can be proven.
pub fn is_open(connection: &Connection) -> ApiResult<bool> {
    Ok(!realm::settings::INVITE_REQUIRED.get(connection)?
        && realm::settings::PASSWORD_AUTH_ENABLED.get(connection)?
        && !realm::is_deactivated(connection)?
        && mail::is_on(connection)?)
}

/// Sends a person the link with which they sign up, in the language of the page: with the terms of a reusable link, or as a member
/// with the default channels. An earlier link for the address with the same terms stops working; with a reusable link, they all
/// end.
pub fn ask(tx: &mut Tx<'_>, email: &str, reusable: Option<&InviteRow>, of_page: Language) -> ApiResult<()> {
    let parent_id = reusable.map(|link| link.invite_id);
    sql::delete_sign_ups(tx, email, parent_id)?;
    let terms = reusable.cloned().unwrap_or_else(|| InviteRow::new(Role::Member, tx.now()));
    let end = tx.now() + VALIDITY;
    let mut invite = InviteRow {
        key: Some(random_key()),
        email: Some(email.to_owned()),
        invited: tx.now(),
        expiry_date: Some(terms.expiry_date.map_or(end, |date| date.min(end))),
        parent_id,
        ..terms
    };
    invite.invite_id = sql::insert(tx, &invite)?;
    letters::confirm_sign_up(tx, &invite, of_page)
}

//! Notices about an account's safety, as direct messages to its owner: what the published server sends as emails.
//!
//! Everything that others choose (names, clients, addresses) is text in them.

use crate::domain::notices;
use crate::http::ApiResult;
use crate::markdown::{Composition, Words};
use crate::store::Tx;
use crate::types::UserId;
use std::net::IpAddr;

/// Who set a password.
#[derive(Clone, Copy, Debug)]
pub enum PasswordSetBy {
    /// The person, in their settings.
    Oneself,
    /// The person, by a link that this administrator made.
    LinkOf(UserId),
    /// The operator, by a command on the server's machine.
    Operator,
}

/// Tells a person that somebody logged in to their account from a client and an address from which they had not logged in
/// before.
pub fn new_login(tx: &mut Tx<'_>, user_id: UserId, client: &str, address: IpAddr) -> ApiResult<()> {
    let facts = vec![
        fact("Client", Words::default().text(client)),
        fact("IP address", Words::default().code(&address.to_canonical().to_string())),
        fact("Time", Words::default().time(tx.now())),
    ];
    let content = Composition::from(Words::new("There was a new login to your account."))
        .list(facts)
        .paragraph(Words::new("If this was you, there is nothing to do.").append(if_not_you()));
    tell(tx, user_id, content)
}

/// Tells a person that there were too many wrong passwords for their account. `address` is that of the last one.
pub fn locked_out(tx: &mut Tx<'_>, user_id: UserId, address: IpAddr, minutes: i64) -> ApiResult<()> {
    let content = Words::new("There were too many wrong passwords for your account, the last one from ")
        .code(&address.to_canonical().to_string())
        .words(". For up to ")
        .number(minutes)
        .words(
            " minutes, nobody can log in from where they came from, and perhaps not from other places where you did not \
             log in before. Whoever is logged in stays so. If it was you who forgot the password, an administrator can \
             give you a link to set a new one.",
        );
    tell(tx, user_id, content.into())
}

/// Tells a person that they have a new password, and who set it.
pub fn password_set(tx: &mut Tx<'_>, user_id: UserId, by: PasswordSetBy) -> ApiResult<()> {
    let words = match by {
        PasswordSetBy::Oneself => Words::new("The password of your account was changed in its settings."),
        PasswordSetBy::LinkOf(administrator) => {
            Words::new("The password of your account was reset by a link that ")
                .append(notices::name_of_user(tx, administrator)?)
                .words(" made.")
        }
        PasswordSetBy::Operator => {
            Words::new("The password of your account was set by whoever runs this server.")
        }
    };
    let words = words.words(" All other devices and programs were logged out.").append(if_not_you());
    tell(tx, user_id, words.into())
}

fn if_not_you() -> Words {
    Words::new(
        " If it was not you, set another password at once, log out all other devices in your settings, and tell an \
         administrator.",
    )
}

fn fact(name: &'static str, value: Words) -> Words {
    Words::default().strong(Words::new(name)).words(": ").append(value)
}

/// Sends a direct message of the notification bot to a person.
fn tell(tx: &mut Tx<'_>, user_id: UserId, content: Composition) -> ApiResult<()> {
    let address = notices::direct_address(tx, user_id)?;
    notices::send_as_notification_bot(tx, address, content).map(|_| ())
}

//! Notices about the security of an account, as direct messages to its owner. The published server sends emails.
//!
//! Everything that others choose (names, clients, addresses) is text in them.

use crate::domain::{notices, user_settings};
use crate::error::ApiResult;
use crate::store::Tx;
use crate::types::{Language, UserId};
use std::net::IpAddr;
use teamchat_markdown::{Composition, Words};

/// The person who set a password.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PasswordSetBy {
    /// The person, in their settings.
    Oneself,
    /// The person, by a link that this administrator made.
    LinkOf(UserId),
    /// The person, by a link that came by mail.
    LinkByMail,
    /// The operator, by a command on the server's machine.
    Operator,
}

/// Notifies a person of a login from a new client and address.
pub fn new_login(tx: &mut Tx<'_>, user_id: UserId, client: &str, address: IpAddr) -> ApiResult<()> {
    let language = user_settings::language_of(tx, user_id)?;
    let address = Words::default().code(&address.to_canonical().to_string());
    let facts = vec![
        Words::filled(language.t("**Client**: {client}"), &[("client", Words::default().text(client))]),
        Words::filled(language.t("**IP address**: {address}"), &[("address", address)]),
        Words::filled(language.t("**Time**: {time}"), &[("time", Words::default().time(tx.now()))]),
    ];
    let words = Words::new(language.t("If this was you, there is nothing to do."));
    let content = Composition::from(Words::new(language.t("There was a new login to your account.")))
        .list(facts)
        .paragraph(words.append(if_not_you(language)));
    tell(tx, user_id, content)
}

/// Notifies a person of too many wrong passwords for their account. `address` is that of the last one.
pub fn locked_out(tx: &mut Tx<'_>, user_id: UserId, address: IpAddr, minutes: i64) -> ApiResult<()> {
    let language = user_settings::language_of(tx, user_id)?;
    let text = language.t(
        "There were too many wrong passwords for your account, most recently from {address}. For up to {count} \
         minutes, logins from the addresses of these attempts are refused. Logins from other addresses that you \
         have not used before may be refused too. Existing sessions are not affected. If you forgot the password, \
         an administrator can give you a link to set a new one.",
    );
    let address = Words::default().code(&address.to_canonical().to_string());
    let content = Words::filled(text, &[("address", address), ("count", Words::default().number(minutes))]);
    tell(tx, user_id, content.into())
}

/// Notifies a person of a new password, and who set it. `lost_addresses` is true if email addresses of channels ended.
pub fn password_set(
    tx: &mut Tx<'_>,
    user_id: UserId,
    by: PasswordSetBy,
    lost_addresses: bool,
) -> ApiResult<()> {
    let language = user_settings::language_of(tx, user_id)?;
    let words = match by {
        PasswordSetBy::Oneself => {
            Words::new(language.t("The password of your account was changed in its settings."))
        }
        PasswordSetBy::LinkOf(administrator) => {
            let text = language.t("The password of your account was reset with a link that {name} created.");
            Words::filled(text, &[("name", notices::name_of_user(tx, administrator)?)])
        }
        PasswordSetBy::LinkByMail => Words::new(
            language
                .t("The password of your account was reset by a link that this server sent to your address."),
        ),
        PasswordSetBy::Operator => {
            Words::new(language.t("The password of your account was set by the operator of this server."))
        }
    };
    let words = words.words(language.between_sentences());
    let words = words.words(language.t("All other devices and programs were logged out."));
    let words = words.append(addresses_ended(language, lost_addresses)).append(if_not_you(language));
    tell(tx, user_id, words.into())
}

/// Notifies a person that their API key was regenerated, by a request with one of their keys or sessions. `lost_addresses` is
/// true if email addresses of channels ended.
pub fn key_regenerated(tx: &mut Tx<'_>, user_id: UserId, lost_addresses: bool) -> ApiResult<()> {
    let language = user_settings::language_of(tx, user_id)?;
    let words = Words::new(language.t(
        "A new API key of your account was created, in the settings or by a program. All other devices and programs were \
         logged out.",
    ));
    let words = words.append(addresses_ended(language, lost_addresses)).append(if_not_you(language));
    tell(tx, user_id, words.into())
}

/// Notifies a person of an API key that the operator created for a client.
pub fn key_created_by_operator(tx: &mut Tx<'_>, user_id: UserId, client: &str) -> ApiResult<()> {
    let text = user_settings::language_of(tx, user_id)?.t(
        "The operator of this server created an API key of your account for {client}. Keys are listed in your settings, \
         where they can be revoked.",
    );
    let words = Words::filled(text, &[("client", Words::default().code(client))]);
    tell(tx, user_id, words.into())
}

/// Sentences after others, if email addresses of channels ended: other people and programs may use them.
fn addresses_ended(language: Language, lost_addresses: bool) -> Words {
    if !lost_addresses {
        return Words::default();
    }
    Words::new(language.between_sentences()).words(
        language.t(
            "Your email addresses of channels no longer work. The settings of the channels show new ones.",
        ),
    )
}

/// A sentence after others.
fn if_not_you(language: Language) -> Words {
    Words::new(language.between_sentences()).words(language.t(
        "If this was not you, set a new password immediately, log out all other devices in your settings, and inform \
         an administrator.",
    ))
}

/// Sends a direct message of the notification bot to a person.
fn tell(tx: &mut Tx<'_>, user_id: UserId, content: Composition) -> ApiResult<()> {
    let address = notices::direct_address(tx, user_id)?;
    notices::send_as_notification_bot(tx, address, content).map(|_| ())
}

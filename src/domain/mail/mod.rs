//! Mail to people: composing emails, and the queue from which `api::mail` delivers them.
//!
//! An email is composed in the job of the change that causes it, and put into the queue with [`queue`]: either both happen or
//! neither. Without a mail server ([`setup`] is `None`) nothing is put there; callers ask [`is_on`] first where the interface
//! behaves in another way without mail.
//!
//! - [`letter`]: an email and its body, as text and as HTML;
//! - [`confirmation`]: links that prove the new address of a user;
//! - [`letters`]: emails about accounts and the server;
//! - [`outbox`]: the rows of the queue;
//! - [`unsubscribe`]: the links that end mail of a kind.
//!
//! All texts of users are data in emails: HTML is escaped, and headers are single lines.

pub mod confirmation;
pub mod letter;
pub mod letters;
pub mod outbox;
pub mod unsubscribe;

pub use self::letter::{Basis, Body, Kind, Letter, Priority};
pub use self::outbox::withdraw;
use crate::domain::realm;
use crate::error::ApiResult;
use crate::smtp::Message;
use crate::store::{ExecuteCached, Tx};
use crate::types::{Language, hex, random_key};
use rusqlite::{Connection, OptionalExtension};
use sha2::{Digest, Sha256};
use url::{Host, Url};

/// The way in which the running server sends mail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setup {
    /// The address of the sender, also of the envelope.
    pub sender: String,
    /// The base of links in emails: scheme, host and port, without a slash at the end. Never the host that a request names.
    pub url: String,
}

impl Setup {
    /// The host of the server, for `List-Id` and texts.
    pub fn host(&self) -> String {
        let host = Url::parse(&self.url).ok().and_then(|url| url.host_str().map(str::to_owned));
        host.unwrap_or_default()
    }

    /// A new `Message-ID`, with its angle brackets.
    fn message_id(&self) -> String {
        format!("<{}@{}>", random_key(), self.domain())
    }

    /// The domain of the sender as in the DNS, for ids, which have no other letters than those of ASCII.
    fn domain(&self) -> String {
        let domain = self.sender.rsplit_once('@').map_or("localhost", |(_, domain)| domain);
        match Host::parse(domain) {
            Ok(Host::Domain(ascii)) => ascii,
            _ => domain.to_owned(),
        }
    }

    /// An email outside the queue.
    pub fn compose_test(
        &self,
        to: &str,
        organization: &str,
        body: &Body,
        language: Language,
        now: i64,
    ) -> Message {
        let subject = format!("Test mail of {organization}");
        Message {
            to: to.to_owned(),
            from_name: organization.to_owned(),
            text: body.text(),
            html: body.page(language, &subject),
            subject,
            message_id: self.message_id(),
            list: Some((organization.to_owned(), self.host())),
            language: language.code().to_owned(),
            date: now,
            ..Message::default()
        }
    }
}

/// The way in which mail is sent; `None` if this server sends none.
pub fn setup(connection: &Connection) -> ApiResult<Option<Setup>> {
    let mut statement = connection.prepare_cached("SELECT sender, url FROM mail_setup WHERE id = 1")?;
    let found = statement.query_row([], |row| Ok(Setup { sender: row.get(0)?, url: row.get(1)? }));
    Ok(found.optional()?)
}

/// True if this server sends mail.
pub fn is_on(connection: &Connection) -> ApiResult<bool> {
    Ok(setup(connection)?.is_some())
}

/// Records how mail is sent, at each start of a server that sends mail.
pub fn set_up(tx: &Tx<'_>, Setup { sender, url }: &Setup) -> ApiResult<()> {
    let statement = "INSERT OR REPLACE INTO mail_setup (id, sender, url) VALUES (1, ?1, ?2)";
    Ok(tx.execute_cached(statement, (sender, url))?)
}

/// Records that this server sends no mail. No emails wait any more.
pub fn remove_setup(tx: &Tx<'_>) -> ApiResult<()> {
    Ok(tx.execute_cached("DELETE FROM mail_setup WHERE id = 1", [])?)
}

/// Puts an email into the queue, in the job of the change that causes it. Does nothing if this server sends no mail, or if the
/// receiver's address is not one to which mail can be sent. A full queue drops the email, and says so in the log.
pub fn queue(tx: &mut Tx<'_>, letter: Letter) -> ApiResult<()> {
    let Some(setup) = setup(tx)? else { return Ok(()) };
    let organization: String = realm::settings::NAME.get(tx)?;
    let unsubscribe = match (letter.user_id, letter.kind.unsubscribe_type()) {
        (Some(user_id), Some(kind)) => Some(unsubscribe::link(tx, &setup.url, user_id, kind)?),
        _ => None,
    };
    let message = Message {
        to: letter.to.clone(),
        to_name: letter.to_name.clone(),
        from_name: letter.from_name.clone().unwrap_or_else(|| organization.clone()),
        reply_to: letter.reply_to.clone(),
        references: thread_id(tx, &setup, &letter)?,
        subject: letter.subject.clone(),
        text: letter.body.text(),
        html: letter.body.page(letter.language, &letter.subject),
        message_id: setup.message_id(),
        list: Some((organization, setup.host())),
        unsubscribe,
        language: letter.language.code().to_owned(),
        date: letter.date.unwrap_or(tx.now()),
    };
    outbox::insert(tx, &letter, &message)
}

/// The id to which all emails of a thread refer, as if they answered one with it.
fn thread_id(tx: &Tx<'_>, setup: &Setup, letter: &Letter) -> ApiResult<Option<String>> {
    let (Some(user_id), Some(thread)) = (letter.user_id, &letter.thread) else { return Ok(None) };
    let key = unsubscribe::key(tx, user_id)?;
    let digest = Sha256::digest(format!("{key} {thread}"));
    let digits = hex(&digest[..16]);
    Ok(Some(format!("<{digits}@{}>", setup.domain())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_have_the_domain_of_the_sender_in_ascii() {
        for (sender, end) in [
            ("chat@example.com", "@example.com>"),
            ("chat@exämple.com", "@xn--exmple-cua.com>"),
            ("chat@[127.0.0.1]", "@[127.0.0.1]>"),
        ] {
            let id = Setup { sender: sender.to_owned(), url: String::new() }.message_id();
            assert!(id.starts_with('<') && id.ends_with(end), "{id}");
        }
    }
}

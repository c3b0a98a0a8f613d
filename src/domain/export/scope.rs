//! The modes of export, and which data belongs to them.

use super::error::Result;
use super::report::LeftOut;
use crate::domain::rows::user::UserRow;
use crate::domain::{realm, user_settings, users};
use crate::types::{EmailVisibility, Role, UserId, hex};
use roaring::RoaringBitmap;
use rusqlite::Connection;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// The extent of an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Public channels only, and no personal data of users.
    Public,
    /// The same, and the private data of people who consent.
    Consent,
    /// Everything.
    Full,
}

/// The settings of people that the published release does not know.
const NEWER_SETTINGS: [&str; 3] = [
    "resolved_topic_notice_auto_read_policy",
    "web_left_sidebar_show_channel_folders",
    "web_left_sidebar_unreads_count_summary",
];

/// A user of the archive.
pub struct Person {
    /// The row in the database.
    pub row: UserRow,
    /// The addresses in the archive, API and real.
    pub emails: (String, String),
    /// True if the private data of the user is exported.
    pub consents: bool,
    /// True if the archive has a placeholder in place of the account.
    pub is_dummy: bool,
}

impl Person {
    /// True if the account in the archive is not deactivated.
    pub fn is_active(&self) -> bool {
        self.row.is_active && !self.is_dummy
    }
}

/// The data of one export.
pub struct Scope {
    /// The extent of the export: everything, public data, or with consent.
    pub mode: Mode,
    /// All users but the server's own bots.
    pub people: BTreeMap<UserId, Person>,
    /// The server's own bots, which every published server has.
    pub system_bots: BTreeMap<UserId, UserRow>,
    /// The users whose private data is exported.
    pub consenting: RoaringBitmap,
    /// The users who get rows for their messages: all with an account, or those who consent.
    pub receivers: RoaringBitmap,
    refused_addresses: u64,
}

impl Scope {
    /// Loads the users, and who consents.
    pub fn load(connection: &Connection, mode: Mode) -> Result<Self> {
        let rows = users::all(connection)?;
        let agrees = |row: &UserRow| match mode {
            Mode::Public => Ok(false),
            Mode::Full => Ok(true),
            Mode::Consent => user_settings::ALLOW_PRIVATE_DATA_EXPORT.get(connection, row.user_id),
        };
        let mut agreeing = RoaringBitmap::new();
        for row in &rows {
            if agrees(row)? {
                agreeing.extend(row.user_id.bit());
            }
        }
        let has_agreed = |user_id: UserId| user_id.is_in(&agreeing);
        let mut scope = Self {
            mode,
            people: BTreeMap::new(),
            system_bots: BTreeMap::new(),
            consenting: RoaringBitmap::new(),
            receivers: RoaringBitmap::new(),
            refused_addresses: 0,
        };
        let uuid = realm::uuid(connection)?;
        for row in rows {
            let consents = has_agreed(row.user_id) || row.bot_owner_id.is_some_and(has_agreed);
            let hides_address = !consents && row.email_visibility == EmailVisibility::Nobody;
            let is_dummy = hides_address || (mode == Mode::Consent && !consents && row.is_active);
            let emails = scope.addresses(&row, hides_address, &uuid);
            scope.consenting.extend(row.user_id.bit().filter(|_| consents));
            let receives = !is_dummy && (consents || mode == Mode::Public);
            scope.receivers.extend(row.user_id.bit().filter(|_| receives));
            scope.people.insert(row.user_id, Person { row, emails, consents, is_dummy });
        }
        scope.system_bots =
            users::system_bots(connection)?.into_iter().map(|row| (row.user_id, row)).collect();
        Ok(scope)
    }

    /// The addresses of a user, API and real. One that the importer would refuse, or that must not be known, is replaced.
    fn addresses(&mut self, row: &UserRow, hides_address: bool, uuid: &str) -> (String, String) {
        let is_refused = !is_accepted_address(&row.delivery_email);
        self.refused_addresses += u64::from(is_refused && !hides_address);
        let replaced =
            || format!("exported-user-{}@exported.invalid", digest(&[uuid, &row.user_id.to_string()], 32));
        let real = if hides_address || is_refused { replaced() } else { row.delivery_email.clone() };
        let is_shown = row.email == row.delivery_email;
        let api = if is_shown || hides_address || !is_accepted_address(&row.email) {
            real.clone()
        } else {
            row.email.clone()
        };
        (api, real)
    }

    /// True if the private data of a user is exported.
    pub fn shares(&self, user_id: i64) -> bool {
        UserId(user_id).is_in(&self.consenting)
    }

    /// True if a user is in the archive as a person or bot of the organization.
    pub fn has(&self, user_id: i64) -> bool {
        self.people.contains_key(&UserId(user_id))
    }

    /// Accounts and addresses that are not in the archive as they are.
    pub fn left_out(&self) -> Vec<LeftOut> {
        let placeholders = self.people.values().filter(|person| person.is_dummy && person.row.is_active);
        let owners: Vec<&Person> = self
            .people
            .values()
            .filter(|person| person.row.role == Role::Owner && !person.row.is_bot())
            .collect();
        let lost = if owners.iter().any(|owner| owner.is_active()) { 0 } else { owners.len() };
        vec![
            LeftOut {
                what: "addresses",
                count: self.refused_addresses,
                why: "the published server accepts no such address; it was replaced",
            },
            LeftOut {
                what: "accounts",
                count: placeholders.count() as u64,
                why: "they do not consent, so they are placeholders without settings",
            },
            LeftOut {
                what: "owners",
                count: lost as u64,
                why: "none of them keeps an account, so the new organization has no administrator",
            },
        ]
    }
}

/// The settings of a user, with the columns of the published release.
pub fn settings_of(connection: &Connection, person: &Person) -> Result<serde_json::Map<String, Value>> {
    let own = user_settings::all(connection, person.row.user_id)?;
    if person.consents {
        return Ok(published_settings(own.into_map()));
    }
    let mut settings = published_settings(user_settings::defaults(connection)?.into_map());
    let kept = "email_address_visibility";
    settings.insert(kept.to_owned(), own.value(kept).clone());
    Ok(settings)
}

/// Removes the settings that the published release does not know, and replaces values that it does not have.
pub fn published_settings(mut settings: serde_json::Map<String, Value>) -> serde_json::Map<String, Value> {
    settings.retain(|name, _| !NEWER_SETTINGS.contains(&name.as_str()));
    // A list of topics, and the first unread topic: later choices.
    if let Some(view) = settings.get_mut("web_channel_default_view")
        && view.as_i64().is_some_and(|view| view > 2)
    {
        *view = 1.into();
    }
    settings
}

/// The first hexadecimal digits of a digest of some texts.
pub fn digest(texts: &[&str], length: usize) -> String {
    let mut digits = hex(&Sha256::digest(texts.join(":").as_bytes()));
    digits.truncate(length);
    digits
}

/// True if the published server accepts an address, which is stricter than this server: a local part of ASCII letters,
/// digits and some signs, without dots at its ends, and a domain of at least two labels.
fn is_accepted_address(text: &str) -> bool {
    let Some((local, domain)) = text.rsplit_once('@') else { return false };
    let is_atom = |part: &str| {
        !part.is_empty()
            && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-/=?^_`{|}~".contains(&byte))
    };
    let is_label = |label: &str| {
        !label.is_empty()
            && label.len() <= 63
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    let domain = idna(domain);
    let labels: Vec<&str> = domain.split('.').collect();
    let is_domain = domain == "localhost"
        || (labels.len() >= 2
            && labels.iter().all(|label| is_label(label))
            && labels.last().is_some_and(|label| label.len() >= 2));
    text.len() <= 254 && local.split('.').all(is_atom) && is_domain
}

/// A domain in ASCII.
fn idna(domain: &str) -> String {
    match url::Host::parse(domain) {
        Ok(url::Host::Domain(ascii)) => ascii,
        _ => domain.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_checked_as_the_importer_does() {
        for good in [
            "ada@example.com",
            "a.b+c@x-y.example.org",
            "x@localhost",
            "ada@bücher.example",
            "user7@bots.invalid",
        ] {
            assert!(is_accepted_address(good), "{good}");
        }
        for bad in [
            "ada",
            "ada@",
            "@x.org",
            "a..b@x.org",
            ".a@x.org",
            "ä@x.org",
            "a@host",
            "a@-x.org",
            "a@x.y",
            "a b@x.org",
        ] {
            assert!(!is_accepted_address(bad), "{bad}");
        }
    }
}

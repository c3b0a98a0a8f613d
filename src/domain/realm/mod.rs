//! The organization: its settings, whether it is deactivated, the ids of its users, and `realm` events.

pub mod events;
pub mod settings;
pub mod user_ids;

use crate::error::ApiResult;
use crate::store::ExecuteCached;
use crate::types::Language;
use rusqlite::Connection;

/// The domain of stand-ins for hidden emails, where the server's own host cannot be the domain of an address.
pub const DUMMY_DOMAIN: &str = "bots.invalid";

/// The domain of placeholder addresses and of the addresses of new bots: the host of `--public-url`, if that can be the
/// domain of an address. The host that a request names is not used: addresses are stored, and seen by others.
pub fn bot_domain(public_url: Option<&str>) -> String {
    let url = public_url.and_then(|url| url::Url::parse(url).ok());
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.');
    let domain = url.as_ref().and_then(url::Url::domain);
    let domain = domain.filter(|domain| domain.contains('.') && domain.bytes().all(is_letter));
    domain.unwrap_or(DUMMY_DOMAIN).to_owned()
}

/// The id of the organization, which no other server uses.
pub fn uuid(connection: &Connection) -> rusqlite::Result<String> {
    connection.prepare_cached("SELECT uuid FROM realm")?.query_row([], |row| row.get(0))
}

/// True if the organization is deactivated, so that users cannot log in.
pub fn is_deactivated(connection: &Connection) -> rusqlite::Result<bool> {
    connection.prepare_cached("SELECT deactivated FROM realm")?.query_row([], |row| row.get(0))
}

/// The language of texts for many, and for people without an account.
pub fn common_language(connection: &Connection) -> ApiResult<Language> {
    Ok(Language::of(&settings::DEFAULT_LANGUAGE.get(connection)?))
}

/// The language of a page for people who are not logged in: that of the browser, or else of the organization.
pub fn page_language(connection: &Connection, of_browser: Option<Language>) -> ApiResult<Language> {
    of_browser.map_or_else(|| common_language(connection), Ok)
}

/// Closes the organization, or opens it again.
pub fn set_deactivated(connection: &Connection, deactivated: bool) -> rusqlite::Result<()> {
    connection.execute_cached("UPDATE realm SET deactivated = ?1", [deactivated])
}

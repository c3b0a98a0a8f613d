//! Email domains that may join while the organization is restricted to some: rules and SQL statements.

use crate::domain::disposable_domains::is_disposable;
use crate::domain::{mail, realm};
use crate::error::ApiResult;
use crate::types::{Language, fill};
use rusqlite::Connection;
use serde::{Deserialize, Serialize};

/// An email domain that may join the organization.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RealmDomain {
    /// The domain, in lower case.
    pub domain: String,
    /// True if emails of subdomains may join too.
    pub allow_subdomains: bool,
}

/// The maximum length of a domain, in characters.
const MAX_LENGTH: usize = 255;

/// Checks a domain in lower case. The error is the published text.
pub fn check_domain(domain: &str) -> Result<(), &'static str> {
    if domain.is_empty() {
        return Err("Domain can't be empty.");
    }
    if !domain.contains('.') {
        return Err("Domain must have at least one dot (.)");
    }
    if domain.chars().count() > MAX_LENGTH {
        return Err("Domain is too long");
    }
    if domain.starts_with('.') || domain.ends_with('.') {
        return Err("Domain cannot start or end with a dot (.)");
    }
    if domain.ends_with(".invalid") {
        return Err("Domain is reserved.");
    }
    for label in domain.split('.') {
        if label.is_empty() {
            return Err("Consecutive '.' are not allowed.");
        }
        if label.starts_with('-') || label.ends_with('-') {
            return Err("Subdomains cannot start or end with a '-'.");
        }
        if !label.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-') {
            return Err("Domain can only have letters, numbers, '.' and '-'s.");
        }
    }
    Ok(())
}

/// Why an email may not join.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Its domain is not one of the organization's.
    Domain,
    /// It has a `+`, with which one person could join several times.
    Plus,
    /// It is of a service for disposable addresses.
    Disposable,
}

impl Refusal {
    /// Returns the published text for the email of an existing user.
    pub fn reason(self) -> &'static str {
        match self {
            Self::Domain => "Outside your domain.",
            Self::Plus => "Email addresses containing + are not allowed.",
            Self::Disposable => "Please use your real email address.",
        }
    }

    /// Returns the published text for the email of a new user. Pages show it in their language.
    pub fn reason_for_new_user(self, language: Language, email: &str) -> String {
        let text = match self {
            Self::Domain => language.t("Email '{email}' not allowed in this organization"),
            Self::Plus => language.t("Email addresses containing + are not allowed."),
            Self::Disposable => language.t("Disposable email addresses are not allowed in this organization"),
        };
        fill(text, &[("email", email)])
    }
}

/// Checks whether an email may join the organization, invited or not. Any may, unless the organization is restricted to
/// domains and has at least one; or it refuses disposable addresses, which matter only where mail proves addresses.
pub fn check_may_join(connection: &Connection, email: &str) -> ApiResult<Result<(), Refusal>> {
    let is_restricted = realm::settings::EMAILS_RESTRICTED_TO_DOMAINS.get(connection)?;
    let domains = if is_restricted { list(connection)? } else { Vec::new() };
    if !domains.is_empty() {
        return Ok(check_domains(email, &domains));
    }
    let refuses = realm::settings::DISALLOW_DISPOSABLE_EMAIL_ADDRESSES.get(connection)?
        && is_disposable(email)
        && mail::is_on(connection)?;
    Ok(if refuses { Err(Refusal::Disposable) } else { Ok(()) })
}

fn check_domains(email: &str, domains: &[RealmDomain]) -> Result<(), Refusal> {
    let (name, domain) = email.trim().rsplit_once('@').unwrap_or_default();
    if name.contains('+') {
        return Err(Refusal::Plus);
    }
    let domain = domain.to_lowercase();
    let covers = |allowed: &RealmDomain| {
        let rest = domain.strip_suffix(&allowed.domain);
        rest.is_some_and(|rest| rest.is_empty() || (allowed.allow_subdomains && rest.ends_with('.')))
    };
    if domains.iter().any(covers) { Ok(()) } else { Err(Refusal::Domain) }
}

/// Lists all domains, the oldest first.
pub fn list(connection: &Connection) -> rusqlite::Result<Vec<RealmDomain>> {
    connection
        .prepare_cached("SELECT domain, allow_subdomains FROM realm_domain ORDER BY id")?
        .query_map([], |row| Ok(RealmDomain { domain: row.get(0)?, allow_subdomains: row.get(1)? }))?
        .collect()
}

/// Inserts a domain and returns its id.
pub fn insert(connection: &Connection, domain: &RealmDomain) -> rusqlite::Result<i64> {
    connection
        .prepare_cached("INSERT INTO realm_domain (domain, allow_subdomains) VALUES (?1, ?2)")?
        .insert((&domain.domain, domain.allow_subdomains))
}

/// Updates a domain. Returns whether it existed.
pub fn update(connection: &Connection, domain: &RealmDomain) -> rusqlite::Result<bool> {
    let changed = connection
        .prepare_cached("UPDATE realm_domain SET allow_subdomains = ?2 WHERE domain = ?1")?
        .execute((&domain.domain, domain.allow_subdomains))?;
    Ok(changed > 0)
}

/// Deletes a domain. Returns whether it existed.
pub fn delete(connection: &Connection, domain: &str) -> rusqlite::Result<bool> {
    Ok(connection.prepare_cached("DELETE FROM realm_domain WHERE domain = ?1")?.execute([domain])? > 0)
}

#[cfg(test)]
mod tests {
    use crate::domain::allowed_domains::*;

    #[test]
    fn domains_are_checked_as_published() {
        let long = format!("{}.example", "a".repeat(MAX_LENGTH));
        for (domain, expected) in [
            ("example.com", Ok(())),
            ("a-b.c1.example", Ok(())),
            ("", Err("Domain can't be empty.")),
            ("example", Err("Domain must have at least one dot (.)")),
            (&long, Err("Domain is too long")),
            (".example.com", Err("Domain cannot start or end with a dot (.)")),
            ("example.com.", Err("Domain cannot start or end with a dot (.)")),
            ("example..com", Err("Consecutive '.' are not allowed.")),
            ("-a.example", Err("Subdomains cannot start or end with a '-'.")),
            ("a-.example", Err("Subdomains cannot start or end with a '-'.")),
            ("a_b.example", Err("Domain can only have letters, numbers, '.' and '-'s.")),
            ("ä.example", Err("Domain can only have letters, numbers, '.' and '-'s.")),
        ] {
            assert_eq!(check_domain(domain), expected, "{domain}");
        }
    }

    #[test]
    fn addresses_join_by_their_domain() {
        let domain =
            |domain: &str, allow_subdomains| RealmDomain { domain: domain.to_owned(), allow_subdomains };
        let domains = [domain("example.com", false), domain("example.org", true)];
        for (email, expected) in [
            ("ada@example.com", Ok(())),
            ("Ada@EXAMPLE.com", Ok(())),
            ("ada@sub.example.com", Err(Refusal::Domain)),
            ("ada@badexample.com", Err(Refusal::Domain)),
            ("ada@example.org", Ok(())),
            ("ada@a.b.example.org", Ok(())),
            ("ada@badexample.org", Err(Refusal::Domain)),
            ("ada@example.net", Err(Refusal::Domain)),
            ("ada+1@example.com", Err(Refusal::Plus)),
            ("no address", Err(Refusal::Domain)),
        ] {
            assert_eq!(check_domains(email, &domains), expected, "{email}");
        }
    }

    #[test]
    fn only_a_restricted_organization_asks() {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch(crate::store::SCHEMA).unwrap();
        let example = RealmDomain { domain: "example.com".to_owned(), allow_subdomains: false };
        let restrict = |restricted: bool| {
            realm::settings::set(&connection, "emails_restricted_to_domains", &restricted.into()).unwrap();
        };
        restrict(true);
        let found = check_may_join(&connection, "ada+1@example.net").unwrap();
        assert_eq!(found, Ok(()), "nothing to be restricted to");
        restrict(false);
        insert(&connection, &example).unwrap();
        assert_eq!(check_may_join(&connection, "ada@example.net").unwrap(), Ok(()));
        restrict(true);
        assert_eq!(check_may_join(&connection, "ada@example.net").unwrap(), Err(Refusal::Domain));
        assert_eq!(check_may_join(&connection, "ada@example.com").unwrap(), Ok(()));
    }
}

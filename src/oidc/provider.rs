//! A provider, as the operator configured it.

use crate::types::is_loopback;
use std::fmt;
use url::Url;

/// The longest `id` and `name`, in characters.
const MAX_NAME: usize = 60;

/// A provider of identities.
#[derive(Clone, PartialEq, Eq)]
pub struct Provider {
    /// Its part in addresses of this server: small letters, digits and hyphens.
    pub id: String,
    /// Its name on buttons.
    pub name: String,
    /// The address that identifies it, and below which its metadata are.
    pub issuer: String,
    /// The name of this server at the provider.
    pub client_id: String,
    /// The secret of this server at the provider.
    pub client_secret: String,
    /// True if people without an account get one.
    pub auto_create: bool,
}

/// Without the secret.
impl fmt::Debug for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Provider").field("id", &self.id).field("issuer", &self.issuer).finish_non_exhaustive()
    }
}

impl Provider {
    /// Checks an `id`, which is a part of paths. The error says which characters it may have.
    pub fn check_id(id: &str) -> Result<(), String> {
        let is_allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        if (1..=MAX_NAME).contains(&id.len()) && id.bytes().all(is_allowed) {
            return Ok(());
        }
        Err(format!("'id' has small letters, digits and hyphens, at most {MAX_NAME}"))
    }

    /// Checks a `name`, which is shown on buttons. The error says how long it may be.
    pub fn check_name(name: &str) -> Result<(), String> {
        if (1..=MAX_NAME).contains(&name.trim().chars().count()) && !name.contains(char::is_control) {
            return Ok(());
        }
        Err(format!("'name' has 1 to {MAX_NAME} characters"))
    }

    /// Checks an `issuer`: a secure URL without parameters and a user name. The error has an example.
    pub fn check_issuer(issuer: &str) -> Result<(), String> {
        let example = "write it like https://auth.example.com";
        let url = Url::parse(issuer).map_err(|error| format!("'issuer': {error}; {example}"))?;
        let is_plain = url.query().is_none() && url.fragment().is_none() && url.username().is_empty();
        if is_secure(&url) && is_plain {
            return Ok(());
        }
        Err(format!("'issuer' begins with https://, and has neither parameters nor a user name; {example}"))
    }

    /// The address at which a login begins.
    pub fn login_path(&self) -> String {
        format!("/accounts/login/social/{}", self.id)
    }

    /// The address at which a person gets an account.
    pub fn sign_up_path(&self) -> String {
        format!("/accounts/register/social/{}", self.id)
    }
}

/// True for https, and for http on this machine, which tests use.
pub(super) fn is_secure(url: &Url) -> bool {
    url.scheme() == "https" || url.scheme() == "http" && is_loopback(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn issuers_are_reached_with_tls() {
        for issuer in [
            "https://auth.example.com",
            "https://auth.example.com:9443/realms/home",
            "https://auth.example.com/application/o/chat/",
            "http://127.0.0.1:8080",
            "http://localhost/",
            "http://[::1]:80",
        ] {
            assert_eq!(Provider::check_issuer(issuer), Ok(()), "{issuer}");
        }
        for issuer in [
            "http://auth.example.com",
            "http://192.168.1.7",
            "http://localhost.example.com",
            "auth.example.com",
            "https://",
            "https://me@auth.example.com",
            "https://auth.example.com/?realm=home",
            "ftp://localhost",
            "",
        ] {
            assert!(Provider::check_issuer(issuer).unwrap_err().contains("'issuer'"), "{issuer}");
        }
    }

    #[test]
    fn ids_are_parts_of_addresses() {
        for id in ["oidc", "key-cloak2"] {
            assert_eq!(Provider::check_id(id), Ok(()), "{id}");
        }
        for id in ["", "OIDC", "a/b", "a b", "ä", &"x".repeat(61)] {
            Provider::check_id(id).unwrap_err();
        }
        for name in ["", " ", "a\nb", &"x".repeat(61)] {
            Provider::check_name(name).unwrap_err();
        }
        assert_eq!(Provider::check_name("Anmeldung für Gäste"), Ok(()));
    }
}

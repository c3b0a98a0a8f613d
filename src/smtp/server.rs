//! The mail server, as `--smtp-url` names it.

use percent_encoding::percent_decode_str;
use std::fmt;
use std::str::FromStr;
use url::{Host, Url};

/// Ports where the URL has none.
const SUBMISSION_PORT: u16 = 587;
const TLS_PORT: u16 = 465;

/// Top-level domains of home networks and of tests. Mail servers elsewhere cannot look up names in them.
const LOCAL_DOMAINS: [&str; 9] =
    ["arpa", "home", "internal", "invalid", "lan", "local", "localdomain", "localhost", "test"];

const EXAMPLE: &str = "write it like smtp://name:password@mail.example.com:587?tls=required";

/// The protection of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protection {
    /// Not at all.
    None,
    /// By TLS if the server offers it. Its certificate is checked only if there is a password, which is never sent without TLS.
    Opportunistic,
    /// By TLS, after a command in clear text (STARTTLS), with a check of the certificate.
    Required,
    /// By TLS from the first byte (`smtps`), with a check of the certificate.
    Implicit,
}

/// A mail server that takes emails.
#[derive(Clone, PartialEq, Eq)]
pub struct MailServer {
    /// The host, of IPv6 without brackets.
    pub host: String,
    /// The port: if the URL has none, 465 for `smtps`, and else 587.
    pub port: u16,
    /// The encryption of the connection, by the scheme of the URL and its parameter `tls`.
    pub protection: Protection,
    /// The name and the password of the account, if the server asks for one.
    pub credentials: Option<(String, String)>,
    /// Certificates of authorities beside those of public servers, in PEM.
    pub authorities: Option<String>,
    /// The name by which this server greets it; `None` for the address of the connection.
    pub client_name: Option<String>,
}

/// Without the password.
impl fmt::Debug for MailServer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "MailServer({self})")
    }
}

/// Host and port.
impl fmt::Display for MailServer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.host.contains(':') {
            write!(formatter, "[{}]:{}", self.host, self.port)
        } else {
            write!(formatter, "{}:{}", self.host, self.port)
        }
    }
}

/// Reads the URL. Errors do not repeat it, because it may have a password.
impl FromStr for MailServer {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let url = Url::parse(text).map_err(|error| format!("it is no URL ({error}); {EXAMPLE}"))?;
        let is_implicit = match url.scheme() {
            "smtp" => false,
            "smtps" => true,
            _ => return Err(format!("the URL must begin with smtp:// or smtps://; {EXAMPLE}")),
        };
        let host = match url.host() {
            Some(Host::Domain(name)) if !name.is_empty() => decode(name)?,
            Some(Host::Ipv4(address)) => address.to_string(),
            Some(Host::Ipv6(address)) => address.to_string(),
            _ => return Err(format!("it names no host; {EXAMPLE}")),
        };
        if !matches!(url.path(), "" | "/") || url.fragment().is_some() {
            return Err(format!("it has no path; in a password, write / as %2F and # as %23; {EXAMPLE}"));
        }
        let mut protection = if is_implicit { Protection::Implicit } else { Protection::Opportunistic };
        for (name, value) in url.query_pairs() {
            protection = match (name.as_ref(), value.as_ref()) {
                ("tls", "required") if is_implicit => Protection::Implicit,
                ("tls", _) if is_implicit => {
                    return Err("smtps:// always uses TLS: leave out tls=".to_owned());
                }
                ("tls", "none") => Protection::None,
                ("tls", "starttls") => Protection::Opportunistic,
                ("tls", "required") => Protection::Required,
                ("tls", _) => return Err("tls is none, starttls or required".to_owned()),
                _ => return Err("the only parameter is tls: ?tls=none, starttls or required".to_owned()),
            };
        }
        let credentials = match (url.username(), url.password()) {
            ("", None) => None,
            ("", Some(_)) => return Err(format!("it has a password without a user name; {EXAMPLE}")),
            (_, None) => return Err(format!("it has a user name without a password; {EXAMPLE}")),
            (name, Some(password)) => Some((decode(name)?, decode(password)?)),
        };
        let port = url.port().unwrap_or(if is_implicit { TLS_PORT } else { SUBMISSION_PORT });
        Ok(Self { host, port, protection, credentials, authorities: None, client_name: None })
    }
}

/// The host of a URL, if it is a name that other machines can look up.
pub fn public_name(url: &str) -> Option<String> {
    let url = Url::parse(url).ok()?;
    let Host::Domain(name) = url.host()? else { return None };
    let (_, top) = name.rsplit_once('.')?;
    (!LOCAL_DOMAINS.contains(&top)).then(|| name.to_owned())
}

fn decode(text: &str) -> Result<String, String> {
    let decoded = percent_decode_str(text).decode_utf8().map_err(|_| "it is not UTF-8".to_owned())?;
    Ok(decoded.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> MailServer {
        text.parse().unwrap()
    }

    #[test]
    fn urls_name_servers() {
        for (url, shown, protection) in [
            ("smtp://mail.example.com", "mail.example.com:587", Protection::Opportunistic),
            ("smtp://127.0.0.1:25?tls=none", "127.0.0.1:25", Protection::None),
            ("smtp://[::1]:2525/?tls=starttls", "[::1]:2525", Protection::Opportunistic),
            ("smtp://mail.example.com:587?tls=required", "mail.example.com:587", Protection::Required),
            ("smtps://mail.example.com", "mail.example.com:465", Protection::Implicit),
        ] {
            let server = read(url);
            assert_eq!((server.to_string().as_str(), server.protection), (shown, protection), "{url}");
            assert_eq!(server.credentials, None, "{url}");
        }
        let server = read("smtp://ada%40example.com:p%3Aw%2F%25@mail.example.com");
        assert_eq!(server.credentials, Some(("ada@example.com".to_owned(), "p:w/%".to_owned())));
        assert_eq!(format!("{server:?}"), "MailServer(mail.example.com:587)");
    }

    #[test]
    fn names_of_home_networks_are_not_public() {
        for (url, expected) in [
            ("https://chat.example.com", Some("chat.example.com")),
            ("https://Exämple.com:8443", Some("xn--exmple-cua.com")),
            ("http://chat.home.arpa", None),
            ("http://chat.lan:9991", None),
            ("http://raspberrypi", None),
            ("http://192.168.1.20:9991", None),
            ("http://[::1]:9991", None),
            ("unix:/run/teamchat/http", None),
        ] {
            assert_eq!(public_name(url).as_deref(), expected, "{url}");
        }
    }

    #[test]
    fn errors_do_not_repeat_the_password() {
        for (url, expected) in [
            ("mail.example.com:25", "must begin with smtp://"),
            ("secret", "no URL"),
            ("http://a:secret@mail.example.com", "must begin with smtp://"),
            ("smtp://a:secret@", "host"),
            ("smtp://:secret@mail.example.com", "without a user name"),
            ("smtp://ada@mail.example.com", "without a password"),
            ("smtp://a:secret@mail.example.com/box", "no path"),
            ("smtp://a:secret@mail.example.com?tls=maybe", "none, starttls or required"),
            ("smtp://a:secret@mail.example.com?pool=1", "only parameter"),
            ("smtps://a:secret@mail.example.com?tls=none", "always uses TLS"),
        ] {
            let error = url.parse::<MailServer>().unwrap_err();
            assert!(error.contains(expected), "{url}: {error}");
            assert!(!error.contains("secret"), "{url}: {error}");
        }
    }
}

//! Parsers of the flags of `serve`. Errors name the accepted form.

use std::path::{Path, PathBuf};
use teamchat::domain::users::names::is_email;
use teamchat::http_client::{AllowedHost, check_certificates};
use teamchat::types::{charset, is_loopback};
use tracing_subscriber::filter::{LevelFilter, Targets};
use url::Url;

/// Permissions of a socket, as three octal digits.
pub fn parse_mode(text: &str) -> Result<u32, String> {
    let mode = u32::from_str_radix(text, 8).ok().filter(|mode| *mode <= 0o777);
    mode.ok_or_else(|| "write three octal digits, for example 660".to_owned())
}

/// Scheme, host and port, without a slash at the end.
pub fn parse_public_url(text: &str) -> Result<String, String> {
    let example = "write it like https://chat.example.com";
    let url = Url::parse(text).map_err(|error| format!("{error}; {example}"))?;
    if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
        return Err(format!("it begins with https:// or http://; {example}"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(format!("it has no user name and no password; {example}"));
    }
    if url.path() != "/" || url.query().is_some() || url.fragment().is_some() {
        return Err(format!(
            "the server answers at the root of a host only, and not below a path; {example}"
        ));
    }
    Ok(url.origin().ascii_serialization())
}

/// An address that begins with https.
pub fn parse_https_url(text: &str) -> Result<String, String> {
    let url = Url::parse(text).map_err(|error| error.to_string())?;
    if url.scheme() == "https" && url.has_host() {
        Ok(text.to_owned())
    } else {
        Err("it begins with https://".to_owned())
    }
}

/// The address of a push bouncer, without a slash at the end. Only one on this machine may do without TLS, because its requests
/// have a key and texts.
pub fn parse_bouncer_url(text: &str) -> Result<String, String> {
    let example = "write it like https://push.example.com";
    let url = Url::parse(text).map_err(|error| format!("{error}; {example}"))?;
    if !url.has_host() || !(url.scheme() == "https" || url.scheme() == "http" && is_loopback(&url)) {
        return Err(format!("it begins with https://, or with http:// on this machine; {example}"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(format!("it has no user name and no password; {example}"));
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(format!("it has no query and no fragment; {example}"));
    }
    Ok(url.as_str().trim_end_matches('/').to_owned())
}

/// An entry of `--webhook-hosts`.
pub fn parse_webhook_host(text: &str) -> Result<String, String> {
    let host: AllowedHost = text.parse()?;
    Ok(host.to_string())
}

/// A folder that exists.
pub fn parse_folder(path: &str) -> Result<PathBuf, String> {
    let folder = PathBuf::from(path);
    if folder.is_dir() { Ok(folder) } else { Err("there is no such directory".to_owned()) }
}

/// The file of `--web-push-ca`: certificates of authorities in PEM.
pub fn parse_authorities(path: &str) -> Result<String, String> {
    let pem = std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
    check_certificates(&pem).map_err(|error| format!("{path}: {error}"))?;
    Ok(pem)
}

/// The file of `--acme-ca`, which is read again at each order.
pub fn parse_authorities_file(path: &str) -> Result<PathBuf, String> {
    parse_authorities(path).map(|_| PathBuf::from(path))
}

/// An email address.
pub fn parse_email(text: &str) -> Result<String, String> {
    if is_email(text) { Ok(text.to_owned()) } else { Err("it is not an email address".to_owned()) }
}

/// A number of days, also written with a `d`.
pub fn parse_days(text: &str) -> Result<u32, String> {
    let days = text.trim_end_matches('d').parse::<u32>().ok().filter(|days| *days > 0);
    days.ok_or_else(|| "write a number of days, for example 400".to_owned())
}

/// A level, or directives such as `warn,teamchat=debug`. `Targets` would take a word that is no level for the name of a
/// module, and log everything of it, which is nothing.
pub fn parse_log(text: &str) -> Result<Targets, String> {
    for directive in text.split(',').map(str::trim).filter(|directive| !directive.is_empty()) {
        let level = directive.rsplit_once('=').map_or(directive, |(_, level)| level);
        if level.parse::<LevelFilter>().is_err() {
            return Err(format!("'{level}' is not a log level: use error, warn, info, debug, trace or off"));
        }
    }
    text.parse().map_err(|error| format!("{error}"))
}

/// Reads the first line of a file with a secret.
pub fn read_secret(path: &Path) -> Result<String, String> {
    let text =
        charset::read_file(path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    match text.lines().next() {
        Some(line) if !line.is_empty() => Ok(line.to_owned()),
        _ => Err(format!("{} is empty", path.display())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn permissions_are_octal() {
        assert_eq!(parse_mode("660"), Ok(0o660));
        assert_eq!(parse_mode("0600"), Ok(0o600));
        for text in ["", "rw", "888", "1777"] {
            assert!(parse_mode(text).unwrap_err().contains("for example 660"), "{text}");
        }
    }

    #[test]
    fn a_public_url_is_a_scheme_and_a_host() {
        for (text, expected) in [
            ("https://chat.example.com", "https://chat.example.com"),
            ("https://chat.example.com/", "https://chat.example.com"),
            ("HTTP://Chat.Example.com:8080", "http://chat.example.com:8080"),
            ("https://chat.example.com:443", "https://chat.example.com"),
        ] {
            assert_eq!(parse_public_url(text).unwrap(), expected);
        }
        for text in [
            "chat.example.com",
            "chat.example.com:443",
            "ftp://x",
            "https://h/chat",
            "https://h/?a",
            "https://h/#a",
            "https://me@h",
            "https://:secret@h",
            "https://",
            "",
        ] {
            assert!(parse_public_url(text).unwrap_err().contains("https://chat.example.com"), "{text}");
        }
    }

    #[test]
    fn a_push_bouncer_has_tls_unless_it_is_on_this_machine() {
        for (text, expected) in [
            ("https://push.example.com", "https://push.example.com"),
            ("https://push.example.com:8443/", "https://push.example.com:8443"),
            ("https://example.com/push/", "https://example.com/push"),
            ("http://localhost:9000", "http://localhost:9000"),
            ("http://127.0.0.1:9000/", "http://127.0.0.1:9000"),
            ("http://[::1]:9000", "http://[::1]:9000"),
        ] {
            assert_eq!(parse_bouncer_url(text).unwrap(), expected);
        }
        for text in [
            "push.example.com",
            "http://push.example.com",
            "http://10.0.0.1",
            "http://localhost.example.com",
            "ftp://localhost",
            "https://id:key@push.example.com",
            "https://push.example.com/?a",
            "https://push.example.com/#a",
            "",
        ] {
            assert!(parse_bouncer_url(text).unwrap_err().contains("https://push.example.com"), "{text}");
        }
    }

    #[test]
    fn days_are_numbers() {
        assert_eq!((parse_days("400"), parse_days("30d")), (Ok(400), Ok(30)));
        for text in ["0", "", "d", "-1", "a week"] {
            assert!(parse_days(text).unwrap_err().contains("for example 400"), "{text}");
        }
    }

    #[test]
    fn log_filters_are_levels() {
        for text in ["info", "warn,teamchat=debug", "teamchat::auth=trace", "off", "WARN"] {
            parse_log(text).unwrap();
        }
        for text in ["nonsense", "teamchat=loud", "info,verbose"] {
            assert!(parse_log(text).unwrap_err().contains("is not a log level"), "{text}");
        }
    }
}

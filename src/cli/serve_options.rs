//! Values of the flags of `serve`: what cannot work is refused with a word of what would.

use std::net::{SocketAddr, ToSocketAddrs};
use teamchat::api::outgoing_webhooks::AllowedHost;
use tracing_subscriber::filter::{LevelFilter, Targets};
use url::Url;

/// An address and a port; a name in place of the address is looked up, and IPv4 preferred.
pub fn parse_listen(text: &str) -> Result<SocketAddr, String> {
    if let Ok(address) = text.parse() {
        return Ok(address);
    }
    let usage = "write ADDR:PORT, for example 127.0.0.1:9991, [::1]:9991 or 0.0.0.0:9991";
    let addresses = text.to_socket_addrs().map_err(|error| match error.kind() {
        std::io::ErrorKind::InvalidInput => usage.to_owned(),
        _ => format!("{error}; {usage}"),
    })?;
    let mut addresses: Vec<SocketAddr> = addresses.collect();
    addresses.sort_by_key(SocketAddr::is_ipv6);
    addresses.first().copied().ok_or_else(|| usage.to_owned())
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

/// An entry of `--webhook-hosts`.
pub fn parse_webhook_host(text: &str) -> Result<String, String> {
    let host: AllowedHost = text.parse()?;
    Ok(host.to_string())
}

/// A level, or directives such as `warn,teamchat=debug`. `Targets` would take a word that is no level for the name of a
/// module, and log everything of it, which is nothing.
pub fn parse_log(text: &str) -> Result<Targets, String> {
    for directive in text.split(',').map(str::trim).filter(|directive| !directive.is_empty()) {
        let level = directive.rsplit_once('=').map_or(directive, |(_, level)| level);
        if level.parse::<LevelFilter>().is_err() {
            return Err(format!("'{level}' is no level: use error, warn, info, debug, trace or off"));
        }
    }
    text.parse().map_err(|error| format!("{error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_to_listen_on_may_be_names() {
        assert_eq!(parse_listen("127.0.0.1:7410").unwrap().to_string(), "127.0.0.1:7410");
        assert_eq!(parse_listen("[::1]:0").unwrap().to_string(), "[::1]:0");
        let localhost = parse_listen("localhost:7410").unwrap();
        assert!(localhost.ip().is_loopback() && localhost.port() == 7410);
        for text in ["7410", "127.0.0.1", ":7410", "127.0.0.1:70000", ""] {
            assert!(parse_listen(text).unwrap_err().contains("ADDR:PORT"), "{text}");
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
    fn what_to_log_is_levels() {
        for text in ["info", "warn,teamchat=debug", "teamchat::auth=trace", "off", "WARN"] {
            parse_log(text).unwrap();
        }
        for text in ["nonsense", "teamchat=loud", "info,verbose"] {
            assert!(parse_log(text).unwrap_err().contains("is no level"), "{text}");
        }
    }
}

//! Hosts that messages may be posted to: those of `--webhook-hosts`, and for `*` only the public internet.

use crate::types::is_public;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::str::FromStr;
use url::{Host, Url};

/// An entry of `--webhook-hosts`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AllowedHost {
    /// `*`: every host, if its address is of the public internet.
    Public,
    /// A host that the operator trusts, wherever its address is.
    Named {
        /// The name or address, in lower case.
        host: String,
        /// The ports on it that may be reached.
        port: AllowedPort,
    },
}

/// The ports of a host that is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AllowedPort {
    /// That of the URL's scheme: the host is named without a port.
    Default,
    Only(u16),
    /// All: `host:*`.
    Any,
}

/// The operator's permission for a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Permission {
    /// Any address of the host.
    Any,
    /// Only addresses of the public internet.
    OnlyPublic,
    /// No address: the host is not in the list of the operator.
    None,
}

impl Permission {
    /// The permitted addresses among those of a host. They are resolved once, so that the checked address is the
    /// connected one.
    pub fn filter(self, addresses: impl Iterator<Item = SocketAddr>) -> Vec<SocketAddr> {
        let is_allowed = |address: IpAddr| match self {
            Self::Any => true,
            Self::OnlyPublic => is_public(address) && !is_of_this_machine(address),
            Self::None => false,
        };
        addresses.filter(|address| is_allowed(address.ip())).collect()
    }
}

/// True for an address of this machine, which may be a public one: its services trust it, and a firewall does not see their
/// connections. The system says from which address it would send; nothing is sent.
fn is_of_this_machine(address: IpAddr) -> bool {
    let any: IpAddr =
        if address.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
    let source = UdpSocket::bind((any, 0)).and_then(|socket| {
        socket.connect((address, 9))?;
        socket.local_addr()
    });
    source.is_ok_and(|source| source.ip() == address)
}

/// Returns the permission of the entries for a URL. Malformed entries allow nothing.
pub fn permission(url: &Url, entries: &[String]) -> Permission {
    let entries = entries.iter().filter_map(|entry| entry.parse::<AllowedHost>().ok());
    let mut permission = Permission::None;
    for entry in entries {
        match entry {
            AllowedHost::Named { host, port } if is_named(url, &host, port) => return Permission::Any,
            AllowedHost::Named { .. } => {}
            AllowedHost::Public => permission = Permission::OnlyPublic,
        }
    }
    permission
}

fn is_named(url: &Url, host: &str, port: AllowedPort) -> bool {
    url.host_str() == Some(host)
        && match port {
            AllowedPort::Default => url.port().is_none(),
            AllowedPort::Only(port) => url.port_or_known_default() == Some(port),
            AllowedPort::Any => true,
        }
}

impl FromStr for AllowedHost {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let malformed =
            || format!("'{text}' is no host; write it like example.com, example.com:8080 or [::1]:8080");
        if text == "*" {
            return Ok(Self::Public);
        }
        // The last colon is one before a port, unless it is in the brackets of an address.
        let (host, port) = match text.rsplit_once(':') {
            Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
            _ => (text, None),
        };
        let port = match port {
            None => AllowedPort::Default,
            Some("*") => AllowedPort::Any,
            Some(port) => AllowedPort::Only(port.parse().map_err(|_| malformed())?),
        };
        let is_plain =
            |byte: u8| byte.is_ascii_alphanumeric() || b"-._[]:".contains(&byte) || !byte.is_ascii();
        if host.is_empty() || !host.bytes().all(is_plain) {
            return Err(malformed());
        }
        let host = Host::parse(host).map_err(|_| malformed())?.to_string();
        Ok(Self::Named { host, port })
    }
}

impl fmt::Display for AllowedHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Public => f.write_str("*"),
            Self::Named { host, port: AllowedPort::Default } => f.write_str(host),
            Self::Named { host, port: AllowedPort::Only(port) } => write!(f, "{host}:{port}"),
            Self::Named { host, port: AllowedPort::Any } => write!(f, "{host}:*"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn permission_of(url: &str, entries: &[&str]) -> Permission {
        let entries: Vec<String> = entries.iter().map(|entry| (*entry).to_owned()).collect();
        permission(&Url::parse(url).unwrap(), &entries)
    }

    #[test]
    fn hosts_are_allowed_by_name_and_port() {
        let cases = [
            ("http://example.com/hook", &["example.com"][..], Permission::Any),
            ("http://Example.com:8080/", &["example.com"], Permission::None),
            ("http://example.com:8080/", &["EXAMPLE.com:8080"], Permission::Any),
            ("http://example.com:8080/", &["example.com:*"], Permission::Any),
            ("http://example.com/", &["example.com:80"], Permission::Any),
            ("http://example.com:8081/", &["example.com:8080"], Permission::None),
            ("http://sub.example.com/", &["example.com"], Permission::None),
            ("http://example.com.evil.example/", &["example.com"], Permission::None),
            ("http://example.com@evil.example/", &["example.com"], Permission::None),
            ("http://[::1]:80/", &["[::1]"], Permission::Any),
            ("http://[::1]:81/", &["[::1]:81"], Permission::Any),
            ("http://2130706433/", &["127.0.0.1"], Permission::Any),
            ("http://example.com:8080/", &["*"], Permission::OnlyPublic),
            ("http://bot.lan/", &["*", "bot.lan"], Permission::Any),
            ("http://example.com/", &[], Permission::None),
        ];
        for (url, entries, expected) in cases {
            assert_eq!(permission_of(url, entries), expected, "{url} {entries:?}");
        }
    }

    #[test]
    fn connected_addresses_must_be_public() {
        for (address, expected) in [
            ("1.1.1.1:80", true),
            ("127.0.0.1:80", false),
            ("169.254.169.254:80", false),
            ("[::ffff:127.0.0.1]:80", false),
            ("[fd00::1]:80", false),
        ] {
            let found = Permission::OnlyPublic.filter([address.parse().unwrap()].into_iter());
            assert_eq!(found.len(), usize::from(expected), "{address}");
        }
        assert_eq!(Permission::Any.filter(["127.0.0.1:80".parse().unwrap()].into_iter()).len(), 1);
    }

    #[test]
    fn addresses_of_this_machine_are_known() {
        for (address, expected) in [("127.0.0.1", true), ("192.0.2.1", false), ("2001:db8::1", false)] {
            assert_eq!(is_of_this_machine(address.parse().unwrap()), expected, "{address}");
        }
    }

    #[test]
    fn entries_are_hosts_and_not_urls() {
        for (text, expected) in [
            ("*", "*"),
            ("Example.com", "example.com"),
            ("example.com:8080", "example.com:8080"),
            ("example.com:*", "example.com:*"),
            ("[::1]:8080", "[::1]:8080"),
            ("[::1]", "[::1]"),
        ] {
            assert_eq!(text.parse::<AllowedHost>().unwrap().to_string(), expected);
        }
        for text in ["http://x/", "x/", "", ":80", "x:0x50", "x:", "a b", "*.example.com", "me@x", "x:70000"]
        {
            assert!(text.parse::<AllowedHost>().unwrap_err().contains("is no host"), "{text}");
        }
    }
}

//! Origin of a request: the address of the client, the host that it used, and detection of cross-site requests.

use crate::app::Options;
use hyper::Method;
use hyper::header::{self, AsHeaderName, HeaderMap, HeaderName};
use std::net::{IpAddr, SocketAddr};

/// The site that a request comes from, as browsers say. Pages cannot set it.
pub(super) const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// The kind of a request, which only browsers say.
const SEC_FETCH_MODE: HeaderName = HeaderName::from_static("sec-fetch-mode");

/// The other end of a connection.
#[derive(Clone, Copy)]
pub struct Peer {
    /// Its address: that of the client, or of a proxy.
    pub address: IpAddr,
    /// True over TLS.
    pub is_secure: bool,
}

/// The address of the client. If the connection comes from a trusted proxy, it is the last address of `X-Forwarded-For`
/// that is not a trusted proxy's; earlier ones may be forged by the client.
pub fn client_address(options: &Options, headers: &HeaderMap, peer: IpAddr) -> IpAddr {
    let mut address = peer.to_canonical();
    if !is_trusted(options, address) {
        return address;
    }
    let lines = headers.get_all("x-forwarded-for").iter().rev();
    for entry in lines.flat_map(|line| line.to_str().unwrap_or_default().rsplit(',')) {
        if !is_trusted(options, address) {
            break;
        }
        let Some(forwarded) = parse_address(entry.trim()) else { break };
        address = forwarded.to_canonical();
    }
    address
}

/// Reads an address, which some proxies write with a port.
fn parse_address(text: &str) -> Option<IpAddr> {
    let with_port = || text.parse::<SocketAddr>().ok().map(|address| address.ip());
    text.parse().ok().or_else(with_port)
}

/// True if headers of a peer are believed.
pub(super) fn is_trusted(options: &Options, address: IpAddr) -> bool {
    options.trusted_proxies.iter().any(|network| network.contains(address))
}

/// Scheme, host and port under which the client reached the server: as configured, from a trusted proxy, or from the
/// request. The base of links.
pub fn origin(options: &Options, headers: &HeaderMap, peer: Peer) -> String {
    if let Some(url) = &options.public_url {
        return url.clone();
    }
    let is_trusted = is_trusted(options, peer.address);
    let forwarded = |name: &str| if is_trusted { text_of(headers, name) } else { None };
    let is_secure = peer.is_secure || forwarded("x-forwarded-proto") == Some("https");
    let scheme = if is_secure { "https" } else { "http" };
    let host = forwarded("x-forwarded-host").or_else(|| text_of(headers, header::HOST));
    let host = host.filter(|host| is_host(host)).unwrap_or("localhost");
    format!("{scheme}://{host}")
}

/// True if a text has the form of a host with or without a port, so that it can be used in a link.
fn is_host(text: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-._:[]".contains(&byte);
    !text.is_empty() && text.len() <= 255 && text.bytes().all(is_allowed)
}

/// True if a page of another site caused a request that may change data. A browser would send its cookies or
/// credentials for this server along. Programs send neither of the two headers.
pub fn is_forged(options: &Options, method: &Method, headers: &HeaderMap) -> bool {
    if matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS) {
        return false;
    }
    match (text_of(headers, SEC_FETCH_SITE), text_of(headers, header::ORIGIN)) {
        (Some(site), _) => !matches!(site, "same-origin" | "none"),
        (None, Some(origin)) => {
            let authority = origin.split_once("://").map(|(_, authority)| authority);
            let is_host = authority.is_some() && authority == text_of(headers, header::HOST);
            !is_host && options.public_url.as_deref() != Some(origin)
        }
        (None, None) => false,
    }
}

/// True if a request comes from this machine, as servers for developers require: the host is a loopback name, and the
/// request comes neither from a page of another site nor through a proxy. A foreign name that resolves to this machine,
/// or a server that forwards requests, would give strangers access.
pub fn is_local(headers: &HeaderMap) -> bool {
    let is_forwarded =
        headers.keys().any(|name| name == header::FORWARDED || name.as_str().starts_with("x-forwarded-"));
    let host = text_of(headers, header::HOST);
    let is_foreign = match (text_of(headers, SEC_FETCH_SITE), headers.get(header::ORIGIN)) {
        (Some(site), _) if !matches!(site, "same-origin" | "none") => true,
        (_, Some(origin)) => {
            let authority = origin.to_str().ok().and_then(|origin| origin.split_once("://"));
            authority.is_none_or(|(_, authority)| Some(authority) != host)
        }
        (_, None) => false,
    };
    !is_forwarded
        && !is_foreign
        && headers.get_all(header::HOST).iter().count() < 2
        && host.is_none_or(is_loopback_name)
}

/// True if a host, with or without a port, is a loopback name, including the one used by emulated Android devices.
fn is_loopback_name(host: &str) -> bool {
    let Ok(url) = url::Url::parse(&format!("http://{host}/")) else { return false };
    match url.host() {
        Some(url::Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(url::Host::Ipv4(address)) => address.is_loopback() || address.octets() == [10, 0, 2, 2],
        Some(url::Host::Ipv6(address)) => IpAddr::V6(address).to_canonical().is_loopback(),
        None => false,
    }
}

/// True if a request comes from a browser, which shows a password prompt if a response challenges it.
pub fn is_from_browser(headers: &HeaderMap) -> bool {
    headers.contains_key(SEC_FETCH_MODE)
        || text_of(headers, header::ACCEPT).is_some_and(|accepted| accepted.contains("text/html"))
}

/// The text of a header; `None` if it is absent or not visible ASCII.
pub fn text_of(headers: &HeaderMap, name: impl AsHeaderName) -> Option<&str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::header::HeaderValue;

    #[test]
    fn dev_servers_answer_local_requests_only() {
        for lines in [
            &[][..],
            &[("host", "127.0.0.1:9991")],
            &[("host", "localhost")],
            &[("host", "chat.localhost:9991")],
            &[("host", "[::1]:9991")],
            &[("host", "10.0.2.2:9991")],
            &[
                ("host", "127.0.0.1:9991"),
                ("origin", "http://127.0.0.1:9991"),
                ("sec-fetch-site", "same-origin"),
            ],
        ] {
            assert!(is_local(&headers(lines)), "{lines:?}");
        }
        for lines in [
            &[("host", "evil.example:9991")][..],
            &[("host", "localhost.evil.example")],
            &[("host", "192.168.1.2")],
            &[("host", "127.0.0.1"), ("host", "127.0.0.1")],
            &[("host", "127.0.0.1"), ("origin", "http://evil.example")],
            &[("host", "127.0.0.1:1"), ("origin", "http://127.0.0.1:2")],
            &[("host", "127.0.0.1"), ("origin", "null")],
            &[("host", "127.0.0.1"), ("sec-fetch-site", "cross-site")],
            &[("host", "127.0.0.1"), ("x-forwarded-for", "127.0.0.1")],
            &[("host", "127.0.0.1"), ("forwarded", "for=127.0.0.1")],
        ] {
            assert!(!is_local(&headers(lines)), "{lines:?}");
        }
    }

    fn headers(lines: &[(&str, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.append(name.parse::<HeaderName>().unwrap(), HeaderValue::from_str(value).unwrap());
        }
        headers
    }

    fn behind(proxies: &[&str], public_url: Option<&str>) -> Options {
        let trusted_proxies = proxies.iter().map(|network| network.parse().unwrap()).collect();
        Options { trusted_proxies, public_url: public_url.map(str::to_owned), ..Options::default() }
    }

    #[test]
    fn the_last_address_that_no_trusted_proxy_has_is_the_client() {
        let proxies = behind(&["127.0.0.1", "10.0.0.0/8"], None);
        let cases: &[(&str, &[&str], &str)] = &[
            ("127.0.0.1", &["203.0.113.1"], "203.0.113.1"),
            ("::ffff:127.0.0.1", &["203.0.113.1"], "203.0.113.1"),
            ("127.0.0.1", &["198.51.100.9, 203.0.113.1"], "203.0.113.1"),
            ("127.0.0.1", &["198.51.100.9, 203.0.113.1, 10.1.2.3"], "203.0.113.1"),
            ("127.0.0.1", &["198.51.100.9", "203.0.113.1"], "203.0.113.1"),
            ("127.0.0.1", &["203.0.113.1:4711"], "203.0.113.1"),
            ("127.0.0.1", &["[2001:db8::1]:4711"], "2001:db8::1"),
            ("127.0.0.1", &["203.0.113.1, unknown"], "127.0.0.1"),
            ("127.0.0.1", &["10.0.0.1, 10.0.0.2"], "10.0.0.1"),
            ("127.0.0.1", &[], "127.0.0.1"),
            ("203.0.113.2", &["198.51.100.9"], "203.0.113.2"),
        ];
        for (peer, lines, expected) in cases {
            let lines: Vec<_> = lines.iter().map(|line| ("x-forwarded-for", *line)).collect();
            let found = client_address(&proxies, &headers(&lines), peer.parse().unwrap());
            assert_eq!(found, expected.parse::<IpAddr>().unwrap(), "{peer} {lines:?}");
        }
        let found = client_address(
            &behind(&[], None),
            &headers(&[("x-forwarded-for", "203.0.113.1")]),
            "127.0.0.1".parse().unwrap(),
        );
        assert_eq!(found, "127.0.0.1".parse::<IpAddr>().unwrap(), "no proxy is trusted by default");
    }

    #[test]
    fn links_use_the_host_of_trusted_requests_only() {
        let sent = headers(&[
            ("host", "a.example:9991"),
            ("x-forwarded-proto", "https"),
            ("x-forwarded-host", "b.example"),
        ]);
        let local = Peer { address: "127.0.0.1".parse().unwrap(), is_secure: false };
        let origin_for = |options: &Options, sent: &HeaderMap| origin(options, sent, local);
        let secure = Peer { is_secure: true, ..local };
        assert_eq!(origin(&behind(&[], None), &sent, secure), "https://a.example:9991");
        assert_eq!(origin_for(&behind(&[], None), &sent), "http://a.example:9991");
        assert_eq!(origin_for(&behind(&["127.0.0.1"], None), &sent), "https://b.example");
        let public = Some("https://chat.example.com");
        assert_eq!(origin_for(&behind(&["127.0.0.1"], public), &sent), "https://chat.example.com");
        for host in ["", "a b", "a/b", "a\"b", "user@a"] {
            assert_eq!(
                origin_for(&behind(&[], None), &headers(&[("host", host)])),
                "http://localhost",
                "{host}"
            );
        }
    }

    #[test]
    fn changes_that_pages_of_other_sites_cause_are_forged() {
        let host = ("host", "chat.example.com:9991");
        let cases: &[(&[(&str, &str)], bool)] = &[
            (&[host], false),
            (&[host, ("origin", "http://chat.example.com:9991")], false),
            (&[host, ("origin", "https://public.example.com")], false),
            (&[host, ("origin", "http://chat.example.com")], true),
            (&[host, ("origin", "https://evil.example")], true),
            (&[host, ("origin", "null")], true),
            (&[("origin", "null")], true),
            (&[host, ("sec-fetch-site", "same-origin"), ("origin", "null")], false),
            (&[host, ("sec-fetch-site", "none")], false),
            (&[host, ("sec-fetch-site", "same-site")], true),
            (&[host, ("sec-fetch-site", "cross-site"), ("origin", "http://chat.example.com:9991")], true),
        ];
        let options = behind(&[], Some("https://public.example.com"));
        for (sent, expected) in cases {
            assert_eq!(is_forged(&options, &Method::POST, &headers(sent)), *expected, "{sent:?}");
            assert!(!is_forged(&options, &Method::GET, &headers(sent)), "{sent:?}");
        }
    }
}

//! Addresses and networks of the internet.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;
use url::{Host, Url};

/// A network in the notation `10.0.0.0/8` or `2001:db8::/32`; an address alone is a network of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network {
    address: IpAddr,
    prefix: u8,
}

/// The text is not a network.
#[derive(Debug, thiserror::Error)]
#[error("'{0}' is not a network such as 10.0.0.0/8, 2001:db8::/32 or 192.0.2.1")]
pub struct NetworkError(String);

impl Network {
    /// The addresses of this machine.
    pub const LOOPBACK: [Self; 2] = [v4([127, 0, 0, 0], 8), v6(1, 128)];

    /// True if an address is in the network. IPv4 addresses may be mapped to IPv6.
    pub fn contains(&self, address: IpAddr) -> bool {
        match (self.address, address.to_canonical()) {
            (IpAddr::V4(network), IpAddr::V4(address)) => {
                let mask = u32::MAX.checked_shl(32 - u32::from(self.prefix)).unwrap_or(0);
                network.to_bits() & mask == address.to_bits() & mask
            }
            (IpAddr::V6(network), IpAddr::V6(address)) => {
                let mask = u128::MAX.checked_shl(128 - u32::from(self.prefix)).unwrap_or(0);
                network.to_bits() & mask == address.to_bits() & mask
            }
            _ => false,
        }
    }
}

impl FromStr for Network {
    type Err = NetworkError;

    fn from_str(text: &str) -> Result<Self, NetworkError> {
        let parsed = || {
            let (address, prefix) = match text.trim().split_once('/') {
                Some((address, prefix)) => (address, Some(prefix)),
                None => (text.trim(), None),
            };
            let address: IpAddr = address.parse().ok()?;
            let longest = if address.is_ipv4() { 32 } else { 128 };
            let prefix = prefix.map_or(Some(longest), |prefix| prefix.parse().ok())?;
            (prefix <= longest).then_some(Self { address, prefix })
        };
        parsed().ok_or_else(|| NetworkError(text.to_owned()))
    }
}

const fn v4(address: [u8; 4], prefix: u8) -> Network {
    let [a, b, c, d] = address;
    Network { address: IpAddr::V4(Ipv4Addr::new(a, b, c, d)), prefix }
}

const fn v6(bits: u128, prefix: u8) -> Network {
    Network { address: IpAddr::V6(Ipv6Addr::from_bits(bits)), prefix }
}

/// The unit of limits by address: an IPv4 address, or the /64 network of an IPv6 address, of which each customer of a
/// provider has at least one.
pub fn address_block(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & (u128::MAX << 64))),
        address @ IpAddr::V4(_) => address,
    }
}

/// The /48 network of an IPv6 address, which is as much as providers give to one customer; `None` for IPv4.
pub fn address_site(address: IpAddr) -> Option<IpAddr> {
    match address.to_canonical() {
        IpAddr::V6(address) => Some(IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & (u128::MAX << 80)))),
        IpAddr::V4(_) => None,
    }
}

/// Networks outside the public internet (the special-purpose registries of IANA), whose services may trust their
/// neighbours: loopback, private networks, carriers' networks, link-local addresses with the metadata services of
/// clouds, documentation, benchmarks, multicast, and reserved ones.
const NOT_PUBLIC: &[Network] = &[
    v4([0, 0, 0, 0], 8),
    v4([10, 0, 0, 0], 8),
    v4([100, 64, 0, 0], 10),
    v4([127, 0, 0, 0], 8),
    v4([169, 254, 0, 0], 16),
    v4([172, 16, 0, 0], 12),
    v4([192, 0, 0, 0], 24),
    v4([192, 0, 2, 0], 24),
    v4([192, 88, 99, 0], 24),
    v4([192, 168, 0, 0], 16),
    v4([198, 18, 0, 0], 15),
    v4([198, 51, 100, 0], 24),
    v4([203, 0, 113, 0], 24),
    v4([224, 0, 0, 0], 3),
];

/// The networks of IPv6 that are handed out to the public, less those below.
const PUBLIC_V6: Network = v6(0x2000 << 112, 3);

/// Parts of [`PUBLIC_V6`] that are documentation, or tunnels to IPv4 addresses of any kind.
const NOT_PUBLIC_V6: &[Network] =
    &[v6(0x2001 << 112, 23), v6(0x2001_0db8 << 96, 32), v6(0x2002 << 112, 16), v6(0x3fff << 112, 20)];

/// The network in which gateways translate IPv6 to IPv4 (RFC 6052).
const NAT64: Network = v6(0x0064_ff9b << 96, 96);

/// True if a URL leads to the machine that opens it.
pub fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

/// True if an address belongs to the public internet.
pub fn is_public(address: IpAddr) -> bool {
    let address = address.to_canonical();
    let in_any = |networks: &[Network]| networks.iter().any(|network| network.contains(address));
    match address {
        IpAddr::V4(_) => !in_any(NOT_PUBLIC),
        IpAddr::V6(translated) if NAT64.contains(address) => {
            is_public(IpAddr::V4(Ipv4Addr::from_bits(translated.to_bits() as u32)))
        }
        IpAddr::V6(_) => PUBLIC_V6.contains(address) && !in_any(NOT_PUBLIC_V6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn networks_contain_their_addresses() {
        let cases = [
            ("10.0.0.0/8", "10.255.0.1", true),
            ("10.0.0.0/8", "11.0.0.1", false),
            ("10.1.2.3/8", "10.9.9.9", true),
            ("0.0.0.0/0", "203.0.113.1", true),
            ("192.0.2.1", "192.0.2.1", true),
            ("192.0.2.1", "192.0.2.2", false),
            ("192.0.2.1", "::ffff:192.0.2.1", true),
            ("2001:db8::/32", "2001:db8:1::1", true),
            ("2001:db8::/32", "2001:db9::1", false),
            ("::/0", "2001:db8::1", true),
            ("::/0", "192.0.2.1", false),
            ("::1", "::1", true),
        ];
        for (network, member, expected) in cases {
            assert_eq!(
                network.parse::<Network>().unwrap().contains(address(member)),
                expected,
                "{network} {member}"
            );
        }
        for text in
            ["", "10", "10.0.0.0/33", "::/129", "10.0.0.0/", "10.0.0.0/-1", "localhost", "10.0.0.0/8/8"]
        {
            assert!(text.parse::<Network>().is_err(), "{text}");
        }
    }

    #[test]
    fn addresses_count_for_their_block() {
        for (text, block) in [
            ("192.0.2.1", "192.0.2.1"),
            ("::ffff:192.0.2.1", "192.0.2.1"),
            ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"),
        ] {
            assert_eq!(address_block(address(text)), address(block));
        }
    }

    #[test]
    fn public_addresses_are_recognized() {
        for text in [
            "1.1.1.1",
            "8.8.8.8",
            "100.63.0.1",
            "172.32.0.1",
            "2606:4700::1111",
            "64:ff9b::1.1.1.1",
            "::ffff:1.1.1.1",
        ] {
            assert!(is_public(address(text)), "{text}");
        }
        for text in [
            "0.0.0.0",
            "10.0.0.1",
            "100.64.0.1",
            "127.0.0.1",
            "127.8.8.8",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.168.1.1",
            "192.0.0.192",
            "198.18.0.1",
            "224.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "::127.0.0.1",
            "fe80::1",
            "fc00::1",
            "fd00:ec2::254",
            "ff02::1",
            "64:ff9b::10.0.0.1",
            "64:ff9b:1::1",
            "2001::1",
            "2001:db8::1",
            "2002:7f00:1::",
            "100::1",
        ] {
            assert!(!is_public(address(text)), "{text}");
        }
    }
}

//! Limits on open connections: in all, and of one address.

use crate::types::{Network, address_block};
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

/// The most connections of one address, or of one /64 network of IPv6. An office behind one address has some for each
/// client.
const PER_ADDRESS: usize = 256;

/// The most connections in all.
const TOTAL: usize = 16_384;

/// The file descriptors that are left for the database and for outgoing connections.
const OTHER_DESCRIPTORS: usize = 128;

/// The limits, and what counts for them.
pub struct ConnectionLimits {
    total: usize,
    per_address: usize,
    /// Networks whose addresses have no limit of their own.
    exempt: Vec<Network>,
    open: Mutex<Open>,
}

#[derive(Default)]
struct Open {
    total: usize,
    by_address: HashMap<IpAddr, usize>,
}

/// The place of an open connection, until it is dropped.
pub struct Place {
    limits: Arc<ConnectionLimits>,
    address: IpAddr,
}

impl ConnectionLimits {
    /// The limits of a server with so many file descriptors, behind these proxies. What comes from a proxy, or from
    /// this machine, stands for many clients and has no limit of its own; `per_address` overrides the limit of one
    /// address, and then holds for this machine, too.
    pub fn new(descriptors: usize, trusted_proxies: &[Network], per_address: Option<usize>) -> Self {
        let mut exempt = trusted_proxies.to_vec();
        if per_address.is_none() {
            exempt.extend(Network::LOOPBACK);
        }
        Self {
            total: TOTAL.min(descriptors.saturating_sub(OTHER_DESCRIPTORS).max(OTHER_DESCRIPTORS)),
            per_address: per_address.unwrap_or(PER_ADDRESS),
            exempt,
            open: Mutex::default(),
        }
    }

    /// Takes a place for a connection from this address; `None` if there are too many.
    pub fn take(self: &Arc<Self>, peer: IpAddr) -> Option<Place> {
        let is_exempt = self.exempt.iter().any(|network| network.contains(peer));
        let address = address_block(peer);
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if open.total >= self.total {
            return None;
        }
        let of_address = open.by_address.entry(address).or_default();
        if *of_address >= self.per_address && !is_exempt {
            return None;
        }
        *of_address += 1;
        open.total += 1;
        Some(Place { limits: Arc::clone(self), address })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut open = self.limits.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.total -= 1;
        if let Some(of_address) = open.by_address.get_mut(&self.address) {
            *of_address -= 1;
            if *of_address == 0 {
                open.by_address.remove(&self.address);
            }
        }
    }
}

/// Raises the number of files that this process may have open as far as the system allows, and returns it.
pub fn raise_descriptor_limit() -> usize {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        const UNLIMITED: u64 = 1 << 20;
        let limit = getrlimit(Resource::Nofile);
        let wanted = limit.maximum.unwrap_or(UNLIMITED).min(UNLIMITED);
        let raised = Rlimit { current: Some(wanted), maximum: limit.maximum };
        let reached = match setrlimit(Resource::Nofile, raised) {
            Ok(()) => wanted,
            Err(_) => limit.current.unwrap_or(UNLIMITED),
        };
        usize::try_from(reached).unwrap_or(usize::MAX)
    }
    #[cfg(not(unix))]
    usize::MAX
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(descriptors: usize, per_address: usize) -> Arc<ConnectionLimits> {
        let proxies = ["203.0.113.7".parse().unwrap()];
        let limits = ConnectionLimits::new(descriptors, &proxies, None);
        Arc::new(ConnectionLimits { per_address, ..limits })
    }

    fn take(limits: &Arc<ConnectionLimits>, address: &str) -> Option<Place> {
        limits.take(address.parse().unwrap())
    }

    #[test]
    fn one_address_takes_its_part_and_no_more() {
        let limits = limits(1000, 2);
        let (first, second) = (take(&limits, "198.51.100.1"), take(&limits, "::ffff:198.51.100.1"));
        assert!(first.is_some() && second.is_some());
        assert!(take(&limits, "198.51.100.1").is_none());
        assert!(take(&limits, "198.51.100.2").is_some());
        drop(second);
        assert!(take(&limits, "198.51.100.1").is_some());
    }

    #[test]
    fn an_address_of_ipv6_is_its_network() {
        let limits = limits(1000, 2);
        let _open = [take(&limits, "2001:db8::1").unwrap(), take(&limits, "2001:db8::ffff:2").unwrap()];
        assert!(take(&limits, "2001:db8::3").is_none());
        assert!(take(&limits, "2001:db8:0:1::3").is_some());
    }

    #[test]
    fn this_machine_and_proxies_share_only_the_limit_in_all() {
        let limits = limits(328, 2);
        let sources = ["127.0.0.1", "::1", "203.0.113.7"];
        let open: Vec<Place> = sources.iter().cycle().map_while(|address| take(&limits, address)).collect();
        assert_eq!(open.len(), 200);
        assert!(take(&limits, "198.51.100.1").is_none());
        drop(open);
        assert!(take(&limits, "198.51.100.1").is_some());
        assert!(limits.open.lock().unwrap().by_address.is_empty());
    }
}

//! Limits on connections: open ones, in all and of one address, and those that HTTP/1.1 and HTTP/2 share.

use crate::http::budgets::{Budget, Reservation};
use crate::metrics::Count;
use crate::pool::Owner;
use crate::types::{Network, address_block};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

/// The largest head of a request in bytes, far more than published clients send.
pub const HEAD_LIMIT: usize = 64 * 1024;

/// The bytes of a head that each connection may have. Longer heads share a budget.
pub const FREE_HEAD: usize = 8 * 1024;

/// The time for a request on a new connection when the server stops, and the interval in which it is looked for.
pub const NEW_LINGER: Duration = Duration::from_secs(1);
pub const LINGER_STEP: Duration = Duration::from_millis(20);

/// The most connections of one address, or of one /64 network of IPv6. An office behind one address has some for each
/// client.
const PER_ADDRESS: usize = 256;

/// The most connections in all.
const TOTAL: usize = 16_384;

/// The memory of this process for each connection. One takes up to a third of it, beside what budgets limit.
const MEMORY_EACH: u64 = 64 * 1024;

/// The file descriptors that are left for the database and for outgoing connections.
const OTHER_DESCRIPTORS: usize = 128;

/// The error for a client with too many connections, or with too many requests over HTTP/2.
pub const TOO_MANY_CONNECTIONS: &str = "There are too many connections. Please try again in a moment.";

/// The limits and the open connections.
pub struct ConnectionLimits {
    total: usize,
    per_address: usize,
    /// Networks whose addresses have no limit of their own.
    exempt: Vec<Network>,
    heads: Budget,
    open: Mutex<Open>,
    refusals: Count,
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
    /// Creates the limits of a server with this number of file descriptors, and this memory. Proxies and loopback are exempt
    /// from the per-address limit; `per_address` overrides that limit, and then applies to loopback too.
    pub fn new(
        descriptors: usize,
        memory: Option<u64>,
        trusted_proxies: &[Network],
        per_address: Option<usize>,
    ) -> Self {
        let mut exempt = trusted_proxies.to_vec();
        if per_address.is_none() {
            exempt.extend(Network::LOOPBACK);
        }
        Self {
            total: TOTAL
                .min(memory.map_or(TOTAL, |memory| usize::try_from(memory / MEMORY_EACH).unwrap_or(TOTAL)))
                .min(descriptors.saturating_sub(OTHER_DESCRIPTORS).max(OTHER_DESCRIPTORS)),
            per_address: per_address.unwrap_or(PER_ADDRESS),
            exempt,
            heads: Budget::of_heads(memory),
            open: Mutex::default(),
            refusals: Count::default(),
        }
    }

    /// The number of open connections, and of requests beside the first of each.
    pub fn open(&self) -> usize {
        self.open.lock().total
    }

    /// The number of refusals.
    pub fn refusals(&self) -> u64 {
        self.refusals.get()
    }

    /// The budget of long heads.
    pub fn heads(&self) -> &Budget {
        &self.heads
    }

    fn is_exempt(&self, peer: IpAddr) -> bool {
        self.exempt.iter().any(|network| network.contains(peer))
    }

    /// Takes a place for a connection from this address; `None` if there are too many.
    pub fn take(self: &Arc<Self>, peer: IpAddr) -> Option<Place> {
        let is_exempt = self.is_exempt(peer);
        let address = address_block(peer);
        let mut open = self.open.lock();
        if open.total >= self.total {
            self.refusals.increment();
            return None;
        }
        let of_address = open.by_address.entry(address).or_default();
        if *of_address >= self.per_address && !is_exempt {
            self.refusals.increment();
            return None;
        }
        *of_address += 1;
        open.total += 1;
        Some(Place { limits: Arc::clone(self), address })
    }
}

/// The memory for long heads of one connection, or of one request of HTTP/2, until it is dropped.
pub struct Heads {
    limits: Arc<ConnectionLimits>,
    peer: IpAddr,
    bytes: usize,
    reservation: Option<Reservation>,
}

impl Heads {
    /// None yet, for this address.
    pub fn of(limits: Arc<ConnectionLimits>, peer: IpAddr) -> Self {
        Self { limits, peer, bytes: 0, reservation: None }
    }

    /// Reserves memory for heads of this many bytes together. Returns `false` if there is none.
    pub fn grow_to(&mut self, bytes: usize) -> bool {
        if bytes <= self.bytes.max(FREE_HEAD) {
            return true;
        }
        let Self { limits, peer, .. } = self;
        let reservation = self.reservation.get_or_insert_with(|| {
            let is_exempt = limits.is_exempt(*peer);
            limits.heads.begin(if is_exempt { Owner::Proxied } else { Owner::Address(address_block(*peer)) })
        });
        let has_room = reservation.grow(bytes - self.bytes).is_ok();
        if has_room {
            self.bytes = bytes;
        }
        has_room
    }

    /// The bytes that were asked for.
    #[cfg(test)]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Gives back all.
    pub fn release(&mut self) {
        self.bytes = 0;
        self.reservation = None;
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut open = self.limits.open.lock();
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
        let limits = ConnectionLimits::new(descriptors, None, &proxies, None);
        Arc::new(ConnectionLimits { per_address, ..limits })
    }

    fn take(limits: &Arc<ConnectionLimits>, address: &str) -> Option<Place> {
        limits.take(address.parse().unwrap())
    }

    #[test]
    fn addresses_have_a_share_of_the_budget() {
        let limits = limits(1000, 2);
        let (first, second) = (take(&limits, "198.51.100.1"), take(&limits, "::ffff:198.51.100.1"));
        assert!(first.is_some() && second.is_some());
        assert!(take(&limits, "198.51.100.1").is_none());
        assert!(take(&limits, "198.51.100.2").is_some());
        drop(second);
        assert!(take(&limits, "198.51.100.1").is_some());
    }

    #[test]
    fn a_small_machine_has_fewer_connections() {
        let total = |memory| ConnectionLimits::new(1 << 20, memory, &[], None).total;
        assert_eq!(total(None), 16_384);
        assert_eq!(total(Some(4 << 30)), 16_384);
        assert_eq!(total(Some(512 << 20)), 8192);
    }

    #[test]
    fn an_address_of_ipv6_is_its_network() {
        let limits = limits(1000, 2);
        let _open = [take(&limits, "2001:db8::1").unwrap(), take(&limits, "2001:db8::ffff:2").unwrap()];
        assert!(take(&limits, "2001:db8::3").is_none());
        assert!(take(&limits, "2001:db8:0:1::3").is_some());
    }

    #[test]
    fn loopback_and_proxies_have_no_limit_per_address() {
        let limits = limits(328, 2);
        let sources = ["127.0.0.1", "::1", "203.0.113.7"];
        let open: Vec<Place> = sources.iter().cycle().map_while(|address| take(&limits, address)).collect();
        assert_eq!(open.len(), 200);
        assert!(take(&limits, "198.51.100.1").is_none());
        drop(open);
        assert!(take(&limits, "198.51.100.1").is_some());
        assert!(limits.open.lock().by_address.is_empty());
    }
}

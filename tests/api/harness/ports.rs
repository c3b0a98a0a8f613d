//! Ports that a test needs before anything listens there.

use std::net::{Ipv4Addr, SocketAddr};
use tokio::net::TcpSocket;

/// A port of this machine that is bound, and does not listen: it refuses connections, and the system gives it to no other
/// program. One that asks for this very port can listen there, as often as it starts.
pub struct ReservedPort {
    address: SocketAddr,
    _socket: Option<TcpSocket>,
}

impl ReservedPort {
    pub fn new() -> Self {
        let socket = TcpSocket::new_v4().unwrap();
        socket.set_reuseaddr(true).unwrap();
        socket.bind((Ipv4Addr::LOCALHOST, 0).into()).unwrap();
        let address = socket.local_addr().unwrap();
        // Elsewhere nothing could listen beside it.
        Self { address, _socket: cfg!(target_os = "linux").then_some(socket) }
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

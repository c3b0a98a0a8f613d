//! Connections of commands to servers, with a time limit for each step.

use std::io::{Read, Result, Write};
use std::net::TcpStream;
#[cfg(unix)]
use std::os::unix::net::UnixStream;
use std::time::Duration;
use teamchat::server::ListenAddress;

/// A connection of any kind.
pub trait Stream: Read + Write {}
impl<S: Read + Write> Stream for S {}

/// Connects to an address. Each read and write then fails after the same time.
pub fn connect(address: &ListenAddress, timeout: Duration) -> Result<Box<dyn Stream>> {
    match address {
        ListenAddress::Tcp(address) => {
            let stream = TcpStream::connect_timeout(address, timeout)?;
            stream.set_read_timeout(Some(timeout))?;
            stream.set_write_timeout(Some(timeout))?;
            Ok(Box::new(stream))
        }
        #[cfg(unix)]
        ListenAddress::Unix(path) => {
            let stream = UnixStream::connect(path)?;
            stream.set_read_timeout(Some(timeout))?;
            stream.set_write_timeout(Some(timeout))?;
            Ok(Box::new(stream))
        }
    }
}

//! The sockets that a server listens on: its own, and those that systemd passes to it.

use std::fmt::{Display, Formatter};
use std::io::{Error, ErrorKind, Result};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs};
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;
use tokio::net::{TcpListener, TcpSocket, TcpStream};

/// The address of a listener.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListenAddress {
    /// An address and a port. With port 0 the system picks one.
    Tcp(SocketAddr),
    /// The path of a Unix socket.
    #[cfg(unix)]
    Unix(PathBuf),
}

/// The prefix of paths among addresses.
const UNIX_PREFIX: &str = "unix:";

impl FromStr for ListenAddress {
    type Err = String;

    /// Reads `ADDR:PORT`, or `unix:PATH`. A name in place of an address is looked up, and IPv4 preferred.
    fn from_str(text: &str) -> std::result::Result<Self, String> {
        if let Some(path) = text.strip_prefix(UNIX_PREFIX) {
            return unix_address(path);
        }
        if let Ok(address) = text.parse() {
            return Ok(Self::Tcp(address));
        }
        let usage = "write ADDR:PORT, for example 127.0.0.1:9991, [::1]:9991 or 0.0.0.0:9991, or unix:PATH";
        let addresses = text.to_socket_addrs().map_err(|error| match error.kind() {
            ErrorKind::InvalidInput => usage.to_owned(),
            _ => format!("{error}; {usage}"),
        })?;
        let mut addresses: Vec<SocketAddr> = addresses.collect();
        addresses.sort_by_key(SocketAddr::is_ipv6);
        addresses.first().copied().map(Self::Tcp).ok_or_else(|| usage.to_owned())
    }
}

#[cfg(unix)]
fn unix_address(path: &str) -> std::result::Result<ListenAddress, String> {
    if path.is_empty() {
        return Err("write unix: and the path of a socket, for example unix:/run/teamchat/http".to_owned());
    }
    Ok(ListenAddress::Unix(PathBuf::from(path)))
}

#[cfg(not(unix))]
fn unix_address(_path: &str) -> std::result::Result<ListenAddress, String> {
    Err("this system has no Unix sockets".to_owned())
}

impl Display for ListenAddress {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Tcp(address) => write!(f, "{address}"),
            #[cfg(unix)]
            Self::Unix(path) => write!(f, "{UNIX_PREFIX}{}", path.display()),
        }
    }
}

impl ListenAddress {
    /// True if only this machine can reach it.
    pub fn is_local(&self) -> bool {
        match self {
            Self::Tcp(address) => address.ip().to_canonical().is_loopback(),
            #[cfg(unix)]
            Self::Unix(_) => true,
        }
    }

    /// The address at which programs on this machine reach it: none connects to `0.0.0.0`.
    #[must_use]
    pub fn here(&self) -> Self {
        match self {
            Self::Tcp(address) if address.ip().is_unspecified() => {
                let ip: IpAddr =
                    if address.is_ipv4() { Ipv4Addr::LOCALHOST.into() } else { Ipv6Addr::LOCALHOST.into() };
                Self::Tcp(SocketAddr::new(ip, address.port()))
            }
            address => address.clone(),
        }
    }

    /// The base of URLs with this address. Sockets with a path have no URL, and are written as they are.
    pub fn url(&self, is_secure: bool) -> String {
        match self {
            Self::Tcp(address) => format!("http{}://{address}", if is_secure { "s" } else { "" }),
            #[cfg(unix)]
            Self::Unix(_) => self.to_string(),
        }
    }
}

/// The most connections that wait to be accepted, if the system allows it. Clients try others again only after a second.
const BACKLOG: u32 = 4096;

/// A socket that listens.
pub enum Listener {
    Tcp(TcpListener),
    /// A Unix socket.
    #[cfg(unix)]
    Unix(unix::Listener),
}

impl Listener {
    /// Listens on an address, in a runtime. `mode` holds the permissions of a socket with a path.
    pub fn bind(address: &ListenAddress, mode: u32) -> Result<Self> {
        match address {
            ListenAddress::Tcp(address) => {
                let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
                // A server that has just stopped leaves connections that keep the address.
                #[cfg(unix)]
                socket.set_reuseaddr(true)?;
                socket.bind(*address)?;
                socket.listen(BACKLOG).map(Self::Tcp)
            }
            #[cfg(unix)]
            ListenAddress::Unix(path) => unix::Listener::bind(path, mode).map(Self::Unix),
        }
    }

    /// The address, with the port that the system has picked.
    pub fn address(&self) -> Result<ListenAddress> {
        match self {
            Self::Tcp(listener) => listener.local_addr().map(ListenAddress::Tcp),
            #[cfg(unix)]
            Self::Unix(listener) => Ok(ListenAddress::Unix(listener.path().to_owned())),
        }
    }
}

/// Accepts connections.
pub trait Accept: Send + Sync + 'static {
    /// A connection.
    type Stream: Send + 'static;

    /// Waits for a connection, and returns it with the address of the client.
    fn accept(&self) -> impl Future<Output = Result<(Self::Stream, IpAddr)>> + Send;
}

impl Accept for TcpListener {
    type Stream = TcpStream;

    async fn accept(&self) -> Result<(TcpStream, IpAddr)> {
        let (stream, peer) = Self::accept(self).await?;
        Ok((stream, peer.ip()))
    }
}

/// Waits for the next connection, and tries again after a pause if one cannot be accepted: most likely there are no file
/// descriptors left until others end. `what` names it in the log.
pub async fn next_connection<L: Accept>(listener: &L, what: &str) -> (L::Stream, IpAddr) {
    loop {
        match listener.accept().await {
            Ok(accepted) => return accepted,
            Err(error) => {
                tracing::warn!(%error, "{what} could not be accepted");
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }
}

/// The sockets that systemd passes (`LISTEN_FDS`), in the order of the socket unit. They are taken once.
#[cfg(unix)]
pub fn inherited() -> Result<Vec<Listener>> {
    let mut sockets = listenfd::ListenFd::from_env();
    let count = sockets.len();
    let take = |index| {
        if let Ok(Some(listener)) = sockets.take_tcp_listener(index) {
            listener.set_nonblocking(true)?;
            return TcpListener::from_std(listener).map(Listener::Tcp);
        }
        match sockets.take_unix_listener(index) {
            Ok(Some(listener)) => unix::Listener::inherit(listener).map(Listener::Unix),
            _ => Err(Error::new(
                ErrorKind::InvalidInput,
                format!("the passed socket {index} is neither a TCP socket nor a Unix stream socket"),
            )),
        }
    };
    (0..count).map(take).collect()
}

/// Only systemd passes sockets.
#[cfg(not(unix))]
pub fn inherited() -> Result<Vec<Listener>> {
    Ok(Vec::new())
}

#[cfg(unix)]
mod unix {
    use super::Accept;
    use std::io::{Error, ErrorKind, Result};
    use std::net::{IpAddr, Ipv4Addr};
    use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
    use std::path::{Path, PathBuf};
    use tokio::net::{UnixListener, UnixStream};

    /// A Unix socket. One that this process has created is removed when this is dropped.
    pub struct Listener {
        socket: UnixListener,
        path: PathBuf,
        /// The inode of a socket of this process.
        created: Option<u64>,
    }

    impl Listener {
        /// Creates a socket, in place of one that a killed server left behind. It never exists with other permissions.
        pub(super) fn bind(path: &Path, mode: u32) -> Result<Self> {
            check_stale(path)?;
            let mut draft = path.as_os_str().to_owned();
            draft.push(format!(".{}", std::process::id()));
            let draft = PathBuf::from(draft);
            let socket = UnixListener::bind(&draft)?;
            let place = || {
                std::fs::set_permissions(&draft, std::fs::Permissions::from_mode(mode))?;
                std::fs::rename(&draft, path)?;
                Ok(std::fs::symlink_metadata(path)?.ino())
            };
            let created = place().inspect_err(|_: &Error| {
                // The error that is reported came first.
                let _left = std::fs::remove_file(&draft);
            })?;
            Ok(Self { socket, path: std::path::absolute(path)?, created: Some(created) })
        }

        /// Takes a socket of another process, which also removes it.
        pub(super) fn inherit(socket: std::os::unix::net::UnixListener) -> Result<Self> {
            socket.set_nonblocking(true)?;
            let path = socket.local_addr()?.as_pathname().unwrap_or(Path::new("@")).to_owned();
            Ok(Self { socket: UnixListener::from_std(socket)?, path, created: None })
        }

        pub(super) fn path(&self) -> &Path {
            &self.path
        }
    }

    /// Refuses a path that another server listens on, or that is no socket.
    fn check_stale(path: &Path) -> Result<()> {
        match std::fs::symlink_metadata(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            Err(error) => Err(error),
            Ok(found) if !found.file_type().is_socket() => {
                Err(Error::new(ErrorKind::AlreadyExists, "there is a file of this name that is no socket"))
            }
            Ok(_) => match std::os::unix::net::UnixStream::connect(path) {
                Err(error) if error.kind() == ErrorKind::ConnectionRefused => Ok(()),
                Err(error) => Err(error),
                Ok(_) => Err(Error::new(ErrorKind::AddrInUse, "another process listens there")),
            },
        }
    }

    impl Drop for Listener {
        fn drop(&mut self) {
            let now = std::fs::symlink_metadata(&self.path).map(|found| found.ino()).ok();
            if self.created.is_some() && now == self.created {
                // Otherwise the next start replaces it.
                let _left = std::fs::remove_file(&self.path);
            }
        }
    }

    impl Accept for Listener {
        type Stream = UnixStream;

        /// Clients of a Unix socket count as this machine, as those of a proxy on it.
        async fn accept(&self) -> Result<(UnixStream, IpAddr)> {
            let (stream, _) = self.socket.accept().await?;
            Ok((stream, Ipv4Addr::LOCALHOST.into()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> std::result::Result<String, String> {
        text.parse::<ListenAddress>().map(|address| address.to_string())
    }

    #[test]
    fn addresses_to_listen_on_may_be_names_and_paths() {
        for text in ["127.0.0.1:7410", "[::1]:0"] {
            assert_eq!(parse(text).unwrap(), text);
        }
        let localhost: ListenAddress = "localhost:7410".parse().unwrap();
        assert!(localhost.is_local() && localhost.to_string().ends_with(":7410"));
        for text in ["7410", "127.0.0.1", ":7410", "127.0.0.1:70000", ""] {
            assert!(parse(text).unwrap_err().contains("ADDR:PORT"), "{text}");
        }
    }

    #[test]
    fn an_address_for_all_is_reached_at_loopback() {
        for (text, here, is_local) in [
            ("0.0.0.0:80", "http://127.0.0.1:80", false),
            ("[::]:80", "http://[::1]:80", false),
            ("[::ffff:127.0.0.1]:80", "http://[::ffff:127.0.0.1]:80", true),
            ("192.0.2.1:80", "http://192.0.2.1:80", false),
        ] {
            let address: ListenAddress = text.parse().unwrap();
            assert_eq!((address.here().url(false).as_str(), address.is_local()), (here, is_local), "{text}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn sockets_with_a_path_have_no_url() {
        let socket: ListenAddress = "unix:/run/x".parse().unwrap();
        assert_eq!((socket.here().url(true).as_str(), socket.is_local()), ("unix:/run/x", true));
        assert!(parse("unix:").unwrap_err().contains("the path of a socket"));
    }
}

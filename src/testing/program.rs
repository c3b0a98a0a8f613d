//! A test server as the program runs it: with its control on an address of its own.

use super::control;
use super::double::{Double, DoubleError, Settings};
use super::fixtures::{self, Fixtures};
use crate::app::App;
use crate::http::ApiResult;
use crate::server::{ListenAddress, StartError};
use crate::store::{Database, OpenError};
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;

/// A test server and its control.
pub struct Program {
    double: Arc<Double>,
    control: Option<SocketAddr>,
    stop: watch::Sender<bool>,
    tasks: JoinSet<()>,
}

impl Program {
    /// Starts a server, and its control if there is an address for it.
    pub async fn start(
        mut settings: Settings,
        address: SocketAddr,
        control: Option<SocketAddr>,
    ) -> Result<Self, DoubleError> {
        settings.is_controlled = control.is_some();
        let listener = match control {
            Some(address) => {
                let refused = |source| StartError::Listen { address: ListenAddress::Tcp(address), source };
                let listener = TcpListener::bind(address).await.map_err(refused)?;
                let address = listener.local_addr().map_err(refused)?;
                Some((listener, address))
            }
            None => None,
        };
        let double = Arc::new(Double::start(settings, address).await?);
        let (stop, stopped) = watch::channel(false);
        let mut tasks = JoinSet::new();
        let control = listener.map(|(listener, address)| {
            tasks.spawn(control::serve(listener, Arc::clone(&double), stopped));
            address
        });
        Ok(Self { double, control, stop, tasks })
    }

    /// The address that the server listens on.
    pub fn address(&self) -> SocketAddr {
        self.double.address()
    }

    /// The address of the control.
    pub fn control(&self) -> Option<SocketAddr> {
        self.control
    }

    /// The shared state of the server.
    pub async fn app(&self) -> ApiResult<Arc<App>> {
        self.double.app().await
    }

    /// Stops cleanly.
    pub async fn stop(mut self) {
        self.stop.send_replace(true);
        while self.tasks.join_next().await.is_some() {}
        self.double.stop().await;
    }
}

/// Why a database cannot be written as fixtures.
#[derive(Debug, thiserror::Error)]
pub enum DumpError {
    /// It cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// It cannot be read.
    #[error("the database cannot be read: {0}")]
    Read(String),
}

/// The contents of a file as fixtures, also while a server has it open.
pub fn dump(path: &Path) -> Result<Fixtures, DumpError> {
    let connection = Database::connect_reader(path)?;
    fixtures::dump(&connection).map_err(|error| DumpError::Read(error.msg().to_owned()))
}

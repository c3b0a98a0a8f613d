//! The listener for mail: SMTP and LMTP (RFC 5321, RFC 2033), from the mail server that delivers to this one.
//!
//! Only addresses that the server gave out are recipients; it passes no mail on. There is no TLS and no authentication: the
//! secret is in the address, and the listener belongs on this machine or in a private network.

mod session;
mod wire;

use super::connection_limits::ConnectionLimits;
use super::listeners::{Accept, Listener, next_connection};
use crate::app::App;
use crate::http::budgets::Budget;
use crate::memory;
use crate::types::Network;
use session::{Session, Shared};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::sync::watch;
use tokio::task::JoinSet;

/// The most connections of one address. Those of this machine and of trusted proxies have only the limit of all.
const PER_ADDRESS: usize = 16;

/// The longest time of a connection.
const SESSION_TIMEOUT: Duration = Duration::from_secs(30 * 60);

/// Receives mail until the server stops. Without a pattern of addresses there are no recipients.
pub async fn serve(listener: Listener, app: Arc<App>, stopped: watch::Receiver<bool>) {
    match listener {
        Listener::Tcp(listener) => accept(listener, app, stopped).await,
        #[cfg(unix)]
        Listener::Unix(listener) => accept(listener, app, stopped).await,
    }
}

/// The limits of connections for mail: 128 in all, which is the least that [`ConnectionLimits`] has.
fn limits(app: &App) -> ConnectionLimits {
    let mut exempt = app.options.trusted_proxies.clone();
    if app.options.overrides.connections_per_address.is_none() {
        exempt.extend(Network::LOOPBACK);
    }
    let per_address = app.options.overrides.connections_per_address.unwrap_or(PER_ADDRESS);
    ConnectionLimits::new(0, None, &exempt, Some(per_address))
}

async fn accept<L>(listener: L, app: Arc<App>, mut stopped: watch::Receiver<bool>)
where
    L: Accept<Stream: AsyncRead + AsyncWrite + Unpin>,
{
    let limits = Arc::new(limits(&app));
    let shared = Arc::new(Shared { app, budget: Budget::of_mails(memory::limit()) });
    let mut open = JoinSet::new();
    loop {
        tokio::select! {
            (stream, address) = next_connection(&listener, "a connection for mail") => {
                if let Some(place) = limits.take(address) {
                    let session = Session::new(Arc::clone(&shared), stream, address);
                    let stopped = stopped.clone();
                    open.spawn(async move {
                        let _ended = tokio::time::timeout(SESSION_TIMEOUT, session.run(stopped)).await;
                        drop(place);
                    });
                } else {
                    open.spawn(refuse(stream));
                }
            }
            Some(_) = open.join_next() => {}
            _ = stopped.changed() => break,
        }
    }
    drop(listener);
    while open.join_next().await.is_some() {}
}

/// Answers a connection that is one too many.
async fn refuse(mut stream: impl AsyncWrite + Unpin) {
    let refusal = stream.write_all(b"421 4.7.0 Too many connections\r\n");
    let _unheard = tokio::time::timeout(Duration::from_secs(1), refusal).await;
}

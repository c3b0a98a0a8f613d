//! The floors: the least a server in this language, on this machine, has to do for the same answer.
//!
//! A floor runs as its own process, as the server under test does: this program starts itself again with `floor MODE`.
//! It is a bare hyper service: no accounts, no rules, no events. It ends when its standard input does.

use std::convert::Infallible;
use std::future::Future;
use std::io::{Read, Write};
use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::process::Command;
use std::thread;

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;

use crate::Outcome;

pub mod read;
pub mod send;
pub mod wait;

/// A kind of floor.
pub enum Floor {
    /// Group commit into this file, which is made.
    Send(PathBuf),
    /// The newest 100 rows of a channel from this file, made by [`read::create`].
    Read(PathBuf),
    /// GETs that wait for the body of a POST.
    Wait,
}

impl Floor {
    /// The command that starts it.
    pub fn command(&self) -> Outcome<Command> {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg("floor");
        match self {
            Self::Send(path) => command.arg("send").arg(path),
            Self::Read(path) => command.arg("read").arg(path),
            Self::Wait => command.arg("wait"),
        };
        Ok(command)
    }
}

/// Runs the floor that the arguments after `floor` name, until standard input ends.
pub fn run(mut arguments: impl Iterator<Item = String>) -> Outcome<()> {
    let mode = arguments.next().unwrap_or_default();
    let path = arguments.next().map(PathBuf::from);
    thread::spawn(|| {
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        std::process::exit(0);
    });
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    match (mode.as_str(), path) {
        ("send", Some(path)) => runtime.block_on(send::serve(path)),
        ("read", Some(path)) => runtime.block_on(read::serve(path)),
        ("wait", None) => runtime.block_on(wait::serve()),
        _ => Err("floor send FILE | floor read FILE | floor wait".into()),
    }
}

/// Serves every connection with `answer`, on a port of 127.0.0.1 that is printed.
#[expect(clippy::disallowed_methods, reason = "a bare server has no graceful end: the process ends")]
async fn serve<Answering, Answered>(answer: Answering) -> Outcome<()>
where
    Answering: Fn(Request<Incoming>) -> Answered + Clone + Send + 'static,
    Answered: Future<Output = Response<Full<Bytes>>> + Send + 'static,
{
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    writeln!(std::io::stdout(), "{}", listener.local_addr()?)?;
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let answer = answer.clone();
        tokio::spawn(async move {
            let service = service_fn(move |request| {
                let answered = answer(request);
                async move { Ok::<_, Infallible>(answered.await) }
            });
            // Disconnects of clients are expected.
            let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
        });
    }
}

/// A JSON response; the status indicates success.
fn json(status: u16, body: impl Into<Bytes>) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(body.into()));
    *response.status_mut() = hyper::StatusCode::from_u16(status).unwrap_or_default();
    response
        .headers_mut()
        .insert(hyper::header::CONTENT_TYPE, hyper::header::HeaderValue::from_static("application/json"));
    response
}

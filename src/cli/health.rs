//! `teamchat health`: asks a server whether it does its work.

use super::common::Failure;
use super::serve::DEFAULT_ADDRESS;
use clap::Args;
use serde_json::Value;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;
use url::Url;

/// How long the server has for each step.
const PATIENCE: Duration = Duration::from_secs(10);

/// The longest answer that is read, in bytes.
const MAX_ANSWER: u64 = 64 << 10;

#[derive(Args)]
pub(super) struct Health {
    /// The address of the server: http:// with host and port. A server behind a proxy is asked on this machine.
    #[arg(long, env = "TEAMCHAT_URL", value_name = "URL", default_value_t = format!("http://{DEFAULT_ADDRESS}"), value_parser = parse_url)]
    url: String,
}

fn parse_url(text: &str) -> Result<String, String> {
    let example = format!("write it like http://{DEFAULT_ADDRESS}");
    let url = Url::parse(text).map_err(|error| format!("{error}; {example}"))?;
    if url.scheme() != "http" || !url.has_host() {
        return Err(format!("it begins with http://; {example}"));
    }
    Ok(url.origin().ascii_serialization())
}

impl Health {
    pub(super) fn run(self) -> Result<(), Failure> {
        let (status, body) =
            ask(&self.url).map_err(|error| format!("{} does not answer: {error}", self.url))?;
        if status == 200 {
            return Ok(());
        }
        let answer: Value = serde_json::from_str(&body).unwrap_or_default();
        let what = answer["msg"].as_str().unwrap_or("it is no server of this kind, or an older one");
        Err(format!("{} answers with status {status}: {what}", self.url).into())
    }
}

/// Sends `GET /health`, and returns status and body of the answer.
fn ask(url: &str) -> Result<(u16, String), Failure> {
    let url = Url::parse(url)?;
    let address = url.socket_addrs(|| None)?.into_iter().next().ok_or("there is no such host")?;
    let mut stream = TcpStream::connect_timeout(&address, PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let host = url.authority();
    write!(
        stream,
        "GET /health HTTP/1.1\r\nHost: {host}\r\nUser-Agent: teamchat-health\r\nConnection: close\r\n\r\n"
    )?;
    let mut answer = Vec::new();
    stream.take(MAX_ANSWER).read_to_end(&mut answer)?;
    let answer = String::from_utf8_lossy(&answer);
    let (head, body) = answer.split_once("\r\n\r\n").ok_or("the answer is not HTTP")?;
    let status =
        head.split(' ').nth(1).and_then(|status| status.parse().ok()).ok_or("the answer is not HTTP")?;
    Ok((status, body.to_owned()))
}

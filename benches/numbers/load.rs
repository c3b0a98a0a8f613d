//! The load generator: a small HTTP/1.1 client over tokio's sockets, cheap enough not to distort the measurement.
//!
//! Both sides of a comparison use the same client, the same number of connections and requests of the same size.

use std::io::{Error, ErrorKind};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tokio::net::TcpStream;
use tokio::task::JoinSet;

use crate::Outcome;

/// Writes the request of that number into the (empty) buffer.
pub type MakeRequest = Arc<dyn Fn(u64, &mut Vec<u8>) + Send + Sync>;

/// Gives every request of a run its own number, so that no two messages are the same.
static NEXT_NUMBER: AtomicU64 = AtomicU64::new(1);

/// One keep-alive connection.
pub struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
    filled: usize,
}

/// A response; a chunked body is decoded.
pub struct Answer<'a> {
    /// The HTTP status.
    pub status: u16,
    /// The whole body.
    pub body: &'a [u8],
}

/// Positions of head and body of a response in the buffer.
struct Head {
    status: u16,
    body_start: usize,
    /// `None`: the body comes in chunks.
    content_length: Option<usize>,
}

impl Connection {
    /// Connects, without Nagle's delay.
    pub async fn open(address: SocketAddr) -> Outcome<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, buffer: vec![0; 1024], filled: 0 })
    }

    /// Sends one request and reads the whole answer.
    pub async fn exchange(&mut self, request: &[u8]) -> Outcome<Answer<'_>> {
        self.send(request).await?;
        self.receive().await
    }

    /// Sends one request.
    pub async fn send(&mut self, request: &[u8]) -> Outcome<()> {
        let mut rest = request;
        while !rest.is_empty() {
            match self.stream.try_write(rest) {
                Ok(written) => rest = &rest[written..],
                Err(error) if error.kind() == ErrorKind::WouldBlock => self.stream.writable().await?,
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Reads one whole answer.
    pub async fn receive(&mut self) -> Outcome<Answer<'_>> {
        self.filled = 0;
        let head = loop {
            if let Some(end) = find(&self.buffer[..self.filled], b"\r\n\r\n") {
                break parse_head(&self.buffer[..end], end + 4)?;
            }
            self.fill().await?;
        };
        let body_end = match head.content_length {
            Some(length) => {
                let end = head.body_start + length;
                while self.filled < end {
                    self.fill().await?;
                }
                end
            }
            None => self.receive_chunks(head.body_start).await?,
        };
        Ok(Answer { status: head.status, body: &self.buffer[head.body_start..body_end] })
    }

    /// Reads a chunked body and moves its chunks together. Returns where the body ends.
    async fn receive_chunks(&mut self, body_start: usize) -> Outcome<usize> {
        let mut body_end = body_start;
        let mut position = body_start;
        loop {
            let line_end = loop {
                if let Some(length) = find(&self.buffer[position..self.filled], b"\r\n") {
                    break position + length;
                }
                self.fill().await?;
            };
            let line = std::str::from_utf8(&self.buffer[position..line_end])?;
            let size = usize::from_str_radix(line.split(';').next().unwrap_or(line).trim(), 16)?;
            let chunk_start = line_end + 2;
            while self.filled < chunk_start + size + 2 {
                self.fill().await?;
            }
            if size == 0 {
                return Ok(body_end);
            }
            self.buffer.copy_within(chunk_start..chunk_start + size, body_end);
            body_end += size;
            position = chunk_start + size + 2;
        }
    }

    /// True if unread data has arrived.
    pub fn has_something(&self) -> bool {
        !matches!(self.stream.try_read(&mut [0]), Err(error) if error.kind() == ErrorKind::WouldBlock)
    }

    /// Reads available data, or waits for some.
    async fn fill(&mut self) -> Outcome<()> {
        if self.filled == self.buffer.len() {
            self.buffer.resize(self.buffer.len() * 2, 0);
        }
        loop {
            match self.stream.try_read(&mut self.buffer[self.filled..]) {
                Ok(0) => {
                    return Err(
                        Error::new(ErrorKind::UnexpectedEof, "the server closed the connection").into()
                    );
                }
                Ok(read) => {
                    self.filled += read;
                    return Ok(());
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => self.stream.readable().await?,
                Err(error) => return Err(error.into()),
            }
        }
    }
}

/// Measurements of one round.
pub struct Sample {
    /// Answers, all of them with status 200.
    pub answers: usize,
    /// The length of the round in seconds, until the last answer.
    pub seconds: f64,
    /// The time of each answer in microseconds, ascending.
    pub latencies: Vec<u32>,
}

impl Sample {
    /// Answers in a second.
    pub fn rate(&self) -> f64 {
        self.answers as f64 / self.seconds
    }

    /// The latency in microseconds that this share (0 to 1) of the answers kept to.
    pub fn latency(&self, share: f64) -> f64 {
        let last = self.latencies.len().saturating_sub(1);
        self.latencies.get((last as f64 * share).round() as usize).copied().map_or(f64::NAN, f64::from)
    }
}

/// Keeps that many connections busy, each with one request at a time, for that long.
///
/// An answer other than 200 ends the run with an error that shows it.
pub async fn drive(
    address: SocketAddr,
    connections: usize,
    duration: Duration,
    request: &MakeRequest,
) -> Outcome<Sample> {
    let mut opened = Vec::with_capacity(connections);
    for _ in 0..connections {
        opened.push(Connection::open(address).await?);
    }
    let started = Instant::now();
    let mut workers = JoinSet::new();
    for connection in opened {
        workers.spawn(keep_busy(connection, started + duration, Arc::clone(request)));
    }
    let mut latencies = Vec::new();
    while let Some(finished) = workers.join_next().await {
        latencies.extend(finished??);
    }
    let seconds = started.elapsed().as_secs_f64();
    latencies.sort_unstable();
    Ok(Sample { answers: latencies.len(), seconds, latencies })
}

async fn keep_busy(mut connection: Connection, until: Instant, request: MakeRequest) -> Outcome<Vec<u32>> {
    let mut latencies = Vec::new();
    let mut bytes = Vec::new();
    let mut before = Instant::now();
    while before < until {
        bytes.clear();
        request(NEXT_NUMBER.fetch_add(1, Ordering::Relaxed), &mut bytes);
        let answer = connection.exchange(&bytes).await?;
        check(&answer)?;
        let now = Instant::now();
        latencies.push(u32::try_from((now - before).as_micros()).unwrap_or(u32::MAX));
        before = now;
    }
    Ok(latencies)
}

/// An error that shows the answer, unless its status is 200.
pub fn check(answer: &Answer<'_>) -> Outcome<()> {
    if answer.status == 200 {
        return Ok(());
    }
    let shown = &answer.body[..answer.body.len().min(500)];
    Err(format!("the server answered {}: {}", answer.status, String::from_utf8_lossy(shown)).into())
}

fn parse_head(head: &[u8], body_start: usize) -> Outcome<Head> {
    let text = std::str::from_utf8(head)?;
    let mut lines = text.split("\r\n");
    let status =
        lines.next().and_then(|line| line.split(' ').nth(1)).ok_or("an answer without a status line")?;
    let mut content_length = None;
    let mut chunked = false;
    for line in lines {
        let Some((name, value)) = line.split_once(':') else { continue };
        if name.eq_ignore_ascii_case("content-length") {
            content_length = Some(value.trim().parse()?);
        } else if name.eq_ignore_ascii_case("transfer-encoding") {
            chunked = value.trim().eq_ignore_ascii_case("chunked");
        }
    }
    if content_length.is_none() && !chunked {
        return Err("an answer without its length".into());
    }
    Ok(Head { status: status.parse()?, body_start, content_length })
}

/// Position of the first occurrence of `needle` in `haystack`.
pub fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack.windows(needle.len()).position(|window| window == needle)
}

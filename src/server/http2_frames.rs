//! Limits of the frames of an HTTP/2 connection.
//!
//! A client sends frames about priorities, windows and settings for free, some two million a second on a connection, and
//! each costs the server time. Those that carry heads or bodies are limited by what waits for them.
//!
//! A path in the table of header fields (RFC 7541) keeps the frame from which h2 has decoded it: two megabytes for a table of
//! four kilobytes. So the server asks for an empty table, and until the client empties its table, memory is reserved for it.

use super::connection_limits::Heads;
use std::io::{Error, IoSlice, Result};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Instant;

/// The most such frames in a second: two for each 16 KiB of a download of 160 MB a second.
const MAX_FRAMES: u32 = 20_000;
const PERIOD: Duration = Duration::from_secs(1);

/// The memory of a head that continues in further frames. h2 decodes its parts as they arrive, and a field of a few bytes
/// takes a hundred.
const UNFINISHED_HEAD: usize = 256 * 1024;

/// The most memory of a table: it has some hundred fields, and each keeps one frame.
const TABLE: usize = 2 * 1024 * 1024;

const PREFACE: usize = 24;
const HEADER: usize = 9;
const DATA: u8 = 0;
const HEADERS: u8 = 1;
const SETTINGS: u8 = 4;
const PUSH_PROMISE: u8 = 5;
const CONTINUATION: u8 = 9;
const ACK: u8 = 1;
const END_HEADERS: u8 = 4;
const PADDED: u8 = 8;
const PRIORITY: u8 = 32;

/// The most bytes of a head up to the first byte of a field: the length of the padding, the priority, and that byte.
const START: usize = 7;

/// A stream that counts frames as they are read, and fails beyond the limit.
pub struct FrameLimit<T> {
    io: T,
    frames: Frames,
    heads: Heads,
    table: Heads,
    since: Instant,
}

/// The position in the frames that were read.
struct Frames {
    /// Bytes until the next header begins.
    skip: usize,
    header: [u8; HEADER],
    /// Bytes of the header that are there.
    filled: usize,
    /// Frames without a head or a body.
    idle: u32,
    /// True in a head that continues in further frames.
    is_in_head: bool,
    /// All bytes.
    bytes: usize,
    table: Table,
    /// The first bytes of the head after the confirmation.
    start: [u8; START],
}

/// The client's table of header fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Table {
    /// The client has not confirmed that it is to be empty.
    Unconfirmed,
    /// The next head is to empty it.
    Confirmed,
    /// The head has begun: the bytes of its start that are there.
    Begun(usize),
    Empty,
    /// The head did not empty it.
    Kept,
}

impl Frames {
    fn add(&mut self, mut bytes: &[u8]) {
        self.bytes += bytes.len();
        loop {
            let skipped = self.skip.min(bytes.len());
            self.look_at_head(&bytes[..skipped]);
            self.skip -= skipped;
            bytes = &bytes[skipped..];
            if bytes.is_empty() {
                return;
            }
            let taken = (HEADER - self.filled).min(bytes.len());
            self.header[self.filled..self.filled + taken].copy_from_slice(&bytes[..taken]);
            self.filled += taken;
            bytes = &bytes[taken..];
            if self.filled < HEADER {
                return;
            }
            self.filled = 0;
            let [high, middle, low, kind, flags, ..] = self.header;
            // A client may begin a promise. It is refused when it ends.
            if matches!(kind, HEADERS | PUSH_PROMISE | CONTINUATION) {
                self.is_in_head = flags & END_HEADERS == 0;
            }
            self.skip = u32::from_be_bytes([0, high, middle, low]) as usize;
            match (kind, self.table) {
                (SETTINGS, Table::Unconfirmed) if flags & ACK != 0 => self.table = Table::Confirmed,
                (HEADERS, Table::Confirmed) => {
                    let has_field = self.skip > before_field(flags);
                    self.table = if has_field { Table::Begun(0) } else { Table::Kept };
                }
                _ => {}
            }
            // Frames with a part of a head or a body, unless they are empty.
            if self.skip == 0 || !matches!(kind, DATA | HEADERS | CONTINUATION) {
                self.idle += 1;
            }
        }
    }

    /// Looks for the change of the size of the table, with which the head begins that follows the confirmation (RFC 7541,
    /// section 4.2). h2 accepts no size but the one that was asked for. It does not look into padding, nor into the head of a
    /// stream that depends on itself: there is no change.
    fn look_at_head(&mut self, payload: &[u8]) {
        let Table::Begun(there) = self.table else { return };
        let [high, middle, low, _, flags, stream @ ..] = self.header;
        let before = before_field(flags);
        let taken = (before + 1 - there).min(payload.len());
        self.start[there..there + taken].copy_from_slice(&payload[..taken]);
        if there + taken <= before {
            self.table = Table::Begun(there + taken);
            return;
        }
        let length = u32::from_be_bytes([0, high, middle, low]) as usize;
        let padding = if flags & PADDED == 0 { 0 } else { usize::from(self.start[0]) };
        let priority = &self.start[..before];
        let is_own = matches!(*priority, [.., a, b, c, d, _] if number([a, b, c, d]) == number(stream));
        let is_decoded = length > before + padding && !(flags & PRIORITY != 0 && is_own);
        let is_update = self.start[before] & 0b1110_0000 == 0b0010_0000;
        self.table = if is_decoded && is_update { Table::Empty } else { Table::Kept };
    }
}

/// The number of bytes before the fields of a head.
fn before_field(flags: u8) -> usize {
    usize::from(flags & PADDED != 0) + if flags & PRIORITY == 0 { 0 } else { 5 }
}

/// The number of a stream, without the first bit, which has another meaning.
fn number(stream: [u8; 4]) -> u32 {
    u32::from_be_bytes(stream) & (u32::MAX >> 1)
}

impl<T> FrameLimit<T> {
    /// Wraps the stream of a new connection. The two are for a head that continues, and for a table.
    pub fn new(io: T, [heads, table]: [Heads; 2]) -> Self {
        let frames = Frames {
            skip: PREFACE,
            header: [0; HEADER],
            filled: 0,
            idle: 0,
            is_in_head: false,
            bytes: 0,
            table: Table::Unconfirmed,
            start: [0; START],
        };
        Self { io, frames, heads, table, since: Instant::now() }
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for FrameLimit<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<Result<()>> {
        let before = buffer.filled().len();
        std::task::ready!(Pin::new(&mut self.io).poll_read(cx, buffer))?;
        self.frames.add(&buffer.filled()[before..]);
        if !self.frames.is_in_head {
            self.heads.release();
        } else if !self.heads.grow_to(UNFINISHED_HEAD) {
            return Poll::Ready(Err(Error::other("no memory for the head of a request")));
        }
        let kept = if self.frames.table == Table::Empty { 0 } else { self.frames.bytes.min(TABLE) };
        if kept == 0 {
            self.table.release();
        } else if !self.table.grow_to(kept) {
            return Poll::Ready(Err(Error::other("no memory for a table of header fields")));
        }
        if self.since.elapsed() >= PERIOD {
            self.since = Instant::now();
            self.frames.idle = 0;
        } else if self.frames.idle > MAX_FRAMES {
            return Poll::Ready(Err(Error::other("too many frames without a request")));
        }
        Poll::Ready(Ok(()))
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for FrameLimit<T> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<Result<usize>> {
        Pin::new(&mut self.io).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<Result<usize>> {
        Pin::new(&mut self.io).poll_write_vectored(cx, parts)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<()>> {
        Pin::new(&mut self.io).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::super::connection_limits::ConnectionLimits;
    use super::super::http2;
    use super::*;
    use crate::http::ResponseBody;
    use hyper::body::Incoming;
    use hyper::{Request, Response};
    use hyper_util::rt::TokioIo;
    use std::convert::Infallible;
    use std::sync::Arc;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};
    use tokio::sync::watch;
    use tokio::task::JoinSet;

    fn frame(kind: u8, length: u8) -> Vec<u8> {
        let mut frame = vec![0, 0, length, kind, 0, 0, 0, 0, 1];
        frame.extend(std::iter::repeat_n(b'x', length.into()));
        frame
    }

    fn limits() -> Arc<ConnectionLimits> {
        Arc::new(ConnectionLimits::new(1000, None, &[], Some(100)))
    }

    fn heads_of(limits: &Arc<ConnectionLimits>) -> [Heads; 2] {
        [(); 2].map(|()| Heads::of(Arc::clone(limits), [192, 0, 2, 1].into()))
    }

    fn heads() -> [Heads; 2] {
        heads_of(&limits())
    }

    /// Each of them has some bytes of a head without an end.
    #[tokio::test]
    async fn unfinished_heads_share_a_budget() {
        for kind in [HEADERS, PUSH_PROMISE] {
            let limits = limits();
            let mut room = [0; 100];
            let mut open = Vec::new();
            let begin = [vec![b'p'; PREFACE], frame(kind, 40)].concat();
            let refused = loop {
                let (mut client, server) = duplex(1 << 10);
                let mut server = FrameLimit::new(server, heads_of(&limits));
                client.write_all(&begin).await.unwrap();
                match server.read(&mut room).await {
                    Ok(_) => open.push((client, server)),
                    Err(error) => break error,
                }
            };
            assert_eq!(refused.to_string(), "no memory for the head of a request");
            assert_eq!(open.len(), 8, "the part of an address");
            let (client, server) = &mut open[0];
            let mut end = frame(CONTINUATION, 10);
            end[4] = END_HEADERS;
            client.write_all(&end).await.unwrap();
            assert_ne!(server.read(&mut room).await.unwrap(), 0);
            assert!(Heads::of(limits, [192, 0, 2, 1].into()).grow_to(UNFINISHED_HEAD));
        }
    }

    /// The body of this request is never read, so its client is given no more room.
    #[tokio::test]
    async fn more_data_than_the_window_ends_the_connection() {
        let (mut client, server) = duplex(1 << 20);
        let unread = |request: Request<Incoming>| async move {
            let never = std::future::pending::<std::result::Result<Response<ResponseBody>, Infallible>>();
            let response = never.await;
            drop(request);
            response
        };
        let (_stop, stopped) = watch::channel(false);
        let of_client = http2::Client { limits: limits(), address: [192, 0, 2, 1].into() };
        let mut tasks = JoinSet::new();
        tasks.spawn(http2::serve(TokioIo::new(server), unread, of_client, stopped));
        let head = b"\x82\x87\x84\x01\x09localhost";
        let mut bytes = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec();
        // Settings, the acknowledgement of the server's, and a head with its end: type, flags, and the lowest byte of the stream.
        for (kind, flags, stream, payload) in
            [(SETTINGS, 0, 0, &[][..]), (SETTINGS, ACK, 0, &[][..]), (HEADERS, END_HEADERS, 1, &head[..])]
        {
            bytes.extend([0, 0, payload.len() as u8, kind, flags, 0, 0, 0, stream]);
            bytes.extend(payload);
        }
        // 144,000 bytes of data.
        let data = [&[0, 0x3e, 0x80, 0, 0, 0, 0, 0, 1][..], &[0; 16_000]].concat();
        bytes.extend(data.repeat(9));
        client.write_all(&bytes).await.unwrap();
        let mut answer = Vec::new();
        client.read_to_end(&mut answer).await.unwrap();
        let last = &answer[answer.len() - 17..];
        assert_eq!((last[3], last[16]), (7, 3), "GOAWAY with FLOW_CONTROL_ERROR: {answer:?}");
        tasks.join_next().await.unwrap().unwrap();
    }

    #[test]
    fn frames_are_counted_wherever_reads_cut_them() {
        let mut bytes = vec![b'p'; PREFACE];
        for (kind, length) in [(1, 40), (0, 200), (0, 0), (8, 4), (2, 5), (9, 3), (6, 8), (77, 0)] {
            bytes.extend(frame(kind, length));
        }
        for size in 1..bytes.len() {
            let mut limit = FrameLimit::new((), heads()).frames;
            bytes.chunks(size).for_each(|part| limit.add(part));
            assert_eq!((limit.idle, limit.skip, limit.filled), (5, 0, 0), "in parts of {size}");
        }
    }

    /// The table of a client that has sent these frames.
    fn table_after(frames: &[Vec<u8>]) -> Table {
        let bytes = [vec![b'p'; PREFACE], frames.concat()].concat();
        let tables = [1, 2, 7, bytes.len()].map(|size| {
            let mut limit = FrameLimit::new((), heads()).frames;
            bytes.chunks(size).for_each(|part| limit.add(part));
            limit.table
        });
        assert_eq!(tables, [tables[0]; 4], "wherever reads cut them");
        tables[0]
    }

    #[test]
    fn the_head_after_the_confirmation_empties_the_table() {
        let confirmation = [0, 0, 0, SETTINGS, ACK, 0, 0, 0, 0].to_vec();
        let head = |flags: u8, payload: &[u8]| {
            let mut frame = vec![0, 0, payload.len() as u8, HEADERS, flags | END_HEADERS, 0, 0, 0, 1];
            frame.extend(payload);
            frame
        };
        let (update, field) = ([0x20, 0x82], [0x82, 0x86]);
        let cases = [
            (vec![frame(SETTINGS, 6), head(0, &update)], Table::Unconfirmed),
            (vec![head(0, &field), confirmation.clone(), frame(DATA, 20)], Table::Confirmed),
            (vec![head(0, &field), confirmation.clone(), head(0, &update)], Table::Empty),
            (vec![confirmation.clone(), head(PADDED, &[1, 0x20, 0x82, 0])], Table::Empty),
            (vec![confirmation.clone(), head(PRIORITY, &[0, 0, 0, 0, 9, 0x20, 0x82])], Table::Empty),
            (
                vec![confirmation.clone(), head(PADDED | PRIORITY, &[1, 0, 0, 0, 0, 9, 0x20, 0x82, 0])],
                Table::Empty,
            ),
            (vec![confirmation.clone(), head(0, &field), head(0, &update)], Table::Kept),
            // What looks like the change is in another frame, in padding, or in a head that h2 leaves out.
            (vec![confirmation.clone(), head(0, &[]), vec![0, 0, 1, 77, 0, 0, 0, 0, 0, 0x20]], Table::Kept),
            (vec![confirmation.clone(), head(PADDED, &[2, 0x20, 0x20])], Table::Kept),
            (vec![confirmation.clone(), head(PRIORITY, &[0x80, 0, 0, 1, 9, 0x20, 0x82])], Table::Kept),
        ];
        for (frames, expected) in cases {
            assert_eq!(table_after(&frames), expected, "{frames:?}");
        }
    }

    #[tokio::test]
    async fn tables_that_are_not_emptied_share_a_budget() {
        let limits = limits();
        let mut open = Vec::new();
        let (mut client, server) = duplex(1 << 24);
        let mut server = FrameLimit::new(server, heads_of(&limits));
        client.write_all(&[b'p'; PREFACE]).await.unwrap();
        let mut room = vec![0; 1 << 16];
        let mut head = frame(HEADERS, 200);
        head[4] = END_HEADERS;
        let refused = loop {
            client.write_all(&head.repeat(300)).await.unwrap();
            match server.read(&mut room).await {
                Ok(_) if server.table.bytes() < TABLE => {}
                Ok(_) => {
                    open.push((client, server));
                    let (next, other) = duplex(1 << 24);
                    (client, server) = (next, FrameLimit::new(other, heads_of(&limits)));
                    client.write_all(&[b'p'; PREFACE]).await.unwrap();
                }
                Err(error) => break error,
            }
        };
        assert_eq!(refused.to_string(), "no memory for a table of header fields");
        assert_eq!(open.len(), 1, "the part of an address");
        let (client, server) = &mut open[0];
        let update = [0, 0, 2, HEADERS, END_HEADERS, 0, 0, 0, 1, 0x20, 0x82];
        client.write_all(&[[0, 0, 0, SETTINGS, ACK, 0, 0, 0, 0].as_slice(), &update].concat()).await.unwrap();
        while server.frames.table != Table::Empty {
            assert_ne!(server.read(&mut room).await.unwrap(), 0);
        }
        assert_eq!(server.table.bytes(), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn a_flood_fails_and_slow_frames_pass() {
        let (mut client, server) = duplex(1 << 16);
        let mut server = FrameLimit::new(server, heads());
        client.write_all(&[b'p'; PREFACE]).await.unwrap();
        let updates = frame(8, 4).repeat(1000);
        let mut room = vec![0; 1 << 16];
        let mut written = 0;
        let mut write = async |server: &mut FrameLimit<_>| {
            client.write_all(&updates).await.unwrap();
            server.read(&mut room).await
        };
        while written < MAX_FRAMES * 3 {
            write(&mut server).await.unwrap();
            written += 1000;
            tokio::time::advance(PERIOD / 10).await;
        }
        let mut count = 0;
        while write(&mut server).await.is_ok() {
            count += 1000;
            assert!(count <= MAX_FRAMES + 1000, "it goes on");
        }
    }
}

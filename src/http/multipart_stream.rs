//! Streaming `multipart/form-data`: the files of a body, read while it arrives.
//!
//! Only the current chunk of a file is in memory. The network is read when the next chunk is asked for, so a slow
//! consumer slows the client down. The work is in proportion to the body, however small the pieces are in which it
//! arrives.

use super::budgets::Reservation;
use super::form::{CLIENT, FormError, MAX_PARAMETERS, file_name_of, is_multipart, malformed};
use super::request_body::RequestBody;
use crate::error::{ApiError, ApiResult};
use bytes::{Bytes, BytesMut};
use futures_util::{FutureExt, Stream};
use http_body_util::BodyExt;
use hyper::body::Body;
use parking_lot::Mutex;
use std::collections::BTreeSet;
use std::convert::Infallible;
use std::mem;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::timeout;

/// The longest wait for the next chunk of a body.
const READ_TIMEOUT: Duration = Duration::from_secs(60);

/// The most bytes that the parser may buffer, in practice the headers of a part.
const MAX_BUFFERED: usize = 256 * 1024;

/// The bytes of a file that are in memory at most: what is read is written in pieces.
const IN_MEMORY: usize = 256 * 1024;

/// The most bytes of the names of parts that are not files. They are kept for the response.
const MAX_NAMES: usize = 64 * 1024;

/// The longest boundary between parts, in bytes (RFC 2046, section 5.1.1). The parser goes through it for each chunk.
const MAX_BOUNDARY: usize = 70;

/// The names of parts that are not files, for `ignored_parameters_unsupported`. It fills while the body is read; clones
/// share the names.
#[derive(Clone, Default)]
pub struct NonFileParts(Arc<Mutex<BTreeSet<String>>>);

impl NonFileParts {
    /// The names so far, sorted.
    pub fn names(&self) -> Vec<String> {
        self.0.lock().iter().cloned().collect()
    }

    fn add(&self, name: &str) {
        if name == CLIENT {
            return;
        }
        self.0.lock().insert(name.to_owned());
    }
}

/// The files of a request's body, one after another.
pub struct MultipartStream {
    /// `None` if the body is not `multipart/form-data`: it has no files.
    multipart: Option<multer::Multipart<'static>>,
    part: Option<multer::Field<'static>>,
    parts: usize,
    source: Source<RequestBody>,
    non_file_parts: NonFileParts,
    /// The bytes of their names.
    names: usize,
    content_length: Option<u64>,
    _reservation: Reservation,
}

/// The headers of a file's part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilePart {
    /// The name of the form field.
    pub field_name: String,
    /// The file's name as sent by the client. It may contain slashes or dots: never use it as a path.
    pub file_name: String,
    /// The media type as sent by the client.
    pub content_type: Option<String>,
}

impl MultipartStream {
    /// Starts to parse a body. Nothing is read before [`MultipartStream::next_file`]. The reservation gets the memory that
    /// the body will take, which is less than the body. Fails with 503 if there is none.
    pub fn new(
        content_type: Option<&str>,
        body: RequestBody,
        mut reservation: Reservation,
    ) -> ApiResult<Self> {
        let content_length = body.size_hint().exact();
        let announced = content_length.and_then(|length| usize::try_from(length).ok());
        reservation.grow(announced.unwrap_or(IN_MEMORY).min(IN_MEMORY))?;
        let source = Source::new(body);
        let multipart = match content_type.filter(|content_type| is_multipart(content_type)) {
            Some(content_type) => {
                let boundary = multer::parse_boundary(content_type).map_err(malformed)?;
                if boundary.len() > MAX_BOUNDARY {
                    return Err(FormError::MalformedMultipart("the boundary is too long".to_owned()).into());
                }
                Some(multer::Multipart::new(source.next.clone(), boundary))
            }
            None => None,
        };
        let non_file_parts = NonFileParts::default();
        Ok(Self {
            multipart,
            part: None,
            parts: 0,
            source,
            non_file_parts,
            names: 0,
            content_length,
            _reservation: reservation,
        })
    }

    /// The length of the whole body in bytes, if the client announced it: a little more than that of its files.
    pub fn content_length(&self) -> Option<u64> {
        self.content_length
    }

    /// The names of parts that are not files, among the parts that were read.
    pub fn non_file_parts(&self) -> NonFileParts {
        self.non_file_parts.clone()
    }

    /// Skips the rest of the current file and continues with the next one; `None` at the end of the body. Parts with an
    /// empty file name are skipped: browsers send them for empty file fields.
    pub async fn next_file(&mut self) -> ApiResult<Option<FilePart>> {
        loop {
            while self.chunk().await?.is_some() {}
            let Some(multipart) = &mut self.multipart else { return Ok(None) };
            let Some(part) = self.source.run(multipart.next_field()).await? else { return Ok(None) };
            self.parts += 1;
            if self.parts > MAX_PARAMETERS {
                return Err(FormError::TooManyParameters.into());
            }
            let field_name = part.name().unwrap_or_default().to_owned();
            let file_name = file_name_of(&part)?;
            let content_type = part.content_type().map(ToString::to_string);
            self.part = Some(part);
            match file_name {
                Some(file_name) if !file_name.is_empty() => {
                    return Ok(Some(FilePart { field_name, file_name, content_type }));
                }
                Some(_) => {}
                None => {
                    self.names += field_name.len();
                    if self.names > MAX_NAMES {
                        return Err(ApiError::too_large());
                    }
                    self.non_file_parts.add(&field_name);
                }
            }
        }
    }

    /// Returns the next chunk of the current file, some kilobytes; `None` at its end.
    pub async fn chunk(&mut self) -> ApiResult<Option<Bytes>> {
        let Some(part) = &mut self.part else { return Ok(None) };
        let chunk = self.source.run(part.chunk()).await?;
        if chunk.is_none() {
            self.part = None;
        }
        Ok(chunk)
    }
}

/// A body, and how the parser gets it.
struct Source<B> {
    body: B,
    next: NextChunk,
    /// The bytes that the parser has taken since it last returned something.
    buffered: usize,
    has_ended: bool,
}

impl<B: Body<Data = Bytes> + Unpin> Source<B> {
    fn new(body: B) -> Self {
        Self { body, next: NextChunk(Arc::new(Mutex::new(Poll::Pending))), buffered: 0, has_ended: false }
    }

    /// Runs a step of the parser. It gets a chunk only when it cannot return any of the data that it has, so that
    /// memory stays bounded.
    async fn run<T>(&mut self, step: impl Future<Output = multer::Result<T>>) -> ApiResult<T> {
        let mut step = pin!(step);
        loop {
            if let Some(result) = step.as_mut().now_or_never() {
                self.buffered = 0;
                return result.map_err(|error| malformed(error).into());
            }
            self.read().await?;
        }
    }

    /// Reads the next chunk for the parser. It is at least as long as the data that the parser keeps, because the
    /// parser searches all of it again: a sender of single bytes would make it search [`MAX_BUFFERED`] for each.
    async fn read(&mut self) -> ApiResult<()> {
        if self.has_ended {
            return Err(malformed(multer::Error::IncompleteStream).into());
        }
        let mut chunk = BytesMut::new();
        while chunk.is_empty() || chunk.len() < self.buffered {
            let frame = timeout(READ_TIMEOUT, self.body.frame()).await;
            let Some(frame) = frame.map_err(|_| ApiError::request_timeout())? else { break };
            let frame = frame.map_err(|_| ApiError::bad_request("The request body could not be read"))?;
            // Trailers are ignored.
            chunk.extend_from_slice(&frame.into_data().unwrap_or_default());
            if self.buffered + chunk.len() > MAX_BUFFERED {
                return Err(ApiError::too_large());
            }
        }
        self.buffered += chunk.len();
        self.has_ended = chunk.is_empty();
        *self.next.0.lock() = Poll::Ready((!self.has_ended).then(|| chunk.freeze()));
        Ok(())
    }
}

/// The next chunk for the parser, once it has arrived; `None` is the end of the body. Clones share it.
#[derive(Clone)]
struct NextChunk(Arc<Mutex<Poll<Option<Bytes>>>>);

impl Stream for NextChunk {
    type Item = Result<Bytes, Infallible>;

    /// Registers no waker: [`Source::run`] polls again when there is another chunk.
    fn poll_next(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        mem::replace(&mut *self.0.lock(), Poll::Pending).map(|chunk| chunk.map(Ok))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::stream;
    use http_body_util::StreamBody;
    use hyper::body::Frame;
    use std::cell::Cell;
    use std::future::poll_fn;
    use std::iter::repeat;

    /// A body that arrives in these pieces.
    fn source<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> Source<impl Body<Data = Bytes> + Unpin> {
        let frames = pieces.map(|piece| Ok::<_, Infallible>(Frame::data(Bytes::copy_from_slice(piece))));
        Source::new(StreamBody::new(stream::iter(frames)))
    }

    /// The parser searches the headers again whenever it runs, so it runs seldom.
    #[tokio::test]
    async fn headers_in_single_bytes_are_searched_a_few_times() {
        let head = [b"--edge\r\nX: ", &b"\r\n\r".repeat(200_000)[..]].concat();
        let mut source = source(head.chunks(1));
        let mut runs = 0;
        let endless = poll_fn(|_| -> Poll<multer::Result<()>> {
            runs += 1;
            Poll::Pending
        });
        let refused = source.run(endless).await.unwrap_err();
        assert_eq!(refused.status(), 413);
        assert!(runs < 30, "{runs}");
    }

    #[tokio::test]
    async fn a_file_in_single_bytes_arrives_as_it_comes() {
        let content = "one\r\n--edg\r\ntwo".repeat(50);
        let body = format!(
            "text\r\n--edge\r\nContent-Disposition: form-data; name=\"a\"; filename=\"b\"\r\n\r\n{content}\r\n\
             --edge\r\nContent-Disposition: form-data; name=\"c\"\r\n\r\n\r\n--edge--"
        );
        for size in [1, 2, 3, 7, 1000] {
            let mut source = source(body.as_bytes().chunks(size));
            let mut multipart = multer::Multipart::new(source.next.clone(), "edge");
            let mut part = source.run(multipart.next_field()).await.unwrap().unwrap();
            assert_eq!((part.name(), part.file_name()), (Some("a"), Some("b")));
            let (mut file, mut chunks) = (Vec::new(), 0);
            while let Some(chunk) = source.run(part.chunk()).await.unwrap() {
                file.extend(chunk);
                chunks += 1;
            }
            assert_eq!(file, content.as_bytes());
            assert!(size > 1 || chunks > 100, "{chunks} chunks");
            drop(part);
            let mut part = source.run(multipart.next_field()).await.unwrap().unwrap();
            assert_eq!(part.name(), Some("c"));
            while source.run(part.chunk()).await.unwrap().is_some() {}
            drop(part);
            assert!(source.run(multipart.next_field()).await.unwrap().is_none());
        }
    }

    #[tokio::test]
    async fn parts_that_are_there_are_returned_before_more_is_read() {
        let parts = "--edge\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n\r\n".repeat(50);
        let read = Cell::new(0);
        let pieces = [parts.as_bytes()].into_iter().chain(repeat(&b"more"[..]));
        let mut source = source(pieces.inspect(|_| read.update(|count| count + 1)));
        let mut multipart = multer::Multipart::new(source.next.clone(), "edge");
        // The data after the last one is missing.
        for _ in 1..50 {
            let mut part = source.run(multipart.next_field()).await.unwrap().unwrap();
            while source.run(part.chunk()).await.unwrap().is_some() {}
        }
        assert_eq!(read.get(), 1);
    }
}

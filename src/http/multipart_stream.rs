//! Streaming `multipart/form-data`: the files of a body, read while it arrives.
//!
//! Only the current chunk of a file is in memory. The network is read when the next chunk is asked for, so a slow
//! consumer slows the client down.

use super::form::{CLIENT, FormError, MAX_PARAMETERS, file_name_of, is_multipart, malformed};
use super::request_body::RequestBody;
use crate::error::{ApiError, ApiResult};
use bytes::Bytes;
use futures_util::Stream;
use http_body_util::BodyExt;
use hyper::body::Body;
use std::collections::BTreeSet;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::time::{Instant, Sleep, sleep};

/// The longest wait for the next chunk of a body.
const READ_TIMEOUT: Duration = Duration::from_secs(60);

/// The most bytes that the parser may buffer, in practice the headers of a part.
const MAX_BUFFERED: usize = 256 * 1024;

/// The names of parts that are not files, for `ignored_parameters_unsupported`. It fills while the body is read; clones
/// share the names.
#[derive(Clone, Default)]
pub struct NonFileParts(Arc<Mutex<BTreeSet<String>>>);

impl NonFileParts {
    /// The names so far, sorted.
    pub fn names(&self) -> Vec<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }

    fn add(&self, name: &str) {
        if name == CLIENT {
            return;
        }
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned());
    }
}

/// The files of a request's body, one after another.
pub struct MultipartStream {
    /// `None` if the body is not `multipart/form-data`: it has no files.
    multipart: Option<multer::Multipart<'static>>,
    part: Option<multer::Field<'static>>,
    parts: usize,
    buffered: Arc<AtomicUsize>,
    non_file_parts: NonFileParts,
    content_length: Option<u64>,
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
    /// Starts to parse a body. Nothing is read before [`MultipartStream::next_file`].
    pub fn new(content_type: Option<&str>, body: RequestBody) -> ApiResult<Self> {
        let buffered = Arc::new(AtomicUsize::new(0));
        let content_length = body.size_hint().exact();
        let multipart = match content_type.filter(|content_type| is_multipart(content_type)) {
            Some(content_type) => {
                let boundary = multer::parse_boundary(content_type).map_err(malformed)?;
                Some(multer::Multipart::new(ChunkStream::new(body, Arc::clone(&buffered)), boundary))
            }
            None => None,
        };
        let non_file_parts = NonFileParts::default();
        Ok(Self { multipart, part: None, parts: 0, buffered, non_file_parts, content_length })
    }

    /// The length of the whole body in bytes, if the client announced it: a little more than that of its files.
    pub fn content_length(&self) -> Option<u64> {
        self.content_length
    }

    /// The names of parts that are not files, among the parts that were read.
    pub fn non_file_parts(&self) -> NonFileParts {
        self.non_file_parts.clone()
    }

    /// Skips the rest of the current file and goes on to the next one; `None` at the end of the body. Parts with an
    /// empty file name are skipped: browsers send a file field without a file so.
    pub async fn next_file(&mut self) -> ApiResult<Option<FilePart>> {
        loop {
            while self.chunk().await?.is_some() {}
            let Some(multipart) = &mut self.multipart else { return Ok(None) };
            let Some(part) = multipart.next_field().await.map_err(error_for)? else { return Ok(None) };
            self.buffered.store(0, Ordering::Relaxed);
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
                None => self.non_file_parts.add(&field_name),
            }
        }
    }

    /// Returns the next chunk of the current file, some kilobytes; `None` at its end.
    pub async fn chunk(&mut self) -> ApiResult<Option<Bytes>> {
        let Some(part) = &mut self.part else { return Ok(None) };
        let chunk = part.chunk().await.map_err(error_for)?;
        self.buffered.store(0, Ordering::Relaxed);
        if chunk.is_none() {
            self.part = None;
        }
        Ok(chunk)
    }
}

fn error_for(error: multer::Error) -> ApiError {
    let multer::Error::StreamReadFailed(cause) = &error else { return malformed(error).into() };
    match cause.downcast_ref::<BodyError>() {
        Some(BodyError::Timeout) => {
            ApiError::new(408, "REQUEST_TIMEOUT", "The request body did not arrive in time")
        }
        Some(BodyError::TooMuchBuffered) => ApiError::too_large(),
        Some(BodyError::Connection) | None => ApiError::bad_request("The request body could not be read"),
    }
}

/// Why a body could not be read to its end.
#[derive(Debug, thiserror::Error)]
enum BodyError {
    #[error("the client sent nothing for too long")]
    Timeout,
    #[error("the connection failed")]
    Connection,
    #[error("the headers of a part are too long")]
    TooMuchBuffered,
}

/// A body as a stream of chunks.
///
/// The multipart parser takes all chunks that are ready before it returns any. So this stream is pending after each
/// chunk: the parser has to return what it has, and memory stays bounded.
struct ChunkStream {
    body: RequestBody,
    /// The bytes that the parser has taken and not returned yet.
    buffered: Arc<AtomicUsize>,
    yielded: bool,
    timeout: Pin<Box<Sleep>>,
}

impl ChunkStream {
    fn new(body: RequestBody, buffered: Arc<AtomicUsize>) -> Self {
        Self { body, buffered, yielded: false, timeout: Box::pin(sleep(READ_TIMEOUT)) }
    }
}

impl Stream for ChunkStream {
    type Item = Result<Bytes, BodyError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if std::mem::take(&mut self.yielded) {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        let Poll::Ready(frame) = Pin::new(&mut self.body.frame()).poll(cx) else {
            ready!(self.timeout.as_mut().poll(cx));
            return Poll::Ready(Some(Err(BodyError::Timeout)));
        };
        self.timeout.as_mut().reset(Instant::now() + READ_TIMEOUT);
        let Some(frame) = frame else { return Poll::Ready(None) };
        let Ok(frame) = frame else { return Poll::Ready(Some(Err(BodyError::Connection))) };
        // Trailers are ignored.
        let chunk = frame.into_data().unwrap_or_default();
        self.yielded = true;
        let buffered = self.buffered.fetch_add(chunk.len(), Ordering::Relaxed) + chunk.len();
        Poll::Ready(Some(if buffered > MAX_BUFFERED { Err(BodyError::TooMuchBuffered) } else { Ok(chunk) }))
    }
}

//! The files of a multipart body, read while the body arrives. Nothing of them is kept here: whoever asks for the next
//! piece of a file has it, and the next one is read from the network when they ask again.

use super::form::{CLIENT, FormError, MAX_PARAMETERS, file_name_of, malformed};
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

/// A sender that is silent for so long has gone.
const SILENCE: Duration = Duration::from_secs(60);

/// What may be in memory of a body without being a piece of a file: the headers of a part, in the first place.
const HELD: usize = 256 * 1024;

/// The names of parts that are not files, for `ignored_parameters_unsupported`. They are known only when they came.
#[derive(Clone, Default)]
pub struct OtherParts(Arc<Mutex<BTreeSet<String>>>);

impl OtherParts {
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

/// The files of one request's body.
pub struct ArrivingFiles {
    /// `None` for a body that is no `multipart/form-data`: there are no files in it.
    multipart: Option<multer::Multipart<'static>>,
    part: Option<multer::Field<'static>>,
    parts: usize,
    held: Arc<AtomicUsize>,
    other_parts: OtherParts,
    length: Option<u64>,
}

/// What is known of a file before it is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArrivingFile {
    /// The name of the form field.
    pub field_name: String,
    /// The file's name as the client gave it. It may hold slashes or dots: never use it as a path.
    pub file_name: String,
    /// The media type as the client gave it, if it did.
    pub content_type: Option<String>,
}

impl ArrivingFiles {
    /// The files of a body.
    pub fn new(content_type: Option<&str>, body: RequestBody) -> ApiResult<Self> {
        let held = Arc::new(AtomicUsize::new(0));
        let length = body.size_hint().exact();
        let is_multipart = content_type.is_some_and(super::form::is_multipart);
        let multipart = match content_type.filter(|_| is_multipart) {
            Some(content_type) => {
                let boundary = multer::parse_boundary(content_type).map_err(malformed)?;
                Some(multer::Multipart::new(Pieces::new(body, Arc::clone(&held)), boundary))
            }
            None => None,
        };
        Ok(Self { multipart, part: None, parts: 0, held, other_parts: OtherParts::default(), length })
    }

    /// How long the whole body is, in bytes, if the client said so: a little more than the files in it.
    pub fn length(&self) -> Option<u64> {
        self.length
    }

    /// The names of parts that are not files, as they come.
    pub fn other_parts(&self) -> OtherParts {
        self.other_parts.clone()
    }

    /// Goes on to the next file; what was not read of the one before is skipped. `None` when the body is whole. A part
    /// with an empty file name is how browsers send a file field without a file: there is none.
    pub async fn next(&mut self) -> ApiResult<Option<ArrivingFile>> {
        loop {
            while self.piece().await?.is_some() {}
            let Some(multipart) = &mut self.multipart else { return Ok(None) };
            let Some(part) = multipart.next_field().await.map_err(refusal)? else { return Ok(None) };
            self.held.store(0, Ordering::Relaxed);
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
                    return Ok(Some(ArrivingFile { field_name, file_name, content_type }));
                }
                Some(_) => {}
                None => self.other_parts.add(&field_name),
            }
        }
    }

    /// The next piece of the file, of some kilobytes; `None` at its end.
    pub async fn piece(&mut self) -> ApiResult<Option<Bytes>> {
        let Some(part) = &mut self.part else { return Ok(None) };
        let piece = part.chunk().await.map_err(refusal)?;
        self.held.store(0, Ordering::Relaxed);
        if piece.is_none() {
            self.part = None;
        }
        Ok(piece)
    }
}

fn refusal(error: multer::Error) -> ApiError {
    let multer::Error::StreamReadFailed(cause) = &error else { return malformed(error).into() };
    match cause.downcast_ref::<NoMore>() {
        Some(NoMore::Silence) => {
            ApiError::new(408, "REQUEST_TIMEOUT", "The request body did not arrive in time")
        }
        Some(NoMore::TooMuchHeld) => ApiError::too_large(),
        Some(NoMore::Broken) | None => ApiError::bad_request("The request body could not be read"),
    }
}

/// Why a body is not read to its end.
#[derive(Debug, thiserror::Error)]
enum NoMore {
    #[error("the sender fell silent")]
    Silence,
    #[error("the connection broke")]
    Broken,
    #[error("the headers of a part do not end")]
    TooMuchHeld,
}

/// A body as pieces of bytes. The parser of multipart bodies takes all that is ready before it gives anything on, so
/// one piece at a time is ready here: between two of them the parser has to look at what it has.
struct Pieces {
    body: RequestBody,
    /// What the parser has been given and has not given on.
    held: Arc<AtomicUsize>,
    gave_one: bool,
    silence: Pin<Box<Sleep>>,
}

impl Pieces {
    fn new(body: RequestBody, held: Arc<AtomicUsize>) -> Self {
        Self { body, held, gave_one: false, silence: Box::pin(sleep(SILENCE)) }
    }
}

impl Stream for Pieces {
    type Item = Result<Bytes, NoMore>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if std::mem::take(&mut self.gave_one) {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        let Poll::Ready(frame) = Pin::new(&mut self.body.frame()).poll(cx) else {
            ready!(self.silence.as_mut().poll(cx));
            return Poll::Ready(Some(Err(NoMore::Silence)));
        };
        self.silence.as_mut().reset(Instant::now() + SILENCE);
        let Some(frame) = frame else { return Poll::Ready(None) };
        let Ok(frame) = frame else { return Poll::Ready(Some(Err(NoMore::Broken))) };
        // Trailers are no part of the body.
        let piece = frame.into_data().unwrap_or_default();
        self.gave_one = true;
        let held = self.held.fetch_add(piece.len(), Ordering::Relaxed) + piece.len();
        Poll::Ready(Some(if held > HELD { Err(NoMore::TooMuchHeld) } else { Ok(piece) }))
    }
}

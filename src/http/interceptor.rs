//! A hook between the connection and the routes: it observes each exchange, and may answer in place of a handler.

use super::response_body::ResponseBody;
use bytes::{Bytes, BytesMut};
use hyper::Response;
use hyper::body::Incoming;
use parking_lot::Mutex;
use std::pin::Pin;
use std::sync::Arc;

/// A server without one does nothing but look whether there is one.
pub trait Interceptor: Send + Sync {
    /// Handles a request, by calling `next` or by itself.
    fn intercept(self: Arc<Self>, request: hyper::Request<Incoming>, next: Next) -> Intercepted;
}

/// Handles a request as without an interceptor.
pub type Next = Box<
    dyn FnOnce(hyper::Request<Incoming>) -> Pin<Box<dyn Future<Output = Response<ResponseBody>> + Send>>
        + Send,
>;

/// The response to a request.
pub type Intercepted = Pin<Box<dyn Future<Output = Result<Response<ResponseBody>, Dropped>> + Send>>;

/// The connection ends without a response.
#[derive(Debug, thiserror::Error)]
#[error("the connection was dropped on purpose")]
pub struct Dropped;

/// Facts of a response for an interceptor, among the response's extensions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// The `code` of an error.
    pub code: Option<String>,
    /// The parameters that the operation does not know.
    pub ignored: Vec<String>,
}

/// Collects the body of a request while it is read. It goes with the request, among its extensions.
#[derive(Clone, Default)]
pub struct BodyTap(Arc<Mutex<BytesMut>>);

impl BodyTap {
    /// The most bytes that are collected.
    const LIMIT: usize = 1 << 20;

    /// Adds bytes up to the limit.
    pub fn add(&self, bytes: &[u8]) {
        let mut collected = self.0.lock();
        let room = Self::LIMIT.saturating_sub(collected.len()).min(bytes.len());
        collected.extend_from_slice(bytes.get(..room).unwrap_or_default());
    }

    /// Returns a copy of the collected bytes.
    pub fn bytes(&self) -> Bytes {
        Bytes::copy_from_slice(&self.0.lock())
    }
}

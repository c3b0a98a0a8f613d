//! Sees each exchange of a test server: keeps it in the log, lets faults happen to it, writes it to a file.

use super::faults::{Cut, Faults, in_memory};
use super::fixtures::Date;
use super::har::{Exchange, Har};
use super::level::Level;
use super::requests::RequestLog;
use crate::auth::credentials::parse_basic;
use crate::events;
use crate::http::error_response;
use crate::http::{ApiError, BodyTap, Dropped, Intercepted, Interceptor, Next, Outcome, ResponseBody};
use crate::types::Clock;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::header::{self, HeaderMap, HeaderValue};
use hyper::{Method, Response, Uri};
use parking_lot::Mutex;
use serde_json::Value;
use std::sync::Arc;
use std::time::Instant;

/// The state of a test server that has to do with its exchanges.
pub struct Monitor {
    /// The received requests.
    pub requests: Arc<RequestLog>,
    /// The faults to inject.
    pub faults: Faults,
    level: Mutex<Option<Level>>,
    har: Option<Har>,
    is_strict: bool,
    clock: Clock,
}

impl Monitor {
    /// A monitor without faults. Exchanges are also written to `har`, if there is one. A strict one answers requests with
    /// unknown parameters with an error.
    pub fn new(har: Option<Har>, is_strict: bool, clock: Clock) -> Self {
        Self {
            requests: Arc::default(),
            faults: Faults::default(),
            level: Mutex::default(),
            har,
            is_strict,
            clock,
        }
    }

    /// Poses as an older server, or no longer.
    pub fn set_level(&self, level: Option<Level>) {
        *self.level.lock() = level;
    }

    /// The emulated version, if any.
    pub fn level(&self) -> Option<Level> {
        self.level.lock().clone()
    }

    /// Forgets all requests, faults and the level.
    pub fn reset(&self) {
        self.requests.clear();
        self.faults.clear();
        self.set_level(None);
    }
}

/// The head of a request, for the record.
struct Head {
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    started: i64,
    since: Instant,
}

impl Interceptor for Monitor {
    fn intercept(self: Arc<Self>, request: hyper::Request<Incoming>, next: Next) -> Intercepted {
        Box::pin(async move { self.exchange(request, next).await })
    }
}

impl Monitor {
    async fn exchange(
        &self,
        mut request: hyper::Request<Incoming>,
        next: Next,
    ) -> Result<Response<ResponseBody>, Dropped> {
        let user = request.headers().get(header::AUTHORIZATION).and_then(email_of);
        let tap = BodyTap::default();
        let time = Date::from_milliseconds(self.clock.milliseconds());
        let mut pending = self.requests.begin(&request, time, user.clone(), tap.clone());
        let head = self.har.is_some().then(|| {
            let (method, uri, headers) =
                (request.method().clone(), request.uri().clone(), request.headers().clone());
            Head { method, uri, headers, started: self.clock.milliseconds(), since: Instant::now() }
        });
        let path = request.uri().path().to_owned();
        let level = self.level().filter(|_| Level::concerns(&path));
        if level.is_some() {
            // The response is changed, so it must not be compressed.
            request.headers_mut().remove(header::ACCEPT_ENCODING);
        }
        let fault = self.faults.take(request.method().as_str(), &path, user.as_deref());
        let fault = fault.unwrap_or_default();
        let pause = fault.pause();
        if !pause.is_zero() {
            tokio::time::sleep(pause).await;
        }
        let answer = fault.answer();
        let is_handled = answer.is_none() && fault.drop != Some(Cut::Request);
        let mut outcome = if is_handled {
            request.extensions_mut().insert(tap.clone());
            let response = events::observe_waits(pending.on_wait(), next(request)).await;
            match level {
                Some(level) => rewrite(response, &level, &path).await,
                None => Ok(response),
            }
        } else {
            read(request.into_body(), &tap).await;
            answer.ok_or(Dropped)
        };
        if matches!(fault.drop, Some(Cut::Request | Cut::Answer)) {
            outcome = Err(Dropped);
        }
        if let Ok(response) = &mut outcome {
            let facts = response.extensions_mut().remove::<Outcome>().unwrap_or_default();
            if self.is_strict && !facts.ignored.is_empty() {
                *response = error_response(&unknown_parameters(&facts.ignored));
            }
            pending.set_outcome(response.status().as_u16(), facts);
        }
        drop(pending);
        if let (Some(har), Some(head)) = (&self.har, head) {
            outcome = record(har, head, &tap, outcome).await;
        }
        fault.apply(outcome?).await
    }
}

/// The error of a strict server.
fn unknown_parameters(names: &[String]) -> ApiError {
    ApiError::bad_request(format!("Unknown parameters (--strict): {}", names.join(", ")))
}

/// Reads a body that reaches no handler: the client may send all of it before it reads the response.
async fn read(mut body: Incoming, tap: &BodyTap) {
    while let Some(Ok(frame)) = body.frame().await {
        tap.add(frame.data_ref().map_or(&[], |data| data));
    }
}

/// The email in an `Authorization` header.
fn email_of(header: &HeaderValue) -> Option<String> {
    parse_basic(header.to_str().ok()?).ok().map(|(email, _)| email)
}

async fn rewrite(
    response: Response<ResponseBody>,
    level: &Level,
    path: &str,
) -> Result<Response<ResponseBody>, Dropped> {
    let (head, body) = in_memory(response).await?;
    let body = match serde_json::from_slice::<Value>(&body) {
        Ok(mut answer) => {
            level.apply(path, &mut answer);
            format!("{answer}\n").into()
        }
        Err(_) => body,
    };
    Ok(Response::from_parts(head, ResponseBody::Full(body)))
}

async fn record(
    har: &Har,
    head: Head,
    tap: &BodyTap,
    outcome: Result<Response<ResponseBody>, Dropped>,
) -> Result<Response<ResponseBody>, Dropped> {
    let outcome = match outcome {
        Ok(response) => in_memory(response).await,
        Err(dropped) => Err(dropped),
    };
    har.add(&Exchange {
        started: head.started,
        duration: head.since.elapsed().as_secs_f64() * 1000.0,
        method: &head.method,
        uri: &head.uri,
        headers: &head.headers,
        body: tap.bytes(),
        response: outcome.as_ref().ok().map(|(parts, body)| (parts.status, &parts.headers, body.clone())),
    });
    outcome.map(|(parts, body)| Response::from_parts(parts, ResponseBody::Full(body)))
}

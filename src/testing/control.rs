//! The control of a test server: JSON over HTTP, on an address of its own. `docs/testing.md` describes it.

use super::act::Act;
use super::double::{Double, DoubleError, Restart};
use super::fixtures::Date;
use super::level::Level;
use super::requests::{Pattern, RequestFilter};
use crate::http::{ApiError, ApiResult, is_local};
use crate::store::StoreError;
use crate::types::charset;
use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper::header::{self, HeaderMap, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::watch;

/// The largest body of a request, in bytes.
const BODY_LIMIT: usize = 16 << 20;

/// The longest time to wait for requests, in seconds.
const MAX_WAIT: f64 = 3600.0;

/// Every path with its methods, for errors.
const PATHS: &[(&str, &[&str])] = &[
    ("/act", &["POST"]),
    ("/clock", &["GET", "PUT"]),
    ("/faults", &["GET", "POST", "DELETE"]),
    ("/fixtures", &["GET"]),
    ("/level", &["PUT", "DELETE"]),
    ("/queues/expire", &["POST"]),
    ("/requests", &["GET", "DELETE"]),
    ("/reset", &["POST"]),
    ("/restart", &["POST"]),
    ("/snapshot", &["POST"]),
];

/// Answers requests until the server stops.
pub async fn serve(listener: TcpListener, double: Arc<Double>, mut stopped: watch::Receiver<bool>) {
    let mut connections = FuturesUnordered::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => if let Ok((stream, _)) = accepted {
                let _slower = stream.set_nodelay(true);
                // Listening on another address admits other machines, with their names for this one.
                let is_loopback = stream.local_addr().is_ok_and(|address| address.ip().to_canonical().is_loopback());
                let (double, stopped) = (Arc::clone(&double), stopped.clone());
                let service = service_fn(move |request| {
                    let (double, stopped) = (Arc::clone(&double), stopped.clone());
                    async move { Ok::<_, Infallible>(respond(double, stopped, request, is_loopback).await) }
                });
                let mut builder = http1::Builder::new();
                builder.timer(TokioTimer::new());
                connections.push(builder.serve_connection(TokioIo::new(stream), service));
            },
            // A failed connection does not affect others.
            Some(_ended) = connections.next() => {}
            _ = stopped.changed() => return,
        }
    }
}

async fn respond(
    double: Arc<Double>,
    stopped: watch::Receiver<bool>,
    request: Request<Incoming>,
    is_loopback: bool,
) -> Response<Full<Bytes>> {
    let answer = match check_sender(request.headers(), is_loopback) {
        Ok(()) if request.method() == Method::GET => handle(&double, request).await,
        Ok(()) => complete(double, stopped, request).await,
        Err(refusal) => Err(refusal),
    };
    let (status, body) = match answer {
        Ok(body) => (200, body),
        Err(error) => (error.status(), error.body()),
    };
    let mut response = Response::new(Full::new(format!("{body}\n").into()));
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// Handles a request to its end, even if its client goes away: a restart would leave no server.
#[expect(clippy::disallowed_methods, reason = "the task ends with the server, and not with the request")]
async fn complete(
    double: Arc<Double>,
    mut stopped: watch::Receiver<bool>,
    request: Request<Incoming>,
) -> ApiResult<Value> {
    let change = tokio::spawn(async move {
        tokio::select! {
            answer = handle(&double, request) => answer,
            _ = stopped.changed() => Err(StoreError::Stopped.into()),
        }
    });
    change.await.unwrap_or_else(|error| Err(ApiError::internal(error)))
}

/// Refuses requests of web pages: tests are programs.
fn check_sender(headers: &HeaderMap, is_loopback: bool) -> ApiResult<()> {
    let is_of_page = headers.contains_key(header::ORIGIN) || headers.contains_key("sec-fetch-site");
    if is_of_page || (is_loopback && !is_local(headers)) {
        return Err(ApiError::new(403, "UNAUTHORIZED", "the control is for programs on this machine"));
    }
    Ok(())
}

async fn handle(double: &Double, request: Request<Incoming>) -> ApiResult<Value> {
    let (head, body) = request.into_parts();
    let path = head.uri.path().trim_end_matches('/').to_owned();
    let query = Query::new(head.uri.query().unwrap_or_default());
    let is_known =
        PATHS.iter().any(|(known, methods)| *known == path && methods.contains(&head.method.as_str()));
    let has_parameters = path == "/requests" && head.method == Method::GET;
    if is_known && !has_parameters {
        query.finish()?;
    }
    let body = Limited::new(body, BODY_LIMIT).collect().await;
    let body = body.map_err(|error| ApiError::bad_request(format!("the body could not be read: {error}")))?;
    let body = body.to_bytes();
    let content_type = head.headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let body = charset::decode(content_type, &body)
        .map_err(|error| ApiError::bad_request(format!("the body could not be read: {error}")))?;
    let success = || json!({"result": "success"});
    let answer = match (&head.method, path.as_str()) {
        (&Method::GET, "/requests") => requests(double, query).await?,
        (&Method::DELETE, "/requests") => {
            double.monitor.requests.clear();
            success()
        }
        (&Method::GET, "/clock") => json!(double.clock()),
        (&Method::PUT, "/clock") => {
            let ClockChange { now, advance, frozen } = read(&body)?;
            if now.is_none() && advance.is_none() && frozen.is_none() {
                return Err(ApiError::bad_request("give \"now\", \"advance\" or \"frozen\""));
            }
            let advance = advance.map(|seconds| (seconds * 1000.0) as i64);
            json!(double.set_clock(now, advance, frozen).await?)
        }
        (&Method::GET, "/faults") => json!({"faults": double.monitor.faults.list()}),
        (&Method::POST, "/faults") => {
            double.add_fault(read(&body)?)?;
            success()
        }
        (&Method::DELETE, "/faults") => {
            double.monitor.faults.clear();
            success()
        }
        (&Method::POST, "/queues/expire") => {
            let Expire { user } = read_or_default(&body)?;
            json!({"result": "success", "expired": double.expire_queues(user.as_deref()).await?})
        }
        (&Method::PUT, "/level") => {
            let level: Level = read(&body)?;
            level.check()?;
            let answer = json!({"feature_level": level.feature_level, "version": level.version()});
            double.set_level(Some(level));
            answer
        }
        (&Method::DELETE, "/level") => {
            double.set_level(None);
            success()
        }
        (&Method::POST, "/reset") => {
            double.reset().await?;
            success()
        }
        (&Method::POST, "/restart") => {
            let how: Restart = read_or_default(&body)?;
            how.check()?;
            double.restart(how).await.map_err(restart_error)?;
            success()
        }
        (&Method::POST, "/snapshot") => {
            double.snapshot().await?;
            success()
        }
        (&Method::POST, "/act") => read::<Act>(&body)?.run(double).await?,
        (&Method::GET, "/fixtures") => serde_json::to_value(double.dump().await?)?,
        (method, path) => return Err(unknown(method, path)),
    };
    Ok(answer)
}

fn restart_error(error: DoubleError) -> ApiError {
    ApiError::internal(error)
}

fn unknown(method: &Method, path: &str) -> ApiError {
    if let Some((_, methods)) = PATHS.iter().find(|(known, _)| *known == path) {
        let methods = methods.join(", ");
        return ApiError::new(405, "BAD_REQUEST", format!("{path} knows {methods}, not {method}"));
    }
    let paths: Vec<&str> = PATHS.iter().map(|(path, _)| *path).collect();
    ApiError::new(404, "BAD_REQUEST", format!("there is no '{path}' here; there are {}", paths.join(", ")))
}

fn read<T: DeserializeOwned>(body: &str) -> ApiResult<T> {
    // The parser would take the values of a list as the members in their order.
    if body.trim_ascii_start().starts_with('[') {
        return Err(ApiError::bad_request("the body is a list, where an object is expected"));
    }
    serde_json::from_str(body)
        .map_err(|error| ApiError::bad_request(format!("the body is not the JSON that is expected: {error}")))
}

/// Like [`read`]; an empty body is an empty object.
fn read_or_default<T: DeserializeOwned + Default>(body: &str) -> ApiResult<T> {
    if body.trim_ascii().is_empty() { Ok(T::default()) } else { read(body) }
}

/// The parameters of a query string.
struct Query(HashMap<String, String>);

impl Query {
    fn new(text: &str) -> Self {
        Self(form_urlencoded::parse(text.as_bytes()).into_owned().collect())
    }

    fn text(&mut self, name: &str) -> Option<String> {
        self.0.remove(name)
    }

    fn number(&mut self, name: &str, max: f64) -> ApiResult<Option<f64>> {
        let Some(text) = self.text(name) else { return Ok(None) };
        let number = text.parse::<f64>().ok().filter(|number| (0.0..=max).contains(number));
        let number = number.ok_or_else(|| {
            ApiError::bad_request(format!("'{name}' is not a number from 0 to {max}: {text}"))
        })?;
        Ok(Some(number))
    }

    fn flag(&mut self, name: &str) -> ApiResult<bool> {
        match self.text(name).as_deref() {
            None | Some("false") => Ok(false),
            Some("true") => Ok(true),
            Some(other) => Err(ApiError::bad_request(format!("'{name}' is neither true nor false: {other}"))),
        }
    }

    /// Fails if there are unknown parameters.
    fn finish(&self) -> ApiResult<()> {
        match self.0.keys().next() {
            Some(name) => Err(ApiError::bad_request(format!("unknown parameter '{name}'"))),
            None => Ok(()),
        }
    }
}

/// `GET /requests`: the requests that match; with `wait`, as soon as there are enough, and whether they are fewer.
async fn requests(double: &Double, mut query: Query) -> ApiResult<Value> {
    let wait = query.number("wait", 1e9)?;
    let timeout = query.number("timeout", MAX_WAIT)?;
    let filter = RequestFilter {
        method: query.text("method"),
        path: query.text("path").map(Pattern),
        user: query.text("user"),
        pending: query.flag("pending")?,
    };
    query.finish()?;
    filter.check()?;
    let log = &double.monitor.requests;
    let Some(count) = wait else { return Ok(json!({ "requests": log.list(&filter) })) };
    let count = count as usize;
    let list = log.wait(&filter, count, timeout.map(Duration::from_secs_f64)).await;
    Ok(json!({ "requests": list, "timed_out": list.len() < count }))
}

/// `PUT /clock`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object")]
struct ClockChange {
    #[serde(default)]
    now: Option<Date>,
    #[serde(default)]
    advance: Option<f64>,
    #[serde(default)]
    frozen: Option<bool>,
}

/// `POST /queues/expire`.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object")]
struct Expire {
    #[serde(default)]
    user: Option<String>,
}

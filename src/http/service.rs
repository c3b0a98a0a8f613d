//! One request, from its head to the answer's last byte.

use super::arriving::ArrivingFiles;
use super::body::Body;
use super::form::Form;
use super::reply::{Reply, success_body};
use super::request_body::RequestBody;
use super::route::{Answer, Conditions, RequestInfo, Route};
use super::router::{Found, Router};
use crate::app::App;
use crate::error::{ApiError, ApiResult};
use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use futures_util::FutureExt;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::Incoming;
use hyper::header::{self, AsHeaderName, HeaderMap, HeaderValue};
use hyper::http::request::Parts;
use hyper::{Method, Request, Response, StatusCode};
use std::io::Write;
use std::net::IpAddr;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

/// A body has to be here after this time; a sender that drips would hold its connection for ever.
const BODY_TIMEOUT: Duration = Duration::from_secs(60);

/// Answers from this size on are worth compressing, in bytes.
const COMPRESSED_FROM: usize = 4096;

const JSON: &str = "application/json";

/// The published server stores no more of a client's name.
const CLIENT_NAME_LENGTH: usize = 30;

/// Answers a request. Nothing it does can fail: every error has an answer.
///
/// Most connections wait in here for events, thousands of them at a time. So what it takes to read a request is given
/// back before the handler starts, and no future is stored twice on its way.
pub fn answer(
    app: Arc<App>,
    router: Arc<Router>,
    request: Request<Incoming>,
    peer: IpAddr,
) -> impl Future<Output = Response<Body>> {
    let compress = accepts_gzip(request.headers());
    let (head, body) = request.into_parts();
    let body = RequestBody::new(&head.headers, body);
    let handled = handle(app, router, Box::new(head), body.clone(), peer);
    AssertUnwindSafe(handled).catch_unwind().then(move |handled| {
        respond_to(handled.unwrap_or_else(|_| Err(ApiError::internal("a handler panicked"))), body, compress)
    })
}

async fn handle(
    app: Arc<App>,
    router: Arc<Router>,
    head: Box<Parts>,
    body: RequestBody,
    peer: IpAddr,
) -> ApiResult<Answer> {
    let (route, info, form) = Box::pin(read(&app, &router, head, body, peer)).await?;
    route.handle(app, info, form).await
}

/// Reads a request: which route it is for, its parameters, and what else handlers want of it.
async fn read<'r>(
    app: &App,
    router: &'r Router,
    head: Box<Parts>,
    body: RequestBody,
    peer: IpAddr,
) -> ApiResult<(&'r Route, RequestInfo, Form)> {
    let (route, path_parameters) = match router.find(&head.method, head.uri.path()) {
        Found::Route(route, parameters) => (route, parameters),
        Found::OtherMethods(methods) => return Err(method_not_allowed(&methods)),
        Found::Nothing => return Err(ApiError::not_found()),
    };
    let content_type = text_of(&head.headers, &header::CONTENT_TYPE);
    let form = if route.takes_body {
        Form::arriving(head.uri.query(), ArrivingFiles::new(content_type, body)?, path_parameters)?
    } else {
        let body = read_body(route, &head.headers, body).await?;
        Form::new(head.uri.query(), content_type, body, path_parameters)?
    };
    let info = RequestInfo {
        client: client_name(&form, &head.headers),
        origin: origin(app, &head.headers),
        peer,
        authorization: text_of(&head.headers, &header::AUTHORIZATION).map(str::to_owned),
        conditions: conditions(&head.headers),
        cookies: text_of(&head.headers, &header::COOKIE).map(str::to_owned),
    };
    Ok((route, info, form))
}

async fn respond_to(handled: ApiResult<Answer>, body: RequestBody, compress: bool) -> Response<Body> {
    let mut response = match handled {
        Ok(answer) => success(answer, compress),
        Err(error) => failure(&error),
    };
    // Who sends too much, or too slowly, is not asked for more.
    let gave_up = matches!(response.status(), StatusCode::PAYLOAD_TOO_LARGE | StatusCode::REQUEST_TIMEOUT);
    if gave_up || !body.skip_rest().await {
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

fn conditions(headers: &HeaderMap) -> Option<Box<Conditions>> {
    let text = |name| text_of(headers, &name).map(str::to_owned);
    let conditions = Conditions {
        range: text(header::RANGE),
        if_range: text(header::IF_RANGE),
        if_none_match: text(header::IF_NONE_MATCH),
    };
    let any = conditions.range.is_some() || conditions.if_none_match.is_some();
    any.then(|| Box::new(conditions))
}

async fn read_body(route: &Route, headers: &HeaderMap, body: RequestBody) -> ApiResult<Bytes> {
    let announced = text_of(headers, &header::CONTENT_LENGTH).and_then(|length| length.parse::<u64>().ok());
    if announced.is_some_and(|length| length > route.body_limit as u64) {
        return Err(ApiError::too_large());
    }
    if announced == Some(0) || hyper::body::Body::is_end_stream(&body) {
        return Ok(Bytes::new());
    }
    let collected = tokio::time::timeout(BODY_TIMEOUT, Limited::new(body, route.body_limit).collect());
    match collected.await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(ApiError::too_large()),
        Ok(Err(_)) => Err(ApiError::bad_request("The request body could not be read")),
        Err(_) => Err(ApiError::new(408, "REQUEST_TIMEOUT", "The request body did not arrive in time")),
    }
}

fn method_not_allowed(methods: &[&Method]) -> ApiError {
    let names: Vec<&str> = methods.iter().map(|method| method.as_str()).collect();
    ApiError::new(405, "BAD_REQUEST", "Method Not Allowed")
        .with("allowed_methods", names.clone())
        .with_header("Allow", names.join(", "))
}

fn text_of(headers: &HeaderMap, name: impl AsHeaderName) -> Option<&str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

/// The program that sent a request: as a parameter says, or else the first word of `User-Agent`.
fn client_name(form: &Form, headers: &HeaderMap) -> String {
    let agent = || text_of(headers, &header::USER_AGENT).and_then(|agent| agent.split(['/', ' ']).next());
    let name = form.client().filter(|name| !name.is_empty()).or_else(agent).filter(|name| !name.is_empty());
    name.unwrap_or("Unspecified").chars().take(CLIENT_NAME_LENGTH).collect()
}

/// How the client reached us: the configured address, or what it wrote into the request.
fn origin(app: &App, headers: &HeaderMap) -> String {
    if let Some(url) = &app.options.public_url {
        return url.clone();
    }
    let scheme = text_of(headers, "x-forwarded-proto").filter(|scheme| *scheme == "https").unwrap_or("http");
    let host = text_of(headers, &header::HOST).unwrap_or("localhost");
    format!("{scheme}://{host}")
}

fn accepts_gzip(headers: &HeaderMap) -> bool {
    text_of(headers, &header::ACCEPT_ENCODING).is_some_and(|accepted| {
        accepted.split(',').any(|coding| {
            let mut parts = coding.split(';').map(str::trim);
            parts.next() == Some("gzip") && !parts.any(|part| part.replace(' ', "") == "q=0")
        })
    })
}

fn success(answer: Answer, compress: bool) -> Response<Body> {
    match answer.reply {
        Reply::Json(members) => json(StatusCode::OK, success_body(members, &answer.ignored), compress),
        Reply::Other(other) => {
            let status = StatusCode::from_u16(other.status).unwrap_or(StatusCode::OK);
            let is_text = other.content_type.starts_with("text/") || other.content_type == JSON;
            let mut response = respond(status, other.content_type, other.body, compress && is_text);
            insert_all(response.headers_mut(), &other.headers);
            response
        }
        Reply::Streamed(file) => {
            let status = StatusCode::from_u16(file.status).unwrap_or(StatusCode::OK);
            let mut response = Response::new(Body::InPieces { left: file.length, pieces: file.pieces });
            *response.status_mut() = status;
            let headers = response.headers_mut();
            headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(file.content_type));
            headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
            insert_all(headers, &file.headers);
            response
        }
    }
}

fn failure(error: &ApiError) -> Response<Body> {
    let status = StatusCode::from_u16(error.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = json(status, error.body().to_string() + "\n", false);
    insert_all(response.headers_mut(), error.headers());
    response
}

fn insert_all(headers: &mut HeaderMap, more: &[(&'static str, String)]) {
    for (name, value) in more {
        if let Ok(value) = HeaderValue::from_str(value) {
            headers.append(*name, value);
        }
    }
}

fn json(status: StatusCode, body: String, compress: bool) -> Response<Body> {
    respond(status, JSON, body.into(), compress)
}

fn respond(status: StatusCode, content_type: &'static str, body: Bytes, compress: bool) -> Response<Body> {
    let large = body.len() >= COMPRESSED_FROM;
    let packed = if compress && large { gzip(&body) } else { None };
    let is_packed = packed.is_some();
    let mut response = Response::new(Body::Whole(packed.map_or(body, Bytes::from)));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    if large {
        headers.insert(header::VARY, HeaderValue::from_static("Accept-Encoding"));
    }
    if is_packed {
        headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    response
}

/// Compresses an answer, quickly rather than well: the networks it helps are slow, the servers are small.
fn gzip(body: &[u8]) -> Option<Vec<u8>> {
    tokio::task::block_in_place(|| {
        let mut encoder = GzEncoder::new(Vec::with_capacity(body.len() / 4), Compression::fast());
        encoder.write_all(body).ok()?;
        encoder.finish().ok()
    })
}

//! One request, from its head to the last byte of the response.

use super::form::Form;
use super::multipart_stream::MultipartStream;
use super::reply::{Reply, success_body};
use super::request_body::RequestBody;
use super::response_body::ResponseBody;
use super::route::{Conditions, HandlerOutput, Request, RequestInfo, Route};
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
use hyper::{Method, Response, StatusCode};
use std::io::Write;
use std::net::IpAddr;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

/// The longest time to receive a body, so that a slow sender cannot hold its connection forever.
const BODY_TIMEOUT: Duration = Duration::from_secs(60);

/// The smallest response that is compressed, in bytes.
const MIN_COMPRESSED: usize = 4096;

const JSON: &str = "application/json";

/// The longest client name in characters, as on the published server.
const CLIENT_NAME_LENGTH: usize = 30;

/// Responds to a request. Errors and panics become responses, too.
///
/// Most connections wait in here for events, thousands at a time. So what it takes to read a request is boxed and
/// dropped before the handler starts, and no future is stored twice.
pub fn respond(
    app: Arc<App>,
    router: Arc<Router>,
    request: hyper::Request<Incoming>,
    peer: IpAddr,
) -> impl Future<Output = Response<ResponseBody>> {
    let compress = accepts_gzip(request.headers());
    let (head, body) = request.into_parts();
    let body = RequestBody::new(&head.headers, body);
    let (head, unread) = (Box::new(head), body.clone());
    let handled = async move {
        let (route, request) = Box::pin(read_request(app, &router, head, body, peer)).await?;
        route.run(request).await
    };
    AssertUnwindSafe(handled).catch_unwind().then(move |handled| {
        respond_with(
            handled.unwrap_or_else(|_| Err(ApiError::internal("a handler panicked"))),
            unread,
            compress,
        )
    })
}

/// Finds the route of a request, and reads its parameters.
async fn read_request(
    app: Arc<App>,
    router: &Router,
    head: Box<Parts>,
    body: RequestBody,
    peer: IpAddr,
) -> ApiResult<(&Route, Request)> {
    let (route, path_parameters) = match router.find(&head.method, head.uri.path()) {
        Found::Route(route, parameters) => (route, parameters),
        Found::MethodNotAllowed(methods) => return Err(method_not_allowed(&methods)),
        Found::NotFound => return Err(ApiError::not_found()),
    };
    let (query, content_type) = (head.uri.query(), text_of(&head.headers, &header::CONTENT_TYPE));
    let (form, multipart) = if route.streams_body {
        let multipart = MultipartStream::new(content_type, body)?;
        (Form::new(query, None, Bytes::new(), path_parameters)?, Some(Box::new(multipart)))
    } else {
        let body = read_body(route, &head.headers, body).await?;
        (Form::new(query, content_type, body, path_parameters)?, None)
    };
    let info = RequestInfo {
        client: client_name(&form, &head.headers),
        origin: origin(&app, &head.headers),
        peer,
        authorization: text_of(&head.headers, &header::AUTHORIZATION).map(str::to_owned),
        conditions: conditions(&head.headers),
        cookies: text_of(&head.headers, &header::COOKIE).map(str::to_owned),
    };
    Ok((route, Request { app, info, form, multipart }))
}

async fn respond_with(
    handled: ApiResult<HandlerOutput>,
    body: RequestBody,
    compress: bool,
) -> Response<ResponseBody> {
    let mut response = match handled {
        Ok(output) => success(output, compress),
        Err(error) => failure(&error),
    };
    // The rest of a body that is too large or too slow is not read.
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

/// The name of the client: the parameter, or the first word of `User-Agent`.
fn client_name(form: &Form, headers: &HeaderMap) -> String {
    let agent = || text_of(headers, &header::USER_AGENT).and_then(|agent| agent.split(['/', ' ']).next());
    let name = form.client().filter(|name| !name.is_empty()).or_else(agent).filter(|name| !name.is_empty());
    name.unwrap_or("Unspecified").chars().take(CLIENT_NAME_LENGTH).collect()
}

/// The address under which the client reached the server: as configured, or as the request says.
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

fn success(output: HandlerOutput, compress: bool) -> Response<ResponseBody> {
    match output.reply {
        Reply::Json(members) => json(StatusCode::OK, success_body(members, &output.ignored), compress),
        Reply::Other(other) => {
            let status = StatusCode::from_u16(other.status).unwrap_or(StatusCode::OK);
            let is_text = other.content_type.starts_with("text/") || other.content_type == JSON;
            let mut response = full(status, other.content_type, other.body, compress && is_text);
            insert_all(response.headers_mut(), &other.headers);
            response
        }
        Reply::Streamed(file) => {
            let status = StatusCode::from_u16(file.status).unwrap_or(StatusCode::OK);
            let mut response =
                Response::new(ResponseBody::Streamed { remaining: file.length, stream: file.stream });
            *response.status_mut() = status;
            let headers = response.headers_mut();
            headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(file.content_type));
            headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
            insert_all(headers, &file.headers);
            response
        }
    }
}

fn failure(error: &ApiError) -> Response<ResponseBody> {
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

fn json(status: StatusCode, body: String, compress: bool) -> Response<ResponseBody> {
    full(status, JSON, body.into(), compress)
}

fn full(
    status: StatusCode,
    content_type: &'static str,
    body: Bytes,
    compress: bool,
) -> Response<ResponseBody> {
    let large = body.len() >= MIN_COMPRESSED;
    let packed = if compress && large { gzip(&body) } else { None };
    let is_packed = packed.is_some();
    let mut response = Response::new(ResponseBody::Full(packed.map_or(body, Bytes::from)));
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

/// Compresses a body, fast rather than small: compression helps on slow networks, and servers are small.
fn gzip(body: &[u8]) -> Option<Vec<u8>> {
    tokio::task::block_in_place(|| {
        let mut encoder = GzEncoder::new(Vec::with_capacity(body.len() / 4), Compression::fast());
        encoder.write_all(body).ok()?;
        encoder.finish().ok()
    })
}

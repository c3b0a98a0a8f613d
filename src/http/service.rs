//! One request, from its head to the last byte of the response.

use super::budgets::{Budget, Owner, Reservation};
use super::client_address::{client_address, is_forged, is_from_browser, is_local, origin, text_of};
use super::form::Form;
use super::interceptor::{Dropped, Interceptor, Next};
use super::multipart_stream::MultipartStream;
use super::page;
use super::reply::{ReplyBody, success_body};
use super::request_body::RequestBody;
use super::response_body::ResponseBody;
use super::route::{Conditions, HandlerOutput, Request, RequestInfo, Route};
use super::router::{Found, Router};
use crate::app::App;
use crate::auth::credentials::Shown;
use crate::auth::session::{self, Provenance};
use crate::auth::{Caller, Usage};
use crate::error::{ApiError, ApiResult};
use crate::types::{UserId, address_block};
use bytes::{Bytes, BytesMut};
use flate2::Compression;
use flate2::write::GzEncoder;
use futures_util::FutureExt;
use futures_util::future::Either;
use http_body_util::BodyExt;
use hyper::body::{Body, Incoming};
use hyper::header::{self, HeaderMap, HeaderValue};
use hyper::http::request::Parts;
use hyper::{Method, Response, StatusCode};
use std::io::Write;
use std::net::IpAddr;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

/// The longest time to receive a body, so that a slow sender cannot hold its connection forever.
const BODY_TIMEOUT: Duration = Duration::from_secs(60);

/// The same for a caller who is not known, whose body is small.
const STRANGER_BODY_TIMEOUT: Duration = Duration::from_secs(20);

/// The smallest response that is compressed, in bytes.
const MIN_COMPRESSED: usize = 4096;

const JSON: &str = "application/json";

/// The challenge for browsers, as the published server writes it for sessions. At `Basic` a browser asks for a password,
/// keeps it, and sends it with requests that other sites cause.
const SESSION_CHALLENGE: &str = r#"Session realm="zulip""#;

/// The prefix of paths for sessions of browsers, in place of `/api/v1`.
const SESSION_PREFIX: &str = "/json/";

/// The longest client name in characters, as on the published server.
const CLIENT_NAME_LENGTH: usize = 30;

/// What every request needs: the state of the server, its routes, and the budgets for bodies and answers.
pub struct Service {
    app: Arc<App>,
    router: Router,
    bodies: Budget,
    bodies_of_strangers: Budget,
    answers: Budget,
    /// Sees each exchange before the routes do. Only test servers have one.
    interceptor: Option<Arc<dyn Interceptor>>,
}

impl Service {
    /// A service for these routes.
    pub fn new(app: Arc<App>, router: Router, interceptor: Option<Arc<dyn Interceptor>>) -> Self {
        Self {
            app,
            router,
            bodies: Budget::of_bodies(),
            bodies_of_strangers: Budget::of_strangers(),
            answers: Budget::of_answers(),
            interceptor,
        }
    }

    /// The routes.
    pub fn router(&self) -> &Router {
        &self.router
    }

    /// Responds to a request, through the interceptor if there is one.
    pub fn respond(
        self: Arc<Self>,
        request: hyper::Request<Incoming>,
        peer: IpAddr,
    ) -> impl Future<Output = Result<Response<ResponseBody>, Dropped>> {
        match self.interceptor.clone() {
            None => Either::Left(self.handle(request, peer).map(Ok)),
            Some(interceptor) => {
                let next: Next = Box::new(move |request| Box::pin(self.handle(request, peer)));
                Either::Right(interceptor.intercept(request, next))
            }
        }
    }

    /// Responds to a request. Errors and panics become responses, too.
    ///
    /// Most connections wait in here for events, thousands at a time. So what it takes to read a request is boxed and
    /// dropped before the handler starts, and no future is stored twice.
    fn handle(
        self: Arc<Self>,
        request: hyper::Request<Incoming>,
        peer: IpAddr,
    ) -> impl Future<Output = Response<ResponseBody>> {
        let client = ClientTraits::of(request.uri().path(), request.headers());
        let (mut head, body) = request.into_parts();
        let body = RequestBody::new(&head.headers, body, head.extensions.remove());
        let (head, unread) = (Box::new(head), body.clone());
        let handled = async move {
            let Read { route, request, usage, renewal } =
                Box::pin(self.read_request(head, body, peer)).await?;
            let user_id = request.caller.as_ref().map(Caller::accountable);
            let mut handled = route.run(request).await.and_then(|output| self.keep(output, user_id));
            if let Ok(output) = &mut handled {
                output.headers.extend(renewal);
            }
            match usage {
                Some(usage) => with_headers(handled, usage.headers()),
                None => handled,
            }
        };
        AssertUnwindSafe(handled).catch_unwind().then(move |handled| {
            respond_with(
                handled.unwrap_or_else(|_| Err(ApiError::internal("a handler panicked"))),
                unread,
                client,
            )
        })
    }

    /// Finds the route of a request, authenticates the caller, and reads the parameters. The body is read last: what a
    /// client may send depends on who it is.
    async fn read_request(&self, head: Box<Parts>, body: RequestBody, peer: IpAddr) -> ApiResult<Read<'_>> {
        let path = head.uri.path();
        // The same routes answer under both prefixes, the one for API keys and the one for sessions.
        let api_path = path.strip_prefix(SESSION_PREFIX).map(|rest| format!("/api/v1/{rest}"));
        let path = api_path.as_deref().unwrap_or(path);
        let (route, path_parameters) = match self.router.find(&head.method, path) {
            Found::Route(route, parameters) => (route, parameters),
            Found::MethodNotAllowed(methods) => return Err(method_not_allowed(&methods)),
            Found::NotFound => return Err(not_found(&head)),
        };
        let (query, content_type) = (head.uri.query(), text_of(&head.headers, header::CONTENT_TYPE));
        let options = &self.app.options;
        if head.headers.get_all(header::HOST).iter().count() > 1 {
            return Err(ApiError::bad_request("A request has one Host header."));
        }
        if options.dev_login && !is_local(&head.headers) {
            let msg = "With --dev, this server is for programs and pages of its own machine only.";
            return Err(ApiError::new(403, "UNAUTHORIZED", msg));
        }
        if is_forged(options, &head.method, &head.headers) {
            let msg = "CSRF error: The request comes from another site.";
            return Err(ApiError::new(403, "CSRF_FAILED", msg));
        }
        let origin = origin(options, &head.headers, peer);
        let is_session = api_path.is_some();
        let shown = shown(&head, &origin, is_session)?;
        let peer = client_address(options, &head.headers, peer);
        let authenticated = route.authenticate(&self.app, shown, query, peer).await?;
        let caller = authenticated.caller;
        let renewal = match shown {
            Some(Shown::Session(secret)) if authenticated.renews_session => session::begin(secret, &origin),
            _ => Vec::new(),
        };
        let of_page = |name| text_of(&head.headers, name).filter(|_| route.outside);
        let mut info = RequestInfo {
            client: String::new(),
            accepts_html: text_of(&head.headers, header::ACCEPT)
                .is_none_or(|types| ["text/html", "text/*", "*/*"].iter().any(|html| types.contains(html))),
            accepts_gzip: accepts_gzip(&head.headers),
            origin,
            peer,
            conditions: conditions(&head.headers),
            cookies: of_page(header::COOKIE).map(str::to_owned),
            browser: route.outside.then(|| {
                session::browser_name(text_of(&head.headers, header::USER_AGENT).unwrap_or_default())
            }),
            headers: None,
        };
        let usage = self.count(route, caller.as_ref(), info.peer);
        usage.map_or(Ok(()), Usage::check)?;
        if route.needs_disk() {
            self.app.check_disk()?;
        }
        let (form, multipart) = if route.streams_body {
            let multipart = MultipartStream::new(content_type, body)?;
            (Form::new(query, None, Bytes::new(), path_parameters)?, Some(Box::new(multipart)))
        } else {
            let limit =
                BodyLimit { bytes: route.body_limit_for(caller.as_ref()), is_known: caller.is_some() };
            let begin = || match &caller {
                Some(caller) => self.bodies.begin(Owner::User(caller.accountable())),
                None => self.bodies_of_strangers.begin(Owner::Address(address_block(info.peer))),
            };
            match read_body(begin, limit, &head.headers, body).await? {
                None => (Form::new(query, content_type, Bytes::new(), path_parameters)?, None),
                Some((body, reservation)) => {
                    let content_type = content_type.filter(|_| !route.raw_body);
                    let body = reservation.keep_with(body);
                    let mut form = Form::new(query, content_type, body, path_parameters)?;
                    form.keep_reservation(reservation);
                    (form, None)
                }
            }
        };
        info.client = client_name(&form, &head.headers, is_session);
        info.headers = route.raw_body.then(|| Box::new(head.headers));
        let request = Request { app: Arc::clone(&self.app), info, caller, form, multipart };
        Ok(Read { route, request, usage, renewal })
    }

    /// Finds room for a large answer to a user. What strangers get is small, or streamed.
    fn keep(&self, mut output: HandlerOutput, user_id: Option<UserId>) -> ApiResult<HandlerOutput> {
        if let (ReplyBody::Json(members), Some(user_id)) = (&output.reply, user_id) {
            let mut reservation = self.answers.begin(Owner::User(user_id));
            reservation.grow(members.len())?;
            output.reservation = Some(reservation);
        }
        Ok(output)
    }

    /// Counts a request for the rate limit, if it is on.
    fn count(&self, route: &Route, caller: Option<&Caller>, peer: IpAddr) -> Option<Usage> {
        if !self.app.options.rate_limit || !route.is_rate_limited() {
            return None;
        }
        Some(self.app.rate_limiter.count_request(caller, peer, &self.app.clock))
    }
}

/// A request that was read, and what its response gets beside the handler's part.
struct Read<'s> {
    route: &'s Route,
    request: Request,
    /// How much of the rate limit is used.
    usage: Option<Usage>,
    /// The cookies of a session that goes on.
    renewal: Vec<(&'static str, String)>,
}

/// What matters of a client when the response is written.
#[derive(Clone, Copy)]
struct ClientTraits {
    accepts_gzip: bool,
    is_browser: bool,
    is_session: bool,
}

impl ClientTraits {
    fn of(path: &str, headers: &HeaderMap) -> Self {
        Self {
            accepts_gzip: accepts_gzip(headers),
            is_browser: is_from_browser(headers),
            is_session: path.starts_with(SESSION_PREFIX),
        }
    }
}

fn with_headers(
    handled: ApiResult<HandlerOutput>,
    headers: [(&'static str, String); 3],
) -> ApiResult<HandlerOutput> {
    match handled {
        Ok(mut output) => {
            output.headers.extend(headers);
            Ok(output)
        }
        Err(error) => {
            Err(headers.into_iter().fold(error, |error, (name, value)| error.with_header(name, value)))
        }
    }
}

async fn respond_with(
    handled: ApiResult<HandlerOutput>,
    body: RequestBody,
    client: ClientTraits,
) -> Response<ResponseBody> {
    let mut response = match handled {
        Ok(output) => success(output, client.accepts_gzip),
        Err(error) => failure(&error),
    };
    if response.headers().contains_key(header::SET_COOKIE) {
        // A cookie that is kept with its answer would come back for the next person at that browser.
        response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    if (client.is_browser || client.is_session) && response.headers().contains_key(header::WWW_AUTHENTICATE) {
        response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static(SESSION_CHALLENGE));
    }
    // The rest of a body that is too large, too slow or too much is not read.
    let gave_up = matches!(
        response.status(),
        StatusCode::PAYLOAD_TOO_LARGE | StatusCode::REQUEST_TIMEOUT | StatusCode::SERVICE_UNAVAILABLE
    );
    if gave_up || !body.skip_rest().await {
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

fn conditions(headers: &HeaderMap) -> Option<Box<Conditions>> {
    let text = |name| text_of(headers, name).map(str::to_owned);
    let conditions = Conditions {
        range: text(header::RANGE),
        if_range: text(header::IF_RANGE),
        if_none_match: text(header::IF_NONE_MATCH),
    };
    let any = conditions.range.is_some() || conditions.if_none_match.is_some();
    any.then(|| Box::new(conditions))
}

/// What a caller may send.
#[derive(Clone, Copy)]
struct BodyLimit {
    bytes: usize,
    is_known: bool,
}

/// Reads a body into memory, with what it takes of the budget; `None` if it is empty.
async fn read_body(
    begin: impl FnOnce() -> Reservation,
    limit: BodyLimit,
    headers: &HeaderMap,
    body: RequestBody,
) -> ApiResult<Option<(Bytes, Reservation)>> {
    let announced = text_of(headers, header::CONTENT_LENGTH).and_then(|length| length.parse::<u64>().ok());
    if announced.is_some_and(|length| length > limit.bytes as u64) {
        return Err(ApiError::too_large());
    }
    if announced == Some(0) || body.is_end_stream() {
        return Ok(None);
    }
    let timeout = if limit.is_known { BODY_TIMEOUT } else { STRANGER_BODY_TIMEOUT };
    let collected = tokio::time::timeout(timeout, collect(begin, limit, body)).await;
    collected.unwrap_or_else(|_| {
        Err(ApiError::new(408, "REQUEST_TIMEOUT", "The request body did not arrive in time"))
    })
}

/// Most bodies are one frame, which is not copied.
async fn collect(
    begin: impl FnOnce() -> Reservation,
    limit: BodyLimit,
    mut body: RequestBody,
) -> ApiResult<Option<(Bytes, Reservation)>> {
    let Some(first) = next_data(&mut body).await? else { return Ok(None) };
    if first.len() > limit.bytes {
        return Err(ApiError::too_large());
    }
    let mut reservation = begin();
    reservation.grow(first.len())?;
    if body.is_end_stream() {
        return Ok(Some((first, reservation)));
    }
    let mut collected = BytesMut::from(first);
    while let Some(data) = next_data(&mut body).await? {
        if collected.len() + data.len() > limit.bytes {
            return Err(ApiError::too_large());
        }
        reservation.grow(data.len())?;
        collected.extend_from_slice(&data);
    }
    Ok(Some((collected.freeze(), reservation)))
}

async fn next_data(body: &mut RequestBody) -> ApiResult<Option<Bytes>> {
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| ApiError::bad_request("The request body could not be read"))?;
        // Trailers are ignored.
        if let Ok(data) = frame.into_data() {
            return Ok(Some(data));
        }
    }
    Ok(None)
}

/// The error of a path that does not exist: a page for people, whose browser asks for HTML by name, and JSON for programs.
fn not_found(head: &Parts) -> ApiError {
    let is_page = matches!(head.method, Method::GET | Method::HEAD)
        && !head.uri.path().starts_with("/api/")
        && !head.uri.path().starts_with(SESSION_PREFIX)
        && text_of(&head.headers, header::ACCEPT).is_some_and(|types| types.contains("text/html"));
    if is_page { ApiError::not_found().with_page(page::not_found()) } else { ApiError::not_found() }
}

fn method_not_allowed(methods: &[&Method]) -> ApiError {
    let names: Vec<&str> = methods.iter().map(|method| method.as_str()).collect();
    ApiError::new(405, "BAD_REQUEST", "Method Not Allowed")
        .with("allowed_methods", names.clone())
        .with_header("Allow", names.join(", "))
}

/// Returns what a request shows to say who sends it. Below `/api` that is the header, below `/json` the session, and elsewhere
/// the header or else the session. A request that may change something must come from a page of this server for its session
/// to count: else it is refused below `/json`, and without a session elsewhere.
fn shown<'h>(head: &'h Parts, origin: &str, is_session: bool) -> ApiResult<Option<Shown<'h>>> {
    let text = |name| text_of(&head.headers, name);
    if let Some(header) = text("authorization").filter(|_| !is_session) {
        return Ok(Some(Shown::Header(header)));
    }
    if head.uri.path().starts_with("/api/") {
        return Ok(None);
    }
    let provenance = Provenance {
        fetch_site: text("sec-fetch-site"),
        origin: text("origin"),
        host: text("host"),
        token: text(session::TOKEN_HEADER),
    };
    let is_safe = matches!(head.method, Method::GET | Method::HEAD);
    match text("cookie").and_then(|cookies| session::secret_of(cookies, origin)) {
        Some(secret) if is_safe => Ok(Some(Shown::Session(secret))),
        Some(secret) => match provenance.check(origin, secret) {
            Ok(()) => Ok(Some(Shown::Session(secret))),
            Err(error) if is_session => Err(error),
            Err(_) => Ok(None),
        },
        None if is_session && !is_safe => provenance.check_origin(origin).map(|()| None),
        None => Ok(None),
    }
}

/// The name of the client: the parameter, or the first word of `User-Agent`. Browsers all begin with the same word there;
/// their sessions are the website's, or the published desktop application's.
fn client_name(form: &Form, headers: &HeaderMap, is_session: bool) -> String {
    const DESKTOP: &str = "ZulipElectron";
    let known = |agent: &&str| !is_session || *agent == DESKTOP;
    let agent = || {
        text_of(headers, header::USER_AGENT).and_then(|agent| agent.split(['/', ' ']).next()).filter(known)
    };
    let name = form.client().filter(|name| !name.is_empty()).or_else(agent).filter(|name| !name.is_empty());
    name.unwrap_or(if is_session { session::CLIENT } else { "Unspecified" })
        .chars()
        .take(CLIENT_NAME_LENGTH)
        .collect()
}

fn accepts_gzip(headers: &HeaderMap) -> bool {
    text_of(headers, header::ACCEPT_ENCODING).is_some_and(|accepted| {
        accepted.split(',').any(|coding| {
            let mut parts = coding.split(';').map(str::trim);
            parts.next() == Some("gzip") && !parts.any(|part| part.replace(' ', "") == "q=0")
        })
    })
}

fn success(output: HandlerOutput, compress: bool) -> Response<ResponseBody> {
    let mut response = reply(output.reply, &output.ignored, compress);
    insert_all(response.headers_mut(), &output.headers);
    if let (ResponseBody::Full(body), Some(reservation)) = (response.body_mut(), output.reservation) {
        *body = reservation.keep_with(std::mem::take(body));
    }
    response
}

fn reply(reply: ReplyBody, ignored: &[String], compress: bool) -> Response<ResponseBody> {
    match reply {
        ReplyBody::Json(members) => json(StatusCode::OK, success_body(members, ignored), compress),
        ReplyBody::Other(other) => {
            let status = StatusCode::from_u16(other.status).unwrap_or(StatusCode::OK);
            let is_text = other.content_type.starts_with("text/") || other.content_type == JSON;
            let is_packed = other.headers.iter().any(|(name, _)| *name == "Content-Encoding");
            let mut response =
                full(status, other.content_type, other.body, compress && is_text && !is_packed);
            if is_packed {
                response.headers_mut().insert(header::VARY, HeaderValue::from_static("Accept-Encoding"));
            }
            insert_all(response.headers_mut(), &other.headers);
            response
        }
        ReplyBody::Streamed(file) => {
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
    let mut response = match error.page() {
        Some(page) => {
            let mut response = full(status, page::HTML, Bytes::from_static(page.as_bytes()), false);
            insert_all(response.headers_mut(), &page::headers());
            response
        }
        None => json(status, error.body().to_string() + "\n", false),
    };
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
    let mut response = full(status, JSON, body.into(), compress);
    // Messages and keys stay out of the caches of browsers and proxies.
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
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

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::server::conn::http1;
    use hyper::service::service_fn;
    use hyper_util::rt::TokioIo;
    use tokio::io::AsyncWriteExt;
    use tokio::time::Instant;

    #[tokio::test(start_paused = true)]
    async fn a_body_that_does_not_come_is_waited_for_and_less_long_for_a_stranger() {
        for (is_known, seconds) in [(true, 60), (false, 20)] {
            let (mut client, server) = tokio::io::duplex(1 << 10);
            let (sender, mut waited) = tokio::sync::mpsc::unbounded_channel();
            let service = service_fn(move |request: hyper::Request<Incoming>| {
                let sender = sender.clone();
                async move {
                    let (head, body) = request.into_parts();
                    let body = RequestBody::new(&head.headers, body, None);
                    let begin = || Budget::of_bodies().begin(Owner::User(UserId(1)));
                    let start = Instant::now();
                    let read =
                        read_body(begin, BodyLimit { bytes: 100, is_known }, &head.headers, body).await;
                    sender.send((read.err().map(|error| error.status()), start.elapsed())).unwrap();
                    Ok::<_, std::convert::Infallible>(Response::new(String::new()))
                }
            });
            let head = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nhalf";
            client.write_all(head).await.unwrap();
            // The connection may end in the step in which the body is given up.
            let answer = tokio::select! {
                _ = http1::Builder::new().serve_connection(TokioIo::new(server), service) => waited.recv().await,
                answer = waited.recv() => answer,
            };
            let (status, elapsed) = answer.unwrap();
            assert_eq!((status, elapsed.as_secs()), (Some(408), seconds), "is known: {is_known}");
        }
    }
}

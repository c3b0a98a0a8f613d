//! One request, from its head to the last byte of the response.

use super::budgets::Budget;
use super::client_address::{
    Peer, SEC_FETCH_SITE, client_address, is_forged, is_from_browser, is_local, is_trusted, origin, text_of,
};
use super::discard_rate::DiscardRate;
use super::form::Form;
use super::interceptor::{Dropped, Interceptor, Next, Outcome};
use super::multipart_stream::MultipartStream;
use super::page;
use super::reply::ReplyBody;
use super::request_body::{BodyLimit, RequestBody};
use super::request_info::{Conditions, RequestInfo};
use super::request_metrics::{REQUEST_ID, RequestMetrics, Trace};
use super::response::{failure, success};
use super::response_body::ResponseBody;
use super::rounds::Rounds;
use super::route::{HandlerOutput, Request, Route};
use super::router::{Found, Router};
use super::streamed::FIRST_PART;
use crate::app::App;
use crate::auth::credentials::Shown;
use crate::auth::session::{self, Provenance};
use crate::auth::{Caller, Usage};
use crate::error::{ApiError, ApiResult};
use crate::memory;
use crate::pool::Owner;
use crate::store::read_for;
use crate::types::{Language, UserId, address_block, is_unprintable};
use bytes::Bytes;
use futures_util::FutureExt;
use futures_util::future::Either;
use hyper::body::Incoming;
use hyper::header::{self, HeaderMap, HeaderValue};
use hyper::http::request::Parts;
use hyper::http::uri::PathAndQuery;
use hyper::{Method, Response, StatusCode, Uri};
use std::net::IpAddr;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Instant;

/// The challenge for browsers, as the published server writes it for sessions. At `Basic` a browser asks for a password,
/// keeps it, and sends it with requests that other sites cause.
const SESSION_CHALLENGE: &str = r#"Session realm="zulip""#;

/// The prefix of paths for sessions of browsers, in place of `/api/v1`.
const SESSION_PREFIX: &str = "/json/";

/// The longest client name in characters, as on the published server.
const CLIENT_NAME_LENGTH: usize = 30;

/// Shared by all requests: the state of the server, its routes, and the budgets for bodies and responses.
pub struct Service {
    app: Arc<App>,
    router: Router,
    bodies: Budget,
    bodies_of_strangers: Budget,
    answers: Budget,
    rounds: Arc<Rounds>,
    discard_rate: Arc<DiscardRate>,
    metrics: RequestMetrics,
    /// Sees each exchange before the routes do. Only test servers have one.
    interceptor: Option<Arc<dyn Interceptor>>,
}

impl Service {
    /// A service for these routes.
    pub fn new(app: Arc<App>, router: Router, interceptor: Option<Arc<dyn Interceptor>>) -> Self {
        let metrics = RequestMetrics::new(router.routes().len());
        let memory = memory::limit();
        Self {
            app,
            router,
            metrics,
            bodies: Budget::of_bodies(memory),
            bodies_of_strangers: Budget::of_strangers(memory),
            answers: Budget::of_answers(memory),
            rounds: Arc::default(),
            discard_rate: Arc::default(),
            interceptor,
        }
    }

    /// The routes.
    pub fn router(&self) -> &Router {
        &self.router
    }

    /// Figures of requests and connections.
    pub fn metrics(&self) -> &RequestMetrics {
        &self.metrics
    }

    /// The rounds in which requests begin.
    pub fn rounds(&self) -> Arc<Rounds> {
        Arc::clone(&self.rounds)
    }

    /// The rate at which bytes are discarded.
    pub fn discard_rate(&self) -> Arc<DiscardRate> {
        Arc::clone(&self.discard_rate)
    }

    /// The number of bodies that each budget refused.
    pub fn refusals_of_budgets(&self) -> [(&'static str, u64); 3] {
        [
            ("bodies", self.bodies.refusals()),
            ("bodies_of_strangers", self.bodies_of_strangers.refusals()),
            ("answers", self.answers.refusals()),
        ]
    }

    /// Responds to a request, through the interceptor if there is one.
    pub fn respond(
        self: Arc<Self>,
        mut request: hyper::Request<Incoming>,
        peer: Peer,
    ) -> impl Future<Output = Result<Response<ResponseBody>, Dropped>> {
        merge_slashes(request.uri_mut());
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
    /// Most connections wait in here for events, thousands at a time. So the state for reading a request is boxed and
    /// dropped before the handler starts, no future is stored twice, and nothing is borrowed that the handler takes: it would
    /// keep its place.
    fn handle(
        self: Arc<Self>,
        request: hyper::Request<Incoming>,
        peer: Peer,
    ) -> impl Future<Output = Response<ResponseBody>> {
        let client = ClientTraits::of(request.uri().path(), request.headers());
        let is_trusted = is_trusted(&self.app.options, peer.address);
        let given_id = if is_trusted { text_of(request.headers(), REQUEST_ID) } else { None };
        let trace = Arc::new(Trace::begin(request.method().clone(), given_id));
        let (service, ended) = (Arc::clone(&self), Arc::clone(&trace));
        let (mut head, body) = request.into_parts();
        let body = RequestBody::new(&head.headers, body, head.extensions.remove());
        let (head, unread) = (Box::new(head), body.clone());
        let handled = async move {
            let ReadRequest { route, request, owner, user_id, usage, renewal } =
                Box::pin(self.read_request(head, body, peer, &trace)).await?;
            let begun = Instant::now();
            let handled = read_for(Some(owner), route.run(request)).await;
            let mut handled = handled.and_then(|output| self.keep(output, user_id));
            trace.set_handled_in(begun.elapsed());
            if let Ok(output) = &mut handled {
                output.headers.extend(renewal);
            }
            match usage {
                Some(usage) => with_headers(handled, usage.headers()),
                None => handled,
            }
        };
        AssertUnwindSafe(handled).catch_unwind().then(move |handled| {
            let handled = handled.unwrap_or_else(|_| Err(ApiError::internal("a handler panicked")));
            let cause = handled.as_ref().err().and_then(ApiError::cause).map(Box::from);
            let outcome = service.interceptor.is_some().then(|| outcome_of(&handled));
            let mut response = response_of(handled, client);
            if let Some(outcome) = outcome {
                response.extensions_mut().insert(outcome);
            }
            let status = response.status();
            if status.is_server_error()
                && let Ok(id) = HeaderValue::from_str(&ended.id())
            {
                response.headers_mut().insert(REQUEST_ID, id);
            }
            // The rest of a body that is too large, too slow or too much is not read.
            let gave_up = matches!(
                status,
                StatusCode::PAYLOAD_TOO_LARGE | StatusCode::REQUEST_TIMEOUT | StatusCode::SERVICE_UNAVAILABLE
            );
            async move {
                if gave_up || !unread.skip_rest(&service.discard_rate).await {
                    response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
                }
                ended.end(&service.metrics, &service.router, status.as_u16(), cause);
                response
            }
        })
    }

    /// Recognizes a request, and reads its parameters once it may begin. The body is read last, because its limit depends on
    /// the caller.
    async fn read_request(
        &self,
        head: Box<Parts>,
        body: RequestBody,
        peer: Peer,
        trace: &Trace,
    ) -> ApiResult<ReadRequest<'_>> {
        let options = &self.app.options;
        let is_proxied = is_trusted(options, peer.address);
        let address = client_address(options, &head.headers, peer.address);
        let recognized = self.recognize(&head, peer, address, trace).await;
        let caller = recognized.as_ref().ok().and_then(|recognized| recognized.caller.as_ref());
        self.rounds.wait(owner(caller, address)).await;
        let Recognized { route, path_parameters, origin, caller, renewal } = recognized?;
        let (query, content_type) = (head.uri.query(), text_of(&head.headers, header::CONTENT_TYPE));
        let is_session = head.uri.path().starts_with(SESSION_PREFIX);
        let of_page = |name| if route.outside { text_of(&head.headers, name) } else { None };
        let mut info = RequestInfo {
            client: String::new(),
            language: of_page(header::ACCEPT_LANGUAGE).and_then(Language::accepted),
            accepts_html: text_of(&head.headers, header::ACCEPT)
                .is_none_or(|types| ["text/html", "text/*", "*/*"].iter().any(|html| types.contains(html))),
            accepts_gzip: accepts(&head.headers, "gzip"),
            accepts_brotli: accepts(&head.headers, "br"),
            origin,
            peer: address,
            is_proxied,
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
        let owner = owner(caller.as_ref(), info.peer);
        let budget = if caller.is_some() { &self.bodies } else { &self.bodies_of_strangers };
        let begin = || budget.begin(owner);
        let (form, multipart) = if route.streams_body {
            let multipart = MultipartStream::new(content_type, body, begin())?;
            (Form::new(query, None, Bytes::new(), path_parameters)?, Some(Box::new(multipart)))
        } else {
            let limit =
                BodyLimit { bytes: route.body_limit_for(caller.as_ref()), is_known: caller.is_some() };
            match body.collect(limit, begin, || self.rounds.wait(owner)).await? {
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
        let caller = match caller {
            Some(caller) => Some(read_for(Some(owner), self.current(caller)).await?),
            None => None,
        };
        info.client = client_name(&form, &head.headers, is_session);
        info.headers = route.raw_body.then(|| Box::new(head.headers));
        let user_id = caller.as_ref().unwrap_or(&Caller::VISITOR).quota_owner();
        let request = Request { app: Arc::clone(&self.app), info, caller, form, multipart };
        Ok(ReadRequest { route, request, owner, user_id, usage, renewal })
    }

    /// Finds the route of a request, and authenticates the caller.
    async fn recognize(
        &self,
        head: &Parts,
        peer: Peer,
        address: IpAddr,
        trace: &Trace,
    ) -> ApiResult<Recognized<'_>> {
        let path = head.uri.path();
        // The same routes answer under both prefixes, the one for API keys and the one for sessions.
        let api_path = path.strip_prefix(SESSION_PREFIX).map(|rest| format!("/api/v1/{rest}"));
        let path = api_path.as_deref().unwrap_or(path);
        let (route, path_parameters) = match self.router.find(&head.method, path) {
            Found::Route(route, parameters) => (route, parameters),
            Found::MethodNotAllowed(methods) => return Err(method_not_allowed(&methods)),
            Found::NotFound => return Err(not_found(head)),
        };
        trace.set_route(route);
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
        let shown = shown(head, &origin, api_path.is_some())?;
        let authentication = route.authenticate(&self.app, shown, head.uri.query(), address);
        let authenticated = read_for(Some(owner(None, address)), authentication).await?;
        if let Some(caller) = &authenticated.caller {
            trace.set_user(caller.user_id);
        }
        let renewal = match shown {
            Some(Shown::Session(secret)) if authenticated.renews_session => session::begin(secret, &origin),
            _ => Vec::new(),
        };
        Ok(Recognized { route, path_parameters, origin, caller: authenticated.caller, renewal })
    }

    /// Returns the caller as of now: the account or the credential may have changed in the minute that a body may take.
    async fn current(&self, mut caller: Caller) -> ApiResult<Caller> {
        if !self.app.credential_cache.is_current(&caller) {
            self.app.readers.read(|snapshot| caller.reload(snapshot)).await?;
        }
        Ok(caller)
    }

    /// Reserves memory for a response. All visitors together have the share of one user.
    fn keep(&self, mut output: HandlerOutput, user_id: UserId) -> ApiResult<HandlerOutput> {
        let bytes = match &output.reply {
            ReplyBody::Json(members) => members.len(),
            // A body that others refer to as well, such as a file of the web client, is in memory once.
            ReplyBody::Other(other) if other.body.is_unique() => other.body.len(),
            ReplyBody::Other(_) => return Ok(output),
            ReplyBody::Streamed(file) => FIRST_PART.min(usize::try_from(file.length).unwrap_or(FIRST_PART)),
        };
        let mut reservation = self.answers.begin(Owner::User(user_id));
        reservation.grow(bytes)?;
        output.reservation = Some(reservation);
        Ok(output)
    }

    /// Counts a request for the rate limit, if it is on.
    fn count(&self, route: &Route, caller: Option<&Caller>, peer: IpAddr) -> Option<Usage> {
        if !self.app.options.rate_limit || !route.is_rate_limited(caller) {
            return None;
        }
        Some(self.app.rate_limiter.count_request(caller, peer, &self.app.clock))
    }
}

/// The route and the caller of a request.
struct Recognized<'s> {
    route: &'s Route,
    path_parameters: Vec<(&'static str, String)>,
    origin: String,
    caller: Option<Caller>,
    /// The renewed cookies of a session.
    renewal: Vec<(&'static str, String)>,
}

/// A request that was read, and data for its response.
struct ReadRequest<'s> {
    route: &'s Route,
    request: Request,
    owner: Owner,
    /// The user whose share of the budget for responses is used.
    user_id: UserId,
    /// Usage of the rate limit.
    usage: Option<Usage>,
    /// The renewed cookies of a session.
    renewal: Vec<(&'static str, String)>,
}

/// Properties of a client that affect the response.
#[derive(Clone, Copy)]
struct ClientTraits {
    accepts_gzip: bool,
    is_browser: bool,
    is_session: bool,
}

impl ClientTraits {
    fn of(path: &str, headers: &HeaderMap) -> Self {
        Self {
            accepts_gzip: accepts(headers, "gzip"),
            is_browser: is_from_browser(headers),
            is_session: path.starts_with(SESSION_PREFIX),
        }
    }
}

/// The owner of what a request takes.
fn owner(caller: Option<&Caller>, peer: IpAddr) -> Owner {
    caller.map_or_else(|| Owner::Address(address_block(peer)), |caller| Owner::User(caller.quota_owner()))
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

fn outcome_of(handled: &ApiResult<HandlerOutput>) -> Outcome {
    match handled {
        Ok(output) => Outcome { code: None, ignored: output.ignored.clone() },
        Err(error) => Outcome { code: Some(error.code().to_owned()), ignored: Vec::new() },
    }
}

fn response_of(handled: ApiResult<HandlerOutput>, client: ClientTraits) -> Response<ResponseBody> {
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

/// Makes one slash of adjacent slashes in a path, as the web server in front of the published server does. Programs whose
/// address of the server ends with a slash request `//api/v1/messages`, and the apps `/api/v1//calls/zoom/create`.
fn merge_slashes(uri: &mut Uri) {
    if !uri.path().contains("//") {
        return;
    }
    let mut target = uri.path().as_bytes().to_vec();
    target.dedup_by(|byte, before| *byte == b'/' && *before == b'/');
    if let Some(query) = uri.query() {
        target.push(b'?');
        target.extend_from_slice(query.as_bytes());
    }
    let mut parts = uri.clone().into_parts();
    parts.path_and_query = PathAndQuery::try_from(target).ok();
    if let Ok(merged) = Uri::from_parts(parts) {
        *uri = merged;
    }
}

/// The error of a path that does not exist: a page for people, whose browser asks for HTML by name, and JSON for programs.
fn not_found(head: &Parts) -> ApiError {
    let is_page = matches!(head.method, Method::GET | Method::HEAD)
        && !head.uri.path().starts_with("/api/")
        && !head.uri.path().starts_with(SESSION_PREFIX)
        && text_of(&head.headers, header::ACCEPT).is_some_and(|types| types.contains("text/html"));
    if !is_page {
        return ApiError::not_found();
    }
    let language = text_of(&head.headers, header::ACCEPT_LANGUAGE).and_then(Language::accepted);
    ApiError::not_found().with_page(page::not_found(language.unwrap_or_default()))
}

fn method_not_allowed(methods: &[&Method]) -> ApiError {
    let names: Vec<&str> = methods.iter().map(|method| method.as_str()).collect();
    ApiError::new(405, "BAD_REQUEST", "Method Not Allowed")
        .with("allowed_methods", names.clone())
        .with_header("Allow", names.join(", "))
}

/// Returns the credentials of a request. Below `/api` they are the header, below `/json` the session, and elsewhere the
/// header or else the session. For its session to count, a request that may change data must come from a page of this
/// server: otherwise it is refused below `/json`, and anonymous elsewhere.
fn shown<'h>(head: &'h Parts, origin: &str, is_session: bool) -> ApiResult<Option<Shown<'h>>> {
    let text = |name| text_of(&head.headers, name);
    if let Some(header) = text(header::AUTHORIZATION).filter(|_| !is_session) {
        return Ok(Some(Shown::Header(header)));
    }
    if head.uri.path().starts_with("/api/") {
        return Ok(Some(Shown::NoKey));
    }
    let provenance = Provenance {
        fetch_site: text(SEC_FETCH_SITE),
        origin: text(header::ORIGIN),
        host: text(header::HOST),
        token: text_of(&head.headers, session::TOKEN_HEADER),
    };
    let is_safe = matches!(head.method, Method::GET | Method::HEAD);
    match text(header::COOKIE).and_then(|cookies| session::secret_of(cookies, origin)) {
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
    let default = if is_session { session::CLIENT } else { "Unspecified" };
    // Lists of keys, and emails about logins, have a line for the client.
    let shown = |name: &str| -> String {
        name.chars().filter(|character| !is_unprintable(*character)).take(CLIENT_NAME_LENGTH).collect()
    };
    let name = form.client().map(shown).filter(|name| !name.is_empty());
    name.or_else(|| agent().map(shown)).filter(|name| !name.is_empty()).unwrap_or_else(|| default.to_owned())
}

/// True if the client accepts bodies with this compression.
fn accepts(headers: &HeaderMap, coding: &str) -> bool {
    text_of(headers, header::ACCEPT_ENCODING).is_some_and(|accepted| {
        accepted.split(',').any(|one| {
            let mut parts = one.split(';').map(str::trim);
            parts.next() == Some(coding) && !parts.any(|part| part.replace(' ', "") == "q=0")
        })
    })
}

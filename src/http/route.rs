//! The table of routes: each with method, path, access and handler, and the way from a path to its route.
//!
//! Handlers come in four shapes, by what they do with the file:
//! - [`Route::read`]: a function over one snapshot;
//! - [`Route::write`]: a function that is one job on the writer;
//! - [`Route::call`]: an async function for everything that has stages (rendering before writing, waiting, hashing);
//! - [`Route::receive`]: the same for a body that is not read before, but while the handler takes its files.
//!
//! Only what depends on a handler's types is compiled for each: admitting the caller, reading the parameters, calling
//! it. The way around it, snapshot or job or future, is compiled once ([`Route::handle`]).

use super::arriving::ArrivingFiles;
use super::caller::{Access, Caller, Kind};
use super::conditions::Conditions;
use super::error::{ApiError, ApiResult};
use super::form::{Form, UploadedFile};
use super::params::ParamError;
use super::reply::Reply;
use crate::app::App;
use crate::store::{Snapshot, Tx};
use bytes::Bytes;
use hyper::Method;
use percent_encoding::percent_decode_str;
use serde::de::DeserializeOwned;
use std::collections::HashMap;
use std::net::IpAddr;
use std::ops::Deref;
use std::pin::Pin;
use std::sync::Arc;

/// Bodies up to this size are read for every route that does not say otherwise, in bytes.
pub const BODY_LIMIT: usize = 1 << 20;

/// What of a request a handler may want beside its parameters.
#[derive(Clone, Debug)]
pub struct RequestInfo {
    /// The program that sent it: parameter `client`, else the first word of `User-Agent`, else `Unspecified`.
    pub client: String,
    /// Scheme, host and port under which the client reached us.
    pub origin: String,
    /// Where it came from.
    pub peer: IpAddr,
    /// The `Authorization` header.
    pub authorization: Option<String>,
    /// The `Cookie` header. No endpoint takes it for a login; pages do for what they gave to the browser.
    pub cookies: Option<String>,
    /// What the client wants of a file; few requests say so.
    pub conditions: Option<Box<Conditions>>,
}

/// One entry of the table.
pub struct Route {
    /// The method.
    pub method: Method,
    /// The path below `/api/v1`, or the whole one for routes outside. `{name}` is one segment, `{name...}` the rest.
    pub path: &'static str,
    /// Who may call, by the name of the kind.
    pub access: &'static str,
    needs_login: bool,
    /// Whether the path stands outside `/api/v1`.
    pub outside: bool,
    /// Whether bots that only deliver incoming webhooks may call.
    pub for_webhooks: bool,
    /// The largest body, in bytes. Not asked for where the handler takes the body itself.
    pub body_limit: usize,
    /// Whether the handler takes the body while it arrives.
    pub takes_body: bool,
    handler: Handler,
}

/// What a handler made of a request, and which parameters nobody asked for.
pub struct Answer {
    /// The reply.
    pub reply: Reply,
    /// For `ignored_parameters_unsupported`.
    pub ignored: Vec<String>,
}

/// A request on its way.
pub type Handled<'r> = Pin<Box<dyn Future<Output = ApiResult<Answer>> + Send + 'r>>;

/// A handler's own part: it takes whoever the credentials tell of, nobody if there are none, or why they are wrong.
enum Handler {
    Read(Box<Reading>),
    Write(Box<Writing>),
    Call(Box<Calling>),
}

type Reading = dyn Fn(&Snapshot<'_>, ApiResult<Option<Caller>>, &App, &RequestInfo, &Form) -> ApiResult<Reply>
    + Send
    + Sync;
type Writing = dyn Fn(ApiResult<Option<Caller>>, &Form) -> ApiResult<Job> + Send + Sync;
type Job = Box<dyn FnOnce(&mut Tx<'_>) -> ApiResult<Reply> + Send>;
type Calling =
    dyn Fn(ApiResult<Option<Caller>>, Arc<App>, RequestInfo, Form) -> ApiResult<Called> + Send + Sync;
/// What nobody asked for of the parameters, and the reply to come.
type Called = (Vec<String>, Pin<Box<dyn Future<Output = ApiResult<Reply>> + Send>>);

/// A handler's parameters, read from a form: a struct, or two.
pub trait Parameters: Sized {
    /// Reads them.
    fn read(form: &Form) -> Result<Self, ParamError>;
}

impl<P: DeserializeOwned> Parameters for P {
    fn read(form: &Form) -> Result<Self, ParamError> {
        form.parse()
    }
}

/// The parameters of two endpoints in one.
pub struct Both<A, B>(pub A, pub B);

impl<A: DeserializeOwned, B: DeserializeOwned> Parameters for Both<A, B> {
    fn read(form: &Form) -> Result<Self, ParamError> {
        Ok(Self(form.parse()?, form.parse()?))
    }
}

/// A reading handler's surroundings. Dereferences to the connection.
pub struct Read<'a, C> {
    snapshot: &'a Snapshot<'a>,
    /// Who calls.
    pub caller: &'a C,
    /// The server.
    pub app: &'a App,
    /// The request.
    pub info: &'a RequestInfo,
}

impl<C> Deref for Read<'_, C> {
    type Target = rusqlite::Connection;

    fn deref(&self) -> &Self::Target {
        self.snapshot
    }
}

/// An async handler's surroundings.
pub struct Call<C> {
    /// The server.
    pub app: Arc<App>,
    /// Who calls.
    pub caller: C,
    /// The request.
    pub info: RequestInfo,
    /// Files of a multipart body.
    pub files: Vec<UploadedFile>,
    /// The body, if it was not read as parameters.
    pub body: Bytes,
}

impl<C: Kind> Call<C> {
    /// Runs a job on the writer, for a caller who is checked again there.
    pub async fn write<T: Send + 'static>(
        self,
        job: impl FnOnce(&mut Tx<'_>, &C) -> ApiResult<T> + Send + 'static,
    ) -> ApiResult<T> {
        let mut caller = self.caller;
        let work = move |tx: &mut Tx<'_>| {
            caller.recheck(tx)?;
            job(tx, &caller)
        };
        self.app.writer.run(work).await
    }
}

impl Route {
    /// A handler that reads one snapshot.
    pub fn read<C: Kind, P: Parameters + 'static>(
        method: Method,
        path: &'static str,
        _access: Access<C>,
        handler: fn(&Read<'_, C>, P) -> ApiResult<Reply>,
    ) -> Self {
        let run: Box<Reading> = Box::new(move |snapshot, caller, app, info, form| {
            let caller = C::admit(caller)?;
            let params = P::read(form)?;
            handler(&Read { snapshot, caller: &caller, app, info }, params)
        });
        Self::new::<C>(method, path, Handler::Read(run))
    }

    /// A handler that is one job on the writer.
    pub fn write<C: Kind, P: Parameters + Send + 'static>(
        method: Method,
        path: &'static str,
        _access: Access<C>,
        handler: fn(&mut Tx<'_>, &C, P) -> ApiResult<Reply>,
    ) -> Self {
        let run: Box<Writing> = Box::new(move |caller, form| {
            let mut caller = C::admit(caller)?;
            let params = P::read(form)?;
            Ok(Box::new(move |tx| {
                caller.recheck(tx)?;
                handler(tx, &caller, params)
            }))
        });
        Self::new::<C>(method, path, Handler::Write(run))
    }

    /// A handler with stages of its own.
    pub fn call<C: Kind, P, F, H>(method: Method, path: &'static str, _access: Access<C>, handler: H) -> Self
    where
        P: Parameters,
        F: Future<Output = ApiResult<Reply>> + Send + 'static,
        H: Fn(Call<C>, P) -> F + Send + Sync + 'static,
    {
        let run: Box<Calling> = Box::new(move |caller, app, info, mut form| {
            let caller = C::admit(caller)?;
            let params = P::read(&form)?;
            // The form goes before the handler starts: a poll that waits should hold little.
            let (ignored, files, body) = (owned(form.ignored()), form.take_files(), form.take_body());
            drop(form);
            Ok((ignored, Box::pin(handler(Call { app, caller, info, files, body }, params))))
        });
        Self::new::<C>(method, path, Handler::Call(run))
    }

    /// A handler with stages of its own that takes the files of a body while they arrive. The caller is known before
    /// anything of the body is read.
    pub fn receive<C: Kind, P, F, H>(
        method: Method,
        path: &'static str,
        _access: Access<C>,
        handler: H,
    ) -> Self
    where
        P: Parameters,
        F: Future<Output = ApiResult<Reply>> + Send + 'static,
        H: Fn(Call<C>, P, ArrivingFiles) -> F + Send + Sync + 'static,
    {
        let run: Box<Calling> = Box::new(move |caller, app, info, mut form| {
            let caller = C::admit(caller)?;
            let params = P::read(&form)?;
            let (ignored, files, body) = (owned(form.ignored()), Vec::new(), Bytes::new());
            let arriving = form.take_arriving().ok_or_else(ApiError::internal)?;
            drop(form);
            Ok((ignored, Box::pin(handler(Call { app, caller, info, files, body }, params, arriving))))
        });
        Self { takes_body: true, ..Self::new::<C>(method, path, Handler::Call(run)) }
    }

    fn new<C: Kind>(method: Method, path: &'static str, handler: Handler) -> Self {
        Self {
            method,
            path,
            access: C::NAME,
            needs_login: C::NEEDS_LOGIN,
            outside: false,
            for_webhooks: false,
            body_limit: BODY_LIMIT,
            takes_body: false,
            handler,
        }
    }

    /// The path stands as it is, not below `/api/v1`.
    #[must_use]
    pub fn outside(mut self) -> Self {
        self.outside = true;
        self
    }

    /// Incoming-webhook bots may call.
    #[must_use]
    pub fn for_webhooks(mut self) -> Self {
        self.for_webhooks = true;
        self
    }

    /// Reads larger bodies.
    #[must_use]
    pub fn body_limit(mut self, bytes: usize) -> Self {
        self.body_limit = bytes;
        self
    }

    /// The path as a client writes it.
    pub fn full_path(&self) -> String {
        if self.outside { self.path.to_owned() } else { format!("/api/v1{}", self.path) }
    }

    /// Runs the handler.
    pub fn handle(&self, app: Arc<App>, info: RequestInfo, form: Form) -> Handled<'_> {
        match &self.handler {
            Handler::Read(run) => Box::pin(async move {
                let answer = app.readers.read(|snapshot| {
                    let caller = self.authenticate(snapshot, &info);
                    let reply = run(snapshot, caller, &app, &info, &form)?;
                    Ok(Answer { reply, ignored: owned(form.ignored()) })
                });
                let answer = answer.await;
                counted(&app, info.peer, answer)
            }),
            Handler::Write(run) => Box::pin(async move {
                let caller = self.caller(&app, &info).await;
                let job = counted(&app, info.peer, run(caller, &form))?;
                let ignored = owned(form.ignored());
                drop(form);
                Ok(Answer { reply: app.writer.run(job).await?, ignored })
            }),
            Handler::Call(run) => Box::pin(async move {
                let caller = self.caller(&app, &info).await;
                let other_parts = form.other_parts();
                let (limits, peer) = (Arc::clone(&app), info.peer);
                let (mut ignored, reply) = counted(&limits, peer, run(caller, app, info, form))?;
                drop(limits);
                let reply = reply.await?;
                if let Some(other_parts) = other_parts {
                    ignored.extend(other_parts.names());
                    ignored.sort_unstable();
                    ignored.dedup();
                }
                Ok(Answer { reply, ignored })
            }),
        }
    }

    /// The caller, before a handler that does not read a snapshot anyway.
    async fn caller(&self, app: &App, info: &RequestInfo) -> ApiResult<Option<Caller>> {
        if !self.needs_login {
            return Ok(None);
        }
        app.readers.read(|snapshot| self.authenticate(snapshot, info)).await
    }

    fn authenticate(&self, snapshot: &Snapshot<'_>, info: &RequestInfo) -> ApiResult<Option<Caller>> {
        const INCOMING_WEBHOOK: Option<i64> = Some(2);
        let Some(credentials) = info.authorization.as_deref().filter(|_| self.needs_login) else {
            return Ok(None);
        };
        let caller = Caller::authenticate(snapshot, credentials)?;
        if caller.bot_type == INCOMING_WEBHOOK && !self.for_webhooks {
            return Err(ApiError::bad_request("This API is not available to incoming webhook bots."));
        }
        Ok(Some(caller))
    }
}

fn owned(names: Vec<&str>) -> Vec<String> {
    names.into_iter().map(str::to_owned).collect()
}

/// Counts a failed login against the address it came from. Right credentials always pass: a key is too long to guess,
/// so the limit only has to keep guessers from keeping us busy.
fn counted<T>(app: &App, peer: IpAddr, result: ApiResult<T>) -> ApiResult<T> {
    if let Err(error) = &result
        && matches!(error.code(), "INVALID_API_KEY" | "UNAUTHORIZED")
    {
        app.limits.failed_key(peer, app.clock.milliseconds())?;
    }
    result
}

/// Finds the route of a path.
pub struct Router {
    routes: Vec<Route>,
    root: Node,
}

#[derive(Default)]
struct Node {
    literals: HashMap<&'static str, Node>,
    parameter: Option<Box<Node>>,
    /// Indexes of routes that end here.
    ends: Vec<usize>,
    /// Indexes of routes whose last parameter takes the rest of the path.
    rests: Vec<usize>,
}

/// Two routes that would answer the same request.
#[derive(Debug, thiserror::Error)]
#[error("{method} {first} and {second} are the same route")]
pub struct Clash {
    method: Method,
    first: &'static str,
    second: &'static str,
}

/// What a path leads to.
pub enum Found<'r> {
    /// A route, and the values of its path parameters.
    Route(&'r Route, Vec<(&'static str, String)>),
    /// A path that other methods have.
    OtherMethods(Vec<&'r Method>),
    /// Nothing.
    Nothing,
}

impl Router {
    /// Builds the table; two routes for one request are refused.
    pub fn new(routes: Vec<Route>) -> Result<Self, Clash> {
        let mut root = Node::default();
        for (index, route) in routes.iter().enumerate() {
            let prefix: &[&'static str] = if route.outside { &[] } else { &["api", "v1"] };
            let mut node = &mut root;
            let mut rest = false;
            for segment in prefix.iter().copied().chain(segments(route.path)) {
                match parameter_name(segment) {
                    Some((_, true)) => rest = true,
                    Some((_, false)) => node = node.parameter.get_or_insert_default(),
                    None => node = node.literals.entry(segment).or_default(),
                }
            }
            let ends = if rest { &mut node.rests } else { &mut node.ends };
            if let Some(other) =
                ends.iter().map(|other| &routes[*other]).find(|other| other.method == route.method)
            {
                return Err(Clash { method: route.method.clone(), first: other.path, second: route.path });
            }
            ends.push(index);
        }
        Ok(Self { routes, root })
    }

    /// The routes, in the order of the slices.
    pub fn routes(&self) -> &[Route] {
        &self.routes
    }

    /// Finds the route of a request. Literal segments win over parameters, parameters over the rest of a path.
    pub fn find(&self, method: &Method, path: &str) -> Found<'_> {
        let parts: Vec<&str> = segments(path).collect();
        let mut candidates = Vec::new();
        self.root.collect(&parts, &mut candidates);
        let matching =
            candidates.iter().map(|index| &self.routes[*index]).find(|route| route.method == method);
        if let Some(route) = matching {
            return match path_parameters(route, &parts) {
                Some(parameters) => Found::Route(route, parameters),
                None => Found::Nothing,
            };
        }
        if candidates.is_empty() {
            return Found::Nothing;
        }
        let mut methods: Vec<_> = candidates.iter().map(|index| &self.routes[*index].method).collect();
        methods.sort_by_key(|method| method.as_str());
        methods.dedup();
        Found::OtherMethods(methods)
    }
}

impl Node {
    /// Collects the routes that a path leads to, the closest match first.
    fn collect(&self, parts: &[&str], found: &mut Vec<usize>) {
        match parts.split_first() {
            None => found.extend(&self.ends),
            Some((part, rest)) => {
                if let Some(node) = self.literals.get(part) {
                    node.collect(rest, found);
                }
                // A parameter has a value: `/users/` is not a user.
                if let Some(node) = &self.parameter
                    && !part.is_empty()
                {
                    node.collect(rest, found);
                }
                if parts != [""] {
                    found.extend(&self.rests);
                }
            }
        }
    }
}

fn segments(path: &str) -> impl Iterator<Item = &str> {
    path.strip_prefix('/').unwrap_or(path).split('/')
}

/// The name of a `{name}` or `{name...}` segment, and whether it takes the rest.
fn parameter_name(segment: &'static str) -> Option<(&'static str, bool)> {
    let name = segment.strip_prefix('{')?.strip_suffix('}')?;
    Some(name.strip_suffix("...").map_or((name, false), |name| (name, true)))
}

/// The decoded values of a route's parameters; `None` when one is not UTF-8.
fn path_parameters(route: &Route, parts: &[&str]) -> Option<Vec<(&'static str, String)>> {
    let skipped = if route.outside { 0 } else { 2 };
    let mut parameters = Vec::new();
    for (index, segment) in segments(route.path).enumerate() {
        let Some((name, rest)) = parameter_name(segment) else { continue };
        let raw = if rest { parts[skipped + index..].join("/") } else { parts[skipped + index].to_owned() };
        parameters.push((name, percent_decode_str(&raw).decode_utf8().ok()?.into_owned()));
    }
    Some(parameters)
}

#[cfg(test)]
mod tests {
    use super::super::caller::{ANYONE, Anyone};
    use super::*;

    #[derive(serde::Deserialize)]
    struct NoParams {}

    fn route(method: Method, path: &'static str) -> Route {
        fn handler(_read: &Read<'_, Anyone>, _params: NoParams) -> ApiResult<Reply> {
            Ok(Reply::ok())
        }
        Route::read(method, path, ANYONE, handler)
    }

    fn router() -> Router {
        Router::new(vec![
            route(Method::GET, "/users/{user_id}"),
            route(Method::GET, "/users/me"),
            route(Method::PATCH, "/users/{user_id}"),
            route(Method::GET, "/users/me/{stream_id}/topics"),
            route(Method::GET, "/users/{user_id}/subscriptions/{stream_id}"),
            route(Method::POST, "/users/me/subscriptions"),
            route(Method::PATCH, "/navigation_views/{fragment...}"),
            route(Method::GET, "/avatar/{user_id}").outside(),
        ])
        .unwrap()
    }

    #[test]
    fn paths_lead_to_their_routes() {
        let cases = [
            ("GET", "/api/v1/users/me", "/users/me", ""),
            ("GET", "/api/v1/users/7", "/users/{user_id}", "user_id=7"),
            ("PATCH", "/api/v1/users/me", "/users/{user_id}", "user_id=me"),
            ("GET", "/api/v1/users/me/3/topics", "/users/me/{stream_id}/topics", "stream_id=3"),
            (
                "GET",
                "/api/v1/users/me/subscriptions/3",
                "/users/{user_id}/subscriptions/{stream_id}",
                "user_id=me stream_id=3",
            ),
            ("GET", "/api/v1/users/a%40b.example", "/users/{user_id}", "user_id=a@b.example"),
            (
                "PATCH",
                "/api/v1/navigation_views/narrow/is/starred",
                "/navigation_views/{fragment...}",
                "fragment=narrow/is/starred",
            ),
            (
                "PATCH",
                "/api/v1/navigation_views/narrow%2Fis%2Fstarred",
                "/navigation_views/{fragment...}",
                "fragment=narrow/is/starred",
            ),
            ("GET", "/avatar/9", "/avatar/{user_id}", "user_id=9"),
        ];
        let router = router();
        for (method, path, expected, parameters) in cases {
            let Found::Route(route, found) = router.find(&method.parse().unwrap(), path) else {
                panic!("{method} {path} leads nowhere");
            };
            let found: Vec<String> = found.iter().map(|(name, value)| format!("{name}={value}")).collect();
            assert_eq!((route.path, found.join(" ").as_str()), (expected, parameters), "{method} {path}");
        }
    }

    #[test]
    fn other_methods_and_other_paths_are_told_apart() {
        let router = router();
        let Found::OtherMethods(methods) = router.find(&Method::DELETE, "/api/v1/users/7") else {
            panic!("a known path");
        };
        assert_eq!(methods, [&Method::GET, &Method::PATCH]);
        for path in [
            "/",
            "/api/v1",
            "/api/v1/users",
            "/api/v1/users/",
            "/api/v1/users/7/",
            "/api/v1/users//subscriptions/7",
            "/api/v1/navigation_views/",
            "/api/v1/nothing",
            "/users/7",
            "//",
        ] {
            assert!(matches!(router.find(&Method::GET, path), Found::Nothing), "{path}");
        }
        assert!(matches!(router.find(&Method::GET, "/api/v1/users/%ff"), Found::Nothing));
    }

    #[test]
    fn two_routes_for_one_request_are_refused() {
        let clash =
            Router::new(vec![route(Method::GET, "/users/{user_id}"), route(Method::GET, "/users/{email}")]);
        assert_eq!(
            clash.err().unwrap().to_string(),
            "GET /users/{user_id} and /users/{email} are the same route"
        );
    }
}

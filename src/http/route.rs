//! The table of routes: method, path, access and handler of each.
//!
//! Handlers come in four shapes:
//! - [`Route::read`]: a function over one snapshot; one that may take long is [`slow`](Route::slow) and runs in a pool;
//! - [`Route::write`]: a function that is one job on the writer;
//! - [`Route::call`]: an async function, for everything with stages (render before writing, wait, hash a password);
//! - [`Route::upload`]: an async function that reads the files of the body while it arrives.
//!
//! The types of a handler's caller and parameters are erased where the route is built: one small closure for each
//! handler checks the caller, reads the parameters and calls it. Everything around that closure is compiled once, in
//! [`Route::run`].

use super::budgets::Reservation;
use super::form::Form;
use super::multipart_stream::MultipartStream;
use super::params::ParamError;
use super::reply::{Reply, ReplyBody};
use super::request_info::RequestInfo;
use crate::app::App;
use crate::auth::credentials::{SecretKind, Shown, admit, parse_basic};
use crate::auth::{Access, Caller, CallerKind, CredentialRow, CredentialUse, Ctx, Visitor};
use crate::error::{ApiError, ApiResult};
use crate::store::{Snapshot, Tx};
use crate::types::UploadedFile;
use futures_util::future::BoxFuture;
use hyper::Method;
use serde::de::DeserializeOwned;
use std::borrow::Cow;
use std::net::IpAddr;
use std::ops::Deref;
use std::pin::Pin;
use std::sync::Arc;

/// The largest body of a known caller on routes that do not set another limit, in bytes.
pub const BODY_LIMIT: usize = 1 << 20;

/// The largest body of a caller who is not known, in bytes: a form of a page, or a login.
const STRANGER_BODY_LIMIT: usize = 64 << 10;

/// An entry of the table of routes.
pub struct Route {
    /// The method; routes of `GET` also answer `HEAD`, see [`Route::answers`].
    pub method: Method,
    /// The path below `/api/v1`, or the whole path outside of it. `{name}` is one segment, `{name...}` the rest.
    pub path: &'static str,
    /// The kind of caller, [`CallerKind::NAME`].
    pub access: &'static str,
    needs_login: bool,
    /// Checks the kind of caller before the body is read.
    admits: fn(Option<Caller>) -> ApiResult<()>,
    /// True if only the key in the query string counts, as `api_key`.
    key_in_query: bool,
    is_rate_limited: bool,
    /// True if a route for `GET` answers `HEAD` too.
    answers_head: bool,
    needs_disk: bool,
    /// True if the path is outside of `/api/v1`.
    pub outside: bool,
    /// True if incoming-webhook bots may call it.
    pub for_webhooks: bool,
    /// The largest body of a known caller in bytes. Ignored if the handler streams the body.
    pub body_limit: usize,
    /// True if the handler reads the body while it arrives.
    pub streams_body: bool,
    /// True if only the handler reads the body, of any type. Parameters come from query string and path then.
    pub raw_body: bool,
    /// True if a request may be slow to read.
    is_slow: fn(&Form) -> bool,
    /// Waits for something before a slow read.
    before_slow_read: Option<BeforeRead>,
    /// The position in the table, set by the router.
    pub(super) index: usize,
    handler: Handler,
}

/// The result of authentication.
#[derive(Default)]
pub struct Authenticated {
    /// The caller; `None` without credentials, or if the route does not look at them.
    pub caller: Option<Caller>,
    /// True if the response should renew the cookies of the caller's session.
    pub renews_session: bool,
}

/// Looks up credentials. Malformed ones belong to no account.
async fn find_row(app: &App, shown: Shown<'_>) -> ApiResult<Option<Arc<CredentialRow>>> {
    let find = |kind, secret| app.credential_cache.find(&app.readers, kind, secret);
    match shown {
        Shown::Session(secret) => find(SecretKind::Session, secret).await,
        Shown::KeyInQuery(key) => find(SecretKind::ApiKey, key).await,
        Shown::NoKey => Ok(None),
        Shown::Header(header) => match parse_basic(header) {
            Ok((_, key)) => app.credential_cache.find(&app.readers, SecretKind::ApiKey, &key).await,
            Err(_) => Ok(None),
        },
    }
}

/// The last parameter `api_key` of a query string.
fn key_in_query(query: &str) -> Option<Cow<'_, str>> {
    form_urlencoded::parse(query.as_bytes()).filter(|(name, _)| name == "api_key").last().map(|(_, key)| key)
}

/// A request as a route takes it.
pub struct Request {
    /// The server.
    pub app: Arc<App>,
    /// Facts about the request for handlers.
    pub info: RequestInfo,
    /// The caller; `None` without credentials, or if the route does not look at them.
    pub caller: Option<Caller>,
    /// The parameters.
    pub form: Form,
    /// The body, for routes that stream it. Boxed, since most requests have none.
    pub multipart: Option<Box<MultipartStream>>,
}

/// The successful result of a handler, with additions of the route.
pub struct HandlerOutput {
    /// The handler's reply.
    pub reply: ReplyBody,
    /// Parameters that the handler does not know, for `ignored_parameters_unsupported`.
    pub ignored: Vec<String>,
    /// Additional headers.
    pub headers: Vec<(&'static str, String)>,
    /// The place of a large answer in memory.
    pub reservation: Option<Reservation>,
}

impl HandlerOutput {
    fn new(reply: ReplyBody, ignored: Vec<String>) -> Self {
        Self { reply, ignored, headers: Vec::new(), reservation: None }
    }
}

/// A request that a route is working on.
pub type HandlerFuture<'r> = Pin<Box<dyn Future<Output = ApiResult<HandlerOutput>> + Send + 'r>>;

/// Waits for something before a read takes its snapshot.
pub type BeforeRead = for<'a> fn(&'a App, &'a Form) -> BoxFuture<'a, ApiResult<()>>;

/// A handler without the types of its caller and parameters.
enum Handler {
    Read(Arc<ReadFn>),
    Write(Box<WriteFn>),
    Call(Box<CallFn>),
}

/// Runs the handler on a snapshot.
type ReadFn = dyn Fn(&Snapshot<'_>, &Request) -> ApiResult<ReplyBody> + Send + Sync + 'static;

/// Reads the parameters, and returns the job that runs the handler on the writer.
type WriteFn = dyn Fn(Option<Caller>, IpAddr, &Form) -> ApiResult<WriterJob> + Send + Sync;
type WriterJob = Box<dyn FnOnce(&mut Tx<'_>) -> ApiResult<ReplyBody> + Send>;

/// Reads the parameters, and starts the handler. Returns the ignored parameters with it.
type CallFn = dyn Fn(Request) -> ApiResult<(Vec<String>, ReplyFuture)> + Send + Sync;
type ReplyFuture = Pin<Box<dyn Future<Output = ApiResult<ReplyBody>> + Send>>;

/// The parameters of a handler: a struct, or [`Params2`].
pub trait Parameters: Sized {
    /// Reads the parameters from a form.
    fn read(form: &Form) -> Result<Self, ParamError>;
}

impl<P: DeserializeOwned> Parameters for P {
    fn read(form: &Form) -> Result<Self, ParamError> {
        form.parse()
    }
}

/// Parameters in two structs, for endpoints that share some of their parameters with others.
pub struct Params2<A, B>(pub A, pub B);

impl<A: Parameters, B: Parameters> Parameters for Params2<A, B> {
    fn read(form: &Form) -> Result<Self, ParamError> {
        Ok(Self(A::read(form)?, B::read(form)?))
    }
}

/// The context of a handler that reads. Dereferences to the connection.
pub struct Read<'a, C> {
    snapshot: &'a Snapshot<'a>,
    pub caller: &'a C,
    /// The server.
    pub app: &'a App,
    /// Facts about the request.
    pub info: &'a RequestInfo,
}

impl<C> Deref for Read<'_, C> {
    type Target = rusqlite::Connection;

    fn deref(&self) -> &Self::Target {
        self.snapshot
    }
}

impl<C> Read<'_, C> {
    /// The snapshot that all statements of the handler read.
    pub fn snapshot(&self) -> &Snapshot<'_> {
        self.snapshot
    }

    /// True on a request thread. A slow operation [aborts](Self::abort_quick_read) there, and is repeated in the pool of
    /// slow reads. Most handlers do not ask: the store counts the steps of their statements. It cannot count the bytes of a
    /// reply, so handlers of long replies (`GET /messages`) have a smaller limit here.
    pub fn is_quick(&self) -> bool {
        self.snapshot.is_quick()
    }

    /// Aborts the read so that it is retried in the slow pool. Returns the error to end it with.
    pub fn abort_quick_read(&self) -> ApiError {
        self.snapshot.abort_quick_read().into()
    }
}

impl<C: Deref<Target = Caller>> Read<'_, C> {
    /// The snapshot as the caller sees it now.
    pub fn ctx(&self) -> Ctx<'_> {
        Ctx::new(self, self.caller, self.app.clock.seconds())
    }
}

/// The context of an async handler.
pub struct Call<C> {
    /// The server.
    pub app: Arc<App>,
    pub caller: C,
    /// Facts about the request.
    pub info: RequestInfo,
    /// The files of a multipart body.
    pub files: Vec<UploadedFile>,
    /// The body, if it holds no parameters.
    pub body: bytes::Bytes,
}

impl<C: CallerKind> Call<C> {
    /// Runs a job on the writer, after checking there that the caller still is of its kind.
    pub async fn write<T: Send + 'static>(
        self,
        job: impl FnOnce(&mut Tx<'_>, &C) -> ApiResult<T> + Send + 'static,
    ) -> ApiResult<T> {
        let (caller, peer) = (self.caller, self.info.peer);
        self.app.writer.run(move |tx| caller.run(tx, peer, job)).await
    }
}

impl Route {
    /// A handler that reads one snapshot.
    pub fn read<C: CallerKind, P: Parameters + 'static, T: 'static>(
        method: Method,
        path: &'static str,
        _access: Access<C>,
        handler: fn(&Read<'_, C>, P) -> ApiResult<Reply<T>>,
    ) -> Self {
        let run: Arc<ReadFn> = Arc::new(move |snapshot, request| {
            let caller = C::admit(request.caller.clone())?;
            let params = P::read(&request.form)?;
            let read = Read { snapshot, caller: &caller, app: &request.app, info: &request.info };
            handler(&read, params).map(Reply::into_body)
        });
        Self::new::<C>(method, path, Handler::Read(run))
    }

    /// A handler that is one job on the writer.
    pub fn write<C: CallerKind, P: Parameters + Send + 'static, T: 'static>(
        method: Method,
        path: &'static str,
        _access: Access<C>,
        handler: fn(&mut Tx<'_>, &C, P) -> ApiResult<Reply<T>>,
    ) -> Self {
        let run: Box<WriteFn> = Box::new(move |caller, peer, form| {
            let caller = C::admit(caller)?;
            let params = P::read(form)?;
            let job = move |tx: &mut Tx<'_>, caller: &C| handler(tx, caller, params).map(Reply::into_body);
            Ok(Box::new(move |tx| caller.run(tx, peer, job)))
        });
        Self::new::<C>(method, path, Handler::Write(run))
    }

    /// An async handler.
    pub fn call<C: CallerKind, P, T, F, H>(
        method: Method,
        path: &'static str,
        _access: Access<C>,
        handler: H,
    ) -> Self
    where
        P: Parameters,
        F: Future<Output = ApiResult<Reply<T>>> + Send + 'static,
        H: Fn(Call<C>, P) -> F + Send + Sync + 'static,
    {
        let run: Box<CallFn> = Box::new(move |Request { app, info, caller, mut form, .. }| {
            let caller = C::admit(caller)?;
            let params = P::read(&form)?;
            // The form is dropped before the handler runs: thousands of polls wait at a time.
            let (ignored, files, body) = (owned(form.ignored()), form.take_files(), form.take_body());
            drop(form);
            let reply = handler(Call { app, caller, info, files, body }, params);
            Ok((ignored, Box::pin(async move { reply.await.map(Reply::into_body) })))
        });
        Self::new::<C>(method, path, Handler::Call(run))
    }

    /// An async handler that reads the files of a multipart body while it arrives. The caller is checked before
    /// anything of the body is read. Parameters come from the query string and the path only.
    pub fn upload<C: CallerKind, P, T, F, H>(
        method: Method,
        path: &'static str,
        _access: Access<C>,
        handler: H,
    ) -> Self
    where
        P: Parameters,
        F: Future<Output = ApiResult<Reply<T>>> + Send + 'static,
        H: Fn(Call<C>, P, MultipartStream) -> F + Send + Sync + 'static,
    {
        let run: Box<CallFn> = Box::new(move |Request { app, info, caller, form, multipart }| {
            let caller = C::admit(caller)?;
            let params = P::read(&form)?;
            let multipart = multipart.ok_or_else(|| {
                ApiError::internal("a route that streams its body got a body that was read")
            })?;
            let (ignored, files, body) = (owned(form.ignored()), Vec::new(), bytes::Bytes::new());
            drop(form);
            let reply = handler(Call { app, caller, info, files, body }, params, *multipart);
            Ok((ignored, Box::pin(async move { reply.await.map(Reply::into_body) })))
        });
        Self { streams_body: true, ..Self::new::<C>(method, path, Handler::Call(run)) }
    }

    fn new<C: CallerKind>(method: Method, path: &'static str, handler: Handler) -> Self {
        Self {
            path,
            access: C::NAME,
            needs_login: C::NEEDS_LOGIN,
            admits: |caller| C::admit(caller).map(|_| ()),
            key_in_query: false,
            is_rate_limited: true,
            answers_head: true,
            needs_disk: !matches!(method, Method::GET | Method::HEAD | Method::DELETE),
            method,
            outside: false,
            for_webhooks: false,
            body_limit: BODY_LIMIT,
            streams_body: false,
            raw_body: false,
            is_slow: |_| false,
            before_slow_read: None,
            index: usize::MAX,
            handler,
        }
    }

    /// The path is not below `/api/v1`.
    #[must_use]
    pub fn outside(mut self) -> Self {
        self.outside = true;
        self
    }

    /// Lets incoming-webhook bots call.
    #[must_use]
    pub fn for_webhooks(mut self) -> Self {
        self.for_webhooks = true;
        self
    }

    /// Leaves the body to the handler, for any type.
    #[must_use]
    pub fn raw_body(mut self) -> Self {
        self.raw_body = true;
        self
    }

    /// The API key of the caller is the parameter `api_key` of the query string. No header and no session counts.
    #[must_use]
    pub fn key_in_query(mut self) -> Self {
        self.key_in_query = true;
        self
    }

    /// Requests do not count for the rate limit: polls, of which each event may take one.
    #[must_use]
    pub fn unlimited(mut self) -> Self {
        self.is_rate_limited = false;
        self
    }

    /// Refuses `HEAD`: a poll acknowledges earlier events, and its body is its only purpose.
    #[must_use]
    pub fn without_head(mut self) -> Self {
        self.answers_head = false;
        self
    }

    /// True if the route answers requests of a method: its own, and `HEAD` if that is `GET`.
    pub fn answers(&self, method: &Method) -> bool {
        self.method == method || (*method == Method::HEAD && self.method == Method::GET && self.answers_head)
    }

    /// Admits requests while the disk is almost full. They free space, or are needed to do so, or write very little.
    /// Reading and `DELETE` are always admitted; other requests are refused, which reserves the remaining space for
    /// deletions.
    #[must_use]
    pub fn on_full_disk(mut self) -> Self {
        self.needs_disk = false;
        self
    }

    /// True if requests are refused while the disk is almost full.
    pub fn needs_disk(&self) -> bool {
        self.needs_disk
    }

    /// True if requests count for the rate limit. Pages and files do not: a client loads many of them at once. Those of
    /// visitors do, as on the published server.
    pub fn is_rate_limited(&self, caller: Option<&Caller>) -> bool {
        let is_visit = caller.is_none() && self.access == Visitor::NAME;
        self.is_rate_limited && (!self.outside || is_visit)
    }

    /// True if handlers wait for clients or events: polls, and bodies that are read while they arrive.
    pub(super) fn may_wait(&self) -> bool {
        !self.is_rate_limited || self.streams_body
    }

    /// Sets the largest body of a known caller, in bytes.
    #[must_use]
    pub fn body_limit(mut self, bytes: usize) -> Self {
        self.body_limit = bytes;
        self
    }

    /// A handler that reads one snapshot may take long: long lists, searches, differences. It runs in a pool, so that it
    /// holds up no other request. Others go there when they turn out to be slow.
    #[must_use]
    pub fn slow(self) -> Self {
        self.slow_if(|_| true)
    }

    /// Like [`Self::slow`], for requests whose parameters satisfy a function.
    #[must_use]
    pub fn slow_if(mut self, is_slow: fn(&Form) -> bool) -> Self {
        self.is_slow = is_slow;
        self
    }

    /// Has slow reads wait for something before they take their snapshot.
    #[must_use]
    pub fn before_slow_read(mut self, wait: BeforeRead) -> Self {
        self.before_slow_read = Some(wait);
        self
    }

    /// The whole path, as a client writes it.
    pub fn full_path(&self) -> String {
        if self.outside { self.path.to_owned() } else { format!("/api/v1{}", self.path) }
    }

    /// Authenticates the caller from the head of a request, and checks that the route admits it. Failures count for the
    /// client's address; after too many, the error becomes that of the rate limit.
    pub async fn authenticate(
        &self,
        app: &App,
        shown: Option<Shown<'_>>,
        query: Option<&str>,
        peer: IpAddr,
    ) -> ApiResult<Authenticated> {
        let key = if self.key_in_query { key_in_query(query.unwrap_or_default()) } else { None };
        let shown = match &key {
            Some(key) => Some(Shown::KeyInQuery(key)),
            None => shown.filter(|_| !self.key_in_query),
        };
        let shown = shown.filter(|_| self.needs_login);
        let login = match shown {
            Some(shown) => find_row(app, shown).await?,
            None => None,
        };
        let authenticated = match shown {
            Some(shown) => self.judge(app, shown, login.as_deref(), peer),
            None => Ok(Authenticated::default()),
        };
        let admitted = authenticated
            .and_then(|authenticated| (self.admits)(authenticated.caller.clone()).map(|()| authenticated));
        let is_proven = || shown.zip(login).is_some_and(|(shown, login)| login.is_proven_by(shown));
        if admitted.as_ref().is_err_and(|error| error.status() == 401) && !is_proven() {
            if matches!(shown, Some(Shown::Header(_) | Shown::KeyInQuery(_))) {
                app.rate_limiter.log_wrong_key(peer, &app.clock);
            }
            app.rate_limiter.count_wrong_key(peer, &app.clock)?;
        }
        admitted
    }

    /// Checks credentials with [`admit`], and records their use.
    fn judge(
        &self,
        app: &App,
        shown: Shown<'_>,
        login: Option<&CredentialRow>,
        peer: IpAddr,
    ) -> ApiResult<Authenticated> {
        let now = app.clock.seconds();
        let caller = admit(shown, login, self.for_webhooks, now)?;
        let mut renews_session = false;
        if let Some((caller, login)) = caller.as_ref().zip(login) {
            let credential = caller.credential;
            login.use_at(now);
            app.credential_cache.record_use(CredentialUse { credential, time: now, address: peer });
            // Not by polls, whose answers may come when the browser has another session.
            renews_session = matches!(shown, Shown::Session(_))
                && self.is_rate_limited(Some(caller))
                && login.take_renewal(now);
        }
        Ok(Authenticated { caller, renews_session })
    }

    /// The largest body that this caller may send, in bytes. Meaningless if the handler streams the body.
    pub fn body_limit_for(&self, caller: Option<&Caller>) -> usize {
        if caller.is_some() { self.body_limit } else { self.body_limit.min(STRANGER_BODY_LIMIT) }
    }

    pub fn run(&self, mut request: Request) -> HandlerFuture<'_> {
        match &self.handler {
            Handler::Read(handler) => Box::pin(async move {
                let app = Arc::clone(&request.app);
                // The length of most reads is known only when they are done. Handing each of them to another thread would cost
                // more than a short one takes, so a long one is repeated in the pool instead. A handler only reads its
                // snapshot, so that it can run twice; the first run ends after about ten milliseconds.
                if !(self.is_slow)(&request.form) {
                    let read = app.readers.read_quickly(|snapshot| handler(snapshot, &request)).await?;
                    if let Some(reply) = read {
                        return Ok(HandlerOutput::new(reply, owned(request.form.ignored())));
                    }
                }
                if let Some(wait) = self.before_slow_read {
                    wait(&app, &request.form).await?;
                }
                // All visitors together have the share of one user.
                let user = Some(request.caller.as_ref().unwrap_or(&Caller::VISITOR).quota_owner());
                let handler = Arc::clone(handler);
                let read = move |snapshot: &Snapshot<'_>| {
                    let reply = handler(snapshot, &request);
                    Ok((reply, owned(request.form.ignored())))
                };
                let (reply, ignored) = app.read_in(&app.pools.slow_reads, user, read).await?;
                Ok(HandlerOutput::new(reply?, ignored))
            }),
            Handler::Write(handler) => Box::pin(async move {
                let Request { app, info, caller, mut form, .. } = request;
                let job = handler(caller, info.peer, &form)?;
                let ignored = owned(form.ignored());
                // The job has the data of the body, so the body still counts.
                let _counted = form.take_reservation();
                drop(form);
                Ok(HandlerOutput::new(app.writer.run(job).await?, ignored))
            }),
            Handler::Call(handler) => {
                let non_file_parts = request.multipart.as_ref().map(|multipart| multipart.non_file_parts());
                // The handler has the data of a large body, so the body still counts.
                let counted = request.form.take_reservation().filter(|_| self.body_limit > BODY_LIMIT);
                // Not in the future, which would have the place for the request until it ends.
                let called = handler(request);
                Box::pin(async move {
                    let _counted = counted;
                    let (mut ignored, reply) = called?;
                    let reply = reply.await?;
                    if let Some(parts) = non_file_parts {
                        ignored.extend(parts.names());
                        ignored.sort_unstable();
                        ignored.dedup();
                    }
                    Ok(HandlerOutput::new(reply, ignored))
                })
            }
        }
    }
}

fn owned(names: Vec<&str>) -> Vec<String> {
    names.into_iter().map(str::to_owned).collect()
}

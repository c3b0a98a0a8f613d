//! The table of routes: each with method, path, access and handler.
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
use super::form::{Form, UploadedFile};
use super::params::ParamError;
use super::reply::Reply;
use crate::app::App;
use crate::auth::credentials::{invalid_key, parse_basic};
use crate::auth::{Access, Caller, CallerKind, Ctx};
use crate::error::{ApiError, ApiResult};
use crate::store::{Snapshot, Tx};
use crate::types::BotType;
use hyper::Method;
use serde::de::DeserializeOwned;
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

/// Headers with which a client asks for a part of a file, or for one that it does not have (RFC 9110, sections 13 and
/// 14).
#[derive(Clone, Debug, Default)]
pub struct Conditions {
    /// `Range`.
    pub range: Option<String>,
    /// `If-Range`.
    pub if_range: Option<String>,
    /// `If-None-Match`.
    pub if_none_match: Option<String>,
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

impl<C: Deref<Target = Caller>> Read<'_, C> {
    /// The snapshot as the caller sees it now.
    pub fn ctx(&self) -> Ctx<'_> {
        Ctx::new(self, self.caller, self.app.clock.seconds())
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
    pub body: bytes::Bytes,
}

impl<C: CallerKind> Call<C> {
    /// Runs a job on the writer, for a caller who is checked again there.
    pub async fn write<T: Send + 'static>(
        self,
        job: impl FnOnce(&mut Tx<'_>, &C) -> ApiResult<T> + Send + 'static,
    ) -> ApiResult<T> {
        let mut caller = self.caller;
        let work = move |tx: &mut Tx<'_>| {
            caller.revalidate(tx)?;
            job(tx, &caller)
        };
        self.app.writer.run(work).await
    }
}

impl Route {
    /// A handler that reads one snapshot.
    pub fn read<C: CallerKind, P: Parameters + 'static>(
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
    pub fn write<C: CallerKind, P: Parameters + Send + 'static>(
        method: Method,
        path: &'static str,
        _access: Access<C>,
        handler: fn(&mut Tx<'_>, &C, P) -> ApiResult<Reply>,
    ) -> Self {
        let run: Box<Writing> = Box::new(move |caller, form| {
            let mut caller = C::admit(caller)?;
            let params = P::read(form)?;
            Ok(Box::new(move |tx| {
                caller.revalidate(tx)?;
                handler(tx, &caller, params)
            }))
        });
        Self::new::<C>(method, path, Handler::Write(run))
    }

    /// A handler with stages of its own.
    pub fn call<C: CallerKind, P, F, H>(
        method: Method,
        path: &'static str,
        _access: Access<C>,
        handler: H,
    ) -> Self
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
    pub fn receive<C: CallerKind, P, F, H>(
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
            let (ignored, files, body) = (owned(form.ignored()), Vec::new(), bytes::Bytes::new());
            let arriving = form.take_arriving().ok_or_else(|| {
                ApiError::internal("a route that takes files was given a body that was read")
            })?;
            drop(form);
            Ok((ignored, Box::pin(handler(Call { app, caller, info, files, body }, params, arriving))))
        });
        Self { takes_body: true, ..Self::new::<C>(method, path, Handler::Call(run)) }
    }

    fn new<C: CallerKind>(method: Method, path: &'static str, handler: Handler) -> Self {
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
                let caller = self.caller(&app, &info).await;
                let answer = app.readers.read(|snapshot| {
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

    /// The caller: nobody without credentials, or where they are not looked at.
    async fn caller(&self, app: &App, info: &RequestInfo) -> ApiResult<Option<Caller>> {
        let Some(header) = info.authorization.as_deref().filter(|_| self.needs_login) else {
            return Ok(None);
        };
        let (email, key) = parse_basic(header)?;
        let owner = app.credential_cache.find(&app.readers, &key).await?.ok_or_else(invalid_key)?;
        let caller = owner.authenticate(Some(&email))?;
        if caller.bot_type == Some(BotType::IncomingWebhook) && !self.for_webhooks {
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
        app.rate_limiter.record_key_failure(peer, app.clock.milliseconds())?;
    }
    result
}

//! `POST /register`: creates a queue, and returns the state that its events will change.
//!
//! The queue is created before the state is read, and the state includes the id of the last event in it, so no event is
//! lost or delivered twice. The parts of the state are [`StatePart`]s of the resources.

use crate::api::resource::{State, StatePart, StateRequest};
use crate::app::App;
use crate::domain::access::visitors;
use crate::domain::limits;
use crate::domain::limits::Accounts;
use crate::domain::subscriptions::record::Subscribers;
use crate::events;
use crate::events::{
    Capabilities, DEFAULT_IDLE_SECONDS, Hub, MAX_IDLE_SECONDS, NewQueue, QueueId, Registration, log,
};
use crate::http::{ApiError, ApiResult, Call, Caller, Reply, Route, VISITOR, Visitor};
use crate::store::{Snapshot, Tx};
use crate::types::version::Versions;
use crate::types::{EventId, UserId};
use hyper::Method;
use rusqlite::Connection;
use serde::Deserialize;
use std::sync::Arc;

/// The most terms in the narrow of a queue.
const MAX_NARROW_TERMS: usize = 10;

/// The longest operand in the narrow of a queue, in characters. Names of channels and topics are shorter.
const MAX_NARROW_OPERAND_LENGTH: usize = 100;

/// The longest email in the narrow of a queue, in characters: no account has a longer one.
const MAX_NARROW_EMAIL_LENGTH: usize = 254;

/// Lists the parts of the state of all resources.
pub type StateParts = fn() -> Vec<&'static StatePart>;

/// Returns the route of `POST /register`. The parts of the state are a parameter, since no resource imports others.
pub fn routes(parts: StateParts) -> Vec<Route> {
    vec![
        Route::call(Method::POST, "/register", VISITOR, move |call, params| register(call, params, parts))
            .on_full_disk(),
    ]
}

/// Parameters of `POST /register`.
#[derive(Deserialize, Default)]
#[serde(default)]
pub struct RegisterParams {
    /// The types of events to deliver; by default all. Unknown types are ignored.
    event_types: Option<Vec<String>>,
    /// The parts of the state to return, as names of event types; by default those of `event_types`.
    fetch_event_types: Option<Vec<String>>,
    /// True if the content of messages in events is HTML, false, the default, for Markdown.
    apply_markdown: Option<bool>,
    /// No effect: URLs of avatars do not depend on it. Refused for visitors if true.
    client_gravatar: Option<bool>,
    /// The lists of subscribers in subscriptions: `true` for all, `false` (the default) for none, `partial` for bots
    /// and recently active users only, where a channel has many.
    include_subscribers: Option<Subscribers>,
    /// True for presences in the modern format, by user id; false, the default, for the legacy format, by API email.
    slim_presence: Option<bool>,
    /// Limits the presences in the state to users who were present within this number of days; 14 by default, 0 for
    /// none.
    presence_history_limit_days: Option<i64>,
    /// True to deliver messages of all public channels, not only of subscribed ones. False by default. Refused for
    /// guests.
    all_public_streams: Option<bool>,
    /// Limits `message` events to messages that match all terms: at most 10 lists of operator and operand. Operators
    /// are `channel`, `topic`, `sender` and `is`.
    narrow: Option<Vec<(String, String)>>,
    /// The optional features that the client supports; by default none.
    client_capabilities: Option<Capabilities>,
    /// The time without polls after which the queue is deleted: seconds, at most 604800 (7 days), or `mobile` for 12
    /// hours. 10 minutes by default. A person can have five queues of more than 12 hours; further ones have 12 hours. A
    /// queue that is far behind is deleted earlier.
    idle_queue_timeout: Option<IdleTimeout>,
    /// Older name of `idle_queue_timeout`, in seconds.
    queue_lifespan_secs: Option<i64>,
}

/// The time without polls after which a queue is deleted: seconds, or the name of a class of clients.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(untagged, expecting = "{} is neither a number of seconds nor \"mobile\"")]
pub enum IdleTimeout {
    /// A number of seconds; 0 for the default.
    Seconds(i64),
    /// As a class of clients needs it.
    Preset(IdlePreset),
}

/// A class of clients.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum IdlePreset {
    /// Apps of phones, which sleep for hours: 12.
    Mobile,
}

/// [`IdlePreset::Mobile`].
const MOBILE_IDLE_SECONDS: i64 = 12 * 3600;

impl RegisterParams {
    /// True if any of the parameters was passed.
    pub fn is_given(&self) -> bool {
        self.event_types.is_some()
            || self.fetch_event_types.is_some()
            || self.apply_markdown.is_some()
            || self.client_gravatar.is_some()
            || self.include_subscribers.is_some()
            || self.slim_presence.is_some()
            || self.presence_history_limit_days.is_some()
            || self.all_public_streams.is_some()
            || self.narrow.is_some()
            || self.client_capabilities.is_some()
            || self.idle_queue_timeout.is_some()
            || self.queue_lifespan_secs.is_some()
    }

    /// The parts of the state to return; all by default.
    fn wanted(&self) -> Option<&[String]> {
        self.fetch_event_types.as_deref().or(self.event_types.as_deref())
    }

    /// The requested lifetime of the queue without polls, if any. As published, 0 is the default, and more than a week
    /// is a week.
    fn idle_seconds(&self) -> Option<i64> {
        let seconds = match self.idle_queue_timeout {
            Some(IdleTimeout::Seconds(seconds)) => seconds,
            Some(IdleTimeout::Preset(IdlePreset::Mobile)) => MOBILE_IDLE_SECONDS,
            None => self.queue_lifespan_secs?,
        };
        Some(if seconds <= 0 { DEFAULT_IDLE_SECONDS } else { seconds.min(MAX_IDLE_SECONDS) })
    }

    /// Checks the parameters, and converts them to the options of a queue. Types that no event has are left out.
    fn registration(&self, caller: &Caller, hub: &Hub) -> ApiResult<Registration> {
        let narrow = self.narrow.clone().unwrap_or_default();
        check_narrow(&narrow)?;
        for (operator, operand) in &narrow {
            let known = matches!(operator.as_str(), "channel" | "stream" | "topic" | "sender" | "is");
            if !known {
                return Err(ApiError::bad_request(format!("Operator {operator} not supported.")));
            }
            if operator == "is" && operand == "followed" {
                return Err(ApiError::bad_request(format!("Operand {operand} not supported.")));
            }
        }
        let all_public_streams = self.all_public_streams.unwrap_or(false);
        if all_public_streams && caller.is_guest() {
            return Err(ApiError::bad_request("User not authorized for this query"));
        }
        let event_types = self.event_types.as_ref().map(|types| {
            let mut known: Vec<String> =
                types.iter().filter(|name| hub.is_event_type(name)).cloned().collect();
            known.sort_unstable();
            known.dedup();
            known
        });
        Ok(Registration {
            event_types,
            apply_markdown: self.apply_markdown.unwrap_or(false),
            slim_presence: self.slim_presence.unwrap_or(false),
            all_public_streams,
            include_subscribers: self.include_subscribers.unwrap_or_default() != Subscribers::No,
            narrow,
            client_capabilities: self.client_capabilities.unwrap_or_default(),
            idle_seconds: self.idle_seconds(),
        })
    }
}

/// Checks the size of a queue's narrow, which is kept with the queue and compared with each message.
fn check_narrow(narrow: &[(String, String)]) -> ApiResult<()> {
    if narrow.len() > MAX_NARROW_TERMS {
        let msg = format!("narrow is too long (limit: {MAX_NARROW_TERMS} terms)");
        return Err(ApiError::bad_request(msg));
    }
    narrow.iter().try_for_each(|(operator, operand)| {
        let limit = if operator == "sender" { MAX_NARROW_EMAIL_LENGTH } else { MAX_NARROW_OPERAND_LENGTH };
        limits::check_length("narrow", operand, limit)
    })
}

/// `POST /register`: creates an event queue. Returns its id, the requested parts of the state, and as `last_event_id`
/// the id of the newest event that the state includes, with which the client begins to poll. Visitors get the state of
/// what they may read, and no queue.
async fn register(call: Call<Visitor>, params: RegisterParams, parts: StateParts) -> ApiResult<Reply<State>> {
    if call.caller.is_visitor() {
        return state_of_visitor(call, params, parts).await;
    }
    let new = new_queue(&call.app, &call.caller, &params).await?;
    let (app, user_id) = (Arc::clone(&call.app), call.caller.quota_owner());
    let is_short = params.wanted().is_some_and(<[String]>::is_empty);
    let registration = Arc::clone(&new.queue.registration);
    let idle_seconds = params.idle_queue_timeout.map(|_| registration.idle_seconds());
    let read = move |snapshot: &Snapshot<'_>| state(snapshot, &call, &params, &registration, parts);
    let state = app.read_in_if(!is_short, &app.pools.slow_reads, Some(user_id), read);
    let (mut state, last_event_id) = state.await?;
    app.hub.start_at(&new.queue.queue_id, last_event_id);
    set_queue_id(&mut state, Some(&new.queue.queue_id.0))?;
    state.set::<i64>("last_event_id", &last_event_id.0)?;
    if let Some(seconds) = idle_seconds {
        set_idle_timeout(&mut state, seconds)?;
    }
    let reply = Reply::data(&state)?;
    new.keep();
    Ok(reply)
}

/// The state of what visitors may read.
async fn state_of_visitor(
    call: Call<Visitor>,
    params: RegisterParams,
    parts: StateParts,
) -> ApiResult<Reply<State>> {
    let app = Arc::clone(&call.app);
    let read = move |snapshot: &Snapshot<'_>| {
        visitors::check(snapshot, &call.caller)?;
        let refuse = |name: &str| {
            Err(ApiError::bad_request(format!("Invalid '{name}' parameter for anonymous request")))
        };
        if params.client_gravatar == Some(true) {
            return refuse("client_gravatar");
        }
        if params.include_subscribers.unwrap_or_default() != Subscribers::No {
            return refuse("include_subscribers");
        }
        // These concern queues and presences.
        let params = RegisterParams { all_public_streams: None, presence_history_limit_days: None, ..params };
        let registration = params.registration(&call.caller, &call.app.hub)?;
        state(snapshot, &call, &params, &registration, parts)
    };
    let user_id = Some(Caller::VISITOR.user_id);
    let (mut state, _) = app.read_in(&app.pools.slow_reads, user_id, read).await?;
    set_queue_id(&mut state, None)?;
    Reply::data(&state)
}

/// The id of the new queue; null for visitors.
fn set_queue_id(state: &mut State, queue_id: Option<&str>) -> ApiResult<()> {
    state.set::<Option<String>>("queue_id", &queue_id.map(str::to_owned))
}

/// The time without polls after which the queue is deleted, in seconds. Only if the request has `idle_queue_timeout`.
fn set_idle_timeout(state: &mut State, seconds: i64) -> ApiResult<()> {
    state.set::<Option<i64>>("idle_queue_timeout_secs", &Some(seconds))
}

/// A queue whose client does not know its name yet. It is removed if the request ends before.
pub struct UnnamedQueue {
    pub queue: NewQueue,
    hub: Arc<Hub>,
    is_kept: bool,
}

impl UnnamedQueue {
    /// Keeps the queue: the response has its name.
    pub fn keep(mut self) {
        self.is_kept = true;
    }
}

impl Drop for UnnamedQueue {
    fn drop(&mut self) {
        if !self.is_kept {
            self.hub.abandon(&self.queue.queue_id);
        }
    }
}

/// Creates a queue, which gets all events from now on. Its row may not be on the disk yet. Should a crash lose it, the client
/// registers again, and has missed nothing: no later change was acknowledged either.
pub async fn new_queue(app: &App, caller: &Caller, params: &RegisterParams) -> ApiResult<UnnamedQueue> {
    let mut registration = params.registration(caller, &app.hub)?;
    let (user_id, now) = (caller.user_id, app.clock.seconds());
    let accounts = app.readers.read(|snapshot| -> ApiResult<(Vec<UserId>, Vec<UserId>)> {
        let accounts = Accounts::of(snapshot, user_id, now)?;
        Ok((accounts.own_user_ids().to_vec(), accounts.user_ids().to_vec()))
    });
    let (own, counted) = accounts.await?;
    if let Some(seconds) = &mut registration.idle_seconds {
        *seconds = app.hub.allowed_idle_seconds(&own, *seconds, MOBILE_IDLE_SECONDS);
    }
    let queue = NewQueue { queue_id: QueueId::random(), user_id, registration: Arc::new(registration) };
    let head = app.hub.add(&queue, &own, &counted, app.clock.monotonic());
    let (row, hub, queue_id) = (queue.clone(), Arc::clone(&app.hub), queue.queue_id.clone());
    let new = UnnamedQueue { queue, hub: Arc::clone(&app.hub), is_kept: false };
    let insert = move |tx: &mut Tx<'_>| -> ApiResult<()> { Ok(events::insert_queue(tx, &row, head)?) };
    let lost = move || {
        hub.remove(&queue_id);
    };
    app.writer.run_ahead(insert, lost).await?;
    Ok(new)
}

fn state(
    connection: &Connection,
    call: &Call<Visitor>,
    params: &RegisterParams,
    registration: &Registration,
    parts: StateParts,
) -> ApiResult<(State, EventId)> {
    // The role may have changed while the queue was written. Its event comes before `last_event_id`, so that the client
    // would never receive it.
    let mut caller = Caller::clone(&call.caller);
    if !caller.is_visitor() {
        caller.reload(connection)?;
    }
    let request = StateRequest {
        connection,
        caller: &caller,
        app: &call.app,
        info: &call.info,
        registration,
        include_subscribers: params.include_subscribers.unwrap_or_default(),
        presence_history_limit_days: params.presence_history_limit_days,
        now: call.app.clock.seconds(),
        wanted: params.wanted(),
    };
    let mut state = State::default();
    state.add::<Versions>(&Versions::CURRENT)?;
    for part in parts() {
        if request.wants(part.name) {
            (part.fetch)(&request, &mut state)?;
        }
    }
    Ok((state, log::last_event_id(connection)?))
}

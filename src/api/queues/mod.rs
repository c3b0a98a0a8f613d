//! Event queues: registering (`register`), polling and deleting them. `heartbeat` ends polls that get no events.

pub mod heartbeat;
pub mod register;

use crate::api::queues::heartbeat::Heartbeat;
use crate::api::queues::register::{RegisterParams, new_queue};
use crate::api::resource::Resource;
use crate::app::App;
use crate::events;
use crate::events::{Audience, Delivery, Poller, QueueError, QueueId};
use crate::http::{ApiError, ApiResult, Call, Caller, Params2, Reply, Route, USER, User};
use crate::types::{EventId, Role};
use hyper::Method;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::future::ready;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

pub const RESOURCE: Resource = Resource { name: "queues", routes, ..Resource::EMPTY };

/// Time to wait for the delivery of a heartbeat after it was emitted.
const HEARTBEAT_ON_ITS_WAY: Duration = Duration::from_secs(5);

fn routes() -> Vec<Route> {
    vec![
        Route::call(Method::GET, "/events", USER, get_events).unlimited().without_head(),
        Route::call(Method::DELETE, "/events", USER, delete_queue),
    ]
}

/// Parameters of `GET /events` (spec, "get events from a queue"), beside those of `POST /register`.
#[derive(Deserialize)]
pub struct EventsParams {
    /// The id of a queue of the caller. Without it, the parameters of `POST /register` or `dont_block` are required,
    /// and a new queue is created.
    queue_id: Option<String>,
    /// The id of the last event that the client has received; -1 for none. The server deletes the events up to it from
    /// the queue.
    last_event_id: Option<i64>,
    /// True to return immediately, even if there are no events. False by default.
    #[serde(default)]
    dont_block: bool,
}

/// `GET /events`: returns the events of a queue, and waits if there are none.
fn get_events(
    call: Call<User>,
    Params2(params, registration): Params2<EventsParams, RegisterParams>,
) -> Pin<Box<dyn Future<Output = ApiResult<Reply<EventPage>>> + Send>> {
    let EventsParams { queue_id, last_event_id, dont_block } = params;
    match queue_id {
        Some(queue_id) => {
            let queue_id = QueueId(queue_id.into());
            if let Err(refusal) = count_repeated(&call, &queue_id, last_event_id) {
                return Box::pin(ready(Err(refusal)));
            }
            Box::pin(wait(call.app, call.caller, queue_id, last_event_id, dont_block))
        }
        // By the spec any such call creates a queue; the published server requires `dont_block`. A call without
        // parameters is more likely a mistake, and would wait forever.
        None if dont_block || registration.is_given() => Box::pin(async move {
            count(&call)?;
            let new = new_queue(&call.app, &call.caller, &registration).await?;
            drop(registration);
            let queue_id = new.queue.queue_id.clone();
            let page = Box::pin(wait(call.app, call.caller, queue_id, last_event_id, dont_block)).await?;
            new.keep();
            ApiResult::Ok(page)
        }),
        None => Box::pin(ready(Err(ApiError::missing("queue_id")))),
    }
}

/// Counts a poll that gets the same events again for the rate limit, if it is on. Other polls wait, or bring the client
/// further, and are not limited.
fn count_repeated(call: &Call<User>, queue_id: &QueueId, last_event_id: Option<i64>) -> ApiResult<()> {
    if call.app.hub.is_repeated(queue_id, call.caller.user_id, last_event_id.map(EventId)) {
        return count(call);
    }
    Ok(())
}

/// Counts a poll as a request for the rate limit, if it is on. One that creates a queue counts like `POST /register`.
fn count(call: &Call<User>) -> ApiResult<()> {
    let app = &call.app;
    if !app.options.rate_limit {
        return Ok(());
    }
    app.rate_limiter.count_request(Some(&call.caller), call.info.peer, &app.clock).check()
}

/// The reply to `GET /events`.
#[derive(Serialize)]
struct EventPage {
    /// The events after `last_event_id`, the oldest first. Ids increase, with gaps.
    events: Vec<AnyEvent>,
    /// The id of the queue.
    queue_id: String,
}

/// An event of any type.
#[derive(Serialize)]
struct AnyEvent {}

/// Waits for events of a queue, or for its heartbeat. Not an async function, whose future has two places for each parameter.
fn wait(
    app: Arc<App>,
    caller: User,
    queue_id: QueueId,
    last_event_id: Option<i64>,
    dont_block: bool,
) -> impl Future<Output = ApiResult<Reply<EventPage>>> + Send {
    let last_event_id = last_event_id.map(EventId);
    let heartbeat = || heartbeat::wait(app.clock.monotonic(), &queue_id, app.hub.len());
    let mut timeout = (!dont_block).then(|| app.options.overrides.heartbeat.unwrap_or_else(heartbeat));
    async move {
        let (user_id, quota_owner) = (caller.user_id, caller.quota_owner());
        let poller = Poller { user_id, quota_owner, pool: &app.pools.slow_reads };
        loop {
            let delivery = app.hub.poll(&queue_id, poller, last_event_id, timeout, &app.clock).await;
            match delivery.map_err(|error| refusal(error, &queue_id))? {
                Delivery::Events(events) => {
                    check_access(&app, &caller, &queue_id).await?;
                    let queue_id = json!(queue_id.0);
                    return Ok(Reply::members(format!("\"events\":[{events}],\"queue_id\":{queue_id}")));
                }
                Delivery::TimedOut => {
                    // A heartbeat takes an event number as well, so that ids keep growing.
                    let audience = Audience::queue(queue_id.clone());
                    events::broadcast(&app.hub, &app.writer, Heartbeat {}, audience).await?;
                    timeout = Some(HEARTBEAT_ON_ITS_WAY);
                }
            }
        }
    }
}

/// Refuses a caller whose key was revoked while the request waited, and expires a queue of all public channels whose user
/// has become a guest. Asked after events were collected, so that none is delivered that is theirs no longer.
async fn check_access(app: &App, caller: &Caller, queue_id: &QueueId) -> ApiResult<()> {
    let role = if app.credential_cache.is_current(caller) {
        caller.role
    } else {
        app.readers.read(|snapshot| caller.role_now(snapshot)).await?
    };
    let owner = app.hub.owner(queue_id);
    if role != Role::Guest || owner.is_none_or(|(_, registration)| !registration.all_public_streams) {
        return Ok(());
    }
    app.hub.remove(queue_id);
    let row = queue_id.clone();
    app.writer.run(move |tx| -> ApiResult<()> { Ok(events::delete_queue(tx, &row)?) }).await?;
    Err(ApiError::bad_event_queue(&queue_id.0))
}

fn refusal(error: QueueError, queue_id: &QueueId) -> ApiError {
    match error {
        QueueError::Unknown => ApiError::bad_event_queue(&queue_id.0),
        QueueError::Pruned(id) => {
            ApiError::bad_request(format!("An event newer than {id} has already been pruned!"))
        }
        QueueError::Store(error) => error.into(),
        QueueError::Refused(error) => error,
    }
}

/// Parameters of `DELETE /events`.
#[derive(Deserialize)]
pub struct DeleteParams {
    /// The id of a queue of the caller.
    queue_id: String,
}

/// `DELETE /events`: deletes an event queue.
async fn delete_queue(call: Call<User>, params: DeleteParams) -> ApiResult<Reply> {
    let queue_id = QueueId(params.queue_id.into());
    let owner = call.app.hub.owner(&queue_id).map(|(owner, _)| owner);
    if owner != Some(call.caller.user_id) {
        return Err(ApiError::bad_event_queue(&queue_id.0));
    }
    call.app.hub.remove(&queue_id);
    call.app.writer.run(move |tx| -> ApiResult<()> { Ok(events::delete_queue(tx, &queue_id)?) }).await?;
    Ok(Reply::ok())
}

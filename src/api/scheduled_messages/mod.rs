//! Scheduled messages.
//!
//! A scheduled message is checked and rendered when it is created or changed, and again when it is sent: the
//! permissions at that time decide. A message that could not be sent is kept and marked as failed.

mod create;
pub mod deliver;
pub mod record;
mod sql;
pub mod update;

use crate::api::resource::{Background, Resource, State, StatePart, StateRequest};
use crate::http::{ApiResult, Route, USER};
use crate::scheduler;
use hyper::Method;

pub const RESOURCE: Resource = Resource {
    name: "scheduled_messages",
    routes,
    state: STATE,
    background: Some(BACKGROUND),
    ..Resource::EMPTY
};

const STATE: &[StatePart] = &[StatePart { name: "scheduled_messages", fetch: state }];

const BACKGROUND: Background = |app, stopped| {
    Box::pin(scheduler::run(app, stopped, |app| async move { deliver::deliver_due(&app).await }))
};

fn routes() -> Vec<Route> {
    vec![
        Route::read(Method::GET, "/scheduled_messages", USER, create::get_scheduled_messages).slow(),
        Route::call(Method::POST, "/scheduled_messages", USER, create::create_scheduled_message),
        Route::call(
            Method::PATCH,
            "/scheduled_messages/{scheduled_message_id}",
            USER,
            update::update_scheduled_message,
        ),
        Route::write(
            Method::DELETE,
            "/scheduled_messages/{scheduled_message_id}",
            USER,
            update::delete_scheduled_message,
        ),
    ]
}

/// `scheduled_messages` of `POST /register`: the caller's messages that are not sent yet, in the order of delivery.
fn state(request: &StateRequest<'_>, state: &mut State) -> ApiResult<()> {
    let rows = sql::of_sender(request.connection, request.caller.user_id)?;
    let records: Vec<_> = rows.iter().map(record::ScheduledMessageRecord::new).collect();
    state.set::<Vec<record::ScheduledMessageRecord>>("scheduled_messages", &records)
}

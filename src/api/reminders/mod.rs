//! Reminders of messages (feature levels 381, 399 and 415): the notification bot sends a link to a message at a given
//! time.

pub mod change;
pub mod deliver;
mod text;

use crate::api::resource::{Background, Resource, State, StatePart, StateRequest};
use crate::domain::messages::reminders::{record, sql};
use crate::http::{ApiResult, Route, USER};
use crate::scheduler;
use hyper::Method;

pub const RESOURCE: Resource =
    Resource { name: "reminders", routes, state: STATE, background: Some(BACKGROUND), ..Resource::EMPTY };

const STATE: &[StatePart] = &[StatePart { name: "reminders", fetch: state }];

const BACKGROUND: Background = |app, stopped| {
    Box::pin(scheduler::run(app, stopped, |app| async move { deliver::deliver_due(&app).await }))
};

fn routes() -> Vec<Route> {
    vec![
        Route::read(Method::GET, "/reminders", USER, change::get_reminders).slow(),
        Route::call(Method::POST, "/reminders", USER, change::create_reminder),
        Route::write(Method::DELETE, "/reminders/{reminder_id}", USER, change::delete_reminder),
    ]
}

/// `reminders` of `POST /register`: the caller's reminders, in the order of delivery.
fn state(request: &StateRequest<'_>, state: &mut State) -> ApiResult<()> {
    let rows = sql::of_user(request.connection, request.caller.user_id)?;
    let records: Vec<_> = rows.iter().map(record::ReminderRecord::new).collect();
    state.set::<Vec<record::ReminderRecord>>("reminders", &records)
}

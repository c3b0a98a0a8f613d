//! Reminders of messages (feature levels 381, 399 and 415): the notification bot sends a link to a message at a given
//! time.

mod change;
pub mod deliver;
pub mod record;
mod sql;
mod text;

use crate::http::{ApiResult, Route, State, StatePart, StateRequest, USER};
use crate::http::{Background, Resource};
use crate::scheduler;
use hyper::Method;

/// Reminders.
pub const RESOURCE: Resource =
    Resource { name: "reminders", routes, state: STATE, background: Some(BACKGROUND), ..Resource::EMPTY };

const STATE: &[StatePart] = &[StatePart { name: "reminders", fetch: state }];

const BACKGROUND: Background = |app, stopped| {
    Box::pin(scheduler::run(app, stopped, |app| Box::pin(async move { deliver::deliver_due(&app).await })))
};

fn routes() -> Vec<Route> {
    vec![
        Route::read(Method::GET, "/reminders", USER, change::get_reminders).slow(),
        Route::call(Method::POST, "/reminders", USER, change::create_reminder),
        Route::write(Method::DELETE, "/reminders/{reminder_id}", USER, change::delete_reminder),
    ]
}

/// `reminders` of `POST /register`.
fn state(request: &StateRequest<'_>, state: &mut State) -> ApiResult<()> {
    let rows = sql::of_user(request.connection, request.caller.user_id)?;
    let records: Vec<_> = rows.iter().map(record::ReminderRecord::new).collect();
    state.set::<Vec<record::ReminderRecord>>("reminders", &records)
}

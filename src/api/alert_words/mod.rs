//! Words that users want to hear of: `/users/me/alert_words`, and who has one of theirs in a message.

mod change;

use crate::api::Slice;
use crate::domain::alert_words::sql;
use crate::http::{ApiResult, Route, State, StatePart, StateRequest, USER};
use hyper::Method;
use serde_json::json;

/// Alert words.
pub const SLICE: Slice = Slice { name: "alert_words", routes, state: STATE, ..Slice::EMPTY };

const STATE: &[StatePart] = &[StatePart { name: "alert_words", fetch: state }];

fn routes() -> Vec<Route> {
    vec![
        Route::read(Method::GET, "/users/me/alert_words", USER, change::get_alert_words),
        Route::write(Method::POST, "/users/me/alert_words", USER, change::add_alert_words),
        Route::write(Method::DELETE, "/users/me/alert_words", USER, change::remove_alert_words),
    ]
}

/// Word `alert_words`.
fn state(request: &StateRequest<'_>, state: &mut State) -> ApiResult<()> {
    state.insert("alert_words".into(), json!(sql::words_of(request.connection, request.caller.user_id)?));
    Ok(())
}

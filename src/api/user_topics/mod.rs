//! What users chose for single topics: muted, unmuted in a muted channel, followed.
//!
//! - [`policy`]: the choices, and what they come to when topics are merged;
//! - [`sql`]: the rows; [`muting`]: all choices of one user, to ask about many messages;
//! - [`automatic`]: what follows from sending, reacting and being mentioned;
//! - [`moved`]: what a moved topic does to them; [`events`]: who hears of it; the others are operations.

mod mute;
mod set;

use crate::domain::user_topics::events;
use crate::http::Resource;
use crate::http::{Route, StatePart, USER};
use hyper::Method;

/// Topics as a user wants to see them.
pub const RESOURCE: Resource = Resource { name: "user_topics", routes, state: STATE, ..Resource::EMPTY };

const STATE: &[StatePart] = &[
    StatePart { name: "user_topic", fetch: events::state },
    StatePart { name: "muted_topics", fetch: events::muted_state },
];

fn routes() -> Vec<Route> {
    vec![
        Route::write(Method::POST, "/user_topics", USER, set::update_user_topic),
        Route::write(Method::PATCH, "/users/me/subscriptions/muted_topics", USER, mute::update_muted_topic),
    ]
}

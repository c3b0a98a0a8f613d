//! Messages: sending, fetching, editing, deleting, flags.
//!
//! A message is written once, whoever receives it (`ARCHITECTURE.md`, "Storage"): who received it follows from spans of
//! subscription, what is read from sets of ids ([`read_set`]), and only flags that few have are rows. Fetching is
//! [`narrow`] (what is wanted) and [`resolve`] (whom and what it names) to [`plan`] (which indexes answer it) to [`feed`]
//! (ids in order) to [`mod@write`] (JSON).

mod delete;
mod delete_topic;
mod edit;
mod fetch;
mod history;
mod html_diff;
mod mark_as_read;
mod matches_narrow;
mod move_notices;
pub mod move_rules;
mod moved;
mod moving;
pub mod page;
mod read_receipts;
mod render;
pub mod resolve;
pub mod retention;
mod send;
pub mod state;
mod unread_msgs;
mod update_flags;
mod update_flags_for_narrow;

use crate::http::Resource;
use crate::http::{ADMINISTRATOR, Route, StatePart, USER};
use hyper::Method;

/// Messages.
pub const RESOURCE: Resource = Resource {
    name: "messages",
    routes,
    state: STATE,
    background: Some(retention::BACKGROUND),
    ..Resource::EMPTY
};

const STATE: &[StatePart] = &[
    StatePart { name: "message", fetch: state::message },
    StatePart { name: "starred_messages", fetch: state::starred },
    StatePart { name: "recent_private_conversations", fetch: state::recent_conversations },
];

fn routes() -> Vec<Route> {
    vec![
        Route::call(Method::POST, "/messages", USER, send::send_message).for_webhooks(),
        Route::read(Method::GET, "/messages", USER, fetch::get_messages),
        Route::read(Method::GET, "/messages/{message_id}", USER, fetch::get_message),
        Route::call(Method::PATCH, "/messages/{message_id}", USER, edit::update_message),
        Route::write(Method::DELETE, "/messages/{message_id}", USER, delete::delete_message),
        Route::read(Method::GET, "/messages/{message_id}/history", USER, history::get_history),
        Route::read(
            Method::GET,
            "/messages/{message_id}/read_receipts",
            USER,
            read_receipts::get_read_receipts,
        ),
        Route::call(
            Method::POST,
            "/streams/{stream_id}/delete_topic",
            ADMINISTRATOR,
            delete_topic::delete_topic,
        ),
        Route::read(Method::GET, "/messages/matches_narrow", USER, matches_narrow::matches_narrow),
        Route::write(Method::POST, "/messages/flags", USER, update_flags::update_flags),
        Route::write(
            Method::POST,
            "/messages/flags/narrow",
            USER,
            update_flags_for_narrow::update_flags_for_narrow,
        ),
        Route::write(Method::POST, "/mark_all_as_read", USER, mark_as_read::mark_all_as_read),
        Route::write(Method::POST, "/mark_stream_as_read", USER, mark_as_read::mark_stream_as_read),
        Route::write(Method::POST, "/mark_topic_as_read", USER, mark_as_read::mark_topic_as_read),
        Route::read(Method::POST, "/messages/render", USER, render::render_message),
    ]
}

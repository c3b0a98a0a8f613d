//! Messages: sending, fetching, editing, deleting, flags.
//!
//! | module | operations |
//! |---|---|
//! | `send`, `render` | sending a message, and rendering a text without sending it |
//! | `fetch` | messages by narrow and anchor, one message, which messages match a narrow |
//! | `edit`, `moves` | editing a message and its history; moving messages to another topic or channel |
//! | `delete`, `delete_topic`, `retention` | deleting messages, on request or when they expire |
//! | `purge` | removing the words of deleted messages from the search index |
//! | `flags`, `read_receipts` | changing flags, marking as read, who has read a message |
//! | `register` | messages in the reply of `POST /register` |

mod delete;
mod delete_topic;
mod edit;
mod fetch;
mod flags;
mod moves;
mod purge;
mod read_receipts;
mod register;
mod render;
pub mod retention;
mod send;

use crate::api::messages::delete_topic::PoliciesOfDeletedTopic;
use crate::api::messages::moves::LostFlags;
use crate::api::resource::{Background, Resource, StatePart};
use crate::domain::messages::create::LateReaders;
use crate::domain::messages::delete::withdraw_gone;
use crate::domain::messages::read_state::bulk_events::LateReadEvents;
use crate::domain::search::index::SearchBacklog;
use crate::events::LateWithdrawal;
use crate::http::{ADMINISTRATOR, Route, USER, VISITOR};
use crate::store::FollowUpKind;
use hyper::Method;
use std::sync::Arc;

pub const RESOURCE: Resource = Resource {
    name: "messages",
    routes,
    state: STATE,
    set_up: withdraw_gone,
    follow_ups: FOLLOW_UPS,
    background: Some(BACKGROUND),
};

const FOLLOW_UPS: &[FollowUpKind] = &[
    FollowUpKind::of::<LateWithdrawal>(),
    FollowUpKind::of::<LateReaders>(),
    FollowUpKind::of::<LateReadEvents>(),
    FollowUpKind::of::<LostFlags>(),
    FollowUpKind::of::<PoliciesOfDeletedTopic>(),
    FollowUpKind::of::<SearchBacklog>(),
];

/// Deletes expired messages, and purges the remains of deleted ones.
const BACKGROUND: Background = |app, stopped| {
    let retention = (retention::BACKGROUND)(Arc::clone(&app), stopped.clone());
    let purge = (purge::BACKGROUND)(app, stopped);
    Box::pin(async move {
        tokio::join!(retention, purge);
    })
};

const STATE: &[StatePart] = &[
    StatePart { name: "message", fetch: register::message },
    StatePart { name: "starred_messages", fetch: register::starred },
    StatePart { name: "recent_private_conversations", fetch: register::recent_conversations },
];

fn routes() -> Vec<Route> {
    vec![
        Route::call(Method::POST, "/messages", USER, send::send_message).for_webhooks(),
        Route::read(Method::GET, "/messages", VISITOR, fetch::get_messages)
            .slow_if(fetch::is_slow)
            .before_slow_read(fetch::before_search),
        Route::read(Method::GET, "/messages/{message_id}", VISITOR, fetch::get_message),
        Route::call(Method::PATCH, "/messages/{message_id}", USER, edit::update_message),
        Route::write(Method::DELETE, "/messages/{message_id}", USER, delete::delete_message),
        Route::call(Method::GET, "/messages/{message_id}/history", USER, edit::history::get_history),
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
        )
        .on_full_disk(),
        Route::read(Method::GET, "/messages/matches_narrow", USER, fetch::matches_narrow::matches_narrow)
            .slow_if(fetch::has_slow_narrow)
            .before_slow_read(fetch::before_search),
        Route::call(Method::POST, "/messages/flags", USER, flags::update_flags).on_full_disk(),
        Route::call(Method::POST, "/messages/flags/narrow", USER, flags::for_narrow::update_flags_for_narrow)
            .on_full_disk(),
        Route::call(Method::POST, "/mark_all_as_read", USER, flags::mark_as_read::mark_all_as_read)
            .on_full_disk(),
        Route::call(Method::POST, "/mark_stream_as_read", USER, flags::mark_as_read::mark_stream_as_read)
            .on_full_disk(),
        Route::call(Method::POST, "/mark_topic_as_read", USER, flags::mark_as_read::mark_topic_as_read)
            .on_full_disk(),
        Route::call(Method::POST, "/messages/render", USER, render::render_message).on_full_disk(),
    ]
}

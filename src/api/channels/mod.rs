//! Channels (streams): their rows, their group settings, and who may see them.
//!
//! - [`row`], [`settings`]: what the file knows of a channel; [`record`]: what clients see of it;
//! - [`rules`], [`access`], [`permissions`]: what a channel may be, and who may see, read, post to and change it;
//! - [`visible`]: who may see it, as a set, for events; [`events`]: the events;
//! - [`make`], [`notices`]: making channels, and what the notification bot says about it;
//! - the others are operations.

mod archive;
mod create;
mod default;
mod email_address;
mod list;
mod update;

use crate::domain::channels::events;
use crate::http::Resource;
use crate::http::{Route, StatePart, USER};
use hyper::Method;

/// Channels.
pub const RESOURCE: Resource = Resource { name: "channels", routes, state: STATE, ..Resource::EMPTY };

const STATE: &[StatePart] = &[
    StatePart { name: "stream", fetch: events::state },
    StatePart { name: "default_streams", fetch: events::default_streams_state },
];

fn routes() -> Vec<Route> {
    vec![
        Route::read(Method::GET, "/streams", USER, list::streams),
        Route::read(Method::GET, "/streams/{stream_id}", USER, list::stream),
        Route::call(Method::PATCH, "/streams/{stream_id}", USER, update::update),
        Route::write(Method::DELETE, "/streams/{stream_id}", USER, archive::archive),
        Route::call(Method::GET, "/streams/{stream_id}/email_address", USER, email_address::email_address),
        Route::read(Method::GET, "/get_stream_id", USER, list::stream_id),
        Route::call(Method::POST, "/channels/create", USER, create::create),
        Route::write(Method::POST, "/default_streams", USER, default::add),
        Route::write(Method::DELETE, "/default_streams", USER, default::remove),
    ]
}

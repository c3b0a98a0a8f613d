//! Channels (streams): listing, creating, changing and archiving them, the default channels, and email addresses.

mod archive;
mod create;
mod default_streams;
mod email_address;
mod list;
pub mod recently_active;
mod state;
mod update;

use crate::api::resource::{Resource, StatePart};
use crate::domain::channel_commands::archive::UnreadSubscribers;
use crate::http::{Route, USER};
use crate::store::FollowUpKind;
use hyper::Method;

pub const RESOURCE: Resource = Resource {
    name: "channels",
    routes,
    state: STATE,
    follow_ups: FOLLOW_UPS,
    background: Some(recently_active::BACKGROUND),
    ..Resource::EMPTY
};

const FOLLOW_UPS: &[FollowUpKind] = &[FollowUpKind::of::<UnreadSubscribers>()];

const STATE: &[StatePart] = &[
    StatePart { name: "stream", fetch: state::streams },
    StatePart { name: "default_streams", fetch: state::default_streams },
];

fn routes() -> Vec<Route> {
    vec![
        Route::read(Method::GET, "/streams", USER, list::streams).slow(),
        Route::read(Method::GET, "/streams/{stream_id}", USER, list::stream),
        Route::call(Method::PATCH, "/streams/{stream_id}", USER, update::update),
        Route::write(Method::DELETE, "/streams/{stream_id}", USER, archive::archive),
        Route::call(Method::GET, "/streams/{stream_id}/email_address", USER, email_address::email_address),
        Route::read(Method::GET, "/get_stream_id", USER, list::stream_id),
        Route::call(Method::POST, "/channels/create", USER, create::create),
        Route::write(Method::POST, "/default_streams", USER, default_streams::add),
        Route::write(Method::DELETE, "/default_streams", USER, default_streams::remove),
    ]
}

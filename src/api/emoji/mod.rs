//! `/realm/emoji`: the organization's own emoji, and the one check of an emoji's name, code and type.
//!
//! - [`choose`]: what clients mean by `emoji_name`, `emoji_code` and `reaction_type`, in reactions and statuses;
//! - [`sql`]: the rows, among them the emoji of a name, for texts.

mod add;
mod deactivate;
mod events;
mod list;
mod rules;

use crate::api::Slice;
use crate::domain::images::upload::BODY_LIMIT;
use crate::http::{Route, StatePart, USER};
use hyper::Method;
use serde::Deserialize;

/// Custom emoji.
pub const SLICE: Slice = Slice { name: "emoji", routes, state: STATE, ..Slice::EMPTY };

const STATE: &[StatePart] = &[StatePart { name: "realm_emoji", fetch: events::state }];

/// The largest file of an emoji, in MiB.
const MAX_EMOJI_FILE_SIZE_MIB: usize = 5;

fn routes() -> Vec<Route> {
    vec![
        Route::read(Method::GET, "/realm/emoji", USER, list::get_custom_emoji),
        // Names may hold slashes so far that they are refused for them.
        Route::call(Method::POST, "/realm/emoji/{emoji_name...}", USER, add::upload_custom_emoji)
            .body_limit(BODY_LIMIT),
        Route::write(
            Method::DELETE,
            "/realm/emoji/{emoji_name...}",
            USER,
            deactivate::deactivate_custom_emoji,
        ),
    ]
}

/// Parameters of `POST` and `DELETE /realm/emoji/{emoji_name}`.
#[derive(Deserialize)]
pub struct EmojiParams {
    /// The name. When an emoji is added, spaces are underscores.
    emoji_name: String,
}

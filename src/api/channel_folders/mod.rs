//! Folders that channels are shown in (feature levels 389, 414 and 418). Administrators make
//! them; everybody sees them.

mod create;
mod events;
mod list;
mod reorder;
mod rules;
mod update;

use crate::api::Slice;
use crate::http::{ADMINISTRATOR, Route, StatePart, USER};
use hyper::Method;

/// Channel folders.
pub const SLICE: Slice = Slice { name: "channel_folders", routes, state: STATE, ..Slice::EMPTY };

const STATE: &[StatePart] = &[StatePart { name: "channel_folders", fetch: events::state }];

fn routes() -> Vec<Route> {
    vec![
        Route::read(Method::GET, "/channel_folders", USER, list::get_channel_folders),
        Route::write(Method::PATCH, "/channel_folders", ADMINISTRATOR, reorder::reorder_channel_folders),
        Route::call(Method::POST, "/channel_folders/create", ADMINISTRATOR, create::create_channel_folder),
        Route::call(
            Method::PATCH,
            "/channel_folders/{channel_folder_id}",
            ADMINISTRATOR,
            update::update_channel_folder,
        ),
    ]
}

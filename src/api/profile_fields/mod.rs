//! Custom profile fields: what the organization wants to know of people, and what they say (spec, "Custom profile
//! field").
//!
//! - [`field`]: a field, and the eight types;
//! - [`external_accounts`]: the accounts elsewhere that need no further description;
//! - `rules`: what may be a field; `value_rules`: what may be a value;
//! - [`values`]: what people said, for this slice and for those that show or change users.

mod create;
mod delete;
mod list;
mod profile_data;
mod reorder;
mod update;

use crate::domain::profile_values::events;
use crate::http::Resource;
use crate::http::{ADMINISTRATOR, Route, StatePart, USER};
use hyper::Method;

/// Custom profile fields.
pub const RESOURCE: Resource = Resource { name: "profile_fields", routes, state: STATE, ..Resource::EMPTY };

const STATE: &[StatePart] = &[StatePart { name: "custom_profile_fields", fetch: events::state }];

fn routes() -> Vec<Route> {
    vec![
        Route::read(Method::GET, "/realm/profile_fields", USER, list::get_profile_fields),
        Route::write(Method::POST, "/realm/profile_fields", ADMINISTRATOR, create::create_profile_field),
        Route::write(Method::PATCH, "/realm/profile_fields", ADMINISTRATOR, reorder::reorder_profile_fields),
        Route::write(
            Method::PATCH,
            "/realm/profile_fields/{field_id}",
            ADMINISTRATOR,
            update::update_profile_field,
        ),
        Route::write(
            Method::DELETE,
            "/realm/profile_fields/{field_id}",
            ADMINISTRATOR,
            delete::delete_profile_field,
        ),
        Route::write(Method::PATCH, "/users/me/profile_data", USER, profile_data::update_profile_data),
        Route::write(Method::DELETE, "/users/me/profile_data", USER, profile_data::remove_profile_data),
    ]
}

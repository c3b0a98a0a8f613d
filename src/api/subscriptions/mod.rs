//! Subscriptions of users to channels: listing, subscribing, unsubscribing, and a user's properties of a subscription.

mod list;
mod patch;
mod properties;
pub mod subscribe;
mod unsubscribe;

use crate::api::resource::{Resource, StatePart};
use crate::http::{Route, USER};
use hyper::Method;

pub const RESOURCE: Resource = Resource { name: "subscriptions", routes, state: STATE, ..Resource::EMPTY };

const STATE: &[StatePart] = &[StatePart { name: "subscription", fetch: list::state }];

fn routes() -> Vec<Route> {
    vec![
        Route::read(Method::GET, "/users/me/subscriptions", USER, list::subscriptions).slow(),
        Route::call(Method::POST, "/users/me/subscriptions", USER, subscribe::subscribe),
        Route::call(Method::PATCH, "/users/me/subscriptions", USER, patch::patch),
        Route::call(Method::DELETE, "/users/me/subscriptions", USER, unsubscribe::unsubscribe),
        Route::write(Method::POST, "/users/me/subscriptions/properties", USER, properties::update_many),
        Route::write(Method::PATCH, "/users/me/subscriptions/{stream_id}", USER, properties::update_one),
        Route::read(Method::GET, "/users/{user_id}/subscriptions/{stream_id}", USER, list::status),
        Route::read(Method::GET, "/streams/{stream_id}/members", USER, list::members),
    ]
}

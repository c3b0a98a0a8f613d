//! `/users`: listing, creating, updating and deactivating users. `domain::accounts` has the shared commands,
//! `domain::access::users` the access rules.

mod create_user;
mod deactivate;
mod get;
mod own_avatar;
mod password_reset;
mod state;
mod update;

use crate::api::resource::{Resource, StatePart};
use crate::domain::accounts::role::BotsOfGuest;
use crate::domain::images::upload::BODY_LIMIT;
use crate::http::{ADMINISTRATOR, Route, USER, VISITOR};
use crate::store::FollowUpKind;
use hyper::Method;

pub const RESOURCE: Resource =
    Resource { name: "users", routes, state: STATE, follow_ups: FOLLOW_UPS, ..Resource::EMPTY };

const FOLLOW_UPS: &[FollowUpKind] = &[FollowUpKind::of::<BotsOfGuest>()];

const STATE: &[StatePart] = &[StatePart { name: "realm_user", fetch: state::state }];

fn routes() -> Vec<Route> {
    vec![
        Route::read(Method::GET, "/users/me", USER, get::own_user),
        Route::call(Method::DELETE, "/users/me", USER, deactivate::deactivate_own_user),
        Route::call(Method::POST, "/users/me/avatar", USER, own_avatar::upload_avatar).body_limit(BODY_LIMIT),
        Route::write(Method::DELETE, "/users/me/avatar", USER, own_avatar::delete_avatar),
        Route::read(Method::GET, "/users", VISITOR, get::list_users).slow(),
        Route::call(Method::POST, "/users", ADMINISTRATOR, create_user::create_user),
        Route::read(Method::GET, "/users/{user_id_or_email}", USER, get::user),
        Route::call(Method::PATCH, "/users/{user_id_or_email}", USER, update::update_user),
        Route::call(Method::DELETE, "/users/{user_id}", USER, deactivate::deactivate_user),
        Route::write(Method::POST, "/users/{user_id}/reactivate", USER, deactivate::reactivate_user),
        Route::call(
            Method::POST,
            "/users/{user_id}/password_reset",
            ADMINISTRATOR,
            password_reset::create_reset_link,
        ),
    ]
}

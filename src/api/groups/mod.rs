//! User groups: system groups that follow from roles, named groups, and the anonymous groups that hold the value of a
//! single `can_..._group` setting (`semantics.md` section 10).
//!
//! [`membership::Membership`] answers every "is this user in the group that may" with one rule.

pub mod events;
pub mod graph;
mod list;
pub mod members;
pub mod membership;
pub mod permission;
pub mod setting;
pub mod sql;
pub mod system;

use super::Slice;
use super::register::StatePart;
use crate::http::{Route, USER};
use hyper::Method;

/// User groups.
pub const SLICE: Slice =
    Slice { name: "groups", routes, state: STATE, set_up: system::set_up, ..Slice::EMPTY };

const STATE: &[StatePart] = &[StatePart { name: "realm_user_groups", fetch: events::state }];

fn routes() -> Vec<Route> {
    vec![Route::read(Method::GET, "/user_groups", USER, list::user_groups)]
}

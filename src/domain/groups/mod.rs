//! User groups: membership, group-setting values, system groups, and `user_group` events.
//!
//! - [`membership::Membership`] answers whether a user is in a group; [`members`] and [`graph`] answer it from the
//!   group's end, for one group and for all;
//! - [`setting`]: values of group settings; [`permission`]: which groups may hold them; [`realm_settings`] and
//!   [`channel_settings`]: the permissions of the organization and of a channel.

pub mod channel_settings;
pub mod events;
pub mod graph;
pub mod members;
pub mod membership;
pub mod permission;
pub mod realm_settings;
pub mod rules;
pub mod setting;
pub mod sql;
pub mod system;
pub mod waiting_period;

//! User groups: membership, group-setting values, system groups, and `user_group` events.
//!
//! - [`membership`]: who is in which group, for one user and as sets; [`roles`]: the members of system groups;
//! - [`setting`]: values of group settings; [`permission`]: which groups may hold them; [`realm_settings`] and
//!   [`channel_settings`]: the permissions of the organization and of a channel.

pub mod channel_settings;
pub mod events;
pub mod membership;
pub mod owner;
pub mod permission;
pub mod realm_settings;
pub mod roles;
pub mod rules;
pub mod setting;
pub mod sql;
pub mod system;
pub mod waiting_period;

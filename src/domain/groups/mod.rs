//! User groups: membership, group-setting values, system groups, and `user_group` events.
//!
//! - [`membership`]: who is in which group, for one user and as sets; [`roles`]: the members of system groups;
//! - [`permission`]: the table of permissions; [`setting`](mod@setting): their values; [`realm_settings`] and [`channel_settings`]: those
//!   of the organization and of a channel.

pub mod channel_settings;
pub mod events;
pub mod membership;
pub mod owner;
pub mod permission;
pub mod realm_settings;
pub mod roles;
pub mod rules;
pub mod setting;
mod sql;
pub mod system;
pub mod waiting_period;

pub use self::sql::*;

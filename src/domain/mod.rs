//! What several operations share: records and statements, rules, access, events, and commands.
//!
//! The modules stand in the order of dependence: each imports only those before it, and none imports [`crate::api`]. A
//! command takes a [`crate::store::Tx`], changes rows and emits events; it never sees parameters or replies. What would
//! go against the order is put together by the operation, or by a later module: a new channel is announced by a message,
//! so [`notices`] comes after both.
//!
//! | modules | what they hold |
//! |---|---|
//! | `limits`, `realm`, `groups` | the organization's settings, and who is in a group and holds a permission |
//! | `access` | who sees a channel, a user, a message: the rows that decide it, and one evaluator for each question |
//! | `images` to `profile_fields` | small resources that users, channels and messages refer to |
//! | `users`, `presence`, `user_status`, `muted_users` | people |
//! | `channel_folders` to `bots` | channels and their folders, who is in them, and programs with an account |
//! | `visibility` | what a change makes visible or invisible, and the events that tell it |
//! | `user_topics`, `domains`, `messages` | topic policies, domains that may join, messages |
//! | `profile_values` to `accounts` | commands that combine the modules above |

pub mod limits;

pub mod realm;

pub mod groups;

pub mod images;

pub mod access;

pub mod files;

pub mod emoji;

pub mod linkifiers;

pub mod user_settings;

pub mod alert_words;

pub mod keys;

pub mod profile_fields;

pub mod users;

pub mod presence;

pub mod user_status;

pub mod muted_users;

pub mod channel_folders;

pub mod channels;

pub mod subscriptions;

pub mod bots;

pub mod visibility;

pub mod user_topics;

pub mod domains;

pub mod messages;

pub mod profile_values;

pub mod notices;

pub mod membership;

pub mod drafts;

pub mod invites;

pub mod accounts;

//! What several operations share: records and statements, rules, access, events, and commands.
//!
//! The modules are declared in the order of dependence: each imports only modules before it, and none imports
//! [`crate::api`]. A command takes a [`crate::store::Tx`], changes rows and emits events; it never sees replies. Code
//! that needs two modules belongs in an operation or in a module declared after both: a new channel is announced by a
//! message, so [`notices`] comes after both.
//!
//! | modules | what they hold |
//! |---|---|
//! | `limits` to `groups` | limits, names that look alike, the organization's settings, membership in groups, and permissions |
//! | `images` | decoding and scaling images, and public images |
//! | `access` | access to channels, users and messages: the rows it depends on, and one rule for each |
//! | `files` to `profile_fields` | small resources that users, channels and messages refer to |
//! | `users`, `presence`, `user_status`, `muted_users` | users |
//! | `channel_folders` to `bots` | channels and their folders, subscribers, and bots |
//! | `visibility` | events for channels and users that a change makes visible or invisible |
//! | `user_topics`, `domains` | topic policies, domains that may join |
//! | `rendering`, `messages` | rendering Markdown as the author sees the organization, and messages |
//! | `profile_values` to `purge` | commands that combine the modules above |

pub mod limits;

pub mod look_alikes;

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

pub mod rendering;

pub mod messages;

pub mod profile_values;

pub mod notices;

pub mod logins;

pub mod membership;

pub mod drafts;

pub mod invites;

pub mod accounts;

pub mod purge;

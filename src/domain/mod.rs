//! Code shared by several operations: records and statements, rules, access, events, and commands.
//!
//! The modules are declared in the order of dependence: each imports only modules before it, and none imports
//! [`crate::api`]. A command takes a [`crate::store::Tx`], changes rows and emits events; it never sees replies. Code
//! that needs two modules belongs in an operation or in a module declared after both: a new channel is announced by a
//! message, so [`notices`] comes after both. The `mod.rs` of a resource exports its statements: `users::by_email`.
//!
//! | modules | what they hold |
//! |---|---|
//! | `audit` to `groups` | the audit log, limits, confusable names, the organization's settings, membership in groups, and permissions |
//! | `images` | decoding and scaling images, and public images |
//! | `rows` | the rows of users and channels |
//! | `access` | access to channels, users and messages: one rule for each |
//! | `files` to `profile_fields` | small resources that users, channels and messages refer to, keys, and addresses for mail |
//! | `users`, `presence`, `user_status`, `muted_users` | users |
//! | `channel_folders` to `bots` | channels and their folders, subscribers, and bots |
//! | `visibility` | events for channels and users that a change makes visible or invisible |
//! | `user_topics` to `allowed_domains` | topic policies, emails, domains that may join |
//! | `rendering` to `missed_messages` | rendering Markdown as the author sees the organization, the search index, messages, narrows, who is notified, and what waits for mail |
//! | `profile_values` to `purge` | commands that combine the modules above |
//! | `backups` to `space` | backups of the file, checks of it, and its free space |
//! | `statistics` | figures of the database |
//! | `export` | archives of the organization, and of the data of one person |

pub mod audit;

pub mod limits;

pub mod look_alikes;

pub mod realm;

pub mod groups;

pub mod images;

pub mod rows;

pub mod access;

pub mod files;

pub mod emoji;

pub mod upload_quota;

pub mod uploads;

pub mod linkifiers;

pub mod user_settings;

pub mod alert_words;

pub mod keys;

pub mod mail_addresses;

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

pub mod mail;

mod disposable_domains;

pub mod allowed_domains;

pub mod rendering;

pub mod search;

pub mod messages;

pub mod narrow;

pub mod notifications;

pub mod missed_messages;

pub mod profile_values;

pub mod notices;

pub mod mail_in;

pub mod logins;

pub mod channel_commands;

pub mod drafts;

pub mod invites;

pub mod accounts;

pub mod sign_up;

pub mod purge;

pub mod backups;

pub mod integrity;

pub mod space;

pub mod statistics;

pub mod export;

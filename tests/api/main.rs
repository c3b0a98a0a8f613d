//! The interface as a client meets it: every test starts a server on a file of its own and talks HTTP to it.
//!
//! `harness` starts servers, makes users, reads queues, and compares what events told with what a new registration
//! tells. `program` tries the command line. The other folders and files are named as in `src/api`.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod alert_words;
mod architecture;
mod bot_storage;
mod bots;
mod channel_folders;
mod channels;
mod clock_jumps;
mod code_playgrounds;
mod default_stream_groups;
mod deleted;
mod domains;
mod drafts;
mod emoji;
mod fuzz;
mod groups;
mod harness;
mod health;
mod help;
mod http;
mod images;
mod incoming_webhooks;
mod invites;
mod join;
mod keys;
mod large_organization;
mod leaks;
mod limits;
mod linkifiers;
mod messages;
mod muted_users;
mod navigation_views;
mod not_configured;
mod onboarding_steps;
mod outgoing_webhooks;
mod permissions;
mod presence;
mod profile_fields;
mod program;
mod queues;
mod reactions;
mod realm;
mod realm_images;
mod register;
mod reminders;
mod reports;
mod saved_snippets;
mod scheduled_messages;
mod server_settings;
mod sessions;
mod submessages;
mod subscriptions;
mod testing;
mod topics;
mod typing;
mod upgrades;
mod uploads;
mod user_settings;
mod user_status;
mod user_topics;
mod users;
mod visibility;
mod web;

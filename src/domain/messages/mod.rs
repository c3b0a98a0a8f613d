//! Messages: access, statements, read state, events, and the commands that create and delete them.
//!
//! | module | what it holds |
//! |---|---|
//! | `record`, `flags`, `events` | messages as stored and on the wire, bits of flags and attributes, events |
//! | `sql`, `flag_sql`, `topic_sql`, `submessages` | statements about messages, flags, whole topics, and data of widgets |
//! | `rules` | validity of contents and mentions; permissions to edit, delete, and send direct messages |
//! | `viewer` | one user's messages: access, read state, muting |
//! | `receipts`, `read_state` | who received a message, and who has read it |
//! | `row_reader`, `serialize` | reading messages from rows and writing them as JSON for one viewer |
//! | `destination`, `create`, `delete` | resolving where a message goes; storing, deleting and announcing it |
//! | `audience` | who gets the events about a message |
//! | `reminders` | reminders of messages |
//! | `sent_names` | the ids that clients gave to the messages that they sent lately |
//! | `channel_summary`, `webhook_queue`, `notification_queue`, `phones` | what follows from a new message and from reading: events of channels, and queues of webhooks and notifications |
//! | `widget`, `markup` | polls, to-do lists and choices; Markdown for messages that the server writes |
//! | `plain_text`, `mail_content`, `foreign_media` | the text of a message without markup, and its content in emails and pages |

pub mod audience;
pub mod channel_summary;
pub mod create;
pub mod delete;
pub mod destination;
pub mod events;
mod flag_sql;
pub mod flags;
pub mod foreign_media;
pub mod mail_content;
pub mod markup;
pub mod notification_queue;
pub mod phones;
pub mod plain_text;
pub mod read_state;
pub mod receipts;
pub mod record;
pub mod reminders;
pub mod row_reader;
pub mod rules;
pub mod sent_names;
pub mod serialize;
mod sql;
pub mod submessages;
pub mod topic_sql;
pub mod viewer;
pub mod webhook_queue;
pub mod widget;

pub use self::flag_sql::*;
pub use self::sql::*;

//! Outgoing webhooks: messages that mention an outgoing webhook bot, or are sent to it, are posted to another server,
//! whose response is the bot's reply.
//!
//! The messages to post are rows of a queue. A row is inserted in the job that sends the message and deleted in the job
//! that sends the reply, so a restart loses no message, but may post one twice.
//!
//! Messages are posted only to hosts that the server's operator allows, and only over `http`. Where `https` is needed, a proxy on the same machine can provide it; bots
//! with an `https` URL are refused when they are created or changed.

pub mod deliver;
mod payload;
mod post;
mod report;
mod slots;

use crate::api::resource::{Background, Resource};
use crate::scheduler;

pub const RESOURCE: Resource =
    Resource { name: "outgoing_webhooks", background: Some(BACKGROUND), ..Resource::EMPTY };

const BACKGROUND: Background = |app, stopped| {
    Box::pin(scheduler::run(app, stopped, |app| async move { deliver::deliver_due(&app).await }))
};

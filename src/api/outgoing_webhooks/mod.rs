//! Outgoing webhooks: a message that mentions such a bot, or is sent to it, is posted to another server, and what that
//! server answers is the bot's reply.
//!
//! A row says that a message is to be posted. It is written in the job that sends the message and removed in the job
//! that sends the reply, so that a restart loses nothing; one in between may post a message a second time.
//!
//! Only hosts that whoever runs the server allows are posted to, and over `http` only: a program for TLS would cost this
//! one more than a tenth of its size. A proxy on the same machine speaks `https` where that is needed.

pub mod deliver;
mod payload;
mod post;
mod report;

use crate::http::{Background, Resource};
use crate::scheduler;

/// Outgoing webhooks.
pub const RESOURCE: Resource =
    Resource { name: "outgoing_webhooks", background: Some(BACKGROUND), ..Resource::EMPTY };

const BACKGROUND: Background = |app, stopped| {
    Box::pin(scheduler::run(app, stopped, |app| Box::pin(async move { deliver::deliver_due(&app).await })))
};

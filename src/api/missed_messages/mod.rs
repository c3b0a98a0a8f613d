//! Mail to people who missed messages.
//!
//! - `decide`: who missed a message, decided after its commit; the rules are those of all notifications
//!   ([`domain::notifications`](crate::domain::notifications));
//! - `deliver`: emails about the batches whose time has come, beside the decisions about further messages;
//! - `letters`: composing them; `texts` has subjects and reasons.
//!
//! A message waits in the file from its own transaction to that of the email about it, which is put into the queue of
//! [`domain::mail`](crate::domain::mail).

mod decide;
mod deliver;
mod letters;
mod texts;

use crate::api::resource::{Background, Resource};
use crate::scheduler;
use std::sync::Arc;

pub const RESOURCE: Resource =
    Resource { name: "missed_messages", background: Some(BACKGROUND), ..Resource::EMPTY };

const BACKGROUND: Background = |app, stopped| {
    let decide = scheduler::run(Arc::clone(&app), stopped.clone(), decide::decide_due);
    let deliver = scheduler::run(app, stopped, |app| async move { deliver::deliver_due(&app).await });
    Box::pin(async move {
        tokio::join!(decide, deliver);
    })
};

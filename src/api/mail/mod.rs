//! Delivery of emails to the mail server, and the pages that links in emails open.
//!
//! Emails are composed in [`domain::mail`](crate::domain::mail), in the jobs of the changes that cause them.

mod deliver;

use crate::api::resource::{Background, Resource};
use crate::scheduler;
use std::time::Duration;

pub const RESOURCE: Resource = Resource { name: "mail", background: Some(BACKGROUND), ..Resource::EMPTY };

/// Time for the email that is being handed over when the server stops. Later it would be cut off, and sent again.
const STOP_GRACE: Duration = Duration::from_secs(5);

const BACKGROUND: Background = |app, mut stopped| {
    let work = scheduler::run(app, stopped.clone(), |app| async move { deliver::deliver_due(&app).await });
    Box::pin(async move {
        let mut work = std::pin::pin!(work);
        tokio::select! {
            () = &mut work => {}
            // The sender outlives the task, or the server is being stopped.
            _ = stopped.changed() => {
                let _ended = tokio::time::timeout(STOP_GRACE, work).await;
            }
        }
    })
};

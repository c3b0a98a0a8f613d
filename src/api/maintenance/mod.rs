//! Work that keeps the file: scheduled backups, warnings of space that runs out, and giving free space back. It has no
//! operations; the owners get direct messages.

mod backups;
mod space;

use crate::api::resource::{Background, Resource};
use crate::scheduler;
use futures_util::future::join4;
use std::sync::atomic::Ordering;

pub const RESOURCE: Resource =
    Resource { name: "maintenance", background: Some(BACKGROUND), ..Resource::EMPTY };

const BACKGROUND: Background = |app, stopped| {
    let backups = scheduler::run(app.clone(), stopped.clone(), backups::run_due);
    let overdue = scheduler::run(app.clone(), stopped.clone(), backups::warn_if_overdue);
    let space = scheduler::run(app.clone(), stopped.clone(), space::run_due);
    let mut stopping = stopped;
    Box::pin(async move {
        let stop = async move {
            // The sender is dropped after the server has stopped.
            let _dropped = stopping.changed().await;
            app.backups.stop.store(true, Ordering::Relaxed);
        };
        join4(backups, overdue, space, stop).await;
    })
};

//! Space that runs out, and space that is free: warnings to the owners, and giving free pages back to the disk.

use crate::app::App;
use crate::domain::files;
use crate::domain::invites;
use crate::domain::notices::budget;
use crate::domain::notices::operation::{self, Subject, Usage};
use crate::domain::space::{self, Space};
use crate::domain::upload_quota;
use crate::domain::upload_quota::{ALMOST_FULL, PersonUsage, UploadQuota};
use crate::http::{ApiError, ApiResult};
use crate::store::{Snapshot, Tx};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Seconds between two measurements.
const INTERVAL: u64 = 10 * 60;

/// The share of the disk in use, in percent, from which on owners are warned.
const DISK_WARNING: i64 = 80;

/// Retention of a scheduled message that was sent, in seconds: until then, changing it gets the right error.
const SENT_RETENTION: i64 = 30 * 24 * 60 * 60;

/// Retention of an invitation that has expired, or was revoked, in seconds.
const ENDED_INVITE_RETENTION: i64 = 30 * 24 * 60 * 60;

/// The most rows of one kind that one step deletes.
const ROWS_PER_STEP: i64 = 50;

/// Warns of space that runs out, removes old rows, and gives free pages back, from time to time. Nothing is due at a time of
/// its own: a clock that test servers advance would stop at each.
pub async fn run_due(app: Arc<App>) -> ApiResult<Option<i64>> {
    // The log has a line when it changes, also while there are no requests.
    let _is_full = app.refuses_changes();
    let now = app.clock.seconds();
    if now.abs_diff(app.space_measured.load(Ordering::Relaxed)) < INTERVAL {
        return Ok(None);
    }
    let quota = UploadQuota::of(&app.options);
    let disk_warning = app.options.overrides.disk_warning.unwrap_or(DISK_WARNING);
    let disk = app.writer.disk_usage().map(|usage| (disk_warning, usage));
    let still_known = operation::still_known_from(ALMOST_FULL);
    let measure = move |snapshot: &Snapshot<'_>| Ok(quota.people_above(snapshot, still_known)?);
    let people = app.read_in(&app.pools.slow_reads, None, measure).await?;
    app.writer.run(move |tx: &mut Tx<'_>| warn(tx, quota, disk)).await?;
    app.writer.run(move |tx: &mut Tx<'_>| warn_people(tx, &people)).await?;
    if app.jump_detector.is_steady(&app.clock) {
        app.writer.run_in_steps("sent_messages", delete_sent).await?;
        app.writer.run_in_steps("ended_invites", delete_ended_invites).await?;
        app.writer.run_in_steps("ended_notice_budgets", delete_ended_budgets).await?;
    }
    let space = app.readers.read(|snapshot| Ok::<_, ApiError>(Space::of(snapshot)?)).await?;
    if space.can_shrink && space.has_much_free() {
        let (before, after) = space::release(&app).await?;
        tracing::info!(bytes = before.size - after.size, "free space of the file was given back");
    }
    app.space_measured.store(now, Ordering::Relaxed);
    Ok(None)
}

/// `disk` has the share from which on to warn, the space left, and the size.
fn warn(tx: &mut Tx<'_>, quota: UploadQuota, disk: Option<(i64, (u64, u64))>) -> ApiResult<()> {
    if let Some(quota) = quota.of_all() {
        let usage = usage_of(files::space_used(tx)?, quota);
        operation::space_used(tx, Subject::UploadQuota, ALMOST_FULL, usage)?;
    }
    if let Some((warning, (free, size))) = disk.filter(|(_, (_, size))| *size > 0) {
        let percent = 100_u64.saturating_sub(free.saturating_mul(100) / size);
        operation::space_used(
            tx,
            Subject::Disk,
            warning,
            Usage { percent: percent as i64, free_mib: free >> 20 },
        )?;
    }
    Ok(())
}

fn usage_of(used: u64, quota: u64) -> Usage {
    Usage { percent: upload_quota::percent(used, quota), free_mib: quota.saturating_sub(used) >> 20 }
}

/// Warns those whose own quota is almost used up.
fn warn_people(tx: &mut Tx<'_>, people: &[PersonUsage]) -> ApiResult<()> {
    operation::forget_quotas_except(tx, people.iter().map(|person| person.user_id))?;
    people.iter().try_for_each(|person| {
        operation::own_quota_used(tx, person.user_id, ALMOST_FULL, usage_of(person.used, person.quota))
    })
}

/// Deletes scheduled messages that were sent long ago: some of them. Returns true if these were all.
fn delete_sent(tx: &mut Tx<'_>) -> ApiResult<bool> {
    let mut statement = tx.prepare_cached(
        "DELETE FROM scheduled_message WHERE scheduled_message_id IN (
             SELECT scheduled_message_id FROM scheduled_message WHERE sent AND scheduled_delivery_timestamp < ?1
             AND scheduled_message_id NOT IN (SELECT scheduled_message_id FROM attachment_scheduled_message) LIMIT ?2)",
    )?;
    Ok(statement.execute((tx.now() - SENT_RETENTION, ROWS_PER_STEP))? < ROWS_PER_STEP as usize)
}

/// Deletes some invitations that ended long ago, with the addresses in them. Returns true if these were all.
fn delete_ended_invites(tx: &mut Tx<'_>) -> ApiResult<bool> {
    Ok(invites::delete_ended(tx, tx.now() - ENDED_INVITE_RETENTION, ROWS_PER_STEP)? < ROWS_PER_STEP as usize)
}

/// Deletes some budgets of notices whose day is over. Returns true if these were all.
fn delete_ended_budgets(tx: &mut Tx<'_>) -> ApiResult<bool> {
    Ok(budget::delete_ended(tx, tx.now(), ROWS_PER_STEP)? < ROWS_PER_STEP as usize)
}

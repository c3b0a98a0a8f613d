//! Puts the emails about due batches into the queue of mail.

use crate::api::missed_messages::letters;
use crate::api::missed_messages::letters::{Bucket, Composed, Survey};
use crate::app::App;
use crate::domain::mail::{Letter, Priority};
use crate::domain::messages::notification_queue::Queue;
use crate::domain::missed_messages::Batch;
use crate::domain::notifications::waiting;
use crate::domain::{mail, mail_addresses, missed_messages};
use crate::error::{ApiError, ApiResult};
use crate::scheduler::process_due;
use crate::store::Tx;
use crate::types::{MailPattern, MessageId};
use std::collections::VecDeque;

/// Emails that are composed in one snapshot.
const LETTERS_PER_SNAPSHOT: usize = 10;

/// Messages without mail that are removed in one step.
const REMOVED_PER_STEP: usize = 200;

/// Puts the emails of all due batches into the queue of mail. Returns when something is due next, in UNIX seconds.
pub async fn deliver_due(app: &App) -> ApiResult<Option<i64>> {
    if !app.readers.read(|snapshot| mail::is_on(snapshot)).await? {
        clear(app).await?;
        return Ok(None);
    }
    process_due(
        app,
        |snapshot, after| {
            let batch = missed_messages::first_after(snapshot, after)?;
            Ok(batch.map(|batch| ((batch.due, batch.id), batch)))
        },
        |batch| deliver(app, batch),
    )
    .await
}

/// Removes what waits: the server does not send mail any more.
async fn clear(app: &App) -> ApiResult<()> {
    let is_clear = app.readers.read(|snapshot| {
        ApiResult::Ok(waiting::is_clear(snapshot, Queue::Mail)? && missed_messages::is_clear(snapshot)?)
    });
    if is_clear.await? {
        return Ok(());
    }
    let clear = |tx: &mut Tx<'_>| -> ApiResult<bool> {
        Ok(!waiting::clear_some(tx, Queue::Mail)? && !missed_messages::clear_some(tx)?)
    };
    app.writer.run_in_steps("missed_clearing", clear).await
}

/// Puts the emails of a batch into the queue of mail, each in the transaction that removes its messages: a crash repeats and
/// loses none. The last one removes the batch.
async fn deliver(app: &App, batch: Batch) -> ApiResult<()> {
    let now = app.clock.seconds();
    let receives_mail = app.options.mail_pattern.is_some();
    let surveyed =
        app.read_in(&app.pools.notifications, None, move |snapshot| letters::survey(snapshot, batch, now));
    let Survey { mut buckets, mut outdated } = surveyed.await?;
    loop {
        let some: Vec<Bucket> = buckets.drain(..buckets.len().min(LETTERS_PER_SNAPSHOT)).collect();
        let is_last = buckets.is_empty();
        let composed = app.read_in(&app.pools.notifications, None, move |snapshot| {
            let mut composed = VecDeque::new();
            for bucket in some {
                let letter = letters::compose(snapshot, batch.user_id, &bucket, now, receives_mail)?;
                composed.push_back((letter, bucket.message_ids));
            }
            ApiResult::Ok(composed)
        });
        let mut composed = composed.await?;
        let mut removed = if is_last { std::mem::take(&mut outdated) } else { Vec::new() };
        let pattern = app.options.mail_pattern.clone();
        let store = move |tx: &mut Tx<'_>| -> ApiResult<bool> {
            if let Some((letter, message_ids)) = composed.pop_front() {
                put(tx, batch, letter, pattern.as_ref(), &message_ids)?;
            } else if !removed.is_empty() {
                let rest = removed.split_off(removed.len().saturating_sub(REMOVED_PER_STEP));
                missed_messages::remove(tx, batch.id, &rest)?;
            } else {
                missed_messages::remove_empty(tx, batch.id)?;
                return Ok(true);
            }
            Ok(false)
        };
        app.writer.run_in_steps("missed_letters", store).await?;
        if is_last {
            return Ok(());
        }
    }
}

fn put(
    tx: &mut Tx<'_>,
    batch: Batch,
    letter: Option<Composed>,
    pattern: Option<&MailPattern>,
    message_ids: &[MessageId],
) -> ApiResult<()> {
    if let Some(Composed { mut letter, answered }) = letter {
        if !mail::outbox::has_room(tx, Priority::Bulk)? {
            return Err(ApiError::internal("too many emails wait, so that a batch of messages waits too"));
        }
        if let Some(message_id) = answered {
            // If the message was deleted since, this fails, and the email is composed again.
            let address = mail_addresses::reply_address(tx, pattern, batch.user_id, message_id)?;
            letter = address.into_iter().fold(letter, Letter::reply_to);
        }
        mail::queue(tx, letter)?;
    }
    missed_messages::remove(tx, batch.id, message_ids)
}

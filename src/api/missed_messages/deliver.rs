//! Puts the emails about due batches into the queue of mail.

use crate::api::missed_messages::letters;
use crate::api::missed_messages::letters::{Bucket, Composed, Survey};
use crate::app::App;
use crate::domain::mail::{Letter, Priority};
use crate::domain::messages::notification_queue::Queue;
use crate::domain::missed_messages::Batch;
use crate::domain::notifications::waiting;
use crate::domain::{mail, mail_addresses, missed_messages};
use crate::error::ApiResult;
use crate::scheduler::process_due;
use crate::store::{Snapshot, Tx};
use crate::types::{MailPattern, MessageId};
use rusqlite::Connection;
use std::collections::VecDeque;

/// Batches whose emails are composed and queued together.
const BATCHES_AT_ONCE: usize = 10;

/// Steps of these that are taken together: emails are composed in one snapshot, and queued in as few jobs as there is time for.
const STEPS_AT_ONCE: usize = 20;

/// Messages without mail that are removed in one step.
const REMOVED_PER_STEP: usize = 200;

/// Seconds until the next attempt if the queue of mail has no room.
const PAUSE_WITHOUT_ROOM: i64 = 10;

/// A step of the delivery of a batch.
enum Step {
    /// Puts the email about a conversation into the queue of mail, and removes its messages.
    Letter(Batch, Bucket),
    /// Removes messages without an email.
    Remove(Batch, Vec<MessageId>),
    /// Removes the batch.
    End(Batch),
}

/// Puts the emails of all due batches into the queue of mail, as long as it has room. Returns when something is due next, in UNIX
/// seconds.
pub async fn deliver_due(app: &App) -> ApiResult<Option<i64>> {
    if !app.readers.read(|snapshot| mail::is_on(snapshot)).await? {
        clear(app).await?;
        return Ok(None);
    }
    process_due(
        app,
        |snapshot, after| {
            let now = app.clock.seconds();
            if !has_room(snapshot)? {
                return Ok(Some(((now + PAUSE_WITHOUT_ROOM, 0), Vec::new())));
            }
            let batches = missed_messages::batches_after(snapshot, after, now, BATCHES_AT_ONCE)?;
            let last = batches.last().map(|batch| (batch.due, batch.id));
            Ok(last.map(|last| (last, batches)))
        },
        |batches| deliver(app, batches),
    )
    .await
}

/// True if the queue of mail has room for another email.
fn has_room(connection: &Connection) -> ApiResult<bool> {
    mail::outbox::has_room(connection, Priority::Bulk)
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

/// Puts the emails of some batches into the queue of mail. If that fails, each batch is tried alone, so that it stops no other.
async fn deliver(app: &App, batches: Vec<Batch>) -> ApiResult<()> {
    let mut result = deliver_together(app, batches.clone()).await;
    if result.is_ok() || batches.len() == 1 || app.writer.background().is_stopping() {
        return result;
    }
    result = Ok(());
    for batch in batches {
        if let Err(error) = deliver_together(app, vec![batch]).await {
            tracing::warn!(%error, user_id = %batch.user_id, "missed messages were not mailed");
            result = Err(error);
        }
    }
    result
}

/// Puts the emails of some batches into the queue of mail, each in the transaction that removes its messages: a crash repeats and
/// loses none. The last step of a batch removes it. When the queue has no more room, the rest stays where it is.
async fn deliver_together(app: &App, batches: Vec<Batch>) -> ApiResult<()> {
    let now = app.clock.seconds();
    let receives_mail = app.options.mail_pattern.is_some();
    let survey = move |snapshot: &Snapshot<'_>| -> ApiResult<_> {
        let mut steps = VecDeque::new();
        for batch in batches {
            let Survey { buckets, outdated } = letters::survey(snapshot, batch, now)?;
            steps.extend(buckets.into_iter().map(|bucket| Step::Letter(batch, bucket)));
            steps.extend(outdated.chunks(REMOVED_PER_STEP).map(|some| Step::Remove(batch, some.to_vec())));
            steps.push_back(Step::End(batch));
        }
        Ok(steps)
    };
    let mut steps = app.read_in(&app.pools.notifications, None, survey).await?;
    while !steps.is_empty() {
        let some: Vec<Step> = steps.drain(..steps.len().min(STEPS_AT_ONCE)).collect();
        let compose = move |snapshot: &Snapshot<'_>| -> ApiResult<VecDeque<(Step, Option<Composed>)>> {
            let mut composed = VecDeque::new();
            if !has_room(snapshot)? {
                return Ok(composed);
            }
            for step in some {
                let letter = match &step {
                    Step::Letter(batch, bucket) => {
                        letters::compose(snapshot, batch.user_id, bucket, now, receives_mail)?
                    }
                    Step::Remove(..) | Step::End(_) => None,
                };
                composed.push_back((step, letter));
            }
            Ok(composed)
        };
        let mut composed = app.read_in(&app.pools.notifications, None, compose).await?;
        if composed.is_empty() {
            return Ok(());
        }
        let pattern = app.options.mail_pattern.clone();
        let store = move |tx: &mut Tx<'_>| -> ApiResult<bool> {
            match composed.pop_front() {
                Some((Step::Letter(..), Some(_))) if !has_room(tx)? => return Ok(true),
                Some((Step::Letter(batch, bucket), letter)) => {
                    put(tx, batch, letter, pattern.as_ref(), &bucket.message_ids)?;
                }
                Some((Step::Remove(batch, message_ids), _)) => {
                    missed_messages::remove(tx, batch.id, &message_ids)?;
                }
                Some((Step::End(batch), _)) => missed_messages::remove_empty(tx, batch.id)?,
                None => {}
            }
            Ok(composed.is_empty())
        };
        app.writer.run_in_steps("missed_letters", store).await?;
    }
    Ok(())
}

fn put(
    tx: &mut Tx<'_>,
    batch: Batch,
    letter: Option<Composed>,
    pattern: Option<&MailPattern>,
    message_ids: &[MessageId],
) -> ApiResult<()> {
    if let Some(Composed { mut letter, answered }) = letter {
        if let Some(message_id) = answered {
            // If the message was deleted since, this fails, and the email is composed again.
            let address = mail_addresses::reply_address(tx, pattern, batch.user_id, message_id)?;
            letter = address.into_iter().fold(letter, Letter::reply_to);
        }
        mail::queue(tx, letter)?;
    }
    missed_messages::remove(tx, batch.id, message_ids)
}

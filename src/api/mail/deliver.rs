//! Hands due emails over to the mail server, one after the other on one connection.
//!
//! An email is deleted when the mail server has taken it. If the server crashes between the two, the email is sent again with
//! the same `Message-ID`: at least once, and once if nothing crashes.

use crate::app::{App, MailOptions, Outcome};
use crate::domain::mail::outbox::{self, DueLetter};
use crate::domain::notices::operation;
use crate::domain::notifications::mailed;
use crate::domain::{mail, missed_messages};
use crate::error::ApiResult;
use crate::metrics::Count;
use crate::scheduler;
use crate::smtp::{Connection, Refusal, RefusalKind};
use crate::store::{Snapshot, Tx};
use std::sync::atomic::Ordering;

/// The pauses after failures of the mail server, in seconds; the last is repeated.
const SERVER_PAUSES: [i64; 6] = [5, 15, 60, 300, 600, 900];

/// The pauses before an email is tried again that the mail server does not take now, in seconds; the last is repeated.
const LETTER_PAUSES: [i64; 5] = [60, 300, 900, 1800, 3600];

/// The longest of these pauses.
const LONGEST_PAUSE: i64 = 3600;

/// The most emails on one connection.
const MAX_LETTERS: usize = 100;

/// Seconds of failures after which the owners are informed.
const TELL_AFTER: i64 = 60 * 60;

/// Delivers what is due. Returns when something is due next, in UNIX seconds.
pub async fn deliver_due(app: &App) -> ApiResult<Option<i64>> {
    let Some(options) = &app.options.mail else {
        if app.readers.read(|snapshot| mail::is_on(snapshot)).await? {
            app.writer.run_in_steps("mail_clearing", turn_off).await?;
        }
        return Ok(None);
    };
    end_pauses_of_wrong_clock(app).await?;
    let mut connection = None;
    let result = deliver_all(app, options, &mut connection).await;
    if let Some(connection) = connection {
        connection.close().await;
    }
    result?;
    let next = app.readers.read(|snapshot| outbox::next_time(snapshot)).await?;
    Ok(next.map(|next| next.max(app.mail.next_attempt.load(Ordering::Relaxed))))
}

/// Ends the pauses that began while the clock was ahead, at the start and when the clock was set back. They could last for years.
async fn end_pauses_of_wrong_clock(app: &App) -> ApiResult<()> {
    let now = app.clock.seconds();
    let last_run = app.mail.last_run.swap(now, Ordering::Relaxed);
    if (1..=now).contains(&last_run) {
        return Ok(());
    }
    app.mail.next_attempt.store(0, Ordering::Relaxed);
    let end = move |tx: &mut Tx<'_>| ApiResult::Ok(outbox::end_pauses_beyond(tx, now + LONGEST_PAUSE)?);
    app.writer.run(end).await
}

/// Removes some of what waits, and in the end the record of how mail is sent: the server sends none any more. Returns true when all
/// is done.
fn turn_off(tx: &mut Tx<'_>) -> ApiResult<bool> {
    if outbox::clear_some(tx)? {
        return Ok(false);
    }
    mail::remove_setup(tx)?;
    Ok(true)
}

async fn deliver_all(app: &App, options: &MailOptions, open: &mut Option<Connection>) -> ApiResult<()> {
    let mut count = 0;
    loop {
        let now = app.clock.seconds();
        if app.writer.background().is_stopping() || now < app.mail.next_attempt.load(Ordering::Relaxed) {
            return Ok(());
        }
        // The mail server may fail at one email only, which must not keep all others waiting.
        let failed = app.mail.failed_ids();
        let Some(due) = app.readers.read(|snapshot| outbox::next_due(snapshot, now, &failed)).await? else {
            return Ok(());
        };
        if failed.contains(&due.id) {
            app.mail.forget_failed();
        }
        if due.expires <= now || app.mail.has_sent(due.id) {
            finish(app, &due, (!app.mail.has_sent(due.id)).then_some(&app.mail.deliveries.expired)).await?;
            continue;
        }
        if is_outdated(app, &due).await? {
            take_back(app, due).await?;
            continue;
        }
        if count % MAX_LETTERS == 0
            && let Some(connection) = open.take()
        {
            connection.close().await;
        }
        count += 1;
        match hand_over(options, app, open, &due).await {
            Ok(answer) => {
                tracing::debug!(kind = due.kind, answer, "an email was sent");
                app.mail.mark_sent(due.id);
                let counter = app.mail.deliveries.note(app.clock.seconds(), Outcome::Taken);
                succeeded(app).await?;
                finish(app, &due, Some(counter)).await?;
            }
            Err(refusal) => {
                // A connection with a login for each of thousands of refused emails would look like an attack.
                let is_usable = match open {
                    Some(connection) if refusal.kind != RefusalKind::Server => connection.reset().await,
                    _ => false,
                };
                if !is_usable {
                    *open = None;
                }
                refused(app, &due, refusal).await?;
            }
        }
    }
}

/// True if an email goes to a former address, or shows messages that have changed, or that the reader may not read any more, or must
/// not show them any more.
async fn is_outdated(app: &App, due: &DueLetter) -> ApiResult<bool> {
    let Some((user_id, basis)) = due.basis.clone() else { return Ok(false) };
    let now = app.clock.seconds();
    let is_current = move |snapshot: &Snapshot<'_>| mailed::is_current(snapshot, user_id, &basis, now);
    Ok(!app.read_quickly_or_slowly(None, is_current).await?)
}

/// Deletes such an email. What is left of its missed messages has another one.
async fn take_back(app: &App, due: DueLetter) -> ApiResult<()> {
    let job = move |tx: &mut Tx<'_>| -> ApiResult<()> {
        outbox::delete(tx, due.id)?;
        match &due.basis {
            Some((user_id, basis)) => missed_messages::put_back(tx, *user_id, &basis.missed),
            None => Ok(()),
        }
    };
    app.writer.run(job).await
}

async fn hand_over(
    options: &MailOptions,
    app: &App,
    open: &mut Option<Connection>,
    due: &DueLetter,
) -> Result<String, Refusal> {
    let connection = match open {
        Some(connection) => connection,
        None => open.insert(Connection::open(&options.server, app.options.overrides.outgoing_timeout).await?),
    };
    connection.send(&options.sender, &due.message).await
}

/// Deletes an email, and counts it.
async fn finish(app: &App, due: &DueLetter, counter: Option<&Count>) -> ApiResult<()> {
    let id = due.id;
    app.writer.run(move |tx| outbox::delete(tx, id)).await?;
    app.mail.forget_sent(id);
    if let Some(counter) = counter {
        counter.increment();
    }
    Ok(())
}

/// Drops an email that is refused for good, and postpones others. An email whose content is refused for good is tried again until the
/// mail server has taken another one since: then the refusal is about this email alone. A restart forgets what was taken before.
async fn refused(app: &App, due: &DueLetter, refusal: Refusal) -> ApiResult<()> {
    let now = app.clock.seconds();
    let Refusal { kind, text } = refusal;
    let results = &app.mail.deliveries;
    let takes_others = || due.attempts > 0 && results.failing().is_none() && results.last_success().is_some();
    if kind == RefusalKind::Letter || kind == RefusalKind::Content && takes_others() {
        tracing::warn!(kind = due.kind, error = text, "the mail server refused an email, which is dropped");
        return finish(app, due, Some(results.note(now, Outcome::Unwanted))).await;
    }
    results.note(now, Outcome::Failed(&text)).increment();
    let next_try = if kind == RefusalKind::Server {
        let failures = app.mail.failures_in_a_row.fetch_add(1, Ordering::Relaxed);
        let next_attempt = now + scheduler::pause_after(&SERVER_PAUSES, failures);
        app.mail.next_attempt.store(next_attempt, Ordering::Relaxed);
        app.mail.mark_failed(due.id);
        // The pauses of the mail server begin again when it takes another email.
        next_attempt.max(now + scheduler::pause_after(&SERVER_PAUSES, due.attempts.unsigned_abs()))
    } else {
        now + scheduler::pause_after(&LETTER_PAUSES, due.attempts.unsigned_abs())
    };
    tracing::warn!(kind = due.kind, error = text, "an email was not sent and will be tried again");
    let is_reported = results.failing().is_some_and(|failing| now - failing.since >= TELL_AFTER);
    let id = due.id;
    let job = move |tx: &mut Tx<'_>| {
        outbox::postpone(tx, id, next_try, &text)?;
        if is_reported { operation::mail_failed(tx, &text) } else { Ok(()) }
    };
    app.writer.run(job).await
}

/// Notes that the mail server takes emails.
async fn succeeded(app: &App) -> ApiResult<()> {
    app.mail.failures_in_a_row.store(0, Ordering::Relaxed);
    app.mail.next_attempt.store(0, Ordering::Relaxed);
    app.mail.forget_failed();
    if app.readers.read(|snapshot| operation::is_mail_failing(snapshot)).await? {
        app.writer.run(operation::mail_succeeded).await?;
    }
    Ok(())
}

//! Posts due messages, and handles the responses: replies, retries and reports of failures.

use crate::api::outgoing_webhooks::payload::{BotReply, Payload};
use crate::api::outgoing_webhooks::post::Failure;
use crate::api::outgoing_webhooks::report::Report;
use crate::api::outgoing_webhooks::slots::Slots;
use crate::api::outgoing_webhooks::{payload, post};
use crate::app::App;
use crate::auth::Ctx;
use crate::domain::access::messages::MessageAccess;
use crate::domain::bots::Service;
use crate::domain::limits::{MAX_MESSAGE_LENGTH, check_length};
use crate::domain::messages::create::{OutgoingMessage, send};
use crate::domain::messages::destination::Destination;
use crate::domain::messages::markup::Location;
use crate::domain::messages::record::MessageRow;
use crate::domain::messages::webhook_queue;
use crate::domain::messages::webhook_queue::QueuedRow;
use crate::domain::messages::widget::Widget;
use crate::domain::notices::bots::notify_owner;
use crate::domain::notices::mention;
use crate::domain::rendering::{on_snapshot, render_for};
use crate::domain::rows::user::UserRow;
use crate::domain::{access, bots, messages, rows};
use crate::http::{ApiError, ApiResult, Caller, ok_unless_refused};
use crate::http_client::Answer;
use crate::scheduler;
use crate::store::Tx;
use crate::types::{Topic, UserId};
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use rusqlite::Connection;
use teamchat_markdown::Words;

/// The delays before the retries, in seconds.
const PAUSES: [i64; 3] = [2, 10, 60];

/// The published client name of replies.
const CLIENT: &str = "OutgoingWebhookResponse";

/// Posts all due messages, as many at a time as [`slots`](super) has. Returns when the next one is due, in UNIX seconds. A message
/// that the server fails to handle stays where it is and stops no other; the last such error is returned, so that it is tried
/// again.
pub async fn deliver_due(app: &App) -> ApiResult<Option<i64>> {
    let mut wakeups = app.scheduler_wakeup.subscribe();
    let (mut slots, mut running) = (Slots::default(), FuturesUnordered::new());
    let mut result = Ok(());
    loop {
        wakeups.mark_unchanged();
        let now = app.clock.seconds();
        let due = app.readers.read(|snapshot| Ok::<_, ApiError>(slots.fill(snapshot, now)?)).await?;
        running.extend(due.rows.into_iter().map(|row| async move {
            let row_id = row.id;
            (row_id, scheduler::guard(deliver(app, row)).await)
        }));
        if running.is_empty() {
            return result.map(|()| due.next);
        }
        let pause = scheduler::pause_until(app, due.next);
        tokio::select! {
            Some((row_id, done)) = running.next() => {
                slots.free(row_id, done.is_err());
                if let Err(error) = done {
                    tracing::warn!(%error, row_id, "a message was not posted to a webhook and will be tried again");
                    result = Err(error);
                }
            }
            () = tokio::time::sleep(pause) => {}
            // The sender is in `app`.
            _ = wakeups.changed() => {}
        }
    }
}

/// A message that is ready to be posted.
struct Prepared {
    bot: UserRow,
    caller: Caller,
    service: Service,
    message: MessageRow,
    payload: Option<Payload>,
}

/// The result of one attempt.
enum Outcome {
    /// Posted; the bot does not reply.
    Quiet,
    /// Posted; the bot sends this reply.
    Reply(BotReply, Answer),
    /// Failed permanently.
    Failed(Report),
    /// Failed, to be retried after these seconds.
    Later(i64),
}

/// Posts one message. Returns only errors of the database.
async fn deliver(app: &App, row: QueuedRow) -> ApiResult<()> {
    let now = app.clock.seconds();
    let prepared = app.readers.read(|snapshot| prepare(app, snapshot, &row, now)).await?;
    let Some(prepared) = prepared else {
        // The bot is deactivated, or cannot read the message any more.
        return app
            .writer
            .run(move |tx| webhook_queue::remove(tx, row.id).map(|_| ()).map_err(ApiError::from))
            .await;
    };
    if app.options.rate_limit
        && let Some(pause) = app.rate_limiter.count_action(&prepared.caller, &app.clock).pause()
    {
        let next_try = app.clock.seconds() + pause;
        return app.writer.run(move |tx| Ok(webhook_queue::defer(tx, row.id, next_try)?)).await;
    }
    let outcome = match &prepared.payload {
        None => Outcome::Failed(Report::no_direct_messages()),
        Some(payload) => {
            let answer = post::post(&prepared.service.base_url, payload, &app.options).await;
            outcome_of(prepared.service.interface, row.failed_tries, answer)
        }
    };
    match outcome {
        Outcome::Quiet => {
            let done = move |tx: &mut Tx<'_>| -> ApiResult<()> {
                webhook_queue::remove(tx, row.id)?;
                Ok(bots::clear_owner_notice(tx, row.bot_id)?)
            };
            app.writer.run(done).await
        }
        Outcome::Reply(reply, answer) => match send_reply(app, &row, &prepared, reply).await {
            Err(error) if !error.is_transient() => {
                let report = Report::refused(error.msg(), &answer);
                fail(app, row, prepared, report).await
            }
            sent => sent,
        },
        Outcome::Failed(report) => fail(app, row, prepared, report).await,
        Outcome::Later(pause) => {
            let next_try = app.clock.seconds() + pause;
            app.writer.run(move |tx| Ok(webhook_queue::postpone(tx, row.id, next_try)?)).await
        }
    }
}

fn outcome_of(interface: i64, failed_tries: i64, answer: Result<Answer, Failure>) -> Outcome {
    let pause = PAUSES.get(usize::try_from(failed_tries).unwrap_or(usize::MAX));
    match (answer, pause) {
        (Err(Failure::TimedOut | Failure::NotConnected), Some(pause)) => Outcome::Later(*pause),
        (Err(failure), _) => Outcome::Failed(Report::unavailable(failure)),
        (Ok(answer), _) if !(200..300).contains(&answer.status) => Outcome::Failed(Report::status(&answer)),
        (Ok(answer), _) => match payload::reply(interface, &answer) {
            Ok(None) => Outcome::Quiet,
            Ok(Some(reply)) => Outcome::Reply(reply, answer),
            Err(msg) => Outcome::Failed(Report::refused(&msg, &answer)),
        },
    }
}

/// Loads the bot and the message, and writes the payload; `None` if the bot is deactivated, or if the message was deleted
/// or cannot be read by the bot any more.
fn prepare(app: &App, connection: &Connection, row: &QueuedRow, now: i64) -> ApiResult<Option<Prepared>> {
    let bot = rows::user::by_id(connection, row.bot_id)?.filter(|bot| bot.is_active);
    let service = bots::load(connection, row.bot_id)?.and_then(|bot| bot.service);
    let message = messages::by_id(connection, row.message_id)?;
    let (Some(bot), Some(service), Some(message)) = (bot, service, message) else { return Ok(None) };
    let caller = rows::user::caller(connection, bot.user_id)?;
    // The bot may have lost the channel since the message was sent.
    let access = MessageAccess::new(Ctx::new(connection, &caller, now));
    if !access.can_read(message.recipient_id, message.id)? {
        return Ok(None);
    }
    let url = app.options.public_url.as_deref().and_then(|url| url::Url::parse(url).ok());
    let host = url.as_ref().and_then(url::Url::host_str).unwrap_or("localhost");
    let payload = payload::write(connection, row, (&bot, &caller), &service, &message, now, host)?;
    Ok(Some(Prepared { bot, caller, service, message, payload }))
}

/// The conversation of the message, to which the bot replies; `None` if its channel is archived.
fn address_of(connection: &Connection, message: &MessageRow) -> ApiResult<Option<Destination>> {
    Ok(match access::messages::stream_of(connection, message.recipient_id)? {
        Some(stream_id) => rows::channel::by_id(connection, stream_id)?
            .filter(|stream| !stream.is_archived)
            .map(|stream| Destination::Channel(Box::new(stream), Topic::stored(message.subject.clone()))),
        None => access::messages::direct_user_ids(connection, message.recipient_id)?.map(Destination::Direct),
    })
}

/// Sends the bot's reply to the conversation.
async fn send_reply(app: &App, row: &QueuedRow, prepared: &Prepared, reply: BotReply) -> ApiResult<()> {
    // As published, it is JSON in a text.
    let widget = reply.widget_content.as_ref().map(|widget| widget.as_str().unwrap_or_default());
    let widget = widget.map(|widget| {
        check_length("widget_content", widget, MAX_MESSAGE_LENGTH)?;
        Widget::parse(widget)
    });
    let draft = draft(app, prepared, &reply.content, widget.transpose()?).await?;
    let (id, bot_id) = (row.id, prepared.bot.user_id);
    let job = move |tx: &mut Tx<'_>| -> ApiResult<()> {
        if !webhook_queue::remove(tx, id)? {
            return Ok(());
        }
        if let Some(draft) = draft {
            send_as_bot(tx, bot_id, draft)?;
        }
        Ok(bots::clear_owner_notice(tx, bot_id)?)
    };
    app.writer.run(job).await
}

/// Sends a message with the current permissions of the bot: the other server may have taken long to answer, and its
/// text can only mention users and groups that the bot may mention.
fn send_as_bot(tx: &mut Tx<'_>, bot_id: UserId, draft: OutgoingMessage) -> ApiResult<()> {
    let caller = rows::user::caller(tx, bot_id)?;
    send(tx, &caller, draft).map(|_| ())
}

/// Renders a reply of the bot.
async fn draft(
    app: &App,
    prepared: &Prepared,
    content: &str,
    widget: Option<Widget>,
) -> ApiResult<Option<OutgoingMessage>> {
    let origin = app.options.public_url.clone().unwrap_or_default();
    let now = app.clock.seconds();
    let content = messages::rules::content(content)?;
    let (caller, message, text) = (prepared.caller.clone(), prepared.message.clone(), content.clone());
    on_snapshot(app, None, &[&text], move |snapshot| {
        let Some(address) = address_of(snapshot, &message)? else { return Ok(None) };
        let rendered = render_for(Ctx::new(snapshot, &caller, now), &origin, &content)?;
        let message = OutgoingMessage::new(address, content, rendered, CLIENT.to_owned());
        Ok(Some(OutgoingMessage { widget, ..message }))
    })
    .await
}

/// Reports a failure to the conversation, and to the bot's owner if they were not notified of one recently.
async fn fail(app: &App, row: QueuedRow, prepared: Prepared, report: Report) -> ApiResult<()> {
    let draft = draft(app, &prepared, &report.reply, None).await?;
    let job = move |tx: &mut Tx<'_>| -> ApiResult<()> {
        if !webhook_queue::remove(tx, row.id)? {
            return Ok(());
        }
        if let Some(reasons) = report.reasons {
            let url = Location::of(tx, &prepared.message)?;
            notify_owner(tx, &prepared.caller, prepared.message.sender_id, |bot, language| {
                let message = Words::default().link(language.t("A message"), url.url());
                let bot = mention(bot);
                let text = language.t("{message} to your bot {bot} triggered an outgoing webhook.");
                reasons.after(language, Words::filled(text, &[("message", message), ("bot", bot)]))
            })?;
        }
        if let Some(draft) = draft {
            // A bot without permission to send to the conversation sends no reply.
            ok_unless_refused(send_as_bot(tx, prepared.bot.user_id, draft))?;
        }
        Ok(())
    };
    app.writer.run(job).await
}

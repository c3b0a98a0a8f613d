//! Posts due notifications to push services and the bouncer, and handles the responses of push services.

use crate::api::web_push::encryption::{BrowserKeys, encrypt};
use crate::api::web_push::endpoint::permission_of;
use crate::api::web_push::payload::{Notification, Payload, compose};
use crate::api::web_push::queue::{DueNotification, NotificationKey, Transports};
use crate::api::web_push::retries::{LIFETIME, TIMEOUT, pause_after, retry_after};
use crate::api::web_push::slots::{Slots, WaitingForSlots};
use crate::api::web_push::sql::Subscription;
use crate::api::web_push::vapid::ServerKey;
use crate::api::web_push::{phones, queue, sql};
use crate::app::{self, App};
use crate::auth::Ctx;
use crate::domain::{realm, rows};
use crate::error::{ApiError, ApiResult};
use crate::http_client;
use crate::http_client::Outgoing;
use crate::scheduler;
use crate::store::{Snapshot, Tx};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use hyper::Method;
use ring::hmac;
use roaring::RoaringBitmap;
use rusqlite::Connection;
use std::collections::HashSet;
use std::time::Duration;
use tokio::time::Instant;
use url::Url;

/// Number of loaded notifications below which they are loaded again when a request ends, and whenever tasks are woken.
const MIN_LOADED: usize = 64;

/// The time after which they are loaded again, too, if tasks are woken while more are loaded: new ones of other hosts may have free
/// slots.
const RELOAD_INTERVAL: Duration = Duration::from_secs(1);

/// In place of the status: the request was not sent, because its host is not allowed.
const NOT_ALLOWED: u16 = 0;

/// Seconds of failures after which a subscription ends.
const FAILING_LIFETIME: i64 = 7 * 24 * 60 * 60;

/// Posts all due notifications, as many at a time as there are [`Slots`]. Returns when something is due next, in UNIX seconds. A
/// notification that the server fails to handle stays where it is and stops no other; the last such error is returned, so that it is
/// tried again.
pub async fn deliver_due(app: &App) -> ApiResult<Option<i64>> {
    let transports = Transports::of(&app.options);
    if !transports.has_any() {
        if !app.readers.read(|snapshot| ApiResult::Ok(queue::is_clear(snapshot)?)).await? {
            let clear = |tx: &mut Tx<'_>| ApiResult::Ok(!queue::clear_some(tx)?);
            app.writer.run_in_steps("push_clearing", clear).await?;
        }
        return Ok(None);
    }
    let mut wakeups = app.scheduler_wakeup.subscribe();
    let (mut slots, mut running) = (Slots::default(), FuturesUnordered::new());
    let (mut failed, mut result) = (HashSet::new(), Ok(()));
    loop {
        wakeups.mark_unchanged();
        let (now, loaded) = (app.clock.seconds(), Instant::now());
        let read = app.readers.read(|snapshot| -> ApiResult<_> {
            let mut due = phones::due(snapshot, now, transports)?;
            due.extend(queue::due_notifications(snapshot, now, transports)?);
            Ok((due, [queue::next_due(snapshot, now)?, phones::next_due(snapshot, now, transports)?]))
        });
        let (mut due, next_due) = read.await?;
        due.retain(|due| !failed.contains(&due.key) && !slots.contains(due.key.subscription_id));
        let mut due = WaitingForSlots::new(due, |due| host_of(app, due).unwrap_or_default());
        let next = next_due.into_iter().flatten().min();
        loop {
            // A request that begins while the server stops may be cut off, and is sent again after the next start.
            while !app.writer.background().is_stopping()
                && let Some(one) = due.start_next(&mut slots)
            {
                let key = one.key.clone();
                running.push(async move { (key, scheduler::guard(deliver(app, one)).await) });
            }
            if running.is_empty() {
                return result.map(|()| next);
            }
            let pause = scheduler::pause_until(app, next);
            let has_many = due.count() >= MIN_LOADED;
            let is_woken = async {
                // On a busy server, tasks are woken all the time.
                if has_many {
                    tokio::time::sleep_until(loaded + RELOAD_INTERVAL).await;
                }
                // The sender is in `app`.
                let _changed = wakeups.changed().await;
            };
            tokio::select! {
                Some((key, done)) = running.next() => {
                    let subscription_id = key.subscription_id;
                    slots.free(subscription_id);
                    if let Err(error) = done {
                        tracing::warn!(%error, subscription_id, "a notification was not sent and will be tried again");
                        result = Err(error);
                        failed.insert(key);
                    }
                    // What was loaded is outdated for this subscription, which may have another one.
                    due.remove(subscription_id);
                    if due.count() < MIN_LOADED {
                        break;
                    }
                }
                () = tokio::time::sleep(pause) => break,
                () = is_woken => break,
            }
        }
    }
}

/// The host that gets a notification.
fn host_of(app: &App, due: &DueNotification) -> Option<String> {
    let bouncer = app.options.push_bouncer.as_ref().map(|bouncer| bouncer.url.as_str());
    Url::parse(due.endpoint.as_deref().or(bouncer)?).ok()?.host_str().map(str::to_owned)
}

/// A due notification, as the database has it now.
enum Prepared {
    /// Its subscription is over: the session expired, or its user was deactivated.
    Ended,
    /// There is nothing to notify of any more.
    Outdated,
    /// It is to be sent.
    Ready(Box<Ready>),
}

struct Ready {
    server_key: ServerKey,
    subscription: Subscription,
    notification: Notification,
    /// Seconds for which the push service keeps it.
    lifetime: i64,
    failed_tries: i64,
    /// When it is given up, in UNIX seconds.
    deadline: i64,
}

/// The response of a push service.
enum Outcome {
    /// It will deliver the notification.
    Accepted,
    /// The browser is not subscribed any more.
    Gone,
    /// It refuses the notification, for a reason.
    Refused(String),
    /// It is to be asked again, at the earliest after some seconds, and why.
    Later(i64, String),
}

/// Sends one notification. Returns only errors of the server.
async fn deliver(app: &App, due: DueNotification) -> ApiResult<()> {
    if due.endpoint.is_none() {
        return phones::deliver(app, due).await;
    }
    let (now, key) = (app.clock.seconds(), due.key.clone());
    let prepare = move |snapshot: &Snapshot<'_>| prepare(snapshot, &due, now);
    let read = app.read_in(&app.pools.notifications, None, prepare).await?;
    let Some((attempted, prepared)) = read else { return Ok(()) };
    let ready = match prepared {
        Prepared::Ready(ready) => ready,
        Prepared::Ended => {
            let job = move |tx: &mut Tx<'_>| ApiResult::Ok(queue::end_subscription(tx, key.subscription_id)?);
            return app.writer.run(job).await;
        }
        Prepared::Outdated => {
            app.writer.run(move |tx| ApiResult::Ok(queue::give_up(tx, &key, &attempted)?)).await?;
            app.web_push.expired.increment();
            return Ok(());
        }
    };
    let outcome = send(app, &ready).await?;
    let Ready { subscription, notification, failed_tries, deadline, .. } = *ready;
    let noted = match &outcome {
        Outcome::Accepted => app::Outcome::Taken,
        Outcome::Gone => app::Outcome::Unwanted,
        Outcome::Refused(error) => app::Outcome::Refused(error),
        Outcome::Later(_, error) => app::Outcome::Failed(error),
    };
    let counter = app.web_push.note(app.clock.seconds(), noted);
    let job = move |tx: &mut Tx<'_>| -> ApiResult<()> {
        // A refusal of a former address does not concern the new one, to which the notification is sent next.
        let is_accepted = matches!(outcome, Outcome::Accepted);
        if !is_accepted && !sql::has_endpoint(tx, key.subscription_id, &subscription.endpoint)? {
            return Ok(());
        }
        match outcome {
            Outcome::Accepted => {
                let closed = &notification.payload.close;
                queue::sent(tx, &key, (&attempted, &notification.outdated), closed)?;
            }
            Outcome::Gone => queue::end_subscription(tx, key.subscription_id)?,
            Outcome::Refused(_) => {
                queue::give_up(tx, &key, &attempted)?;
                end_if_failing(tx, &key)?;
            }
            Outcome::Later(pause, _) => {
                let next_try = tx.now() + pause.max(pause_after(failed_tries));
                // Later notifications wait as long as the service asks, although this one is outdated then.
                if next_try < deadline || pause > 0 {
                    queue::postpone(tx, &key, next_try)?;
                } else {
                    queue::give_up(tx, &key, &attempted)?;
                }
                end_if_failing(tx, &key)?;
            }
        }
        Ok(())
    };
    app.writer.run(job).await?;
    counter.increment();
    Ok(())
}

/// Ends a subscription that has failed for days.
fn end_if_failing(tx: &Tx<'_>, key: &NotificationKey) -> ApiResult<()> {
    let since = queue::mark_failing(tx, key.subscription_id)?;
    if since.is_some_and(|since| tx.now() - since > FAILING_LIFETIME) {
        queue::end_subscription(tx, key.subscription_id)?;
    }
    Ok(())
}

/// Composes a due notification; `None` if it is gone. Returns the messages of its row with it.
fn prepare(
    connection: &Connection,
    due: &DueNotification,
    now: i64,
) -> ApiResult<Option<(RoaringBitmap, Prepared)>> {
    let id = due.key.subscription_id;
    let mut rows = queue::notifications_of(connection, id)?;
    let Some(index) = rows.iter().position(|row| row.tag == due.key.tag) else { return Ok(None) };
    let row = rows.swap_remove(index);
    let attempted = row.message_ids.clone();
    let Some((user_id, subscription)) = sql::live_subscription(connection, id, now)? else {
        return Ok(Some((attempted, Prepared::Ended)));
    };
    let deadline = row.queued + LIFETIME;
    if realm::is_deactivated(connection)? || deadline <= now {
        return Ok(Some((attempted, Prepared::Outdated)));
    }
    let caller = rows::user::caller(connection, user_id)?;
    let ctx = Ctx::new(connection, &caller, now);
    let Some(notification) = compose(ctx, &row, &rows, subscription.shows_content)? else {
        return Ok(Some((attempted, Prepared::Outdated)));
    };
    let server_key =
        sql::load_key(connection)?.ok_or_else(|| ApiError::internal("there is no key of Web Push"))?;
    let (lifetime, failed_tries) = (deadline - now, row.failed_tries);
    let ready = Ready { server_key, subscription, notification, lifetime, failed_tries, deadline };
    Ok(Some((attempted, Prepared::Ready(Box::new(ready)))))
}

/// Posts a notification. One that is too long for the push service is sent in a shorter form.
async fn send(app: &App, ready: &Ready) -> ApiResult<Outcome> {
    let Ok(url) = Url::parse(&ready.subscription.endpoint) else {
        return Ok(Outcome::Refused("the address of a push service is malformed".to_owned()));
    };
    let refused = |status: u16| {
        let host = url.host_str().unwrap_or_default();
        Outcome::Refused(match status {
            NOT_ALLOWED => format!("{host} is no address of the public internet"),
            status => format!("{host} refuses notifications with the status {status}"),
        })
    };
    let payload: &Payload = &ready.notification.payload;
    match post(app, ready, &url, &payload.write()?).await? {
        Err(413) => {
            let answered = post(app, ready, &url, &payload.write_short()?).await?;
            Ok(answered.unwrap_or_else(refused))
        }
        answered => Ok(answered.unwrap_or_else(refused)),
    }
}

/// Posts a plaintext. The error is the status of a refusal.
async fn post(app: &App, ready: &Ready, url: &Url, plaintext: &[u8]) -> ApiResult<Result<Outcome, u16>> {
    let Subscription { keys, origin, .. } = &ready.subscription;
    let body =
        encrypt(plaintext, keys).map_err(|_| ApiError::internal("a notification was not encrypted"))?;
    let now = app.clock.seconds();
    let is_urgent = ready.notification.trigger.is_personal();
    let headers = vec![
        ("Authorization", ready.server_key.authorization(url, &contact(app, origin), now)?),
        ("Content-Encoding", "aes128gcm".to_owned()),
        ("Content-Type", "application/octet-stream".to_owned()),
        ("TTL", ready.lifetime.to_string()),
        ("Topic", topic_of(keys, &ready.notification.payload)),
        ("Urgency", if is_urgent { "high" } else { "normal" }.to_owned()),
    ];
    let request = Outgoing {
        method: Method::POST,
        url,
        permission: permission_of(url, &app.options.web_push),
        headers,
        body: Bytes::from(body),
        timeout: app.options.overrides.outgoing_timeout.unwrap_or(TIMEOUT),
        answer_limit: None,
        file: None,
        tls: Some(&app.tls_client),
    };
    // Without the path, which is a secret of the browser.
    let host = url.host_str().unwrap_or_default();
    let answer = match http_client::send(request).await {
        Ok(answer) => answer,
        Err(http_client::Failure::NotAllowed) => return Ok(Err(NOT_ALLOWED)),
        Err(http_client::Failure::TimedOut) => {
            return Ok(Ok(Outcome::Later(0, format!("{host} does not answer in time"))));
        }
        Err(http_client::Failure::NotConnected(error)) => {
            return Ok(Ok(Outcome::Later(0, format!("there is no connection to {host}: {error}"))));
        }
    };
    Ok(match answer.status {
        200..=299 => Ok(Outcome::Accepted),
        404 | 410 => Ok(Outcome::Gone),
        status @ (429 | 500..=599) => {
            let error = format!("{host} answers with the status {status}");
            Ok(Outcome::Later(retry_after(&answer.headers, now), error))
        }
        status => {
            tracing::info!(status, host, "a push service refused a notification");
            Err(status)
        }
    })
}

/// The operator's address for push services: the server's own, or that of the page that subscribed.
fn contact(app: &App, origin: &str) -> String {
    let urls = app.options.public_url.as_deref().into_iter().chain([origin]);
    let found = urls.into_iter().find(|url| url.starts_with("https:"));
    found.map_or_else(|| "mailto:operator@localhost".to_owned(), str::to_owned)
}

/// The header `Topic`: a notification that is not delivered yet is replaced by one with the same topic. The push service cannot
/// derive the conversation from it.
fn topic_of(keys: &BrowserKeys, payload: &Payload) -> String {
    let digest = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, &keys.auth_secret), payload.tag().as_bytes());
    URL_SAFE_NO_PAD.encode(digest.as_ref()).chars().take(32).collect()
}

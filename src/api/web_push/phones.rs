//! Notifications of phones: what the bouncer passes on, one message at a time, and taking back what was read.

use crate::api::web_push::bouncer::{DeviceKind, Failure, Identity, Request, ask};
use crate::api::web_push::device_sql::Device;
use crate::api::web_push::phone_payload::{Organization, message_payload, remove_payload};
use crate::api::web_push::queue::{DueNotification, NotificationKey, Transports};
use crate::api::web_push::retries::{LIFETIME, pause_after};
use crate::api::web_push::{device_sql, queue};
use crate::app::{App, Outcome, PushBouncer};
use crate::auth::Ctx;
use crate::domain::messages::viewer::MessageViewer;
use crate::domain::notifications::PUSH;
use crate::domain::notifications::deciding::Notifiable;
use crate::domain::{realm, rows};
use crate::error::ApiResult;
use crate::store::{Snapshot, Tx};
use crate::types::{MessageId, UserId};
use roaring::RoaringBitmap;
use rusqlite::Connection;
use serde_json::Value;

/// Failed attempts after which something is given up: about a day of them.
const MAX_TRIES: i64 = 16;

/// Seconds for which notifications wait for a phone that is to be forgotten.
const FORGETTING: i64 = 10;

/// The refusal to forget a token that the bouncer does not have.
const UNKNOWN_TOKEN: &str = "Token does not exist";

/// Work for the phones that have ended, as notifications without a conversation. It comes before the notifications of the same
/// person, so that a phone that logged out gets none of them.
pub fn due(connection: &Connection, now: i64, transports: Transports) -> ApiResult<Vec<DueNotification>> {
    if !transports.phones {
        return Ok(Vec::new());
    }
    let users = device_sql::users_with_ended(connection, now)?.into_iter();
    let due = users.map(|(subscription_id, user_id)| DueNotification {
        key: NotificationKey { subscription_id, tag: String::new() },
        endpoint: None,
        user_id,
    });
    Ok(due.collect())
}

/// When such work is due next, in UNIX seconds.
pub fn next_due(connection: &Connection, now: i64, transports: Transports) -> ApiResult<Option<i64>> {
    if transports.phones { Ok(device_sql::next_ended(connection, now)?) } else { Ok(None) }
}

/// Sends one request for what is due. Returns only errors of the server.
pub async fn deliver(app: &App, due: DueNotification) -> ApiResult<()> {
    match &app.options.push_bouncer {
        Some(bouncer) if due.key.tag.is_empty() => forget(app, bouncer, due.user_id).await,
        Some(bouncer) => notify(app, bouncer, due).await,
        None => Ok(()),
    }
}

/// Has the bouncer forget a phone that has ended, or all phones of a deactivated user.
async fn forget(app: &App, bouncer: &PushBouncer, user_id: UserId) -> ApiResult<()> {
    let read = app.readers.read(|snapshot| -> ApiResult<_> {
        let Some(first) = device_sql::first_ended(snapshot, user_id)? else { return Ok(None) };
        let is_active = rows::user::by_id(snapshot, user_id)?.is_some_and(|user| user.is_active);
        let ids = if is_active { vec![first.device.id] } else { device_sql::ended_ids(snapshot, user_id)? };
        Ok(Some((first, is_active, ids, Identity::of(snapshot, user_id)?)))
    });
    let Some((first, is_active, ids, identity)) = read.await? else { return Ok(()) };
    let Device { kind, token, .. } = &first.device;
    let request = if is_active { Request::Unregister(*kind, token) } else { Request::UnregisterAll };
    let failed_tries = first.failed_tries;
    let pause = match ask(app, bouncer, &identity, request).await {
        Ok(_) => None,
        Err(Failure::Refused(msg)) if msg == UNKNOWN_TOKEN => None,
        Err(Failure::Refused(msg) | Failure::Unauthorized(msg) | Failure::UnknownDevice(msg)) => {
            tracing::warn!(msg, "the push bouncer refuses to forget a phone; it will be asked again");
            Some(pause_after(failed_tries))
        }
        Err(Failure::Unavailable(pause, _)) => Some(pause.max(pause_after(failed_tries))),
    };
    let job = move |tx: &mut Tx<'_>| -> ApiResult<()> {
        match pause {
            Some(pause) => device_sql::postpone(tx, &ids, tx.now() + pause)?,
            None => device_sql::delete_ended(tx, user_id, &ids)?,
        }
        Ok(())
    };
    app.writer.run(job).await
}

/// The next step for a notification, as the database has it now.
enum Step {
    /// There is nothing to send. These messages are not waited for any more.
    Nothing(RoaringBitmap),
    /// A phone is to be forgotten first; until a time, in UNIX seconds.
    Wait(i64),
    /// A request.
    Send(Box<Sending>),
}

struct Sending {
    identity: Identity,
    /// Members of the request.
    value: Value,
    /// Messages that the phones show then, besides.
    added: RoaringBitmap,
    /// Messages that they do not show, and will not.
    outdated: RoaringBitmap,
    /// Messages that they will not show either, if the request is refused.
    refused: RoaringBitmap,
    failed_tries: i64,
    /// When it is given up, in UNIX seconds; `None` for messages that are taken back.
    deadline: Option<i64>,
}

/// Sends a message, or takes back what has been read.
async fn notify(app: &App, bouncer: &PushBouncer, due: DueNotification) -> ApiResult<()> {
    let (now, key, user_id) = (app.clock.seconds(), due.key, due.user_id);
    let (prepared, public_url) = (key.clone(), app.options.public_url.clone());
    let prepare = move |snapshot: &Snapshot<'_>| prepare(snapshot, &prepared, now, public_url.as_deref());
    let Some(step) = app.read_in(&app.pools.notifications, None, prepare).await? else {
        return Ok(());
    };
    let sending = match step {
        Step::Send(sending) => *sending,
        Step::Nothing(dropped) => {
            let is_outdated = !dropped.is_empty();
            let job = move |tx: &mut Tx<'_>| -> ApiResult<()> {
                queue::phones_show(tx, &key, &RoaringBitmap::new(), &dropped)
            };
            app.writer.run(job).await?;
            if is_outdated {
                app.phone_push.expired.increment();
            }
            return Ok(());
        }
        Step::Wait(until) => {
            let id = key.subscription_id;
            return app.writer.run(move |tx| ApiResult::Ok(queue::hold_back(tx, id, until)?)).await;
        }
    };
    let Sending { identity, value, added, outdated, refused, failed_tries, deadline } = sending;
    let outcome = ask(app, bouncer, &identity, Request::Notify(value)).await;
    let noted = match &outcome {
        Ok(_) => Outcome::Taken,
        Err(Failure::Refused(msg) | Failure::Unauthorized(msg) | Failure::UnknownDevice(msg)) => {
            Outcome::Refused(msg)
        }
        Err(Failure::Unavailable(_, msg)) => Outcome::Failed(msg),
    };
    let counter = app.phone_push.note(now, noted);
    let job = move |tx: &mut Tx<'_>| -> ApiResult<()> {
        let (nothing, given_up) = (RoaringBitmap::new(), &outdated | &refused);
        match outcome {
            Ok(answer) => {
                queue::mark_working(tx, key.subscription_id)?;
                queue::phones_show(tx, &key, &added, &outdated)?;
                let gone = gone_devices(&answer);
                if !gone.is_empty() {
                    device_sql::delete_gone(tx, user_id, &gone)?;
                }
            }
            Err(Failure::Refused(msg) | Failure::Unauthorized(msg) | Failure::UnknownDevice(msg)) => {
                tracing::warn!(msg, "the push bouncer refused a notification");
                queue::mark_failing(tx, key.subscription_id)?;
                queue::phones_show(tx, &key, &nothing, &given_up)?;
            }
            Err(Failure::Unavailable(pause, _)) => {
                let next_try = tx.now() + pause.max(pause_after(failed_tries));
                queue::mark_failing(tx, key.subscription_id)?;
                let is_in_time = deadline.is_none_or(|deadline| next_try < deadline);
                // Later notifications wait as long as the bouncer asks, although this one is outdated then.
                if failed_tries < MAX_TRIES && (is_in_time || pause > 0) {
                    queue::postpone(tx, &key, next_try)?;
                } else {
                    queue::phones_show(tx, &key, &nothing, &given_up)?;
                }
            }
        }
        Ok(())
    };
    app.writer.run(job).await?;
    counter.increment();
    Ok(())
}

/// The tokens that the bouncer does not have any more.
fn gone_devices(answer: &Value) -> Vec<(DeviceKind, String)> {
    let of = |name: &str, kind: DeviceKind| {
        let tokens = answer["deleted_devices"][name].as_array().into_iter().flatten();
        tokens.filter_map(move |token| Some((kind, token.as_str()?.to_owned()))).collect::<Vec<_>>()
    };
    [of("android_devices", DeviceKind::Fcm), of("apple_devices", DeviceKind::Apns)].concat()
}

/// Composes the next request for a due notification; `None` if it is gone.
fn prepare(
    connection: &Connection,
    key: &NotificationKey,
    now: i64,
    public_url: Option<&str>,
) -> ApiResult<Option<Step>> {
    let rows = queue::notifications_of(connection, key.subscription_id)?;
    let Some(row) = rows.into_iter().find(|row| row.tag == key.tag) else { return Ok(None) };
    let all = &row.message_ids | &row.shown_ids;
    let phones = device_sql::live_phones(connection, key.subscription_id)?;
    let Some((user_id, origin)) = phones.filter(|_| !row.tag.is_empty()) else {
        return Ok(Some(Step::Nothing(all)));
    };
    if let Some(ended) = device_sql::first_ended(connection, user_id)? {
        let until = if ended.next_try > now { ended.next_try } else { now + FORGETTING };
        return Ok(Some(Step::Wait(until)));
    }
    let devices = device_sql::of_user(connection, user_id)?;
    if devices.is_empty() || realm::is_deactivated(connection)? {
        return Ok(Some(Step::Nothing(all)));
    }
    let caller = rows::user::caller(connection, user_id)?;
    let ctx = Ctx::new(connection, &caller, now);
    let viewer = MessageViewer::new(ctx);
    let (mut outdated, mut first) = (RoaringBitmap::new(), None);
    for id in &all {
        match Notifiable::load(&viewer, &PUSH, MessageId::from(id))? {
            None => {
                outdated.insert(id);
            }
            Some(found) if first.is_none() && !row.shown_ids.contains(id) => first = Some((id, found)),
            Some(_) => {}
        }
    }
    let organization = Organization::load(ctx, public_url.unwrap_or(&origin))?;
    let read = &row.shown_ids & &outdated;
    let deadline = row.queued + LIFETIME;
    let unsent = &row.message_ids - &row.shown_ids;
    let (mut value, added, refused, deadline) = match first {
        _ if !read.is_empty() => {
            (remove_payload(&organization, &read), RoaringBitmap::new(), RoaringBitmap::new(), None)
        }
        Some((id, notified)) if now < deadline => {
            let value = message_payload(ctx, &organization, &notified)?;
            (value, RoaringBitmap::from_iter([id]), unsent, Some(deadline))
        }
        _ => return Ok(Some(Step::Nothing(outdated | unsent))),
    };
    let tokens = |kind: DeviceKind| -> Vec<&str> {
        let devices = devices.iter().filter(|device| device.kind == kind);
        devices.map(|device| device.token.as_str()).collect()
    };
    value["android_devices"] = tokens(DeviceKind::Fcm).into();
    value["apple_devices"] = tokens(DeviceKind::Apns).into();
    Ok(Some(Step::Send(Box::new(Sending {
        identity: Identity::of(connection, user_id)?,
        value,
        added,
        outdated,
        refused,
        failed_tries: row.failed_tries,
        deadline,
    }))))
}

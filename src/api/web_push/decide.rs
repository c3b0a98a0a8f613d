//! Decides who is notified of waiting messages, in snapshots after their commit.

use crate::api::web_push::queue;
use crate::api::web_push::queue::Transports;
use crate::app::App;
use crate::domain::access::messages::{direct_user_ids, stream_of};
use crate::domain::messages;
use crate::domain::notifications::deciding::People;
use crate::domain::notifications::{PUSH, deciding};
use crate::error::ApiResult;
use crate::events::Hub;
use crate::store::{Snapshot, Tx};
use crate::types::{MessageId, UserId};
use rusqlite::Connection;
use std::sync::Arc;

/// Decides about waiting and held messages. Returns when there is something to decide next, in UNIX seconds.
pub async fn decide_due(app: Arc<App>) -> ApiResult<Option<i64>> {
    let transports = Transports::of(&app.options);
    if !transports.has_any() {
        return Ok(None);
    }
    let decide = move |snapshot: &Snapshot<'_>, hub: &Hub, now| {
        let people = People {
            all: &|| Ok(queue::subscribed_users(snapshot, transports)?),
            has: &|user_id| Ok(queue::is_subscribed(snapshot, user_id, transports)?),
        };
        deciding::decide(snapshot, hub, &PUSH, now, &people)
    };
    let notify = move |tx: &mut Tx<'_>, user_id, message_id| notify(tx, user_id, message_id, transports);
    deciding::decide_due(&app, &PUSH, decide, notify).await
}

/// Adds a message to the notifications of a user, unless it was deleted.
fn notify(tx: &mut Tx<'_>, user_id: UserId, message_id: MessageId, transports: Transports) -> ApiResult<()> {
    if let Some(tag) = tag_of(tx, message_id, user_id)? {
        queue::add(tx, user_id, &tag, message_id, transports)?;
    }
    Ok(())
}

/// The name of a message's conversation in a user's browser, as the web client names it.
fn tag_of(connection: &Connection, message_id: MessageId, user_id: UserId) -> ApiResult<Option<String>> {
    let Some(message) = messages::by_id(connection, message_id)? else { return Ok(None) };
    if let Some(stream_id) = stream_of(connection, message.recipient_id)? {
        return Ok(Some(format!("channel/{stream_id}/{}", message.topic().key())));
    }
    let mut people = direct_user_ids(connection, message.recipient_id)?.unwrap_or_default();
    people.retain(|other| *other != user_id);
    Ok(Some(format!("dm/{}", messages::joined(&people))))
}

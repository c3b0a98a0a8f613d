//! The audit log of the archive, made of the dates and spans that the database has.
//!
//! The importer needs one event: an export in the past, without which it takes the archive for that of another product. The
//! published server needs the history of subscriptions, to find what people receive who have been away for long.

use super::error::Result;
use super::messages::Exported;
use super::scope::{Mode, Scope};
use super::tables::REALM;
use super::tables::{Record, Rows, Tables, time};
use crate::domain::channels;
use crate::types::{MessageId, StreamId, UserId};
use rusqlite::{Connection, OptionalExtension};
use serde_json::{Value, json};
use std::collections::HashMap;

const USER_CREATED: i64 = 101;
const REALM_EXPORTED: i64 = 206;
const REALM_CREATED: i64 = 215;
const SUBSCRIBED: i64 = 301;
const SUBSCRIBED_AGAIN: i64 = 302;
const UNSUBSCRIBED: i64 = 303;

/// Writes the table.
pub fn write(
    tables: &mut Tables<'_>,
    connection: &Connection,
    scope: &Scope,
    exported: &Exported,
    now: i64,
) -> Result<()> {
    let created: i64 = connection.query_row("SELECT date_created FROM realm", [], |row| row.get(0))?;
    tables.table("zerver_realmauditlog", |rows| {
        push(rows, REALM_CREATED, created, json!({}))?;
        for person in scope.people.values() {
            if scope.mode == Mode::Full || person.consents {
                push(
                    rows,
                    USER_CREATED,
                    person.row.date_joined,
                    json!({"modified_user": person.row.user_id}),
                )?;
            }
        }
        subscriptions(rows, connection, scope, exported, created)?;
        let more = json!({"extra_data": {"realm_export_id": 1}});
        push(rows, REALM_EXPORTED, now.min(exported.newest_time.max(created)), more)
    })
}

fn push(rows: &mut Rows<'_>, event_type: i64, event_time: i64, more: Value) -> Result<()> {
    let mut row = Record::new();
    row.insert("id".to_owned(), rows.next_id().into());
    row.insert("realm".to_owned(), REALM.into());
    row.insert("event_type".to_owned(), event_type.into());
    row.insert("event_time".to_owned(), time(event_time));
    row.insert("backfilled".to_owned(), true.into());
    row.insert("extra_data".to_owned(), json!({}));
    for column in
        ["acting_user", "modified_user", "modified_stream", "modified_user_group", "event_last_message_id"]
    {
        row.insert(column.to_owned(), Value::Null);
    }
    if let Value::Object(more) = more {
        row.extend(more);
    }
    rows.push(&row)
}

/// One user's history in one channel: the spans of subscription, ascending, and whether the last one goes on.
struct History {
    user_id: UserId,
    stream_id: StreamId,
    is_active: bool,
    spans: Vec<(MessageId, Option<MessageId>)>,
}

/// Events of subscriptions. The time of an event is that of the last message before it.
fn subscriptions(
    rows: &mut Rows<'_>,
    connection: &Connection,
    scope: &Scope,
    exported: &Exported,
    created: i64,
) -> Result<()> {
    let dates: HashMap<StreamId, i64> = channels::all(connection)?
        .into_iter()
        .map(|stream| (stream.stream_id, stream.date_created))
        .collect();
    let mut statement = connection.prepare(
        "SELECT user_id, stream_id, active, from_message_id, until_message_id
         FROM subscription LEFT JOIN subscription_span USING (user_id, stream_id)
         ORDER BY user_id, stream_id, from_message_id",
    )?;
    let mut results = statement.query([])?;
    let mut history: Option<History> = None;
    let mut write = |history: &Option<History>| match history {
        Some(history) if scope.has(history.user_id.0) => {
            let joined = scope.people.get(&history.user_id).map_or(created, |person| person.row.date_joined);
            let earliest = dates.get(&history.stream_id).copied().unwrap_or(created).max(joined);
            push_history(rows, connection, exported, history, earliest)
        }
        _ => Ok(()),
    };
    while let Some(row) = results.next()? {
        let (user_id, stream_id) = (row.get(0)?, row.get(1)?);
        if history.as_ref().is_none_or(|history| (history.user_id, history.stream_id) != (user_id, stream_id))
        {
            write(&history)?;
            history = Some(History { user_id, stream_id, is_active: row.get(2)?, spans: Vec::new() });
        }
        if let (Some(history), Some(from)) = (&mut history, row.get::<_, Option<MessageId>>(3)?) {
            let until: Option<MessageId> = row.get(4)?;
            // A span of one message is usually a message that was received late, without a subscription.
            if until.is_none_or(|until| until.0 > from.0 + 1) {
                history.spans.push((from, until));
            }
        }
    }
    write(&history)
}

fn push_history(
    rows: &mut Rows<'_>,
    connection: &Connection,
    exported: &Exported,
    history: &History,
    earliest: i64,
) -> Result<()> {
    let mut event = |event_type: i64, at: MessageId| {
        let before = before(connection, at)?;
        let more = json!({
            "modified_user": history.user_id,
            "modified_stream": history.stream_id,
            "event_last_message_id": before.map_or(0, |(id, _)| id.0),
        });
        push(rows, event_type, before.map_or(earliest, |(_, timestamp)| timestamp.max(earliest)), more)
    };
    let mut spans = history.spans.clone();
    if spans.is_empty() {
        spans.push((MessageId(0), (!history.is_active).then_some(MessageId(0))));
    }
    let last = spans.len() - 1;
    for (index, (from, until)) in spans.into_iter().enumerate() {
        event(if index == 0 { SUBSCRIBED } else { SUBSCRIBED_AGAIN }, from)?;
        let end = if index == last && history.is_active {
            None
        } else {
            Some(until.unwrap_or(MessageId(exported.newest + 1)))
        };
        if let Some(until) = end {
            event(UNSUBSCRIBED, until)?;
        }
    }
    Ok(())
}

/// The last message before an id, with its time in UNIX seconds.
fn before(connection: &Connection, id: MessageId) -> Result<Option<(MessageId, i64)>> {
    Ok(connection
        .prepare_cached("SELECT id, timestamp FROM message WHERE id < ?1 ORDER BY id DESC LIMIT 1")?
        .query_row([id], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?)
}

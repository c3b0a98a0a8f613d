//! Deletion of the channels of accounts. A channel with messages of these accounts and of system bots only is deleted
//! with its rows; one with messages of others is archived.

use crate::domain::channel_commands::archive;
use crate::domain::channels::default_groups;
use crate::domain::channels::events::StreamDeleted;
use crate::domain::groups::setting::Owner;
use crate::domain::purge::batch::{Batch, MESSAGES, delete_messages};
use crate::domain::purge::sql;
use crate::domain::rows::channel::StreamRow;
use crate::domain::{access, channels, drafts, groups, messages, rows, subscriptions};
use crate::error::ApiResult;
use crate::events::Audience;
use crate::store::{ExecuteCached, Tx};
use crate::types::{GroupId, StreamId, UserId};
use rusqlite::Connection;

/// Maximum number of channels deleted by one batch: for each, SQLite searches the subscriptions that reference it.
const CHANNELS: usize = 1;

/// Removes a batch of channels.
pub fn remove(tx: &mut Tx<'_>, accounts: &[UserId], from: i64) -> ApiResult<Batch> {
    let mut batch = Batch::default();
    let accounts_list = serde_json::to_string(accounts)?;
    for stream_id in created_by(tx, &accounts_list, from)? {
        let Some(stream) = rows::channel::by_id(tx, stream_id)? else { continue };
        if is_used(tx, &stream, &accounts_list)? {
            if !stream.is_archived {
                let by = stream.creator_id.unwrap_or(UserId(0));
                archive::set_archived(tx, by, &stream, true)?;
                archive::mark_read_for_subscribers(tx, &stream)?;
                batch.count("channels_archived", 1);
            }
            batch.next = Some(stream_id.0);
            continue;
        }
        let mut notices = sql::of_recipient(tx, stream.recipient_id, MESSAGES)?;
        notices.truncate(messages::count_for_one_step(tx, notices.iter().map(|notice| notice.id))?);
        if !notices.is_empty() {
            // The channel itself is for the next batch.
            delete_messages(tx, notices)?;
            batch.next = Some(stream_id.0 - 1);
            return Ok(batch);
        }
        delete(tx, &stream)?;
        batch.count("channels", 1);
        batch.next = Some(stream_id.0);
    }
    Ok(batch)
}

fn created_by(connection: &Connection, accounts: &str, after: i64) -> rusqlite::Result<Vec<StreamId>> {
    connection
        .prepare_cached(
            "SELECT stream_id FROM stream WHERE creator_id IN (SELECT value FROM json_each(?1)) AND stream_id > ?2
             ORDER BY stream_id LIMIT ?3",
        )?
        .query_map((accounts, after, CHANNELS as i64), |row| row.get(0))?
        .collect()
}

/// True if others have written to a channel or scheduled a message, or if a setting of the organization or a bot
/// references it.
fn is_used(connection: &Connection, stream: &StreamRow, accounts: &str) -> rusqlite::Result<bool> {
    let statements = [
        "SELECT EXISTS (SELECT 1 FROM message JOIN user ON user_id = sender_id
             WHERE recipient_id = (SELECT recipient_id FROM recipient WHERE stream_id = ?1) AND NOT is_system_bot
                 AND sender_id NOT IN (SELECT value FROM json_each(?2)))",
        "SELECT EXISTS (SELECT 1 FROM scheduled_message WHERE stream_id = ?1 AND sender_id IN (SELECT user_id FROM user)
             AND NOT sent AND ?2 IS NOT NULL)",
        "SELECT EXISTS (SELECT 1 FROM bot WHERE ?1 IN (default_sending_stream, default_events_register_stream)
             AND user_id NOT IN (SELECT value FROM json_each(?2)))",
        "SELECT EXISTS (SELECT 1 FROM realm_setting WHERE value = CAST(?1 AS TEXT)
             AND (property LIKE '%stream_id' OR property LIKE '%channel_id') AND ?2 IS NOT NULL)",
    ];
    for statement in statements {
        if connection.prepare_cached(statement)?.query_row((stream.stream_id, accounts), |row| row.get(0))? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Deletes a channel without messages, with events to users who can see it.
fn delete(tx: &mut Tx<'_>, stream: &StreamRow) -> ApiResult<()> {
    let stream_id = stream.stream_id;
    let audience = access::channel_viewers::users_who_can_see(tx, tx.now(), stream)?;
    if channels::set_default(tx, stream_id, false)? {
        channels::events::emit_default_streams(tx)?;
    }
    default_groups::remove_from_all(tx, stream_id)?;
    drafts::remove_channel(tx, stream_id)?;
    for group in groups::setting::all_of(tx, Owner::Stream(stream_id.0))?.into_values() {
        if groups::is_anonymous(tx, group)? {
            delete_value(tx, stream_id, group)?;
        }
    }
    for statement in [
        "DELETE FROM group_setting WHERE owner = 'stream' AND owner_id = ?1",
        "DELETE FROM subscription WHERE stream_id = ?1 AND user_id IN (SELECT user_id FROM user)",
        "DELETE FROM subscription_span WHERE stream_id = ?1 AND user_id IN (SELECT user_id FROM user)",
        "DELETE FROM user_topic WHERE stream_id = ?1",
        "DELETE FROM scheduled_message WHERE stream_id = ?1 AND sender_id IN (SELECT user_id FROM user)",
        "UPDATE bot SET default_sending_stream = NULL WHERE default_sending_stream = ?1",
        "UPDATE bot SET default_events_register_stream = NULL WHERE default_events_register_stream = ?1",
        "DELETE FROM channel_email WHERE stream_id = ?1",
        "DELETE FROM topic WHERE stream_id = ?1",
        "DELETE FROM read_chunk WHERE recipient_id = (SELECT recipient_id FROM recipient WHERE stream_id = ?1)
             AND user_id IN (SELECT user_id FROM user)",
        "DELETE FROM read_state WHERE recipient_id = (SELECT recipient_id FROM recipient WHERE stream_id = ?1)",
        "DELETE FROM arrival WHERE recipient_id = (SELECT recipient_id FROM recipient WHERE stream_id = ?1)",
        "DELETE FROM recipient WHERE stream_id = ?1",
        "DELETE FROM name_skeleton WHERE kind = 'stream' AND id = ?1",
        "DELETE FROM stream WHERE stream_id = ?1",
    ] {
        tx.execute_cached(statement, [stream_id])?;
    }
    subscriptions::members::forget_channel(tx, stream_id);
    tx.emit(StreamDeleted::new(stream_id, stream.is_archived), Audience::set(audience));
    Ok(())
}

/// Deletes the value of a permission of a channel, which is a group of its own.
fn delete_value(connection: &Connection, stream_id: StreamId, group: GroupId) -> rusqlite::Result<()> {
    connection.execute_cached(
        "DELETE FROM group_setting WHERE owner = 'stream' AND owner_id = ?1 AND group_id = ?2",
        (stream_id, group),
    )?;
    groups::delete_anonymous(connection, group)
}

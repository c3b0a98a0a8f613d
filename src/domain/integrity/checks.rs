//! The checks.

use crate::domain::integrity::check::{Check, Find, MAX_FINDINGS};
use crate::domain::integrity::{blobs, repairs};
use crate::store::{integrity_problems, missing_references, schema_differences};
use rusqlite::Connection;

/// All checks: first those of SQLite, on which the others rely.
pub(super) const ALL: &[Check] = &[
    Check { name: "sqlite", find: Find::Function(of_sqlite), repair: None },
    Check { name: "schema", find: Find::Function(schema), repair: None },
    Check { name: "references", find: Find::Function(references), repair: None },
    Check { name: "rows", find: Find::Statement(ROWS), repair: None },
    Check { name: "message_ids", find: Find::Statement(MESSAGE_IDS), repair: None },
    Check { name: "topics", find: Find::Statement(TOPICS), repair: None },
    Check { name: "conversations", find: Find::Statement(CONVERSATIONS), repair: None },
    Check { name: "spans", find: Find::Statement(SPANS), repair: None },
    Check { name: "moved_receipts", find: Find::Function(blobs::moved_receipts), repair: None },
    Check { name: "read_sets", find: Find::Function(blobs::read_sets), repair: None },
    Check { name: "attributes", find: Find::Statement(ATTRIBUTES), repair: None },
    Check { name: "search_index", find: Find::Statement(SEARCH_INDEX), repair: Some(repairs::search_index) },
    Check { name: "file_pieces", find: Find::Statement(FILE_PIECES), repair: None },
    Check { name: "file_links", find: Find::Statement(FILE_LINKS), repair: Some(repairs::file_links) },
    Check {
        name: "orphaned_contents",
        find: Find::Statement(ORPHANED_CONTENTS),
        repair: Some(repairs::orphaned_contents),
    },
    Check { name: "space_used", find: Find::Statement(SPACE_USED), repair: Some(repairs::space_used) },
    Check { name: "channels", find: Find::Statement(CHANNELS), repair: None },
    Check { name: "audit", find: Find::Statement(AUDIT), repair: None },
    Check { name: "push", find: Find::Function(blobs::push), repair: None },
    Check { name: "events", find: Find::Function(blobs::events), repair: None },
    Check { name: "queues", find: Find::Statement(QUEUES), repair: None },
    Check { name: "follow_up", find: Find::Statement(FOLLOW_UP), repair: None },
];

/// SQLite's own check.
fn of_sqlite(connection: &Connection, found: &mut Vec<String>) -> rusqlite::Result<()> {
    found.append(&mut integrity_problems(connection, MAX_FINDINGS)?);
    Ok(())
}

/// The objects of the schema are those of this program.
fn schema(connection: &Connection, found: &mut Vec<String>) -> rusqlite::Result<()> {
    found.append(&mut schema_differences(connection)?);
    Ok(())
}

/// Rows that refer to rows that are not there.
fn references(connection: &Connection, found: &mut Vec<String>) -> rusqlite::Result<()> {
    for (table, rowid, parent) in missing_references(connection)? {
        let which = rowid.map(|rowid| format!(" {rowid}")).unwrap_or_default();
        found.push(format!("{table}{which} refers to a row of {parent} that is not there"));
    }
    Ok(())
}

/// Tables that always have one row.
const ROWS: &str = "
    SELECT 'realm has no row' WHERE NOT EXISTS (SELECT 1 FROM realm)
    UNION ALL SELECT 'upload_state has no row' WHERE NOT EXISTS (SELECT 1 FROM upload_state)";

/// Ids are never given twice.
const MESSAGE_IDS: &str = "
    SELECT 'message ' || id || ' is newer than the last id given, ' || last FROM
        (SELECT max(id) AS id, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'message'), 0) AS last FROM message)
    WHERE id > last";

/// A message in a channel has a topic of that channel, and a direct message has none.
const TOPICS: &str = "
    SELECT 'message ' || message.id || CASE
            WHEN recipient.stream_id IS NULL THEN ' is direct and has topic ' || message.topic_id
            WHEN message.topic_id IS NULL THEN ' of channel ' || recipient.stream_id || ' has no topic'
            ELSE ' of channel ' || recipient.stream_id || ' has topic ' || message.topic_id || ' of another channel'
        END
    FROM message JOIN recipient USING (recipient_id) LEFT JOIN topic USING (topic_id)
    WHERE topic.stream_id IS NOT recipient.stream_id";

/// The participants of a direct conversation are indexed, each once.
const CONVERSATIONS: &str = "
    SELECT 'conversation ' || recipient_id || ' (users ' || user_ids || ') is not indexed for its participants'
    FROM recipient WHERE user_ids IS NOT NULL AND user_ids <> coalesce((
        SELECT group_concat(user_id, ',') FROM
            (SELECT user_id FROM direct_participant WHERE recipient_id = recipient.recipient_id ORDER BY user_id)), '')
    UNION ALL
    SELECT 'user ' || user_id || ' takes part in ' || recipient_id || ', which is no direct conversation'
    FROM direct_participant JOIN recipient USING (recipient_id) WHERE recipient.user_ids IS NULL";

/// Periods of subscription: in order, apart, and open for those who are subscribed alone. An empty one, which marks messages
/// that were moved to the channel, may be within another.
const SPANS: &str = "
    SELECT 'user ' || user_id || ' in channel ' || stream_id || ': a period ends before it begins (' || from_message_id || ')'
    FROM subscription_span WHERE until_message_id < from_message_id
    UNION ALL
    SELECT 'user ' || a.user_id || ' in channel ' || a.stream_id || ': two periods overlap (' || a.from_message_id || ', '
        || b.from_message_id || ')'
    FROM subscription_span AS a JOIN subscription_span AS b
        ON b.user_id = a.user_id AND b.stream_id = a.stream_id AND b.from_message_id > a.from_message_id
    WHERE (a.until_message_id IS NULL OR a.until_message_id > b.from_message_id)
        AND b.until_message_id IS NOT b.from_message_id
    UNION ALL
    SELECT 'user ' || user_id || ' in channel ' || stream_id || ': a period is open without a subscription'
    FROM subscription_span AS span WHERE until_message_id IS NULL AND NOT EXISTS (
        SELECT 1 FROM subscription WHERE user_id = span.user_id AND stream_id = span.stream_id AND active)
    UNION ALL
    SELECT 'user ' || user_id || ' in channel ' || stream_id || ': a subscription has no open period'
    FROM subscription JOIN user USING (user_id) WHERE active AND is_active AND NOT EXISTS (
        SELECT 1 FROM subscription_span AS span WHERE span.user_id = subscription.user_id
            AND span.stream_id = subscription.stream_id AND until_message_id IS NULL)";

/// Rows beside a message that its attributes announce; without the attribute they are not read.
const ATTRIBUTES: &str = "
    SELECT 'message ' || id || ' has reactions, and no attribute says so'
    FROM message WHERE NOT attributes & 32 AND id IN (SELECT message_id FROM reaction)
    UNION ALL
    SELECT 'message ' || id || ' has a history, and no attribute says so'
    FROM message WHERE NOT attributes & 128 AND id IN (SELECT message_id FROM message_edit)
    UNION ALL
    SELECT 'message ' || id || ' has submessages, and no attribute says so'
    FROM message WHERE NOT attributes & 256 AND id IN (SELECT message_id FROM submessage)
    UNION ALL
    SELECT 'message ' || id || ' has links in its topic, and no attribute says so'
    FROM message WHERE NOT attributes & 1024 AND id IN (SELECT message_id FROM message_topic_link)";

/// Each message is in the search index, but for the newest, which wait for it; and nothing else is.
const SEARCH_INDEX: &str = "
    SELECT 'message ' || id || ' cannot be found by search' FROM message
    WHERE id NOT IN (SELECT id FROM message_search_docsize) AND id < (SELECT max(id) FROM message_search_docsize)
    UNION ALL
    SELECT 'search finds message ' || id || ', which is not there' FROM message_search_docsize
    WHERE id NOT IN (SELECT id FROM message)";

/// The chunks of a file are all there.
const FILE_PIECES: &str = "
    SELECT 'file ' || attachment.id || ' (' || path_id || ') has ' || bytes || ' of ' || size || ' bytes' FROM
        attachment JOIN (
            SELECT content_id, coalesce(sum(length(bytes)), 0) AS bytes, count(number) AS count, max(number) AS last
            FROM upload_content LEFT JOIN upload_piece USING (content_id) GROUP BY content_id
        ) USING (content_id)
    WHERE bytes <> size OR count <> coalesce(last, -1) + 1";

/// A file that nothing links to is waiting for its end, and another is not.
const FILE_LINKS: &str = "
    SELECT 'file ' || id || ' (' || path_id || ') ' ||
        iif(unclaimed_since IS NULL, 'has no link, and is never removed', 'is linked to, and would be removed')
    FROM attachment WHERE (unclaimed_since IS NULL) <> (
        id IN (SELECT attachment_id FROM attachment_message) OR id IN (SELECT attachment_id FROM attachment_scheduled_message))";

/// A content belongs to a file, is being uploaded, or is waiting for its end.
const ORPHANED_CONTENTS: &str = "
    SELECT 'content ' || content_id || ' belongs to no file, and is never removed' FROM upload_content
    WHERE removed_from IS NULL AND content_id NOT IN (SELECT content_id FROM attachment)
    UNION ALL
    SELECT DISTINCT 'chunks of content ' || content_id || ' belong to nothing' FROM upload_piece
    WHERE content_id NOT IN (SELECT content_id FROM upload_content)";

/// The size of all files is counted.
const SPACE_USED: &str = "
    SELECT 'files take ' || size || ' bytes, and ' || space_used || ' are counted' FROM
        upload_state, (SELECT coalesce(sum(size), 0) AS size FROM attachment)
    WHERE space_used <> size";

/// A channel that visitors can read is not private, and only a private one hides its history.
const CHANNELS: &str = "
    SELECT 'channel ' || stream_id || ' is both private and public on the web'
    FROM stream WHERE is_web_public AND invite_only
    UNION ALL
    SELECT 'channel ' || stream_id || ' hides its history, and is not private'
    FROM stream WHERE NOT invite_only AND NOT history_public_to_subscribers";

/// Values in the audit log are JSON.
const AUDIT: &str = "
    SELECT 'audit entry ' || id || ' has a value that is not JSON' FROM audit_entry
    WHERE NOT (json_valid(coalesce(before, '0')) AND json_valid(coalesce(after, '0')))";

/// No queue is ahead of the log.
const QUEUES: &str = "
    SELECT 'queue ' || queue_id || ' has events up to ' || acknowledged || ', and the log ends with ' || last FROM
        event_queue, (SELECT max(coalesce((SELECT value FROM counter WHERE name = 'event'), 0),
            coalesce((SELECT max(id) FROM event), 0)) AS last)
    WHERE acknowledged > last";

/// Follow-up jobs that were left have JSON.
const FOLLOW_UP: &str =
    "SELECT 'follow-up job ' || id || ' is not JSON' FROM follow_up WHERE NOT json_valid(data)";

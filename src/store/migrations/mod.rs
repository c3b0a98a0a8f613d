//! The schema, and the migrations of older databases to it.

use crate::types;
use rusqlite::Connection;
use rusqlite::functions::{Context, FunctionFlags};
use sha2::{Digest, Sha256};
use std::ops::Range;

/// The schema of a new database.
pub const SCHEMA: &str = include_str!("../../../schema.sql");

/// `PRAGMA application_id` of the database: "tmch".
pub(super) const APPLICATION_ID: i32 = 0x746d_6368;

/// The migrations to [`SCHEMA`], the oldest first. The first creates the original schema. `PRAGMA user_version` is the
/// number of migrations that a database has.
pub(super) const MIGRATIONS: &[(&str, &str)] = &[
    ("0001_initial", include_str!("0001_initial.sql")),
    ("0002_full_api", include_str!("0002_full_api.sql")),
    ("0003_search_word", include_str!("0003_search_word.sql")),
    ("0004_typed_events", include_str!("0004_typed_events.sql")),
    ("0005_bot_notices", include_str!("0005_bot_notices.sql")),
    ("0006_accounts", include_str!("0006_accounts.sql")),
    ("0007_names", include_str!("0007_names.sql")),
    ("0008_indexes", include_str!("0008_indexes.sql")),
    ("0009_conversation_creators", include_str!("0009_conversation_creators.sql")),
    ("0010_sessions", include_str!("0010_sessions.sql")),
    ("0011_bot_creators", include_str!("0011_bot_creators.sql")),
    ("0013_purge", include_str!("0013_purge.sql")),
    ("0014_names_and_inviters", include_str!("0014_names_and_inviters.sql")),
    ("0016_sent_names", include_str!("0016_sent_names.sql")),
    ("0017_web_push", include_str!("0017_web_push.sql")),
    ("0018_audit", include_str!("0018_audit.sql")),
    ("0019_exports", include_str!("0019_exports.sql")),
    ("0021_covering_index", include_str!("0021_covering_index.sql")),
    ("0022_message_html", include_str!("0022_message_html.sql")),
    ("0023_skeletons", include_str!("0023_skeletons.sql")),
    ("0024_notice_budgets", include_str!("0024_notice_budgets.sql")),
    ("0025_event_message", include_str!("0025_event_message.sql")),
    ("0026_mail", include_str!("0026_mail.sql")),
    ("0027_missed_messages", include_str!("0027_missed_messages.sql")),
    ("0028_identities", include_str!("0028_identities.sql")),
    ("0029_push_devices", include_str!("0029_push_devices.sql")),
    ("0030_mail_in", include_str!("0030_mail_in.sql")),
    ("0031_proofs", include_str!("0031_proofs.sql")),
    ("0032_search_backlog", include_str!("0032_search_backlog.sql")),
    ("0033_welcome_text", include_str!("0033_welcome_text.sql")),
    ("0034_mail_priority", include_str!("0034_mail_priority.sql")),
    ("0035_push_indexes", include_str!("0035_push_indexes.sql")),
    ("0036_event_withdrawals", include_str!("0036_event_withdrawals.sql")),
    ("0037_receipt_indexes", include_str!("0037_receipt_indexes.sql")),
    ("0038_follow_up", include_str!("0038_follow_up.sql")),
];

/// Makes the schema in an empty database.
pub(super) fn create(connection: &mut Connection) -> rusqlite::Result<()> {
    let transaction = connection.transaction()?;
    transaction.execute_batch(SCHEMA)?;
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.pragma_update(None, "user_version", MIGRATIONS.len() as i64)?;
    transaction.commit()
}

/// Runs these migrations, in one transaction. They have the functions `sha256`, `skeleton` and `folded_skeleton`.
pub(super) fn migrate(connection: &mut Connection, versions: Range<usize>) -> rusqlite::Result<()> {
    let sha256 = |context: &Context<'_>| Ok(Sha256::digest(context.get_raw(0).as_str()?.as_bytes()).to_vec());
    connection.create_scalar_function("sha256", 1, FunctionFlags::SQLITE_DETERMINISTIC, sha256)?;
    let skeleton = |context: &Context<'_>| Ok(types::skeleton(context.get_raw(0).as_str()?));
    connection.create_scalar_function("skeleton", 1, FunctionFlags::SQLITE_DETERMINISTIC, skeleton)?;
    let folded = |context: &Context<'_>| Ok(types::folded_skeleton(context.get_raw(0).as_str()?));
    connection.create_scalar_function("folded_skeleton", 1, FunctionFlags::SQLITE_DETERMINISTIC, folded)?;
    let transaction = connection.transaction()?;
    for (name, statements) in &MIGRATIONS[versions.clone()] {
        tracing::info!(step = name, "upgrading the file");
        transaction.execute_batch(statements)?;
    }
    transaction.pragma_update(None, "user_version", versions.end as i64)?;
    transaction.commit()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::connect::connect;
    use crate::store::schema_differences;

    #[test]
    fn migrating_the_oldest_file_gives_the_schema() {
        let folder = tempfile::tempdir().unwrap();
        let mut migrated = connect(&folder.path().join("old.sqlite"), false).unwrap();
        migrate(&mut migrated, 0..MIGRATIONS.len()).unwrap();
        assert_eq!(schema_differences(&migrated).unwrap(), [""; 0]);
    }

    #[test]
    fn names_are_normalized() {
        let folder = tempfile::tempdir().unwrap();
        let mut connection = connect(&folder.path().join("old.sqlite"), false).unwrap();
        let before = MIGRATIONS.iter().position(|(name, _)| name.ends_with("_names")).unwrap();
        migrate(&mut connection, 0..before).unwrap();
        connection
            .execute_batch(
                "INSERT INTO user (user_id, email, delivery_email, delivery_email_key, full_name, role, date_joined)
                 VALUES (9, 'a', 'a', 'a', char(9, 8238) || 'Ada', 400, 1), (10, 'b', 'b', 'b', 'Bob*', 400, 1);
                 INSERT INTO stream (stream_id, name, name_key, date_created)
                 VALUES (5, 'A' || char(8232) || 'b*', 'a' || char(8232) || 'b*', 1), (6, 'a b* 5', 'a b* 5', 1), (7, 'c' || char(1), 'c' || char(1), 1);
                 INSERT INTO user_group (id, kind, name, name_key)
                 VALUES (20, 'named', 'x*' || char(10) || '# Hi', 'x*' || char(10) || '# hi'), (21, 'named', 'y', 'y'),
                     (22, 'anonymous', NULL, NULL);
                 INSERT INTO realm_setting VALUES ('name', '\"a\\nb\"');",
            )
            .unwrap();
        migrate(&mut connection, before..MIGRATIONS.len()).unwrap();
        let mut found = Vec::new();
        for query in [
            "SELECT full_name, full_name FROM user ORDER BY user_id",
            "SELECT CASE stream_id WHEN 5 THEN substr(name, 1, 7) || '#' ELSE name END,
                 CASE stream_id WHEN 5 THEN substr(name_key, 1, 7) || '#' ELSE name_key END
             FROM stream ORDER BY stream_id",
            "SELECT name, name_key FROM user_group WHERE name IS NOT NULL ORDER BY id",
            "SELECT value, value FROM realm_setting",
        ] {
            let mut statement = connection.prepare(query).unwrap();
            let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
            found.extend(rows.map(Result::unwrap));
        }
        let expected = [
            ("Ada 9", "Ada 9"),
            ("Bob*", "Bob*"),
            ("A b* 5 #", "a b* 5 #"),
            ("a b* 5", "a b* 5"),
            ("c 7", "c 7"),
            ("x  # Hi 20", "x  # hi 20"),
            ("y", "y"),
            ("\"a b\"", "\"a b\""),
        ];
        let expected = expected.map(|(name, key)| (name.to_owned(), key.to_owned()));
        assert_eq!(found, expected);
    }

    #[test]
    fn first_senders_start_conversations() {
        let folder = tempfile::tempdir().unwrap();
        let mut connection = connect(&folder.path().join("old.sqlite"), false).unwrap();
        let before = MIGRATIONS.iter().position(|(name, _)| name.ends_with("_creators")).unwrap();
        migrate(&mut connection, 0..before).unwrap();
        connection
            .execute_batch(
                "INSERT INTO user (user_id, email, delivery_email, delivery_email_key, full_name, role, date_joined)
                 VALUES (9, 'a', 'a', 'a', 'Ada', 400, 1), (10, 'b', 'b', 'b', 'Bob', 400, 1);
                 INSERT INTO stream (stream_id, name, name_key, date_created) VALUES (5, 'c', 'c', 1);
                 INSERT INTO client (id, name) VALUES (50, 'c');
                 INSERT INTO recipient (recipient_id, stream_id, user_ids)
                 VALUES (20, NULL, '9,10'), (21, 5, NULL), (22, NULL, '9');
                 INSERT INTO message (id, recipient_id, subject, sender_id, client_id, timestamp, content,
                     rendered_content, rendered_version, attributes)
                 SELECT value, 20 + (value = 1), '', iif(value = 3, 10, 9), 50, 1, '', '', 1, 0
                 FROM json_each('[1, 3, 4]');",
            )
            .unwrap();
        migrate(&mut connection, before..MIGRATIONS.len()).unwrap();
        let mut statement =
            connection.prepare("SELECT created_by FROM recipient ORDER BY recipient_id").unwrap();
        let creators = statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap);
        assert_eq!(creators.collect::<Vec<Option<i64>>>(), [Some(10), None, None]);
    }

    #[test]
    fn skeletons_are_made_again() {
        let folder = tempfile::tempdir().unwrap();
        let mut connection = connect(&folder.path().join("old.sqlite"), false).unwrap();
        let before = MIGRATIONS.iter().position(|(name, _)| name.ends_with("_skeletons")).unwrap();
        migrate(&mut connection, 0..before).unwrap();
        connection
            .execute_batch(
                "INSERT INTO user (user_id, email, delivery_email, delivery_email_key, full_name, role, date_joined)
                 VALUES (9, 'a', 'a', 'a', 'Eda' || char(803), 400, 1);
                 INSERT INTO name_skeleton VALUES ('user', 0, 'Eda' || char(803), 9), ('user', 1, 'eda' || char(803), 9);",
            )
            .unwrap();
        migrate(&mut connection, before..MIGRATIONS.len()).unwrap();
        let mut statement = connection
            .prepare("SELECT skeleton FROM name_skeleton WHERE id = 9 ORDER BY kind, is_folded")
            .unwrap();
        let skeletons = statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap);
        assert_eq!(skeletons.collect::<Vec<String>>(), ["a", "Eda", "eda"]);
    }

    #[test]
    fn queues_end_if_a_withdrawal_was_interrupted() {
        let interrupted = "INSERT INTO event_withdrawal VALUES (1, x'', x'', 0, 1);";
        for (rows, queues) in [("", 1), (interrupted, 0)] {
            let folder = tempfile::tempdir().unwrap();
            let mut connection = connect(&folder.path().join("old.sqlite"), false).unwrap();
            let before = MIGRATIONS.iter().position(|(name, _)| name.ends_with("_follow_up")).unwrap();
            migrate(&mut connection, 0..before).unwrap();
            let queue = "INSERT INTO user (user_id, email, delivery_email, delivery_email_key, full_name, role, date_joined)
                 VALUES (9, 'a', 'a', 'a', 'Ada', 400, 1);
                 INSERT INTO event_queue VALUES ('q', 9, '{}', 1);";
            connection.execute_batch(&format!("{queue}{rows}")).unwrap();
            migrate(&mut connection, before..MIGRATIONS.len()).unwrap();
            let left: i64 =
                connection.query_row("SELECT count(*) FROM event_queue", [], |row| row.get(0)).unwrap();
            assert_eq!(left, queues);
        }
    }
}

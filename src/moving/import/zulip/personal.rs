//! Data that people keep for themselves.

use crate::domain::alert_words;
use crate::moving::import::error::ImportResult;
use crate::moving::import::report::Report;
use crate::moving::import::target::Target;
use crate::moving::import::zulip::organization::Organization;
use crate::moving::import::zulip::tables::{Id, Presence, Snippet, UserStatus, UserTopic};
use crate::store::{ExecuteCached, Tx};
use crate::types::Topic;

/// Inserts it, as far as it does not refer to messages.
pub fn insert(target: &mut Target, organization: &mut Organization, report: &mut Report) -> ImportResult<()> {
    organization.user_topics.retain(|row| matches!(row.visibility_policy, 1..=3));
    for status in &mut organization.statuses {
        if status.reaction_type == "realm_emoji" && !organization.emoji_codes.contains(&status.emoji_code) {
            status.emoji_name.clear();
            status.emoji_code.clear();
        }
    }
    let mut tables = Tables { organization, report };
    let words = tables.take(
        "zerver_alertword",
        "alert words",
        |all| &mut all.alert_words,
        |row| [row.user_profile],
    )?;
    let muted = tables.take(
        "zerver_muteduser",
        "muted users",
        |all| &mut all.muted_users,
        |row| [row.user_profile, row.muted_user],
    )?;
    let topics = tables.take(
        "zerver_usertopic",
        "policies of topics",
        |all| &mut all.user_topics,
        |row| [row.user_profile],
    )?;
    let statuses =
        tables.take("zerver_userstatus", "statuses", |all| &mut all.statuses, |row| [row.user_profile])?;
    let presences = tables.take(
        "zerver_userpresence",
        "presences",
        |all| &mut all.presences,
        |row| [row.user_profile],
    )?;
    let snippets = tables.take(
        "zerver_savedsnippet",
        "saved snippets",
        |all| &mut all.snippets,
        |row| [row.user_profile],
    )?;
    let steps = tables.take(
        "zerver_onboardingstep",
        "onboarding steps",
        |all| &mut all.onboarding,
        |row| [row.user],
    )?;
    let views =
        tables.take("zerver_navigationview", "navigation views", |all| &mut all.views, |row| [row.user])?;
    let storage = tables.take(
        "zerver_botstoragedata",
        "values of bot storage",
        |all| &mut all.storage,
        |row| [row.bot_profile],
    )?;
    target.run(move |tx| {
        for row in words {
            alert_words::insert(tx, row.user_profile.0.into(), &row.word)?;
        }
        for row in muted {
            tx.execute_cached(
                "INSERT OR IGNORE INTO muted_user (user_id, muted_user_id, date_muted) VALUES (?1, ?2, ?3)",
                (row.user_profile.0, row.muted_user.0, row.date_muted.0),
            )?;
        }
        insert_user_topics(tx, topics)?;
        insert_statuses(tx, statuses)?;
        insert_presences(tx, presences)?;
        insert_snippets(tx, snippets)?;
        for row in steps {
            tx.execute_cached(
                "INSERT OR IGNORE INTO onboarding_step (user_id, onboarding_step, timestamp)
                 VALUES (?1, ?2, ?3)",
                (row.user.0, row.onboarding_step, row.timestamp.0),
            )?;
        }
        for row in views {
            tx.execute_cached(
                "INSERT OR IGNORE INTO navigation_view (user_id, fragment, is_pinned, name)
                 VALUES (?1, ?2, ?3, ?4)",
                (row.user.0, row.fragment, row.is_pinned, row.name),
            )?;
        }
        for row in storage {
            tx.execute_cached(
                "INSERT OR REPLACE INTO bot_storage (user_id, key, value) VALUES (?1, ?2, ?3)",
                (row.bot_profile.0, row.key, row.value),
            )?;
        }
        Ok(())
    })
}

/// The tables of an archive, and the report that counts their rows.
struct Tables<'a> {
    organization: &'a mut Organization,
    report: &'a mut Report,
}

impl Tables<'_> {
    /// Takes the rows of a table, and counts them as `what`. Fails if one names a person who is not in the archive.
    fn take<Row, const N: usize>(
        &mut self,
        table: &str,
        what: &'static str,
        rows: fn(&mut Organization) -> &mut Vec<Row>,
        people: fn(&Row) -> [Id; N],
    ) -> ImportResult<Vec<Row>> {
        let rows = std::mem::take(rows(self.organization));
        self.organization.check_people(table, rows.iter().flat_map(people))?;
        self.report.add(what, rows.len());
        Ok(rows)
    }
}

fn insert_user_topics(tx: &Tx<'_>, rows: Vec<UserTopic>) -> ImportResult<()> {
    for row in rows {
        let topic = Topic::stored(row.topic_name);
        tx.execute_cached(
            "INSERT OR REPLACE INTO user_topic (user_id, stream_id, name_key, topic_name, visibility_policy,
                 last_updated)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            (
                row.user_profile.0,
                row.stream.0,
                topic.key(),
                topic.as_str(),
                row.visibility_policy,
                row.last_updated.0,
            ),
        )?;
    }
    Ok(())
}

fn insert_statuses(tx: &Tx<'_>, rows: Vec<UserStatus>) -> ImportResult<()> {
    for row in rows {
        tx.execute_cached(
            "INSERT OR REPLACE INTO user_status (user_id, status_text, emoji_name, emoji_code, reaction_type)
             VALUES (?1, ?2, ?3, ?4, ?5)",
            (
                row.user_profile.0,
                row.status_text,
                &row.emoji_name,
                &row.emoji_code,
                if row.emoji_name.is_empty() { "" } else { row.reaction_type.as_str() },
            ),
        )?;
    }
    Ok(())
}

fn insert_presences(tx: &Tx<'_>, mut rows: Vec<Presence>) -> ImportResult<()> {
    rows.sort_by_key(|row| (row.last_update_id, row.last_connected_time, row.user_profile));
    let mut last = 0;
    for row in rows {
        // The published server has smaller ones.
        last = row.last_update_id.min(i32::MAX.into()).max(last + 1);
        let connected = row.last_connected_time.or(row.last_active_time).unwrap_or_default();
        tx.execute_cached(
            "INSERT OR REPLACE INTO presence (user_id, last_active_time, last_connected_time, update_id)
             VALUES (?1, ?2, ?3, ?4)",
            (row.user_profile.0, row.last_active_time.map(|time| time.0), connected.0, last),
        )?;
    }
    Ok(())
}

fn insert_snippets(tx: &Tx<'_>, rows: Vec<Snippet>) -> ImportResult<()> {
    for row in rows {
        tx.execute_cached(
            "INSERT INTO saved_snippet (id, user_id, title, content, date_created) VALUES (?1, ?2, ?3, ?4, ?5)",
            (
                row.id.map(|id| id.0),
                row.user_profile.0,
                row.title,
                row.content,
                row.date_created.0,
            ),
        )?;
    }
    Ok(())
}

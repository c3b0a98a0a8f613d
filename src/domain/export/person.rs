//! The data of one person, readable and as JSON.

use super::error::Result;
use super::folder::{Folder, Linked};
use super::page;
use super::page::ShownMessage;
use super::tables::{Record, records};
use crate::domain::images::public;
use crate::domain::rows::user::UserRow;
use maud::{Markup, html};
use rusqlite::Connection;
use serde::Serialize;
use serde_json::{Value, json};
use std::io::Write;
use std::path::Path;

/// Messages of one page.
const PER_PAGE: usize = 500;

/// The parts of the data: title, name in JSON, and the statement, whose parameter is the user id. Secrets are in none: keys,
/// passwords and addresses of push services.
const PARTS: &[(&str, &str, &str)] = &[
    (
        "Account",
        "account",
        "SELECT user_id, full_name, delivery_email, email AS api_email, role, is_active AS \"is_active?\", timezone,
             date_joined AS \"date_joined@\", invited_by
         FROM user WHERE user_id = ?1",
    ),
    ("Settings", "settings", "SELECT property, value FROM user_setting WHERE user_id = ?1 ORDER BY property"),
    (
        "Profile",
        "profile",
        "SELECT name, value FROM profile_value JOIN profile_field ON id = field_id WHERE user_id = ?1 ORDER BY position",
    ),
    ("Status", "status", "SELECT status_text, emoji_name FROM user_status WHERE user_id = ?1"),
    (
        "Presence",
        "presence",
        "SELECT last_active_time AS \"last_active_time@\", last_connected_time AS \"last_connected_time@\"
         FROM presence WHERE user_id = ?1",
    ),
    (
        "Groups",
        "groups",
        "SELECT user_group.id, name FROM user_group_member JOIN user_group ON user_group.id = group_id
         WHERE user_id = ?1 AND kind = 'named' ORDER BY name",
    ),
    (
        "Channels",
        "channels",
        "SELECT stream_id, name, active AS \"active?\", color, is_muted AS \"is_muted?\", pin_to_top AS \"pin_to_top?\"
         FROM subscription JOIN stream USING (stream_id) WHERE user_id = ?1 ORDER BY name",
    ),
    (
        "Topics",
        "topics",
        "SELECT name AS channel, topic_name, visibility_policy, last_updated AS \"last_updated@\"
         FROM user_topic JOIN stream USING (stream_id) WHERE user_id = ?1 ORDER BY name, topic_name",
    ),
    (
        "Muted users",
        "muted_users",
        "SELECT muted_user_id, full_name, date_muted AS \"date_muted@\"
         FROM muted_user JOIN user ON user.user_id = muted_user_id WHERE muted_user.user_id = ?1 ORDER BY muted_user_id",
    ),
    ("Alert words", "alert_words", "SELECT word FROM alert_word WHERE user_id = ?1 ORDER BY id"),
    (
        "Saved snippets",
        "saved_snippets",
        "SELECT title, content, date_created AS \"date_created@\" FROM saved_snippet WHERE user_id = ?1 ORDER BY id",
    ),
    (
        "Drafts",
        "drafts",
        "SELECT stream_id, user_ids, topic, content, last_edit_time AS \"last_edit_time@\"
         FROM draft WHERE user_id = ?1 ORDER BY id",
    ),
    (
        "Scheduled messages",
        "scheduled_messages",
        "SELECT stream_id, user_ids, topic, content, scheduled_delivery_timestamp AS \"scheduled_delivery_timestamp@\"
         FROM scheduled_message WHERE sender_id = ?1 AND NOT sent ORDER BY scheduled_message_id",
    ),
    (
        "Reminders",
        "reminders",
        "SELECT message_id, note, scheduled_delivery_timestamp AS \"scheduled_delivery_timestamp@\"
         FROM reminder WHERE user_id = ?1 ORDER BY reminder_id",
    ),
    (
        "Navigation views",
        "navigation_views",
        "SELECT fragment, name, is_pinned AS \"is_pinned?\" FROM navigation_view WHERE user_id = ?1 ORDER BY id",
    ),
    (
        "Flags of messages",
        "flags",
        "SELECT message_id, flags & 1 AS \"starred?\", flags & 2 AS \"collapsed?\", flags & 4 AS \"mentioned?\"
         FROM user_message_flags WHERE user_id = ?1 ORDER BY message_id",
    ),
    (
        "Reactions",
        "reactions",
        "SELECT message_id, emoji_name FROM reaction WHERE user_id = ?1 ORDER BY message_id",
    ),
    (
        "Votes and tasks",
        "submessages",
        "SELECT message_id, content FROM submessage WHERE sender_id = ?1 ORDER BY id",
    ),
    (
        "Uploaded files",
        "files",
        "SELECT name, path_id, content_type, size, create_time AS \"create_time@\"
         FROM attachment WHERE user_id = ?1 ORDER BY id",
    ),
    (
        "Earlier versions of messages",
        "edits",
        "SELECT message_id, message_edit.timestamp AS \"timestamp@\", prev_content, prev_topic, topic
         FROM message_edit JOIN message ON message.id = message_id WHERE sender_id = ?1 ORDER BY message_id, number",
    ),
    (
        "Custom emoji",
        "emoji",
        "SELECT name, deactivated AS \"deactivated?\" FROM realm_emoji WHERE author_id = ?1 ORDER BY id",
    ),
    (
        "Bots",
        "bots",
        "SELECT user_id, full_name, delivery_email, bot_type, is_active AS \"is_active?\"
         FROM user WHERE bot_owner_id = ?1 ORDER BY user_id",
    ),
    (
        "API keys",
        "api_keys",
        "SELECT client, date_created AS \"date_created@\", last_used AS \"last_used@\"
         FROM api_key LEFT JOIN api_key_use ON api_key_id = id WHERE user_id = ?1 ORDER BY id",
    ),
    (
        "Sessions",
        "sessions",
        "SELECT client, date_created AS \"date_created@\", last_used AS \"last_used@\", address
         FROM session LEFT JOIN session_use ON session_id = id WHERE user_id = ?1 ORDER BY id",
    ),
    (
        "Known logins",
        "known_logins",
        "SELECT client, last_used AS \"last_used@\" FROM known_login WHERE user_id = ?1 ORDER BY last_used",
    ),
    (
        "Address to confirm",
        "confirmation",
        "SELECT email, expires AS \"expires@\" FROM confirmation WHERE user_id = ?1",
    ),
    (
        "Introductions that were seen",
        "onboarding_steps",
        "SELECT onboarding_step, timestamp AS \"timestamp@\" FROM onboarding_step WHERE user_id = ?1 ORDER BY onboarding_step",
    ),
    (
        "Entries of the audit log",
        "audit_log",
        "SELECT time AS \"time@\", action, subject, address FROM audit_entry WHERE actor_id = ?1 ORDER BY id",
    ),
    (
        // Without the authors and their addresses, which are data of others.
        "Changes to the account by others",
        "account_changes",
        "SELECT time AS \"time@\", action, before, after, times FROM audit_entry
         WHERE subject = 'user' AND subject_id = ?1 AND actor_id IS NOT ?1 ORDER BY id",
    ),
    (
        "Single sign-on",
        "identities",
        "SELECT issuer, subject, date_created AS \"date_created@\" FROM identity WHERE user_id = ?1 ORDER BY issuer",
    ),
    (
        "Push notifications",
        "push_subscriptions",
        "SELECT session.client, origin FROM push_subscription JOIN session ON session.id = session_id
         WHERE push_subscription.user_id = ?1",
    ),
    (
        "Phones",
        "phones",
        "SELECT api_key.client, app_id FROM push_device JOIN api_key ON api_key.id = api_key_id
         WHERE push_device.user_id = ?1 ORDER BY push_device.id",
    ),
    (
        "Invitations",
        "invitations",
        "SELECT email, invited AS \"invited@\", invited_as FROM invite WHERE invited_by_user_id = ?1 ORDER BY invite_id",
    ),
];

/// Summary of a person's export.
#[derive(Clone, Debug, Serialize)]
pub struct PersonReport {
    /// Messages: those that the person sent, and all of their direct conversations.
    pub messages: u64,
    /// Uploaded files: those of the person, and those to which the messages link.
    pub files: usize,
}

/// Writes the data of a person to a folder that must not exist.
pub fn write_person(connection: &Connection, person: &UserRow, path: &Path) -> Result<PersonReport> {
    let folder = Folder::begin(path)?;
    let mut linked = Linked::begin(&folder, connection)?;
    let avatar = match person.avatar.key {
        Some(_) => public::load(connection, &person.avatar.path("-medium"))?,
        None => None,
    };
    if let Some((_, image)) = &avatar {
        folder.write("avatar.png", image)?;
    }
    let mut parts = Record::new();
    let mut shown = Vec::new();
    for (title, name, statement) in PARTS {
        let rows = records(connection, statement, [person.user_id])?;
        for row in rows.iter().filter(|_| *name == "files") {
            linked.add(&folder, connection, row["path_id"].as_str().unwrap_or_default())?;
        }
        shown.push((*title, rows.clone()));
        parts.insert((*name).to_owned(), rows.into());
    }
    folder.write("data.json", &serde_json::to_vec_pretty(&parts)?)?;
    let (messages, pages) = messages(connection, person, &folder, &mut linked)?;
    let index = html! {
        h1 { "Data of " (person.full_name) }
        @if avatar.is_some() { p { img src="avatar.png" alt="Avatar" width="100"; } }
        p { "The same data is in " a href="data.json" { "data.json" } " and " a href="messages.json" { "messages.json" } ". Times are UTC." }
        h2 { "Messages" }
        p { (messages) " messages: those that " (person.full_name) " sent, and their direct conversations." }
        ul { @for page in 1..=pages { li { a href=(page_name(page)) { "Page " (page) } } } }
        @for (title, rows) in &shown {
            @if !rows.is_empty() { h2 { (title) } (table(rows)) }
        }
    };
    folder.write("index.html", page::page(&format!("Data of {}", person.full_name), index).as_bytes())?;
    let files = linked.count();
    folder.finish()?;
    Ok(PersonReport { messages, files })
}

fn page_name(page: usize) -> String {
    format!("messages-{page:04}.html")
}

fn table(rows: &[Value]) -> Markup {
    let columns: Vec<&String> =
        rows.first().and_then(Value::as_object).map(|row| row.keys().collect()).unwrap_or_default();
    html! {
        table {
            tr { @for column in &columns { th { (column.replace('_', " ")) } } }
            @for row in rows {
                tr { @for column in &columns { td dir="auto" { (text_of(&row[column.as_str()])) } } }
            }
        }
    }
}

fn text_of(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        // Only times are floating-point numbers.
        Value::Number(number) if number.is_f64() => page::time(number.as_f64().unwrap_or_default() as i64),
        other => other.to_string(),
    }
}

/// Writes the messages, and returns the numbers of messages and pages.
fn messages(
    connection: &Connection,
    person: &UserRow,
    folder: &Folder,
    linked: &mut Linked,
) -> Result<(u64, usize)> {
    let mut statement = connection.prepare(
        "WITH own (id) AS (
             SELECT id FROM message WHERE sender_id = ?1
             UNION SELECT message.id FROM direct_participant JOIN message USING (recipient_id) WHERE user_id = ?1)
         SELECT message.id, timestamp, full_name, sender_id, stream.name, subject, content, rendered_content,
             (SELECT group_concat(full_name, ', ')
                 FROM json_each(iif(json_valid('[' || user_ids || ']'), '[' || user_ids || ']', '[]'))
                 JOIN user ON user_id = value)
         FROM own JOIN message USING (id) JOIN recipient USING (recipient_id) JOIN user ON user_id = sender_id
             LEFT JOIN stream USING (stream_id)
         ORDER BY message.id",
    )?;
    let mut rows = statement.query([person.user_id])?;
    let mut json = folder.create("messages.json")?;
    json.write_all(b"[")?;
    let (mut count, mut pages, mut shown) = (0_u64, 0, Vec::new());
    while let Some(row) = rows.next()? {
        let (id, timestamp): (i64, i64) = (row.get(0)?, row.get(1)?);
        let (sender, rendered): (String, String) = (row.get(2)?, row.get(7)?);
        let (channel, topic): (Option<String>, String) = (row.get(4)?, row.get(5)?);
        let people: Option<String> = row.get(8)?;
        let record = json!({
            "id": id, "timestamp": timestamp, "sender_id": row.get::<_, i64>(3)?, "sender_full_name": sender,
            "channel": channel, "topic": channel.as_ref().map(|_| &topic), "participants": people,
            "content": row.get::<_, String>(6)?, "rendered_content": rendered,
        });
        json.write_all(if count == 0 { b"\n" } else { b",\n" })?;
        serde_json::to_writer(&mut json, &record)?;
        count += 1;
        let place = match &channel {
            Some(channel) => format!("#{channel} > {topic}"),
            None => people.unwrap_or_default(),
        };
        linked.add_of_message(folder, connection, id)?;
        let html = page::detach(&rendered, |url| linked.address(url, ""));
        shown.push(page::message(&ShownMessage {
            id,
            sender: &sender,
            place: &place,
            timestamp,
            html: &html,
        }));
        if shown.len() == PER_PAGE {
            pages += 1;
            write_page(folder, pages, &mut shown)?;
        }
    }
    json.write_all(b"\n]\n")?;
    json.flush()?;
    if !shown.is_empty() {
        pages += 1;
        write_page(folder, pages, &mut shown)?;
    }
    Ok((count, pages))
}

fn write_page(folder: &Folder, number: usize, shown: &mut Vec<Markup>) -> Result<()> {
    let content = html! {
        p { a href="index.html" { "Index" } }
        @for message in shown.drain(..) { (message) }
    };
    folder.write(&page_name(number), page::page(&format!("Messages, page {number}"), content).as_bytes())
}

//! Files with 10,000 users and up to 1,000,000 messages, made in seconds.
//!
//! The server makes the file, its channels and one message through its own interface. The users, subscriptions and
//! the other messages are copies of those, written straight into the tables of `schema.sql`. Large files are kept
//! between runs, under a name that changes with the schema, the renderer and this module.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, params};
use sha2::{Digest, Sha256};

use crate::ours::{self, Account};
use crate::{Outcome, progress, text};

/// Number of users besides the owner.
pub const USERS: u64 = 10_000;

/// The channel of ten subscribers.
pub const CHANNEL_OF_10: &str = "ten";
/// The channel whose first 1,000 users wait for a message.
pub const CHANNEL_OF_1000: &str = "thousand";
/// The channel of 10,000 subscribers.
pub const CHANNEL_OF_10000: &str = "everyone";
/// One of the channels that hold the messages.
pub const CHANNEL_WITH_HISTORY: &str = "history 1";

/// Number of channels with nine of ten messages.
const HISTORY_CHANNELS: u64 = 20;
const HISTORY_SUBSCRIBERS: u64 = 100;
/// Number of quiet channels with ten subscribers each, for a user of 200 channels.
const QUIET_CHANNELS: u64 = 180;
const QUIET_SUBSCRIBERS: u64 = 10;

/// A user of 200 channels who has read nothing, is mentioned in one of 50 messages, and had one of 50 to themselves.
pub const READER: u64 = 1;
/// The other participant of their direct conversation.
pub const CORRESPONDENT: u64 = 2;
/// A word of the messages that mention the reader.
pub const SEARCHED: &str = "please";
const EVERY: u64 = 50;

const OWNER: &str = "owner@example.com";
/// The first seeded message was sent at this time; one every 13 seconds follows.
const FIRST_TIMESTAMP: u64 = 1_745_000_000;

/// The file that all others are copied from: users and channels, and one message.
pub struct Base {
    /// Directory of the seeds, kept between runs.
    kept: PathBuf,
    /// Directory of the files of this run.
    directory: PathBuf,
    file: PathBuf,
    key: String,
}

/// The account of that user; 0 is the owner.
pub fn account(user: u64) -> Account {
    Account::new(&email(user), &api_key(user))
}

fn email(user: u64) -> String {
    if user == 0 { OWNER.to_owned() } else { format!("user{user}@example.com") }
}

fn api_key(user: u64) -> String {
    format!("numbers{user:025}")
}

/// Name and number of subscribers (the owner is one) of each channel.
fn channels() -> Vec<(String, u64)> {
    let mut channels = vec![
        (CHANNEL_OF_10.to_owned(), 10),
        (CHANNEL_OF_1000.to_owned(), 1_001),
        (CHANNEL_OF_10000.to_owned(), 10_000),
    ];
    channels.extend((1..=HISTORY_CHANNELS).map(|number| (format!("history {number}"), HISTORY_SUBSCRIBERS)));
    channels.extend((1..=QUIET_CHANNELS).map(|number| (format!("quiet {number}"), QUIET_SUBSCRIBERS)));
    channels
}

/// Creates the base file in the folder of this run; `kept` is the directory of the seeds.
pub async fn prepare(binary: &Path, kept: &Path, directory: &Path) -> Outcome<Base> {
    let file = directory.join("base.sqlite");
    remove(&file)?;
    let owner = ours::create_owner(binary, &file, OWNER)?.account;
    let server = ours::start(binary, &file)?;
    ours::until_ready(&server).await?;
    let wanted: Vec<_> = channels()
        .into_iter()
        .map(|(name, _)| serde_json::json!({"name": name, "description": ""}))
        .collect();
    let subscriptions = serde_json::to_string(&wanted)?;
    let request = owner.post("/api/v1/users/me/subscriptions", &[("subscriptions", &*subscriptions)]);
    ours::call(server.address, &request).await?;
    let parameters = [
        ("type", "channel"),
        ("to", CHANNEL_WITH_HISTORY),
        ("topic", "topic 0"),
        ("content", "the first one"),
    ];
    let sent = ours::call(server.address, &owner.post("/api/v1/messages", &parameters)).await?;
    let message_id = sent["id"].as_i64().ok_or("the sent message has no id")?;
    ours::stop(server)?;

    let mut connection = open(&file)?;
    let key = key(&connection, message_id)?;
    add_users(&mut connection)?;
    close(connection)?;
    Ok(Base { kept: kept.to_owned(), directory: directory.to_owned(), file, key })
}

impl Base {
    /// A copy of the file with this number of messages, for one measurement.
    pub fn file_with(&self, messages: u64, name: &str) -> Outcome<PathBuf> {
        let kept = self.kept.join(format!("seed-{}-{messages}.sqlite", self.key));
        if !kept.exists() {
            self.remove_outdated()?;
            progress(&format!("seeding {messages} messages"));
            let unfinished = self.directory.join("unfinished.sqlite");
            remove(&unfinished)?;
            copy(&self.file, &unfinished)?;
            let mut connection = open(&unfinished)?;
            add_messages(&mut connection, messages)?;
            close(connection)?;
            fs::File::open(&unfinished)?.sync_all()?;
            // The two folders are on the same disk.
            fs::rename(&unfinished, &kept)?;
        }
        let file = self.directory.join(format!("{name}.sqlite"));
        remove(&file)?;
        copy(&kept, &file)?;
        Ok(file)
    }

    /// The id of a channel.
    pub fn stream_id(&self, name: &str) -> Outcome<i64> {
        Ok(open(&self.file)?
            .query_row("SELECT stream_id FROM stream WHERE name = ?", [name], |row| row.get(0))?)
    }

    /// Removes the seeds of other schemas: they are large.
    fn remove_outdated(&self) -> Outcome<()> {
        let current = format!("seed-{}-", self.key);
        for entry in fs::read_dir(&self.kept)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.starts_with("seed-") && !name.starts_with(&current) {
                fs::remove_file(entry.path())?;
            }
        }
        Ok(())
    }
}

/// Copies a file and syncs it, so that no write-back disturbs the measurement.
fn copy(from: &Path, to: &Path) -> Outcome<()> {
    fs::copy(from, to)?;
    fs::File::open(to)?.sync_all()?;
    Ok(())
}

/// Removes a database file with its companions, if there.
pub fn remove(file: &Path) -> Outcome<()> {
    for suffix in ["", "-wal", "-shm"] {
        let mut name = file.as_os_str().to_owned();
        name.push(suffix);
        match fs::remove_file(&name) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error.into()),
            _ => {}
        }
    }
    Ok(())
}

/// Opens a file that no server has open.
pub fn open(file: &Path) -> Outcome<Connection> {
    #[expect(clippy::disallowed_methods, reason = "seeding writes past the server, for speed")]
    let connection = Connection::open(file)?;
    connection.execute_batch("PRAGMA synchronous = OFF; PRAGMA cache_size = -262144;")?;
    Ok(connection)
}

/// Closes the file so that it is whole without its write-ahead log.
fn close(connection: Connection) -> Outcome<()> {
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
    connection.close().map_err(|(_, error)| error)?;
    Ok(())
}

/// A short name derived from the inputs of a seeded file.
fn key(connection: &Connection, message_id: i64) -> Outcome<String> {
    let mut digest = Sha256::new();
    digest.update(include_str!("seed.rs"));
    digest.update(include_str!("text.rs"));
    let mut schema =
        connection.prepare("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid")?;
    for sql in schema.query_map([], |row| row.get::<_, String>(0))? {
        digest.update(sql?);
    }
    let (rendered_version, attributes): (i64, i64) = connection.query_row(
        "SELECT rendered_version, attributes FROM message WHERE id = ?",
        [message_id],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    digest.update(rendered_version.to_le_bytes());
    digest.update(attributes.to_le_bytes());
    let mut name = String::new();
    for byte in &digest.finalize()[..6] {
        write!(name, "{byte:02x}")?;
    }
    Ok(name)
}

/// Users `USERS`, their keys and their subscriptions; and a known key for the owner.
fn add_users(connection: &mut Connection) -> Outcome<()> {
    let transaction = connection.transaction()?;
    {
        let owner: i64 = transaction.query_row(
            "SELECT user_id FROM user WHERE delivery_email_key = ?",
            [OWNER],
            |row| row.get(0),
        )?;
        let mut add_user = transaction.prepare(
            "INSERT INTO user (email, delivery_email, delivery_email_key, full_name, role, date_joined)
             VALUES (?1, ?1, ?1, ?2, 400, ?3)",
        )?;
        let mut add_key = transaction.prepare(
            "INSERT INTO api_key (user_id, digest, client, date_created) VALUES (?, ?, 'numbers', ?)",
        )?;
        let mut user_ids = vec![owner];
        for user in 1..=USERS {
            add_user.execute(params![email(user), format!("User {user}"), FIRST_TIMESTAMP as i64])?;
            user_ids.push(transaction.last_insert_rowid());
        }
        for (user_id, user) in user_ids.iter().zip(0..) {
            let digest = Sha256::digest(api_key(user));
            add_key.execute(params![user_id, digest.as_slice(), FIRST_TIMESTAMP as i64])?;
        }

        let mut add_subscription = transaction.prepare(
            "INSERT INTO subscription (user_id, stream_id, active, color)
             SELECT ?, stream_id, 1, '#76ce90' FROM stream WHERE name = ?",
        )?;
        let mut add_span = transaction.prepare(
            "INSERT INTO subscription_span (user_id, stream_id, from_message_id)
             SELECT ?, stream_id, 0 FROM stream WHERE name = ?",
        )?;
        for (name, subscribers) in channels() {
            for user_id in &user_ids[1..subscribers as usize] {
                add_subscription.execute(params![user_id, name])?;
                add_span.execute(params![user_id, name])?;
            }
        }
    }
    transaction.commit()?;
    Ok(())
}

/// Gives each user a phone that the push bouncer reaches, and mail a second after a message that they missed.
pub fn add_phones(file: &Path) -> Outcome<()> {
    let connection = open(file)?;
    connection.execute_batch(
        "INSERT INTO push_subscription (user_id, shows_content, origin)
         SELECT user_id, 1, 'http://127.0.0.1' FROM api_key WHERE client = 'numbers';
         INSERT INTO push_device (user_id, kind, token, api_key_id)
         SELECT user_id, 2, 'phone', id FROM api_key WHERE client = 'numbers';
         INSERT INTO user_setting (user_id, property, value)
         SELECT user_id, 'email_notifications_batching_period_seconds', '1' FROM api_key WHERE client = 'numbers';",
    )?;
    close(connection)
}

/// Destination of a message: its set of receivers, and its topics if it is a channel.
struct Place {
    recipient_id: i64,
    topics: Vec<i64>,
}

/// The channels with history, the quiet ones, and the direct conversation.
struct Places {
    history: Vec<Place>,
    quiet: Vec<Place>,
    direct: Place,
}

impl Places {
    fn make(connection: &Connection) -> Outcome<Self> {
        let channel = |name: String| -> Outcome<Place> {
            let (stream_id, recipient_id): (i64, i64) = connection.query_row(
                "SELECT stream_id, recipient_id FROM stream JOIN recipient USING (stream_id) WHERE name = ?",
                [name],
                |row| Ok((row.get(0)?, row.get(1)?)),
            )?;
            Ok(Place { recipient_id, topics: add_topics(connection, stream_id)? })
        };
        let (one, other) = (user_id(connection, READER)?, user_id(connection, CORRESPONDENT)?);
        connection.execute("INSERT INTO recipient (user_ids) VALUES (?)", [format!("{one},{other}")])?;
        let recipient_id = connection.last_insert_rowid();
        for user in [one, other] {
            connection.execute(
                "INSERT INTO direct_participant (user_id, recipient_id) VALUES (?, ?)",
                [user, recipient_id],
            )?;
        }
        let named = |name: &'static str, count| {
            (1..=count).map(|number| channel(format!("{name} {number}"))).collect::<Outcome<Vec<_>>>()
        };
        Ok(Self {
            history: named("history", HISTORY_CHANNELS)?,
            quiet: named("quiet", QUIET_CHANNELS)?,
            direct: Place { recipient_id, topics: Vec::new() },
        })
    }

    /// The place of the message of that number, and its topic there.
    fn of(&self, number: u64) -> (&Place, Option<i64>) {
        let within = |places: &'_ [Place], number: u64| (number % places.len() as u64) as usize;
        let place = match number {
            number if number % EVERY == 0 => return (&self.direct, None),
            number if number % 10 == 9 => &self.quiet[within(&self.quiet, number / 10)],
            number => &self.history[within(&self.history, number)],
        };
        (place, Some(place.topics[(number / HISTORY_CHANNELS % text::TOPICS) as usize]))
    }
}

fn user_id(connection: &Connection, user: u64) -> Outcome<i64> {
    let by_email = "SELECT user_id FROM user WHERE delivery_email_key = ?";
    Ok(connection.query_row(by_email, [email(user)], |row| row.get(0))?)
}

/// Messages of 100 senders, in turn over the channels and their topics, all in channels read by the owner.
fn add_messages(connection: &mut Connection, messages: u64) -> Outcome<()> {
    let transaction = connection.transaction()?;
    {
        let places = Places::make(&transaction)?;
        let reader = user_id(&transaction, READER)?;
        let first_user = reader;
        let (newest, client_id, rendered_version, attributes): (i64, i64, i64, i64) = transaction.query_row(
            "SELECT id, client_id, rendered_version, attributes FROM message ORDER BY id DESC LIMIT 1",
            [],
            |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)),
        )?;
        let mut add_message = transaction.prepare(
            "INSERT INTO message (id, recipient_id, topic_id, subject, sender_id, client_id, timestamp, content,
                html, rendered_version, attributes)
             VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        )?;
        let mut add_words =
            transaction.prepare("INSERT INTO message_search (rowid, content, subject) VALUES (?, ?, ?)")?;
        let mut add_word =
            transaction.prepare("INSERT OR IGNORE INTO search_word (word, stem) VALUES (?1, ?1)")?;
        let mut known_words = HashSet::new();
        let mut add_mention = transaction
            .prepare("INSERT INTO user_message_flags (user_id, message_id, flags) VALUES (?, ?, 4)")?;
        for number in 0..messages {
            let id = newest + 1 + number as i64;
            let (place, topic_id) = places.of(number);
            let subject = match topic_id {
                Some(_) => text::topic(number / HISTORY_CHANNELS),
                None => String::new(),
            };
            let mut content = text::sentence(number);
            let mentions = number % EVERY == 1;
            if mentions {
                content = format!("@**User {READER}** {SEARCHED} {content}");
            }
            add_message.execute(params![
                id,
                place.recipient_id,
                topic_id,
                subject,
                first_user + (number % (HISTORY_SUBSCRIBERS - 1)) as i64,
                client_id,
                (FIRST_TIMESTAMP + 13 * number) as i64,
                content,
                format!("<p>{content}</p>"),
                rendered_version,
                attributes,
            ])?;
            add_words.execute(params![id, content, subject])?;
            // Made-up words are their own stems, near enough.
            for word in text::words(&content).chain(text::words(&subject)) {
                if known_words.insert(word.to_owned()) {
                    add_word.execute([word])?;
                }
            }
            if mentions {
                add_mention.execute(params![reader, id])?;
            }
        }
        transaction.execute(
            "INSERT INTO read_state (user_id, recipient_id, read_until)
             SELECT user_id, recipient_id, ?1 FROM user, recipient
             WHERE delivery_email_key = ?2 AND stream_id IS NOT NULL
             ON CONFLICT (user_id, recipient_id) DO UPDATE SET read_until = ?1",
            params![newest + messages as i64, OWNER],
        )?;
    }
    transaction.commit()?;
    Ok(())
}

/// The topics of a channel, in the order of [`text::topic`].
fn add_topics(connection: &Connection, stream_id: i64) -> Outcome<Vec<i64>> {
    let mut topic_ids = Vec::new();
    for number in 0..text::TOPICS {
        let name = text::topic(number);
        connection.execute(
            "INSERT OR IGNORE INTO topic (stream_id, name_key) VALUES (?, ?)",
            params![stream_id, name],
        )?;
        topic_ids.push(connection.query_row(
            "SELECT topic_id FROM topic WHERE stream_id = ? AND name_key = ?",
            params![stream_id, name],
            |row| row.get(0),
        )?);
    }
    Ok(topic_ids)
}

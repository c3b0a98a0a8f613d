//! Messages with the rows of their receivers, scheduled messages, and reactions.

use super::archive::Archive;
use super::clients::Clients;
use super::error::Result;
use super::people::{correct_emoji_name, emoji_names};
use super::recipients::{Conversation, Recipients};
use super::report::LeftOut;
use super::report::Progress;
use super::scope::{Mode, Scope};
use super::tables::REALM;
use super::tables::{Counts, Tables, id_in, time, write_row};
use crate::domain::messages::flags::bit;
use crate::domain::messages::read_state;
use crate::domain::messages::receipts::moved::group_by_receivers;
use crate::domain::messages::record::attribute;
use crate::domain::rows;
use crate::domain::rows::channel::StreamRow;
use crate::types::{ClientId, MessageId, RecipientId, StreamId, UserId};
use roaring::RoaringBitmap;
use rusqlite::Connection;
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};
use std::io::Write;

/// The number of messages of a file.
const PER_FILE: usize = 1000;

/// A file ends early when it has this many bytes: each message of a large channel has many receivers.
const MAX_FILE_BYTES: usize = 8 * 1024 * 1024;

/// The number of messages that are in memory at a time.
const PER_BATCH: i64 = 200;

/// Bits of `flags_mask`.
mod mask {
    pub const READ: i64 = 1;
    pub const STARRED: i64 = 1 << 1;
    pub const COLLAPSED: i64 = 1 << 2;
    pub const MENTIONED: i64 = 1 << 3;
    pub const STREAM_WILDCARD_MENTIONED: i64 = 1 << 4;
    pub const TOPIC_WILDCARD_MENTIONED: i64 = 1 << 5;
    pub const HAS_ALERT_WORD: i64 = 1 << 9;
    pub const HISTORICAL: i64 = 1 << 10;
    pub const IS_PRIVATE: i64 = 1 << 11;
}

/// The stored flags, and their bits in the archive.
const STORED_FLAGS: [(i64, i64); 6] = [
    (bit::STARRED, mask::STARRED),
    (bit::COLLAPSED, mask::COLLAPSED),
    (bit::MENTIONED, mask::MENTIONED),
    (bit::HAS_ALERT_WORD, mask::HAS_ALERT_WORD),
    (bit::TOPIC_WILDCARD_MENTIONED, mask::TOPIC_WILDCARD_MENTIONED),
    (bit::HISTORICAL, mask::HISTORICAL),
];

/// The messages of an archive.
#[derive(Default)]
pub struct Exported {
    /// Ids of the exported messages.
    pub ids: RoaringBitmap,
    /// The first message of each conversation.
    pub first_of: HashMap<RecipientId, MessageId>,
    /// The id of the newest message of the database; 0 if there is none.
    pub newest: i64,
    /// The time of the newest message, in UNIX seconds.
    pub newest_time: i64,
    /// The numbers of rows.
    pub counts: Counts,
    /// The recipients of the messages that are to be sent later, by the id of the message.
    scheduled: HashMap<i64, i64>,
    outside_of_mode: u64,
    with_bots: u64,
    scheduled_with_bots: u64,
}

impl Exported {
    /// True if a message is in the archive.
    pub fn has(&self, id: i64) -> bool {
        MessageId(id).is_in(&self.ids)
    }

    /// True if a message that is to be sent later is in the archive.
    pub fn has_scheduled(&self, id: i64) -> bool {
        self.scheduled.contains_key(&id)
    }

    /// Adds the messages that are to be sent later. Those to groups that the archive cannot have are left out.
    fn add_scheduled(
        &mut self,
        connection: &Connection,
        scope: &Scope,
        recipients: &Recipients,
    ) -> Result<()> {
        let mut statement = connection.prepare(
            "SELECT scheduled_message_id, sender_id, stream_id, user_ids FROM scheduled_message WHERE NOT sent",
        )?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let (id, sender): (i64, UserId) = (row.get(0)?, row.get(1)?);
            let users: Option<String> = row.get(3)?;
            if !scope.shares(sender.0) {
                continue;
            }
            let recipient = match (users, row.get(2)?) {
                // A backup from elsewhere can have any text here.
                (Some(users), _) => serde_json::from_str::<Vec<UserId>>(&users)
                    .ok()
                    .and_then(|users| recipients.of_direct(&users, sender)),
                (None, Some(stream_id)) => recipients.of_channel(stream_id),
                (None, None) => None,
            };
            match recipient {
                Some(recipient) => drop(self.scheduled.insert(id, recipient)),
                None => self.scheduled_with_bots += 1,
            }
        }
        Ok(())
    }

    /// Messages that are not in the archive.
    pub fn left_out(&self) -> [LeftOut; 3] {
        [
            LeftOut {
                what: "messages",
                count: self.outside_of_mode,
                why: "they are private, and none of their readers consents or is asked",
            },
            LeftOut {
                what: "group messages with a bot of the server",
                count: self.with_bots,
                why: "the published server cannot have them",
            },
            LeftOut {
                what: "scheduled group messages with a bot of the server",
                count: self.scheduled_with_bots,
                why: "the published server cannot have them",
            },
        ]
    }
}

/// A message's row.
struct Message {
    id: MessageId,
    recipient_id: RecipientId,
    subject: String,
    sender_id: UserId,
    client_id: ClientId,
    timestamp: i64,
    content: String,
    rendered_content: String,
    attributes: i64,
    last_change: Option<i64>,
}

impl Message {
    fn has(&self, attribute: i64) -> bool {
        self.attributes & attribute != 0
    }
}

fn batch(connection: &Connection, after: MessageId) -> Result<Vec<Message>> {
    let mut statement = connection.prepare_cached(
        "SELECT id, recipient_id, subject, sender_id, client_id, timestamp, content, rendered_content, attributes,
             nullif(max(ifnull(last_edit_timestamp, 0), ifnull(last_moved_timestamp, 0)), 0)
         FROM message WHERE id > ?1 ORDER BY id LIMIT ?2",
    )?;
    let messages = statement.query_map((after, PER_BATCH), |row| {
        Ok(Message {
            id: row.get(0)?,
            recipient_id: row.get(1)?,
            subject: row.get(2)?,
            sender_id: row.get(3)?,
            client_id: row.get(4)?,
            timestamp: row.get(5)?,
            content: row.get(6)?,
            rendered_content: row.get(7)?,
            attributes: row.get(8)?,
            last_change: row.get(9)?,
        })
    })?;
    Ok(messages.collect::<rusqlite::Result<_>>()?)
}

/// A channel of messages, with what decides whether they are exported.
struct Channel {
    stream: StreamRow,
    /// True if a person who consents is or was subscribed.
    has_consenting: bool,
}

/// Decides which messages belong to an export, and finds their receivers.
struct Selection<'a> {
    connection: &'a Connection,
    scope: &'a Scope,
    recipients: &'a Recipients,
    channels: HashMap<StreamId, Channel>,
}

/// The receivers of a message, and its recipient in the archive.
struct Address {
    recipient: i64,
    receivers: RoaringBitmap,
    is_direct: bool,
    /// True if people may read it, and set flags on it, without having received it.
    has_public_history: bool,
}

impl Selection<'_> {
    fn channel(&mut self, stream_id: StreamId) -> Result<Option<&Channel>> {
        if !self.channels.contains_key(&stream_id) {
            let Some(stream) = rows::channel::by_id(self.connection, stream_id)? else { return Ok(None) };
            // A subscription without messages since its begin has no span.
            let mut statement = self.connection.prepare_cached(
                "SELECT user_id FROM subscription_span WHERE stream_id = ?1
                 UNION SELECT user_id FROM subscription WHERE stream_id = ?1",
            )?;
            let mut subscribers = statement.query([stream_id])?;
            let mut has_consenting = false;
            while let Some(row) = subscribers.next()? {
                has_consenting |= self.scope.shares(row.get(0)?);
            }
            self.channels.insert(stream_id, Channel { stream, has_consenting });
        }
        Ok(self.channels.get(&stream_id))
    }

    /// True if a message of a channel is exported.
    fn is_exported(&mut self, stream_id: StreamId, receivers: &RoaringBitmap) -> Result<bool> {
        let mode = self.scope.mode;
        let received = !receivers.is_disjoint(&self.scope.consenting);
        let Some(channel) = self.channel(stream_id)? else { return Ok(false) };
        Ok(match mode {
            Mode::Full => true,
            _ if channel.stream.is_public() => true,
            Mode::Public => false,
            Mode::Consent if channel.stream.has_public_history() => channel.has_consenting,
            Mode::Consent => received,
        })
    }

    /// The addresses of messages, ascending; `None` for those that are not exported.
    fn addresses(&mut self, messages: &[Message], exported: &mut Exported) -> Result<Vec<Option<Address>>> {
        let mut by_channel: BTreeMap<RecipientId, Vec<MessageId>> = BTreeMap::new();
        for message in messages {
            if let Some(Conversation::Channel(_)) = self.recipients.conversation(message.recipient_id) {
                by_channel.entry(message.recipient_id).or_default().push(message.id);
            }
        }
        let mut received: HashMap<RecipientId, Vec<(RoaringBitmap, RoaringBitmap)>> = HashMap::new();
        for (recipient_id, ids) in by_channel {
            if let Some(Conversation::Channel(stream_id)) = self.recipients.conversation(recipient_id) {
                let groups = group_by_receivers(self.connection, *stream_id, recipient_id, &ids)?;
                received.insert(recipient_id, groups);
            }
        }
        let mut addresses = Vec::with_capacity(messages.len());
        for message in messages {
            let address = match self.recipients.conversation(message.recipient_id) {
                Some(Conversation::Channel(stream_id)) => {
                    let groups = received.get(&message.recipient_id).into_iter().flatten();
                    let own = groups.into_iter().find(|(ids, _)| message.id.is_in(ids));
                    let receivers = own.map(|(_, users)| users.clone()).unwrap_or_default();
                    let channel = self.channel(*stream_id)?;
                    let has_public_history =
                        channel.is_some_and(|channel| channel.stream.has_public_history());
                    self.is_exported(*stream_id, &receivers)?.then_some(Address {
                        recipient: message.recipient_id.0,
                        receivers,
                        is_direct: false,
                        has_public_history,
                    })
                }
                Some(Conversation::Direct(users)) => self.direct(users, message.sender_id, exported),
                None => None,
            };
            addresses.push(address);
        }
        Ok(addresses)
    }

    fn direct(&self, users: &[UserId], sender: UserId, exported: &mut Exported) -> Option<Address> {
        if self.scope.mode == Mode::Public || !users.iter().any(|user_id| self.scope.shares(user_id.0)) {
            return None;
        }
        let recipient = self.recipients.of_direct(users, sender);
        exported.with_bots += u64::from(recipient.is_none());
        let receivers = users.iter().filter_map(|user_id| user_id.bit()).collect();
        Some(Address { recipient: recipient?, receivers, is_direct: true, has_public_history: false })
    }
}

/// Writes all messages of the export.
pub fn write<W: Write>(
    archive: &mut Archive<W>,
    connection: &Connection,
    scope: &Scope,
    recipients: &Recipients,
    clients: &Clients,
    progress: &mut dyn FnMut(Progress) -> Result<()>,
) -> Result<Exported> {
    let mut exported = Exported::default();
    let newest: Option<i64> = connection.query_row("SELECT max(id) FROM message", [], |row| row.get(0))?;
    exported.newest = newest.unwrap_or(0);
    let mut selection = Selection { connection, scope, recipients, channels: HashMap::new() };
    let mut file = File::default();
    let mut after = MessageId(0);
    loop {
        let messages = batch(connection, after)?;
        let Some(last) = messages.last() else { break };
        after = last.id;
        exported.newest_time = last.timestamp;
        let addresses = selection.addresses(&messages, &mut exported)?;
        for (message, address) in messages.iter().zip(addresses) {
            let Some(address) = address else { continue };
            exported.ids.extend(message.id.bit());
            exported.first_of.entry(message.recipient_id).or_insert(message.id);
            file.add_message(connection, message, &address, clients)?;
            file.add_receivers(connection, message, &address, scope)?;
            if file.is_full() {
                file.end(archive)?;
            }
        }
        let done = exported.ids.len();
        let bit = |id: i64| f64::from(MessageId(id).bit().unwrap_or(1).max(1));
        let fraction = bit(after.0) / bit(exported.newest);
        progress(Progress { messages: done, fraction })?;
    }
    file.end(archive)?;
    exported.add_scheduled(connection, scope, recipients)?;
    let all = connection.query_row("SELECT count(*) FROM message", [], |row| row.get::<_, i64>(0))?;
    exported.outside_of_mode = all.unsigned_abs() - exported.ids.len() - exported.with_bots;
    exported.counts.insert("zerver_message", exported.ids.len());
    exported.counts.insert("zerver_usermessage", file.receivers);
    Ok(exported)
}

/// A file of messages that is being filled.
#[derive(Default)]
struct File {
    number: usize,
    count: usize,
    messages: Vec<u8>,
    rows: Vec<u8>,
    /// The number of rows of receivers, in all files.
    receivers: u64,
}

impl File {
    fn is_full(&self) -> bool {
        self.count >= PER_FILE || self.messages.len() + self.rows.len() >= MAX_FILE_BYTES
    }

    fn end<W: Write>(&mut self, archive: &mut Archive<W>) -> Result<()> {
        if self.count == 0 {
            return Ok(());
        }
        self.number += 1;
        let (begin, middle, end) = (b"{\n\"zerver_message\": [", b"],\n\"zerver_usermessage\": [", b"]\n}\n");
        let parts: [&[u8]; 5] = [begin, &self.messages, middle, &self.rows, end];
        let size = parts.iter().map(|part| part.len() as u64).sum();
        let [begin, messages, middle, rows, end] = parts;
        let content = std::io::Read::chain(std::io::Read::chain(begin, messages), middle);
        let content = std::io::Read::chain(std::io::Read::chain(content, rows), end);
        archive.add(&format!("messages-{:06}.json", self.number), size, content)?;
        self.count = 0;
        self.messages.clear();
        self.rows.clear();
        Ok(())
    }

    fn add_message(
        &mut self,
        connection: &Connection,
        message: &Message,
        address: &Address,
        clients: &Clients,
    ) -> Result<()> {
        let edits = if message.has(attribute::IS_EDITED) { edit_history(connection, message)? } else { None };
        let (history, newest_edit) = edits.unzip();
        // Resolving a topic is an edit that changes no time of the message.
        let last_change = message.last_change.max(newest_edit);
        let row = json!({
            "id": message.id,
            "realm": REALM,
            "sender": message.sender_id,
            "recipient": address.recipient,
            "type": if message.has(attribute::IS_RESOLVE_NOTICE) { 2 } else { 1 },
            "is_channel_message": !address.is_direct,
            "subject": message.subject,
            "content": message.content,
            "rendered_content": message.rendered_content,
            "rendered_content_version": 1,
            "date_sent": time(message.timestamp),
            "sending_client": clients.get(message.client_id),
            "last_edit_time": last_change.map(time),
            "edit_history": history,
            "has_attachment": message.has(attribute::HAS_ATTACHMENT),
            "has_image": message.has(attribute::HAS_IMAGE),
            "has_link": message.has(attribute::HAS_LINK),
            "search_tsvector": null,
        });
        self.messages.extend_from_slice(if self.messages.is_empty() { b"\n" } else { b",\n" });
        write_row(&mut self.messages, &row)?;
        self.count += 1;
        Ok(())
    }

    fn add_receivers(
        &mut self,
        connection: &Connection,
        message: &Message,
        address: &Address,
        scope: &Scope,
    ) -> Result<()> {
        let receivers = &address.receivers & &scope.receivers;
        let read = read_state::users_who_read(connection, message.recipient_id, message.id)?;
        let stored = stored_flags(connection, message.id)?;
        let mut of_all = if address.is_direct { mask::IS_PRIVATE } else { 0 };
        if message.has(attribute::STREAM_WILDCARD) {
            of_all |= mask::STREAM_WILDCARD_MENTIONED;
        }
        // After a move to a channel without their subscription, for example, people keep flags and are no receivers.
        let mut others = RoaringBitmap::new();
        if address.has_public_history {
            others.extend(stored.iter().filter(|(_, flags)| **flags != 0).map(|(user, _)| *user));
            others &= &scope.receivers;
            others -= &receivers;
        }
        for user in &receivers | &others {
            let flags = if others.contains(user) {
                mask::READ | mask::HISTORICAL
            } else {
                of_all | if read.contains(user) { mask::READ } else { 0 }
            };
            let flags = flags | stored.get(&user).copied().unwrap_or(0);
            self.receivers += 1;
            let separator = if self.rows.is_empty() { "\n" } else { ",\n" };
            let (id, message) = (self.receivers, message.id);
            write!(
                self.rows,
                "{separator}{{\"id\":{id},\"user_profile\":{user},\"message\":{message},\"flags_mask\":{flags}}}"
            )?;
        }
        Ok(())
    }
}

/// The stored flags of users on a message, as bits of the archive.
fn stored_flags(connection: &Connection, id: MessageId) -> Result<HashMap<u32, i64>> {
    let mut statement =
        connection.prepare_cached("SELECT user_id, flags FROM user_message_flags WHERE message_id = ?1")?;
    let mut rows = statement.query([id])?;
    let mut flags = HashMap::new();
    while let Some(row) = rows.next()? {
        let (user_id, stored): (UserId, i64) = (row.get(0)?, row.get(1)?);
        let set = STORED_FLAGS.iter().filter(|(own, _)| stored & own != 0);
        flags.extend(user_id.bit().map(|user| (user, set.fold(0, |mask, (_, flag)| mask | flag))));
    }
    Ok(flags)
}

/// The edit history of a message as JSON text, the newest edit first, and the time of that edit in UNIX seconds.
fn edit_history(connection: &Connection, message: &Message) -> Result<Option<(String, i64)>> {
    let mut statement = connection.prepare_cached(
        "SELECT user_id, timestamp, prev_content, prev_rendered_content, prev_topic, topic, prev_stream, stream
         FROM message_edit WHERE message_id = ?1 ORDER BY number DESC",
    )?;
    let mut rows = statement.query([message.id])?;
    let (mut edits, mut newest): (Vec<Value>, i64) = (Vec::new(), 0);
    while let Some(row) = rows.next()? {
        // The importer requires the author of an edit.
        let author = row.get::<_, Option<UserId>>(0)?.unwrap_or(message.sender_id);
        let timestamp: i64 = row.get(1)?;
        newest = newest.max(timestamp);
        let mut edit = json!({"user_id": author, "timestamp": timestamp});
        if let Some(content) = row.get::<_, Option<String>>(2)? {
            edit["prev_content"] = content.into();
            edit["prev_rendered_content"] = row.get::<_, Option<String>>(3)?.unwrap_or_default().into();
            edit["prev_rendered_content_version"] = 1.into();
        }
        for (index, name) in [(4, "prev_topic"), (5, "topic")] {
            if let Some(topic) = row.get::<_, Option<String>>(index)? {
                edit[name] = topic.into();
            }
        }
        for (index, name) in [(6, "prev_stream"), (7, "stream")] {
            if let Some(stream_id) = row.get::<_, Option<i64>>(index)? {
                edit[name] = stream_id.into();
            }
        }
        edits.push(edit);
    }
    Ok(if edits.is_empty() { None } else { Some((serde_json::to_string(&edits)?, newest)) })
}

/// Writes the messages that are to be sent later.
pub fn write_scheduled(
    tables: &mut Tables<'_>,
    connection: &Connection,
    exported: &Exported,
    clients: &Clients,
) -> Result<()> {
    tables.select(
        "zerver_scheduledmessage",
        connection,
        "SELECT scheduled_message_id AS id, 1 AS realm, sender_id AS sender, stream_id AS stream,
             topic AS subject, content, rendered_content, client, read_by_sender AS \"read_by_sender?\",
             scheduled_delivery_timestamp AS \"scheduled_timestamp@\", failed AS \"failed?\", 0 AS \"delivered?\",
             EXISTS (SELECT 1 FROM attachment_scheduled_message AS linked
                 WHERE linked.scheduled_message_id = scheduled_message.scheduled_message_id) AS \"has_attachment?\",
             1 AS delivery_type, NULL AS delivered_message, NULL AS failure_message
         FROM scheduled_message WHERE NOT sent ORDER BY scheduled_message_id",
        |row| {
            let Some(recipient) = exported.scheduled.get(&id_in(row, "id")) else { return Ok(false) };
            row.insert("recipient".to_owned(), (*recipient).into());
            let client = row.shift_remove("client");
            let client = client.as_ref().and_then(Value::as_str).unwrap_or_default();
            row.insert("sending_client".to_owned(), clients.named(client).into());
            Ok(true)
        },
    )
}

/// Writes the reactions to exported messages.
pub fn write_reactions(tables: &mut Tables<'_>, connection: &Connection, exported: &Exported) -> Result<()> {
    let names = emoji_names(connection)?;
    tables.select(
        "zerver_reaction",
        connection,
        "SELECT message_id AS message, user_id AS user_profile, emoji_name, emoji_code, reaction_type
         FROM reaction ORDER BY message_id, number",
        |row| Ok(exported.has(id_in(row, "message")) && correct_emoji_name(row, &names)),
    )
}

//! Messages, with their receivers. Each file is read twice: first the rows of its receivers, which are short, then the
//! messages themselves. If the archive has files, all are read once before, for the hosts of links to these files.

use crate::domain::access;
use crate::domain::files::by_path_id;
use crate::domain::messages::record::EditRecord;
use crate::domain::messages::{add_flags, client_or_new};
use crate::moving::import::error::{ImportError, ImportResult};
use crate::moving::import::json;
use crate::moving::import::links::OldAddress;
use crate::moving::import::message::{
    BATCH, NewMessage, Reaction, Renderer, flags_of_mask, insert_all, render_all,
};
use crate::moving::import::progress::Progress;
use crate::moving::import::receipts::{Receipts, Received};
use crate::moving::import::report::Report;
use crate::moving::import::rows;
use crate::moving::import::target::Target;
use crate::moving::import::unpack::Archive;
use crate::moving::import::zulip::organization::{Organization, Place, REALM, ReactionOf};
use crate::moving::import::zulip::tables::{Edit, Message, UserMessage};
use crate::types::{ClientId, RecipientId, StreamId, Topic, UserId, distinct};
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

/// The message files, in order: their names and paths. Reading stops at the first number that is missing.
pub fn files(archive: &Archive) -> ImportResult<Vec<(String, PathBuf)>> {
    let mut files = Vec::new();
    for number in 1.. {
        let name = format!("messages-{number:06}.json");
        let Some(path) = archive.find(&name)? else { break };
        files.push((name, path));
    }
    // A gap would lose all that follows.
    let (_, names) = archive.entries("")?;
    let is_of_messages = |name: &&String| {
        name.strip_prefix("messages-").is_some_and(|rest| rest.strip_suffix(".json").is_some())
    };
    if let Some(beyond) = names.iter().filter(is_of_messages).nth(files.len()) {
        let missing = format!("messages-{:06}.json", files.len() + 1);
        return Err(ImportError::in_file(beyond, format!("{missing} is missing before it")));
    }
    Ok(files)
}

/// Adds the hosts of links to files of the archive in its messages: only the old server has these files.
pub fn detect_hosts(
    target: &mut Target,
    files: &[(String, PathBuf)],
    addresses: &mut OldAddress,
    progress: &Progress,
) -> ImportResult<()> {
    target.wait()?;
    let is_known = |path_id: &str| target.read(|snapshot| Ok(by_path_id(snapshot, path_id)?.is_some()));
    let wanted = |table: &str| table == "zerver_message";
    for (name, path) in files {
        progress.expect(path.metadata()?.len());
        json::read_tables(path, name, progress, &wanted, &mut |_, text| {
            if !text.contains("/user_uploads/") {
                return Ok(());
            }
            addresses.detect_in(&json::parse::<Message>(text)?.content, is_known)
        })?;
    }
    Ok(())
}

/// Receivers and flags of one message.
#[derive(Default)]
struct OfMessage {
    received: Received,
    flags: Vec<(u32, i64)>,
    wildcards: (bool, bool),
}

/// Inserts all messages, and then the spans and read states.
pub fn insert(
    target: &mut Target,
    organization: &mut Organization,
    files: &[(String, PathBuf)],
    addresses: &mut OldAddress,
    progress: &Progress,
    report: &mut Report,
) -> ImportResult<()> {
    let clients = organization.clients.clone();
    let clients = target.run(move |tx| {
        let insert = |(id, name): (u32, String)| Ok((id, client_or_new(tx, &name)?));
        clients.into_iter().map(insert).collect::<ImportResult<HashMap<u32, ClientId>>>()
    })?;
    // The last ones first: they are taken from the end.
    let mut reactions = std::mem::take(&mut organization.reactions);
    let all = reactions.len();
    reactions.retain(|row| {
        let (_, code, kind) = &*row.reaction.emoji;
        kind != "realm_emoji" || organization.emoji_codes.contains(code)
    });
    report.leave_out(
        "reactions",
        (all - reactions.len()) as u64,
        "their emoji are not in the archive, or have no image",
    );
    reactions.reverse();
    reactions.sort_by_key(|row| std::cmp::Reverse(row.message));
    check_reactions(&reactions)?;
    let receipts =
        Receipts::new(std::mem::take(&mut organization.idle), std::mem::take(&mut organization.changes));
    let renderer = Renderer::of(organization, addresses);
    let mut importer = Importer {
        organization,
        addresses,
        clients,
        reactions,
        receipts,
        renderer,
        last: 0,
        next_attachment: 0,
        batch: Vec::with_capacity(BATCH),
        rewritten: 0,
        lost_reactions: 0,
        lost_attachments: 0,
        recipients: HashMap::new(),
    };
    for (name, path) in files {
        let mut of_messages: HashMap<u32, OfMessage> = HashMap::new();
        let tables = RefCell::new(HashSet::new());
        let wanted = |table: &str| {
            tables.borrow_mut().insert(table.to_owned());
            table == "zerver_usermessage"
        };
        json::read_tables(path, name, progress, &wanted, &mut |_, text| {
            importer.add_receiver(&json::parse(text)?, &mut of_messages)
        })?;
        let tables = tables.into_inner();
        let of_file = ["zerver_message", "zerver_usermessage"];
        if let Some(table) = of_file.into_iter().find(|table| !tables.contains(*table)) {
            return Err(ImportError::in_file(name, format!("the table {table} is missing")));
        }
        let wanted = |table: &str| table == "zerver_message";
        json::read_tables(path, name, progress, &wanted, &mut |_, text| {
            importer.add(target, json::parse(text)?, &mut of_messages, report)
        })?;
        importer.flush(target, report).map_err(|error| error.or_in(name))?;
        importer.add_late(target, name, of_messages)?;
    }
    target.wait()?;
    importer.finish(target, report)
}

/// Fails if a person has an emoji twice under a message. The rows of a message are together.
fn check_reactions(rows: &[ReactionOf]) -> ImportResult<()> {
    for of_message in rows.chunk_by(|one, other| one.message == other.message) {
        let mut known = HashSet::new();
        for row in of_message {
            let (_, code, kind) = &*row.reaction.emoji;
            if !known.insert((row.reaction.user, code, kind)) {
                let (user, message) = (row.reaction.user, row.message);
                let what =
                    format!("zerver_reaction: person {user} has an emoji under message {message} twice");
                return Err(ImportError::in_file(REALM, what));
            }
        }
    }
    Ok(())
}

struct Importer<'a> {
    organization: &'a mut Organization,
    addresses: &'a mut OldAddress,
    clients: HashMap<u32, ClientId>,
    reactions: Vec<ReactionOf>,
    receipts: Receipts,
    renderer: Renderer,
    /// The id of the message before.
    last: u32,
    next_attachment: usize,
    batch: Vec<NewMessage>,
    rewritten: u64,
    lost_reactions: u64,
    lost_attachments: u64,
    /// Conversations of messages that had receivers in later files.
    recipients: HashMap<(u32, u32), RecipientId>,
}

impl Importer<'_> {
    fn add_receiver(&self, row: &UserMessage, to: &mut HashMap<u32, OfMessage>) -> ImportResult<()> {
        let user = row.user_profile.0;
        if !self.renderer.callers.contains_key(&user) {
            return Err(ImportError::new(format!("there is no person {user}")));
        }
        let of = to.entry(row.message.0).or_default();
        if of.received.receivers.contains(user) || of.received.historical.contains(user) {
            return Err(ImportError::new(format!("person {user} has message {} twice", row.message)));
        }
        if row.flags_mask & 1024 == 0 {
            of.received.receivers.insert(user);
        } else {
            of.received.historical.insert(user);
        }
        if row.flags_mask & 1 == 0 {
            of.received.unread.insert(user);
        }
        of.wildcards.0 |= row.flags_mask & 16 != 0;
        of.wildcards.1 |= row.flags_mask & 32 != 0;
        let flags = flags_of_mask(row.flags_mask);
        if flags != 0 {
            of.flags.push((user, flags));
        }
        Ok(())
    }

    fn add(
        &mut self,
        target: &mut Target,
        row: Message,
        of_messages: &mut HashMap<u32, OfMessage>,
        report: &mut Report,
    ) -> ImportResult<()> {
        let id = row.id.0;
        if id <= self.last {
            let what =
                if id == self.last { "is there twice" } else { "comes after a message with a larger id" };
            return Err(ImportError::new(format!("message {id} {what}")));
        }
        self.last = id;
        let sender = row.sender.0;
        if !self.renderer.callers.contains_key(&sender) {
            return Err(ImportError::new(format!("there is no person {sender}, who sent message {id}")));
        }
        let client = self.clients.get(&row.sending_client.0).copied();
        let client =
            client.ok_or_else(|| ImportError::new(format!("there is no client {}", row.sending_client)))?;
        let (recipient, stream) = self.recipient(target, row.recipient.0, sender, id)?;
        let mut edits = edits(row.edit_history.as_deref(), &row.subject, stream.map(StreamId::from))?;
        for edit in &mut edits {
            let is_known =
                |user: &UserId| user.bit().is_some_and(|id| self.renderer.callers.contains_key(&id));
            edit.user_id = edit.user_id.filter(is_known);
        }
        let is_moved = edits.iter().any(|edit| edit.prev_stream.is_some());
        let of = of_messages.remove(&id);
        let is_known = of.is_some();
        let of = of.unwrap_or_default();
        let time = row.date_sent.0;
        self.receipts.add(id, time, (recipient, stream), is_moved, &of.received);
        let content = match self.addresses.rewrite(&row.content) {
            Some(rewritten) => {
                self.rewritten += 1;
                rewritten
            }
            None => row.content,
        };
        let last_of =
            |is: fn(&EditRecord) -> bool| edits.iter().rev().find(|edit| is(edit)).map(|edit| edit.timestamp);
        let last_edit = last_of(|edit| edit.prev_content.is_some());
        let last_moved = last_of(is_move);
        // Archives of other products, without HTML, do not know.
        let (has, had_files) = match row.rendered_content {
            Some(_) => ((row.has_link, row.has_image), row.has_attachment == Some(true)),
            None => ((None, None), false),
        };
        let message = NewMessage {
            id,
            sender,
            recipient,
            stream: stream.map(StreamId::from),
            topic: if stream.is_some() { row.subject } else { String::new() },
            content,
            html: row.rendered_content,
            timestamp: time,
            client,
            last_edit: last_edit
                // Resolving its topic is in the history, and changes no time of the message.
                .or_else(|| row.last_edit_time.filter(|_| edits.is_empty()).map(|time| time.0)),
            last_moved,
            edits,
            is_resolve_notice: row.r#type == 2,
            flags: of.flags,
            receivers: None,
            has,
            had_files,
            wildcards: is_known.then_some(of.wildcards),
            reactions: self.take_reactions(id),
            attachments: self.take_attachments(id),
            topics: Vec::new(),
        };
        self.batch.push(message);
        if self.batch.len() >= BATCH { self.flush(target, report) } else { Ok(()) }
    }

    /// The conversation of a message, and its channel.
    fn recipient(
        &mut self,
        target: &mut Target,
        recipient: u32,
        sender: u32,
        id: u32,
    ) -> ImportResult<(RecipientId, Option<u32>)> {
        let other = match self.organization.recipients.get(&recipient) {
            Some(Place::Channel(stream)) => return Ok((RecipientId::from(recipient), Some(*stream))),
            Some(Place::Group(_)) => {
                let known = self.organization.group_recipients.get(&recipient).copied();
                let known = known.ok_or_else(|| {
                    ImportError::new(format!("the direct message group of message {id} has no people"))
                })?;
                return Ok((known, None));
            }
            Some(Place::Person(user)) => *user,
            None => match self.organization.system_bot_recipients.get(&recipient) {
                Some(bot) => *bot,
                None => {
                    return Err(ImportError::new(format!(
                        "there is no recipient {recipient} of message {id}"
                    )));
                }
            },
        };
        if let Some(known) = self.recipients.get(&(recipient, sender)) {
            return Ok((*known, None));
        }
        let people = distinct(vec![other, UserId::from(sender)]);
        let conversation = match self.organization.conversations.get(&people) {
            Some(known) => *known,
            None => {
                let wanted = people.clone();
                let made = target.run(move |tx| rows::insert_conversation(tx, None, &wanted))?;
                self.organization.conversations.insert(people, made);
                made
            }
        };
        self.recipients.insert((recipient, sender), conversation);
        Ok((conversation, None))
    }

    fn take_reactions(&mut self, id: u32) -> Vec<Reaction> {
        let mut taken = Vec::new();
        while let Some(row) = self.reactions.pop_if(|row| row.message <= id) {
            if row.message == id {
                taken.push(row.reaction);
            } else {
                self.lost_reactions += 1;
            }
        }
        taken
    }

    fn take_attachments(&mut self, id: u32) -> Vec<u32> {
        let mut taken = Vec::new();
        while let Some((message, attachment)) =
            self.organization.attachments.get(self.next_attachment).filter(|(message, _)| *message <= id)
        {
            if *message == id {
                taken.push(*attachment);
            } else {
                self.lost_attachments += 1;
            }
            self.next_attachment += 1;
        }
        taken
    }

    /// Renders the batch, while the one before is written.
    fn flush(&mut self, target: &mut Target, report: &mut Report) -> ImportResult<()> {
        if self.batch.is_empty() {
            return Ok(());
        }
        let batch = std::mem::replace(&mut self.batch, Vec::with_capacity(BATCH));
        report.messages += batch.len() as u64;
        let rendered = render_all(&target.app, &self.renderer, batch, &mut report.rendered_differently)?;
        target.start(move |tx| insert_all(tx, &rendered))
    }

    /// Adds receivers whose message was in an earlier file.
    fn add_late(
        &mut self,
        target: &mut Target,
        file: &str,
        of_messages: HashMap<u32, OfMessage>,
    ) -> ImportResult<()> {
        if of_messages.is_empty() {
            return Ok(());
        }
        target.wait()?;
        for (id, of) in of_messages {
            let recipient =
                target.read(|snapshot| Ok(access::messages::recipient_of(snapshot, id.into())?))?;
            let Some(recipient) = recipient else {
                let what = format!("zerver_usermessage: there is no message {id} before it");
                return Err(ImportError::in_file(file, what));
            };
            self.receipts.add_late(id, recipient, &of.received);
            let flags = of.flags;
            target.run(move |tx| {
                for (user, flags) in flags {
                    add_flags(tx, user.into(), id.into(), flags)?;
                }
                Ok(())
            })?;
        }
        Ok(())
    }

    fn finish(mut self, target: &mut Target, report: &mut Report) -> ImportResult<()> {
        self.lost_reactions += self.reactions.len() as u64;
        self.lost_attachments += (self.organization.attachments.len() - self.next_attachment) as u64;
        report.leave_out("reactions", self.lost_reactions, "their messages are not in the archive");
        report.leave_out(
            "links of files to messages",
            self.lost_attachments,
            "their messages are not in the archive",
        );
        report.add("messages with links to the old address", self.rewritten as usize);
        self.receipts.finish(&self.organization.subscribed, self.last + 1).insert_all(target)
    }
}

/// True if an edit moved the message. Resolving its topic moves nothing.
fn is_move(edit: &EditRecord) -> bool {
    let plain = |topic: &Option<String>| {
        topic.as_deref().map(|topic| topic.trim_start_matches(Topic::RESOLVED_PREFIX).to_owned())
    };
    edit.prev_stream.is_some() || (edit.prev_topic.is_some() && plain(&edit.prev_topic) != plain(&edit.topic))
}

/// The edits of a message in this topic and channel, the oldest first. Releases before 5.0 stored only the previous place of
/// a move: its new place is the previous one of the next move, or the one of the message.
fn edits(history: Option<&str>, topic: &str, mut stream: Option<StreamId>) -> ImportResult<Vec<EditRecord>> {
    let Some(history) = history.filter(|history| !history.is_empty()) else { return Ok(Vec::new()) };
    let edits: Vec<Edit> =
        serde_json::from_str(history).map_err(|error| ImportError::new(format!("edit_history: {error}")))?;
    let mut topic = topic.to_owned();
    let mut records = Vec::with_capacity(edits.len());
    for edit in edits {
        let prev_stream = edit.prev_stream.map(|stream| StreamId::from(stream.0));
        let new_stream = edit.stream.map(|stream| StreamId::from(stream.0)).or(stream);
        let new_topic = edit.topic.unwrap_or_else(|| topic.clone());
        if let Some(previous) = &edit.prev_topic {
            topic.clone_from(previous);
        }
        stream = prev_stream.or(stream);
        records.push(EditRecord {
            user_id: edit.user_id.map(|user| user.0.into()),
            timestamp: edit.timestamp.0,
            prev_rendered_content: edit.prev_rendered_content,
            prev_content: edit.prev_content,
            topic: edit.prev_topic.is_some().then_some(new_topic),
            prev_topic: edit.prev_topic,
            prev_stream,
            stream: new_stream.filter(|_| prev_stream.is_some()),
        });
    }
    records.reverse();
    Ok(records)
}

//! A dump of Rocket.Chat's database (`mongodump`).
//!
//! Messages are read twice: first their times and threads, then themselves, by time.

mod attachments;
mod bson;
mod document;

use crate::domain::users::passwords;
use crate::moving::import::error::{ImportError, ImportResult};
use crate::moving::import::json;
use crate::moving::import::json::{first_text, text};
use crate::moving::import::lines::Importer;
use crate::moving::import::lines::model::{
    ChannelLine, EmojiLine, FileLine, Line, MessageLine, ReactionLine, UserLine,
};
use crate::moving::import::lines::names;
use crate::moving::import::lines::names::ChannelNames;
use crate::moving::import::links::OldAddress;
use crate::moving::import::progress::Progress;
use crate::moving::import::report;
use crate::moving::import::report::Report;
use crate::moving::import::target::Target;
use crate::moving::import::unpack::Archive;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use document::{date, only, texts};
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::Write;

/// The files by which an archive is known.
pub const MARKS: &[&str] = &["rocketchat_message.bson"];

/// The topic of messages outside of threads and discussions.
const TOPIC: &str = "Imported from Rocket.Chat";

/// The reason why the accounts of people who are not in the dump, such as deleted people, are incomplete.
const STRANGERS: &str = "these people are in messages, but not in the dump; they are deactivated";

/// The members of rooms that are used.
const ROOM: &[&str] = &[
    "_id",
    "t",
    "prid",
    "uids",
    "usernames",
    "fname",
    "name",
    "description",
    "topic",
    "teamId",
    "teamMain",
    "ro",
    "default",
    "archived",
    "ts",
];

enum Room {
    /// A channel, by its name, with a topic of its own for discussions.
    Channel(String, Option<String>),
    /// A direct conversation of these people.
    Direct(Vec<String>),
    /// A room that is left out.
    Dropped,
}

/// Imports a dump.
pub fn import(
    target: &mut Target,
    archive: &Archive,
    addresses: OldAddress,
    progress: &Progress,
    report: &mut Report,
) -> ImportResult<()> {
    let mut dump = Dump {
        importer: Importer::new(target, archive, addresses, report, "Rocket.Chat")?,
        archive,
        rooms: HashMap::new(),
        names: HashMap::new(),
        usernames: HashMap::new(),
        strangers: HashMap::new(),
        contents: HashMap::new(),
        uploads: HashMap::new(),
        threads: HashMap::new(),
    };
    dump.add_people()?;
    dump.add_rooms()?;
    dump.add_emoji()?;
    dump.find_uploads()?;
    dump.add_messages(progress)?;
    dump.importer.finish()
}

/// The content of a file in the dump.
#[derive(Default)]
struct Content {
    /// The offsets of its chunks, by number.
    chunks: BTreeMap<i64, u64>,
    /// Its path once it is extracted: any number of messages can have the same file.
    path: Option<String>,
}

struct Dump<'a> {
    importer: Importer<'a>,
    archive: &'a Archive,
    rooms: HashMap<String, Room>,
    /// The names in mentions by login name, and ids by login name.
    names: HashMap<String, String>,
    usernames: HashMap<String, String>,
    /// Login names of people who are not in the dump, by id.
    strangers: HashMap<String, String>,
    /// The contents of uploads.
    contents: HashMap<String, Content>,
    /// Names and media types of uploads.
    uploads: HashMap<String, (String, String)>,
    /// Topics of threads, by their first message.
    threads: HashMap<String, String>,
}

impl Dump<'_> {
    /// Reads a collection; a missing one is empty.
    fn read(
        archive: &Archive,
        collection: &str,
        on_document: impl FnMut(u64, Value) -> ImportResult<()>,
    ) -> ImportResult<()> {
        let name = format!("{collection}.bson");
        match archive.find(&name)? {
            Some(path) => bson::read_all(&path, &name, on_document),
            None => Ok(()),
        }
    }

    /// Adds the people. Their documents are read twice: the owner of all bots may come after them.
    fn add_people(&mut self) -> ImportResult<()> {
        let mut owner = None;
        Self::read(self.archive, "users", |_, person| {
            if owner.is_none() && is_owner(&person) && text(&person, "type") == "user" {
                owner = Some(text(&person, "_id").to_owned());
            }
            Ok(())
        })?;
        Self::read(self.archive, "users", |_, person| {
            let line = person_line(&person, owner.as_deref());
            let password = person.pointer("/services/password").and_then(Value::as_object);
            if password.is_some_and(|password| !password.is_empty()) && password_hash(&person).is_none() {
                self.importer.leave_out("passwords", 1, report::UNKNOWN_HASH);
            }
            let username = text(&person, "username");
            if !username.is_empty() {
                self.usernames.insert(username.to_owned(), line.id.clone());
            }
            self.importer.add(Line::User(line))
        })?;
        for (username, id) in &self.usernames {
            self.names.extend(self.importer.mention_of(id).map(|name| (username.clone(), name)));
        }
        Ok(())
    }

    fn add_rooms(&mut self) -> ImportResult<()> {
        let mut rooms = Vec::new();
        Self::read(self.archive, "rocketchat_room", |_, document| {
            rooms.push(only(document, ROOM));
            Ok(())
        })?;
        let mut members: HashMap<String, Vec<String>> = HashMap::new();
        Self::read(self.archive, "rocketchat_subscription", |_, document| {
            let user = document.pointer("/u/_id").and_then(Value::as_str).unwrap_or_default();
            members.entry(text(&document, "rid").to_owned()).or_default().push(user.to_owned());
            Ok(())
        })?;
        if members.is_empty() {
            Self::read(self.archive, "users", |_, document| {
                for room in texts(&document, "__rooms") {
                    members.entry(room).or_default().push(text(&document, "_id").to_owned());
                }
                Ok(())
            })?;
        }
        // Discussions refer to their room.
        let (rooms, discussions): (Vec<Value>, Vec<Value>) =
            rooms.into_iter().partition(|room| text(room, "prid").is_empty());
        let teams: HashMap<String, String> = rooms
            .iter()
            .filter(|room| room.get("teamMain") == Some(&Value::Bool(true)))
            .map(|room| (text(room, "teamId").to_owned(), text(room, "name").to_owned()))
            .collect();
        let mut taken = ChannelNames::default();
        for room in rooms {
            let id = text(&room, "_id").to_owned();
            let place = match text(&room, "t") {
                "c" | "p" => {
                    let mut subscribers = members.remove(&id).unwrap_or_default();
                    subscribers.retain(|user| self.importer.has_user(user));
                    let added = self.add_channel(&room, subscribers, &teams, &mut taken);
                    Room::Channel(
                        added.map_err(|error| ImportError::in_file("rocketchat_room.bson", error))?,
                        None,
                    )
                }
                "d" => {
                    let mut people = texts(&room, "uids");
                    if people.is_empty() {
                        people = members.remove(&id).unwrap_or_default();
                    }
                    people.retain(|id| !id.is_empty());
                    self.name_stranger(&people, &texts(&room, "usernames"));
                    Room::Direct(people)
                }
                _ => {
                    self.importer.leave_out("rooms", 1, "this server does not support live chats");
                    Room::Dropped
                }
            };
            self.rooms.insert(id, place);
        }
        for room in discussions {
            let name = first_text(&room, &["fname", "name"]);
            let place = match self.rooms.get(text(&room, "prid")) {
                Some(Room::Channel(channel, _)) => Room::Channel(channel.clone(), Some(topic(name))),
                Some(Room::Direct(people)) => Room::Direct(people.clone()),
                Some(Room::Dropped) | None => Room::Dropped,
            };
            self.rooms.insert(text(&room, "_id").to_owned(), place);
        }
        Ok(())
    }

    /// Keeps the login name of the only one of a direct conversation who is not in the dump.
    fn name_stranger(&mut self, people: &[String], usernames: &[String]) {
        let mut strangers = people.iter().filter(|id| !self.importer.has_user(id));
        let mut names = usernames.iter().filter(|name| !self.usernames.contains_key(*name));
        if let (Some(id), None, Some(name), None) =
            (strangers.next(), strangers.next(), names.next(), names.next())
        {
            self.strangers.insert(id.clone(), name.clone());
        }
    }

    /// Adds a deactivated account for someone who is not in the dump. The login name may be that of a conversation.
    fn add_stranger(&mut self, id: &str, names: [&str; 2]) -> ImportResult<()> {
        if self.importer.has_user(id) {
            return Ok(());
        }
        let of_conversation = self.strangers.get(id).map(String::as_str);
        let names = names.into_iter().chain(of_conversation).chain([id]);
        self.importer.add_stranger(id, names, STRANGERS)
    }

    fn add_channel(
        &mut self,
        room: &Value,
        subscribers: Vec<String>,
        teams: &HashMap<String, String>,
        taken: &mut ChannelNames,
    ) -> ImportResult<String> {
        let shown = first_text(room, &["fname", "name", "_id"]);
        let is_team = room.get("teamMain") == Some(&Value::Bool(true));
        let name = if is_team { format!("[TEAM] {shown}") } else { shown.to_owned() };
        let unique = taken.make(&name);
        let team = teams.get(text(room, "teamId")).filter(|_| !is_team);
        let of_team = team.map(|team| format!("[Team {team} channel]. ")).unwrap_or_default();
        let private = text(room, "t") == "p";
        self.importer.add(Line::Channel(ChannelLine {
            name: unique.clone(),
            description: format!("{of_team}{}", first_text(room, &["description", "topic"])),
            private,
            shared_history: !private,
            archived: room.get("archived") == Some(&Value::Bool(true)) || subscribers.is_empty(),
            default: room.get("default") == Some(&Value::Bool(true)),
            created: date(room, "ts"),
            creator: None,
            subscribers,
        }))?;
        if room.get("ro") == Some(&Value::Bool(true)) {
            self.importer.restrict_posting(&unique)?;
        }
        Ok(unique)
    }

    /// Extracts custom emoji, one for each alias.
    fn add_emoji(&mut self) -> ImportResult<()> {
        const FILES: &str = "custom_emoji";
        let mut emoji = Vec::new();
        Self::read(self.archive, "rocketchat_custom_emoji", |_, document| {
            emoji.push(only(document, &["name", "extension", "aliases"]));
            Ok(())
        })?;
        let mut contents = self.contents_of(&format!("{FILES}.chunks"))?;
        for row in emoji {
            let (name, ending) = (text(&row, "name"), text(&row, "extension"));
            let (id, collection) = (format!("{name}.{ending}"), format!("{FILES}.chunks"));
            let Some(path) = Self::extract(self.archive, &mut contents, &id, &collection)? else {
                self.importer.leave_out("emoji", 1, "their files are not in the dump");
                continue;
            };
            for alias in std::iter::once(name.to_owned()).chain(texts(&row, "aliases")) {
                self.importer.add(Line::Emoji(EmojiLine {
                    name: alias,
                    path: path.clone(),
                    author: None,
                }))?;
            }
        }
        Ok(())
    }

    fn contents_of(&self, collection: &str) -> ImportResult<HashMap<String, Content>> {
        let mut contents: HashMap<String, Content> = HashMap::new();
        Self::read(self.archive, collection, |offset, document| {
            let number = document.get("n").and_then(Value::as_i64).unwrap_or_default();
            let content = contents.entry(text(&document, "files_id").to_owned()).or_default();
            content.chunks.insert(number, offset);
            Ok(())
        })?;
        Ok(contents)
    }

    fn find_uploads(&mut self) -> ImportResult<()> {
        let uploads = &mut self.uploads;
        Self::read(self.archive, "rocketchat_uploads", |_, document| {
            let facts = (text(&document, "name").to_owned(), text(&document, "type").to_owned());
            uploads.insert(text(&document, "_id").to_owned(), facts);
            Ok(())
        })?;
        self.contents = self.contents_of("rocketchat_uploads.chunks")?;
        Ok(())
    }

    /// Writes the chunks of a file to a folder of the import, once. Returns its path as that of a file in the archive.
    fn extract(
        archive: &Archive,
        contents: &mut HashMap<String, Content>,
        id: &str,
        collection: &str,
    ) -> ImportResult<Option<String>> {
        let (Some(content), Some(source)) =
            (contents.get_mut(id), archive.find(&format!("{collection}.bson"))?)
        else {
            return Ok(None);
        };
        if content.path.is_none() {
            let mut source = File::open(source)?;
            let (path, mut file) = archive.new_scratch_file()?;
            for offset in content.chunks.values() {
                let document = bson::read_at(&mut source, *offset)?;
                let data = STANDARD.decode(text(&document, "data")).map_err(ImportError::new)?;
                file.write_all(&data)?;
            }
            content.path = Some(path);
        }
        Ok(content.path.clone())
    }

    fn add_messages(&mut self, progress: &Progress) -> ImportResult<()> {
        const FILE: &str = MARKS[0];
        let path = self.archive.file(FILE)?;
        progress.expect(2 * path.metadata()?.len());
        let (mut places, mut last) = (Vec::new(), 0);
        let (threads, importer) = (&mut self.threads, &mut self.importer);
        bson::read_all(&path, FILE, |offset, document| {
            progress.advance(offset - last);
            last = offset;
            if text(&document, "t") == "e2e" {
                importer.leave_out("messages", 1, "they are encrypted, and the dump does not have the keys");
                return Ok(());
            }
            if !text(&document, "t").is_empty() {
                importer.leave_out(
                    "notices",
                    1,
                    "joining, leaving and changes of rooms are not messages here",
                );
                return Ok(());
            }
            if document.get("_hidden") == Some(&Value::Bool(true)) {
                importer.leave_out("messages", 1, "they are earlier versions of messages that were edited");
                return Ok(());
            }
            let time = document.get("ts").and_then(Value::as_i64);
            let time = time.ok_or_else(|| ImportError::new("a message has no time"))?;
            let thread = match text(&document, "tmid") {
                "" => text(&document, "_id").to_owned(),
                thread => thread.to_owned(),
            };
            if !text(&document, "tmid").is_empty() && !threads.contains_key(&thread) {
                let number = threads.len() + 1;
                threads.insert(thread, format!("Thread {number} ({TOPIC})"));
            }
            places.push((time, offset));
            Ok(())
        })?;
        places.sort_unstable();
        let share = path.metadata()?.len() / (places.len() as u64).max(1);
        let mut file = json::open(&path, FILE)?;
        for (_, offset) in places {
            let document = bson::read_at(&mut file, offset)?;
            progress.advance(share);
            self.add_message(&document).map_err(|error| ImportError::in_file(FILE, error))?;
        }
        Ok(())
    }

    fn add_message(&mut self, document: &Value) -> ImportResult<()> {
        let sender = document.pointer("/u/_id").and_then(Value::as_str).unwrap_or_default();
        if sender.is_empty() {
            self.importer.leave_out("messages", 1, "they have no sender");
            return Ok(());
        }
        let of_message = document.get("u").unwrap_or(&Value::Null);
        self.add_stranger(sender, [text(of_message, "name"), text(of_message, "username")])?;
        let (channel, of_room, to) = match self.rooms.get(text(document, "rid")) {
            Some(Room::Channel(name, topic)) => (Some(name.clone()), topic.clone(), Vec::new()),
            Some(Room::Direct(people)) => (None, None, people.clone()),
            Some(Room::Dropped) | None => {
                self.importer.leave_out(
                    "messages",
                    1,
                    "their rooms are not supported, or are not in the dump",
                );
                return Ok(());
            }
        };
        let thread = first_text(document, &["tmid", "_id"]);
        let topic = self.threads.get(thread).cloned().or(of_room).unwrap_or_else(|| TOPIC.to_owned());
        let mut content = self.channel_links(document, &self.mentions(text(document, "msg")));
        for shown in attachments::texts(document) {
            if !content.contains(&shown) {
                if !content.is_empty() {
                    content.push('\n');
                }
                content.push_str(&shown);
            }
        }
        let mut files = Vec::new();
        for file in attachments::files(document) {
            let id = text(file, "_id");
            let path = Self::extract(self.archive, &mut self.contents, id, "rocketchat_uploads.chunks")?;
            let Some(path) = path else {
                self.importer.leave_out("files", 1, "their contents are not in the dump");
                continue;
            };
            let (name, kind) = self.uploads.get(id).cloned().unwrap_or_default();
            files.push(FileLine {
                path,
                name: Some(name).filter(|name| !name.is_empty()),
                content_type: Some(kind).filter(|kind| !kind.is_empty()),
            });
        }
        if content.is_empty() && files.is_empty() {
            self.importer.leave_out("messages", 1, "they are empty");
            return Ok(());
        }
        for person in &to {
            self.add_stranger(person, ["", ""])?;
        }
        let mut reactions = Vec::new();
        let of_document = document.get("reactions").and_then(Value::as_object);
        for (emoji, users) in of_document.into_iter().flatten() {
            let emoji = emoji.trim_matches(':');
            for name in texts(users, "usernames") {
                match self.usernames.get(&name) {
                    Some(user) => {
                        reactions.push(ReactionLine { user: user.clone(), emoji: emoji.to_owned() });
                    }
                    None => self.importer.leave_out("reactions", 1, "their users are not in the dump"),
                }
            }
        }
        let line = MessageLine {
            sender: sender.to_owned(),
            topic: if channel.is_some() { topic } else { String::new() },
            channel,
            to,
            content,
            date: date(document, "ts").unwrap_or_default(),
            edited: date(document, "editedAt"),
            reactions,
            files,
            ..MessageLine::default()
        };
        self.importer.add(Line::Message(line))
    }

    /// Replaces `@username` by mentions.
    fn mentions(&self, text: &str) -> String {
        names::mentions(text, |name| self.names.get(name).cloned())
    }

    /// Replaces `#room` by links to the rooms that the message lists.
    fn channel_links(&self, document: &Value, content: &str) -> String {
        let listed =
            document.get("channels").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        names::channel_links(content, |word| {
            let room = listed.iter().find(|room| text(room, "name") == word)?;
            match self.rooms.get(text(room, "_id"))? {
                Room::Channel(channel, None) => Some(format!("#**{channel}**")),
                Room::Channel(channel, Some(topic)) => Some(format!("#**{channel}>{topic}**")),
                Room::Direct(_) | Room::Dropped => None,
            }
        })
    }
}

fn is_owner(person: &Value) -> bool {
    texts(person, "roles").iter().any(|role| role == "admin")
}

/// A person or bot. `owner` is the owner of bots.
fn person_line(person: &Value, owner: Option<&str>) -> UserLine {
    let (username, kind, roles) = (text(person, "username"), text(person, "type"), texts(person, "roles"));
    let is_bot = kind == "bot" || roles.iter().any(|role| role == "bot");
    let role = if is_owner(person) && !is_bot {
        "owner"
    } else if roles.iter().any(|role| role == "guest") && !is_bot {
        "guest"
    } else {
        "member"
    };
    let email = person.pointer("/emails/0/address").and_then(Value::as_str).map(str::to_owned);
    UserLine {
        id: text(person, "_id").to_owned(),
        // People who did not finish their registration have none.
        email: email.or_else(|| {
            let username = Some(username.to_lowercase()).filter(|username| !username.is_empty());
            username.map(|username| format!("{username}-{kind}@imported.invalid"))
        }),
        full_name: names::person_or_unnamed(["name", "username", "_id"].map(|member| text(person, member))),
        role: Some(role.to_owned()),
        active: kind == "user" && !is_bot && person.get("active") != Some(&Value::Bool(false)),
        bot: is_bot,
        bot_owner: owner.filter(|_| is_bot).map(str::to_owned),
        joined: date(person, "createdAt"),
        password_hash: password_hash(person).filter(|_| !is_bot),
        ..UserLine::default()
    }
}

/// The hash of a person's password: of argon2, or of bcrypt from earlier releases.
fn password_hash(person: &Value) -> Option<String> {
    let password = person.pointer("/services/password")?;
    match (text(password, "argon2"), text(password, "bcrypt")) {
        ("", "") => None,
        ("", bcrypt) => Some(passwords::of_bcrypt_digest(bcrypt)),
        (argon2, _) => Some(passwords::of_argon2_digest(argon2)),
    }
}

/// The topic of a discussion.
fn topic(name: &str) -> String {
    let room = 60 - TOPIC.chars().count() - 3;
    format!("{} ({TOPIC})", names::topic(name, room))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_many_messages_are_extracted_once() {
        let folder = tempfile::tempdir().unwrap();
        let dump = folder.path().join("dump");
        std::fs::create_dir(&dump).unwrap();
        std::fs::write(dump.join("files.bson"), []).unwrap();
        let archive = Archive::open(&dump, &folder.path().join("archive"), MARKS, None).unwrap();
        let mut contents = HashMap::from([("f1".to_owned(), Content::default())]);
        let extract = |id: &str| Dump::extract(&archive, &mut contents, id, "files").unwrap();
        let path = Some("extracted:1".to_owned());
        assert_eq!(["f1", "f1", "f2"].map(extract), [path.clone(), path, None]);
    }
}

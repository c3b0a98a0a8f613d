//! Slack's export.
//!
//! Messages are in a folder for each channel and a file for each day. Days are read one after the other, each from all
//! folders, and sorted (`days`), because messages are numbered by time. Threads become topics.

mod api;
mod conversations;
mod days;
mod lists;
mod model;
mod people;
mod profiles;
mod rich_text;
mod text;

use crate::domain::emoji::short_names;
use crate::moving::import::blocks;
use crate::moving::import::error::{ImportError, ImportResult};
use crate::moving::import::json;
use crate::moving::import::lines::model::{
    Date, EmojiLine, FileLine, Line, MessageLine, OrganizationLine, ReactionLine,
};
use crate::moving::import::lines::names;
use crate::moving::import::lines::{Importer, MAX_ORGANIZATION_NAME};
use crate::moving::import::links::OldAddress;
use crate::moving::import::progress::Progress;
use crate::moving::import::report::Report;
use crate::moving::import::target::Target;
use crate::moving::import::unpack::Archive;
use crate::types::{charset, without_forbidden};
use api::Api;
use days::DayFile;
use model::{SlackAttachment, SlackFile, SlackMessage, SlackUser, moment, seconds};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};
use text::{FILES, Names, labelled_link, to_markdown, without_token};

/// The files by which an archive is known.
pub const MARKS: &[&str] = &["channels.json", "users.json", "org_users.json"];

/// The topic of messages outside of threads.
const TOPIC: &str = "imported from Slack";

/// The folders with files and with images of people that other tools downloaded, in folders with the id of the file or person.
const UPLOADS: &str = "__uploads";
const AVATARS: &str = "__avatars";

/// The folder of a conversation with such files, whose names begin with the id.
const ATTACHMENTS: &str = "attachments";

/// The beginning of the address of an emoji that is another name of an emoji, and the most such names in succession.
const ALIAS: &str = "alias:";
const MAX_ALIASES: usize = 10;

/// Slack's own bot, which its lists have as a person.
const SLACKBOT: &str = "USLACKBOT";

/// Messages that are about the channel, and not kept.
const DROPPED: [&str; 10] = [
    "channel_join",
    "channel_leave",
    "channel_name",
    "group_join",
    "group_leave",
    "group_name",
    "pinned_item",
    "unpinned_item",
    "tombstone",
    "bot_remove",
];

/// A conversation with its folders.
struct Conversation {
    /// The paths: one, or one in each workspace that shares it. None if the list has no usable name.
    folders: Vec<String>,
    /// The name of the channel, or the people of a direct conversation.
    target: Result<String, Vec<String>>,
}

/// Sources of data that an export lacks.
#[derive(Clone, Debug, Default)]
pub struct Extras {
    /// A file of lines with an id or login name and an address.
    pub emails: Option<PathBuf>,
    /// A file with a token, with which files, images and emoji are fetched.
    pub token_file: Option<PathBuf>,
    /// The address of the API, if it is not the usual one.
    pub api: Option<String>,
}

/// Imports an export.
pub fn import(
    target: &mut Target,
    archive: &Archive,
    extras: &Extras,
    addresses: OldAddress,
    progress: &Progress,
    report: &mut Report,
) -> ImportResult<()> {
    let emails = extras.emails.as_deref().map(read_emails).transpose()?.unwrap_or_default();
    let workspaces = lists::workspaces(archive)?;
    let mut users = lists::people(archive, &workspaces, progress)?;
    let address = extras.api.as_deref().unwrap_or(api::ADDRESS);
    let api = extras.token_file.as_deref().map(|file| Api::new(target, address, file)).transpose()?;
    if let Some(api) = &api {
        let mut known = api.people()?;
        if lists::is_of_organization(archive)? {
            // The token is of one workspace, whose owners do not own the others.
            for user in &mut known {
                user.take_rights_in_organization(false);
            }
        }
        add_addresses(&mut users, known);
    }
    let fields = profiles::fields(&users);
    let mut slack = Slack {
        importer: Importer::new(target, archive, addresses, report, "Slack")?,
        archive,
        api,
        names: Names::default(),
        aliases: HashMap::new(),
        threads: HashMap::new(),
        threads_of_day: HashMap::new(),
        programs: HashSet::new(),
        bot_addresses: HashSet::new(),
    };
    slack.add_team()?;
    slack.add_people(users, &emails)?;
    for field in fields {
        let account = |id: String| slack.aliases.get(&id).cloned().unwrap_or(id);
        let values: Vec<_> = field.values.into_iter().map(|(id, text)| (account(id), text)).collect();
        slack.importer.add_profile_field(&field.name, &values)?;
    }
    slack.add_emoji()?;
    let conversations = slack.add_channels(&workspaces, progress)?;
    slack.leave_out_others(&workspaces, &conversations)?;
    let mut paths: Vec<(String, usize)> = Vec::new();
    for (index, conversation) in conversations.iter().enumerate() {
        for folder in &conversation.folders {
            let (_, files) = archive.entries(folder)?;
            for file in files.into_iter().filter(|file| is_day(file)) {
                let path = format!("{folder}/{file}");
                // Each is read twice.
                progress.expect(2 * archive.file(&path)?.metadata()?.len());
                paths.push((path, index));
            }
        }
    }
    let mut files: Vec<DayFile> = Vec::new();
    for (path, index) in paths {
        files.extend(days::read(archive, path, index, progress)?);
    }
    for group in days::groups(files) {
        slack.add_messages(&group, &conversations, progress)?;
    }
    slack.importer.finish()
}

/// Completes the people of the export by those that the API knows.
fn add_addresses(users: &mut Vec<SlackUser>, known: Vec<SlackUser>) {
    let mut known: HashMap<String, SlackUser> =
        known.into_iter().map(|user| (user.id.clone(), user)).collect();
    for user in &mut *users {
        if let Some(known) = known.remove(&user.id) {
            user.profile.email = known.profile.email.or_else(|| user.profile.email.take());
        }
    }
    let mut others: Vec<SlackUser> = known.into_values().collect();
    others.sort_by(|one, other| one.id.cmp(&other.id));
    users.extend(others);
}

/// True for the name of a file with the messages of a day.
fn is_day(file: &str) -> bool {
    file.strip_suffix(".json").is_some_and(|day| day.starts_with(|c: char| c.is_ascii_digit()))
}

/// The emoji that a name means, also through other names.
fn target_of<'n>(all: &'n BTreeMap<String, String>, name: &'n str) -> &'n str {
    let next = |name: &&'n str| all.get(*name)?.strip_prefix(ALIAS);
    std::iter::successors(Some(name), next).take(1 + MAX_ALIASES).last().unwrap_or(name)
}

/// Reads addresses: lines such as `U123,ada@example.com`.
fn read_emails(path: &Path) -> ImportResult<HashMap<String, String>> {
    let name = path.display().to_string();
    let text = charset::read_file(path).map_err(|error| ImportError::in_file(&name, error))?;
    let mut emails = HashMap::new();
    for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
        let (who, email) =
            line.split_once([',', '\t', ';']).filter(|(_, email)| email.contains('@')).ok_or_else(|| {
                ImportError::at(&name, number, "a line is an id or login name, a comma, and an address")
            })?;
        emails.insert(who.trim().to_lowercase(), email.trim().to_owned());
    }
    Ok(emails)
}

struct Slack<'a> {
    importer: Importer<'a>,
    archive: &'a Archive,
    api: Option<Api>,
    names: Names,
    /// People who have the address of another are the same person.
    aliases: HashMap<String, String>,
    /// Topics of threads, by conversation and time.
    threads: HashMap<(usize, String), String>,
    threads_of_day: HashMap<String, u32>,
    /// Programs that wrote without an account.
    programs: HashSet<String>,
    /// Addresses made of the names of bots.
    bot_addresses: HashSet<String>,
}

impl Slack<'_> {
    /// Gives the organization the name and the icon of the workspace.
    fn add_team(&mut self) -> ImportResult<()> {
        let Some(api) = &self.api else { return Ok(()) };
        let team = match api.team() {
            Ok(team) => team,
            // The token may lack the scope, which is no reason to leave out all else.
            Err(error) => {
                self.importer.leave_out("name and icon of the workspace", 1, &error.to_string());
                return Ok(());
            }
        };
        let name = names::topic(&without_forbidden(&team.name), MAX_ORGANIZATION_NAME);
        if !name.is_empty() {
            let line = OrganizationLine { name: Some(name), description: None };
            self.importer.add(Line::Organization(line))?;
        }
        if let Some(url) = team.icon()
            && let Some(path) = self.fetch("icon of the workspace", url)?
        {
            self.importer.add_icon(&path)?;
        }
        Ok(())
    }

    /// Fetches something that the archive has only the address of. Counts it if it cannot be had.
    fn fetch(&mut self, what: &str, url: &str) -> ImportResult<Option<String>> {
        let fetched = match &self.api {
            Some(api) => api.fetch(self.archive, url)?,
            None => None,
        };
        let why = match (&fetched, &self.api) {
            (Some(_), _) => return Ok(fetched),
            (None, Some(_)) => "Slack did not provide them",
            (None, None) => "the archive has only links to them; --token-file fetches them",
        };
        self.importer.leave_out(what, 1, why);
        Ok(None)
    }

    /// Adds custom emoji, and their other names.
    fn add_emoji(&mut self) -> ImportResult<()> {
        let Some(api) = &self.api else { return Ok(()) };
        let all = api.emoji()?;
        let mut paths: HashMap<&str, String> = HashMap::new();
        for (name, url) in all.iter().filter(|(_, url)| !url.starts_with(ALIAS)) {
            if let Some(path) = self.fetch("emoji", url)? {
                paths.insert(name, path);
            }
        }
        for name in all.keys() {
            let target = target_of(&all, name);
            if let Some(path) = paths.get(target) {
                let line = EmojiLine { name: name.clone(), path: path.clone(), author: None };
                self.importer.add(Line::Emoji(line))?;
            } else if !all.contains_key(target) {
                // One that Slack has everywhere.
                self.names.emoji.insert(name.clone(), target.to_owned());
            }
        }
        Ok(())
    }

    /// Adds the messages of some files, by time.
    fn add_messages(
        &mut self,
        files: &[DayFile],
        conversations: &[Conversation],
        progress: &Progress,
    ) -> ImportResult<()> {
        let mut messages = Vec::new();
        for file in files {
            json::read_list(&self.archive.file(&file.path)?, &file.path, progress, &mut |_, text| {
                let message: SlackMessage = json::parse(text)?;
                messages.push((moment(&message.ts)?, message, file));
                Ok(())
            })?;
        }
        messages.sort_by_key(|(time, ..)| *time);
        let mut added = HashSet::new();
        for ((time, _), message, file) in messages {
            let place = &conversations[file.conversation];
            // Each of the workspaces that share a conversation may have the same message.
            if place.folders.len() > 1 && !added.insert((file.conversation, message.ts.clone())) {
                continue;
            }
            let result = self.add_message(time, message, file, place);
            result.map_err(|error| ImportError::in_file(&file.path, error))?;
        }
        Ok(())
    }

    fn add_message(
        &mut self,
        time: i64,
        message: SlackMessage,
        day: &DayFile,
        place: &Conversation,
    ) -> ImportResult<()> {
        let subtype = message.subtype.as_deref().unwrap_or_default();
        if DROPPED.contains(&subtype) {
            self.importer.leave_out(
                "notices",
                1,
                "joining, leaving, renaming and pinning are not messages here",
            );
            return Ok(());
        }
        let Some(sender) = self.sender(&message)? else {
            self.importer.leave_out("messages", 1, "they have no sender");
            return Ok(());
        };
        let mut content = self.content(&message);
        if matches!(subtype, "me_message" | "sh_room_created" | "bot_add") {
            content = format!("/me {content}");
        }
        let mut files = Vec::new();
        let folder = day.path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let shared = message.attachments.iter().filter(|block| !block.is_preview());
        let shared = shared.flat_map(|block| &block.files);
        for file in message.files.iter().chain(message.file.as_ref()).chain(shared) {
            self.add_file(folder, file, &mut content, &mut files)?;
        }
        if content.is_empty() && files.is_empty() {
            self.importer.leave_out("messages", 1, "they are empty");
            return Ok(());
        }
        let mut reactions = Vec::new();
        for reaction in &message.reactions {
            // Tones of skin are one emoji.
            let name = reaction.name.split("::").next().unwrap_or_default();
            for user in &reaction.users {
                let user = self.account(user, None)?;
                let emoji = emoji_name(self.names.emoji(name)).to_owned();
                reactions.push(ReactionLine { user, emoji });
            }
        }
        let (channel, topic, to) = match &place.target {
            Ok(name) => (Some(name.clone()), self.topic(day.conversation, &message), Vec::new()),
            Err(people) => (None, String::new(), people.clone()),
        };
        let edited = message.edited.as_ref().and_then(|edit| seconds(&edit.ts)).map(|(time, _)| Date(time));
        let line = MessageLine {
            sender,
            channel,
            topic,
            to,
            content,
            date: Date(time),
            edited,
            reactions,
            files,
            ..MessageLine::default()
        };
        self.importer.add(Line::Message(line))
    }

    /// The text of a message, and of what programs added to it. Previews of links are left out if there is a text.
    fn content(&self, message: &SlackMessage) -> String {
        let text = rich_text::to_markdown(&message.blocks, &self.names)
            .unwrap_or_else(|| to_markdown(message.text.as_deref().unwrap_or_default(), &self.names));
        let mut texts = vec![text];
        let is_empty = texts[0].is_empty();
        if is_empty {
            texts.push(rich_text::texts(&message.blocks, &self.names));
        }
        let shown = message.attachments.iter().filter(|block| is_empty || !block.is_preview());
        let blocks = shown.map(|block| self.block(block));
        let added: Vec<String> = blocks.filter(|block| !texts[0].contains(block.as_str())).collect();
        texts.extend(added);
        texts.retain(|text| !text.is_empty());
        texts.join("\n\n")
    }

    /// The text of a block of a program.
    fn block(&self, block: &SlackAttachment) -> String {
        let parts = [block.pretext.clone(), block.title(), block.text.clone()].into_iter().flatten();
        let image = block.image_url.as_deref().filter(|address| address.contains("://"));
        let image = image.map(|address| format!("<{}>", without_token(address)));
        let parts = parts.chain(blocks::fields(&block.fields, "*")).chain(image);
        let parts: Vec<String> = parts.filter(|part| !part.is_empty()).collect();
        if !parts.is_empty() {
            return to_markdown(&parts.join("\n"), &self.names);
        }
        match rich_text::texts(&block.blocks, &self.names) {
            text if text.is_empty() => {
                to_markdown(block.fallback.as_deref().unwrap_or_default(), &self.names)
            }
            text => text,
        }
    }

    /// The topic of a message in a channel: that of its thread.
    fn topic(&mut self, conversation: usize, message: &SlackMessage) -> String {
        let Some(thread) = message.thread_ts.as_deref() else { return TOPIC.to_owned() };
        let Some((time, _)) = seconds(thread) else { return TOPIC.to_owned() };
        let key = (conversation, thread.to_owned());
        if let Some(topic) = self.threads.get(&key) {
            return topic.clone();
        }
        let day = jiff::Timestamp::from_second(time).map(|time| time.to_string()).unwrap_or_default();
        let day = day.get(..10).unwrap_or_default().to_owned();
        let number = self.threads_of_day.entry(day.clone()).or_default();
        *number += 1;
        let topic = format!("{day} Slack thread {number}");
        self.threads.insert(key, topic.clone());
        topic
    }

    /// The path of a file that a program saved in the folder of an id.
    fn saved(&self, folder: &str, id: &str) -> ImportResult<Option<String>> {
        if !is_id(id) {
            return Ok(None);
        }
        let folder = format!("{folder}/{id}");
        Ok(self.archive.entries(&folder)?.1.first().map(|file| format!("{folder}/{file}")))
    }

    /// The path of a file of a message that a program saved in the archive.
    fn saved_file(&self, folder: &str, file: &SlackFile) -> ImportResult<Option<String>> {
        if let Some(path) = self.saved(UPLOADS, &file.id)? {
            return Ok(Some(path));
        }
        let name = file.name.as_deref().filter(|name| is_id(&file.id) && !name.contains('/'));
        let Some(name) = name else { return Ok(None) };
        let path = format!("{folder}/{ATTACHMENTS}/{}-{name}", file.id);
        Ok(self.archive.find(&path)?.map(|_| path))
    }

    /// Adds a file of the archive to a message of a folder, or else a link to it.
    fn add_file(
        &mut self,
        folder: &str,
        file: &SlackFile,
        content: &mut String,
        files: &mut Vec<FileLine>,
    ) -> ImportResult<()> {
        let is_gone = matches!(file.mode.as_deref(), Some("tombstone" | "hidden_by_limit"))
            || matches!(file.file_access.as_deref(), Some("access_denied" | "file_not_found"));
        let name = file.name.clone().or_else(|| file.title.clone()).unwrap_or_else(|| file.id.clone());
        let saved = if is_gone { None } else { self.saved_file(folder, file)? };
        if let Some(path) = saved {
            files.push(FileLine { path, name: Some(name), content_type: file.mimetype.clone() });
            return Ok(());
        }
        let Some(url) = file.url_private.as_deref().filter(|_| !is_gone) else {
            self.importer.leave_out("files", 1, "Slack has deleted them, or did not provide them");
            return Ok(());
        };
        let is_fetched = url.starts_with(FILES) || self.api.as_ref().is_some_and(|api| api.has(url));
        if is_fetched && let Some(path) = self.fetch("files", url)? {
            files.push(FileLine { path, name: Some(name), content_type: file.mimetype.clone() });
            return Ok(());
        }
        if !content.is_empty() {
            content.push('\n');
        }
        let shown = file.title.as_deref().unwrap_or(&name);
        content.push_str(&labelled_link(shown, without_token(url)));
        Ok(())
    }
}

/// True for an id, which can be the name of a folder.
fn is_id(id: &str) -> bool {
    !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// The name here of an emoji of Slack.
fn emoji_name(name: &str) -> &str {
    short_names::canonical(name).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_fractions() {
        assert_eq!(seconds("1434139102.000002"), Some((1_434_139_102, 2)));
        assert_eq!(seconds("1434139102"), Some((1_434_139_102, 0)));
        assert_eq!(seconds("x.y"), None);
        assert_eq!(["thumbsup", "tada", "dog"].map(emoji_name), ["+1", "tada", "puppy"]);
    }
}

//! Mattermost's bulk export: lines of JSON, attachments in `data/`, emoji in `exported_emoji/` or in `data/`.
//!
//! The file is read twice: first people, channels, and the places of posts; then each post and each reply from its place, by time.
//! Replies have the topic of their post.

use crate::moving::import::blocks;
use crate::moving::import::error::{ImportError, ImportResult};
use crate::moving::import::json;
use crate::moving::import::json::{Position, TIMES, nullable};
use crate::moving::import::lines::Importer;
use crate::moving::import::lines::model::{
    ChannelLine, Date, EmojiLine, FileLine, Line, MessageLine, OrganizationLine, ReactionLine, UserLine,
};
use crate::moving::import::lines::names;
use crate::moving::import::lines::names::ChannelNames;
use crate::moving::import::links::OldAddress;
use crate::moving::import::progress::Progress;
use crate::moving::import::report::Report;
use crate::moving::import::target::Target;
use crate::moving::import::unpack::Archive;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

/// The topic of posts without replies.
const TOPIC: &str = "imported from mattermost";

/// The reason why the accounts of people who are not in the export, such as deleted ones, are incomplete.
const STRANGERS: &str = "these people are in posts, but not in the export; they are deactivated";

/// The reason why files are left out. Exports go on if the store lacks a file.
const MISSING: &str = "the export names them, and does not have them";

#[derive(Deserialize)]
struct Team {
    name: String,
    #[serde(default, deserialize_with = "nullable")]
    display_name: String,
}

#[derive(Deserialize)]
struct Channel {
    team: String,
    name: String,
    #[serde(default, deserialize_with = "nullable")]
    display_name: String,
    #[serde(default, deserialize_with = "nullable")]
    r#type: String,
    #[serde(default, deserialize_with = "nullable")]
    header: String,
    #[serde(default, deserialize_with = "nullable")]
    purpose: String,
    deleted_at: Option<i64>,
}

#[derive(Deserialize)]
struct User {
    username: String,
    email: Option<String>,
    #[serde(default, deserialize_with = "nullable")]
    first_name: String,
    #[serde(default, deserialize_with = "nullable")]
    last_name: String,
    #[serde(default, deserialize_with = "nullable")]
    roles: String,
    delete_at: Option<i64>,
    profile_image: Option<String>,
    #[serde(default, deserialize_with = "nullable")]
    teams: Vec<Membership>,
}

impl User {
    fn is_active(&self) -> bool {
        self.delete_at.is_none_or(|time| time == 0)
    }

    fn is_system_admin(&self) -> bool {
        self.roles.contains("system_admin")
    }

    /// True for guests, also those who are in no team.
    fn is_guest(&self) -> bool {
        self.roles.contains("system_guest") || self.teams.iter().any(|team| team.roles.contains("team_guest"))
    }
}

#[derive(Deserialize)]
struct Bot {
    username: String,
    #[serde(default, deserialize_with = "nullable")]
    display_name: String,
    owner: Option<String>,
    delete_at: Option<i64>,
    profile_image: Option<String>,
}

#[derive(Deserialize)]
struct Membership {
    name: String,
    #[serde(default, deserialize_with = "nullable")]
    roles: String,
    #[serde(default, deserialize_with = "nullable")]
    channels: Vec<ChannelMembership>,
}

#[derive(Deserialize)]
struct ChannelMembership {
    name: String,
}

/// The conversation of a post, and its replies as they are written.
#[derive(Deserialize)]
struct Thread<'a> {
    #[serde(default, deserialize_with = "nullable")]
    team: String,
    #[serde(default, deserialize_with = "nullable")]
    channel: String,
    #[serde(default, deserialize_with = "nullable")]
    channel_members: Vec<String>,
    #[serde(default, borrow, deserialize_with = "nullable")]
    replies: Vec<&'a RawValue>,
}

/// A post or a reply.
#[derive(Deserialize)]
struct Post {
    user: String,
    /// Empty for messages of people.
    #[serde(rename = "type", default, deserialize_with = "nullable")]
    kind: String,
    #[serde(default, deserialize_with = "nullable")]
    message: String,
    create_at: i64,
    edit_at: Option<i64>,
    #[serde(default, deserialize_with = "nullable")]
    reactions: Vec<Reaction>,
    #[serde(default, deserialize_with = "nullable")]
    attachments: Vec<Attachment>,
    /// The people who saved it.
    #[serde(default, deserialize_with = "nullable")]
    flagged_by: Vec<String>,
    /// Properties, among them the blocks of integrations.
    #[serde(default)]
    props: Value,
}

#[derive(Deserialize)]
struct Reaction {
    user: String,
    emoji_name: String,
}

#[derive(Deserialize)]
struct Attachment {
    path: String,
}

#[derive(Deserialize)]
struct Emoji {
    name: String,
    image: String,
}

/// Seconds of a time in milliseconds.
fn seconds(milliseconds: i64) -> Date {
    Date(milliseconds.div_euclid(1000).clamp(*TIMES.start(), *TIMES.end()))
}

/// A post or reply that is read again when its turn has come.
struct Place {
    time: i64,
    position: Position,
    /// The length in bytes.
    length: u32,
    /// The numbers of its conversation and of its topic.
    conversation: u32,
    topic: u32,
}

/// A channel, by team and name, or the people of a direct conversation.
type Conversation = (String, String, Vec<String>);

/// Imports an export.
pub fn import(
    target: &mut Target,
    archive: &Archive,
    addresses: OldAddress,
    progress: &Progress,
    report: &mut Report,
) -> ImportResult<()> {
    let names = match archive.given_file() {
        Some(name) => vec![name.to_owned()],
        None => archive.entries("")?.1,
    };
    let lines: Vec<&String> = names.iter().filter(|name| is_lines(name)).collect();
    let [name] = lines.as_slice() else {
        return Err(ImportError::new(
            "an export has one file of lines: export.json, or a name that ends with .jsonl",
        ));
    };
    let path = archive.file(name)?;
    progress.expect(2 * path.metadata()?.len());
    let mut export = Export {
        importer: Importer::new(target, archive, addresses, report, "Mattermost")?,
        archive,
        name,
        path: &path,
        teams: Vec::new(),
        people: HashMap::new(),
        channels: HashMap::new(),
        posts: Vec::new(),
        conversations: HashMap::new(),
        topics: vec![TOPIC.to_owned()],
    };
    export.read(progress)?;
    export.read_posts(progress)?;
    export.importer.finish()
}

fn is_lines(name: &str) -> bool {
    let ending = Path::new(name).extension().and_then(|ending| ending.to_str());
    matches!(ending, Some("json" | "jsonl"))
}

struct Export<'a> {
    importer: Importer<'a>,
    archive: &'a Archive,
    name: &'a str,
    path: &'a PathBuf,
    teams: Vec<Team>,
    /// The names in mentions, by login name.
    people: HashMap<String, String>,
    /// Names here, by team and name.
    channels: HashMap<(String, String), String>,
    posts: Vec<Place>,
    conversations: HashMap<Conversation, u32>,
    /// The topics of posts with replies, after that of all others.
    topics: Vec<String>,
}

impl Export<'_> {
    /// Reads the file once: adds everything but posts, and finds the places of these.
    fn read(&mut self, progress: &Progress) -> ImportResult<()> {
        let (mut channels, mut users, mut bots, mut emoji) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let mut others: BTreeMap<String, u64> = BTreeMap::new();
        json::read_lines(self.path, self.name, progress, |position, text| {
            let mut read = || {
                let members: HashMap<String, &RawValue> = json::parse(text)?;
                let member = |name: &str| match members.get(name) {
                    Some(value) => Ok(value.get()),
                    None => Err(ImportError::new(format!("it has no {name}"))),
                };
                let kind: String = json::parse(member("type")?)?;
                match kind.as_str() {
                    "team" => self.teams.push(json::parse(member("team")?)?),
                    "channel" => channels.push((position.line, json::parse::<Channel>(member("channel")?)?)),
                    "user" => users.push((position.line, json::parse::<User>(member("user")?)?)),
                    "bot" => bots.push((position.line, json::parse::<Bot>(member("bot")?)?)),
                    "emoji" => emoji.push((position.line, json::parse::<Emoji>(member("emoji")?)?)),
                    "post" | "direct_post" => self.add_places(position, text, member(&kind)?)?,
                    // The people of a conversation are in its posts, too.
                    "version" | "direct_channel" => {}
                    _ => *others.entry(kind).or_default() += 1,
                }
                Ok(())
            };
            read().map_err(|error: ImportError| ImportError::at(self.name, position.line, error))
        })?;
        if let [team] = self.teams.as_slice() {
            let name = Some(names::topic(shown_name(&team.display_name, &team.name), 40))
                .filter(|name| !name.is_empty());
            let line = OrganizationLine { name, description: None };
            self.importer.add(Line::Organization(line))?;
        }
        for (kind, count) in others {
            self.importer.leave_out(
                &format!("lines of the type {kind}"),
                count,
                "this server does not support them",
            );
        }
        let has_owner = users.iter().any(|(_, user)| user.is_system_admin() && user.is_active());
        let mut members: HashMap<(String, String), Vec<String>> = HashMap::new();
        for (line, user) in users {
            for team in &user.teams {
                for channel in &team.channels {
                    members
                        .entry((team.name.clone(), channel.name.clone()))
                        .or_default()
                        .push(user.username.clone());
                }
            }
            self.add_user(user, has_owner).map_err(|error| ImportError::at(self.name, line, error))?;
        }
        for (line, bot) in bots {
            self.add_bot(bot).map_err(|error| ImportError::at(self.name, line, error))?;
        }
        for (username, name) in &mut self.people {
            if let Some(mention) = self.importer.mention_of(username) {
                *name = mention;
            }
        }
        self.add_channels(channels, members)?;
        self.add_emoji(emoji)
    }

    /// Adds channels from their lines. `members` are the subscribers of each, by team and name.
    fn add_channels(
        &mut self,
        channels: Vec<(usize, Channel)>,
        mut members: HashMap<(String, String), Vec<String>>,
    ) -> ImportResult<()> {
        let mut taken = ChannelNames::default();
        for (line, channel) in channels {
            let key = (channel.team.clone(), channel.name.clone());
            let subscribers = members.remove(&key).unwrap_or_default();
            let name = self.name_of(&channel, &mut taken);
            self.channels.insert(key, name.clone());
            let added = self.importer.add(Line::Channel(ChannelLine {
                name,
                description: if channel.purpose.is_empty() { channel.header } else { channel.purpose },
                private: channel.r#type == "P",
                shared_history: channel.r#type != "P",
                archived: channel.deleted_at.is_some_and(|time| time > 0),
                default: channel.name == "town-square",
                subscribers,
                ..ChannelLine::default()
            }));
            added.map_err(|error| ImportError::at(self.name, line, error))?;
        }
        Ok(())
    }

    /// Adds custom emoji from their lines.
    fn add_emoji(&mut self, emoji: Vec<(usize, Emoji)>) -> ImportResult<()> {
        for (line, row) in emoji {
            let name = row.name.to_lowercase();
            let path = self.path_of_image(&row.image);
            let added = path.and_then(|path| match path {
                Some(path) => self.importer.add(Line::Emoji(EmojiLine { name, path, author: None })),
                None => {
                    self.importer.leave_out("emoji", 1, MISSING);
                    Ok(())
                }
            });
            added.map_err(|error| ImportError::at(self.name, line, error))?;
        }
        Ok(())
    }

    /// The path of the image of an emoji or person, if the export has it. Newer exports keep it with the attachments.
    fn path_of_image(&self, image: &str) -> ImportResult<Option<String>> {
        let image = image.trim_start_matches('/');
        for path in [format!("data/{image}"), image.to_owned()] {
            if self.archive.find(&path)?.is_some() {
                return Ok(Some(path));
            }
        }
        Ok(None)
    }

    /// The path of the image of a person or bot. Exports have them if they are asked to.
    fn avatar(&mut self, image: Option<String>) -> ImportResult<Option<String>> {
        let Some(image) = image.filter(|image| !image.is_empty()) else { return Ok(None) };
        let path = self.path_of_image(&image)?;
        if path.is_none() {
            self.importer.leave_out("avatars", 1, MISSING);
        }
        Ok(path)
    }

    /// The name of a channel here: unique, with that of the team if there are several.
    fn name_of(&self, channel: &Channel, taken: &mut ChannelNames) -> String {
        let shown = shown_name(&channel.display_name, &channel.name);
        let team = self.teams.iter().find(|team| team.name == channel.team).filter(|_| self.teams.len() > 1);
        match team {
            Some(team) => taken.make(&format!("{}: {shown}", shown_name(&team.display_name, &team.name))),
            None => taken.make(shown),
        }
    }

    /// Adds a user. Without an active system administrator, those of teams own the organization.
    fn add_user(&mut self, user: User, has_owner: bool) -> ImportResult<()> {
        let roles: Vec<&str> = user.teams.iter().flat_map(|team| team.roles.split(' ')).collect();
        let is_team_admin = roles.contains(&"team_admin");
        let role = if user.is_system_admin() || (is_team_admin && !has_owner) {
            "owner"
        } else if is_team_admin {
            "administrator"
        } else if user.is_guest() {
            "guest"
        } else {
            "member"
        };
        let name = format!("{} {}", user.first_name, user.last_name);
        let name = names::person_or_unnamed([&*name, &*user.username]);
        self.people.insert(user.username.clone(), name.clone());
        let active = user.is_active();
        let avatar = self.avatar(user.profile_image)?;
        self.importer.add(Line::User(UserLine {
            id: user.username,
            email: user.email,
            full_name: name,
            role: Some(role.to_owned()),
            active,
            avatar,
            ..UserLine::default()
        }))
    }

    /// Adds a bot, unless there is a user of its name.
    fn add_bot(&mut self, bot: Bot) -> ImportResult<()> {
        if self.importer.has_user(&bot.username) {
            return Ok(());
        }
        let name = names::person_or_unnamed([&*bot.display_name, &*bot.username]);
        self.people.insert(bot.username.clone(), name.clone());
        let owner = bot.owner.filter(|owner| self.importer.has_user(owner));
        let avatar = self.avatar(bot.profile_image)?;
        self.importer.add(Line::User(UserLine {
            email: Some(format!("{}-bot@imported.invalid", bot.username.to_lowercase())),
            id: bot.username,
            full_name: name,
            active: bot.delete_at.is_none_or(|time| time == 0),
            bot: true,
            bot_owner: owner,
            avatar,
            ..UserLine::default()
        }))
    }

    /// Keeps the places of a post and its replies. `text` is a part of `line`.
    fn add_places(&mut self, position: Position, line: &str, text: &str) -> ImportResult<()> {
        let thread: Thread<'_> = json::parse(text)?;
        let has_topic = !thread.channel.is_empty() && !thread.replies.is_empty();
        let next = self.conversations.len() as u32;
        let conversation = (thread.team, thread.channel, thread.channel_members);
        let conversation = *self.conversations.entry(conversation).or_insert(next);
        let topic = if has_topic { self.topics.len() as u32 } else { 0 };
        let mut add = |text: &str| {
            let post: Post = json::parse(text)?;
            let offset = position.offset + (text.as_ptr().addr() - line.as_ptr().addr()) as u64;
            let (time, position) = (post.create_at, Position { offset, ..position });
            self.posts.push(Place { time, position, length: text.len() as u32, conversation, topic });
            Ok::<_, ImportError>(post)
        };
        let first = add(text)?;
        thread.replies.iter().try_for_each(|reply| add(reply.get()).map(drop))?;
        if has_topic {
            self.topics.push(topic_of(&first.message));
        }
        Ok(())
    }

    /// Reads the posts again, by time, and adds them.
    fn read_posts(&mut self, progress: &Progress) -> ImportResult<()> {
        let mut posts = std::mem::take(&mut self.posts);
        posts.sort_unstable_by_key(|place| (place.time, place.position.offset));
        let conversations: HashMap<u32, (Option<String>, Vec<String>)> =
            std::mem::take(&mut self.conversations)
                .into_iter()
                .map(|((team, name, people), index)| {
                    let known = self.channels.get(&(team, name.clone())).cloned();
                    (index, (known.or(Some(name).filter(|name| !name.is_empty())), people))
                })
                .collect();
        let mut file = json::open(self.path, self.name)?;
        for Place { position, length, conversation, topic, .. } in posts {
            let text = json::read_at(&mut file, position.offset, length as usize)?;
            progress.advance(length.into());
            let post: Post = json::parse(&text)?;
            if post.kind.starts_with("system_") {
                let why = "joining, leaving and changes of channels are not messages here";
                self.importer.leave_out("notices", 1, why);
                continue;
            }
            let (channel, to) = conversations.get(&conversation).cloned().unwrap_or_default();
            let topic = self.topics.get(topic as usize).filter(|_| channel.is_some());
            let message =
                MessageLine { topic: topic.cloned().unwrap_or_default(), channel, to, ..self.message(post) };
            let added = self.add_message(message);
            added.map_err(|error| ImportError::at(self.name, position.line, error))?;
        }
        Ok(())
    }

    /// Adds a message, after the people of it who are not in the export. Files that the export lacks are left out.
    fn add_message(&mut self, mut message: MessageLine) -> ImportResult<()> {
        for file in std::mem::take(&mut message.files) {
            if self.archive.find(&file.path)?.is_some() {
                message.files.push(file);
            } else {
                self.importer.leave_out("files", 1, MISSING);
            }
        }
        if message.content.is_empty() && message.files.is_empty() {
            self.importer.leave_out("messages", 1, "they are empty");
            return Ok(());
        }
        let reacting = message.reactions.iter().map(|reaction| &reaction.user);
        for username in message.to.iter().chain([&message.sender]).chain(reacting) {
            if !self.importer.has_user(username) {
                self.importer.add_stranger(username, [username.as_str()], STRANGERS)?;
            }
        }
        self.importer.add(Line::Message(message))
    }

    /// A post or reply as a message without a place.
    fn message(&self, post: Post) -> MessageLine {
        let reaction = |reaction: Reaction| ReactionLine { user: reaction.user, emoji: reaction.emoji_name };
        let file = |file: Attachment| FileLine {
            path: format!("data/{}", file.path.trim_start_matches("data/").trim_start_matches('/')),
            name: None,
            content_type: None,
        };
        let text = match post.message.trim() {
            // Its text is written in italics.
            text if post.kind == "me" && !text.is_empty() => format!("/me {}", text.trim_matches('*')),
            _ => with_blocks(post.message, &post.props),
        };
        MessageLine {
            sender: post.user,
            content: self.mentions(&text),
            date: seconds(post.create_at),
            edited: post.edit_at.filter(|time| *time > 0).map(seconds),
            reactions: post.reactions.into_iter().map(reaction).collect(),
            files: post.attachments.into_iter().map(file).collect(),
            starred_by: post.flagged_by.into_iter().filter(|name| self.importer.has_user(name)).collect(),
            ..MessageLine::default()
        }
    }

    /// Replaces `@username` by mentions.
    fn mentions(&self, text: &str) -> String {
        names::mentions(text, |name| self.people.get(name).cloned())
    }
}

/// The name of a team or channel that people see.
fn shown_name<'a>(display_name: &'a str, name: &'a str) -> &'a str {
    if display_name.is_empty() { name } else { display_name }
}

/// The text of a post, and those of the blocks of an integration that it does not contain.
fn with_blocks(text: String, props: &Value) -> String {
    let block = |block: &Value| match blocks::to_markdown(block, json::text(block, "text")) {
        shown if shown.is_empty() => json::text(block, "fallback").to_owned(),
        shown => shown,
    };
    let all = props.get("attachments").and_then(Value::as_array).into_iter().flatten();
    let mut texts: Vec<String> = all.map(block).filter(|block| !text.contains(block.as_str())).collect();
    if !text.trim().is_empty() {
        texts.insert(0, text);
    }
    texts.join("\n\n")
}

/// A topic from the beginning of a post.
fn topic_of(message: &str) -> String {
    let line = message.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let plain = names::topic(line, usize::MAX);
    let short = names::topic(line, 57);
    match short.as_str() {
        "" => TOPIC.to_owned(),
        _ if short.len() < plain.len() => format!("{}...", short.trim_end()),
        _ => short,
    }
}

//! Archives of lines, and what other formats are converted to.
//!
//! People and channels come before the messages that name them, and messages in the order in which they are numbered.

mod file;
pub mod model;
pub mod names;
mod profiles;

pub use self::file::{MARKS, import};

use crate::auth::Caller;
use crate::domain::bots::NewBotRow;
use crate::domain::emoji::{resolve, short_names};
use crate::domain::files::names::new_path_id;
use crate::domain::groups::channel_settings;
use crate::domain::groups::permission::StreamSetting;
use crate::domain::groups::setting::Owner;
use crate::domain::groups::system::SystemGroup;
use crate::domain::images::realm::RealmImage;
use crate::domain::limits::MAX_STREAM_DESCRIPTION_LENGTH;
use crate::domain::messages::client_or_new;
use crate::domain::messages::flags::bit;
use crate::domain::rows::channel::TopicsPolicy;
use crate::domain::users::passwords;
use crate::domain::{bots, channels, groups, realm, subscriptions, users};
use crate::error::ok_unless_refused;
use crate::moving::import::descriptions;
use crate::moving::import::descriptions::{Described, Description};
use crate::moving::import::error::{ImportError, ImportResult};
use crate::moving::import::files::{
    NewEmoji, NewFile, Uploads, insert_avatar, insert_emoji, insert_realm_image,
};
use crate::moving::import::links::OldAddress;
use crate::moving::import::message::{BATCH, Emoji, NewMessage, Reaction, Renderer, insert_all, render_all};
use crate::moving::import::receipts::{Receipts, Received};
use crate::moving::import::report;
use crate::moving::import::report::Report;
use crate::moving::import::rows;
use crate::moving::import::rows::{Channel, NewPerson};
use crate::moving::import::target::Target;
use crate::moving::import::topics::NewestMessages;
use crate::moving::import::unpack::Archive;
use crate::types::{
    BotType, ClientId, RecipientId, Role, StreamId, UserId, distinct, fold, is_unprintable, without_forbidden,
};
use model::{ChannelLine, EmojiLine, FileLine, Line, MessageLine, OrganizationLine, ReactionLine, UserLine};
use roaring::RoaringBitmap;
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// The longest name of an organization, in characters.
pub const MAX_ORGANIZATION_NAME: usize = 40;

/// A channel that was inserted.
struct KnownChannel {
    stream_id: u32,
    recipient: RecipientId,
    is_private: bool,
    subscribers: RoaringBitmap,
}

/// Writes lines to the database.
pub struct Importer<'a> {
    target: &'a mut Target,
    archive: &'a Archive,
    addresses: OldAddress,
    report: &'a mut Report,
    client: ClientId,
    /// People, until a channel or message names them.
    people: Vec<(NewPerson, Option<String>)>,
    avatars: Vec<(u32, String)>,
    emails: HashSet<String>,
    users: HashMap<String, u32>,
    /// Display names, and the number of people who have each.
    full_names: HashMap<u32, String>,
    namesakes: HashMap<String, u32>,
    /// Deactivated people, who receive nothing any more.
    inactive: RoaringBitmap,
    renderer: Renderer,
    reader: Option<Caller>,
    descriptions: Vec<Description>,
    channels: HashMap<String, KnownChannel>,
    conversations: HashMap<Vec<UserId>, RecipientId>,
    emoji: HashMap<String, Option<Arc<Emoji>>>,
    emoji_names: HashSet<String>,
    receipts: Receipts,
    newest: NewestMessages,
    uploads: Uploads,
    next_user: u32,
    next_file: u32,
    last_message: u32,
    batch: Vec<NewMessage>,
}

impl<'a> Importer<'a> {
    /// Starts with an empty organization. `client` is the program that messages are said to come from.
    pub fn new(
        target: &'a mut Target,
        archive: &'a Archive,
        addresses: OldAddress,
        report: &'a mut Report,
        client: &'static str,
    ) -> ImportResult<Self> {
        let renderer = Renderer { origin: addresses.origin().to_owned(), ..Renderer::default() };
        let (client, next_user) = target.run(move |tx| {
            let bots = users::system_bots(tx)?;
            let next = bots.iter().filter_map(|bot| bot.user_id.bit()).max().unwrap_or_default() + 1;
            Ok((client_or_new(tx, client)?, next))
        })?;
        Ok(Self {
            target,
            archive,
            addresses,
            report,
            client,
            people: Vec::new(),
            avatars: Vec::new(),
            emails: HashSet::new(),
            users: HashMap::new(),
            full_names: HashMap::new(),
            namesakes: HashMap::new(),
            inactive: RoaringBitmap::new(),
            renderer,
            reader: None,
            descriptions: Vec::new(),
            channels: HashMap::new(),
            conversations: HashMap::new(),
            emoji: HashMap::new(),
            emoji_names: HashSet::new(),
            receipts: Receipts::default(),
            newest: NewestMessages::default(),
            uploads: Uploads::default(),
            next_user,
            next_file: 1,
            last_message: 0,
            batch: Vec::with_capacity(BATCH),
        })
    }

    pub fn add(&mut self, line: Line) -> ImportResult<()> {
        match line {
            Line::Organization(line) => self.add_organization(line),
            Line::User(line) => self.add_user(line),
            Line::Channel(line) => self.add_channel(line),
            Line::Emoji(line) => self.add_emoji(line),
            Line::Message(line) => self.add_message(line),
        }
    }

    /// Counts data that was left out.
    pub fn leave_out(&mut self, what: &str, count: u64, why: &str) {
        self.report.leave_out(what, count, why);
    }

    fn add_organization(&mut self, line: OrganizationLine) -> ImportResult<()> {
        let name = line.name.as_deref().map(without_forbidden);
        let length = name.as_deref().map(|name| name.chars().count());
        if length.is_some_and(|length| !(1..=MAX_ORGANIZATION_NAME).contains(&length)) {
            let what = format!("the name of the organization has 1 to {MAX_ORGANIZATION_NAME} characters");
            return Err(ImportError::new(what));
        }
        let text = line.description.clone().filter(|text| !text.is_empty());
        self.descriptions.extend(text.map(|text| Description {
            of: Described::Organization,
            text,
            html: None,
        }));
        self.target.run(move |tx| {
            for (name, text) in [("name", name), ("description", line.description)] {
                if let Some(text) = text {
                    realm::settings::set(tx, name, &text.into())?;
                }
            }
            Ok(())
        })
    }

    /// Gives the organization an icon, the file at a path of the archive.
    pub fn add_icon(&mut self, path: &str) -> ImportResult<()> {
        let file = self.archive.file(path)?;
        let is_stored = insert_realm_image(self.target, RealmImage::Icon, &file)?;
        self.report.add_image("images of the organization", is_stored);
        Ok(())
    }

    fn add_user(&mut self, line: UserLine) -> ImportResult<()> {
        let user_id = self.next_user;
        if self.users.insert(line.id.clone(), user_id).is_some() {
            return Err(ImportError::new(format!("the user {} is there twice", line.id)));
        }
        let email = line.email.map(|email| email.trim().to_owned());
        let email = match email.filter(|email| users::names::is_email(email)) {
            Some(email) => email,
            None => {
                self.report.leave_out("email addresses", 1, report::PLACEHOLDER_ADDRESS);
                format!("user{user_id}@imported.invalid")
            }
        };
        if !self.emails.insert(email.to_lowercase()) {
            return Err(ImportError::new(format!("the email {email} is there twice")));
        }
        let role: Role = match &line.role {
            Some(role) => role.parse().map_err(|_| ImportError::new(format!("{role} is no role")))?,
            None => Role::Member,
        };
        let password_hash = match line.password_hash {
            Some(hash) if passwords::is_verifiable(&hash) => Some(hash),
            Some(_) => {
                self.report.leave_out("passwords", 1, report::UNKNOWN_HASH);
                None
            }
            None => None,
        };
        let full_name = match line.full_name.trim() {
            "" => Cow::default(),
            name => rows::allowed_full_name(name, user_id.into()),
        };
        let full_name = users::names::check_full_name(&full_name)?;
        *self.namesakes.entry(fold(&full_name)).or_default() += 1;
        self.full_names.insert(user_id, full_name.clone());
        self.next_user += 1;
        self.avatars.extend(line.avatar.map(|path| (user_id, path)));
        let person = NewPerson {
            user_id,
            email: email.clone(),
            delivery_email: email,
            full_name,
            role,
            is_active: line.active,
            bot_type: line.bot.then_some(BotType::Generic),
            bot_owner: None,
            timezone: line.timezone,
            date_joined: line.joined.map_or_else(|| self.target.now(), |date| date.0),
            avatar_version: 1,
            password_hash,
            settings: Vec::new(),
        };
        let unknown = u64::from(person.has_unknown_timezone());
        self.report.leave_out("time zones", unknown, report::UNKNOWN_TIMEZONE);
        self.renderer.callers.insert(user_id, person.caller());
        self.inactive.extend((!line.active).then_some(user_id));
        self.people.push((person, line.bot_owner));
        self.report.users += 1;
        Ok(())
    }

    fn user(&self, id: &str) -> ImportResult<u32> {
        self.users
            .get(id)
            .copied()
            .ok_or_else(|| ImportError::new(format!("there is no user {id} before it")))
    }

    fn users(&self, ids: &[String]) -> ImportResult<RoaringBitmap> {
        ids.iter().map(|id| self.user(id)).collect()
    }

    /// The text between the marks of a mention of a user: the name, and the id if others have the same name.
    pub fn mention_of(&self, id: &str) -> Option<String> {
        let user_id = self.users.get(id)?;
        let name = self.full_names.get(user_id)?;
        let is_unique = self.namesakes.get(&fold(name)) == Some(&1);
        Some(if is_unique { name.clone() } else { format!("{name}|{user_id}") })
    }

    /// Adds a deactivated account for someone who is in messages, but not among the people of the archive.
    pub fn add_stranger<'t>(
        &mut self,
        id: &str,
        names: impl IntoIterator<Item = &'t str>,
        why: &str,
    ) -> ImportResult<()> {
        self.leave_out("accounts", 1, why);
        let (id, full_name) = (id.to_owned(), names::person_or_unnamed(names));
        self.add_user(UserLine { id, full_name, active: false, ..UserLine::default() })
    }

    /// Lets only moderators post in a channel.
    pub fn restrict_posting(&mut self, channel: &str) -> ImportResult<()> {
        let Some(known) = self.channels.get(&fold(channel)) else { return Ok(()) };
        let owner = Owner::Stream(known.stream_id.into());
        let name = StreamSetting::CanSendMessage.name();
        self.target.run(move |tx| Ok(groups::setting::set(tx, owner, name, SystemGroup::Moderators.id())?))
    }

    /// True if a user is known.
    pub fn has_user(&self, id: &str) -> bool {
        self.users.contains_key(id)
    }

    /// Writes the people so far.
    fn flush_people(&mut self) -> ImportResult<()> {
        let mut people = std::mem::take(&mut self.people);
        if people.is_empty() {
            return Ok(());
        }
        for (person, owner) in &mut people {
            person.bot_owner = owner.as_deref().map(|owner| self.user(owner)).transpose()?;
        }
        if self.reader.is_none() {
            let active = people.iter().filter(|(person, _)| person.is_active && person.bot_type.is_none());
            let first = active.min_by_key(|(person, _)| (person.role.code(), person.user_id));
            self.reader = first.or(people.first()).map(|(person, _)| person.caller());
        }
        self.target.run(move |tx| {
            for (person, _) in &people {
                rows::insert_person(tx, person)?;
            }
            for (person, _) in people.iter().filter(|(person, _)| person.bot_type.is_some()) {
                let user_id = UserId::from(person.user_id);
                if let Some(owner) = person.bot_owner {
                    users::set_bot_owner(tx, user_id, owner.into())?;
                }
                bots::insert(tx, &NewBotRow { user_id, ..NewBotRow::default() })?;
                bots::change::mint_key(tx, user_id)?;
            }
            Ok(())
        })?;
        for (user, path) in std::mem::take(&mut self.avatars) {
            let file = self.archive.file(&path)?;
            self.report.add_image("avatars", insert_avatar(self.target, user, 1, &file)?);
        }
        Ok(())
    }

    fn add_channel(&mut self, mut line: ChannelLine) -> ImportResult<()> {
        self.flush_people()?;
        let name = line.name.trim().to_owned();
        if name.is_empty() || self.channels.contains_key(&fold(&name)) {
            return Err(ImportError::new(format!("the channel '{name}' has no name, or is there twice")));
        }
        let subscribers = self.users(&line.subscribers)?;
        let creator = line.creator.as_deref().map(|creator| self.user(creator)).transpose()?;
        let stream_id = self.channels.len() as u32 + 1;
        let shown = channels::rules::name(&rows::allowed_name(&name, stream_id.into()))?;
        if self.reader.is_none() {
            return Err(ImportError::new("a channel comes before all people"));
        }
        let is_default = line.default && !line.private && !line.archived;
        let others = u64::from(line.default && !is_default);
        self.leave_out("default channels", others, "private and archived channels are not default here");
        let length = line.description.chars().count();
        if length > MAX_STREAM_DESCRIPTION_LENGTH {
            let why = "descriptions of channels are not longer here";
            self.leave_out("ends of descriptions", 1, why);
            line.description = line.description.chars().take(MAX_STREAM_DESCRIPTION_LENGTH).collect();
        }
        if !line.description.is_empty() {
            let (of, text) = (Described::Channel(stream_id), line.description.clone());
            self.descriptions.push(Description { of, text, html: None });
        }
        let recipient = self.conversations.len() as u32 + stream_id;
        let channel = Channel {
            stream_id,
            recipient_id: recipient,
            name: shown,
            description: line.description,
            date_created: line.created.map_or_else(|| self.target.now(), |date| date.0),
            creator,
            is_archived: line.archived,
            invite_only: line.private,
            is_web_public: false,
            history_public_to_subscribers: !line.private || line.shared_history,
            message_retention_days: None,
            topics_policy: TopicsPolicy::Inherit,
            folder_id: None,
        };
        let members = subscribers.clone();
        self.target.run(move |tx| {
            rows::insert_channel(tx, &channel)?;
            let stream_id = StreamId::from(channel.stream_id);
            if let Some(creator) = channel.creator {
                channel_settings::set_creator(tx, stream_id, creator.into())?;
            }
            if is_default {
                channels::set_default(tx, stream_id, true)?;
            }
            for user in &members {
                let used = subscriptions::used_colors(tx, user.into())?;
                subscriptions::insert(tx, user.into(), stream_id, subscriptions::rules::pick_color(&used))?;
            }
            Ok(())
        })?;
        self.report.channels += 1;
        self.report.add("subscriptions", subscribers.len() as usize);
        let (recipient, is_private) = (RecipientId::from(recipient), line.private);
        let known = KnownChannel { stream_id, recipient, is_private, subscribers };
        self.channels.insert(fold(&name), known);
        Ok(())
    }

    fn add_emoji(&mut self, line: EmojiLine) -> ImportResult<()> {
        self.flush_people()?;
        if !self.emoji_names.insert(line.name.clone()) {
            return Err(ImportError::new(format!("the emoji {} is there twice", line.name)));
        }
        let author = line.author.as_deref().map(|author| self.user(author)).transpose()?;
        let file = self.archive.file(&line.path)?;
        let new = NewEmoji { id: None, name: line.name, author, deactivated: false, file: None };
        self.report.add_image("emoji", insert_emoji(self.target, new, &file)?);
        Ok(())
    }

    fn add_message(&mut self, mut line: MessageLine) -> ImportResult<()> {
        self.flush_people()?;
        let topic = line.topic.trim().to_owned();
        line.topic = topic;
        let sender = self.user(&line.sender)?;
        let (recipient, stream, receivers) = self.place(sender, &line)?;
        self.last_message += 1;
        let id = self.last_message;
        let unread = self.users(&line.unread_by)? & &receivers;
        let received = Received { receivers: receivers.clone(), unread, historical: RoaringBitmap::new() };
        self.receipts.add(id, line.date.0, (recipient, stream), false, &received);
        let mut reactions: Vec<Reaction> = Vec::new();
        for reaction in &line.reactions {
            reactions.extend(self.reaction(reaction, &reactions)?);
        }
        let starring = self.users(&line.starred_by)?;
        let starred = &starring & &receivers;
        self.report.leave_out(
            "stars",
            starring.len() - starred.len(),
            "their users did not receive the message",
        );
        let flags = starred.iter().map(|user| (user, bit::STARRED)).collect();
        let (content, attachments) = self.attach(&line, sender)?;
        let content = self.addresses.rewrite(&content).unwrap_or(content).replace('\0', "");
        let channel = |name: &str| self.channels.get(&fold(name)).map(|channel| channel.stream_id);
        let topics = self.newest.linked(&content, channel);
        if let Some(stream) = stream {
            self.newest.add(stream, &line.topic, id);
        }
        self.batch.push(NewMessage {
            id,
            sender,
            recipient,
            stream: stream.map(StreamId::from),
            topic: if stream.is_some() { line.topic } else { String::new() },
            content,
            html: None,
            timestamp: line.date.0,
            client: self.client,
            edits: Vec::new(),
            last_edit: line.edited.map(|date| date.0),
            last_moved: None,
            is_resolve_notice: false,
            flags,
            receivers: Some(receivers),
            has: (None, None),
            had_files: false,
            wildcards: None,
            reactions,
            attachments,
            topics,
        });
        if self.batch.len() >= BATCH { self.flush() } else { Ok(()) }
    }

    /// The conversation of a message, its channel, and its receivers.
    fn place(
        &mut self,
        sender: u32,
        line: &MessageLine,
    ) -> ImportResult<(RecipientId, Option<u32>, RoaringBitmap)> {
        if let Some(name) = &line.channel {
            if line.topic.chars().count() > 60 {
                return Err(ImportError::new("a topic has at most 60 characters"));
            }
            if let Some(index) = line.topic.chars().position(is_unprintable) {
                let what = format!("Invalid character in topic, at position {}!", index + 1);
                return Err(ImportError::new(what));
            }
            let known = self.channels.get(&fold(name.trim()));
            let known =
                known.ok_or_else(|| ImportError::new(format!("there is no channel {name} before it")))?;
            return Ok((known.recipient, Some(known.stream_id), known.subscribers.clone()));
        }
        let mut receivers = self.users(&line.to)?;
        receivers.insert(sender);
        let people = distinct(receivers.iter().map(UserId::from).collect());
        let recipient = match self.conversations.get(&people) {
            Some(known) => *known,
            None => {
                // Channels may follow, whose ids come from the same numbers.
                let id = self.conversations.len() as u32 + self.channels.len() as u32 + 1;
                let wanted = people.clone();
                let made = self.target.run(move |tx| rows::insert_conversation(tx, Some(id), &wanted))?;
                self.conversations.insert(people, made);
                made
            }
        };
        Ok((recipient, None, receivers))
    }

    /// A reaction, unless its emoji is not known or the user has it already.
    fn reaction(&mut self, line: &ReactionLine, before: &[Reaction]) -> ImportResult<Option<Reaction>> {
        let user = self.user(&line.user)?;
        if !self.emoji.contains_key(&line.emoji) {
            let (name, plain) = (line.emoji.as_str(), short_names::without_tone(&line.emoji));
            let names =
                [Some(name), short_names::canonical(name), Some(plain), short_names::canonical(plain)];
            let found = self.target.read(|snapshot| {
                for name in names.into_iter().flatten() {
                    if let Some(found) = ok_unless_refused(resolve::choose(snapshot, name, None, None))? {
                        return Ok(Some(Arc::new((name.to_owned(), found.code, found.kind.to_owned()))));
                    }
                }
                Ok(None)
            })?;
            self.emoji.insert(line.emoji.clone(), found);
        }
        match self.emoji.get(&line.emoji).cloned().flatten() {
            Some(emoji) => {
                let is_new = !before.iter().any(|known| known.user == user && known.emoji.1 == emoji.1);
                Ok(is_new.then_some(Reaction { user, emoji }))
            }
            None => {
                self.report.leave_out("reactions", 1, "there is no emoji of their name");
                Ok(None)
            }
        }
    }

    /// The content of a message with links to its files, and their ids.
    fn attach(&mut self, line: &MessageLine, sender: u32) -> ImportResult<(String, Vec<u32>)> {
        let (mut content, mut ids) = (line.content.clone(), Vec::new());
        for FileLine { path, name, content_type } in &line.files {
            let file = self.archive.file(path)?;
            let name = name.as_deref().or(path.rsplit('/').next()).unwrap_or_default().to_owned();
            let path_id = new_path_id(1, &name);
            if !content.is_empty() {
                content.push('\n');
            }
            let shown = name.replace(['[', ']'], "");
            content.extend(["[", &shown, "](/user_uploads/", &path_id, ")"]);
            ids.push(self.next_file);
            let new = NewFile {
                id: Some(self.next_file),
                owner: sender,
                path_id,
                name,
                content_type: content_type.clone(),
                create_time: line.date.0,
                path: file,
            };
            self.next_file += 1;
            self.report.attachments += 1;
            self.uploads.add(self.target, new)?;
        }
        Ok((content, ids))
    }

    /// Renders the batch, while the one before is written.
    fn flush(&mut self) -> ImportResult<()> {
        self.uploads.flush(self.target)?;
        let batch = std::mem::replace(&mut self.batch, Vec::with_capacity(BATCH));
        self.report.messages += batch.len() as u64;
        let rendered =
            render_all(&self.target.app, &self.renderer, batch, &mut self.report.rendered_differently)?;
        self.target.start(move |tx| insert_all(tx, &rendered))
    }

    /// Counts the private channels with messages that no active person can read.
    fn leave_out_unreadable(&mut self) {
        let unreadable = self.channels.values().filter(|channel| {
            channel.is_private
                && channel.subscribers.is_subset(&self.inactive)
                && self.newest.has_messages(channel.stream_id)
        });
        let count = unreadable.count() as u64;
        let why = "no person can read their messages; add subscribers to the archive, and import it again";
        self.leave_out("private channels without active subscribers", count, why);
    }

    /// Writes what is left, and the receivers of all messages.
    pub fn finish(mut self) -> ImportResult<()> {
        if self.users.is_empty() {
            return Err(ImportError::new("the archive has no people"));
        }
        self.flush_people()?;
        self.flush()?;
        self.target.wait()?;
        self.leave_out_unreadable();
        let receivers = |channel: &KnownChannel| (channel.stream_id, &channel.subscribers - &self.inactive);
        let subscribed = self.channels.values().map(receivers).collect();
        let rows = self.receipts.finish(&subscribed, self.last_message + 1);
        rows.insert_all(self.target)?;
        if let Some(reader) = self.reader {
            descriptions::insert_all(self.target, &reader, &self.renderer, &self.descriptions)?;
        }
        Ok(())
    }
}

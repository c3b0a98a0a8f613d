//! `realm.json`, read once. Rows are checked against each other where they are read, so that errors have lines.

use crate::auth::Caller;
use crate::domain::groups::system::SystemGroup;
use crate::domain::users::names::is_email;
use crate::moving::import::descriptions::Description;
use crate::moving::import::error::{ImportError, ImportResult};
use crate::moving::import::json;
use crate::moving::import::message;
use crate::moving::import::progress::Progress;
use crate::moving::import::receipts::SubscriptionChange;
use crate::moving::import::rows::NewPerson;
use crate::moving::import::unpack::Archive;
use crate::moving::import::zulip::order::Order;
use crate::moving::import::zulip::settings;
use crate::moving::import::zulip::tables::{
    AlertWord, AuditEntry, BotData, Client, DefaultStream, Domain, Emoji, Folder, Group, Huddle, Id,
    Linkifier, Member, MutedUserRow, NamedGroup, NavigationViewRow, OnboardingStepRow, PlaygroundRow,
    Presence, ProfileFieldRow, ProfileValue, Reaction, Realm, Recipient, ScheduledMessage, Service, Snippet,
    Stream, Subgroup, Subscription, SystemBot, User, UserStatus, UserTopic,
};
use crate::types::{Kind, RecipientId, UserId, fold};
use roaring::RoaringBitmap;
use serde_json::{Map, Value};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

/// A reaction with its message.
pub struct ReactionOf {
    pub message: u32,
    pub reaction: message::Reaction,
}

/// The target of messages.
#[derive(Clone, Debug)]
pub enum Place {
    /// A person, with the sender.
    Person(UserId),
    Channel(u32),
    /// A group, with all its people.
    Group(u32),
}

/// Properties of a bot beside its account.
#[derive(Default)]
pub struct BotOf {
    pub default_sending_stream: Option<Id>,
    pub default_events_register_stream: Option<Id>,
    pub default_all_public_streams: bool,
    pub service: Option<Service>,
    pub config: Map<String, Value>,
}

/// The rows of `realm.json`.
#[derive(Default)]
pub struct Organization {
    pub realm: Option<Realm>,
    /// True if messages are numbered by time, whatever their ids are.
    pub sorts_by_date: bool,
    pub people: Vec<NewPerson>,
    pub user_ids: HashSet<u32>,
    pub dummies: u64,
    pub idle: RoaringBitmap,
    /// Avatars that were uploaded.
    pub avatars: HashSet<u32>,
    pub unusable_passwords: u64,
    pub unusable_emails: u64,
    /// Settings with values that are not allowed here.
    pub unknown_settings: u64,
    pub dummy_domains: BTreeSet<String>,
    pub bots: BTreeMap<u32, BotOf>,
    pub system_bots: HashMap<String, u32>,
    /// Ids of system bots, and of their recipients in the archive.
    pub system_bot_recipients: HashMap<u32, UserId>,
    pub defaults: Vec<(&'static str, Value)>,
    /// The ids of groups here, by those of the archive.
    pub ids_of_groups: HashMap<u32, i64>,
    pub descriptions: Vec<Description>,
    /// The person in whose name descriptions are rendered.
    pub reader: Option<Caller>,
    pub groups: Vec<Group>,
    pub named_groups: Vec<NamedGroup>,
    pub members: Vec<Member>,
    pub subgroups: Vec<Subgroup>,
    pub streams: Vec<Stream>,
    pub folders: Vec<Folder>,
    pub default_streams: Vec<u32>,
    pub recipients: HashMap<u32, Place>,
    pub huddles: HashSet<u32>,
    /// Direct conversations by their people, and by the recipient in the archive.
    pub conversations: HashMap<Vec<UserId>, RecipientId>,
    pub group_recipients: HashMap<u32, RecipientId>,
    /// Subscribers of channels.
    pub subscribed: HashMap<u32, RoaringBitmap>,
    pub subscriptions: Vec<Subscription>,
    pub clients: HashMap<u32, String>,
    pub reactions: Vec<ReactionOf>,
    pub changes: Vec<SubscriptionChange>,
    pub other_audit: u64,
    pub emoji: Vec<Emoji>,
    pub linkifiers: Vec<Linkifier>,
    pub playgrounds: Vec<PlaygroundRow>,
    pub domains: Vec<Domain>,
    pub user_topics: Vec<UserTopic>,
    pub muted_users: Vec<MutedUserRow>,
    pub alert_words: Vec<AlertWord>,
    pub statuses: Vec<UserStatus>,
    pub presences: Vec<Presence>,
    pub snippets: Vec<Snippet>,
    pub onboarding: Vec<OnboardingStepRow>,
    pub views: Vec<NavigationViewRow>,
    pub fields: Vec<ProfileFieldRow>,
    pub values: Vec<ProfileValue>,
    pub storage: Vec<BotData>,
    pub scheduled: Vec<ScheduledMessage>,
    /// The messages of files, ascending, and the files of scheduled messages.
    pub attachments: Vec<(u32, u32)>,
    pub scheduled_attachments: Vec<(u32, u32)>,
    /// Codes of the custom emoji whose images are stored.
    pub emoji_codes: HashSet<String>,
    /// Names and interned values, for duplicates.
    seen: Seen,
    /// Rows of tables that have no place here.
    pub ignored: BTreeMap<String, u64>,
}

/// Values that must be unique, and values that are shared.
#[derive(Default)]
struct Seen {
    /// The people with each email, the real one or that of the API.
    emails: HashMap<String, u32>,
    names: HashSet<String>,
    groups: HashSet<u32>,
    places: HashSet<(i64, u32)>,
    subscriptions: HashSet<(u32, u32)>,
    includes: HashMap<u32, Vec<u32>>,
    emoji: HashMap<message::Emoji, Arc<message::Emoji>>,
}

/// Tables without which an archive is not complete. All releases write them, even if they have no rows.
const REQUIRED: [&str; 5] =
    ["zerver_userprofile", "zerver_stream", "zerver_recipient", "zerver_subscription", "zerver_client"];

/// Tables whose rows are of no use on another server, and a member that is no table.
const USELESS: [&str; 7] = [
    "import_source",
    "zerver_presencesequence",
    "zerver_useractivity",
    "zerver_useractivityinterval",
    "zerver_realmexport",
    "zerver_realmauthenticationmethod",
    "zerver_onboardingusermessage",
];

/// The file with all tables but those of messages and files.
pub const REALM: &str = "realm.json";

impl Organization {
    /// Reads the file.
    pub fn read(archive: &Archive, progress: &Progress) -> ImportResult<Self> {
        let mut all = Self::default();
        let tables = RefCell::new(HashSet::new());
        let wanted = |table: &str| {
            tables.borrow_mut().insert(table.to_owned());
            true
        };
        json::read_tables(&archive.file(REALM)?, REALM, progress, &wanted, &mut |table, text| {
            all.add(table, text)
        })?;
        let tables = tables.into_inner();
        if all.realm.is_none() {
            return Err(ImportError::in_file(REALM, "the table zerver_realm has no row"));
        }
        if all.people.is_empty() {
            return Err(ImportError::in_file(REALM, "the table zerver_userprofile has no row"));
        }
        let has_own_names = all.groups.iter().any(|group| group.name.is_some());
        // Members of system groups follow from roles.
        let has_members = all.named_groups.iter().any(|group| !group.is_system_group);
        let of_groups = [
            (!all.groups.is_empty() && !has_own_names, "zerver_namedusergroup"),
            (has_members, "zerver_usergroupmembership"),
        ];
        let of_groups = of_groups.into_iter().filter(|(is_required, _)| *is_required).map(|(_, table)| table);
        if let Some(table) = REQUIRED.into_iter().chain(of_groups).find(|table| !tables.contains(*table)) {
            return Err(ImportError::in_file(REALM, format!("the table {table} is missing")));
        }
        all.check()?;
        Ok(all)
    }

    fn add(&mut self, table: &str, text: &str) -> ImportResult<()> {
        match table {
            "zerver_realm" => {
                if self.realm.replace(json::parse(text)?).is_some() {
                    return Err(ImportError::new("an archive has one organization"));
                }
            }
            "zerver_userprofile" | "zerver_userprofile_mirrordummy" => self.add_user(json::parse(text)?)?,
            "zerver_userprofile_crossrealm" => {
                let bot: SystemBot = json::parse(text)?;
                if let Some(recipient) = bot.recipient_id {
                    self.system_bot_recipients.insert(recipient.0, bot.id.0.into());
                }
                self.system_bots.insert(bot.email, bot.id.0);
            }
            "zerver_realmuserdefault" => {
                let row: Map<String, Value> = json::parse(text)?;
                self.defaults = settings::of_person(&row, &mut self.unknown_settings)?;
            }
            "zerver_usergroup" => {
                let group: Group = json::parse(text)?;
                unique(self.seen.groups.insert(group.id.0), "group", group.id)?;
                // Before 9.0 it has all columns of named groups.
                if group.name.is_some() {
                    self.named_groups.push(json::parse(text)?);
                }
                self.groups.push(group);
            }
            "zerver_namedusergroup" => self.named_groups.push(json::parse(text)?),
            "zerver_usergroupmembership" => self.members.push(json::parse(text)?),
            "zerver_groupgroupmembership" => self.add_subgroup(json::parse(text)?)?,
            "zerver_stream" => {
                let mut stream: Stream = json::parse(text)?;
                unique(self.seen.names.insert(fold(&stream.name)), "channel", &stream.name)?;
                let days = &mut stream.message_retention_days;
                if days.is_some_and(|days| !Kind::Days.is_within_limits(&days.into())) {
                    *days = None;
                    self.unknown_settings += 1;
                }
                self.streams.push(stream);
            }
            "zerver_channelfolder" => self.folders.push(json::parse(text)?),
            "zerver_defaultstream" => {
                let row: DefaultStream = json::parse(text)?;
                self.default_streams.push(row.stream.0);
            }
            "zerver_recipient" => {
                let row: Recipient = json::parse(text)?;
                let place = match row.r#type {
                    1 => Place::Person(row.type_id.0.into()),
                    2 => Place::Channel(row.type_id.0),
                    3 => Place::Group(row.type_id.0),
                    other => return Err(ImportError::new(format!("{other} is no type of recipient"))),
                };
                unique(self.recipients.insert(row.id.0, place).is_none(), "recipient", row.id)?;
                if !self.seen.places.insert((row.r#type, row.type_id.0)) {
                    let what = format!("there are two recipients of type {} for {}", row.r#type, row.type_id);
                    return Err(ImportError::new(what));
                }
            }
            "zerver_huddle" => {
                let row: Huddle = json::parse(text)?;
                unique(self.huddles.insert(row.id.0), "direct message group", row.id)?;
            }
            "zerver_subscription" => {
                let row: Subscription = json::parse(text)?;
                let key = (row.user_profile.0, row.recipient.0);
                if !self.seen.subscriptions.insert(key) {
                    return Err(ImportError::new(format!("person {} has this recipient twice", key.0)));
                }
                self.subscriptions.push(row);
            }
            "zerver_client" => {
                let row: Client = json::parse(text)?;
                unique(self.clients.insert(row.id.0, row.name).is_none(), "client", row.id)?;
            }
            "zerver_reaction" => self.add_reaction(json::parse(text)?)?,
            "zerver_realmauditlog" => self.add_audit_entry(&json::parse(text)?),
            "zerver_realmemoji" => self.emoji.push(json::parse(text)?),
            "zerver_realmfilter" => self.linkifiers.push(json::parse(text)?),
            "zerver_realmplayground" => self.playgrounds.push(json::parse(text)?),
            "zerver_realmdomain" => self.domains.push(json::parse(text)?),
            "zerver_usertopic" => self.user_topics.push(json::parse(text)?),
            "zerver_muteduser" => self.muted_users.push(json::parse(text)?),
            "zerver_alertword" => self.alert_words.push(json::parse(text)?),
            "zerver_userstatus" => self.statuses.push(json::parse(text)?),
            "zerver_userpresence" => self.presences.push(json::parse(text)?),
            "zerver_savedsnippet" => self.snippets.push(json::parse(text)?),
            "zerver_onboardingstep" => self.onboarding.push(json::parse(text)?),
            "zerver_navigationview" => self.views.push(json::parse(text)?),
            "zerver_customprofilefield" => self.fields.push(json::parse(text)?),
            "zerver_customprofilefieldvalue" => self.values.push(json::parse(text)?),
            "zerver_service" => {
                let row: Service = json::parse(text)?;
                let bot = row.user_profile.0;
                self.bots.entry(bot).or_default().service = Some(row);
            }
            "zerver_botconfigdata" => {
                let row: BotData = json::parse(text)?;
                let config = &mut self.bots.entry(row.bot_profile.0).or_default().config;
                config.insert(row.key, row.value.into());
            }
            "zerver_botstoragedata" => self.storage.push(json::parse(text)?),
            "zerver_scheduledmessage" => self.scheduled.push(json::parse(text)?),
            "sort_by_date" => self.sorts_by_date = json::parse(text)?,
            _ if USELESS.contains(&table) => {}
            _ => *self.ignored.entry(table.to_owned()).or_default() += 1,
        }
        Ok(())
    }

    fn add_user(&mut self, user: User) -> ImportResult<()> {
        let id = user.id.0;
        unique(self.user_ids.insert(id), "person", user.id)?;
        let email = user.delivery_email.trim().to_lowercase();
        if email.is_empty() {
            return Err(ImportError::new(format!("person {id} has no email")));
        }
        // Messages to the email of one person must not reach another one.
        for written in [&user.delivery_email, &user.email] {
            let person = *self.seen.emails.entry(written.trim().to_lowercase()).or_insert(id);
            unique(person == id || written.is_empty(), "email", written)?;
        }
        let placeholder = || format!("user{id}@imported.invalid");
        let is_usable = is_email(user.delivery_email.trim());
        self.unusable_emails += u64::from(!is_usable);
        let role = user
            .role()
            .ok_or_else(|| ImportError::new(format!("{} is no role of person {id}", user.role)))?;
        if let Some((name, domain)) = user.email.split_once('@')
            && user.email.to_lowercase() != email
            && name.strip_prefix("user").is_some_and(|digits| digits.parse() == Ok(id))
        {
            self.dummy_domains.insert(domain.to_lowercase());
        }
        let bot_type = user.bot_type();
        if bot_type.is_some() {
            let bot = self.bots.entry(id).or_default();
            bot.default_sending_stream = user.default_sending_stream;
            bot.default_events_register_stream = user.default_events_register_stream;
            bot.default_all_public_streams = user.default_all_public_streams;
        }
        if user.long_term_idle {
            self.idle.insert(id);
        }
        if user.avatar_source == "U" {
            self.avatars.insert(id);
        }
        self.dummies += u64::from(user.is_mirror_dummy);
        let password_hash = match user.password.as_deref().map(settings::password_hash) {
            None | Some(Ok(None)) => None,
            Some(Ok(hash)) => hash,
            Some(Err(())) => {
                self.unusable_passwords += 1;
                None
            }
        };
        self.people.push(NewPerson {
            user_id: id,
            email: Some(user.email).filter(|email| is_email(email)).unwrap_or_else(placeholder),
            delivery_email: if is_usable { user.delivery_email.trim().to_owned() } else { placeholder() },
            full_name: user.full_name,
            role,
            is_active: user.is_active && !user.is_mirror_dummy,
            bot_type,
            bot_owner: user.bot_owner.map(|owner| owner.0),
            timezone: user.timezone,
            date_joined: user.date_joined.0,
            avatar_version: user.avatar_version.max(1),
            password_hash,
            settings: settings::of_person(&user.rest, &mut self.unknown_settings)?,
        });
        Ok(())
    }

    /// Adds an inclusion of groups, unless it closes a cycle.
    fn add_subgroup(&mut self, row: Subgroup) -> ImportResult<()> {
        let (outer, inner) = (row.supergroup.0, row.subgroup.0);
        let mut next = vec![inner];
        let mut seen = HashSet::new();
        while let Some(group) = next.pop() {
            if group == outer {
                return Err(ImportError::new(format!("group {outer} includes itself through group {inner}")));
            }
            if seen.insert(group) {
                next.extend(self.seen.includes.get(&group).into_iter().flatten());
            }
        }
        self.seen.includes.entry(outer).or_default().push(inner);
        self.subgroups.push(row);
        Ok(())
    }

    fn add_reaction(&mut self, row: Reaction) -> ImportResult<()> {
        if !["unicode_emoji", "realm_emoji", "zulip_extra_emoji"].contains(&row.kind.as_str()) {
            return Err(ImportError::new(format!("{} is no type of reaction", row.kind)));
        }
        let key = (row.emoji_name, row.emoji_code, row.kind);
        let emoji = match self.seen.emoji.get(&key) {
            Some(known) => Arc::clone(known),
            None => {
                let emoji = Arc::new(key.clone());
                self.seen.emoji.insert(key, Arc::clone(&emoji));
                emoji
            }
        };
        let reaction = message::Reaction { user: row.user_profile.0, emoji };
        self.reactions.push(ReactionOf { message: row.message.0, reaction });
        Ok(())
    }

    fn add_audit_entry(&mut self, row: &AuditEntry) {
        match (row.event_type, row.modified_user, row.modified_stream) {
            (301..=303, Some(user), Some(stream)) => self.changes.push(SubscriptionChange {
                time: row.event_time.0,
                user: user.0,
                stream: stream.0,
                is_begin: row.event_type != 303,
            }),
            _ => self.other_audit += 1,
        }
    }

    /// Fails if a row of a table names a person who is not in the archive.
    pub fn check_people(&self, table: &str, mut people: impl Iterator<Item = Id>) -> ImportResult<()> {
        match people.find(|user| !self.user_ids.contains(&user.0)) {
            Some(user) => Err(ImportError::in_file(REALM, format!("{table}: there is no person {user}"))),
            None => Ok(()),
        }
    }

    /// Checks references between tables.
    fn check(&self) -> ImportResult<()> {
        let missing = |table: &str, kind: &str, id: u32| {
            Err(ImportError::in_file(REALM, format!("{table}: there is no {kind} {id}")))
        };
        let system: HashSet<u32> = self.system_bots.values().copied().collect();
        let is_user = |id: u32| self.user_ids.contains(&id) || system.contains(&id);
        if let Some(both) = system.iter().find(|id| self.user_ids.contains(id)) {
            let what = format!("zerver_userprofile_crossrealm: {both} is the id of a person");
            return Err(ImportError::in_file(REALM, what));
        }
        let streams: HashSet<u32> = self.streams.iter().map(|stream| stream.id.0).collect();
        for person in &self.people {
            if let Some(owner) = person.bot_owner.filter(|owner| !is_user(*owner)) {
                return missing("zerver_userprofile", "person", owner);
            }
        }
        let mut recipients: HashSet<u32> = HashSet::new();
        for place in self.recipients.values() {
            match place {
                Place::Person(user) if !user.bit().is_some_and(is_user) => {
                    return missing("zerver_recipient", "person", user.bit().unwrap_or_default());
                }
                Place::Channel(stream) if !streams.contains(stream) => {
                    return missing("zerver_recipient", "channel", *stream);
                }
                Place::Channel(stream) => {
                    recipients.insert(*stream);
                }
                Place::Group(group) if !self.huddles.contains(group) => {
                    return missing("zerver_recipient", "direct message group", *group);
                }
                Place::Person(_) | Place::Group(_) => {}
            }
        }
        if let Some(stream) = streams.iter().find(|stream| !recipients.contains(stream)) {
            return missing("zerver_recipient", "recipient of channel", *stream);
        }
        for row in &self.subscriptions {
            if !is_user(row.user_profile.0) {
                return missing("zerver_subscription", "person", row.user_profile.0);
            }
            if !self.recipients.contains_key(&row.recipient.0) {
                return missing("zerver_subscription", "recipient", row.recipient.0);
            }
        }
        for row in &self.members {
            if !self.seen.groups.contains(&row.user_group.0) {
                return missing("zerver_usergroupmembership", "group", row.user_group.0);
            }
            if !is_user(row.user_profile.0) {
                return missing("zerver_usergroupmembership", "person", row.user_profile.0);
            }
        }
        for row in &self.subgroups {
            for group in [row.supergroup.0, row.subgroup.0] {
                if !self.seen.groups.contains(&group) {
                    return missing("zerver_groupgroupmembership", "group", group);
                }
            }
        }
        for row in &self.reactions {
            if !is_user(row.reaction.user) {
                return missing("zerver_reaction", "person", row.reaction.user);
            }
        }
        for stream in &self.default_streams {
            if !streams.contains(stream) {
                return missing("zerver_defaultstream", "channel", *stream);
            }
        }
        let of_realm = self
            .realm
            .iter()
            .flat_map(|realm| settings::CHANNELS.map(|name| settings::column(&realm.rest, name)));
        let of_realm = of_realm.flatten().filter_map(Value::as_u64).filter_map(|id| u32::try_from(id).ok());
        for stream in of_realm {
            if !streams.contains(&stream) {
                return missing("zerver_realm", "channel", stream);
            }
        }
        for (bot, of) in &self.bots {
            if !self.user_ids.contains(bot) {
                let table = if of.service.is_some() { "zerver_service" } else { "zerver_botconfigdata" };
                return missing(table, "person", *bot);
            }
            let streams_of_bot = [of.default_sending_stream, of.default_events_register_stream];
            if let Some(stream) = streams_of_bot.into_iter().flatten().find(|id| !streams.contains(&id.0)) {
                return missing("zerver_userprofile", "channel", stream.0);
            }
        }
        for group in &self.named_groups {
            let id = group.usergroup_ptr.or(group.id).unwrap_or_default().0;
            if !self.seen.groups.contains(&id) {
                return missing("zerver_namedusergroup", "group", id);
            }
        }
        if let Some(author) = self.emoji.iter().filter_map(|emoji| emoji.author).find(|id| !is_user(id.0)) {
            return missing("zerver_realmemoji", "person", author.0);
        }
        Ok(())
    }

    /// Changes the ids of messages in all rows that refer to them.
    pub fn renumber_messages(&mut self, order: &Order) {
        for row in &mut self.reactions {
            row.message = order.id(row.message);
        }
        for (message, _) in &mut self.attachments {
            *message = order.id(*message);
        }
        self.attachments.sort_unstable();
        for id in self.scheduled.iter_mut().filter_map(|row| row.reminder_target_message_id.as_mut()) {
            id.0 = order.id(id.0);
        }
    }

    /// The id of a group here: system groups have theirs, and groups of the archive whose ids are those of system groups get
    /// ids above all others.
    pub fn group_ids(&self) -> HashMap<u32, i64> {
        let system = |id: u32| {
            let mut named = self.named_groups.iter().filter(|group| group.is_system_group);
            let own = named.find(|group| group.usergroup_ptr.or(group.id) == Some(Id(id)))?;
            SystemGroup::ALL.into_iter().find(|group| group.name() == own.name)
        };
        let first = SystemGroup::ALL.len() as i64 + 1;
        let largest = self.groups.iter().map(|group| i64::from(group.id.0)).max().unwrap_or_default();
        let mut next = largest.max(first - 1) + 1;
        let mut ids = HashMap::new();
        for group in &self.groups {
            let id = i64::from(group.id.0);
            let ours = match system(group.id.0) {
                Some(group) => group.id().0,
                None if id >= first => id,
                None => {
                    next += 1;
                    next - 1
                }
            };
            ids.insert(group.id.0, ours);
        }
        ids
    }
}

fn unique(is_new: bool, kind: &str, what: impl std::fmt::Display) -> ImportResult<()> {
    if is_new { Ok(()) } else { Err(ImportError::new(format!("the {kind} {what} is there twice"))) }
}

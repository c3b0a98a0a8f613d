//! The organization, people, groups, channels and subscriptions.

use crate::domain::bots::{NewBotRow, Service};
use crate::domain::groups::permission::{PermissionTable, RealmGroup, StreamSetting, UserGroupSetting};
use crate::domain::groups::setting::Owner;
use crate::domain::groups::system::SystemGroup;
use crate::domain::look_alikes::Named;
use crate::domain::rows::channel::TopicsPolicy;
use crate::domain::{bots, channels, groups, look_alikes, realm, subscriptions, user_settings, users};
use crate::moving::import::descriptions::{Described, Description};
use crate::moving::import::error::{ImportError, ImportResult};
use crate::moving::import::links::OldAddress;
use crate::moving::import::message::Renderer;
use crate::moving::import::report::{PLACEHOLDER_ADDRESS, Report, UNKNOWN_HASH, UNKNOWN_TIMEZONE};
use crate::moving::import::rows;
use crate::moving::import::rows::Channel;
use crate::moving::import::target::Target;
use crate::moving::import::zulip::organization::{BotOf, Organization, Place, REALM};
use crate::moving::import::zulip::policies;
use crate::moving::import::zulip::settings;
use crate::moving::import::zulip::tables;
use crate::moving::import::zulip::tables::{
    Folder, Group, Member, NamedGroup, Realm, Stream, Subgroup, Subscription,
};
use crate::store::{ExecuteCached, Tx};
use crate::types::{BotType, GroupId, RecipientId, Role, UserId, fold, without_forbidden};
use rand::RngExt;
use rand::distr::Alphanumeric;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, HashMap, HashSet};

/// Inserts all of them.
pub fn insert(target: &mut Target, organization: &mut Organization, report: &mut Report) -> ImportResult<()> {
    report.users = organization.people.len() as u64;
    report.channels = organization.streams.len() as u64;
    report.add("groups", organization.named_groups.iter().filter(|group| !group.is_system_group).count());
    report.leave_out(
        "people",
        organization.dummies,
        "placeholders for people without an account are deactivated",
    );
    report.leave_out("passwords", organization.unusable_passwords, UNKNOWN_HASH);
    report.leave_out("email addresses", organization.unusable_emails, PLACEHOLDER_ADDRESS);
    let moves_first_bots = std::mem::take(&mut organization.system_bots);
    let next = organization.user_ids.iter().chain(moves_first_bots.values()).max().map_or(1, |max| max + 1);
    let people = std::mem::take(&mut organization.people);
    let zones = people.iter().filter(|person| person.has_unknown_timezone()).count() as u64;
    report.leave_out("time zones", zones, UNKNOWN_TIMEZONE);
    let owner = people.iter().filter(|person| person.is_active && person.bot_type.is_none());
    let reader = owner
        .min_by_key(|person| (person.role.code(), person.user_id))
        .or(people.first())
        .map(rows::NewPerson::caller)
        .ok_or_else(|| ImportError::in_file(REALM, "the organization has no people"))?;
    let realm = organization.realm.take().ok_or_else(|| ImportError::new("there is no organization"))?;
    let group_ids = organization.group_ids();
    organization.ids_of_groups.clone_from(&group_ids);
    organization.descriptions = descriptions(&realm, &organization.folders, &organization.streams);
    organization.reader = Some(reader);
    let structure = Structure {
        group_ids,
        groups: std::mem::take(&mut organization.groups),
        named_groups: std::mem::take(&mut organization.named_groups),
        members: std::mem::take(&mut organization.members),
        subgroups: std::mem::take(&mut organization.subgroups),
        streams: std::mem::take(&mut organization.streams),
        folders: std::mem::take(&mut organization.folders),
        default_streams: std::mem::take(&mut organization.default_streams),
        streams_by_recipient: organization
            .recipients
            .iter()
            .filter_map(|(recipient, place)| match place {
                Place::Channel(stream) => Some((*recipient, *stream)),
                Place::Person(_) | Place::Group(_) => None,
            })
            .collect(),
    };
    let defaults = std::mem::take(&mut organization.defaults);
    let bots = std::mem::take(&mut organization.bots);
    let domains = std::mem::take(&mut organization.dummy_domains);
    organization.dummy_domains.clone_from(&domains);
    let (people, bot_ids, unknown) = target.run(move |tx| {
        let bot_ids = rows::move_system_bots(tx, &moves_first_bots, next)?;
        for person in &people {
            rows::insert_person(tx, person)?;
        }
        for domain in &domains {
            users::reserve_dummy_domain(tx, domain)?;
        }
        let owners: HashMap<u32, Option<u32>> = people
            .iter()
            .filter(|person| person.bot_type.is_some())
            .map(|p| (p.user_id, p.bot_owner))
            .collect();
        for (bot, owner) in &owners {
            let kind = people.iter().find(|person| person.user_id == *bot).and_then(|person| person.bot_type);
            insert_bot(tx, *bot, *owner, kind, bots.get(bot))?;
        }
        for (name, value) in &defaults {
            user_settings::set_default(tx, name, value)?;
        }
        let unknown = set_realm(tx, &realm, &structure)?;
        structure.insert(tx)?;
        Ok((people, bot_ids, unknown))
    })?;
    report.leave_out("settings", organization.unknown_settings + unknown, "their values are not known here");
    organization.people = people;
    for (email, id) in bot_ids {
        organization.system_bots.insert(email, id.bit().unwrap_or_default());
    }
    insert_subscriptions(target, organization, report)
}

/// The name of the integration in the configuration of an incoming webhook.
const INTEGRATION: &str = "integration_id";

fn insert_bot(
    tx: &Tx<'_>,
    bot: u32,
    owner: Option<u32>,
    kind: Option<BotType>,
    of: Option<&BotOf>,
) -> ImportResult<()> {
    let mut row = NewBotRow { user_id: bot.into(), ..NewBotRow::default() };
    if let Some(of) = of {
        row.default_sending_stream = of.default_sending_stream.map(|id| id.0.into());
        row.default_events_register_stream = of.default_events_register_stream.map(|id| id.0.into());
        row.default_all_public_streams = of.default_all_public_streams;
        let mut config = of.config.clone();
        // The archive has the integration of an incoming webhook among its configuration.
        if kind == Some(BotType::IncomingWebhook)
            && let Some(Value::String(integration)) = config.shift_remove(INTEGRATION)
        {
            row.service_name = Some(integration);
        }
        row.config_data = if config.is_empty() { String::new() } else { Value::from(config).to_string() };
        if let Some(service) = of.service.as_ref() {
            match kind {
                Some(BotType::OutgoingWebhook) => {
                    let token = rand::rng().sample_iter(Alphanumeric).take(32).map(char::from).collect();
                    let base_url = service.base_url.clone();
                    row.service = Some(Service { base_url, interface: service.interface, token });
                }
                _ if service.name.is_empty() => {}
                _ => row.service_name = Some(service.name.clone()),
            }
        }
    }
    if let Some(owner) = owner {
        users::set_bot_owner(tx, row.user_id, owner.into())?;
    }
    bots::insert(tx, &row)?;
    bots::change::mint_key(tx, row.user_id)?;
    Ok(())
}

/// Sets the properties of the organization. Returns the number of settings with values that are not allowed here.
fn set_realm(tx: &mut Tx<'_>, realm: &Realm, structure: &Structure) -> ImportResult<u64> {
    let uuid = realm.uuid.as_deref().map(|uuid| uuid.replace('-', "").to_lowercase());
    let uuid = uuid.filter(|uuid| uuid.len() == 32 && uuid.bytes().all(|byte| byte.is_ascii_hexdigit()));
    tx.execute_cached(
        "UPDATE realm SET date_created = ?1, uuid = coalesce(?2, uuid)",
        (realm.date_created.0, uuid),
    )?;
    // What a new organization begins with is as old as the organization.
    for statement in [
        "UPDATE user SET date_joined = ?1 WHERE is_system_bot",
        "UPDATE user_group SET date_created = ?1 WHERE kind = 'system' AND date_created IS NOT NULL",
    ] {
        tx.execute_cached(statement, [realm.date_created.0])?;
    }
    realm::set_deactivated(tx, realm.deactivated)?;
    let mut rest = realm.rest.clone();
    for (name, text) in [("name", &realm.name), ("description", &realm.description)] {
        if let Some(text) = text {
            let text = if name == "name" { without_forbidden(text) } else { text.clone() };
            rest.insert(name.to_owned(), text.into());
        }
    }
    let mut unknown = 0;
    let of_realm = settings::of_realm(&rest, &mut unknown)?;
    settings::set_of_realm(tx, &of_realm)?;
    structure.set_permissions::<RealmGroup>(tx, Owner::Realm, &rest, RealmGroup::name)?;
    for (name, group) in policies::of_realm(&rest) {
        groups::setting::set(tx, Owner::Realm, name, group.id())?;
    }
    Ok(unknown)
}

/// The descriptions that are not empty.
fn descriptions(realm: &Realm, folders: &[Folder], streams: &[Stream]) -> Vec<Description> {
    let of_realm = realm.description.as_ref().map(|text| (Described::Organization, text, &None));
    let of_folders =
        folders.iter().map(|row| (Described::Folder(row.id.0), &row.description, &row.rendered_description));
    let of_streams =
        streams.iter().map(|row| (Described::Channel(row.id.0), &row.description, &row.rendered_description));
    let all = of_realm.into_iter().chain(of_folders).chain(of_streams);
    all.filter(|(_, text, _)| !text.is_empty())
        .map(|(of, text, html)| Description { of, text: text.clone(), html: html.clone() })
        .collect()
}

/// Groups and channels.
struct Structure {
    group_ids: HashMap<u32, i64>,
    groups: Vec<Group>,
    named_groups: Vec<NamedGroup>,
    members: Vec<Member>,
    subgroups: Vec<Subgroup>,
    streams: Vec<Stream>,
    folders: Vec<Folder>,
    default_streams: Vec<u32>,
    streams_by_recipient: BTreeMap<u32, u32>,
}

impl Structure {
    fn insert(&self, tx: &mut Tx<'_>) -> ImportResult<()> {
        self.insert_groups(tx)?;
        for (position, folder) in self.folders.iter().enumerate() {
            let name = rows::allowed_name(&folder.name, folder.id.0.into());
            tx.execute_cached(
                "INSERT INTO channel_folder (id, name, name_key, description, rendered_description, date_created,
                     creator_id, position, is_archived)
                 VALUES (?1, ?2, ?3, ?4, '', ?5, ?6, ?7, ?8)",
                (
                    folder.id.0,
                    name.as_ref(),
                    fold(&name),
                    &folder.description,
                    folder.date_created.0,
                    folder.creator.map(|creator| creator.0),
                    if folder.order > 0 { folder.order } else { position as i64 + 1 },
                    folder.is_archived,
                ),
            )?;
        }
        let recipients: HashMap<u32, u32> =
            self.streams_by_recipient.iter().map(|(recipient, stream)| (*stream, *recipient)).collect();
        for stream in &self.streams {
            self.insert_channel(tx, stream, &recipients)?;
        }
        for stream in &self.default_streams {
            channels::set_default(tx, (*stream).into(), true)?;
        }
        Ok(())
    }

    fn insert_channel(
        &self,
        tx: &mut Tx<'_>,
        stream: &Stream,
        recipients: &HashMap<u32, u32>,
    ) -> ImportResult<()> {
        let channel = Channel {
            stream_id: stream.id.0,
            recipient_id: recipients.get(&stream.id.0).copied().unwrap_or_default(),
            name: stream.name.clone(),
            description: stream.description.clone(),
            date_created: stream.date_created.0,
            creator: stream.creator.map(|creator| creator.0),
            is_archived: stream.deactivated,
            invite_only: stream.invite_only,
            is_web_public: stream.is_web_public && !stream.invite_only,
            history_public_to_subscribers: !stream.invite_only || stream.history_public_to_subscribers,
            message_retention_days: stream.message_retention_days,
            topics_policy: match stream.topics_policy {
                2 => TopicsPolicy::AllowEmptyTopic,
                3 => TopicsPolicy::DisableEmptyTopic,
                4 => TopicsPolicy::EmptyTopicOnly,
                _ => TopicsPolicy::Inherit,
            },
            folder_id: stream.folder.map(|folder| folder.0),
        };
        rows::insert_channel(tx, &channel)?;
        let owner = Owner::Stream(stream.id.0.into());
        self.set_permissions::<StreamSetting>(tx, owner, &stream.rest, StreamSetting::name)?;
        // Archives made from other products have no groups.
        let posters = match stream.post_policy {
            Some(2) => Some(SystemGroup::Administrators),
            Some(3) => Some(SystemGroup::FullMembers),
            Some(4) => Some(SystemGroup::Moderators),
            _ => None,
        };
        let name = StreamSetting::CanSendMessage.name();
        if let Some(group) = posters.filter(|_| !stream.rest.contains_key(name)) {
            groups::setting::set(tx, owner, name, group.id())?;
        }
        Ok(())
    }

    fn insert_groups(&self, tx: &mut Tx<'_>) -> ImportResult<()> {
        let named: HashMap<u32, &NamedGroup> = self
            .named_groups
            .iter()
            .filter_map(|group| Some((group.usergroup_ptr.or(group.id)?.0, group)))
            .collect();
        let (mut known, mut folded) = (HashSet::new(), HashSet::new());
        for group in &self.groups {
            let id = self.group_id(group.id.0)?;
            if SystemGroup::with_id(id).is_some() {
                continue;
            }
            let Some(named) = named.get(&group.id.0) else {
                tx.execute_cached("INSERT INTO user_group (id, kind) VALUES (?1, 'anonymous')", [id])?;
                continue;
            };
            if !known.insert(&named.name) {
                let what = format!("zerver_namedusergroup: the group {} is there twice", named.name);
                return Err(ImportError::in_file(REALM, what));
            }
            let mut name = rows::allowed_name(&named.name, id.0);
            // The published server distinguishes names by case.
            if !folded.insert(fold(&name)) {
                name = rows::second_name(&name, id.0).into();
            }
            tx.execute_cached(
                "INSERT INTO user_group (id, kind, name, name_key, description, creator_id, date_created, deactivated)
                 VALUES (?1, 'named', ?2, ?3, ?4, ?5, ?6, ?7)",
                (
                    id,
                    name.as_ref(),
                    fold(&name),
                    &named.description,
                    named.creator.map(|creator| creator.0),
                    named.date_created.map(|time| time.0),
                    named.deactivated,
                ),
            )?;
            look_alikes::set(tx, Named::UserGroup, id.0, &name)?;
        }
        for row in &self.members {
            let group = self.group_id(row.user_group.0)?;
            // Members of system groups follow from roles.
            if SystemGroup::with_id(group).is_none() {
                groups::set_member(tx, group, row.user_profile.0.into(), true)?;
            }
        }
        for row in &self.subgroups {
            let (outer, inner) = (self.group_id(row.supergroup.0)?, self.group_id(row.subgroup.0)?);
            if SystemGroup::with_id(outer).is_none() {
                groups::set_subgroup(tx, outer, inner, true)?;
            }
        }
        for group in named.values().filter(|group| !group.is_system_group) {
            let id = self.group_id(group.usergroup_ptr.or(group.id).unwrap_or_default().0)?;
            let owner = Owner::Group(id.0);
            self.set_permissions::<UserGroupSetting>(tx, owner, &group.rest, UserGroupSetting::name)?;
        }
        Ok(())
    }

    fn group_id(&self, id: u32) -> ImportResult<GroupId> {
        let known = self.group_ids.get(&id).copied().map(GroupId);
        known.ok_or_else(|| ImportError::in_file(REALM, format!("there is no group {id}")))
    }

    /// Sets the permissions of an owner: columns of its row with the id of a group.
    fn set_permissions<P: PermissionTable + Copy>(
        &self,
        tx: &Tx<'_>,
        owner: Owner,
        row: &Map<String, Value>,
        name: fn(P) -> &'static str,
    ) -> ImportResult<()> {
        for (permission, _) in P::rows() {
            let name = name(permission);
            let Some(value) = row.get(name).filter(|value| !value.is_null()) else { continue };
            let id = value.as_u64().and_then(|id| u32::try_from(id).ok());
            let id = id.ok_or_else(|| ImportError::in_file(REALM, format!("{name} is no id of a group")))?;
            groups::setting::set(tx, owner, name, self.group_id(id)?)?;
        }
        Ok(())
    }
}

/// Inserts subscriptions of channels, and the direct message groups, whose people are their subscribers.
fn insert_subscriptions(
    target: &mut Target,
    organization: &mut Organization,
    report: &mut Report,
) -> ImportResult<()> {
    let mut of_channels: Vec<(u32, Subscription)> = Vec::new();
    let mut people: HashMap<u32, Vec<UserId>> = HashMap::new();
    for row in std::mem::take(&mut organization.subscriptions) {
        match organization.recipients.get(&row.recipient.0) {
            Some(Place::Channel(stream)) => of_channels.push((*stream, row)),
            Some(Place::Group(_)) => {
                people.entry(row.recipient.0).or_default().push(row.user_profile.0.into());
            }
            Some(Place::Person(_)) | None => {}
        }
    }
    report.add("subscriptions", of_channels.len());
    // Deactivated people receive nothing, though they are subscribed again when they are reactivated.
    let active: HashSet<u32> =
        organization.people.iter().filter(|person| person.is_active).map(|person| person.user_id).collect();
    let receives = |row: &Subscription| row.active && active.contains(&row.user_profile.0);
    organization.subscribed = of_channels.iter().filter(|(_, row)| receives(row)).fold(
        HashMap::new(),
        |mut all: HashMap<u32, roaring::RoaringBitmap>, (stream, row)| {
            all.entry(*stream).or_default().insert(row.user_profile.0);
            all
        },
    );
    let conversations = target.run(move |tx| {
        for (stream, row) in &of_channels {
            tx.execute_cached(
                "INSERT INTO subscription (user_id, stream_id, active, color, is_muted, pin_to_top,
                     desktop_notifications, audible_notifications, push_notifications, email_notifications,
                     wildcard_mentions_notify)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
                (
                    row.user_profile.0,
                    stream,
                    row.active,
                    subscriptions::rules::color("color", &row.color).unwrap_or_else(|_| tables::grey()),
                    row.is_muted,
                    row.pin_to_top,
                    row.desktop_notifications,
                    row.audible_notifications,
                    row.push_notifications,
                    row.email_notifications,
                    row.wildcard_mentions_notify,
                ),
            )?;
        }
        let mut known: HashMap<Vec<UserId>, RecipientId> = HashMap::new();
        let mut of_recipient = HashMap::new();
        for (recipient, mut user_ids) in people {
            user_ids.sort_unstable();
            user_ids.dedup();
            let id = match known.get(&user_ids) {
                Some(id) => *id,
                None => rows::insert_conversation(tx, Some(recipient), &user_ids)?,
            };
            of_recipient.insert(recipient, id);
            known.insert(user_ids, id);
        }
        Ok((known, of_recipient))
    })?;
    organization.conversations = conversations.0;
    organization.group_recipients = conversations.1;
    Ok(())
}

impl Renderer {
    /// Renders texts of an organization whose people are inserted.
    pub fn of(organization: &Organization, addresses: &OldAddress) -> Self {
        let people = organization.people.iter().map(|person| (person.user_id, person.caller()));
        let bots = organization.system_bots.values();
        let bots = bots.map(|id| (*id, rows::caller(*id, Role::Member, Some(BotType::Generic))));
        Self {
            callers: people.chain(bots).collect(),
            groups: organization.ids_of_groups.clone(),
            origin: addresses.origin().to_owned(),
        }
    }
}

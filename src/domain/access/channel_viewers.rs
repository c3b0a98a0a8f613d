//! The users who can see a channel, as a set: the receivers of its events.

use crate::domain::access::channels::AccessFacts;
use crate::domain::groups::channel_settings;
use crate::domain::groups::membership::GroupMembers;
use crate::domain::groups::permission::StreamSetting;
use crate::domain::groups::roles::{ActiveUsersByRole, MAX_POINT_LOOKUPS, UserFilter};
use crate::domain::rows;
use crate::domain::rows::channel::StreamRow;
use crate::error::ApiResult;
use crate::types::{GroupId, StreamId, UserId};
use roaring::RoaringBitmap;
use rusqlite::Connection;
use std::collections::HashMap;

/// The users who can see a channel. Where many channels are asked about, [`ChannelViewers`] loads the users once.
pub fn users_who_can_see(connection: &Connection, now: i64, stream: &StreamRow) -> ApiResult<RoaringBitmap> {
    ChannelViewers::load(connection, UserFilter::Everyone, now)?.users_who_can_see(connection, stream)
}

/// Evaluates who sees channels, for many channels. A snapshot of roles and groups: it has to be loaded again after they
/// change. Subscriptions and channels may change meanwhile.
#[derive(Debug, Default)]
pub struct ChannelViewers {
    groups: GroupMembers,
    /// The groups of channels' settings, if those of all channels were loaded.
    settings: Option<HashMap<(StreamId, StreamSetting), GroupId>>,
}

impl ChannelViewers {
    /// Loads the users that are asked about, and no others. `now` decides who is a new member.
    pub fn load(connection: &Connection, among: UserFilter<'_>, now: i64) -> ApiResult<Self> {
        Ok(Self { groups: GroupMembers::load(connection, among, now)?, settings: None })
    }

    /// Loads the users as [`Self::load`], for questions about most channels, whose settings are loaded at once. They must not
    /// change meanwhile.
    pub fn load_with_settings(connection: &Connection, among: UserFilter<'_>, now: i64) -> ApiResult<Self> {
        let settings = channel_settings::that_show_channels(connection)?;
        Ok(Self { settings: Some(settings), ..Self::load(connection, among, now)? })
    }

    /// The users that are asked about, by role.
    pub fn roles(&self) -> &ActiveUsersByRole {
        &self.groups.roles
    }

    /// Returns only the roles.
    pub fn into_roles(self) -> ActiveUsersByRole {
        self.groups.roles
    }

    /// The users who can see a channel.
    pub fn users_who_can_see(
        &mut self,
        connection: &Connection,
        stream: &StreamRow,
    ) -> ApiResult<RoaringBitmap> {
        let mut facts = self.facts(connection, stream)?;
        if !stream.is_web_public {
            facts.subscribers = self.subscribers(connection, stream)?;
        }
        Ok(facts.can_see())
    }

    /// The users who can see a channel whether or not they are subscribed.
    pub fn without_subscription(
        &mut self,
        connection: &Connection,
        stream: &StreamRow,
    ) -> ApiResult<RoaringBitmap> {
        Ok(self.facts(connection, stream)?.can_see())
    }

    /// Loads the facts except subscribers. Groups are evaluated only for private channels.
    fn facts(
        &mut self,
        connection: &Connection,
        stream: &StreamRow,
    ) -> ApiResult<AccessFacts<RoaringBitmap>> {
        let mut facts = AccessFacts {
            invite_only: stream.invite_only,
            is_web_public: stream.is_web_public,
            active: self.roles().active.clone(),
            guests: self.roles().guests.clone(),
            administrators: self.roles().administrators.clone(),
            ..AccessFacts::default()
        };
        if stream.is_public() {
            return Ok(facts);
        }
        for setting in StreamSetting::ALL.into_iter().filter(|setting| setting.grants_metadata_access()) {
            let group = self.group_of(connection, stream.stream_id, setting)?;
            let users = self.groups.users(connection, group)?;
            let holders = if setting.grants_content_access() {
                &mut facts.may_subscribe
            } else {
                &mut facts.may_administer
            };
            *holders |= users;
        }
        Ok(facts)
    }

    fn group_of(
        &self,
        connection: &Connection,
        stream_id: StreamId,
        setting: StreamSetting,
    ) -> ApiResult<GroupId> {
        match &self.settings {
            Some(all) => {
                Ok(all.get(&(stream_id, setting)).copied().unwrap_or_else(|| setting.default_group().id()))
            }
            None => setting.group_of(connection, stream_id),
        }
    }

    fn subscribers(&self, connection: &Connection, stream: &StreamRow) -> ApiResult<RoaringBitmap> {
        let active = &self.roles().active;
        if active.len() > MAX_POINT_LOOKUPS as u64 {
            return Ok(rows::channel::subscribers(connection, stream.stream_id)? & active);
        }
        let mut subscribers = RoaringBitmap::new();
        for bit in active {
            if rows::channel::is_subscribed(connection, UserId::from(bit), stream.stream_id)? {
                subscribers.insert(bit);
            }
        }
        Ok(subscribers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::auth::Ctx;
    use crate::domain::access::channels::Viewer;
    use crate::domain::groups::setting::{Owner, set};
    use crate::domain::groups::{insert_anonymous, system};
    use crate::domain::rows;
    use proptest::collection::vec;
    use proptest::prelude::*;

    const NOW: i64 = 10;
    const USERS: i64 = 7;

    /// A channel: private, web-public, subscribers, and the members and subgroups that hold each setting which shows it.
    type Channel = (bool, bool, Vec<i64>, [(Vec<i64>, Vec<i64>); 3]);

    fn channel() -> impl Strategy<Value = Channel> {
        let holders = || (vec(1..=USERS, 0..2), vec(1_i64..8, 0..2));
        let private = prop::bool::weighted(0.8);
        (private, prop::bool::ANY, vec(1..=USERS, 0..3), [holders(), holders(), holders()])
            .prop_map(|(private, web, subscribers, holders)| (private, web && !private, subscribers, holders))
    }

    fn insert(connection: &Connection, channel: &Channel) -> StreamRow {
        let (private, web, subscribers, holders) = channel;
        let sql = "INSERT INTO stream (name, name_key, date_created, invite_only, is_web_public)
                   VALUES ('a', 'a', 0, ?1, ?2)";
        connection.execute(sql, (private, web)).unwrap();
        let stream_id = StreamId(connection.last_insert_rowid());
        connection.execute("INSERT INTO recipient (stream_id) VALUES (?1)", [stream_id]).unwrap();
        for user_id in subscribers {
            let sql = "INSERT OR IGNORE INTO subscription (user_id, stream_id, active, color) VALUES (?1, ?2, 1, '')";
            connection.execute(sql, (user_id, stream_id)).unwrap();
        }
        let settings = StreamSetting::ALL.into_iter().filter(|setting| setting.grants_metadata_access());
        for (setting, (members, subgroups)) in settings.zip(holders) {
            let members: Vec<UserId> = members.iter().copied().map(UserId).collect();
            let subgroups: Vec<GroupId> = subgroups.iter().copied().map(GroupId).collect();
            let group = insert_anonymous(connection, &members, &subgroups).unwrap();
            set(connection, Owner::Stream(stream_id.0), setting.name(), group).unwrap();
        }
        rows::channel::by_id(connection, stream_id).unwrap().unwrap()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn viewer_and_set_evaluation_agree(
            users in vec((prop::sample::select(vec![100, 200, 300, 400, 400, 600, 600]), prop::bool::weighted(0.8)),
                USERS as usize),
            channel in channel(),
        ) {
            let connection = Connection::open_in_memory().unwrap();
            connection.execute_batch(crate::store::SCHEMA).unwrap();
            connection.execute("INSERT INTO realm (id, uuid, date_created) VALUES (1, 'x', 0)", []).unwrap();
            system::insert_rows(&connection, 0).unwrap();
            for ((role, is_active), id) in users.iter().zip(1..) {
                let sql = "INSERT INTO user (user_id, email, delivery_email, delivery_email_key, full_name, role,
                               date_joined, is_active) VALUES (?1, ?1, ?1, ?1, 'x', ?2, 0, ?3)";
                connection.execute(sql, (id, role, is_active)).unwrap();
            }
            let stream = insert(&connection, &channel);
            let seen_by = users_who_can_see(&connection, NOW, &stream).unwrap();
            for ((_, is_active), id) in users.iter().zip(1..) {
                let user_id = UserId(id);
                if !is_active {
                    prop_assert!(!user_id.is_in(&seen_by));
                    continue;
                }
                let caller = rows::user::caller(&connection, user_id).unwrap();
                let can_see = Viewer::new(Ctx::new(&connection, &caller, NOW)).can_see(&stream).unwrap();
                prop_assert_eq!(user_id.is_in(&seen_by), can_see, "user {}", id);
                let mut alone = ChannelViewers::load(&connection, UserFilter::Users(&[user_id]), NOW).unwrap();
                let seen_by_one = alone.users_who_can_see(&connection, &stream).unwrap();
                prop_assert_eq!(seen_by_one, user_id.bit().into_iter().filter(|_| can_see).collect());
            }
            let subscribers = rows::channel::subscribers(&connection, stream.stream_id).unwrap();
            let mut all = ChannelViewers::load(&connection, UserFilter::Everyone, NOW).unwrap();
            let without = all.without_subscription(&connection, &stream).unwrap();
            let mut loaded = ChannelViewers::load_with_settings(&connection, UserFilter::Everyone, NOW).unwrap();
            prop_assert_eq!(&without, &loaded.without_subscription(&connection, &stream).unwrap());
            prop_assert_eq!(without | subscribers, seen_by);
        }
    }
}

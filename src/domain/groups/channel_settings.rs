//! The group settings of a channel: its permissions (spec, "Channel").

use crate::domain::groups::permission::StreamSetting;
use crate::domain::groups::setting::{DirectGroup, GroupSetting, Owner};
use crate::domain::groups::system::SystemGroup;
use crate::domain::groups::{setting, sql};
use crate::error::ApiResult;
use crate::types::{GroupId, StreamId, UserId};
use rusqlite::Connection;
use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;

impl StreamSetting {
    /// The default holders. A new channel's creator becomes its administrator when it is created, so that default is
    /// for channels without a creator.
    pub fn default_group(self) -> SystemGroup {
        self.permission().default.system_group()
    }

    /// True if holders of the permission can see a private channel.
    pub fn grants_metadata_access(self) -> bool {
        self.grants_content_access() || self == Self::CanAdministerChannel
    }

    /// True if holders of the permission can read a private channel. Only readers may change such a setting.
    pub fn grants_content_access(self) -> bool {
        matches!(self, Self::CanAddSubscribers | Self::CanSubscribe)
    }

    /// True if setting it needs the organization's permission to choose who deletes messages (feature level 407).
    pub fn is_about_deleting(self) -> bool {
        matches!(self, Self::CanDeleteAnyMessage | Self::CanDeleteOwnMessage)
    }

    /// Checks a value sent by a client, and creates the group for it.
    pub fn parse(self, connection: &Connection, value: &GroupSetting) -> ApiResult<GroupId> {
        setting::parse(connection, &self.permission(), value)
    }

    /// The group that holds the permission in a channel.
    pub fn group_of(self, connection: &Connection, stream_id: StreamId) -> ApiResult<GroupId> {
        setting::group_of(connection, Owner::Stream(stream_id.0), self.name(), self.default_group())
    }
}

/// The groups that hold the permissions which show channels, of all channels where they were ever set.
pub fn that_show_channels(connection: &Connection) -> ApiResult<HashMap<(StreamId, StreamSetting), GroupId>> {
    let mut groups = HashMap::new();
    for (stream_id, name, group) in sql::all_settings(connection, "stream")? {
        let setting = StreamSetting::named(&name).filter(|setting| setting.grants_metadata_access());
        groups.extend(setting.map(|setting| ((StreamId(stream_id), setting), group)));
    }
    Ok(groups)
}

/// Names a new channel's creator as its administrator.
pub fn set_creator(connection: &Connection, stream_id: StreamId, creator: UserId) -> ApiResult<()> {
    let value =
        GroupSetting::Direct(DirectGroup { direct_members: vec![creator], direct_subgroups: Vec::new() });
    let administer = StreamSetting::CanAdministerChannel;
    let group = administer.parse(connection, &value)?;
    setting::set(connection, Owner::Stream(stream_id.0), administer.name(), group)
}

/// All group settings of a channel, as members of a JSON object.
#[derive(Clone, Debug)]
pub struct Settings(Vec<(StreamSetting, GroupSetting)>);

impl Settings {
    /// Loads the settings of a channel.
    pub fn load(connection: &Connection, stream_id: StreamId) -> ApiResult<Self> {
        let stored = crate::domain::groups::sql::settings(connection, "stream", stream_id.0)?;
        let value = |setting: StreamSetting| {
            let group = stored.iter().find(|(name, _)| name == setting.name());
            let group = group.map_or_else(|| setting.default_group().id(), |(_, group)| *group);
            Ok((setting, setting::to_wire(connection, group)?))
        };
        StreamSetting::ALL.into_iter().map(value).collect::<ApiResult<_>>().map(Self)
    }

    /// One of them.
    pub fn get(&self, setting: StreamSetting) -> Option<&GroupSetting> {
        self.0.iter().find(|(name, _)| *name == setting).map(|(_, value)| value)
    }
}

impl<'de> Deserialize<'de> for Settings {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(SettingsVisitor)
    }
}

/// Reads the settings from an object that may have other members too.
struct SettingsVisitor;

impl<'de> Visitor<'de> for SettingsVisitor {
    type Value = Settings;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the group settings of a channel")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Settings, A::Error> {
        let mut settings = Vec::new();
        while let Some(name) = members.next_key::<Cow<'_, str>>()? {
            match StreamSetting::named(&name) {
                Some(setting) => settings.push((setting, members.next_value()?)),
                None => drop(members.next_value::<IgnoredAny>()?),
            }
        }
        Ok(Settings(settings))
    }
}

impl Serialize for Settings {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(setting, value)| (setting.name(), value)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_readers_may_let_others_in() {
        for setting in StreamSetting::ALL {
            let grants_content_access =
                matches!(setting, StreamSetting::CanAddSubscribers | StreamSetting::CanSubscribe);
            assert_eq!(setting.grants_content_access(), grants_content_access, "{setting:?}");
            assert!(setting.grants_metadata_access() || !setting.grants_content_access(), "{setting:?}");
        }
    }
}

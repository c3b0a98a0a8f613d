//! Emulation of an older server: its version and feature level, without later members.

use crate::domain::groups::system::SystemGroup;
use crate::domain::groups::system::SystemGroup::{
    Administrators, Everyone, FullMembers, Internet, Members, Moderators, Nobody, Owners,
};
use crate::http::{ApiError, ApiResult};
use crate::types::GroupId;
use crate::types::version::FEATURE_LEVEL;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The feature level at which fields appeared: of which object, the name, the level.
const FIELDS: &str = include_str!("feature_levels.txt");

/// The feature levels of published releases. The levels before one are of its development.
const RELEASES: &[(i64, &str)] = &[
    (25, "3.0"),
    (27, "3.1"),
    (65, "4.0"),
    (122, "5.0"),
    (156, "6.0"),
    (157, "6.2"),
    (185, "7.0"),
    (237, "8.0"),
    (277, "9.0"),
    (278, "9.2"),
    (371, "10.0"),
    (372, "10.1"),
    (FEATURE_LEVEL, "11.0"),
];

/// Policies that were numbers before permissions replaced them: the first feature level, the policy, the permission, and
/// the narrowest and the widest group with a number.
const POLICIES: [(i64, &str, &str, SystemGroup, SystemGroup); 7] = [
    (1, "realm_invite_to_stream_policy", "realm_can_add_subscribers_group", Administrators, Members),
    (1, "realm_user_group_edit_policy", "realm_can_create_groups", Administrators, Members),
    (50, "realm_invite_to_realm_policy", "realm_can_invite_users_group", Nobody, Members),
    (
        56,
        "realm_move_messages_between_streams_policy",
        "realm_can_move_messages_between_channels_group",
        Nobody,
        Members,
    ),
    (75, "realm_edit_topic_policy", "realm_can_move_messages_between_topics_group", Nobody, Everyone),
    (85, "realm_add_custom_emoji_policy", "realm_can_add_custom_emoji_group", Administrators, Members),
    (101, "realm_delete_own_message_policy", "realm_can_delete_own_message_group", Administrators, Everyone),
];

/// Members that were renamed: the object, the name, the earlier name, and the first feature level that had it.
const EARLIER_NAMES: [(&str, &str, &str, i64); 10] = [
    ("register", "max_icon_file_size_mib", "max_icon_file_size", 1),
    ("register", "max_logo_file_size_mib", "max_logo_file_size", 1),
    ("register", "realm_new_stream_announcements_stream_id", "realm_notifications_stream_id", 1),
    ("register", "realm_signup_announcements_stream_id", "realm_signup_notifications_stream_id", 1),
    ("register", "web_home_view", "default_view", 42),
    ("channel", "can_remove_subscribers_group", "can_remove_subscribers_group_id", 142),
    ("person", "is_system_bot", "is_cross_realm_bot", 1),
    ("group", "can_mention_group", "can_mention_group_id", 191),
    ("setting", "web_escape_navigates_to_home_view", "escape_navigates_to_default_view", 107),
    ("setting", "web_home_view", "default_view", 42),
];

/// The version that a test server announces instead of its own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object")]
pub struct Level {
    /// The feature level. `GET /server_settings` and `POST /register` omit later members. Renamed members have their
    /// earlier names. Most permissions of later levels are the numeric policies that they replaced.
    pub feature_level: i64,
    /// The version; by default the release of that level, or the next one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
}

impl Level {
    /// Checks that the level is at most our own: members of later levels do not exist.
    pub fn check(&self) -> ApiResult<()> {
        if (1..=FEATURE_LEVEL).contains(&self.feature_level) {
            return Ok(());
        }
        let level = self.feature_level;
        Err(ApiError::bad_request(format!("\"feature_level\" is from 1 to {FEATURE_LEVEL}, not {level}")))
    }

    /// The version to announce.
    pub fn version(&self) -> String {
        let release = RELEASES.iter().find(|(level, _)| self.feature_level <= *level);
        self.version.clone().unwrap_or_else(|| release.map_or("11.0", |(_, version)| version).to_owned())
    }

    /// True if the response to a request has to be changed.
    pub fn concerns(path: &str) -> bool {
        matches!(path, "/api/v1/server_settings" | "/api/v1/register")
    }

    /// Changes a response to `GET /server_settings` or `POST /register`.
    pub fn apply(&self, path: &str, answer: &mut Value) {
        for prefix in ["zulip", "svc"] {
            for (name, value) in [
                ("feature_level", Value::from(self.feature_level)),
                ("version", self.version().into()),
                ("merge_base", self.version().into()),
            ] {
                let name = format!("{prefix}_{name}");
                if answer.get(&name).is_some() {
                    answer[name.as_str()] = value;
                }
            }
        }
        let top = if path.ends_with("register") { "register" } else { "server_settings" };
        if top == "register" {
            self.add_policies(answer);
            self.add_irregular_policies(answer);
            self.hide_system_groups(answer);
        }
        self.hide(top, answer);
        let lists = [
            ("channel", ["subscriptions", "unsubscribed", "never_subscribed", "streams"].as_slice()),
            ("person", &["realm_users", "realm_non_active_users", "cross_realm_bots"]),
            ("group", &["realm_user_groups"]),
            ("linkifier", &["realm_linkifiers"]),
            ("setting", &["user_settings", "realm_user_settings_defaults"]),
        ];
        for (object, members) in lists {
            for member in members {
                match answer.get_mut(*member) {
                    Some(Value::Array(items)) => items.iter_mut().for_each(|item| self.hide(object, item)),
                    Some(settings @ Value::Object(_)) => self.hide(object, settings),
                    _ => {}
                }
            }
        }
    }

    /// Adds the policies that later permissions replaced.
    fn add_policies(&self, answer: &mut Value) {
        for (level, policy, permission, narrowest, widest) in POLICIES {
            if self.feature_level >= level
                && self.later("register").any(|member| member == permission)
                && let Some(value) = answer.get(permission)
            {
                answer[policy] = policy_number(value, narrowest, widest).into();
            }
        }
    }

    /// Adds policies with numbers of their own, and one that became several.
    fn add_irregular_policies(&self, answer: &mut Value) {
        let replaced = |permission: &str| {
            let is_later = self.later("register").any(|member| member == permission);
            answer.get(permission).filter(|_| is_later)
        };
        let is_of_members = |permission: &Value| policy_number(permission, Administrators, Members) == 1;
        let bots = replaced("realm_can_create_bots_group").map(|all_bots| {
            let write_only = replaced("realm_can_create_write_only_bots_group");
            match (is_of_members(all_bots), write_only.is_some_and(is_of_members)) {
                (true, _) => 1,
                (false, true) => 2,
                (false, false) => 3,
            }
        });
        let direct = replaced("realm_direct_message_permission_group")
            .map(|permission| if policy_number(permission, Nobody, Everyone) == 6 { 2 } else { 1 });
        let channels = replaced("realm_create_public_stream_policy").and_then(Value::as_i64);
        let policies = [
            ("realm_bot_creation_policy", bots),
            ("realm_private_message_policy", direct),
            ("realm_create_stream_policy", channels),
        ];
        for (policy, number) in policies {
            if let Some(number) = number {
                answer[policy] = number.into();
            }
        }
    }

    /// Removes system groups where clients could not tell them from others.
    fn hide_system_groups(&self, answer: &mut Value) {
        if self.later("group").any(|member| member == "is_system_group")
            && let Some(Value::Array(groups)) = answer.get_mut("realm_user_groups")
        {
            groups.retain(|group| group["is_system_group"] != true);
        }
    }

    /// Removes later members from an object. Those that had another name before get it.
    fn hide(&self, object: &str, value: &mut Value) {
        let Some(members) = value.as_object_mut() else { return };
        for name in self.later(object) {
            // The others stay in their order.
            let removed = members.shift_remove(name);
            let earlier = EARLIER_NAMES.iter().find(|(of, later, _, level)| {
                *of == object && *later == name && self.feature_level >= *level
            });
            // A permission of several users and groups could not be expressed.
            if let (Some(value), Some((_, _, earlier, _))) = (removed, earlier)
                && !value.is_object()
            {
                members.insert((*earlier).to_owned(), value);
            }
        }
    }

    /// The members of an object that came after the level.
    fn later(&self, object: &str) -> impl Iterator<Item = &'static str> {
        FIELDS.lines().filter_map(move |line| {
            let (name, level) = line.strip_prefix(object)?.strip_prefix(' ')?.split_once(' ')?;
            (level.parse::<i64>().ok()? > self.feature_level).then_some(name)
        })
    }
}

/// The number of a policy; that of the widest group if the permission belongs to no system group.
fn policy_number(permission: &Value, narrowest: SystemGroup, widest: SystemGroup) -> i64 {
    let group = permission.as_i64().and_then(|id| SystemGroup::with_id(GroupId(id)));
    match group.unwrap_or(widest).clamp(narrowest, widest) {
        Members => 1,
        Owners | Administrators => 2,
        FullMembers => 3,
        Moderators => 4,
        Everyone | Internet => 5,
        Nobody => 6,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn later_members_are_hidden() {
        let mut answer = json!({
            "zulip_version": "11.0-teamchat", "zulip_feature_level": 421, "zulip_merge_base": "11.0-teamchat",
            "channel_folders": [], "queue_id": "q", "subscriptions": [{"name": "a", "is_archived": false}],
        });
        let level = Level { feature_level: 277, version: None };
        level.apply("/api/v1/register", &mut answer);
        let expected = json!({
            "zulip_version": "9.0", "zulip_feature_level": 277, "zulip_merge_base": "9.0",
            "queue_id": "q", "subscriptions": [{"name": "a"}],
        });
        assert_eq!(answer, expected);
    }

    #[test]
    fn renamed_members_have_their_earlier_names() {
        let answer = json!({
            "realm_new_stream_announcements_stream_id": 3,
            "web_home_view": "inbox",
            "subscriptions": [
                {"can_remove_subscribers_group": 11},
                {"can_remove_subscribers_group": {"direct_members": [8], "direct_subgroups": []}},
            ],
        });
        let cases = [
            (
                196,
                json!({
                    "subscriptions": [{"can_remove_subscribers_group_id": 11}, {}],
                    "realm_notifications_stream_id": 3, "default_view": "inbox",
                }),
            ),
            (41, json!({"subscriptions": [{}, {}], "realm_notifications_stream_id": 3})),
            (FEATURE_LEVEL, answer.clone()),
        ];
        for (feature_level, expected) in cases {
            let mut shown = answer.clone();
            Level { feature_level, version: None }.apply("/api/v1/register", &mut shown);
            assert_eq!(shown, expected, "level {feature_level}");
        }
        for (object, name, ..) in EARLIER_NAMES {
            let is_known =
                Level { feature_level: 1, version: None }.later(object).any(|member| member == name);
            assert!(is_known, "no line for {object} {name}");
        }
    }

    #[test]
    fn system_groups_are_hidden_where_they_look_as_others() {
        let group =
            |name: &str, is_system_group: bool| json!({"name": name, "is_system_group": is_system_group});
        let all = json!([group("role:owners", true), group("actors", false)]);
        for (feature_level, expected) in [(92, json!([{"name": "actors"}])), (93, all.clone())] {
            let mut shown = json!({"realm_user_groups": all});
            Level { feature_level, version: None }.apply("/api/v1/register", &mut shown);
            assert_eq!(shown["realm_user_groups"], expected, "level {feature_level}");
        }
    }

    #[test]
    fn policies_take_the_place_of_later_permissions() {
        let answer = json!({
            "realm_can_delete_own_message_group": Everyone.id(),
            "realm_can_move_messages_between_topics_group": Nobody.id(),
            "realm_can_add_subscribers_group": Nobody.id(),
            "realm_can_invite_users_group": {"direct_members": [8], "direct_subgroups": []},
            "realm_can_delete_any_message_group": Administrators.id(),
        });
        let cases = [
            (
                290,
                json!({
                    "realm_can_delete_any_message_group": Administrators.id(),
                    "realm_invite_to_stream_policy": 2,
                    "realm_invite_to_realm_policy": 1,
                    "realm_edit_topic_policy": 6,
                    "realm_delete_own_message_policy": 5,
                }),
            ),
            (74, json!({"realm_invite_to_stream_policy": 2, "realm_invite_to_realm_policy": 1})),
            (FEATURE_LEVEL, answer.clone()),
        ];
        for (feature_level, expected) in cases {
            let mut shown = answer.clone();
            Level { feature_level, version: None }.apply("/api/v1/register", &mut shown);
            assert_eq!(shown, expected, "level {feature_level}");
        }
        for (_, policy, permission, ..) in POLICIES {
            let is_known =
                Level { feature_level: 1, version: None }.later("register").any(|name| name == permission);
            assert!(is_known, "{policy}: no line for {permission}");
        }
    }

    #[test]
    fn policies_with_numbers_of_their_own_are_those_of_older_servers() {
        let cases = [
            (Members, Members, Everyone, (1, 1)),
            (Administrators, Members, Nobody, (2, 2)),
            (Administrators, Administrators, Members, (3, 1)),
        ];
        for (all_bots, write_only, direct, (bots, private)) in cases {
            let answer = json!({
                "realm_can_create_bots_group": all_bots.id(),
                "realm_can_create_write_only_bots_group": write_only.id(),
                "realm_direct_message_permission_group": direct.id(),
                "realm_create_public_stream_policy": 4,
            });
            for (feature_level, expected) in [
                (FEATURE_LEVEL, answer.clone()),
                (
                    101,
                    json!({
                        "realm_bot_creation_policy": bots,
                        "realm_private_message_policy": private,
                        "realm_create_stream_policy": 4,
                    }),
                ),
            ] {
                let mut shown = answer.clone();
                Level { feature_level, version: None }.apply("/api/v1/register", &mut shown);
                assert_eq!(shown, expected, "level {feature_level}");
            }
        }
    }

    #[test]
    fn a_level_announces_its_release_or_the_next() {
        let versions = [
            (25, "3.0"),
            (26, "3.1"),
            (64, "4.0"),
            (65, "4.0"),
            (66, "5.0"),
            (122, "5.0"),
            (123, "6.0"),
            (157, "6.2"),
            (158, "7.0"),
            (185, "7.0"),
            (237, "8.0"),
            (238, "9.0"),
            (277, "9.0"),
            (278, "9.2"),
            (371, "10.0"),
            (372, "10.1"),
            (373, "11.0"),
            (FEATURE_LEVEL, "11.0"),
        ];
        for (feature_level, version) in versions {
            assert_eq!(Level { feature_level, version: None }.version(), version, "level {feature_level}");
        }
        let version = Some("8.4".to_owned());
        assert_eq!(Level { feature_level: 237, version }.version(), "8.4");
    }

    /// Levels above our own are those of members that came later and are served all the same: no emulated server has them.
    #[test]
    fn the_table_is_well_formed_and_sorted() {
        let objects = ["server_settings", "register", "channel", "person", "group", "setting", "linkifier"];
        let mut places = Vec::new();
        for line in FIELDS.lines() {
            let words: Vec<&str> = line.split(' ').collect();
            let [object, _, level] = words.as_slice() else {
                panic!("{line:?} is not an object, a member and a level: `register muted_users 48`")
            };
            let place = objects.iter().position(|known| known == object);
            let place = place.unwrap_or_else(|| panic!("{line:?} begins with none of {objects:?}"));
            let level: i64 =
                level.parse().unwrap_or_else(|_| panic!("{line:?} does not end with a feature level"));
            assert!(level >= 2, "{line:?}: every server has what came with level 1");
            places.push((place, level, line));
        }
        for pair in places.windows(2) {
            let [(one, level, before), (other, next, line)] = pair else { unreachable!() };
            let is_sorted = (one, level) <= (other, next);
            assert!(is_sorted, "{line:?} is not in order: by object, then by level; it follows {before:?}");
        }
    }
}

//! The organization's settings among the parameters of a request. Every row of the tables of settings and permissions
//! is a parameter, except `NOT_SETTABLE`.

use crate::domain::groups::realm_settings::RealmGroup;
use crate::domain::groups::setting::SettingChange;
use crate::domain::limits::MAX_CODE_LANGUAGE_LENGTH;
use crate::domain::realm::settings::PROPERTIES;
use crate::http::params::JsonOrText;
use crate::types::{Kind, Property};
use serde::de::Error as _;
use serde::de::{DeserializeSeed, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use std::fmt;
use std::sync::LazyLock;

/// The maximum length of the organization's name, in characters.
const MAX_NAME_LENGTH: usize = 40;

/// The maximum length of the organization's description, in characters.
const MAX_DESCRIPTION_LENGTH: usize = 1000;

/// The maximum length of the welcome bot's text, in characters.
pub const MAX_WELCOME_MESSAGE_LENGTH: usize = 8000;

/// Settings that are derived from uploads, from the server or from another setting.
const NOT_SETTABLE: &[&str] = &[
    "icon_source",
    "icon_version",
    "logo_source",
    "logo_version",
    "night_logo_source",
    "night_logo_version",
    "password_auth_enabled",
    "presence_disabled",
    "rendered_description",
];

/// The settings that are parameters.
pub fn settable() -> impl Iterator<Item = &'static Property> {
    PROPERTIES.iter().filter(|property| !NOT_SETTABLE.contains(&property.name))
}

/// The names of all parameters.
static NAMES: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
    let values = settable().map(|property| property.name);
    values.chain(RealmGroup::ALL.map(RealmGroup::name)).collect()
});

/// The settings that a request changes.
#[derive(Default)]
pub struct RealmChanges {
    /// Settings with the values of the request, each of the setting's kind.
    pub values: Vec<(&'static Property, Value)>,
    /// Permissions with their changes.
    pub groups: Vec<(RealmGroup, SettingChange)>,
}

impl<'de> Deserialize<'de> for RealmChanges {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_struct("RealmChanges", NAMES.as_slice(), RealmChangesVisitor)
    }
}

struct RealmChangesVisitor;

impl<'de> Visitor<'de> for RealmChangesVisitor {
    type Value = RealmChanges;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("settings")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<RealmChanges, A::Error> {
        let mut changes = RealmChanges::default();
        while let Some(name) = map.next_key::<&str>()? {
            if let Some(property) = PROPERTIES.iter().find(|property| property.name == name) {
                let value = map.next_value_seed(ValueSeed(property))?;
                changes.values.extend(value.map(|value| (property, value)));
            } else if let Some(group) = RealmGroup::named(name) {
                let change = map.next_value::<Option<SettingChange>>()?;
                changes.groups.extend(change.map(|change| (group, change)));
            } else {
                return Err(A::Error::custom("Invalid {}"));
            }
        }
        Ok(changes)
    }
}

/// Reads a value of the setting's kind. JSON `null` leaves the setting unchanged.
struct ValueSeed(&'static Property);

impl<'de> DeserializeSeed<'de> for ValueSeed {
    type Value = Option<Value>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Option<Value>, D::Error> {
        let Property { name, kind, .. } = *self.0;
        if is_limit(name) {
            return read_json(deserializer, "{} is not an integer", |value| {
                value.is_i64() || value.is_string()
            });
        }
        match kind {
            _ if name == "jitsi_server_url" => {
                read_json(deserializer, "{} is not a string", Value::is_string)
            }
            Kind::Bool(_) => Ok(Option::<bool>::deserialize(deserializer)?.map(Value::from)),
            Kind::Number(_) | Kind::NumberOrNull(_) | Kind::NumberOf(..) => {
                let Some(number) = Option::<i64>::deserialize(deserializer)? else { return Ok(None) };
                check_number(self.0, number).map_err(D::Error::custom)?;
                Ok(Some(number.into()))
            }
            Kind::Text(_) | Kind::TextOrNull(_) | Kind::WordOf(..) => {
                let text = String::deserialize(deserializer)?;
                check_text(self.0, &text).map_err(D::Error::custom)?;
                Ok(Some(text.into()))
            }
        }
    }
}

/// Whether a setting is a number of seconds or days that can be `"unlimited"`.
pub fn is_limit(name: &str) -> bool {
    name.ends_with("_limit_seconds") || name == "message_retention_days"
}

/// Reads a JSON value for which `is_right` holds; `None` for `null`.
fn read_json<'de, D: Deserializer<'de>>(
    deserializer: D,
    otherwise: &'static str,
    is_right: fn(&Value) -> bool,
) -> Result<Option<Value>, D::Error> {
    match JsonOrText::deserialize(deserializer)? {
        JsonOrText::Text(_) => Err(D::Error::custom("{} is not valid JSON")),
        JsonOrText::Json(Value::Null) => Ok(None),
        JsonOrText::Json(value) if is_right(&value) => Ok(Some(value)),
        JsonOrText::Json(_) => Err(D::Error::custom(otherwise)),
    }
}

fn check_number(property: &Property, number: i64) -> Result<(), &'static str> {
    match property.name {
        // A 32-bit column on the published server.
        "waiting_period_threshold" if number < 0 => Err("{} is too small"),
        "waiting_period_threshold" if number > i64::from(i32::MAX) => Err("{} is too large"),
        // Checked in `rules::value`, with error texts of their own.
        "giphy_rating" | "video_chat_provider" => Ok(()),
        _ if matches!(property.kind, Kind::NumberOf(..)) && !property.allows(&number.into()) => {
            Err("Invalid {}")
        }
        _ => Ok(()),
    }
}

fn check_text(property: &Property, text: &str) -> Result<(), String> {
    let limit = match property.name {
        "name" => MAX_NAME_LENGTH,
        "description" => MAX_DESCRIPTION_LENGTH,
        "default_code_block_language" => MAX_CODE_LANGUAGE_LENGTH,
        "welcome_message_custom_text" => MAX_WELCOME_MESSAGE_LENGTH,
        _ => usize::MAX,
    };
    if text.chars().count() > limit {
        return Err(format!("{{}} is too long (limit: {limit} characters)"));
    }
    if matches!(property.kind, Kind::WordOf(..)) && !property.allows(&text.into()) {
        return Err("Invalid {}".to_owned());
    }
    Ok(())
}

//! The settings among the parameters of a request. Every row of the settings table is a parameter.

use crate::domain::user_settings::languages;
use crate::domain::user_settings::table::{NAMES, NOTIFICATION_SOUNDS, PROPERTIES, WITHOUT_DEFAULT};
use crate::http::{ApiError, ApiResult};
use crate::types::{Kind, Property};
use serde::de::Error as _;
use serde::de::{DeserializeSeed, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use std::fmt;
use std::sync::LazyLock;

/// The maximum of `email_notifications_batching_period_seconds`: a week.
const MAX_BATCHING_PERIOD_SECONDS: i64 = 7 * 24 * 60 * 60;

/// The maximum of sizes, which are 16-bit columns on the published server.
const MAX_SIZE: i64 = 32_767;

/// The settings of a request and their new values, each of the setting's kind.
pub struct SettingValues(pub Vec<(&'static Property, Value)>);

impl<'de> Deserialize<'de> for SettingValues {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_struct("SettingValues", &NAMES, SettingValuesVisitor)
    }
}

/// The same without the settings that the organization has no default of: their names are unknown here.
pub struct DefaultValues(pub SettingValues);

impl<'de> Deserialize<'de> for DefaultValues {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        static DEFAULT_NAMES: LazyLock<Vec<&'static str>> =
            LazyLock::new(|| NAMES.into_iter().filter(|name| !WITHOUT_DEFAULT.contains(name)).collect());
        deserializer.deserialize_struct("DefaultValues", &DEFAULT_NAMES, SettingValuesVisitor).map(Self)
    }
}

struct SettingValuesVisitor;

impl<'de> Visitor<'de> for SettingValuesVisitor {
    type Value = SettingValues;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("settings")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<SettingValues, A::Error> {
        let mut changes = Vec::new();
        while let Some(name) = map.next_key::<&str>()? {
            let property = PROPERTIES.iter().find(|property| property.name == name);
            let property = property.ok_or_else(|| A::Error::custom("Invalid {}"))?;
            if let Some(value) = map.next_value_seed(ValueSeed(property))? {
                changes.push((property, value));
            }
        }
        Ok(SettingValues(changes))
    }
}

/// Reads a value of the setting's kind. JSON `null` leaves the setting unchanged.
struct ValueSeed(&'static Property);

impl<'de> DeserializeSeed<'de> for ValueSeed {
    type Value = Option<Value>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Option<Value>, D::Error> {
        let value = match self.0.kind {
            Kind::Bool(_) => Option::<bool>::deserialize(deserializer)?.map(Value::from),
            Kind::Number(_) | Kind::NumberOf(..) | Kind::NumberOrNull(_) => {
                Option::<i64>::deserialize(deserializer)?.map(Value::from)
            }
            Kind::Text(_) | Kind::TextOrNull(_) | Kind::WordOf(..) => {
                Some(String::deserialize(deserializer)?.into())
            }
        };
        match value {
            Some(value) if !self.0.allows(&value) => Err(D::Error::custom("Invalid {}")),
            value => Ok(value),
        }
    }
}

impl SettingValues {
    /// Checks the rules of single settings beyond their kind.
    pub fn check(&self) -> ApiResult<()> {
        for (property, value) in &self.0 {
            check(property.name, value).map_err(ApiError::bad_request)?;
        }
        Ok(())
    }
}

fn check(name: &str, value: &Value) -> Result<(), String> {
    let text = value.as_str().unwrap_or_default();
    let number = value.as_i64().unwrap_or_default();
    let (is_good, msg) = match name {
        "default_language" => (languages::name(text).is_some(), "Invalid default_language".to_owned()),
        "notification_sound" => (
            text == "none" || NOTIFICATION_SOUNDS.contains(&text),
            format!("Invalid notification sound '{text}'"),
        ),
        "email_notifications_batching_period_seconds" => (
            (1..=MAX_BATCHING_PERIOD_SECONDS).contains(&number),
            format!("Invalid email batching period: {number} seconds"),
        ),
        "web_font_size_px" | "web_line_height_percent" => {
            ((1..=MAX_SIZE).contains(&number), format!("Invalid {name}"))
        }
        _ => return Ok(()),
    };
    if is_good { Ok(()) } else { Err(msg) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::form::Form;
    use serde_json::json;

    fn read(query: &str) -> Result<Vec<(&'static str, Value)>, String> {
        let form = Form::new(Some(query), None, bytes::Bytes::new(), vec![]).unwrap();
        let changes: SettingValues = form.parse().map_err(|error| error.to_string())?;
        changes.check().map_err(|error| error.msg().to_owned())?;
        Ok(changes.0.into_iter().map(|(property, value)| (property.name, value)).collect())
    }

    #[test]
    fn values_are_read_by_their_kind_and_refused_in_the_published_words() {
        let good = [
            ("enter_sends=true", json!({"enter_sends": true})),
            ("color_scheme=2&emojiset=text", json!({"color_scheme": 2, "emojiset": "text"})),
            ("enter_sends=null&unknown=1", json!({})),
            ("notification_sound=none", json!({"notification_sound": "none"})),
            ("default_language=de", json!({"default_language": "de"})),
        ];
        for (query, expected) in good {
            let found: serde_json::Map<String, Value> =
                read(query).unwrap().into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
            assert_eq!(Value::Object(found), expected, "{query}");
        }
        let bad = [
            ("enter_sends=maybe", "enter_sends is not valid JSON"),
            ("enter_sends=1", "enter_sends is not a boolean"),
            ("color_scheme=4", "Invalid color_scheme"),
            ("color_scheme=%22dark%22", "color_scheme is not an integer"),
            ("emojiset=apple", "Invalid emojiset"),
            ("web_home_view=nowhere", "Invalid web_home_view"),
            ("default_language=klingon", "Invalid default_language"),
            ("notification_sound=bang", "Invalid notification sound 'bang'"),
            ("email_notifications_batching_period_seconds=0", "Invalid email batching period: 0 seconds"),
            (
                "email_notifications_batching_period_seconds=604801",
                "Invalid email batching period: 604801 seconds",
            ),
            ("web_font_size_px=-1", "Invalid web_font_size_px"),
        ];
        for (query, msg) in bad {
            assert_eq!(read(query).unwrap_err(), msg, "{query}");
        }
    }
}

//! The properties of a subscription that its user can change, and the colours of new subscriptions.

use crate::error::{ApiError, ApiResult};
use rusqlite::types::Value as SqlValue;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The colours of new subscriptions, in the order of assignment.
const PALETTE: [&str; 24] = [
    "#4c8dd9", "#e8743b", "#3fa66b", "#c95792", "#8a6fdf", "#d9a521", "#2fa8a8", "#d1495b", "#7fb13c",
    "#5b6abf", "#b5835a", "#9c89b8", "#f0a6ca", "#6b9080", "#f28482", "#577590", "#cdb4db", "#a3b18a",
    "#e9c46a", "#84a59d", "#bc6c25", "#90be6d", "#9d8189", "#43aa8b",
];

/// Picks the colour of a new subscription: the first one that the user's subscriptions do not use yet, or else the next
/// in turn.
pub fn pick_color(used: &[String]) -> &'static str {
    let unused = PALETTE.into_iter().find(|color| !used.iter().any(|other| other == color));
    unused.unwrap_or_else(|| color_of(used.len()))
}

/// The colour in turn.
pub fn color_of(index: usize) -> &'static str {
    PALETTE[index % PALETTE.len()]
}

/// Normalizes a colour, `#rgb` or `#rrggbb`, to lower-case `#rrggbb`, which every client can read. `name` is the
/// parameter's name in the error.
pub fn color(name: &str, text: &str) -> ApiResult<String> {
    let digits = text.strip_prefix('#').unwrap_or_default().to_ascii_lowercase();
    let is_hexadecimal = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    match digits.len() {
        6 if is_hexadecimal => Ok(format!("#{digits}")),
        3 if is_hexadecimal => Ok(digits.chars().fold(String::from("#"), |mut color, digit| {
            color.extend([digit, digit]);
            color
        })),
        _ => Err(ApiError::bad_request(format!("{name} is not a valid hex color code"))),
    }
}

/// A property of a subscription with its new value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SubscriptionProperty {
    /// Lower-case `#rrggbb`.
    Color(String),
    /// Muting of the channel. The deprecated `in_home_view` is the negation.
    Muted(bool),
    /// One of `BOOLEANS` and its value.
    Boolean(&'static str, bool),
}

/// The other boolean properties. Their columns have the same names.
const BOOLEANS: [&str; 6] = [
    "pin_to_top",
    "desktop_notifications",
    "audible_notifications",
    "push_notifications",
    "email_notifications",
    "wildcard_mentions_notify",
];

impl SubscriptionProperty {
    /// Parses a property and its value.
    pub fn parse(property: &str, value: &Value) -> ApiResult<Self> {
        if property == "color" {
            let text = value.as_str().unwrap_or_default();
            return color("color", text).map(Self::Color);
        }
        let boolean = BOOLEANS.into_iter().find(|name| *name == property);
        if boolean.is_none() && !matches!(property, "is_muted" | "in_home_view") {
            return Err(ApiError::bad_request(format!("Unknown subscription property: {property}")));
        }
        let not_boolean = || ApiError::bad_request(format!("{property} is not a boolean"));
        let on = value.as_bool().ok_or_else(not_boolean)?;
        Ok(match boolean {
            Some(name) => Self::Boolean(name, on),
            None => Self::Muted(on == (property == "is_muted")),
        })
    }

    /// The column of `subscription` that stores the property.
    pub fn column(&self) -> &'static str {
        match self {
            Self::Color(_) => "color",
            Self::Muted(_) => "is_muted",
            Self::Boolean(name, _) => name,
        }
    }

    /// The value of the column.
    pub fn sql_value(&self) -> SqlValue {
        match self {
            Self::Color(color) => SqlValue::Text(color.clone()),
            Self::Muted(on) | Self::Boolean(_, on) => SqlValue::Integer((*on).into()),
        }
    }

    /// The properties and values in events. Muting has two, one for each of its names.
    pub fn event_values(&self) -> Vec<(&'static str, SubscriptionValue)> {
        let boolean = SubscriptionValue::Boolean;
        match self {
            Self::Color(color) => vec![("color", SubscriptionValue::Color(color.clone()))],
            Self::Muted(muted) => vec![("in_home_view", boolean(!muted)), ("is_muted", boolean(*muted))],
            Self::Boolean(name, on) => vec![(name, boolean(*on))],
        }
    }
}

/// The value of a property of a subscription: a color for `color`, otherwise a boolean.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum SubscriptionValue {
    /// The color, as `#` and six hexadecimal digits.
    Color(String),
    /// That of every other property.
    Boolean(bool),
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::collections::HashSet;

    #[test]
    fn colours_do_not_repeat_before_they_must() {
        let mut used: Vec<String> = Vec::new();
        for _ in 0..24 {
            used.push(pick_color(&used).to_owned());
        }
        assert_eq!(used.iter().collect::<HashSet<_>>().len(), 24);
        assert_eq!(pick_color(&used), PALETTE[0]);
        used.remove(5);
        assert_eq!(pick_color(&used), PALETTE[5]);
        for picked in PALETTE {
            assert_eq!(color("color", picked).unwrap(), picked);
        }
    }

    #[test]
    fn colours_are_read_as_clients_write_them() {
        let cases = [
            ("#a1b2c3", Some("#a1b2c3")),
            ("#A1B2C3", Some("#a1b2c3")),
            ("#fA0", Some("#ffaa00")),
            ("a1b2c3", None),
            ("#a1b2c", None),
            ("#ggg", None),
            ("#", None),
            ("", None),
            ("#a1b2c3d4", None),
            ("#éé", None),
        ];
        for (text, expected) in cases {
            assert_eq!(color("color", text).ok().as_deref(), expected, "{text:?}");
        }
        assert_eq!(color("add.color", "red").unwrap_err().msg(), "add.color is not a valid hex color code");
    }

    #[test]
    fn properties_are_parsed_and_refused_as_published() {
        let cases = [
            ("color", json!("#00FF00"), Ok(SubscriptionProperty::Color("#00ff00".into()))),
            ("color", json!(true), Err("color is not a valid hex color code")),
            ("is_muted", json!(true), Ok(SubscriptionProperty::Muted(true))),
            ("in_home_view", json!(true), Ok(SubscriptionProperty::Muted(false))),
            ("in_home_view", json!(false), Ok(SubscriptionProperty::Muted(true))),
            ("is_muted", json!("true"), Err("is_muted is not a boolean")),
            ("pin_to_top", json!(true), Ok(SubscriptionProperty::Boolean("pin_to_top", true))),
            ("push_notifications", json!(null), Err("push_notifications is not a boolean")),
            ("name", json!(true), Err("Unknown subscription property: name")),
            ("user_id", json!(1), Err("Unknown subscription property: user_id")),
        ];
        for (property, value, expected) in cases {
            let parsed = SubscriptionProperty::parse(property, &value);
            assert_eq!(
                parsed.as_ref().map_err(ApiError::msg),
                expected.as_ref().map_err(|msg| *msg),
                "{property}"
            );
        }
    }

    #[test]
    fn events_of_muting_have_both_names() {
        assert_eq!(
            SubscriptionProperty::Muted(true).event_values(),
            [
                ("in_home_view", SubscriptionValue::Boolean(false)),
                ("is_muted", SubscriptionValue::Boolean(true))
            ]
        );
    }
}

//! What a user may choose for a channel, and which colour they get: pure rules, with tables of cases.

use crate::http::{ApiError, ApiResult};
use rusqlite::types::Value as SqlValue;
use serde_json::Value;

/// The colours of new subscriptions, in the order in which they are given.
const PALETTE: [&str; 24] = [
    "#4c8dd9", "#e8743b", "#3fa66b", "#c95792", "#8a6fdf", "#d9a521", "#2fa8a8", "#d1495b", "#7fb13c",
    "#5b6abf", "#b5835a", "#9c89b8", "#f0a6ca", "#6b9080", "#f28482", "#577590", "#cdb4db", "#a3b18a",
    "#e9c46a", "#84a59d", "#bc6c25", "#90be6d", "#9d8189", "#43aa8b",
];

/// A colour for a new subscription: the first that the user does not see yet, else each in turn.
pub fn pick_color(used: &[String]) -> &'static str {
    let unused = PALETTE.into_iter().find(|color| !used.iter().any(|other| other == color));
    unused.unwrap_or(PALETTE[used.len() % PALETTE.len()])
}

/// Reads a colour as a client writes it: `#` and six hexadecimal digits, or three that each stand for two. Stored in
/// lower case with six, which every client reads.
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

/// A property of a subscription and its new value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choice {
    /// The colour, as stored.
    Color(String),
    /// Whether the channel is muted. Clients also write it the other way round, as `in_home_view`.
    Muted(bool),
    /// One of the other switches: its name, and whether it is on.
    Switch(&'static str, bool),
}

/// The switches whose column has the property's name.
const SWITCHES: [&str; 6] = [
    "pin_to_top",
    "desktop_notifications",
    "audible_notifications",
    "push_notifications",
    "email_notifications",
    "wildcard_mentions_notify",
];

impl Choice {
    /// Reads a property and its value (in the published words where it is refused).
    pub fn read(property: &str, value: &Value) -> ApiResult<Self> {
        if property == "color" {
            let text = value.as_str().unwrap_or_default();
            return color("color", text).map(Self::Color);
        }
        let switch = SWITCHES.into_iter().find(|name| *name == property);
        if switch.is_none() && !matches!(property, "is_muted" | "in_home_view") {
            return Err(ApiError::bad_request(format!("Unknown subscription property: {property}")));
        }
        let not_boolean = || ApiError::bad_request(format!("{property} is not a boolean"));
        let on = value.as_bool().ok_or_else(not_boolean)?;
        Ok(match switch {
            Some(name) => Self::Switch(name, on),
            None => Self::Muted(on == (property == "is_muted")),
        })
    }

    /// The column.
    pub fn column(&self) -> &'static str {
        match self {
            Self::Color(_) => "color",
            Self::Muted(_) => "is_muted",
            Self::Switch(name, _) => name,
        }
    }

    /// The value in the file.
    pub fn stored(&self) -> SqlValue {
        match self {
            Self::Color(color) => SqlValue::Text(color.clone()),
            Self::Muted(on) | Self::Switch(_, on) => SqlValue::Integer((*on).into()),
        }
    }

    /// The properties and values that clients hear of: muting under both of its names.
    pub fn told(&self) -> Vec<(&'static str, Value)> {
        match self {
            Self::Color(color) => vec![("color", color.as_str().into())],
            Self::Muted(muted) => vec![("in_home_view", (!muted).into()), ("is_muted", (*muted).into())],
            Self::Switch(name, on) => vec![(name, (*on).into())],
        }
    }
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
    fn choices_are_read_and_refused_in_the_published_words() {
        let cases = [
            ("color", json!("#00FF00"), Ok(Choice::Color("#00ff00".into()))),
            ("color", json!(true), Err("color is not a valid hex color code")),
            ("is_muted", json!(true), Ok(Choice::Muted(true))),
            ("in_home_view", json!(true), Ok(Choice::Muted(false))),
            ("in_home_view", json!(false), Ok(Choice::Muted(true))),
            ("is_muted", json!("true"), Err("is_muted is not a boolean")),
            ("pin_to_top", json!(true), Ok(Choice::Switch("pin_to_top", true))),
            ("push_notifications", json!(null), Err("push_notifications is not a boolean")),
            ("name", json!(true), Err("Unknown subscription property: name")),
            ("user_id", json!(1), Err("Unknown subscription property: user_id")),
        ];
        for (property, value, expected) in cases {
            let read = Choice::read(property, &value);
            assert_eq!(
                read.as_ref().map_err(ApiError::msg),
                expected.as_ref().map_err(|msg| *msg),
                "{property}"
            );
        }
    }

    #[test]
    fn muting_is_told_under_both_names() {
        assert_eq!(Choice::Muted(true).told(), [("in_home_view", json!(false)), ("is_muted", json!(true))]);
    }
}

//! Small types for parameters that many endpoints share.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::ops::Deref;

use crate::error::{ApiError, ApiResult};
use crate::types::LAST_SECOND;
use serde::de::{self, Deserialize, Deserializer, Visitor};

/// Parameters of endpoints without any.
#[derive(Debug, serde::Deserialize)]
pub struct NoParams {}

/// A text, trimmed of white space, that has at most `MAX` characters before; by default, any number. The error is that of
/// [`BoundedText`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Trimmed<const MAX: usize = { usize::MAX }>(pub String);

/// A text of at most `MAX` characters (not bytes), untrimmed. The error is `x is too long (limit: 60 characters)`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct BoundedText<const MAX: usize>(String);

/// A text, trimmed of white space, that is not empty and has at most `MAX` characters; by default, any number. The
/// errors are `x cannot be blank` and `x is too long (limit: 60 characters)`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RequiredText<const MAX: usize = { usize::MAX }>(String);

/// A time in UNIX seconds, at most [`LAST_SECOND`]. The error is `x is too large`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnixTime(i64);

/// A [`UnixTime`] from a number with a fraction, which is cut off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FractionalTime(i64);

/// The ids of all rows of a resource in a new order. Unknown ids are ignored, and of an id that is given twice the last
/// position counts.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(transparent)]
pub struct Order(Vec<i64>);

impl Order {
    /// Returns the rows whose position changes, as pairs of id and new position. `rows` are pairs of id and current
    /// position. Fails if the order lacks a row.
    pub fn changes(&self, rows: impl IntoIterator<Item = (i64, i64)>) -> ApiResult<Vec<(i64, i64)>> {
        // Of several entries the last is kept.
        let positions: HashMap<i64, usize> =
            self.0.iter().zip(0..).map(|(id, position)| (*id, position)).collect();
        let mut changes = Vec::new();
        for (id, current) in rows {
            let position = positions.get(&id).and_then(|position| i64::try_from(*position).ok());
            let position = position.ok_or_else(|| ApiError::bad_request("Invalid order mapping."))?;
            if position != current {
                changes.push((id, position));
            }
        }
        Ok(changes)
    }
}

impl UnixTime {
    /// Unwraps the seconds.
    pub fn seconds(self) -> i64 {
        self.0
    }
}

impl FractionalTime {
    /// Unwraps the seconds.
    pub fn seconds(self) -> i64 {
        self.0
    }
}

impl<const MAX: usize> Trimmed<MAX> {
    /// Unwraps the text.
    pub fn into_inner(self) -> String {
        self.0
    }
}

impl<const MAX: usize> BoundedText<MAX> {
    /// Unwraps the text.
    pub fn into_inner(self) -> String {
        self.0
    }
}

impl<const MAX: usize> RequiredText<MAX> {
    /// Unwraps the text.
    pub fn into_inner(self) -> String {
        self.0
    }
}

impl<const MAX: usize> Deref for Trimmed<MAX> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl<const MAX: usize> Deref for BoundedText<MAX> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl<const MAX: usize> Deref for RequiredText<MAX> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl<'de, const MAX: usize> Deserialize<'de> for Trimmed<MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = text(deserializer)?;
        check_length::<D::Error>(&text, MAX)?;
        Ok(Self(text.trim().to_owned()))
    }
}

impl<'de, const MAX: usize> Deserialize<'de> for BoundedText<MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = text(deserializer)?;
        check_length::<D::Error>(&text, MAX)?;
        Ok(Self(text.into_owned()))
    }
}

impl<'de, const MAX: usize> Deserialize<'de> for RequiredText<MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = text(deserializer)?;
        let text = text.trim();
        if text.is_empty() {
            return Err(de::Error::custom("{} cannot be blank"));
        }
        check_length::<D::Error>(text, MAX)?;
        Ok(Self(text.to_owned()))
    }
}

impl<'de> Deserialize<'de> for UnixTime {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        check_time(i64::deserialize(deserializer)?).map(Self)
    }
}

impl<'de> Deserialize<'de> for FractionalTime {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        check_time(f64::deserialize(deserializer)?.floor() as i64).map(Self)
    }
}

fn check_time<E: de::Error>(seconds: i64) -> Result<i64, E> {
    if seconds > LAST_SECOND { Err(E::custom("{} is too large")) } else { Ok(seconds) }
}

fn check_length<E: de::Error>(text: &str, limit: usize) -> Result<(), E> {
    // A character has at least one byte: a short text need not be counted.
    if text.len() > limit && text.chars().count() > limit {
        return Err(E::custom(format_args!("{{}} is too long (limit: {limit} characters)")));
    }
    Ok(())
}

/// The text of a parameter, borrowed from the request where it can be.
fn text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Cow<'de, str>, D::Error> {
    struct TextVisitor;

    impl<'de> Visitor<'de> for TextVisitor {
        type Value = Cow<'de, str>;

        fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            formatter.write_str("a string")
        }

        fn visit_borrowed_str<E: de::Error>(self, text: &'de str) -> Result<Self::Value, E> {
            Ok(Cow::Borrowed(text))
        }

        fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
            Ok(Cow::Owned(text.to_owned()))
        }

        fn visit_string<E: de::Error>(self, text: String) -> Result<Self::Value, E> {
            Ok(Cow::Owned(text))
        }
    }

    deserializer.deserialize_str(TextVisitor)
}

//! The text of one parameter, as the type that asks for it.

use serde::de::value::BorrowedStrDeserializer;
use serde::de::{Deserializer, IgnoredAny, Visitor};
use serde_json::Value;

use super::error::DecodeError;
use super::json_value::JsonValue;

/// The text of one parameter.
#[derive(Clone, Copy)]
pub(super) struct ParameterText<'de> {
    text: &'de str,
    /// This name is known to be a null: an `Option` becomes `None`.
    is_null: bool,
    /// An `Option` is being read, so that `null` is not an error but a discovery.
    inside_option: bool,
}

impl<'de> ParameterText<'de> {
    pub(super) fn new(text: &'de str, is_null: bool) -> Self {
        Self { text, is_null, inside_option: false }
    }

    /// The text for a type that reads JSON, without the white space JSON allows around a value.
    fn json_text(self) -> Result<&'de str, DecodeError> {
        let text = self.text.trim_matches(JSON_WHITE_SPACE);
        if self.inside_option && text == "null" { Err(DecodeError::null()) } else { Ok(text) }
    }

    fn json(self) -> Result<JsonValue, DecodeError> {
        let text = self.json_text()?;
        serde_json::from_str::<Value>(text)
            .map(JsonValue)
            .map_err(|_| DecodeError::text("{} is not valid JSON"))
    }
}

const JSON_WHITE_SPACE: [char; 4] = [' ', '\t', '\n', '\r'];

/// The error for a text that is not what `problem` names: first of all it may not be JSON.
fn not_json_or(text: &str, problem: &'static str) -> DecodeError {
    let is_json = serde_json::from_str::<IgnoredAny>(text).is_ok();
    DecodeError::text(if is_json { problem } else { "{} is not valid JSON" })
}

/// Reads a JSON integer, as wide as any type asks for.
fn integer(text: &str) -> Result<i128, DecodeError> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let all_digits = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    if !all_digits || (digits.len() > 1 && digits.starts_with('0')) {
        return Err(not_json_or(text, "{} is not an integer"));
    }
    // More digits than fit are still an integer, one out of every range.
    Ok(text.parse().unwrap_or(if text.starts_with('-') { i128::MIN } else { i128::MAX }))
}

/// Brings an integer into the range of the type that asks for it.
pub(super) fn into_range<T: TryFrom<i128>>(number: i128) -> Result<T, DecodeError> {
    T::try_from(number)
        .map_err(|_| DecodeError::text(if number < 0 { "{} is too small" } else { "{} is too large" }))
}

/// Reads a text that is one character.
pub(super) fn single_character(text: &str) -> Result<char, DecodeError> {
    let mut characters = text.chars();
    match (characters.next(), characters.next()) {
        (Some(character), None) => Ok(character),
        _ => Err(DecodeError::is_not_length(1)),
    }
}

macro_rules! deserialize_integers {
    ($($method:ident $visit:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
            visitor.$visit(into_range(integer(self.json_text()?)?)?)
        }
    )*};
}

macro_rules! deserialize_json {
    ($($method:ident($($argument:ident: $type:ty),*))*) => {$(
        fn $method<V: Visitor<'de>>(self, $($argument: $type,)* visitor: V) -> Result<V::Value, DecodeError> {
            self.json()?.$method($($argument,)* visitor)
        }
    )*};
}

impl<'de> Deserializer<'de> for ParameterText<'de> {
    type Error = DecodeError;

    deserialize_integers! {
        deserialize_i8 visit_i8  deserialize_i16 visit_i16  deserialize_i32 visit_i32
        deserialize_i64 visit_i64  deserialize_u8 visit_u8  deserialize_u16 visit_u16
        deserialize_u32 visit_u32  deserialize_u64 visit_u64
    }

    deserialize_json! {
        deserialize_any()  deserialize_unit()  deserialize_unit_struct(name: &'static str)
        deserialize_seq()  deserialize_tuple(length: usize)
        deserialize_tuple_struct(name: &'static str, length: usize)
        deserialize_map()  deserialize_struct(name: &'static str, fields: &'static [&'static str])
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        match self.json_text()? {
            "true" => visitor.visit_bool(true),
            "false" => visitor.visit_bool(false),
            text => Err(not_json_or(text, "{} is not a boolean")),
        }
    }

    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        self.deserialize_f64(visitor)
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        let text = self.json_text()?;
        match serde_json::from_str(text) {
            Ok(number) => visitor.visit_f64(number),
            Err(_) => Err(not_json_or(text, "{} is not a float")),
        }
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        visitor.visit_borrowed_str(self.text)
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        visitor.visit_borrowed_str(self.text)
    }

    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        visitor.visit_borrowed_str(self.text)
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        visitor.visit_borrowed_bytes(self.text.as_bytes())
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        visitor.visit_borrowed_bytes(self.text.as_bytes())
    }

    fn deserialize_char<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        visitor.visit_char(single_character(self.text)?)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        if self.is_null {
            visitor.visit_none()
        } else {
            visitor.visit_some(Self { inside_option: true, ..self })
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        visitor.visit_newtype_struct(self)
    }

    /// A variant's name as it stands. Some clients encode every value, so JSON is understood too; a JSON
    /// object holds a variant with data.
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        if self.json_text()?.starts_with(['"', '{']) {
            return self.json()?.deserialize_enum(name, variants, visitor);
        }
        visitor.visit_enum(BorrowedStrDeserializer::new(self.text))
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        visitor.visit_unit()
    }
}

//! The deserializer of one parameter: of its text, and of the JSON inside of it.
//!
//! `serde_json` on its own does not give the published error texts, nor the place of an error.

use serde::de::value::{BorrowedStrDeserializer, MapAccessDeserializer, StrDeserializer, StringDeserializer};
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, IntoDeserializer, MapAccess, SeqAccess, Visitor};
use serde::forward_to_deserialize_any;
use serde_json::{Map, Number, Value};

use super::error::DecodeError;
use crate::types::{MAX_JSON_VALUES, check_values, has_more_values};

/// A parameter, or a value inside of its JSON.
pub(super) enum ParamValue<'de> {
    /// The text of a parameter. The type that is read decides whether it is JSON.
    Text {
        /// The text as sent.
        text: &'de str,
        /// The meaning of the text `null`.
        null: Null,
    },
    /// A value inside of JSON.
    Json(Value),
}

/// The meaning of the text `null`, see `fields::parse`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Null {
    /// An error or a text, for any type.
    Value,
    /// A type inside of an `Option` is being read: if it reads JSON, `null` has to become [`Null::None`].
    InsideOption,
    /// The `Option` is `None`.
    None,
}

const JSON_WHITE_SPACE: [char; 4] = [' ', '\t', '\n', '\r'];

impl ParamValue<'_> {
    /// The JSON value, for types that read JSON.
    fn json(self) -> Result<Value, DecodeError> {
        match self {
            Self::Text { text, null } => {
                let text = json_text(text, null)?;
                check_values(text, MAX_JSON_VALUES)?;
                serde_json::from_str(text).map_err(|_| DecodeError::text("{} is not valid JSON"))
            }
            Self::Json(value) => Ok(value),
        }
    }

    /// The same for types that read one number or boolean: JSON that is too deep or too large for a [`Value`] is then
    /// a value of another type, `problem`.
    fn scalar(self, problem: &'static str) -> Result<Value, DecodeError> {
        match self {
            Self::Text { text, null } => {
                let text = json_text(text, null)?;
                if has_more_values(text.as_bytes(), 1) {
                    return Err(not_json_or(text, problem));
                }
                serde_json::from_str(text).map_err(|_| not_json_or(text, problem))
            }
            Self::Json(value) => Ok(value),
        }
    }

    fn integer(self) -> Result<i128, DecodeError> {
        match self {
            Self::Text { text, null } => integer(json_text(text, null)?),
            Self::Json(Value::Number(number)) => number.as_i128().map_or_else(|| huge_integer(&number), Ok),
            Self::Json(_) => Err(DecodeError::text("{} is not an integer")),
        }
    }
}

/// The text for a type that reads JSON, without the white space that JSON allows around a value.
fn json_text(text: &str, null: Null) -> Result<&str, DecodeError> {
    let text = text.trim_matches(JSON_WHITE_SPACE);
    if null == Null::InsideOption && text == "null" { Err(DecodeError::null()) } else { Ok(text) }
}

/// The error for a text that has the type `problem` complains about, or that is not JSON at all.
fn not_json_or(text: &str, problem: &'static str) -> DecodeError {
    let is_json = serde_json::from_str::<IgnoredAny>(text).is_ok();
    DecodeError::text(if is_json { problem } else { "{} is not valid JSON" })
}

/// Parses a JSON integer, as wide as any type asks for.
fn integer(text: &str) -> Result<i128, DecodeError> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let all_digits = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    if !all_digits || (digits.len() > 1 && digits.starts_with('0')) {
        return Err(not_json_or(text, "{} is not an integer"));
    }
    // Too many digits are still an integer, out of every range.
    Ok(text.parse().unwrap_or(if text.starts_with('-') { i128::MIN } else { i128::MAX }))
}

/// `serde_json` keeps an integer outside of 64 bits as a float, which is then a whole number.
fn huge_integer(number: &Number) -> Result<i128, DecodeError> {
    match number.as_f64() {
        Some(float) if float.fract() == 0.0 && float >= 9.0e18 => Ok(i128::MAX),
        Some(float) if float.fract() == 0.0 && float <= -9.0e18 => Ok(i128::MIN),
        _ => Err(DecodeError::text("{} is not an integer")),
    }
}

/// Converts an integer to the type that is read.
fn into_range<T: TryFrom<i128>>(number: i128) -> Result<T, DecodeError> {
    T::try_from(number)
        .map_err(|_| DecodeError::text(if number < 0 { "{} is too small" } else { "{} is too large" }))
}

fn single_character(text: &str) -> Result<char, DecodeError> {
    let mut characters = text.chars();
    match (characters.next(), characters.next()) {
        (Some(character), None) => Ok(character),
        _ => Err(DecodeError::is_not_length(1)),
    }
}

macro_rules! deserialize_integers {
    ($($method:ident $visit:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
            visitor.$visit(into_range(self.integer()?)?)
        }
    )*};
}

impl<'de> Deserializer<'de> for ParamValue<'de> {
    type Error = DecodeError;

    deserialize_integers! {
        deserialize_i8 visit_i8  deserialize_i16 visit_i16  deserialize_i32 visit_i32
        deserialize_i64 visit_i64  deserialize_u8 visit_u8  deserialize_u16 visit_u16
        deserialize_u32 visit_u32  deserialize_u64 visit_u64
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        match self.json()? {
            Value::Null => visitor.visit_unit(),
            Value::Bool(boolean) => visitor.visit_bool(boolean),
            Value::Number(number) => match (number.as_u64(), number.as_i64(), number.as_f64()) {
                (Some(number), _, _) => visitor.visit_u64(number),
                (_, Some(number), _) => visitor.visit_i64(number),
                (_, _, Some(number)) => visitor.visit_f64(number),
                _ => Err(DecodeError::text("Invalid {}")),
            },
            Value::String(text) => visitor.visit_string(text),
            Value::Array(elements) => visitor.visit_seq(Elements::new(elements)),
            Value::Object(object) => visitor.visit_map(Entries::new(object)),
        }
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        let problem = "{} is not a boolean";
        match self.scalar(problem)? {
            Value::Bool(boolean) => visitor.visit_bool(boolean),
            _ => Err(DecodeError::text(problem)),
        }
    }

    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        self.deserialize_f64(visitor)
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        let problem = "{} is not a float";
        match self.scalar(problem)?.as_f64() {
            Some(number) => visitor.visit_f64(number),
            None => Err(DecodeError::text(problem)),
        }
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        match self {
            Self::Text { text, .. } => visitor.visit_borrowed_str(text),
            Self::Json(Value::String(text)) => visitor.visit_string(text),
            Self::Json(_) => Err(DecodeError::text("{} is not a string")),
        }
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        self.deserialize_str(visitor)
    }

    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        self.deserialize_str(visitor)
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        match self {
            Self::Text { text, .. } => visitor.visit_borrowed_bytes(text.as_bytes()),
            Self::Json(_) => self.deserialize_str(visitor),
        }
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        self.deserialize_bytes(visitor)
    }

    fn deserialize_char<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        visitor.visit_char(match &self {
            Self::Text { text, .. } => single_character(text)?,
            Self::Json(Value::String(text)) => single_character(text)?,
            Self::Json(_) => return Err(DecodeError::text("{} is not a string")),
        })
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        match self {
            Self::Text { null: Null::None, .. } | Self::Json(Value::Null) => visitor.visit_none(),
            Self::Text { text, .. } => visitor.visit_some(Self::Text { text, null: Null::InsideOption }),
            Self::Json(_) => visitor.visit_some(self),
        }
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        if self.json()?.is_null() { visitor.visit_unit() } else { Err(DecodeError::text("Invalid {}")) }
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        self.deserialize_unit(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        match self.json()? {
            Value::Array(elements) => visitor.visit_seq(Elements::new(elements)),
            _ => Err(DecodeError::text("{} is not a list")),
        }
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, length: usize, visitor: V) -> Result<V::Value, DecodeError> {
        match self.json()? {
            Value::Array(elements) if elements.len() != length => Err(DecodeError::is_not_length(length)),
            value => Self::Json(value).deserialize_seq(visitor),
        }
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        length: usize,
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        self.deserialize_tuple(length, visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        match self.json()? {
            Value::Object(object) => visitor.visit_map(Entries::new(object)),
            _ => Err(DecodeError::text("{} is not a dict")),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        self.deserialize_map(visitor)
    }

    /// The text of a parameter is a variant's name. Some clients encode every value, so a JSON string is read, too; a
    /// JSON object is a variant with data.
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        if let Self::Text { text, null } = self
            && !json_text(text, null)?.starts_with(['"', '{'])
        {
            return visitor.visit_enum(BorrowedStrDeserializer::new(text));
        }
        match self.json()? {
            Value::String(variant) => visitor.visit_enum(StringDeserializer::new(variant)),
            Value::Object(object) if object.len() == 1 => {
                visitor.visit_enum(MapAccessDeserializer::new(Entries::new(object)))
            }
            _ => Err(DecodeError::text("Invalid {}")),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        visitor.visit_unit()
    }
}

struct Elements {
    elements: std::vec::IntoIter<Value>,
    /// The index of the next element.
    index: usize,
}

impl Elements {
    fn new(elements: Vec<Value>) -> Self {
        Self { elements: elements.into_iter(), index: 0 }
    }
}

impl<'de> SeqAccess<'de> for Elements {
    type Error = DecodeError;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, DecodeError> {
        let Some(element) = self.elements.next() else {
            return Ok(None);
        };
        let index = self.index;
        self.index += 1;
        seed.deserialize(ParamValue::Json(element)).map(Some).map_err(|error| error.inside_index(index))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.elements.len())
    }
}

struct Entries {
    entries: serde_json::map::IntoIter,
    /// The entry whose key was read, and whose value was not.
    current: Option<(String, Value)>,
}

impl Entries {
    fn new(object: Map<String, Value>) -> Self {
        Self { entries: object.into_iter(), current: None }
    }
}

impl<'de> MapAccess<'de> for Entries {
    type Error = DecodeError;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, DecodeError> {
        let Some((key, value)) = self.entries.next() else {
            return Ok(None);
        };
        let (key, _) = self.current.insert((key, value));
        seed.deserialize(Key(key)).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, DecodeError> {
        let (key, value) = self.current.take().unwrap_or_default();
        seed.deserialize(ParamValue::Json(value)).map_err(|error| error.inside_key(key))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.entries.len())
    }
}

/// The key of an object: a text, or an integer as text in maps by id.
struct Key<'key>(&'key str);

macro_rules! deserialize_integer_keys {
    ($($method:ident $visit:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
            match self.0.parse() {
                Ok(number) => visitor.$visit(number),
                Err(_) => Err(DecodeError::text("{} is not an integer").inside_key(self.0.to_owned())),
            }
        }
    )*};
}

impl<'de> Deserializer<'de> for Key<'_> {
    type Error = DecodeError;

    deserialize_integer_keys! {
        deserialize_i32 visit_i32  deserialize_i64 visit_i64
        deserialize_u32 visit_u32  deserialize_u64 visit_u64
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        visitor.visit_str(self.0)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        let text: StrDeserializer<'_, DecodeError> = self.0.into_deserializer();
        text.deserialize_enum(name, variants, visitor)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i128 u8 u16 u128 f32 f64 char str string bytes byte_buf option unit unit_struct seq tuple
        tuple_struct map struct identifier ignored_any
    }
}

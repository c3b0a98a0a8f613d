//! A JSON value inside of a parameter. What is wrong with it is told with its place and in the published words,
//! which `serde_json` on its own does not.

use serde::de::value::{MapAccessDeserializer, StringDeserializer};
use serde::de::{DeserializeSeed, Deserializer, IntoDeserializer, MapAccess, SeqAccess, Visitor};
use serde::forward_to_deserialize_any;
use serde_json::{Map, Number, Value};

use super::error::DecodeError;
use super::text::{into_range, single_character};

/// A JSON value that is handed over to the type that asks for it.
pub(super) struct JsonValue(pub(super) Value);

impl JsonValue {
    fn integer(&self) -> Result<i128, DecodeError> {
        let Value::Number(number) = &self.0 else {
            return Err(DecodeError::text("{} is not an integer"));
        };
        number.as_i128().map_or_else(|| huge_integer(number), Ok)
    }
}

/// `serde_json` keeps an integer outside of 64 bits as a float, which is then a whole number.
fn huge_integer(number: &Number) -> Result<i128, DecodeError> {
    match number.as_f64() {
        Some(float) if float.fract() == 0.0 && float >= 9.0e18 => Ok(i128::MAX),
        Some(float) if float.fract() == 0.0 && float <= -9.0e18 => Ok(i128::MIN),
        _ => Err(DecodeError::text("{} is not an integer")),
    }
}

macro_rules! deserialize_integers {
    ($($method:ident $visit:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
            visitor.$visit(into_range(self.integer()?)?)
        }
    )*};
}

impl<'de> Deserializer<'de> for JsonValue {
    type Error = DecodeError;

    deserialize_integers! {
        deserialize_i8 visit_i8  deserialize_i16 visit_i16  deserialize_i32 visit_i32
        deserialize_i64 visit_i64  deserialize_u8 visit_u8  deserialize_u16 visit_u16
        deserialize_u32 visit_u32  deserialize_u64 visit_u64
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        match self.0 {
            Value::Null => visitor.visit_unit(),
            Value::Bool(boolean) => visitor.visit_bool(boolean),
            Value::Number(number) => match (number.as_u64(), number.as_i64(), number.as_f64()) {
                (Some(number), _, _) => visitor.visit_u64(number),
                (_, Some(number), _) => visitor.visit_i64(number),
                (_, _, Some(number)) => visitor.visit_f64(number),
                _ => Err(DecodeError::text("Invalid {}")),
            },
            Value::String(text) => visitor.visit_string(text),
            Value::Array(elements) => {
                visitor.visit_seq(Elements { elements: elements.into_iter(), index: 0 })
            }
            Value::Object(object) => visitor.visit_map(Entries::new(object)),
        }
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        match self.0 {
            Value::Bool(boolean) => visitor.visit_bool(boolean),
            _ => Err(DecodeError::text("{} is not a boolean")),
        }
    }

    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        self.deserialize_f64(visitor)
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        match self.0.as_f64() {
            Some(number) => visitor.visit_f64(number),
            None => Err(DecodeError::text("{} is not a float")),
        }
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        self.deserialize_string(visitor)
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        match self.0 {
            Value::String(text) => visitor.visit_string(text),
            _ => Err(DecodeError::text("{} is not a string")),
        }
    }

    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        self.deserialize_string(visitor)
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        self.deserialize_string(visitor)
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        self.deserialize_string(visitor)
    }

    fn deserialize_char<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        let Value::String(text) = self.0 else {
            return Err(DecodeError::text("{} is not a string"));
        };
        visitor.visit_char(single_character(&text)?)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        if self.0.is_null() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        if self.0.is_null() { visitor.visit_unit() } else { Err(DecodeError::text("Invalid {}")) }
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
        match self.0 {
            Value::Array(elements) => {
                visitor.visit_seq(Elements { elements: elements.into_iter(), index: 0 })
            }
            _ => Err(DecodeError::text("{} is not a list")),
        }
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, length: usize, visitor: V) -> Result<V::Value, DecodeError> {
        match &self.0 {
            Value::Array(elements) if elements.len() != length => Err(DecodeError::is_not_length(length)),
            _ => self.deserialize_seq(visitor),
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
        match self.0 {
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

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        match self.0 {
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
    /// Of the next element.
    index: usize,
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
        seed.deserialize(JsonValue(element)).map(Some).map_err(|error| error.inside_index(index))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.elements.len())
    }
}

struct Entries {
    entries: serde_json::map::IntoIter,
    /// The entry whose key was handed over, and whose value was not.
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
        seed.deserialize(JsonValue(value)).map_err(|error| error.inside_key(key))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.entries.len())
    }
}

/// The key of an object: a text, or an integer in a text for maps by id.
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
        let text: serde::de::value::StrDeserializer<'_, DecodeError> = self.0.into_deserializer();
        text.deserialize_enum(name, variants, visitor)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i128 u8 u16 u128 f32 f64 char str string bytes byte_buf option unit unit_struct seq tuple
        tuple_struct map struct identifier ignored_any
    }
}

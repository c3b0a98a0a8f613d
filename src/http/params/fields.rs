//! The deserializer of a struct of parameters.

use serde::Deserialize;
use serde::de::value::BorrowedStrDeserializer;
use serde::de::{DeserializeSeed, Deserializer, MapAccess, Visitor};
use serde::forward_to_deserialize_any;

use super::error::{DecodeError, ParamError};
use super::value::{Null, ParamValue};
use crate::http::form::Form;

/// Reads a struct of parameters.
///
/// The meaning of the text `null` depends on the type inside of an `Option`: in `Option<u64>` it is a null, in
/// `Option<String>` it is not. But serde asks for the presence of a value before it asks the inner type. So an inner
/// type that finds `null` fails, and the struct is read again with that parameter as a null. Only requests with a
/// `null` pay for this. serde consumes its visitors, so a single field cannot be read again.
pub(super) fn parse<'de, P: Deserialize<'de>>(form: &'de Form) -> Result<P, ParamError> {
    let mut nulls = Vec::new();
    loop {
        let error = match P::deserialize(FormDeserializer { form, nulls: &nulls }) {
            Ok(params) => return Ok(params),
            Err(error) => error,
        };
        match error.null_variable() {
            Some(name) if !nulls.contains(&name) => nulls.push(name),
            _ => return Err(error.into_param_error()),
        }
    }
}

/// Reads one parameter; `None` if it is absent or null.
pub(super) fn parse_one<'de, T: Deserialize<'de>>(
    form: &'de Form,
    name: &'static str,
) -> Result<Option<T>, ParamError> {
    let Some(text) = form.get(name) else { return Ok(None) };
    let value = Option::deserialize(ParamValue::Text { text, null: Null::Value });
    match value.map_err(|error| error.inside_variable(name)) {
        Err(error) if error.null_variable().is_some() => Ok(None),
        value => value.map_err(DecodeError::into_param_error),
    }
}

struct FormDeserializer<'de, 'nulls> {
    form: &'de Form,
    nulls: &'nulls [&'static str],
}

impl<'de> Deserializer<'de> for FormDeserializer<'de, '_> {
    type Error = DecodeError;

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        let mut access = FieldAccess {
            form: self.form,
            nulls: self.nulls,
            fields: fields.iter(),
            last: "",
            before: "",
            text: "",
        };
        visitor.visit_map(&mut access).map_err(|error| error.name_duplicate(access.last, access.before))
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        visitor.visit_newtype_struct(self)
    }

    /// Only a plain struct announces its names.
    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, DecodeError> {
        Err(DecodeError::text("Parameters can only be read into a struct without flattened fields"))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit
        unit_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

/// Offers the struct those of its names that the request has.
struct FieldAccess<'de, 'nulls> {
    form: &'de Form,
    nulls: &'nulls [&'static str],
    /// The names of the struct, aliases included; the names of one field follow each other.
    fields: std::slice::Iter<'static, &'static str>,
    /// The name offered last, and the one offered before it.
    last: &'static str,
    before: &'static str,
    /// The text of the parameter offered last.
    text: &'de str,
}

impl<'de> MapAccess<'de> for FieldAccess<'de, '_> {
    type Error = DecodeError;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, DecodeError> {
        for name in self.fields.by_ref() {
            if let Some(text) = self.form.get(name) {
                self.before = std::mem::replace(&mut self.last, name);
                self.text = text;
                return seed.deserialize(BorrowedStrDeserializer::new(name)).map(Some);
            }
        }
        Ok(None)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, DecodeError> {
        let null = if self.nulls.contains(&self.last) { Null::None } else { Null::Value };
        seed.deserialize(ParamValue::Text { text: self.text, null })
            .map_err(|error| error.inside_variable(self.last))
    }
}

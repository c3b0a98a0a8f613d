//! Settings as rows of a table: name on the wire, allowed values, default, and the users who change them.

use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};
use std::marker::PhantomData;
use std::ops::RangeInclusive;
use url::Url;

/// The limits in seconds and days that can be set: a 32-bit column on the published server.
pub const LIMITS: RangeInclusive<i64> = 1..=2_147_483_647;

/// A setting of the organization or of a user.
#[derive(Clone, Copy, Debug)]
pub struct Property {
    /// The name on the wire and in the database.
    pub name: &'static str,
    /// The allowed values, and the default.
    pub kind: Kind,
    /// The users who may change it.
    pub changed_by: ChangedBy,
    /// The form in which clients receive it.
    pub on_wire: OnWire,
    /// The place where it has an effect.
    pub effect: Effect,
    /// The text for a refused value, in which `{}` is the value. Without one, clients receive the usual text of the kind.
    pub refusal: Option<&'static str>,
    /// The value, for the description of the interface: one sentence.
    pub about: &'static str,
}

/// The allowed values of a setting, and its default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// True or false.
    Bool(bool),
    /// A whole number within bounds.
    #[expect(missing_docs, reason = "named by their meaning")]
    Number { min: i64, max: i64, default: i64 },
    /// One of these numbers; the default comes second.
    NumberOf(&'static [i64], i64),
    /// Seconds from 1, or null for no limit. Clients write `unlimited` for null.
    LimitSeconds(i64),
    /// Days from 1, or -1, the default, for no limit. Clients write `unlimited` for -1.
    Days,
    /// The id of a channel that the caller can access, or -1, the default, for none.
    Channel,
    /// A text of at most `max` characters.
    #[expect(missing_docs, reason = "named by their meaning")]
    Text { max: usize, default: &'static str },
    /// The same without the characters that are forbidden in names.
    #[expect(missing_docs, reason = "named by their meaning")]
    Name { max: usize, default: &'static str },
    /// One of these words; the default comes second.
    WordOf(&'static [&'static str], &'static str),
    /// The code of a language of clients.
    Language(&'static str),
    /// An HTTP address of at most `max` characters, or null, the default, for none.
    #[expect(missing_docs, reason = "named by its meaning")]
    Url { max: usize },
}

/// The users who may change a setting. The settings of a user are changed by the user; administrators change the default
/// for new users.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangedBy {
    /// Owners.
    Owner,
    /// Administrators.
    Administrator,
    /// The user alone: the organization has no default for new users.
    User,
    /// None. The setting follows from another one or from an upload, or has a parameter of its own.
    Server,
}

/// The form in which clients receive a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnWire {
    /// In the state of `POST /register` and in events.
    Shown,
    /// The same, and as `update_display_settings` for clients without the capability `user_settings_object`.
    Display,
    /// The same, and as `update_global_notifications` for clients without the capability `user_settings_object`.
    Notifications,
    /// Not at all: other fields follow from it.
    Hidden,
}

/// The place where a setting has an effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// The server acts on it.
    Server,
    /// Only clients act on it.
    Clients,
    /// None, for this reason.
    Nowhere(&'static str),
}

/// A setting that the server acts on.
pub const fn server(name: &'static str, kind: Kind, about: &'static str) -> Property {
    let (changed_by, on_wire) = (ChangedBy::Administrator, OnWire::Shown);
    Property { name, kind, changed_by, on_wire, effect: Effect::Server, refusal: None, about }
}

/// A setting that only clients act on.
pub const fn clients(name: &'static str, kind: Kind, about: &'static str) -> Property {
    Property { effect: Effect::Clients, ..server(name, kind, about) }
}

/// A setting without an effect, with the reason, which follows `No effect on this server:`.
pub const fn unused(name: &'static str, kind: Kind, about: &'static str, why: &'static str) -> Property {
    Property { effect: Effect::Nowhere(why), ..server(name, kind, about) }
}

impl Property {
    /// Sets the users who can change it; administrators by default.
    #[must_use]
    pub const fn by(mut self, changed_by: ChangedBy) -> Self {
        self.changed_by = changed_by;
        self
    }

    /// Sets the form in which clients receive it, if that is not one member of the name.
    #[must_use]
    pub const fn on_wire(mut self, on_wire: OnWire) -> Self {
        self.on_wire = on_wire;
        self
    }

    /// Sets the text for a refused value; `{}` in it is the value.
    #[must_use]
    pub const fn refused(mut self, refusal: &'static str) -> Self {
        self.refusal = Some(refusal);
        self
    }

    /// The default as JSON.
    pub fn default_value(&self) -> Value {
        match self.kind {
            Kind::Bool(value) => value.into(),
            Kind::Number { default: value, .. } | Kind::NumberOf(_, value) | Kind::LimitSeconds(value) => {
                value.into()
            }
            Kind::Days | Kind::Channel => (-1).into(),
            Kind::Text { default: value, .. }
            | Kind::Name { default: value, .. }
            | Kind::Language(value)
            | Kind::WordOf(_, value) => value.into(),
            Kind::Url { .. } => Value::Null,
        }
    }

    /// True if a value has the type of the setting, and is one of its choices. [`Kind::is_within_limits`] has the limits.
    pub fn allows(&self, value: &Value) -> bool {
        match self.kind {
            Kind::NumberOf(numbers, _) => value.as_i64().is_some_and(|number| numbers.contains(&number)),
            Kind::WordOf(words, _) => value.as_str().is_some_and(|word| words.contains(&word)),
            kind => match kind.shape() {
                Shape::Bool => value.is_boolean(),
                Shape::Number => value.is_i64(),
                Shape::NumberOrNull => value.is_i64() || value.is_null(),
                Shape::Text => value.is_string(),
                Shape::TextOrNull => value.is_string() || value.is_null(),
            },
        }
    }
}

/// The shapes of values, by which the type of a [`Setting`] is checked against its row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// True or false.
    Bool,
    /// A whole number.
    Number,
    /// A whole number or null.
    NumberOrNull,
    /// A text.
    Text,
    /// A text or null.
    TextOrNull,
}

impl Kind {
    /// True if a value of the right type, as it is stored, is within the limits of numbers and addresses. Those of texts are checked
    /// where they are written.
    pub fn is_within_limits(self, value: &Value) -> bool {
        match self {
            Self::Number { min, max, .. } => {
                value.as_i64().is_some_and(|number| (min..=max).contains(&number))
            }
            Self::LimitSeconds(_) => value.as_i64().is_none_or(|seconds| LIMITS.contains(&seconds)),
            Self::Days => value.as_i64().is_none_or(|days| days == -1 || LIMITS.contains(&days)),
            Self::Url { max } => value.as_str().is_none_or(|text| is_url(text, max)),
            _ => true,
        }
    }

    const fn shape(self) -> Shape {
        match self {
            Self::Bool(_) => Shape::Bool,
            Self::Number { .. } | Self::NumberOf(..) | Self::Days | Self::Channel => Shape::Number,
            Self::LimitSeconds(_) => Shape::NumberOrNull,
            Self::Text { .. } | Self::Name { .. } | Self::WordOf(..) | Self::Language(_) => Shape::Text,
            Self::Url { .. } => Shape::TextOrNull,
        }
    }
}

fn is_url(text: &str, max: usize) -> bool {
    let is_known = Url::parse(text).is_ok_and(|url| matches!(url.scheme(), "http" | "https"));
    is_known && text.chars().count() <= max && !text.contains(char::is_whitespace)
}

/// A type for the values of a setting.
pub trait SettingValue: DeserializeOwned {
    /// The shape of its values in JSON.
    const SHAPE: Shape;
}

impl SettingValue for bool {
    const SHAPE: Shape = Shape::Bool;
}

impl SettingValue for i64 {
    const SHAPE: Shape = Shape::Number;
}

impl SettingValue for Option<i64> {
    const SHAPE: Shape = Shape::NumberOrNull;
}

impl SettingValue for String {
    const SHAPE: Shape = Shape::Text;
}

/// A row of a table of settings, with the type of its values. As constants, a name that is not in the table or has values
/// of another type does not compile.
#[derive(Debug)]
pub struct Setting<T> {
    property: &'static Property,
    value: PhantomData<fn() -> T>,
}

impl<T: SettingValue> Setting<T> {
    /// Finds the row with a name.
    ///
    /// # Panics
    /// If there is none, or its values have another type. In a constant, that is an error of the compiler.
    pub const fn of(table: &'static [Property], name: &str) -> Self {
        let mut index = 0;
        while index < table.len() && !is_equal(table[index].name, name) {
            index += 1;
        }
        assert!(index < table.len(), "the table has no setting with this name");
        let property = &table[index];
        assert!(property.kind.shape() as u8 == T::SHAPE as u8, "the setting has values of another type");
        Self { property, value: PhantomData }
    }

    /// The name on the wire and in the file.
    pub const fn name(&self) -> &'static str {
        self.property.name
    }

    /// The value of a setting from its JSON text in the file; the default if it was never set.
    pub fn parse(&self, stored: Option<String>) -> serde_json::Result<T> {
        match stored {
            Some(text) => serde_json::from_str(&text),
            None => serde_json::from_value(self.property.default_value()),
        }
    }
}

/// The settings that an event of changes can be about, and that a request can change.
pub trait SettingTable {
    /// The members of the event that have the name and the value.
    const MEMBERS: [&'static str; 2] = ["property", "value"];

    /// The settings, in the order of their table.
    fn rows() -> impl Iterator<Item = &'static Property>;
}

/// A setting of a table and its new value, which is one that it may have. On the wire, two members of an event.
#[derive(Debug)]
pub struct SettingUpdate<T> {
    property: &'static Property,
    value: Value,
    table: PhantomData<fn() -> T>,
}

impl<T: SettingTable> SettingUpdate<T> {
    /// The new value of a setting. `None` if the table has no such setting, or the setting no such value.
    pub fn new(name: &str, value: &Value) -> Option<Self> {
        let property = T::rows().find(|row| row.name == name).filter(|row| row.allows(value))?;
        Some(Self { property, value: value.clone(), table: PhantomData })
    }
}

impl<T: SettingTable> Serialize for SettingUpdate<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let name = Value::from(self.property.name);
        serializer.collect_map(T::MEMBERS.into_iter().zip([&name, &self.value]))
    }
}

impl<'de, T: SettingTable> Deserialize<'de> for SettingUpdate<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let members = Map::<String, Value>::deserialize(deserializer)?;
        let [name, value] = T::MEMBERS.map(|name| members.get(name));
        let update = name.and_then(Value::as_str).zip(value).and_then(|(name, value)| Self::new(name, value));
        update.ok_or_else(|| D::Error::custom("no setting of the table with a value that it may have"))
    }
}

const fn is_equal(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let mut index = 0;
    while index < one.len() && index < other.len() && one[index] == other[index] {
        index += 1;
    }
    index == one.len() && index == other.len()
}

/// The values of all settings of a table.
#[derive(Clone, Debug)]
pub struct Values(Map<String, Value>);

impl Values {
    /// The defaults of a table, replaced by the values that were changed.
    pub fn new(table: &[Property], changed: impl IntoIterator<Item = (String, Value)>) -> Self {
        let defaults = table.iter().map(|property| (property.name.to_owned(), property.default_value()));
        let mut values: Map<String, Value> = defaults.collect();
        values.extend(changed);
        Self(values)
    }

    /// A setting's value; null for one that is not in the table.
    pub fn value(&self, name: &str) -> &Value {
        self.0.get(name).unwrap_or(&Value::Null)
    }

    /// True if a setting is on.
    pub fn is_on(&self, name: &str) -> bool {
        self.value(name) == true
    }

    /// All values, by name.
    pub fn into_map(self) -> Map<String, Value> {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[derive(Debug)]
    struct Table;

    impl SettingTable for Table {
        const MEMBERS: [&'static str; 2] = ["setting_name", "setting"];

        fn rows() -> impl Iterator<Item = &'static Property> {
            const ROWS: &[Property] = &[clients("color_scheme", Kind::NumberOf(&[1, 2], 1), "")];
            ROWS.iter()
        }
    }

    #[test]
    fn an_update_has_a_setting_of_the_table_and_a_value_of_the_setting() {
        let read = |update: &Value| serde_json::from_value::<SettingUpdate<Table>>(update.clone());
        let right = json!({"setting_name": "color_scheme", "setting": 2});
        assert_eq!(serde_json::to_value(read(&right).unwrap()).unwrap(), right);
        for wrong in [
            json!({"setting_name": "color_scheme", "setting": 3}),
            json!({"setting_name": "color_scheme", "setting": "2"}),
            json!({"setting_name": "color", "setting": 2}),
            json!({"property": "color_scheme", "value": 2}),
            json!({"setting_name": "color_scheme"}),
        ] {
            assert!(read(&wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn values_are_held_to_their_kind() {
        let property = |kind| server("x", kind, "");
        let cases = [
            (Kind::Bool(true), json!(false), true),
            (Kind::Bool(true), json!("false"), false),
            (Kind::Channel, json!(-7), true),
            (Kind::Channel, json!(1.5), false),
            (Kind::LimitSeconds(600), Value::Null, true),
            (Kind::LimitSeconds(600), json!("no"), false),
            (Kind::Text { max: 9, default: "" }, json!("any"), true),
            (Kind::Text { max: 9, default: "" }, Value::Null, false),
            (Kind::Url { max: 9 }, Value::Null, true),
            (Kind::Url { max: 9 }, json!(1), false),
            (Kind::NumberOf(&[1, 2], 1), json!(2), true),
            (Kind::NumberOf(&[1, 2], 1), json!(3), false),
            (Kind::WordOf(&["all", "none"], "all"), json!("none"), true),
            (Kind::WordOf(&["all", "none"], "all"), json!("some"), false),
        ];
        for (kind, value, allowed) in cases {
            assert_eq!(property(kind).allows(&value), allowed, "{kind:?} {value}");
        }
        for (kind, value, expected) in [
            (Kind::Days, json!(-1), true),
            (Kind::Days, json!(0), false),
            (Kind::LimitSeconds(600), Value::Null, true),
            (Kind::LimitSeconds(600), json!(i64::from(i32::MAX) + 1), false),
            (Kind::Url { max: 9 }, Value::Null, true),
            (Kind::Url { max: 9 }, json!("http://a"), true),
            (Kind::Url { max: 9 }, json!("http://abc"), false),
            (Kind::Url { max: 99 }, json!("javascript:alert(1)"), false),
            (Kind::Number { min: 1, max: 3, default: 2 }, json!(4), false),
        ] {
            assert_eq!(kind.is_within_limits(&value), expected, "{kind:?} {value}");
        }
        assert_eq!(property(Kind::Url { max: 9 }).default_value(), Value::Null);
        assert_eq!(property(Kind::NumberOf(&[1, 2], 2)).default_value(), json!(2));
    }
}

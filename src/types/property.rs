//! Settings as rows of a table: name on the wire, allowed values, default.

use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};
use std::marker::PhantomData;

/// A setting of the organization or of a user.
#[derive(Clone, Copy, Debug)]
pub struct Property {
    /// The name on the wire and in the database.
    pub name: &'static str,
    /// The allowed values, and the default.
    pub kind: Kind,
    /// What it decides, for the description of the interface: one sentence, and a second if nothing here reads it.
    pub about: &'static str,
}

/// The allowed values of a setting, and its default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// True or false.
    Bool(bool),
    /// Any whole number that its endpoint allows.
    Number(i64),
    /// A whole number, or null for none.
    NumberOrNull(Option<i64>),
    /// Any text that its endpoint allows.
    Text(&'static str),
    /// A text, or null for none.
    TextOrNull(Option<&'static str>),
    /// One of these numbers; the default comes second.
    NumberOf(&'static [i64], i64),
    /// One of these words; the default comes second.
    WordOf(&'static [&'static str], &'static str),
}

impl Property {
    /// The default.
    pub fn default_value(&self) -> Value {
        match self.kind {
            Kind::Bool(value) => value.into(),
            Kind::Number(value) | Kind::NumberOf(_, value) => value.into(),
            Kind::NumberOrNull(value) => value.into(),
            Kind::Text(value) | Kind::WordOf(_, value) => value.into(),
            Kind::TextOrNull(value) => value.into(),
        }
    }

    /// Whether the setting may have this value.
    pub fn allows(&self, value: &Value) -> bool {
        match self.kind {
            Kind::Bool(_) => value.is_boolean(),
            Kind::Number(_) => value.is_i64(),
            Kind::NumberOrNull(_) => value.is_i64() || value.is_null(),
            Kind::Text(_) => value.is_string(),
            Kind::TextOrNull(_) => value.is_string() || value.is_null(),
            Kind::NumberOf(numbers, _) => value.as_i64().is_some_and(|number| numbers.contains(&number)),
            Kind::WordOf(words, _) => value.as_str().is_some_and(|word| words.contains(&word)),
        }
    }
}

/// The shapes of values, by which the type of a [`Setting`] is checked against its row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// [`Kind::Bool`].
    Bool,
    /// [`Kind::Number`] and [`Kind::NumberOf`].
    Number,
    /// [`Kind::NumberOrNull`].
    NumberOrNull,
    /// [`Kind::Text`] and [`Kind::WordOf`].
    Text,
    /// [`Kind::TextOrNull`].
    TextOrNull,
}

impl Kind {
    const fn shape(self) -> Shape {
        match self {
            Self::Bool(_) => Shape::Bool,
            Self::Number(_) | Self::NumberOf(..) => Shape::Number,
            Self::NumberOrNull(_) => Shape::NumberOrNull,
            Self::Text(_) | Self::WordOf(..) => Shape::Text,
            Self::TextOrNull(_) => Shape::TextOrNull,
        }
    }
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

/// The settings that an event of changes can be about.
pub trait SettingTable {
    /// The members of the event that have the name and the value.
    const MEMBERS: [&'static str; 2] = ["property", "value"];

    /// The row of a setting.
    fn property(name: &str) -> Option<&'static Property>;
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
        let property = T::property(name).filter(|property| property.allows(value))?;
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

    /// Whether a setting is on.
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

        fn property(name: &str) -> Option<&'static Property> {
            const ROW: &Property =
                &Property { name: "color_scheme", kind: Kind::NumberOf(&[1, 2], 1), about: "" };
            (name == ROW.name).then_some(ROW)
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
        let property = |kind| Property { name: "x", kind, about: "" };
        let cases = [
            (Kind::Bool(true), json!(false), true),
            (Kind::Bool(true), json!("false"), false),
            (Kind::Number(1), json!(-7), true),
            (Kind::Number(1), json!(1.5), false),
            (Kind::NumberOrNull(Some(600)), Value::Null, true),
            (Kind::NumberOrNull(None), json!("no"), false),
            (Kind::Text(""), json!("any"), true),
            (Kind::Text(""), Value::Null, false),
            (Kind::TextOrNull(None), Value::Null, true),
            (Kind::TextOrNull(None), json!(1), false),
            (Kind::NumberOf(&[1, 2], 1), json!(2), true),
            (Kind::NumberOf(&[1, 2], 1), json!(3), false),
            (Kind::WordOf(&["all", "none"], "all"), json!("none"), true),
            (Kind::WordOf(&["all", "none"], "all"), json!("some"), false),
        ];
        for (kind, value, allowed) in cases {
            assert_eq!(property(kind).allows(&value), allowed, "{kind:?} {value}");
        }
        assert_eq!(property(Kind::NumberOrNull(None)).default_value(), Value::Null);
        assert_eq!(property(Kind::NumberOf(&[1, 2], 2)).default_value(), json!(2));
    }
}

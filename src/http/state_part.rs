//! Parts of the state that `POST /register` returns.
//!
//! Each resource gives its share of the state as a [`StatePart`]; the operation runs those that the client asked for on
//! one snapshot.

use super::route::RequestInfo;
use crate::app::App;
use crate::auth::Caller;
use crate::error::ApiResult;
use crate::events::Registration;
use rusqlite::Connection;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};
use std::collections::BTreeMap;

/// A resource's share of the state.
pub struct StatePart {
    /// The word of `fetch_event_types` that asks for it.
    pub name: &'static str,
    /// Adds its fields.
    pub fetch: fn(&StateRequest<'_>, &mut State) -> ApiResult<()>,
}

/// What a [`StatePart`] needs to know.
pub struct StateRequest<'a> {
    /// The snapshot.
    pub connection: &'a Connection,
    /// The user whose state it is.
    pub caller: &'a Caller,
    /// The server.
    pub app: &'a App,
    /// Facts about the request.
    pub info: &'a RequestInfo,
    /// The options of the event queue.
    pub registration: &'a Registration,
    /// Whether subscriptions name their subscribers.
    pub include_subscribers: Subscribers,
    /// How many days of presence history are wanted; `None` means the server's choice.
    pub presence_history_limit_days: Option<i64>,
    /// The current time in UNIX seconds.
    pub now: i64,
    /// The words of `fetch_event_types`; `None` asks for all parts.
    pub wanted: Option<&'a [String]>,
}

impl StateRequest<'_> {
    /// Whether the part with this name is wanted.
    pub fn wants(&self, name: &str) -> bool {
        self.wanted.is_none_or(|wanted| wanted.iter().any(|word| word == name))
    }

    /// Whether the part with this name is asked for by name, and not because the client asked for all.
    pub fn names(&self, name: &str) -> bool {
        self.wanted.is_some_and(|wanted| wanted.iter().any(|word| word == name))
    }
}

/// The parameter `include_subscribers`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Subscribers {
    /// No list.
    #[default]
    No,
    /// The whole list.
    All,
    /// Bots and users of the last 14 days; the others as a number.
    Partial,
}

impl<'de> Deserialize<'de> for Subscribers {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match String::deserialize(deserializer)?.trim_matches('"') {
            "true" => Ok(Self::All),
            "false" => Ok(Self::No),
            "partial" => Ok(Self::Partial),
            _ => Err(serde::de::Error::custom("{} is not a boolean")),
        }
    }
}

/// The fields of the state. Large fields are JSON text from the start: trees of values for all users and all subscribers
/// would be built only to be serialized and dropped.
#[derive(Default, Serialize)]
#[serde(transparent)]
pub struct State(BTreeMap<String, Field>);

#[derive(Serialize)]
#[serde(untagged)]
enum Field {
    Value(Value),
    Text(Box<RawValue>),
}

impl State {
    /// Sets a field.
    pub fn insert(&mut self, name: String, value: Value) {
        self.0.insert(name, Field::Value(value));
    }

    /// Sets a field, which is serialized at once. Fails only if it has no JSON form.
    ///
    /// `docs/openapi.yaml` describes the field by the type argument, so each call names it: `state.set::<Vec<Draft>>(..)`.
    pub fn set<T: Serialize + ?Sized>(&mut self, name: &str, value: &T) -> ApiResult<()> {
        self.0.insert(name.to_owned(), Field::Text(to_raw_value(value)?));
        Ok(())
    }

    /// Sets a field for each member of a struct. `docs/openapi.yaml` describes them as the struct does, which is a literal
    /// or the type argument.
    pub fn add<T: Serialize>(&mut self, fields: &T) -> ApiResult<()> {
        if let Value::Object(fields) = serde_json::to_value(fields)? {
            self.extend(fields);
        }
        Ok(())
    }
}

impl Extend<(String, Value)> for State {
    fn extend<T: IntoIterator<Item = (String, Value)>>(&mut self, fields: T) {
        self.0.extend(fields.into_iter().map(|(name, value)| (name, Field::Value(value))));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_there_once_with_what_was_set_last() {
        let mut state = State::default();
        state.insert("a".into(), 1.into());
        state.set::<[i64; 2]>("a", &[2, 3]).unwrap();
        state.extend([("b".to_owned(), "x".into())]);
        assert_eq!(serde_json::to_string(&state).unwrap(), r#"{"a":[2,3],"b":"x"}"#);
    }
}

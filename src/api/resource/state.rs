//! Parts of the state that `POST /register` returns.
//!
//! Each resource gives its share of the state as a [`StatePart`]; the operation runs those that the client asked for on
//! one snapshot.

use crate::app::App;
use crate::auth::{Caller, Ctx};
use crate::domain::subscriptions::record::Subscribers;
use crate::error::ApiResult;
use crate::events::Registration;
use crate::http::RequestInfo;
use rusqlite::Connection;
use serde::Serialize;
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

/// Input of a [`StatePart`].
pub struct StateRequest<'a> {
    /// The snapshot that all parts of the state are read from.
    pub connection: &'a Connection,
    /// The user whose state it is.
    pub caller: &'a Caller,
    /// The server whose state is read.
    pub app: &'a App,
    /// Facts about the request.
    pub info: &'a RequestInfo,
    /// The options of the event queue.
    pub registration: &'a Registration,
    /// Detail of the subscribers in subscriptions.
    pub include_subscribers: Subscribers,
    /// Requested days of presence history; `None` means the server's choice.
    pub presence_history_limit_days: Option<i64>,
    /// The current time in UNIX seconds.
    pub now: i64,
    /// The words of `fetch_event_types`; `None` asks for all parts.
    pub wanted: Option<&'a [String]>,
}

impl StateRequest<'_> {
    /// The snapshot as the caller sees it.
    pub fn ctx(&self) -> Ctx<'_> {
        Ctx::new(self.connection, self.caller, self.now)
    }

    /// True if the part with this name is wanted.
    pub fn wants(&self, name: &str) -> bool {
        self.wanted.is_none_or(|wanted| wanted.iter().any(|word| word == name))
    }

    /// True if the part with this name is requested by name, and not because all parts are.
    pub fn names(&self, name: &str) -> bool {
        self.wanted.is_some_and(|wanted| wanted.iter().any(|word| word == name))
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

    /// Removes a field.
    pub fn remove(&mut self, name: &str) {
        self.0.remove(name);
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
    fn duplicate_fields_keep_the_last_value() {
        let mut state = State::default();
        state.insert("a".into(), 1.into());
        state.set::<[i64; 2]>("a", &[2, 3]).unwrap();
        state.extend([("b".to_owned(), "x".into())]);
        assert_eq!(serde_json::to_string(&state).unwrap(), r#"{"a":[2,3],"b":"x"}"#);
    }
}

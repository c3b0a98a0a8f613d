//! The state while it is gathered.

use crate::http::ApiResult;
use serde::Serialize;
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};
use std::collections::BTreeMap;

/// The fields of the state. Large ones are JSON text from the start: trees of values for all users and all subscribers
/// would be built only to be written and thrown away.
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

    /// Sets a field to something large, which is written as JSON at once. Fails only where it has no JSON form.
    pub fn insert_large(&mut self, name: &str, value: &impl Serialize) -> ApiResult<()> {
        self.0.insert(name.to_owned(), Field::Text(to_raw_value(value)?));
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
        state.insert_large("a", &[2, 3]).unwrap();
        state.extend([("b".to_owned(), "x".into())]);
        assert_eq!(serde_json::to_string(&state).unwrap(), r#"{"a":[2,3],"b":"x"}"#);
    }
}

//! A client that believes its events: it takes the state of `POST /register` and applies each event to it, as real
//! clients do. What it then knows must equal what a new registration tells.
//!
//! One small function for each type of event, in a file for each slice. A type that is not here fails the test: whoever
//! adds an event says here what it means.

mod groups;
mod settings;
mod user_topics;
mod users;

use super::queue::kind;
use serde_json::{Map, Value};

/// What a client knows.
pub struct Model {
    state: Map<String, Value>,
}

impl Model {
    /// Starts from the answer of `POST /register`.
    pub fn new(state: &Value) -> Self {
        Self { state: state.as_object().expect("the state is an object").clone() }
    }

    /// Learns from an event.
    pub fn apply(&mut self, event: &Value) {
        match kind(event).as_str() {
            // Who may be exported is asked for, not part of the state.
            "realm_export_consent" => {}
            "realm_user/add" => users::add(self, event),
            "user_topic" => user_topics::set(self, event),
            "muted_topics" => user_topics::set_muted(self, event),
            "realm_user/update" => users::update(self, event),
            "realm_user_settings_defaults/update" => settings::update_default(self, event),
            "update_display_settings" => settings::update_display(self, event),
            "update_global_notifications" => settings::update_notifications(self, event),
            "user_group/add_members" => groups::add_members(self, event),
            "user_settings/update" => settings::update(self, event),
            unknown => panic!("the model client does not know what {unknown} means: {event}"),
        }
    }

    /// What the client knows now.
    pub fn into_state(self) -> Value {
        Value::Object(self.state)
    }

    /// A list of the state, if the client asked for it.
    fn list(&mut self, name: &str) -> Option<&mut Vec<Value>> {
        self.state.get_mut(name).map(|list| list.as_array_mut().unwrap_or_else(|| panic!("{name} is a list")))
    }
}

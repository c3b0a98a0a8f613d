//! A model client: it applies events to the state of `POST /register` and to the messages it fetched, as real clients
//! do. The result must equal a new registration and a new fetch.
//!
//! Each type of event has a function, in a file for each resource. An unknown type fails the test: a new event type
//! needs a function here.

mod bots;
mod channels;
mod groups;
mod lists;
mod messages;
mod people;
mod realm;
mod settings;
mod subscriptions;
mod topics;
mod users;

use super::kind;
pub use realm::SYSTEM_GROUPS;
use serde_json::{Map, Value};

/// Under which name the user's uploads are kept beside the state.
const ATTACHMENTS: &str = "attachments of the user";

/// The state of a client.
pub struct Model {
    state: Map<String, Value>,
    /// Fetched messages, the oldest first; absent if the client stores none.
    messages: Option<Vec<Value>>,
    /// The id of the client's own user.
    user_id: i64,
    /// The parameters of the registration.
    parameters: Value,
}

impl Model {
    /// Starts from the answer of `POST /register`, and the messages that were fetched then.
    pub fn new(user_id: i64, parameters: &Value, state: &Value, messages: Option<Vec<Value>>) -> Self {
        let state = state.as_object().expect("the state is an object").clone();
        Self { state, messages, user_id, parameters: parameters.clone() }
    }

    /// Adds the files that the user has uploaded, which are asked for apart.
    pub fn has_uploaded(&mut self, attachments: Value) {
        self.state.insert(ATTACHMENTS.to_owned(), attachments);
    }

    /// Learns from an event.
    pub fn apply(&mut self, event: &Value) {
        match kind(event).as_str() {
            "delete_message" => messages::deleted(self, event),
            "message" => messages::received(self, event),
            "muted_topics" => topics::muted(self, event),
            "submessage" => messages::submessage_added(self, event),
            "reaction/add" => messages::reaction_added(self, event),
            "reaction/remove" => messages::reaction_removed(self, event),
            // Exports and invitations are requested separately, and typing is transient: none of them is part of the
            // state.
            "realm_export"
            | "realm_export_consent"
            | "invites_changed"
            | "typing/start"
            | "typing/stop"
            | "typing_edit_message/start"
            | "typing_edit_message/stop" => {}
            "alert_words" => lists::replace_all(self, "alert_words", &event["alert_words"]),
            "attachment/add" => lists::add(self, ATTACHMENTS, &event["attachment"]),
            "attachment/update" => {
                lists::replace(self, ATTACHMENTS, "id", &event["attachment"], lists::as_they_are);
            }
            "attachment/remove" => lists::remove(self, ATTACHMENTS, "id", &event["attachment"]["id"]),
            "custom_profile_fields" => users::profile_fields(self, event),
            "drafts/add" => lists::add_all(self, "drafts", &event["drafts"], lists::newest_first),
            "drafts/update" => lists::replace(self, "drafts", "id", &event["draft"], lists::newest_first),
            "drafts/remove" => lists::remove(self, "drafts", "id", &event["draft_id"]),
            "navigation_view/add" => lists::add(self, "navigation_views", &event["navigation_view"]),
            "navigation_view/update" => {
                lists::merge(self, "navigation_views", "fragment", &event["fragment"], &event["data"]);
            }
            "navigation_view/remove" => {
                lists::remove(self, "navigation_views", "fragment", &event["fragment"]);
            }
            "reminders/add" => lists::add_all(self, "reminders", &event["reminders"], lists::next_first),
            "reminders/remove" => lists::remove(self, "reminders", "reminder_id", &event["reminder_id"]),
            "scheduled_messages/add" => {
                lists::add_all(self, "scheduled_messages", &event["scheduled_messages"], lists::next_first);
            }
            "scheduled_messages/update" => {
                let (key, changed) = ("scheduled_message_id", &event["scheduled_message"]);
                lists::replace(self, "scheduled_messages", key, changed, lists::next_first);
            }
            "scheduled_messages/remove" => {
                let key = "scheduled_message_id";
                lists::remove(self, "scheduled_messages", key, &event[key]);
            }
            "saved_snippets/add" => lists::add(self, "saved_snippets", &event["saved_snippet"]),
            "saved_snippets/update" => {
                lists::replace(self, "saved_snippets", "id", &event["saved_snippet"], lists::as_they_are);
            }
            "saved_snippets/remove" => {
                lists::remove(self, "saved_snippets", "id", &event["saved_snippet_id"]);
            }
            "channel_folder/add" => lists::add(self, "channel_folders", &event["channel_folder"]),
            "channel_folder/update" => {
                lists::merge(self, "channel_folders", "id", &event["channel_folder_id"], &event["data"]);
            }
            "channel_folder/reorder" => channels::folders_reordered(self, event),
            "muted_users" => lists::replace_all(self, "muted_users", &event["muted_users"]),
            "realm/update" => realm::update(self, event),
            "realm/update_dict" => realm::update_dict(self, event),
            "realm_emoji/update" => self.set("realm_emoji", event["realm_emoji"].clone()),
            "realm_domains/add" | "realm_domains/change" | "realm_domains/remove" => {
                realm::domains(self, event);
            }
            "realm_playgrounds" => {
                lists::replace_all(self, "realm_playgrounds", &event["realm_playgrounds"]);
            }
            "onboarding_steps" => lists::replace_all(self, "onboarding_steps", &event["onboarding_steps"]),
            "realm_linkifiers" => lists::replace_all(self, "realm_linkifiers", &event["realm_linkifiers"]),
            "presence" => people::presence(self, event),
            "user_status" => people::status(self, event),
            "realm_bot/add" => bots::add(self, event),
            "realm_bot/update" => bots::update(self, event),
            "realm_bot/delete" => bots::delete(self, event),
            "realm_user/add" => users::add(self, event),
            "realm_user/remove" => users::remove(self, event),
            "stream/create" => channels::create(self, event),
            "stream/delete" => channels::delete(self, event),
            "stream/update" => channels::update(self, event),
            "default_streams" => channels::default_streams(self, event),
            "default_stream_groups" => {
                self.set("realm_default_stream_groups", event["default_stream_groups"].clone());
            }
            "subscription/add" => subscriptions::add(self, event),
            "subscription/remove" => subscriptions::remove(self, event),
            "subscription/update" => subscriptions::update(self, event),
            "subscription/peer_add" => subscriptions::peers(self, event, true),
            "subscription/peer_remove" => subscriptions::peers(self, event, false),
            "realm_user/update" => users::update(self, event),
            "realm_user_settings_defaults/update" => settings::update_default(self, event),
            "update_display_settings" => settings::update_display(self, event),
            "update_global_notifications" => settings::update_notifications(self, event),
            "update_message" => messages::updated(self, event),
            "update_message_flags/add" | "update_message_flags/remove" => {
                messages::flags_changed(self, event);
            }
            "user_group/add" => groups::add(self, event),
            "user_group/remove" => groups::remove(self, event),
            "user_group/update" => groups::update(self, event),
            "user_group/add_members" => groups::change_list(self, event, groups::MEMBERS, true),
            "user_group/remove_members" => groups::change_list(self, event, groups::MEMBERS, false),
            "user_group/add_subgroups" => groups::change_list(self, event, groups::SUBGROUPS, true),
            "user_group/remove_subgroups" => groups::change_list(self, event, groups::SUBGROUPS, false),
            "user_settings/update" => settings::update(self, event),
            "user_topic" => topics::set(self, event),
            unknown => panic!("the model client does not know what {unknown} means: {event}"),
        }
    }

    /// The current state, with the messages under `messages`.
    pub fn into_state(mut self) -> Value {
        if let Some(messages) = self.messages {
            self.state.insert("messages".to_owned(), messages.into());
        }
        Value::Object(self.state)
    }

    /// Replaces a member of the state, if the client asked for it.
    fn set(&mut self, name: &str, value: Value) {
        if let Some(known) = self.state.get_mut(name) {
            *known = value;
        }
    }

    /// The id of the client's own user.
    fn own_user_id(&self) -> i64 {
        self.state["user_id"].as_i64().expect("the state names its user")
    }

    /// A list of the state, if the client asked for it.
    fn list(&mut self, name: &str) -> Option<&mut Vec<Value>> {
        self.state.get_mut(name).map(|list| list.as_array_mut().unwrap_or_else(|| panic!("{name} is a list")))
    }

    /// True if the client wants HTML.
    fn apply_markdown(&self) -> bool {
        self.parameters["apply_markdown"] == true
    }
}

fn ids(list: &Value) -> Vec<i64> {
    let ids = list.as_array().unwrap_or_else(|| panic!("a list of ids, not {list}"));
    ids.iter().map(|id| id.as_i64().expect("an id is a number")).collect()
}

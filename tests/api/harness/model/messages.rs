//! Events about messages. A client keeps the messages it has fetched, the ids of the unread by conversation, the
//! starred ones, and its recent direct conversations.

use super::{Model, ids};
use serde_json::{Value, json};

/// A message came.
pub fn received(model: &mut Model, event: &Value) {
    let mut message = event["message"].clone();
    let id = id_of(&message["id"]);
    let flags = event["flags"].clone();
    message["flags"] = flags.clone();
    if let Some(newest) = model.state.get_mut("max_message_id") {
        *newest = id.max(newest.as_i64().unwrap()).into();
    }
    if message["type"] == "private" {
        model.touch_conversation(&people(&message, model), id);
    }
    if !has(&flags, "read") {
        let place = Place::of_message(&message, model);
        model.add_unread(&place, id, is_mention(&flags));
    }
    if has(&flags, "starred") {
        model.star(id);
    }
    if let Some(messages) = &mut model.messages {
        messages.push(message);
    }
}

/// Content or place of messages changed.
pub fn updated(model: &mut Model, event: &Value) {
    let named = id_of(&event["message_id"]);
    let mut all = ids(&event["message_ids"]);
    assert!(
        all.is_sorted() && all.contains(&named),
        "message_ids are sorted and include message_id: {event}"
    );
    all.dedup();
    if !event["content"].is_null() {
        let form = if model.apply_markdown() { "rendered_content" } else { "content" };
        let content = event[form].clone();
        model.change(named, |message| {
            message["content"] = content;
            message["is_me_message"] = event["is_me_message"].clone();
        });
        model.set_mention(named, is_mention(&event["flags"]));
    }
    let moved = !event["subject"].is_null() || !event["new_stream_id"].is_null();
    for id in all {
        if id != named && !moved {
            continue;
        }
        let stream_name = model.stream_name(&event["new_stream_id"]);
        model.change(id, |message| record_edit(message, event, id == named, stream_name.as_deref()));
        if moved {
            model.move_unread(id, event);
        }
    }
    model.change(named, |message| message["flags"] = event["flags"].clone());
}

/// Writes an edit or move into a message as a fetch would show it.
fn record_edit(message: &mut Value, event: &Value, is_named: bool, stream_name: Option<&str>) {
    let mut edit = json!({"user_id": event["user_id"], "timestamp": event["edit_timestamp"]});
    if is_named && !event["content"].is_null() && event["rendering_only"] == false {
        edit["prev_content"] = event["orig_content"].clone();
        edit["prev_rendered_content"] = event["orig_rendered_content"].clone();
        message["last_edit_timestamp"] = event["edit_timestamp"].clone();
    }
    if !event["subject"].is_null() {
        edit["prev_topic"] = message["subject"].clone();
        edit["topic"] = event["subject"].clone();
        message["subject"] = event["subject"].clone();
        message["topic_links"] = event["topic_links"].clone();
        if !only_resolves(event) {
            message["last_moved_timestamp"] = event["edit_timestamp"].clone();
        }
    }
    if !event["new_stream_id"].is_null() {
        edit["prev_stream"] = message["stream_id"].clone();
        edit["stream"] = event["new_stream_id"].clone();
        message["stream_id"] = event["new_stream_id"].clone();
        message["display_recipient"] = stream_name.into();
        message["last_moved_timestamp"] = event["edit_timestamp"].clone();
    }
    if event["rendering_only"] == true {
        return;
    }
    match message.get_mut("edit_history").and_then(Value::as_array_mut) {
        Some(history) => history.insert(0, edit),
        None => message["edit_history"] = json!([edit]),
    }
}

/// True if only the prefix of resolved topics changed, which is not a move.
fn only_resolves(event: &Value) -> bool {
    let (before, after) = (event["orig_subject"].as_str().unwrap(), event["subject"].as_str().unwrap());
    let is_mark_of = |marked: &str, topic: &str| {
        marked.strip_prefix("✔ ").is_some_and(|rest| rest == topic && !rest.starts_with("✔ "))
    };
    event["new_stream_id"].is_null() && (is_mark_of(after, before) || is_mark_of(before, after))
}

/// Messages were deleted.
pub fn deleted(model: &mut Model, event: &Value) {
    let gone = if event["message_ids"].is_null() {
        vec![id_of(&event["message_id"])]
    } else {
        ids(&event["message_ids"])
    };
    for id in gone {
        model.remove_unread(id);
        model.unstar(id);
        if let Some(messages) = &mut model.messages {
            messages.retain(|message| message["id"] != id);
        }
    }
    model.find_newest();
}

pub fn reaction_added(model: &mut Model, event: &Value) {
    let reaction = reaction(event);
    model.change(id_of(&event["message_id"]), |message| {
        message["reactions"].as_array_mut().expect("a list of reactions").push(reaction);
    });
}

/// Adds a submessage of a poll or to-do list.
pub fn submessage_added(model: &mut Model, event: &Value) {
    let mut submessage = json!({"id": event["submessage_id"]});
    for name in ["message_id", "sender_id", "msg_type", "content"] {
        submessage[name] = event[name].clone();
    }
    model.change(id_of(&event["message_id"]), |message| {
        message["submessages"].as_array_mut().expect("a list of data").push(submessage);
    });
}

pub fn reaction_removed(model: &mut Model, event: &Value) {
    let gone = reaction(event);
    model.change(id_of(&event["message_id"]), |message| {
        let reactions = message["reactions"].as_array_mut().expect("a list of reactions");
        let before = reactions.len();
        reactions.retain(|reaction| *reaction != gone);
        assert_eq!(reactions.len() + 1, before, "one reaction is gone: {gone}");
    });
}

fn reaction(event: &Value) -> Value {
    let names = ["emoji_name", "emoji_code", "reaction_type", "user_id"];
    names.iter().map(|name| ((*name).to_owned(), event[*name].clone())).collect()
}

/// The user's own flags changed.
pub fn flags_changed(model: &mut Model, event: &Value) {
    let flag = event["flag"].as_str().expect("a flag has a name");
    let add = event["op"] == "add";
    assert_eq!(event["operation"], event["op"], "the older name says the same");
    for id in ids(&event["messages"]) {
        match (flag, add) {
            ("read", true) => model.remove_unread(id),
            ("read", false) => {
                let detail = &event["message_details"][id.to_string()];
                assert!(detail.is_object(), "a message that became unread has its details: {event}");
                model.add_unread(&Place::of_detail(detail, model), id, detail["mentioned"] == true);
            }
            ("starred", true) => model.star(id),
            ("starred", false) => model.unstar(id),
            _ => {}
        }
        model.change(id, |message| {
            let flags = message["flags"].as_array_mut().expect("a list of flags");
            flags.retain(|known| known != flag);
            if add {
                flags.push(flag.into());
            }
        });
    }
}

/// Place where an unread message is counted: one of the three lists, and the members that identify its entry.
struct Place {
    list: &'static str,
    key: Value,
}

impl Place {
    fn of_message(message: &Value, model: &Model) -> Self {
        if message["type"] == "stream" {
            return Self::topic(&message["stream_id"], &message["subject"]);
        }
        Self::direct(&people(message, model), model)
    }

    fn of_detail(detail: &Value, model: &Model) -> Self {
        if detail["type"] == "stream" {
            return Self::topic(&detail["stream_id"], &detail["topic"]);
        }
        Self::direct(&ids(&detail["user_ids"]), model)
    }

    fn topic(stream_id: &Value, topic: &Value) -> Self {
        Self { list: "streams", key: json!({"stream_id": stream_id, "topic": topic}) }
    }

    /// A conversation with these others.
    fn direct(others: &[i64], model: &Model) -> Self {
        if let [] | [_] = others {
            let other = others.first().copied().unwrap_or(model.user_id);
            return Self { list: "pms", key: json!({"other_user_id": other, "sender_id": other}) };
        }
        let mut all = [others, &[model.user_id]].concat();
        all.sort_unstable();
        let text = all.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
        Self { list: "huddles", key: json!({"user_ids_string": text}) }
    }

    fn is(&self, entry: &Value) -> bool {
        self.key.as_object().unwrap().iter().all(|(name, value)| match name.as_str() {
            // Spellings of one topic are one conversation.
            "topic" => lower(&entry["topic"]) == lower(value),
            name => entry[name] == *value,
        })
    }
}

fn lower(text: &Value) -> Option<String> {
    text.as_str().map(str::to_lowercase)
}

/// The others in a direct conversation, ascending.
fn people(message: &Value, model: &Model) -> Vec<i64> {
    let people = message["display_recipient"].as_array().expect("people of a direct message");
    let mut others: Vec<i64> = people.iter().map(|person| id_of(&person["id"])).collect();
    others.retain(|id| *id != model.user_id);
    others.sort_unstable();
    others
}

fn id_of(value: &Value) -> i64 {
    value.as_i64().unwrap_or_else(|| panic!("an id, not {value}"))
}

fn has(flags: &Value, name: &str) -> bool {
    flags.as_array().expect("a list of flags").iter().any(|flag| flag == name)
}

fn is_mention(flags: &Value) -> bool {
    has(flags, "mentioned") || has(flags, "wildcard_mentioned")
}

/// Changes of a client's stored messages.
impl Model {
    /// Changes a message that the client has.
    fn change(&mut self, id: i64, change: impl FnOnce(&mut Value)) {
        let known = self.messages.iter_mut().flatten().find(|message| message["id"] == id);
        if let Some(message) = known {
            change(message);
        }
    }

    fn unread(&mut self, list: &str) -> Option<&mut Vec<Value>> {
        self.state.get_mut("unread_msgs").map(|unread| unread[list].as_array_mut().expect("a list of unread"))
    }

    fn add_unread(&mut self, place: &Place, id: i64, mentions: bool) {
        let Some(list) = self.unread(place.list) else { return };
        if let Some(entry) = list.iter_mut().find(|entry| place.is(entry)) {
            insert_sorted(entry["unread_message_ids"].as_array_mut().unwrap(), id);
        } else {
            let mut entry = place.key.clone();
            entry["unread_message_ids"] = json!([id]);
            list.push(entry);
        }
        if mentions {
            insert_sorted(self.unread("mentions").unwrap(), id);
        }
    }

    fn remove_unread(&mut self, id: i64) {
        for list in ["pms", "streams", "huddles"] {
            let Some(entries) = self.unread(list) else { return };
            for entry in entries.iter_mut() {
                entry["unread_message_ids"].as_array_mut().unwrap().retain(|unread| *unread != id);
            }
            entries.retain(|entry| entry["unread_message_ids"] != json!([]));
        }
        self.unread("mentions").unwrap().retain(|unread| *unread != id);
    }

    fn is_unread(&mut self, id: i64) -> bool {
        ["pms", "streams", "huddles"].iter().any(|list| {
            let entries = self.unread(list).into_iter().flatten();
            entries.into_iter().any(|entry| ids(&entry["unread_message_ids"]).contains(&id))
        })
    }

    /// An edit changed whether an unread message mentions the user.
    fn set_mention(&mut self, id: i64, mentions: bool) {
        let is_unread = self.is_unread(id);
        let Some(list) = self.unread("mentions") else { return };
        list.retain(|unread| *unread != id);
        if mentions && is_unread {
            insert_sorted(list, id);
        }
    }

    /// A message went to another topic or channel.
    fn move_unread(&mut self, id: i64, event: &Value) {
        if !self.is_unread(id) {
            return;
        }
        let entries = self.unread("streams").into_iter().flatten();
        let mut entries = entries.filter(|entry| ids(&entry["unread_message_ids"]).contains(&id));
        let before = entries.next().expect("messages of channels move").clone();
        let mentions = self.unread("mentions").unwrap().contains(&id.into());
        let or = |new: &Value, old: &Value| if new.is_null() { old.clone() } else { new.clone() };
        let place = Place::topic(
            &or(&event["new_stream_id"], &before["stream_id"]),
            &or(&event["subject"], &before["topic"]),
        );
        self.remove_unread(id);
        self.add_unread(&place, id, mentions);
    }

    fn star(&mut self, id: i64) {
        if let Some(starred) = self.list("starred_messages") {
            insert_sorted(starred, id);
        }
    }

    fn unstar(&mut self, id: i64) {
        if let Some(starred) = self.list("starred_messages") {
            starred.retain(|known| *known != id);
        }
    }

    fn touch_conversation(&mut self, others: &[i64], id: i64) {
        if let Some(recent) = self.list("recent_private_conversations") {
            recent.retain(|conversation| conversation["user_ids"] != json!(others));
            recent.insert(0, json!({"max_message_id": id, "user_ids": others}));
        }
    }

    /// Updates the newest messages after a deletion.
    fn find_newest(&mut self) {
        let Some(messages) = self.messages.clone() else { return };
        if let Some(recent) = self.list("recent_private_conversations") {
            recent.clear();
        }
        for message in messages.iter().filter(|message| message["type"] == "private") {
            self.touch_conversation(&people(message, self), id_of(&message["id"]));
        }
    }

    fn stream_name(&self, stream_id: &Value) -> Option<String> {
        let lists = ["subscriptions", "streams"].iter().filter_map(|name| self.state.get(*name)?.as_array());
        let mut streams = lists.flatten().filter(|stream| stream["stream_id"] == *stream_id);
        streams.next().and_then(|stream| stream["name"].as_str()).map(str::to_owned)
    }
}

fn insert_sorted(list: &mut Vec<Value>, id: i64) {
    if !list.contains(&id.into()) {
        list.push(id.into());
        list.sort_by_key(Value::as_i64);
    }
}

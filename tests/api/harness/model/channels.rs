//! `stream` and `default_streams` events.

use super::Model;
use serde_json::Value;

/// The lists of channels that each channel is in one of, if the client asked for them.
pub const SUBSCRIPTION_LISTS: [&str; 3] = ["subscriptions", "unsubscribed", "never_subscribed"];

/// Channels were made, or can now be seen.
pub fn create(model: &mut Model, event: &Value) {
    let with_subscribers = names_subscribers(model);
    for stream in event["streams"].as_array().unwrap() {
        put(model, "streams", stream.clone());
        name_messages(model, &stream["stream_id"], &stream["name"]);
        let mut never_subscribed = stream.clone();
        if with_subscribers {
            never_subscribed["subscribers"] = Value::Array(Vec::new());
        }
        put(model, "never_subscribed", never_subscribed);
    }
}

/// Channels can no longer be seen.
pub fn delete(model: &mut Model, event: &Value) {
    let streams = event["streams"].as_array().unwrap();
    let ids = event["stream_ids"].as_array().unwrap();
    assert_eq!(ids, &streams.iter().map(|stream| stream["stream_id"].clone()).collect::<Vec<_>>(), "{event}");
    for name in SUBSCRIPTION_LISTS.into_iter().chain(["streams"]) {
        if let Some(list) = model.list(name) {
            list.retain(|stream| !ids.contains(&stream["stream_id"]));
        }
    }
}

/// A property changed.
pub fn update(model: &mut Model, event: &Value) {
    for name in SUBSCRIPTION_LISTS.into_iter().chain(["streams"]) {
        let Some(list) = model.list(name) else { continue };
        for stream in list.iter_mut().filter(|stream| stream["stream_id"] == event["stream_id"]) {
            stream[event["property"].as_str().unwrap()] = event["value"].clone();
            for more in ["rendered_description", "history_public_to_subscribers", "is_web_public"] {
                if let Some(value) = event.get(more) {
                    stream[more] = value.clone();
                }
            }
        }
        sort(list);
    }
    if event["property"] == "name" {
        name_messages(model, &event["stream_id"], &event["value"]);
    }
}

/// Clients show a channel's messages under its current name.
fn name_messages(model: &mut Model, stream_id: &Value, name: &Value) {
    for message in model.messages.iter_mut().flatten() {
        if message["stream_id"] == *stream_id {
            message["display_recipient"] = name.clone();
        }
    }
}

/// Other channels are default ones.
pub fn default_streams(model: &mut Model, event: &Value) {
    model.set("realm_default_streams", event["default_streams"].clone());
}

/// Adds a channel to a list, which is in the order of names.
pub fn put(model: &mut Model, list: &str, stream: Value) {
    if let Some(list) = model.list(list) {
        list.retain(|other| other["stream_id"] != stream["stream_id"]);
        list.push(stream);
        sort(list);
    }
}

fn sort(list: &mut [Value]) {
    list.sort_by_key(|stream| (stream["name"].as_str().unwrap().to_owned(), stream["stream_id"].as_i64()));
}

/// True if the client asked for the names of subscribers.
pub fn names_subscribers(model: &Model) -> bool {
    model.parameters["include_subscribers"] == true
}

/// `channel_folder`, `op: reorder`.
pub fn folders_reordered(model: &mut Model, event: &Value) {
    let order = super::ids(&event["order"]);
    let Some(folders) = model.list("channel_folders") else { return };
    for folder in folders.iter_mut() {
        let place = order.iter().position(|id| folder["id"] == *id).expect("all folders are in the order");
        folder["order"] = place.into();
    }
    folders.sort_by_key(|folder| folder["order"].as_i64());
}

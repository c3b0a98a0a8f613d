//! Events about lists of things that a user owns: drafts, snippets, views, scheduled messages.

use super::Model;
use serde_json::Value;

/// Order of a list after a change.
pub type Order = fn(&mut [Value]);

/// Order of lists that grow at the end.
pub fn as_they_are(_list: &mut [Value]) {}

/// Order of drafts: the last edited first.
pub fn newest_first(list: &mut [Value]) {
    list.sort_by_key(|item| std::cmp::Reverse((item["timestamp"].as_i64(), item["id"].as_i64())));
}

/// Sorts scheduled items, the next one first.
pub fn next_first(list: &mut [Value]) {
    list.sort_by_key(|item| item["scheduled_delivery_timestamp"].as_i64());
}

/// One more at the end.
pub fn add(model: &mut Model, name: &str, item: &Value) {
    if let Some(list) = model.list(name) {
        list.push(item.clone());
    }
}

/// Some more.
pub fn add_all(model: &mut Model, name: &str, items: &Value, order: Order) {
    if let Some(list) = model.list(name) {
        list.extend(items.as_array().expect("a list of new things").clone());
        order(list);
    }
}

/// One has changed as a whole.
pub fn replace(model: &mut Model, name: &str, key: &str, item: &Value, order: Order) {
    if let Some(list) = model.list(name) {
        *find(list, key, &item[key]) = item.clone();
        order(list);
    }
}

/// Parts of one have changed.
pub fn merge(model: &mut Model, name: &str, key: &str, id: &Value, changed: &Value) {
    if let Some(list) = model.list(name) {
        let item = find(list, key, id);
        for (part, value) in changed.as_object().expect("the changed parts") {
            item[part] = value.clone();
        }
    }
}

/// The whole list is another.
pub fn replace_all(model: &mut Model, name: &str, items: &Value) {
    if let Some(list) = model.list(name) {
        list.clone_from(items.as_array().expect("a list"));
    }
}

/// An item was deleted.
pub fn remove(model: &mut Model, name: &str, key: &str, id: &Value) {
    if let Some(list) = model.list(name) {
        find(list, key, id);
        list.retain(|item| item[key] != *id);
    }
}

fn find<'a>(list: &'a mut [Value], key: &str, id: &Value) -> &'a mut Value {
    list.iter_mut().find(|item| item[key] == *id).expect("the client knows it")
}

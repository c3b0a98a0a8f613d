//! `subscription` events.

use super::Model;
use super::channels::{SUBSCRIPTION_LISTS, put};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Members that exist only for the user's own subscriptions.
const PERSONAL: [&str; 9] = [
    "color",
    "is_muted",
    "in_home_view",
    "pin_to_top",
    "desktop_notifications",
    "audible_notifications",
    "push_notifications",
    "email_notifications",
    "wildcard_mentions_notify",
];

/// The user was subscribed.
pub fn add(model: &mut Model, event: &Value) {
    for subscription in event["subscriptions"].as_array().unwrap() {
        for name in PERSONAL {
            assert!(subscription.get(name).is_some(), "{name} is in {subscription}");
        }
        for name in ["unsubscribed", "never_subscribed"] {
            if let Some(list) = model.list(name) {
                list.retain(|other| other["stream_id"] != subscription["stream_id"]);
            }
        }
        put(model, "subscriptions", subscription.clone());
        count(model, &subscription["stream_id"], &subscription["subscriber_count"]);
    }
}

/// The user was unsubscribed.
pub fn remove(model: &mut Model, event: &Value) {
    let own = model.list("realm_users").is_some().then(|| model.own_user_id());
    for removed in event["subscriptions"].as_array().unwrap() {
        let Some(list) = model.list("subscriptions") else { continue };
        let place = list.iter().position(|other| other["stream_id"] == removed["stream_id"]);
        let place = place.unwrap_or_else(|| panic!("{removed} was subscribed to"));
        assert_eq!(list[place]["name"], removed["name"]);
        let stream = list.remove(place);
        put(model, "unsubscribed", stream);
        if let Some(own) = own {
            change_peers(model, &removed["stream_id"], &[own], false);
        }
    }
}

/// The user chose something.
pub fn update(model: &mut Model, event: &Value) {
    let list = model.list("subscriptions").expect("a client that hears of its choices has subscriptions");
    let found = list.iter_mut().find(|stream| stream["stream_id"] == event["stream_id"]);
    found.expect("the subscription is known")[event["property"].as_str().unwrap()] = event["value"].clone();
}

/// Others came or left.
pub fn peers(model: &mut Model, event: &Value, came: bool) {
    let users: Vec<i64> =
        event["user_ids"].as_array().unwrap().iter().map(|id| id.as_i64().unwrap()).collect();
    for stream_id in event["stream_ids"].as_array().unwrap() {
        change_peers(model, stream_id, &users, came);
    }
}

/// A deactivated user is subscribed to nothing.
pub fn forget_user(model: &mut Model, user_id: &Value) {
    let streams =
        SUBSCRIPTION_LISTS.into_iter().flat_map(|name| model.list(name).cloned().unwrap_or_default());
    let ids: Vec<Value> = streams.map(|stream| stream["stream_id"].clone()).collect();
    for stream_id in ids {
        change_peers(model, &stream_id, &[user_id.as_i64().unwrap()], false);
    }
}

fn change_peers(model: &mut Model, stream_id: &Value, users: &[i64], came: bool) {
    let mut number = None;
    for name in SUBSCRIPTION_LISTS {
        let Some(list) = model.list(name) else { continue };
        let Some(stream) = list.iter_mut().find(|stream| stream["stream_id"] == *stream_id) else { continue };
        if let Some(known) = stream.get("subscribers") {
            let mut all: BTreeSet<i64> =
                known.as_array().unwrap().iter().map(|id| id.as_i64().unwrap()).collect();
            for user in users {
                if came {
                    all.insert(*user)
                } else {
                    all.remove(user)
                };
            }
            number = Some(json!(all.len()));
            stream["subscribers"] = json!(all);
        }
    }
    if let Some(number) = number {
        count(model, stream_id, &number);
    }
}

/// Clients that know the subscribers can count them.
fn count(model: &mut Model, stream_id: &Value, number: &Value) {
    for name in SUBSCRIPTION_LISTS.into_iter().chain(["streams"]) {
        let streams = model.list(name).into_iter().flatten();
        for stream in streams.filter(|stream| stream["stream_id"] == *stream_id) {
            stream["subscriber_count"] = number.clone();
        }
    }
}

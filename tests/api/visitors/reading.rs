//! Messages, topics, people and files without an account.

use super::{Place, fetch, ids, page, refused};
use crate::harness::Client;
use crate::uploads::{link, load, png, upload};
use reqwest::Method;
use serde_json::{Value, json};

/// The refusal that files and images have for programs.
const CHALLENGE: &str = "Not logged in: API authentication or user session required";

/// Pages share the parts of senders, which are not the same for all readers.
#[tokio::test]
async fn a_page_that_members_read_before_tells_others_no_more_of_its_senders() {
    let place = Place::new().await;
    let Place { server, ada, owner, visitor, guest, web, .. } = &place;
    ada.send(*web, "plans", "one").await;
    let shown = async |reader: &Client| {
        let narrow = json!([{"operator": "channel", "operand": web}, ["channels", "web-public"]]);
        let found = reader.get("/messages", fetch(narrow)).await.ok();
        let message = found["messages"].as_array().unwrap().last().unwrap();
        let names = ["sender_id", "sender_full_name", "sender_email", "avatar_url"];
        Value::from(names.map(|name| message[name].clone()).to_vec())
    };
    let id = ada.user_id;
    let hidden = format!("user{id}@bots.invalid");
    let drawn = format!("/user_avatars/1/generated/{id}.png?version=1");
    for _ in 0..3 {
        assert_eq!(shown(owner).await, json!([id, "Ada", "ada@example.com", drawn]));
        assert_eq!(shown(visitor).await, json!([id, "Ada", hidden, drawn]));
    }
    server.restrict_guests().await;
    let unknown = json!([id, "Unknown user", hidden, "/static/images/unknown-user-avatar.png"]);
    for _ in 0..3 {
        assert_eq!(shown(owner).await, json!([id, "Ada", "ada@example.com", drawn]));
        assert_eq!(shown(guest).await, unknown);
        assert_eq!(shown(visitor).await, unknown);
    }
    ada.patch("/settings", json!({"full_name": "Ada Lovelace", "email_address_visibility": 5})).await.ok();
    assert_eq!(shown(owner).await, json!([id, "Ada Lovelace", hidden, drawn]));
    assert_eq!(shown(guest).await, unknown);
}

// conformance: visit-1, visit-2
#[tokio::test]
async fn visitors_read_the_history_of_web_public_channels_and_of_no_others() {
    let place = Place::new().await;
    let Place { ada, visitor, guest, web, open, secret, old, .. } = &place;
    let first = ada.send(*web, "plans", "one").await;
    ada.send(*open, "plans", "two").await;
    ada.send(*secret, "plans", "three").await;
    let fourth = ada.send(*old, "plans", "four").await;
    ada.send_direct(&[&place.owner], "five").await;
    let last = ada.send(*web, "✔ done", "six").await;
    // Without the notices of changed channels.
    let ids = |answer| ids(answer).into_iter().filter(|id| *id >= first).collect::<Vec<_>>();

    assert_eq!(ids(visitor.get("/messages", page(json!([]))).await), [first, fourth, last]);
    for reader in [ada, guest] {
        let narrow = json!([{"operator": "channel", "operand": web}]);
        assert_eq!(ids(reader.get("/messages", fetch(narrow)).await), [first, last]);
    }
    for (terms, expected) in [
        (json!([["channel", "web"]]), vec![first, last]),
        (json!([{"operator": "channel", "operand": web}, ["topic", "plans"]]), vec![first]),
        (json!([["is", "resolved"]]), vec![last]),
        (json!([{"operator": "is", "operand": "resolved", "negated": true}]), vec![first, fourth]),
        (json!([["in", "home"]]), vec![first, fourth, last]),
        (json!([["search", "six"]]), vec![last]),
        (json!([{"operator": "sender", "operand": ada.user_id}]), vec![first, fourth, last]),
        (json!([{"operator": "id", "operand": first}]), vec![first]),
        (json!([{"operator": "id", "operand": first + 1}]), vec![]),
        (json!([{"operator": "with", "operand": last}]), vec![last]),
        (
            json!([["channel", "web"], ["topic", "plans"], {"operator": "with", "operand": first + 1}]),
            vec![first],
        ),
        (json!([{"operator": "near", "operand": first}]), vec![first, fourth, last]),
        (json!([["has", "reaction"]]), vec![]),
    ] {
        assert_eq!(ids(visitor.get("/messages", page(terms.clone())).await), expected, "{terms}");
    }
    let some =
        json!({"message_ids": [first, first + 1, first + 2, fourth], "narrow": [["channels", "web-public"]]});
    assert_eq!(ids(visitor.get("/messages", some).await), [first, fourth]);
    let unread = json!({"anchor": "first_unread", "num_before": 9, "num_after": 9, "narrow": [["channels", "web-public"]]});
    assert_eq!(ids(visitor.get("/messages", unread).await), [first, fourth, last]);

    // An archived channel, and one that is closed again, are as if they never were there.
    place.archive(*old).await;
    assert!(!ids(visitor.get("/messages", page(json!([]))).await).contains(&fourth));
    let (owner, path) = (&place.owner, format!("/streams/{web}"));
    for change in [json!({"is_web_public": false}), json!({"is_private": true, "is_web_public": false})] {
        owner.patch(&path, change.clone()).await.ok();
        refused(visitor.get("/messages", page(json!([]))).await);
        owner.patch(&path, json!({"is_web_public": true, "is_private": false})).await.ok();
        assert!(ids(visitor.get("/messages", page(json!([]))).await).contains(&first), "after {change}");
    }
    place.set_access(false).await;
    refused(visitor.get("/messages", page(json!([]))).await);
    place.set_access(true).await;
    assert!(ids(visitor.get("/messages", page(json!([]))).await).contains(&first));
    place.server.sql("UPDATE realm SET deactivated = 1").await;
    refused(visitor.get("/messages", page(json!([]))).await);
}

// conformance: visit-3
#[tokio::test]
async fn narrows_of_visitors_have_only_terms_that_are_the_same_for_all() {
    let place = Place::new().await;
    let Place { visitor, ada, .. } = &place;
    ada.send(place.web, "t", "x").await;
    let web = || json!({"operator": "channels", "operand": "web-public"});
    for narrow in [
        json!([]),
        json!([["channel", "web"]]),
        json!([["channels", "public"]]),
        json!([{"operator": "channels", "operand": "web-public", "negated": true}]),
        json!([web(), {"operator": "dm", "operand": [ada.user_id]}]),
        json!([web(), ["dm-including", "ada@example.com"]]),
        json!([web(), ["is", "starred"]]),
        json!([web(), ["is", "unread"]]),
        json!([web(), ["is", "dm"]]),
        json!([web(), ["in", "all"]]),
        json!([web(), {"operator": "in", "operand": "home", "negated": true}]),
        json!([web(), ["nonsense", "x"]]),
    ] {
        refused(visitor.get("/messages", fetch(narrow)).await);
    }
    // A channel that is hidden is one that does not exist.
    let unknown = |operand: &Value| {
        format!("Invalid narrow operator: unknown channel {}", operand.to_string().trim_matches('"'))
    };
    for operand in
        [json!("secret"), json!("open"), json!("nowhere"), json!(place.secret), json!(place.open), json!(999)]
    {
        let terms = json!([{"operator": "channel", "operand": operand}]);
        visitor.get("/messages", page(terms)).await.error(400, "BAD_NARROW", &unknown(&operand));
    }
    let terms = json!([{"operator": "with", "operand": 999}]);
    visitor.get("/messages", page(terms)).await.error(
        400,
        "BAD_NARROW",
        "Invalid narrow operator: Invalid 'with' operator",
    );
    visitor.get("/messages", json!({"narrow": "x"})).await.error(
        400,
        "BAD_REQUEST",
        "narrow is not valid JSON",
    );
    let mut many = page(json!([]));
    many["num_before"] = 5001.into();
    visitor.get("/messages", many).await.error(
        400,
        "BAD_REQUEST",
        "Too many messages requested (maximum 5000).",
    );
}

// conformance: visit-4
#[tokio::test]
async fn messages_show_public_members_only() {
    let place = Place::new().await;
    let Place { visitor, ada, web, .. } = &place;
    ada.patch("/settings", json!({"email_address_visibility": 1})).await.ok();
    let id = ada.send(*web, "t", "@**all** hello").await;
    ada.post(&format!("/messages/{id}/reactions"), json!({"emoji_name": "tada"})).await.ok();
    ada.post("/messages/flags", json!({"messages": [id], "op": "add", "flag": "starred"})).await.ok();
    let one = visitor.get(&format!("/messages/{id}"), json!({"apply_markdown": false})).await.ok();
    let message = &one["message"];
    assert_eq!(one["raw_content"], "@**all** hello");
    assert_eq!(message["content"], "@**all** hello");
    assert_eq!(message["flags"], json!(["read"]));
    assert_eq!(message["sender_full_name"], "Ada");
    assert_eq!(message["sender_email"], format!("user{}@bots.invalid", ada.user_id));
    assert_eq!(message["reactions"][0]["user_id"], ada.user_id);
    assert!(message["avatar_url"].as_str().unwrap().starts_with("/user_avatars/"));
    let listed = visitor.get("/messages", page(json!([["search", "hello"]]))).await.ok();
    assert_eq!(listed["messages"][0]["flags"], json!(["read"]));
    assert!(listed["messages"][0]["match_content"].as_str().unwrap().contains("highlight"), "{listed}");
    assert!(!listed.to_string().contains("example.com"), "{listed}");
}

// conformance: visit-5
#[tokio::test]
async fn one_message_is_refused_the_same_way_for_each_reason() {
    let place = Place::new().await;
    let Place { visitor, ada, web, secret, old, .. } = &place;
    let shown = ada.send(*web, "t", "shown").await;
    let hidden = [
        ada.send(*secret, "t", "x").await,
        ada.send(place.open, "t", "x").await,
        ada.send_direct(&[ada], "x").await,
        ada.send(*old, "t", "x").await,
        9999,
    ];
    place.archive(*old).await;
    let path = |id: i64| format!("/messages/{id}");
    visitor.get(&path(shown), ()).await.ok();
    for id in hidden {
        refused(visitor.get(&path(id), ()).await);
    }
    // Ada may still read what she wrote, with or without a browser.
    ada.get(&path(hidden[0]), ()).await.ok();
    // Moved to where visitors do not read.
    let moved = json!({"stream_id": secret, "propagate_mode": "change_one"});
    place.owner.patch(&path(shown), moved).await.ok();
    refused(visitor.get(&path(shown), ()).await);
    // Moved back, with the history of the private channel behind it.
    let moved = json!({"stream_id": web, "propagate_mode": "change_one"});
    place.owner.patch(&path(hidden[0]), moved).await.ok();
    visitor.get(&path(hidden[0]), ()).await.ok();
    place.owner.delete(&path(hidden[0]), ()).await.ok();
    refused(visitor.get(&path(hidden[0]), ()).await);
    place.set_access(false).await;
    refused(visitor.get(&path(hidden[0]), ()).await);
}

// conformance: visit-6
#[tokio::test]
async fn topics_of_web_public_channels_are_listed() {
    let place = Place::new().await;
    let Place { visitor, ada, web, old, .. } = &place;
    let plans = ada.send(*web, "plans", "x").await;
    ada.send(*old, "plans", "x").await;
    place.archive(*old).await;
    let path = |id: i64| format!("/users/me/{id}/topics");
    let topics = visitor.get(&path(*web), ()).await.ok()["topics"].clone();
    assert!(topics.as_array().unwrap().contains(&json!({"name": "plans", "max_id": plans})), "{topics}");
    for id in [place.open, place.secret, *old, 9999] {
        visitor.get(&path(id), ()).await.error(400, "BAD_REQUEST", "Invalid channel ID");
    }
    place.set_access(false).await;
    for id in [*web, 9999] {
        refused(visitor.get(&path(id), ()).await);
    }
}

// conformance: visit-7
#[tokio::test]
async fn people_are_listed_without_what_is_theirs() {
    let place = Place::new().await;
    let Place { visitor, ada, .. } = &place;
    ada.patch("/settings", json!({"email_address_visibility": 1, "timezone": "Europe/Vienna"})).await.ok();
    let asked = json!({"user_ids": [ada.user_id], "include_custom_profile_fields": true});
    let listed = visitor.get("/users", &asked).await.ok();
    assert_eq!(
        listed["members"],
        json!([{
            "user_id": ada.user_id, "full_name": "Ada", "email": format!("user{}@bots.invalid", ada.user_id),
            "delivery_email": null, "date_joined": "2026-09-21", "is_active": true, "is_owner": false,
            "is_admin": false, "is_guest": false, "is_bot": false, "role": 400, "timezone": "",
            "avatar_url": listed["members"][0]["avatar_url"], "avatar_version": 1,
        }])
    );
    let all = visitor.get("/users", ()).await.ok();
    assert_eq!(
        all["members"].as_array().unwrap().len(),
        place.owner.get("/users", ()).await.ok()["members"].as_array().unwrap().len()
    );
    assert!(!all.to_string().contains("example.com") && !all.to_string().contains("Vienna"), "{all}");
    // Where guests do not see all users, visitors do not either.
    place.owner.patch("/realm", json!({"can_access_all_users_group": {"new": 5, "old": 7}})).await;
    place.set_access(false).await;
    refused(visitor.get("/users", ()).await);
}

// conformance: visit-8
#[tokio::test]
async fn files_and_images_follow_the_messages() {
    let place = Place::new().await;
    let Place { ada, web, secret, .. } = &place;
    let url = upload(ada, "a.png", &png(20, 10)).await;
    let thumbnail = format!("{}/840x560.webp", url.replace("/user_uploads/", "/user_uploads/thumbnail/"));
    let save = url.replace("/user_uploads/", "/user_uploads/download/");
    let visitor = place.server.anonymous();
    let status = async |path: &str| {
        let answer = load(&visitor, path).await;
        if answer.status == 401 {
            answer.error(401, "UNAUTHORIZED", CHALLENGE);
            return 401;
        }
        answer.status
    };
    let each = async |expected: u16, why: &str| {
        for path in [&url, &thumbnail, &save] {
            assert_eq!(status(path).await, expected, "{path} {why}");
        }
    };
    each(401, "without a message").await;
    let elsewhere = ada.send(*secret, "t", &link(&url)).await;
    each(401, "in a private channel").await;
    let id = ada.send(*web, "t", &link(&url)).await;
    each(200, "in a web-public channel").await;
    place.set_access(false).await;
    each(401, "while nothing is public").await;
    place.set_access(true).await;
    place.owner.delete(&format!("/messages/{id}"), ()).await.ok();
    each(401, "after the message was deleted").await;
    let moved = json!({"stream_id": web, "propagate_mode": "change_one"});
    place.owner.patch(&format!("/messages/{elsewhere}"), moved).await.ok();
    each(200, "after a message was moved there").await;
    assert_eq!(status("/user_uploads/1/ab/nothing.png").await, 401, "no such file");
    // The operation for temporary addresses is for people with a key.
    refused(place.visitor.get(&url, ()).await);
    place.archive(*web).await;
    each(401, "after the channel was archived").await;
}

// conformance: visit-9
#[tokio::test]
async fn images_of_people_are_found_by_id() {
    let place = Place::new().await;
    let visitor = place.server.anonymous();
    let get = async |client: &Client, path: String| client.request_outside(Method::GET, &path).send().await;
    let id = place.ada.user_id;
    for size in ["", "/medium"] {
        let answer = get(&visitor, format!("/avatar/{id}{size}")).await;
        assert_eq!(answer.status, 302);
        assert!(answer.header("location").starts_with("/user_avatars/"), "{}", answer.header("location"));
        for name in ["ada@example.com", "nobody@example.com"] {
            get(&visitor, format!("/avatar/{name}{size}")).await.error(401, "UNAUTHORIZED", CHALLENGE);
        }
    }
    assert_eq!(
        get(&visitor, "/avatar/9999".to_owned()).await.status,
        302,
        "users and unknown ids look the same"
    );
    place.set_access(false).await;
    get(&visitor, format!("/avatar/{id}")).await.error(401, "UNAUTHORIZED", CHALLENGE);
    assert_eq!(get(&place.ada, format!("/avatar/{id}")).await.status, 302);
}

//! Guests who cannot access all users.

use crate::harness::{Answer, Client, START, TestServer};
use serde_json::{Value, json};
use teamchat::types::Role;

fn unknown(user: &Client) -> Value {
    let id = user.user_id;
    json!({
        "user_id": id,
        "delivery_email": null,
        "email": format!("user{id}@bots.invalid"),
        "full_name": "Unknown user",
        "date_joined": "1970-01-01T00:00+00:00",
        "is_active": true,
        "is_owner": false,
        "is_admin": false,
        "is_guest": false,
        "is_bot": false,
        "role": 400,
        "timezone": "",
        "avatar_url": "/static/images/unknown-user-avatar.png",
        "avatar_version": 1,
        "profile_data": {},
    })
}

fn removed(user: &Client) -> Value {
    let person = json!({"user_id": user.user_id, "full_name": "Unknown user"});
    json!({"type": "realm_user", "op": "remove", "person": person})
}

/// Names in a list of users.
fn names(users: &Value) -> Vec<&str> {
    users.as_array().unwrap().iter().map(|user| user["full_name"].as_str().unwrap()).collect()
}

async fn subscribe(client: &Client, channel: &str, users: &[&Client]) {
    let ids: Vec<i64> = users.iter().map(|user| user.user_id).collect();
    let wanted = json!({"subscriptions": [{"name": channel}], "principals": ids});
    client.post("/users/me/subscriptions", wanted).await.ok();
}

async fn unsubscribe(client: &Client, channel: &str, users: &[&Client]) {
    let ids: Vec<i64> = users.iter().map(|user| user.user_id).collect();
    let wanted = json!({"subscriptions": [channel], "principals": ids});
    client.delete("/users/me/subscriptions", wanted).await.ok();
}

/// Notices keep the ids of users, by which clients show the names that their users may know.
// conformance: user-45
#[tokio::test]
async fn notices_do_not_name_users_whom_a_guest_among_their_receivers_cannot_access() {
    let server = TestServer::start().await;
    let (owner, adam, guest) =
        (server.owner().await, server.administrator("adam").await, server.guest("guest").await);
    let shared = server.channel("shared", &[&adam, &guest]).await;
    let inner = server.channel("inner", &[&adam]).await;
    server.restrict_guests().await;
    let newest = async |stream_id: i64, apply_markdown: bool| {
        let narrow = json!([{"operator": "channel", "operand": stream_id}]);
        let parameters = json!({"anchor": "newest", "num_before": 1, "num_after": 0, "narrow": narrow,
            "apply_markdown": apply_markdown});
        let found = adam.get("/messages", parameters).await.ok();
        found["messages"][0]["content"].as_str().unwrap().to_owned()
    };
    let rename = async |client: &Client, stream_id: i64, name: &str| {
        client.patch(&format!("/streams/{stream_id}"), json!({"new_name": name})).await.ok();
    };
    let unknown = format!("@_**|{}**", owner.user_id);

    rename(&owner, shared, "garden").await;
    assert_eq!(newest(shared, false).await, format!("{unknown} renamed channel **shared** to **garden**."));
    let html = format!(
        "<p><span class=\"user-mention silent\" data-user-id=\"{}\">Unknown user</span> renamed channel \
         <strong>shared</strong> to <strong>garden</strong>.</p>",
        owner.user_id
    );
    assert_eq!(newest(shared, true).await, html);
    // Those who are in the channel, and channels without guests.
    rename(&adam, shared, "park").await;
    let known = format!("@_**{}|{}**", adam.full_name, adam.user_id);
    assert_eq!(newest(shared, false).await, format!("{known} renamed channel **garden** to **park**."));
    rename(&owner, inner, "hall").await;
    let known = format!("@_**{}|{}**", owner.full_name, owner.user_id);
    assert_eq!(newest(inner, false).await, format!("{known} renamed channel **inner** to **hall**."));
    // A direct message of the notification bot.
    subscribe(&owner, "hall", &[&guest]).await;
    let notices = guest.notices().await;
    assert_eq!(notices.last().unwrap(), &format!("{unknown} subscribed you to #**hall**."));
    // Users in a permission.
    let named = json!({"direct_members": [owner.user_id, adam.user_id], "direct_subgroups": []});
    let change = json!({"can_send_message_group": {"new": named}});
    owner.patch(&format!("/streams/{shared}"), change).await.ok();
    let content = newest(shared, false).await;
    let known = format!("@_**{}|{}**", adam.full_name, adam.user_id);
    assert!(content.starts_with(&unknown), "{content}");
    assert!(content.ends_with(&format!("* **New**: {unknown}, {known}")), "{content}");
    // After a conversation, the guest knows them.
    owner.send_direct(&[&guest], "hello").await;
    rename(&owner, shared, "shared").await;
    let known = format!("@_**{}|{}**", owner.full_name, owner.user_id);
    assert_eq!(newest(shared, false).await, format!("{known} renamed channel **park** to **shared**."));
    // All guests and visitors read web-public channels.
    server.sql(&format!("UPDATE stream SET is_web_public = 1 WHERE stream_id = {inner}")).await;
    rename(&adam, inner, "porch").await;
    let unknown = format!("@_**|{}**", adam.user_id);
    assert_eq!(newest(inner, false).await, format!("{unknown} renamed channel **hall** to **porch**."));
}

#[tokio::test]
async fn refusals_do_not_name_inaccessible_users() {
    let server = TestServer::start().await;
    let (owner, ada, bob) = (server.owner().await, server.member("ada").await, server.member("bob").await);
    let guest = server.guest("guest").await;
    server.channel("general", &[&bob, &guest]).await;
    // Known from a conversation.
    let talk = ada.send_direct(&[&guest], "hello").await;
    server.restrict_guests().await;
    let hidden = server.member("hidden").await;
    for gone in [&ada, &bob, &hidden] {
        owner.delete(&format!("/users/{}", gone.user_id), ()).await.ok();
    }
    let later = json!(START + 600);
    for user in [&bob, &hidden] {
        let to = json!([user.user_id]);
        let message = json!({"type": "direct", "to": to, "content": "c"});
        let mut scheduled = message.clone();
        scheduled["scheduled_delivery_timestamp"] = later.clone();
        let draft = json!({"type": "private", "to": to, "topic": "", "content": "c"});
        let typing = json!({"type": "direct", "to": to, "op": "start"});
        let msg = "You do not have permission to access some of the recipients.";
        guest.post("/messages", message).await.error(400, "BAD_REQUEST", msg);
        guest.post("/scheduled_messages", scheduled).await.error(400, "BAD_REQUEST", msg);
        let answer = guest.post("/drafts", json!({"drafts": [draft]})).await.json.to_string();
        assert!(!answer.contains(&user.full_name) && !answer.contains("no longer"), "{answer}");
        let msg = format!("Invalid user ID {}", user.user_id);
        guest.post("/typing", typing).await.error(400, "BAD_REQUEST", &msg);
    }
    // The same for an active user, and for an id that has none.
    let active = server.member("active").await.user_id;
    for user_id in [active, 9999] {
        let typing = json!({"type": "direct", "to": [user_id, ada.user_id], "op": "start"});
        let msg = format!("Invalid user ID {user_id}");
        guest.post("/typing", typing).await.error(400, "BAD_REQUEST", &msg);
        let mute = format!("/users/me/muted_users/{user_id}");
        guest.post(&mute, ()).await.error(400, "BAD_REQUEST", "No such user");
        guest.delete(&mute, ()).await.error(400, "BAD_REQUEST", "No such user");
    }
    let known = json!({"type": "direct", "to": [ada.user_id], "content": "c"});
    let msg = "'Ada' is no longer using this organization.";
    guest.post("/messages", known).await.error(400, "BAD_REQUEST", msg);
    guest.message(talk).await;
}

// conformance: queue-44, user-39
#[tokio::test]
async fn guests_access_users_of_shared_conversations() {
    let server = TestServer::start().await;
    let (owner, ada, bob) = (server.owner().await, server.member("ada").await, server.member("bob").await);
    let guest = server.guest("guest").await;
    let bot = server.bot("helper", &owner).await;
    server.channel("general", &[&ada, &guest]).await;
    let whole = json!({"fetch_event_types": ["realm_user"]});
    let partial = json!({
        "fetch_event_types": ["realm_user"],
        "client_capabilities": {"user_list_incomplete": true},
    });
    let all = guest.post("/register", &whole).await.ok();
    assert_eq!(names(&all["realm_users"]), ["Owner", "Ada", "Bob", "Guest", "Helper"]);

    server.restrict_guests().await;
    let all = guest.post("/register", &whole).await.ok();
    assert_eq!(names(&all["realm_users"]), ["Unknown user", "Ada", "Unknown user", "Guest", "Helper"]);
    let mut stand_in = unknown(&bob);
    stand_in.as_object_mut().unwrap().remove("is_active");
    assert_eq!(all["realm_users"][2], stand_in);
    let some = guest.post("/register", &partial).await.ok();
    assert_eq!(names(&some["realm_users"]), ["Ada", "Guest", "Helper"]);
    let listed = guest.get("/users", ()).await.ok();
    assert_eq!(names(&listed["members"]), ["Unknown user", "Ada", "Unknown user", "Guest", "Helper"]);
    assert_eq!(listed["members"][2], unknown(&bob));
    for path in [format!("/users/{}", bob.user_id), format!("/users/{}/subscriptions/1", bob.user_id)] {
        guest.get(&path, ()).await.error(400, "BAD_REQUEST", "Insufficient permission");
    }
    for user in [&ada, &bot, &guest] {
        guest.get(&format!("/users/{}", user.user_id), ()).await.ok();
    }
    // All other users can access every user.
    for client in [&owner, &ada, &bot] {
        let all = client.post("/register", &partial).await.ok();
        assert_eq!(names(&all["realm_users"]), ["Owner", "Ada", "Bob", "Guest", "Helper"]);
    }
    let image =
        guest.request_outside(reqwest::Method::GET, "/static/images/unknown-user-avatar.png").send().await;
    assert_eq!((image.status, image.header("content-type")), (200, "image/png"));
    for (user, client, location) in [
        (&bob, &guest, "/static/images/unknown-user-avatar.png".to_owned()),
        (&bob, &ada, format!("/user_avatars/1/generated/{}.png?version=1", bob.user_id)),
        (&ada, &guest, format!("/user_avatars/1/generated/{}.png?version=1", ada.user_id)),
    ] {
        let path = format!("/avatar/{}", user.user_id);
        let way = client.request_outside(reqwest::Method::GET, &path).send().await;
        assert_eq!((way.status, way.header("location")), (302, location.as_str()));
    }
}

/// The answers to requests with an email, in which the email is replaced by a star.
async fn answers_about(caller: &Client, email: &str) -> Vec<(String, u16, String)> {
    let mut answers = Vec::new();
    let mut add = |what: String, answer: &Answer| {
        let text = format!("{} {}", answer.header("location"), answer.json);
        answers.push((what, answer.status, text.replace(email, "*")));
    };
    for path in ["/users/*", "/users/*/presence"] {
        add(path.to_owned(), &caller.get(&path.replace('*', email), ()).await);
    }
    add("PATCH".to_owned(), &caller.patch(&format!("/users/{email}"), json!({"full_name": "X"})).await);
    for path in ["/avatar/*", "/avatar/*/medium"] {
        let image = caller.request_outside(reqwest::Method::GET, &path.replace('*', email));
        add(path.to_owned(), &image.send().await);
    }
    for to in [json!(email), json!([email]), json!([caller.email, email])] {
        let message = json!({"type": "direct", "to": to, "content": "hello"});
        add(format!("message {to}").replace(email, "*"), &caller.post("/messages", message).await);
    }
    for (operator, operand) in [
        ("sender", json!(email)),
        ("dm", json!(email)),
        ("dm", json!(format!("{}, {email}", caller.email))),
        ("dm-including", json!(email)),
        ("group-pm-with", json!(email)),
    ] {
        let narrow = json!([[operator, operand]]);
        let mut page = json!({"anchor": "newest", "num_before": 9, "num_after": 0, "narrow": narrow});
        add(operator.to_owned(), &caller.get("/messages", &page).await);
        page["op"] = "add".into();
        page["flag"] = "starred".into();
        add(format!("flag {operator}"), &caller.post("/messages/flags/narrow", page).await);
        let matching = json!({"msg_ids": [1], "narrow": narrow});
        add(format!("match {operator}"), &caller.get("/messages/matches_narrow", matching).await);
    }
    let leave = json!({"subscriptions": ["general"], "principals": [email]});
    add("unsubscribe".to_owned(), &caller.delete("/users/me/subscriptions", leave).await);
    answers
}

// conformance: user-39, send-34
#[tokio::test]
async fn inaccessible_emails_behave_like_unknown_ones() {
    let server = TestServer::start().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let guest = server.guest("guest").await;
    let general = server.channel("general", &[&ada, &guest]).await;
    bob.post("/users/me/presence", json!({"status": "active", "ping_only": true})).await.ok();
    bob.send(general, "greetings", "hello").await;
    server.restrict_guests().await;
    let of_unknown = answers_about(&guest, "nobody@example.com").await;
    for email in ["bob@example.com", "Bob@EXAMPLE.com"] {
        assert_eq!(answers_about(&guest, email).await, of_unknown);
    }
    // All of these distinguish known from unknown emails.
    for (known, unknown) in answers_about(&guest, "ada@example.com").await.iter().zip(&of_unknown) {
        assert_ne!(known, unknown);
    }
}

// conformance: user-40
#[tokio::test]
async fn guests_receive_presence_of_accessible_users_only() {
    let server = TestServer::start().await;
    let (owner, ada, bob) = (server.owner().await, server.member("ada").await, server.member("bob").await);
    let guest = server.guest("guest").await;
    server.channel("general", &[&owner, &ada, &guest]).await;
    server.restrict_guests().await;
    let register = json!({"event_types": ["realm_user"]});
    let partial = json!({
        "event_types": ["realm_user"],
        "client_capabilities": {"user_list_incomplete": true},
    });
    let (mut queue, mut partial) = (guest.register(register).await, guest.register(partial).await);
    for (user, is_notified) in [(&bob, false), (&ada, true)] {
        user.patch("/settings", json!({"full_name": "Another", "timezone": "Europe/Berlin"})).await.ok();
        user.patch("/settings", json!({"email_address_visibility": 3})).await.ok();
        let kinds = ["realm_user/update"; 4];
        queue.expect_kinds(&kinds[..if is_notified { 4 } else { 0 }]).await;
    }
    partial.events().await;
    // A new user.
    let eve = server.member("eve").await;
    queue.expect(&[json!({"type": "realm_user", "op": "add", "person": unknown(&eve)})]).await;
    partial.expect_nothing().await;
    // A user who becomes accessible, and inaccessible again.
    subscribe(&owner, "general", &[&eve]).await;
    for queue in [&mut queue, &mut partial] {
        let events = queue.expect_kinds(&["realm_user/add"]).await;
        assert_eq!(events[0]["person"]["full_name"], "Eve");
        assert_eq!(events[0]["person"]["delivery_email"], "eve@example.com");
    }
    unsubscribe(&owner, "general", &[&eve]).await;
    queue.expect(&[removed(&eve)]).await;
    partial.expect(&[removed(&eve)]).await;
}

// conformance: send-34
#[tokio::test]
async fn guests_write_to_accessible_users_only() {
    let server = TestServer::start().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let guest = server.guest("guest").await;
    let bot = server.bot("helper", &ada).await;
    server.restrict_guests().await;
    let msg = "You do not have permission to access some of the recipients.";
    let direct = |to: &[&Client]| {
        let to: Vec<i64> = to.iter().map(|user| user.user_id).collect();
        json!({"type": "direct", "to": to, "content": "hello"})
    };
    guest.post("/messages", direct(&[&bob])).await.error(400, "BAD_REQUEST", msg);
    guest.post("/messages", direct(&[&bot, &bob])).await.error(400, "BAD_REQUEST", msg);
    guest.post("/messages", direct(&[&bot])).await.ok();
    guest.post("/messages", direct(&[&guest])).await.ok();
    let scheduled = json!({
        "type": "direct", "to": [bob.user_id], "content": "hello",
        "scheduled_delivery_timestamp": crate::harness::START + 60,
    });
    guest.post("/scheduled_messages", scheduled).await.error(400, "BAD_REQUEST", msg);

    // A user who wrote to a guest is accessible to the guest.
    let mut queue = guest.register(json!({"event_types": ["realm_user", "message"]})).await;
    bob.send_direct(&[&guest, &ada], "welcome").await;
    let events = queue.expect_kinds(&["realm_user/add", "realm_user/add", "message"]).await;
    assert_eq!([&events[0]["person"]["full_name"], &events[1]["person"]["full_name"]], ["Ada", "Bob"]);
    assert_eq!(events[2]["message"]["sender_full_name"], "Bob");
    guest.post("/messages", direct(&[&bob])).await.ok();
    queue.expect_kinds(&["message"]).await;
}

// conformance: fetch-38, react-22, send-47, user-41
#[tokio::test]
async fn events_do_not_name_users_inaccessible_to_guests() {
    let server = TestServer::start().await;
    let (owner, ada) = (server.owner().await, server.member("ada").await);
    let guest = server.guest("guest").await;
    let general = server.channel("general", &[&ada, &guest]).await;
    server.restrict_guests().await;
    let register = json!({"event_types": ["message", "reaction", "typing"],
        "client_capabilities": {"stream_typing_notifications": true}});
    let (mut of_guest, mut of_ada) = (guest.register(&register).await, ada.register(&register).await);

    let id = owner.send(general, "greetings", "hello").await;
    owner.post(&format!("/messages/{id}/reactions"), json!({"emoji_name": "tada"})).await.ok();
    let typing = json!({"type": "channel", "op": "start", "stream_id": general, "topic": "greetings"});
    owner.post("/typing", typing).await.ok();
    let dummy = format!("user{}@bots.invalid", owner.user_id);
    let sender = |name: &str, email: &str| {
        let avatar = if name == "Owner" {
            format!("/user_avatars/1/generated/{}.png?version=1", owner.user_id)
        } else {
            "/static/images/unknown-user-avatar.png".into()
        };
        json!([owner.user_id, name, email, avatar])
    };
    let shown = |message: &Value| {
        let names = ["sender_id", "sender_full_name", "sender_email", "avatar_url"];
        Value::from(names.map(|name| message[name].clone()).to_vec())
    };
    let user = |name: &str, email: &str| json!({"user_id": owner.user_id, "email": email, "full_name": name});
    let events = of_guest.expect_kinds(&["message", "reaction/add"]).await;
    assert_eq!(shown(&events[0]["message"]), sender("Unknown user", &dummy));
    assert_eq!(events[1]["user"], user("Unknown user", &dummy));
    assert!(events.iter().all(|event| event.get("unknown_to").is_none()));
    assert_eq!(shown(&guest.message(id).await), sender("Unknown user", &dummy));
    let events = of_ada.expect_kinds(&["message", "reaction/add", "typing/start"]).await;
    assert_eq!(shown(&events[0]["message"]), sender("Owner", "owner@example.com"));
    assert_eq!(events[1]["user"], user("Owner", "owner@example.com"));
    assert!(events.iter().all(|event| event.get("unknown_to").is_none()));
    assert_eq!(shown(&ada.message(id).await), sender("Owner", "owner@example.com"));

    // A guest cannot mention inaccessible users; the text stays plain.
    let id = guest.send(general, "greetings", "@**Owner** and @**Ada**").await;
    let content = guest.message(id).await["content"].clone();
    assert!(content.as_str().unwrap().starts_with("<p>@<strong>Owner</strong> and <span"), "{content}");
    of_guest.ignore();
    of_ada.ignore();
}

/// A bot receives messages that mention it in web-public channels, without a subscription.
// conformance: user-41
#[tokio::test]
async fn events_do_not_name_users_inaccessible_to_bots_of_guests() {
    let server = TestServer::start().await;
    let (owner, guest) = (server.owner().await, server.guest("guest").await);
    let helper = server.user("helper", Role::Guest, Some(&guest), None).await;
    let open = server.channel("open", &[&owner]).await;
    server.sql(&format!("UPDATE stream SET is_web_public = 1 WHERE stream_id = {open}")).await;
    server.restrict_guests().await;
    let mut queue = helper.register(json!({"event_types": ["message"]})).await;
    let id = owner.send(open, "greetings", "hello @**Helper**").await;
    let events = queue.expect_kinds(&["message"]).await;
    assert_eq!(events[0]["message"]["sender_full_name"], "Unknown user");
    assert_eq!(helper.message(id).await["sender_full_name"], "Unknown user");
}

// conformance: receipt-8, user-41
#[tokio::test]
async fn read_receipts_list_accessible_users_only() {
    let server = TestServer::start().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let guest = server.guest("guest").await;
    let general = server.channel("general", &[&ada, &bob, &guest]).await;
    let id = guest.send(general, "greetings", "hello").await;
    for user in [&ada, &bob] {
        user.post("/messages/flags", json!({"op": "add", "flag": "read", "messages": [id]})).await.ok();
    }
    unsubscribe(&bob, "general", &[&bob]).await;
    server.restrict_guests().await;
    let readers = async |client: &Client| {
        client.get(&format!("/messages/{id}/read_receipts"), ()).await.ok()["user_ids"].clone()
    };
    assert_eq!(readers(&ada).await, json!([ada.user_id, bob.user_id]));
    assert_eq!(readers(&guest).await, json!([ada.user_id]));
}

// conformance: user-42
#[tokio::test]
async fn a_guest_does_not_see_how_strangers_are() {
    let server = TestServer::start().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let guest = server.guest("guest").await;
    server.channel("general", &[&ada, &guest]).await;
    server.restrict_guests().await;
    let types = json!({"event_types": ["presence", "user_status", "typing"]});
    let mut queue = guest.register(&types).await;
    let statuses = json!({"status": "active", "ping_only": true});
    for user in [&ada, &bob] {
        user.post("/users/me/presence", &statuses).await.ok();
        user.post("/users/me/status", json!({"status_text": "busy"})).await.ok();
    }
    let events = queue.expect_kinds(&["presence", "user_status"]).await;
    assert!(events.iter().all(|event| event["user_id"] == ada.user_id), "{events:?}");
    let state = guest.post("/register", json!({"fetch_event_types": ["presence", "user_status"]})).await.ok();
    let statuses = state["user_status"].as_object().unwrap();
    assert_eq!(statuses.keys().collect::<Vec<_>>(), [&ada.user_id.to_string()]);
    let presences = state["presences"].as_object().unwrap();
    assert_eq!(presences.keys().collect::<Vec<_>>(), ["ada@example.com"]);
    for path in [format!("/users/{}/status", bob.user_id), format!("/users/{}/presence", bob.user_id)] {
        guest.get(&path, ()).await.error(400, "BAD_REQUEST", "Insufficient permission");
    }
    // Bob types to both, and the guest does not know him.
    let typing = json!({"op": "start", "to": [ada.user_id, guest.user_id]});
    let mut of_ada = ada.register(&types).await;
    bob.post("/typing", &typing).await.ok();
    queue.expect_nothing().await;
    of_ada.expect_kinds(&["typing/start"]).await;
    // A user who writes to the guest becomes accessible, with status and presence.
    bob.send_direct(&[&ada, &guest], "hello").await;
    bob.post("/typing", &typing).await.ok();
    queue.expect_kinds(&["user_status", "presence", "typing/start"]).await;
    of_ada.expect_kinds(&["typing/start"]).await;
}

/// If they were, a guest could find out names, and could not mention a user who has the name of a stranger.
#[tokio::test]
async fn namesakes_whom_a_guest_cannot_access_are_not_counted_in_mentions() {
    let server = TestServer::start().await;
    let (ada, stranger, guest) =
        (server.member("ada").await, server.member("stranger").await, server.guest("guest").await);
    server.channel("shared", &[&ada, &guest]).await;
    server.restrict_guests().await;
    for (name, mention) in [("Ada Lovelace", "@**ada lovelace**"), ("Åsa", "@**åsa**")] {
        for user in [&ada, &stranger] {
            user.patch("/settings", json!({"full_name": name})).await.ok();
        }
        let rendered = async |client: &Client| {
            let answer = client.post("/messages/render", json!({"content": mention})).await.ok();
            answer["rendered"].as_str().unwrap().to_owned()
        };
        assert!(rendered(&guest).await.contains(&format!("data-user-id=\"{}\"", ada.user_id)), "{name}");
        assert!(!rendered(&stranger).await.contains("data-user-id"), "{name} is the name of two users");
    }
}

// conformance: user-40
#[tokio::test]
async fn access_events_reproduce_state() {
    let server = TestServer::start().await;
    let (owner, ada, bob) = (server.owner().await, server.member("ada").await, server.member("bob").await);
    let (guest, other) = (server.guest("guest").await, server.guest("other").await);
    server.channel("general", &[&owner, &ada, &guest]).await;
    server.channel("elsewhere", &[&owner, &bob, &other]).await;
    bob.patch("/settings", json!({"email_address_visibility": 2})).await.ok();
    server.restrict_guests().await;
    // Strangers are in groups and settings too, by their ids.
    let named = json!({"direct_members": [ada.user_id, bob.user_id], "direct_subgroups": []});
    owner.patch("/realm", json!({"can_create_groups": {"new": named}})).await.ok();
    let crew = json!({"name": "crew", "description": "", "members": [ada.user_id, bob.user_id]});
    ada.post("/user_groups/create", crew).await.ok();
    let watching = [&owner, &guest, &other];
    server
        .check_state_sync(&watching, async || {
            subscribe(&owner, "general", &[&other, &bob]).await;
            server.member("eve").await;
            unsubscribe(&owner, "general", &[&other]).await;
        })
        .await;
    server
        .check_state_sync(&watching, async || {
            ada.send_direct(&[&other], "hello").await;
        })
        .await;
    for user in [&bob, &ada] {
        server
            .check_state_sync(&watching, async || {
                owner.delete(&format!("/users/{}", user.user_id), ()).await.ok();
            })
            .await;
        server
            .check_state_sync(&watching, async || {
                owner.post(&format!("/users/{}/reactivate", user.user_id), ()).await.ok();
            })
            .await;
    }
    for group in ["role:everyone", "role:members"] {
        let groups = owner.get("/user_groups", ()).await.ok();
        let all = groups["user_groups"].as_array().unwrap();
        let id = all.iter().find(|found| found["name"] == group).unwrap()["id"].clone();
        server
            .check_state_sync(&watching, async || {
                owner.patch("/realm", json!({"can_access_all_users_group": {"new": id}})).await.ok();
            })
            .await;
    }
    for role in [400, 600] {
        server
            .check_state_sync(&watching, async || {
                owner.patch(&format!("/users/{}", guest.user_id), json!({"role": role})).await.ok();
            })
            .await;
    }
}

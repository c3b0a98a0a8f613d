//! An organization that has everything: every table of the file has rows, and every column of them a value.

use crate::harness::pictures::png;
use crate::harness::{Client, TestServer};
use reqwest::Method;
use serde_json::{Value, json};
use teamchat::app::Options;
use teamchat::commands::Command;
use teamchat::domain::groups::system::SystemGroup;
use teamchat::types::{Role, UserId};

/// Members who are only subscribed: with them an audience is large enough to be stored apart.
const CROWD: usize = 28;

/// The password of all users with a password.
const PASSWORD: &str = "tide tables and lanterns";

/// The public key of a browser, an uncompressed point of P-256.
const POINT: &str = "042571b2becdfde360551aaf1ed0f4cd366c11cebe555f89bcb7b186a53339173168ece2ebe018597bd30479b86e3c8f8\
                     eced577ca59187e9246990db682008b0e";

const DAY: i64 = 24 * 60 * 60;

/// The organization while it grows.
struct Growing {
    server: TestServer,
    owner: Client,
    ada: Client,
    guest: Client,
    robot: Client,
    /// A message of each of the people, in the public channel.
    messages: Vec<i64>,
    /// The public channel, one for all the web, two private ones, one to move to, and one that gets archived.
    channels: Vec<i64>,
}

/// Options of the populated server: bots may post to this machine, where no server listens.
pub fn options() -> Options {
    let webhook_hosts = vec!["127.0.0.1:*".to_owned()];
    Options { webhook_hosts, public_url: Some(super::ORIGIN.to_owned()), ..Options::default() }
}

/// Creates the organization. Returns the server, the users of later requests, and their queues.
pub async fn populate() -> (TestServer, Vec<Client>, Vec<Value>) {
    let server = TestServer::start_with(options()).await;
    let owner = server.owner().await;
    let ada = server.user("ada", Role::Member, None, Some(PASSWORD)).await;
    let guest = server.guest("gus").await;
    let robot = server.bot("robot", &ada).await;
    let mut subscribers = vec![owner.user_id, ada.user_id, guest.user_id, robot.user_id];
    for number in 0..CROWD {
        subscribers.push(server.member(&format!("crowd{number}")).await.user_id);
    }
    let mut growing =
        Growing { server, owner, ada, guest, robot, messages: Vec::new(), channels: Vec::new() };
    growing.make_channels(&subscribers).await;
    let people = [&growing.owner, &growing.ada, &growing.guest, &growing.robot].map(Client::clone);
    // The first key use of another hour is written. Later, maintenance would end queues, and purge what is to be kept.
    growing.server.clock.advance(2 * 60 * 60);
    for client in &people {
        client.get("/users/me", ()).await.ok();
    }
    let mut queues = Vec::new();
    for client in &people {
        let state = client.post("/register", json!({"fetch_event_types": []})).await.ok();
        queues.push(json!({"queue_id": state["queue_id"], "last_event_id": state["last_event_id"]}));
    }
    growing.set_up_the_organization().await;
    growing.talk().await;
    growing.change_messages().await;
    growing.mark_messages().await;
    growing.make_groups().await;
    growing.share_files().await;
    growing.fill_accounts().await;
    growing.keep_things().await;
    growing.export().await;
    growing.employ_bots().await;
    growing.invite().await;
    growing.close_accounts().await;
    growing.subscribe_a_browser().await;
    // Indexes the words of all messages.
    let words = json!({"anchor": "newest", "num_before": 1, "num_after": 0, "narrow": [["search", "words"]]});
    growing.owner.get("/messages", words).await.ok();
    (growing.server, people.to_vec(), queues)
}

impl Growing {
    async fn make_channels(&mut self, subscribers: &[i64]) {
        let folder = json!({"name": "Quays", "description": "all *three*"});
        let folder =
            self.owner.post("/channel_folders/create", folder).await.ok()["channel_folder_id"].clone();
        let administrators = json!({"direct_members": [self.ada.user_id], "direct_subgroups": []});
        let of_ada = [self.owner.user_id, self.ada.user_id];
        let all = [
            json!({"name": "harbour", "description": "ships and **tides**", "subscribers": subscribers,
                "folder_id": folder, "can_administer_channel_group": administrators}),
            json!({"name": "lighthouse", "is_web_public": true, "subscribers": subscribers}),
            json!({"name": "captains", "invite_only": true, "subscribers": of_ada,
                "history_public_to_subscribers": true, "message_retention_days": 400}),
            json!({"name": "smugglers", "invite_only": true, "subscribers": of_ada,
                "history_public_to_subscribers": false, "topics_policy": "disable_empty_topic"}),
            json!({"name": "dock", "subscribers": of_ada}),
            json!({"name": "wreck", "subscribers": of_ada}),
        ];
        for parameters in all {
            let mut parameters = parameters;
            if parameters["name"] == "lighthouse" {
                self.server.set_realm_setting("enable_spectator_access", json!(true)).await;
            }
            parameters["announce"] = json!(true);
            let made = self.owner.post("/channels/create", parameters).await.ok();
            self.channels.push(made["id"].as_i64().unwrap());
        }
        self.owner.send(self.channels[5], "leaks", "Everybody to the boats!").await;
        self.owner.delete(&format!("/streams/{}", self.channels[5]), ()).await.ok();
        self.owner.post("/default_streams", json!({"stream_id": self.channels[0]})).await.ok();
        let group = json!({"group_name": "Pilots", "description": "who steer", "stream_names": ["dock", "lighthouse"]});
        self.owner.post("/default_stream_groups/create", group).await.ok();
    }

    async fn set_up_the_organization(&self) {
        let owner = &self.owner;
        let creators = json!({"new": {"direct_members": [self.ada.user_id],
            "direct_subgroups": [SystemGroup::Administrators.id()]}});
        let changes = json!({"name": "Port of Dover", "description": "A *port*.", "can_create_groups": creators,
            "waiting_period_threshold": 2, "moderation_request_channel_id": self.channels[2]});
        owner.patch("/realm", changes).await.ok();
        owner.patch("/realm/user_settings_defaults", json!({"enter_sends": true})).await.ok();
        let images = [
            ("/realm/icon", json!({})),
            ("/realm/logo", json!({"night": true})),
            ("/realm/emoji/buoy", json!({})),
        ];
        for (path, parameters) in images.into_iter().chain([("/realm/emoji/rope", json!({}))]) {
            let file = png(16, 8);
            let request =
                owner.request(Method::POST, path).multipart(parameters, &[("file", "a.png", &file)]);
            request.send().await.ok();
        }
        owner.delete("/realm/emoji/rope", ()).await.ok();
        owner.post("/realm/domains", json!({"domain": "example.com", "allow_subdomains": true})).await.ok();
        let linkifier =
            json!({"pattern": "SHIP-(?P<id>[0-9]+)", "url_template": "https://ships.example/{id}"});
        owner.post("/realm/filters", linkifier).await.ok();
        let playground = json!({"name": "Sandbox", "pygments_language": "Python",
            "url_template": "https://play.example/{code}"});
        owner.post("/realm/playgrounds", playground).await.ok();
        let choices = json!({"0": {"text": "Rum", "order": "1"}, "1": {"text": "Tea", "order": "2"}});
        let site = json!({"subtype": "custom", "url_pattern": "https://logs.example/%(username)s"});
        let fields = [
            json!({"name": "Rank", "hint": "of the crew", "field_type": 1, "display_in_profile_summary": true}),
            json!({"name": "Life", "field_type": 2}),
            json!({"name": "Drink", "field_type": 3, "field_data": choices, "required": true}),
            json!({"name": "Birthday", "field_type": 4}),
            json!({"name": "Ship", "field_type": 5, "editable_by_user": false}),
            json!({"name": "Mates", "field_type": 6}),
            json!({"name": "Log", "field_type": 7, "field_data": site}),
            json!({"name": "Called", "field_type": 8}),
        ];
        let values = [
            json!("Captain *Bold*"),
            json!("Born at **sea**."),
            json!("1"),
            json!("1815-12-10"),
            json!("https://ship.example"),
            json!([self.guest.user_id]),
            json!("ada"),
            json!("she"),
        ];
        let mut data = Vec::new();
        for (field, value) in fields.into_iter().zip(values) {
            let id = owner.post("/realm/profile_fields", field).await.ok()["id"].clone();
            data.push(json!({"id": id, "value": value}));
        }
        owner.patch(&format!("/users/{}", self.ada.user_id), json!({"profile_data": data})).await.ok();
    }

    /// Messages of every kind: their texts reach every part of the rendering.
    async fn talk(&mut self) {
        let texts = [
            "Good morning @**all**, and *welcome*!",
            "See #**harbour>tides** and https://example.com/a?b=c, or SHIP-12",
            "```python\nprint('ahoy')\n```\n\n> quoted\n\n* one\n* two\n\n| a | b |\n|---|---|\n| 1 | 2 |",
            "$$\\int_0^1 x$$ ~~never~~ :buoy: :tada: <time:2026-09-21T10:00:00Z>",
            "Grüße 東京 🚢 @**Gus** and @_**Ada**",
            "the lanterns of @**topic** are lit",
        ];
        for (number, text) in texts.iter().enumerate() {
            self.server.clock.advance(60);
            let senders = [&self.owner, &self.ada, &self.guest, &self.robot];
            let stream_id = self.channels[usize::from(number == 2)];
            let sent = senders[number % 4].send(stream_id, "tides of SHIP-7", text).await;
            self.messages.push(sent);
        }
        for (place, topic) in [(2, "secret"), (3, "barrels"), (4, ""), (4, "ropes"), (0, "lanterns")] {
            for text in ["first", "second", "third"] {
                let id =
                    self.ada.send(self.channels[place], topic, &format!("the {text} word on {topic}")).await;
                self.messages.push(id);
            }
        }
        self.ada.send_direct(&[&self.owner], "between us: lanterns").await;
        self.owner.send_direct(&[&self.ada], "agreed").await;
        self.ada.send_direct(&[&self.ada], "to myself").await;
        self.owner.send_direct(&[&self.ada, &self.guest, &self.robot], "to all three of you").await;
        let poll = self.ada.send(self.channels[0], "lunch", "/poll Soup?\nyes\nno").await;
        let vote = json!({"type": "vote", "key": "canned,0", "vote": 1}).to_string();
        let parameters = json!({"message_id": poll, "msg_type": "widget", "content": vote});
        self.guest.post("/submessage", parameters).await.ok();
    }

    async fn change_messages(&self) {
        self.server.clock.advance(60);
        let harbour = self.channels[0];
        let edit = json!({"content": "Good evening, and *farewell*!"});
        self.owner.patch(&format!("/messages/{}", self.messages[0]), edit).await.ok();
        let dock = &self.messages[12..18];
        let rename = json!({"topic": "knots", "propagate_mode": "change_later"});
        self.owner.patch(&format!("/messages/{}", dock[4]), rename).await.ok();
        let relocate = json!({"stream_id": harbour, "topic": "moored", "propagate_mode": "change_all"});
        self.owner.patch(&format!("/messages/{}", dock[0]), relocate).await.ok();
        let out = json!({"stream_id": self.channels[2], "propagate_mode": "change_one"});
        self.owner.patch(&format!("/messages/{}", self.messages[4]), out).await.ok();
        let resolve = json!({"topic": "✔ lanterns", "propagate_mode": "change_all"});
        self.ada.patch(&format!("/messages/{}", self.messages[18]), resolve).await.ok();
        self.owner.delete(&format!("/messages/{}", self.messages[19]), ()).await.ok();
    }

    async fn mark_messages(&self) {
        let one = self.messages[1];
        let reactions = [
            (&self.ada, json!({"emoji_name": "tada"})),
            (&self.guest, json!({"emoji_name": "tada"})),
            (&self.owner, json!({"emoji_name": "buoy"})),
            (&self.robot, json!({"emoji_name": "zulip"})),
        ];
        for (client, parameters) in reactions {
            client.post(&format!("/messages/{one}/reactions"), parameters).await.ok();
        }
        for (flag, ids) in [("starred", &self.messages[1..3]), ("collapsed", &self.messages[..1])] {
            let parameters = json!({"messages": ids, "op": "add", "flag": flag});
            self.ada.post("/messages/flags", parameters).await.ok();
        }
        // Not in order, so that the set of read messages has gaps.
        let read = json!({"messages": [self.messages[1], self.messages[5], self.messages[15]], "op": "add",
            "flag": "read"});
        self.guest.post("/messages/flags", read).await.ok();
        self.robot.post("/mark_all_as_read", ()).await.ok();
        let report = json!({"report_type": "other", "description": "too loud"});
        self.guest.post(&format!("/messages/{one}/report"), report).await.ok();
        let leave = json!({"subscriptions": ["lighthouse"]});
        self.guest.delete("/users/me/subscriptions", leave).await.ok();
        self.ada.send(self.channels[1], "tides of SHIP-7", "after the guest left").await;
    }

    async fn make_groups(&self) {
        let (owner, ada) = (&self.owner, self.ada.user_id);
        let crew = json!({"name": "crew", "description": "all hands", "members": [ada, self.guest.user_id]});
        let crew = owner.post("/user_groups/create", crew).await.ok()["group_id"].clone();
        let officers = json!({"name": "officers", "description": "", "members": [ada]});
        let officers = owner.post("/user_groups/create", officers).await.ok()["group_id"].clone();
        owner.post(&format!("/user_groups/{crew}/subgroups"), json!({"add": [officers]})).await.ok();
        let mention = json!({"can_mention_group": {"new": officers}});
        owner.patch(&format!("/user_groups/{crew}"), mention).await.ok();
        let gone = json!({"name": "mutineers", "description": "", "members": [ada]});
        let gone = owner.post("/user_groups/create", gone).await.ok()["group_id"].clone();
        owner.post(&format!("/user_groups/{gone}/deactivate"), ()).await.ok();
        let permission = json!({"can_send_message_group": {"new": officers}});
        owner.patch(&format!("/streams/{}", self.channels[1]), permission).await.ok();
        self.ada.send(self.channels[0], "tides of SHIP-7", "@*crew* ahoy").await;
    }

    /// Three uploads: one that a message links to, one that a scheduled message does, and one that is deleted.
    async fn share_files(&self) {
        let picture = png(300, 200);
        let files: [(&str, &[u8]); 3] =
            [("map.png", &picture), ("log.txt", b"all well"), ("note.txt", b"to burn")];
        let mut urls = Vec::new();
        for file in files {
            let request = self.ada.request(Method::POST, "/user_uploads");
            let sent = request.multipart((), &[("file", file.0, file.1)]).send().await.ok();
            urls.push(sent["url"].as_str().unwrap().to_owned());
        }
        let linked = format!("the [map]({})", urls[0]);
        self.ada.send(self.channels[0], "maps", &linked).await;
        let later = json!({"type": "channel", "to": self.channels[0], "topic": "logs",
            "content": format!("the [log]({})", urls[1]), "scheduled_delivery_timestamp": crate::harness::START + 100 * DAY});
        self.ada.post("/scheduled_messages", later).await.ok();
        let attachments = self.ada.get("/attachments", ()).await.ok();
        let burnt =
            attachments["attachments"].as_array().unwrap().iter().find(|file| file["name"] == "note.txt");
        self.ada.delete(&format!("/attachments/{}", burnt.unwrap()["id"]), ()).await.ok();
        let unclaimed = self.guest.request(Method::POST, "/user_uploads");
        unclaimed.multipart((), &[("file", "unclaimed.txt", b"mine")]).send().await.ok();
    }

    async fn fill_accounts(&self) {
        let ada = &self.ada;
        let changes = json!({"color_scheme": 2, "timezone": "Europe/London", "email_address_visibility": 1});
        ada.patch("/settings", changes).await.ok();
        let avatar = ada.request(Method::POST, "/users/me/avatar");
        avatar.multipart((), &[("file", "me.png", &png(20, 20))]).send().await.ok();
        for (client, status) in [(ada, "active"), (&self.guest, "idle")] {
            client.post("/users/me/presence", json!({"status": status, "last_update_id": -1})).await.ok();
        }
        ada.post("/users/me/status", json!({"status_text": "at sea", "emoji_name": "buoy"})).await.ok();
        ada.post(&format!("/users/me/muted_users/{}", self.robot.user_id), ()).await.ok();
        ada.post("/users/me/onboarding_steps", json!({"onboarding_step": "intro_resolve_topic"})).await.ok();
        for (number, topic) in ["tides of SHIP-7", "maps", "knots"].iter().enumerate() {
            let policy =
                json!({"stream_id": self.channels[0], "topic": topic, "visibility_policy": number + 1});
            ada.post("/user_topics", policy).await.ok();
        }
        let of = |property: &str, value: Value| json!({"stream_id": self.channels[0], "property": property, "value": value});
        let mut data =
            vec![of("color", json!("#00ff00")), of("is_muted", json!(true)), of("pin_to_top", json!(true))];
        for kind in ["desktop", "audible", "push", "email"] {
            data.push(of(&format!("{kind}_notifications"), json!(false)));
        }
        data.push(of("wildcard_mentions_notify", json!(true)));
        ada.post("/users/me/subscriptions/properties", json!({"subscription_data": data})).await.ok();
        let login = json!({"username": ada.email, "password": PASSWORD});
        self.server.anonymous().post("/fetch_api_key", login).await.ok();
        let login = json!({"username": ada.email, "password": PASSWORD});
        let session = self.server.anonymous().request_outside(Method::POST, "/accounts/login/").form(login);
        let session = session.header("Origin", super::ORIGIN).send().await;
        assert_eq!(session.status, 200, "{session}");
    }

    /// A browser whose push service is down, a phone without a bouncer, addresses of mail, and links of emails.
    async fn subscribe_a_browser(&self) {
        self.ada.get("/users/me/web_push", ()).await.ok();
        let login = json!({"username": self.ada.email, "password": PASSWORD});
        let session = self.server.anonymous().request_outside(Method::POST, "/accounts/login/").form(login);
        let session = session.header("Origin", super::ORIGIN).send().await;
        assert_eq!(session.status, 200, "{session}");
        let (point, ada) = (POINT, self.ada.user_id);
        let origin = super::ORIGIN;
        let later = crate::harness::START + 1000 * DAY;
        self.server
            .sql(&format!(
                "INSERT INTO push_subscription (user_id, session_id, endpoint, public_key, auth_secret, shows_content,
                     origin, failing_since)
                 SELECT {ada}, max(id), 'https://push.example/1', x'{point}', zeroblob(16), 1, '{origin}', 1 FROM session;
                 INSERT INTO push_device (user_id, kind, token, app_id, api_key_id)
                 SELECT {ada}, 1, 'c0ffee00c0ffee00', 'org.example.app', min(id) FROM api_key WHERE user_id = {ada};
                 INSERT INTO push_subscription (user_id, shows_content, origin) VALUES ({ada}, 1, '{origin}');
                 INSERT INTO push_notification (subscription_id, tag, message_ids, queued, next_try)
                 SELECT id, 'dm/8', x'3a30000000000000', {later}, {later} FROM push_subscription;
                 UPDATE push_notification SET shown_ids = message_ids
                 WHERE subscription_id IN (SELECT id FROM push_subscription WHERE session_id IS NULL);
                 INSERT INTO push_held VALUES ({ada}, 1, 1, {later});
                 INSERT INTO channel_email SELECT '0123456789abcdef0123456789abcdef', min(stream_id), {ada}, {ada}
                 FROM stream;
                 INSERT INTO reply_email SELECT zeroblob(32), {ada}, max(id), 1 FROM message;
                 INSERT INTO confirmation VALUES ({ada}, zeroblob(32), 'new@example.com', {later});
                 INSERT INTO unsubscribe_key VALUES ({ada}, 'abcdefghijklmnopqrstuvwx');
                 INSERT INTO digest VALUES ({ada}, {later});"
            ))
            .await;
    }

    /// Exports: one with its archive, one that was deleted, and one that failed.
    async fn export(&self) {
        for _ in 0..2 {
            self.owner.post("/export/realm", json!({"export_type": 1})).await.ok();
        }
        while self.server.column("SELECT count(date_succeeded) FROM realm_export").await != ["2"] {
            tokio::task::yield_now().await;
        }
        self.owner.delete("/export/realm/2", ()).await.ok();
        let failed = "INSERT INTO realm_export (type, acting_user_id, origin, date_requested, date_started, date_failed)
                      SELECT type, acting_user_id, origin, date_requested, date_started, date_started
                      FROM realm_export WHERE id = 1";
        self.server.sql(failed).await;
    }

    async fn keep_things(&self) {
        let (ada, harbour) = (&self.ada, self.channels[0]);
        ada.post("/users/me/alert_words", json!({"alert_words": ["lanterns", "Fire"]})).await.ok();
        self.owner.send(harbour, "watch", "FIRE in the lanterns").await;
        let drafts = json!([
            {"type": "stream", "to": [harbour], "topic": "tides", "content": "half a thought"},
            {"type": "private", "to": [self.owner.user_id], "topic": "", "content": "dear owner"},
            {"type": "", "to": [], "topic": "", "content": "to nobody yet"},
        ]);
        ada.post("/drafts", json!({"drafts": drafts})).await.ok();
        ada.post("/saved_snippets", json!({"title": "Greeting", "content": "Ahoy, *all*"})).await.ok();
        ada.post("/navigation_views", json!({"fragment": "inbox", "is_pinned": true})).await.ok();
        let view = json!({"fragment": "narrow/is/resolved", "is_pinned": false, "name": "Stars"});
        ada.post("/navigation_views", view).await.ok();
        let at = crate::harness::START + 100 * DAY;
        let direct = json!({"type": "direct", "to": [self.owner.user_id], "content": "much later",
            "scheduled_delivery_timestamp": at});
        ada.post("/scheduled_messages", direct).await.ok();
        let reminder =
            json!({"message_id": self.messages[1], "scheduled_delivery_timestamp": at, "note": "why?"});
        ada.post("/reminders", reminder).await.ok();
        ada.patch("/settings", json!({"enter_sends": false})).await.ok();
        // A message with a local id.
        let queue = ada.post("/register", json!({"event_types": ["message"]})).await.ok()["queue_id"].clone();
        let named = json!({"type": "direct", "to": [ada.user_id], "content": "noted", "queue_id": queue,
            "local_id": "17.01"});
        ada.post("/messages", named).await.ok();
        self.robot.put_storage(json!({"course": "north", "speed": "9 knots"})).await;
    }

    async fn employ_bots(&self) {
        let poster = json!({"full_name": "Poster", "short_name": "poster", "bot_type": 3, "interface_type": 1,
            "payload_url": "http://127.0.0.1:9/", "default_sending_stream": "harbour",
            "default_events_register_stream": "dock"});
        let poster = self.ada.post("/bots", poster).await.ok()["user_id"].clone();
        let message = json!({"type": "direct", "to": [poster], "content": "are you there?"});
        self.owner.post("/messages", message).await.ok();
        while self.server.column("SELECT max(failed_tries) FROM outgoing_webhook").await != ["1"] {
            tokio::task::yield_now().await;
        }
        let courier = json!({"full_name": "Courier", "short_name": "courier", "bot_type": 2,
            "service_name": "grafana", "config_data": {"note": "kept"}});
        let courier = self.ada.post("/bots", courier).await.ok();
        let request = self.server.anonymous().request(Method::POST, "/external/grafana");
        let request = request.query(json!({"api_key": courier["api_key"], "stream": "harbour"}));
        let refused = request.body("application/json", "{\"no\": \"grafana\"}").send().await;
        assert_eq!(refused.status, 400, "{refused}");
        let retired = json!({"full_name": "Retired", "short_name": "retired"});
        let retired = self.ada.post("/bots", retired).await.ok()["user_id"].clone();
        self.ada.delete(&format!("/bots/{retired}"), ()).await.ok();
    }

    async fn invite(&self) {
        let more = json!({"stream_ids": [self.channels[0]], "invite_expires_in_minutes": 60 * 24 * 300,
            "welcome_message_custom_text": "Welcome *aboard*"});
        let link = self.owner.post("/invites/multiuse", more.clone()).await.ok()["invite_link"].clone();
        self.join(link.as_str().unwrap()).await;
        self.owner.post("/invites/multiuse", more.clone()).await.ok();
        let mut by_email = more;
        by_email["invitee_emails"] = json!("later@example.com");
        self.owner.post("/invites", by_email).await.ok();
        let again = json!({"invitee_emails": "again@example.com", "stream_ids": []});
        self.ada.post("/invites", again).await.ok();
        let invites = self.owner.get("/invites", ()).await.ok();
        let again = invites["invites"]
            .as_array()
            .unwrap()
            .iter()
            .find(|invite| invite["email"] == "again@example.com");
        self.ada.post(&format!("/invites/{}/resend", again.unwrap()["id"]), ()).await.ok();
        let many = invites["invites"].as_array().unwrap().iter().find(|invite| invite["is_multiuse"] == true);
        self.owner.delete(&format!("/invites/multiuse/{}", many.unwrap()["id"]), ()).await.ok();
        self.owner.post(&format!("/users/{}/password_reset", self.guest.user_id), ()).await.ok();
        let ada = UserId(self.ada.user_id);
        let logged_in = self.server.app().writer.run(move |tx| {
            teamchat::domain::logins::identities::insert(tx, ada, "https://auth.example.com", "subject-7")
        });
        logged_in.await.unwrap();
    }

    /// Opens a link and signs up.
    async fn join(&self, link: &str) {
        let path = link.strip_prefix(super::ORIGIN).unwrap();
        let browser = self.server.anonymous();
        let page = browser.request_outside(Method::GET, path).send().await;
        let cookie = page.header("set-cookie").split(';').next().unwrap_or_default();
        let (_, token) = cookie.split_once('=').unwrap_or_else(|| panic!("{page}"));
        let fields = json!({"token": token, "full_name": "Joined", "email": "joined@example.com",
            "password": PASSWORD});
        let joined = browser.request_outside(Method::POST, path).form(fields).header("Cookie", cookie);
        let joined = joined.send().await;
        assert_eq!(joined.status, 200, "{joined}");
    }

    async fn close_accounts(&self) {
        let leaving = self.server.member("leaving").await;
        leaving.post("/users/me/subscriptions", json!({"subscriptions": [{"name": "harbour"}]})).await.ok();
        leaving.send(self.channels[0], "tides of SHIP-7", "farewell").await;
        self.owner.delete(&format!("/users/{}", leaving.user_id), ()).await.ok();
        self.server.command(Command::ListUsers).await;
    }
}

impl Client {
    async fn put_storage(&self, storage: Value) {
        let request = self.request(Method::PUT, "/bot_storage").form(json!({"storage": storage}));
        request.send().await.ok();
    }
}

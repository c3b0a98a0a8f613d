//! The modes of export: the data of people who consent, and public data.

use super::archive::Archive;
use super::export;
use crate::harness::{Client, START, TestServer};
use serde_json::{Value, json};
use std::collections::BTreeSet;

struct House {
    server: TestServer,
    owner: Client,
    ada: Client,
    bob: Client,
    eve: Client,
    /// The id of the public channel.
    public: i64,
    messages: Vec<(&'static str, i64)>,
}

impl House {
    /// Ada consents, Bob and Eve do not.
    async fn new() -> Self {
        let server = TestServer::start().await;
        let owner = server.owner().await;
        let (ada, bob, eve) =
            (server.member("ada").await, server.member("bob").await, server.member("eve").await);
        ada.patch("/settings", json!({"allow_private_data_export": true})).await.ok();
        for client in [&ada, &bob] {
            client.patch("/settings", json!({"enter_sends": true})).await.ok();
            client.post("/users/me/alert_words", json!({"alert_words": r#"["lantern"]"#})).await.ok();
        }
        eve.patch("/settings", json!({"email_address_visibility": 4})).await.ok();
        let public = server.channel("public", &[&owner, &ada, &bob, &eve]).await;
        let shared = server.private_channel("shared", &[&owner, &bob]).await;
        let with_ada = server.private_channel("with ada", &[&owner, &bob]).await;
        let protected = server.private_channel("protected", &[&owner, &bob]).await;
        for channel in [shared, with_ada] {
            let history = json!({"is_private": true, "history_public_to_subscribers": true});
            owner.patch(&format!("/streams/{channel}"), history).await.ok();
        }
        let mut messages = vec![
            ("public", bob.send(public, "t", "in public").await),
            ("shared", bob.send(shared, "t", "without ada").await),
            ("before ada", bob.send(with_ada, "t", "before ada").await),
            ("protected before ada", bob.send(protected, "t", "before ada").await),
        ];
        for channel in ["with ada", "protected"] {
            let channels = json!({"subscriptions": json!([{"name": channel}]).to_string(),
                "principals": json!([ada.user_id]).to_string()});
            owner.post("/users/me/subscriptions", channels).await.ok();
        }
        messages.extend([
            ("protected with ada", bob.send(protected, "t", "with ada").await),
            ("to ada", bob.send_direct(&[&ada], "to ada").await),
            ("to eve", bob.send_direct(&[&eve], "to eve").await),
            ("to self", bob.send_direct(&[&bob], "to self").await),
            ("group with ada", bob.send_direct(&[&ada, &eve], "group").await),
            ("group without ada", bob.send_direct(&[&owner, &eve], "group").await),
        ]);
        Self { server, owner, ada, bob, eve, public, messages }
    }

    /// Gives Ada and Bob the same data and a bot each, whose ids are returned, and lets Ada leave two channels.
    async fn furnish(&mut self) -> [i64; 2] {
        let field = json!({"name": "Boat", "field_type": 1});
        let field = self.owner.post("/realm/profile_fields", field).await.ok()["id"].clone();
        let mut bots = [0; 2];
        for (bot, client) in bots.iter_mut().zip([&self.ada, &self.bob]) {
            let name = format!("{}-bot", client.full_name.to_lowercase());
            *bot = self.server.bot(&name, client).await.user_id;
            let of_channel = json!({"subscription_data": [
                {"stream_id": self.public, "property": "color", "value": "#123456"},
                {"stream_id": self.public, "property": "is_muted", "value": true},
            ]});
            let later = json!({"type": "direct", "to": [client.user_id], "content": "later",
                "scheduled_delivery_timestamp": START + 100_000});
            for (path, form) in [
                ("/users/me/subscriptions/properties", of_channel),
                ("/users/me/presence", json!({"status": "active"})),
                ("/users/me/status", json!({"status_text": "rowing"})),
                ("/user_topics", json!({"stream_id": self.public, "topic": "t", "visibility_policy": 3})),
                ("/saved_snippets", json!({"title": "hi", "content": "Hello"})),
                ("/scheduled_messages", later),
            ] {
                client.post(path, form).await.ok();
            }
            let profile = json!({"data": [{"id": field, "value": "Swan"}]});
            client.patch("/users/me/profile_data", profile).await.ok();
            let of_bot = format!(
                "UPDATE bot SET payload_url = 'http://127.0.0.1:9/', interface = 1, token = 'a', config_data = '{{\"a\":\"b\"}}'
                 WHERE user_id = {bot};
                 INSERT INTO bot_storage VALUES ({bot}, 'tide', 'high')"
            );
            self.server.sql(&of_bot).await;
        }
        for (channel, is_shared, before, after) in [
            ("left", true, "before leaving", "after leaving"),
            ("left protected", false, "protected before leaving", "protected after leaving"),
        ] {
            let stream_id = self.server.private_channel(channel, &[&self.owner, &self.bob, &self.ada]).await;
            if is_shared {
                let history = json!({"is_private": true, "history_public_to_subscribers": true});
                self.owner.patch(&format!("/streams/{stream_id}"), history).await.ok();
            }
            self.messages.push((before, self.bob.send(stream_id, "t", before).await));
            self.ada.delete("/users/me/subscriptions", json!({"subscriptions": [channel]})).await.ok();
            self.messages.push((after, self.bob.send(stream_id, "t", after).await));
        }
        bots
    }

    fn exported(&self, archive: &Archive) -> Vec<&'static str> {
        let ids: BTreeSet<i64> =
            archive.table("zerver_message").iter().map(|message| message["id"].as_i64().unwrap()).collect();
        self.messages.iter().filter(|(_, id)| ids.contains(id)).map(|(name, _)| *name).collect()
    }
}

/// The users of a table, by one of its columns.
fn users(archive: &Archive, table: &str, column: &str) -> BTreeSet<i64> {
    archive.table(table).iter().map(|row| row[column].as_i64().unwrap()).collect()
}

/// The number of owners if all of them lose their accounts.
fn lost_owners(report: &Value) -> Option<u64> {
    let mut left_out = report["left_out"].as_array().unwrap().iter();
    left_out.find(|item| item["what"] == "owners")?["count"].as_u64()
}

#[tokio::test]
async fn exports_with_consent_have_the_private_data_of_those_who_consent() {
    let house = House::new().await;
    let (report, archive) = export(&house.server, &["--with-consent"]);
    let expected = ["public", "before ada", "protected with ada", "to ada", "group with ada"];
    assert_eq!(house.exported(&archive), expected);
    let left_out =
        report["left_out"].as_array().unwrap().iter().find(|item| item["what"] == "messages").unwrap();
    assert!(left_out["count"].as_u64().unwrap() >= 5, "{left_out}");
    assert_eq!(lost_owners(&report), Some(1));
    assert_eq!(users(&archive, "zerver_usermessage", "user_profile"), [house.ada.user_id].into());
    assert_eq!(users(&archive, "zerver_alertword", "user_profile"), [house.ada.user_id].into());
    assert_eq!(users(&archive, "zerver_userprofile", "id"), [house.ada.user_id].into());
    let ada = archive.row("zerver_userprofile", house.ada.user_id);
    assert_eq!((&ada["enter_sends"], &ada["is_active"]), (&json!(true), &json!(true)));
    let bob = archive.row("zerver_userprofile_mirrordummy", house.bob.user_id);
    assert_eq!((&bob["enter_sends"], &bob["is_active"]), (&json!(false), &json!(false)));
    assert_eq!(bob["delivery_email"], json!(house.bob.email));
    let eve = archive.row("zerver_userprofile_mirrordummy", house.eve.user_id);
    let address = eve["delivery_email"].as_str().unwrap();
    assert!(address.starts_with("exported-user-") && !address.contains("eve"), "{address}");
    assert_eq!(archive.json("consented_user_ids.json"), json!([house.ada.user_id]));
    assert_eq!(archive.table("zerver_huddle").len(), 1);
}

#[tokio::test]
async fn public_exports_have_no_private_data() {
    let house = House::new().await;
    let (report, archive) = export(&house.server, &["--public-only"]);
    assert_eq!(house.exported(&archive), ["public"]);
    assert_eq!(lost_owners(&report), None);
    for table in
        ["zerver_alertword", "zerver_huddle", "zerver_muteduser", "zerver_savedsnippet", "zerver_userstatus"]
    {
        assert!(archive.table(table).is_empty(), "{table}");
    }
    // Of Eve, who hides her address, a placeholder.
    let receivers = users(&archive, "zerver_usermessage", "user_profile");
    assert!(
        receivers.contains(&house.bob.user_id) && !receivers.contains(&house.eve.user_id),
        "{receivers:?}"
    );
    let bob = archive.row("zerver_userprofile", house.bob.user_id);
    assert_eq!((&bob["enter_sends"], &bob["is_active"]), (&json!(false), &json!(true)));
    archive.row("zerver_userprofile_mirrordummy", house.eve.user_id);
    let texts: Vec<&Value> =
        archive.table("zerver_message").iter().map(|message| &message["content"]).collect();
    assert!(!texts.iter().any(|text| **text == "to ada" || **text == "group"), "{texts:?}");
    assert!(!archive.files.contains_key("consented_user_ids.json"));
}

#[tokio::test]
async fn full_exports_have_everything() {
    let house = House::new().await;
    let (_, archive) = export(&house.server, &[]);
    let all: Vec<&str> = house.messages.iter().map(|(name, _)| *name).collect();
    assert_eq!(house.exported(&archive), all);
    let clients = [house.ada.clone(), house.bob.clone(), house.eve.clone()];
    super::assert_same_messages(&archive, &clients).await;
}

/// Each row of the table of modes: whose data an archive has.
#[tokio::test]
async fn modes_decide_about_the_data_of_each_person() {
    let mut house = House::new().await;
    let bots = house.furnish().await;
    let people = [house.ada.user_id, house.bob.user_id];
    let left = ["before leaving", "after leaving", "protected before leaving", "protected after leaving"];
    // The number of the two people whose private data is exported, and of the messages in channels that Ada left.
    let modes: [(&[&str], usize, usize); 3] =
        [(&["--public-only"], 0, 0), (&["--with-consent"], 1, 3), (&[], 2, 4)];
    for (mode, sharing, messages) in modes {
        let (_, archive) = export(&house.server, mode);
        let of = |ids: [i64; 2]| ids[..sharing].iter().copied().collect::<BTreeSet<i64>>();
        for (table, column, expected) in [
            ("zerver_alertword", "user_profile", of(people)),
            ("zerver_savedsnippet", "user_profile", of(people)),
            ("zerver_scheduledmessage", "sender", of(people)),
            ("zerver_userstatus", "user_profile", of(people)),
            ("zerver_usertopic", "user_profile", of(people)),
            ("zerver_service", "user_profile", of(bots)),
            ("zerver_botconfigdata", "bot_profile", of(bots)),
            ("zerver_botstoragedata", "bot_profile", of(bots)),
            ("zerver_customprofilefieldvalue", "user_profile", people.into()),
        ] {
            assert_eq!(users(&archive, table, column), expected, "{mode:?}: {table}");
        }
        assert!(
            users(&archive, "zerver_userpresence", "user_profile").is_superset(&people.into()),
            "{mode:?}"
        );

        let of_event = |event: i64| -> BTreeSet<i64> {
            let rows = archive.table("zerver_realmauditlog").iter().filter(|row| row["event_type"] == event);
            rows.map(|row| row["modified_user"].as_i64().unwrap()).collect()
        };
        let created: BTreeSet<i64> = of(people).union(&of(bots)).copied().collect();
        match sharing {
            2 => assert!(of_event(101).is_superset(&created), "{mode:?}"),
            _ => assert_eq!(of_event(101), created, "{mode:?}"),
        }
        assert!(of_event(301).is_superset(&people.into()), "{mode:?}");
        assert_eq!(of_event(303), [house.ada.user_id].into(), "{mode:?}");

        let mut recipients = archive.table("zerver_recipient").iter();
        let public = recipients.find(|row| row["type"] == 2 && row["type_id"] == house.public).unwrap();
        for (place, user) in people.into_iter().enumerate() {
            let mut rows = archive.table("zerver_subscription").iter();
            let row =
                rows.find(|row| row["user_profile"] == user && row["recipient"] == public["id"]).unwrap();
            let is_own = (row["color"] == "#123456", row["is_muted"] == true);
            assert_eq!(is_own, (place < sharing, place < sharing), "{mode:?}: {row}");
        }
        for (place, bot) in bots.into_iter().enumerate() {
            let row = archive.people().find(|row| row["id"] == bot).unwrap();
            let keeps_account = sharing != 1 || place == 0;
            assert_eq!(
                (&row["is_active"], &row["is_mirror_dummy"]),
                (&json!(keeps_account), &json!(!keeps_account))
            );
        }
        let exported = house.exported(&archive).into_iter().filter(|name| name.ends_with("leaving"));
        assert_eq!(exported.collect::<Vec<_>>(), left[..messages], "{mode:?}");
    }
}

/// A deactivated person of an imported archive is subscribed, and has received nothing here.
#[tokio::test]
async fn subscribers_without_messages_consent_too() {
    let house = House::new().await;
    let received = format!("DELETE FROM subscription_span WHERE user_id = {}", house.ada.user_id);
    house.server.sql(&received).await;
    let (_, archive) = export(&house.server, &["--with-consent"]);
    assert!(house.exported(&archive).contains(&"before ada"));
}

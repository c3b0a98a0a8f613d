//! Limits on users and groups in the value of a permission.

use super::too_many;
use crate::harness::TestServer;
use serde_json::{Value, json};
use teamchat::domain::limits;

fn direct(members: &[usize], subgroups: &[usize]) -> Value {
    json!({"direct_members": members, "direct_subgroups": subgroups})
}

/// Refused before anything is looked up: none of these users and groups exists.
#[tokio::test]
async fn a_permission_names_a_limited_number_of_people_and_groups() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let channel = server.channel("channel", &[&owner]).await;
    let group = json!({"name": "a", "description": "", "members": []});
    let group = owner.post("/user_groups/create", group).await.ok()["group_id"].clone();
    let ids = |count: usize| (1000..1000 + count).collect::<Vec<_>>();
    for (value, what, limit) in [
        (direct(&ids(limits::MAX_DIRECT_MEMBERS + 1), &[]), "direct_members", limits::MAX_DIRECT_MEMBERS),
        (
            direct(&[], &ids(limits::MAX_DIRECT_SUBGROUPS + 1)),
            "direct_subgroups",
            limits::MAX_DIRECT_SUBGROUPS,
        ),
    ] {
        let what = |name: &str| format!("{what} in {name}");
        let new = json!({"new": value});
        let answers = [
            ("can_send_message_group", {
                let form = json!({"name": "b", "subscribers": [], "can_send_message_group": value});
                owner.post("/channels/create", form).await
            }),
            ("can_subscribe_group", {
                let form = json!({"subscriptions": [{"name": "b"}], "can_subscribe_group": value});
                owner.post("/users/me/subscriptions", form).await
            }),
            ("can_send_message_group", {
                let form = json!({"can_send_message_group": new});
                owner.patch(&format!("/streams/{channel}"), form).await
            }),
            ("can_mention_group", {
                let form = json!({"name": "b", "description": "", "members": [], "can_mention_group": value});
                owner.post("/user_groups/create", form).await
            }),
            ("can_join_group", {
                owner.patch(&format!("/user_groups/{group}"), json!({"can_join_group": new})).await
            }),
            ("can_add_custom_emoji_group", {
                owner.patch("/realm", json!({"can_add_custom_emoji_group": new})).await
            }),
        ];
        for (name, answer) in &answers {
            too_many(answer, &what(name), limit);
        }
    }
    // Duplicates count once.
    let repeated = direct(&vec![usize::try_from(owner.user_id).unwrap(); 5000], &[]);
    let channels: Vec<Value> = (0..20).map(|number| json!({"name": format!("c{number}")})).collect();
    let form = json!({"subscriptions": channels, "can_send_message_group": repeated});
    owner.post("/users/me/subscriptions", form).await.ok();
    let stored = "SELECT count(*) FROM user_group_member JOIN group_setting USING (group_id)
         WHERE setting = 'can_send_message_group'";
    assert_eq!(server.column(stored).await, ["20"]);
    let unknown = json!({"new": direct(&ids(limits::MAX_DIRECT_MEMBERS), &[])});
    let answer =
        owner.patch(&format!("/streams/{channel}"), json!({"can_send_message_group": unknown})).await;
    answer.error(400, "BAD_REQUEST", "Invalid user ID: 1000");
}

/// Each new channel has values of its own.
#[tokio::test]
async fn new_channels_name_a_limited_number_of_people_together() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let limit = limits::MAX_PERMISSION_MEMBERS_PER_REQUEST;
    let create = async |channels: usize| {
        let channels: Vec<Value> =
            (0..channels).map(|number| json!({"name": format!("c{number}")})).collect();
        let (people, groups): (Vec<_>, Vec<_>) = ((1000..1060).collect(), (1000..1040).collect());
        let form = json!({"subscriptions": channels, "can_send_message_group": direct(&people, &[]),
            "can_subscribe_group": direct(&[], &groups)});
        ada.post("/users/me/subscriptions", form).await
    };
    too_many(&create(limit / 100 + 1).await, "members of permissions in one request", limit);
    // As many as may be, and none of them exists.
    let answer = create(limit / 100).await;
    assert!(answer["msg"].as_str().unwrap().starts_with("Invalid user "), "{answer}");
    assert_eq!(server.column("SELECT count(*) FROM stream").await, ["0"]);
}

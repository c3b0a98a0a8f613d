//! Slack's export of an organization with several workspaces.

use super::{Import, client, left_out, messages};
use serde_json::{Value, json};

fn channel(id: &str, name: &str) -> Value {
    json!({"id": id, "name": name, "members": ["U1", "U3"]})
}

/// An organization with the workspaces North and South.
fn export() -> Import {
    let import = Import::new("slack");
    let person = |id: &str, name: &str, rights: Value| {
        json!({"id": id, "name": name.to_lowercase(), "real_name": name, "is_owner": id == "U3", "enterprise_user": rights,
            "profile": {"email": format!("{}@example.com", name.to_lowercase())}})
    };
    let ada = person("U1", "Ada", json!({"is_owner": true, "is_primary_owner": true}));
    let bob = person("U2", "Bob", json!({"is_admin": true}));
    // An owner of a workspace only.
    let cat = person("U3", "Cat", json!(null));
    import.write("org_users.json", json!([ada, bob]).to_string());
    import.write("channels.json", json!([channel("C1", "all-hands")]).to_string());
    let of_north = json!([channel("C2", "general"), channel("C1", "all-hands"), channel("C3", "shared")]);
    import.write("teams/North/channels.json", of_north.to_string());
    import.write("teams/North/users.json", json!([cat, ada]).to_string());
    import.write(
        "teams/South/channels.json",
        json!([channel("C4", "general"), channel("C3", "shared")]).to_string(),
    );
    import.write("teams/South/groups.json", json!([channel("G1", "secret")]).to_string());
    import.write("teams/South/dms.json", json!([{"id": "D1", "members": ["U1", "U2"]}]).to_string());
    let sent = [
        ("all-hands", "U1", "to <#C2> and <#C4>"),
        ("teams/North/general", "U3", "north"),
        ("teams/South/general", "U2", "south"),
        ("teams/South/shared", "U3", "for both"),
        ("teams/South/secret", "U1", "private"),
        ("teams/South/D1", "U2", "psst"),
        ("teams/South/unlisted", "U2", "lost"),
    ];
    for (second, (folder, user, text)) in (1..).zip(sent) {
        let message = json!([{"user": user, "text": text, "ts": format!("170928000{second}.000100")}]);
        import.write(&format!("{folder}/2024-03-01.json"), message.to_string());
    }
    import
}

#[tokio::test]
async fn workspaces_of_an_organization_become_one_organization() {
    let import = export();
    let report = import.run(&[]);
    assert_eq!(
        (&report["users"], &report["channels"], &report["messages"]),
        (&json!(3), &json!(5), &json!(6)),
        "{report}"
    );
    let why = "no list of the archive names their conversations: teams/South/unlisted";
    assert_eq!(left_out(&report, "folders of messages"), [(1, why)]);
    let server = import.serve().await;
    let roles = "SELECT full_name || ' ' || role FROM user WHERE delivery_email LIKE '%@example.com' ORDER BY full_name";
    assert_eq!(server.column(roles).await, ["Ada 100", "Bob 200", "Cat 400"]);
    let ada = client(&server, "ada@example.com").await;
    let seen = messages(&ada, json!([])).await;
    let places: Vec<(&str, &str)> = seen
        .iter()
        .map(|one| (one["display_recipient"].as_str().unwrap_or("direct"), one["content"].as_str().unwrap()))
        .collect();
    let expected = [
        ("all-hands", "to #**North: general** and #**South: general**"),
        ("North: general", "north"),
        ("South: general", "south"),
        ("North: shared", "for both"),
        ("South: secret", "private"),
        ("direct", "psst"),
    ];
    assert_eq!(places, expected);
}

#[tokio::test]
async fn a_shared_channel_has_the_messages_and_members_of_all_its_workspaces() {
    let import = export();
    let shared = json!({"id": "C3", "name": "shared", "members": ["U2", "U3"]});
    import.write("teams/South/channels.json", json!([channel("C4", "general"), shared]).to_string());
    // One of the messages is in both folders.
    let of_north = json!([
        {"user": "U3", "text": "for both", "ts": "1709280004.000100"},
        {"user": "U1", "text": "from North", "ts": "1709280008.000100"},
    ]);
    import.write("teams/North/shared/2024-03-01.json", of_north.to_string());
    let report = import.run(&[]);
    assert_eq!((&report["channels"], &report["messages"]), (&json!(5), &json!(7)), "{report}");
    let why = "no list of the archive names their conversations: teams/South/unlisted";
    assert_eq!(left_out(&report, "folders of messages"), [(1, why)]);
    let server = import.serve().await;
    let bob = client(&server, "bob@example.com").await;
    let seen = messages(&bob, json!([["channel", "North: shared"]])).await;
    let texts: Vec<&str> = seen.iter().map(|one| one["content"].as_str().unwrap()).collect();
    assert_eq!(texts, ["for both", "from North"]);
    let members = "SELECT full_name FROM subscription JOIN user USING (user_id) JOIN stream USING (stream_id)
        WHERE stream.name = 'North: shared' AND active ORDER BY full_name";
    assert_eq!(server.column(members).await, ["Ada", "Bob", "Cat"]);
}

/// The lists of the organization and of a workspace may name a person without the role in another workspace.
#[tokio::test]
async fn guests_of_a_workspace_are_guests() {
    let import = export();
    let person = |id: &str, name: &str, is_guest: bool| {
        json!({"id": id, "name": name.to_lowercase(), "real_name": name, "is_restricted": is_guest,
            "profile": {"email": format!("{}@example.com", name.to_lowercase())}})
    };
    let mut ada = person("U1", "Ada", false);
    ada["enterprise_user"] = json!({"is_owner": true, "is_primary_owner": true});
    import.write("org_users.json", json!([ada, person("U2", "Bob", false)]).to_string());
    import.write("teams/North/users.json", json!([person("U3", "Cat", false)]).to_string());
    let of_south = json!([person("U2", "Bob", true), person("U3", "Cat", true), person("U4", "Dan", false)]);
    import.write("teams/South/users.json", of_south.to_string());
    import.run(&[]);
    let server = import.serve().await;
    let roles = "SELECT full_name || ' ' || role FROM user WHERE delivery_email LIKE '%@example.com' ORDER BY full_name";
    assert_eq!(server.column(roles).await, ["Ada 100", "Bob 600", "Cat 600", "Dan 400"]);
}

/// Each workspace decides whether a channel that it shares is private.
#[test]
fn a_channel_may_be_public_in_one_workspace_and_private_in_another() {
    let import = export();
    import.write("teams/South/channels.json", json!([channel("C4", "general")]).to_string());
    let private = json!([channel("G1", "secret"), channel("C3", "shared")]);
    import.write("teams/South/groups.json", private.to_string());
    let report = import.run(&["--dry-run"]);
    assert_eq!((&report["channels"], &report["messages"]), (&json!(6), &json!(6)), "{report}");
}

/// The export of one workspace may have a channel with the name of the folder of workspaces.
#[test]
fn a_channel_may_have_the_name_of_the_folder_of_workspaces() {
    let import = super::slack::export();
    let messages = import.run(&["--dry-run"])["messages"].as_u64().unwrap();
    let channels = json!([
        {"id": "C1", "name": "general", "members": ["U1", "U2", "U5"]},
        {"id": "C3", "name": "teams", "members": ["U1"]},
    ]);
    import.write("channels.json", channels.to_string());
    let sent = json!([{"user": "U1", "text": "hello", "ts": "1709366400.000100"}]);
    import.write("teams/2024-03-02.json", sent.to_string());
    import.write("teams/attachments/F1-list.txt", "oars");
    assert_eq!(import.run(&["--dry-run"])["messages"], messages + 1);
}

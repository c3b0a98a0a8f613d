//! Quotas: what counts, for whom, and at which operations.

use crate::harness::{Answer, Client, TestServer, pictures};
use crate::uploads::{content, png, upload};
use reqwest::Method;
use serde_json::json;
use teamchat::app::Options;

const FULL: &str = "Upload would exceed your organization's upload quota.";
const SHARE_FULL: &str = "Upload would exceed your share of your organization's upload quota.";

const MIB: usize = 1 << 20;

/// Lets two MiB of each person, and ten of all.
fn options() -> Options {
    Options {
        max_file_upload_size_mib: Some(5),
        upload_quota_mib: Some(10),
        upload_quota_per_person_mib: Some(2),
        ..Options::default()
    }
}

async fn send(client: &Client, method: Method, path: &str, file: &[u8]) -> Answer {
    let files: &[(&str, &str, &[u8])] = &[("file", "file.png", file)];
    client.request(method, path).multipart((), files).send().await
}

async fn send_file(client: &Client, file: &[u8]) -> Answer {
    send(client, Method::POST, "/user_uploads", file).await
}

// conformance: upload-21
#[tokio::test]
async fn the_operator_sets_the_quota_of_each_person() {
    let server = TestServer::start_with(options()).await;
    let (owner, ada, eve) = (server.owner().await, server.member("ada").await, server.guest("eve").await);
    let bot = server.bot("helper", &ada).await;
    let state = ada.post("/register", &[("fetch_event_types", "[\"realm\"]")]).await.ok();
    assert_eq!(state["realm_upload_quota_mib"], 10);
    // It is below the largest file, and the same for all roles.
    for who in [&owner, &ada, &eve] {
        send_file(who, &content(2 * MIB + 1)).await.error(400, "REALM_UPLOAD_QUOTA", SHARE_FULL);
        send_file(who, &content(MIB)).await.ok();
    }
    send_file(&bot, &content(MIB)).await.ok();
    for who in [&ada, &bot] {
        send_file(who, b"x").await.error(400, "REALM_UPLOAD_QUOTA", SHARE_FULL);
    }
    // Giving the bot away does not give room.
    owner.patch(&format!("/bots/{}", bot.user_id), json!({"bot_owner_id": owner.user_id})).await.ok();
    send_file(&ada, b"x").await.error(400, "REALM_UPLOAD_QUOTA", SHARE_FULL);
    send_file(&owner, &content(MIB)).await.ok();
    // A file that is deleted does.
    let file = ada.get("/attachments", ()).await.ok()["attachments"][0]["id"].clone();
    owner.delete(&format!("/attachments/{file}"), ()).await.ok();
    send_file(&ada, b"x").await.ok();
}

// conformance: upload-21
#[tokio::test]
async fn the_quotas_hold_for_all_uploads() {
    let server = TestServer::start_with(options()).await;
    let (owner, ada) = (server.owner().await, server.administrator("ada").await);
    let bot = server.bot("helper", &ada).await;
    let picture = png(64, 64);
    let path_of_bot = format!("/bots/{}", bot.user_id);
    upload(&ada, "large", &content(2 * MIB)).await;
    for (who, method, path) in [
        (&ada, Method::POST, "/user_uploads"),
        (&ada, Method::POST, "/users/me/avatar"),
        (&ada, Method::POST, "/realm/emoji/one"),
        (&ada, Method::PATCH, &path_of_bot),
        (&owner, Method::PATCH, &path_of_bot),
        (&bot, Method::POST, "/user_uploads"),
        (&bot, Method::POST, "/users/me/avatar"),
    ] {
        send(who, method, path, &picture).await.error(400, "REALM_UPLOAD_QUOTA", SHARE_FULL);
    }
    let two = json!({"full_name": "two", "short_name": "two"});
    let new_bot =
        ada.request(Method::POST, "/bots").multipart(two, &[("file", "a.png", &picture)]).send().await;
    new_bot.error(400, "REALM_UPLOAD_QUOTA", SHARE_FULL);
    let left = "SELECT (SELECT count(*) FROM public_image) + (SELECT count(*) FROM realm_emoji)";
    assert_eq!(server.column(left).await, ["0"]);

    // Others have used the rest of the quota of all.
    server.sql(&format!("UPDATE upload_state SET space_used = {}", 10 * MIB)).await;
    for path in
        ["/user_uploads", "/users/me/avatar", "/realm/emoji/one", "/realm/icon", "/realm/logo?night=false"]
    {
        send(&owner, Method::POST, path, &picture).await.error(400, "REALM_UPLOAD_QUOTA", FULL);
    }
    assert_eq!(server.column(left).await, ["0"]);
    // What takes no room is possible.
    owner.delete("/users/me/avatar", ()).await.ok();
    owner.delete("/realm/icon", ()).await.ok();
}

// conformance: upload-21
#[tokio::test]
async fn pictures_count_for_their_person() {
    let server = TestServer::start_with(Options { upload_quota_per_person_mib: Some(4), ..options() }).await;
    let ada = server.administrator("ada").await;
    let bot = server.bot("helper", &ada).await;
    let picture = pictures::noise(500, 500);
    send(&ada, Method::POST, "/users/me/avatar", &picture).await.ok();
    send(&bot, Method::POST, "/users/me/avatar", &picture).await.ok();
    send(&ada, Method::POST, "/realm/emoji/noise", &picture).await.ok();
    let used = server.column("SELECT sum(octet_length(content)) FROM public_image").await;
    let left = 4 * MIB - used[0].parse::<usize>().unwrap();
    send_file(&ada, &content(left + 1)).await.error(400, "REALM_UPLOAD_QUOTA", SHARE_FULL);
    send_file(&ada, &content(left)).await.ok();
    // Another picture in place of one is within the quota, if it is not larger.
    send(&ada, Method::POST, "/users/me/avatar", &picture).await.ok();
    send_file(&bot, b"x").await.error(400, "REALM_UPLOAD_QUOTA", SHARE_FULL);
    ada.delete("/users/me/avatar", ()).await.ok();
    send_file(&bot, b"x").await.ok();
    assert_eq!(
        ada.get("/attachments", ()).await.ok()["upload_space_used"],
        left + 1,
        "the interface announces the space of files"
    );
}

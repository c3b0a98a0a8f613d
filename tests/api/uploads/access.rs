//! Access to uploaded files.

use super::{link, load, png, upload};
use crate::harness::{Blocked, Client, TestServer, until};
use serde_json::json;
use teamchat::domain::limits::MAX_LOOKED_UP_MESSAGES;

/// True if a user can load a file; all routes must agree.
async fn may_load(client: &Client, url: &str) -> bool {
    let status = load(client, url).await.status;
    // The operation that makes a temporary address refuses with 400, as all operations do.
    let temporary = client.get(url, ()).await.status;
    assert!(matches!((status, temporary), (200, 200) | (403, 400)), "{url}: {status} {temporary}");
    status == 200
}

// conformance: upload-7
#[tokio::test]
async fn readers_of_messages_can_load_their_files() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let bob = server.member("bob").await;
    let eve = server.member("eve").await;
    let guest = server.guest("guest").await;
    let admin = server.administrator("admin").await;
    let everybody = [&ada, &bob, &eve, &guest, &admin];
    let expect = async |url: &str, readers: &[&Client], why: &str| {
        for client in everybody {
            let expected = readers.iter().any(|reader| reader.user_id == client.user_id);
            assert_eq!(may_load(client, url).await, expected, "{why}: {}", client.full_name);
        }
        let status = load(&server.anonymous(), url).await.status;
        assert_eq!(status, 401, "{why}: without an account");
    };
    let general = server.channel("general", &[&ada, &guest]).await;
    let open = server.channel("open", &[&ada]).await;
    let secret = server.private_channel("secret", &[&ada, &bob]).await;
    let urls = [
        upload(&ada, "a", b"a").await,
        upload(&ada, "b", b"b").await,
        upload(&ada, "c", b"c").await,
        upload(&ada, "d", b"d").await,
        upload(&ada, "e", b"e").await,
    ];
    expect(&urls[0], &[&ada], "linked to nowhere").await;
    ada.send(general, "t", &link(&urls[0])).await;
    expect(&urls[0], &everybody, "in a public channel with a guest").await;
    ada.send(open, "t", &link(&urls[1])).await;
    expect(&urls[1], &[&ada, &bob, &eve, &admin], "in a public channel without guests").await;
    ada.send(secret, "t", &link(&urls[2])).await;
    expect(&urls[2], &[&ada, &bob], "in a private channel").await;
    ada.send_direct(&[&eve], &link(&urls[3])).await;
    expect(&urls[3], &[&ada, &eve], "in a direct message").await;
    // A later subscriber of a private channel with protected history cannot load it.
    let to = json!([{"name": "secret"}]);
    ada.post("/users/me/subscriptions", json!({"subscriptions": to, "principals": [eve.user_id]})).await.ok();
    expect(&urls[2], &[&ada, &bob], "from before somebody came").await;
    ada.send(secret, "t", &link(&urls[4])).await;
    expect(&urls[4], &[&ada, &bob, &eve], "from after").await;
    // One message is enough.
    bob.send_direct(&[&guest], &link(&urls[2])).await;
    expect(&urls[2], &[&ada, &bob, &guest], "passed on").await;
}

// conformance: upload-8
#[tokio::test]
async fn links_without_access_grant_no_access() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let eve = server.member("eve").await;
    let url = upload(&ada, "a.png", &png(20, 10)).await;
    let mut events = ada.register(json!({"event_types": ["attachment"]})).await;
    let id = eve.send_direct(&[&eve], &link(&url)).await;
    assert!(!may_load(&eve, &url).await);
    let found =
        json!({"anchor": "newest", "num_before": 9, "num_after": 0, "narrow": [["has", "attachment"]]});
    assert_eq!(eve.get("/messages", &found).await.ok()["messages"], json!([]));
    // The refusal reveals nothing about the file.
    let shown = eve.message(id).await["content"].clone();
    assert_eq!(shown, format!("<p>look: <a href=\"{url}\">file</a></p>"));
    assert_eq!(super::attachments(&ada).await[0]["messages"], json!([]));
    events.expect_nothing().await;
}

/// A bot can link to files that thousands of messages link to which it cannot read, while other changes wait.
#[tokio::test]
async fn a_message_shares_files_within_a_limited_number_of_messages() {
    let server = TestServer::start().await;
    let (ada, bob, eve) =
        (server.member("ada").await, server.member("bob").await, server.member("eve").await);
    let secret = server.private_channel("secret", &[&ada]).await;
    let (url, other) = (upload(&ada, "a", b"a").await, upload(&ada, "b", b"b").await);
    ada.send_direct(&[&bob], &link(&url)).await;
    ada.send_direct(&[&bob], &link(&other)).await;
    let hidden = ada.send(secret, "t", &link(&url)).await;
    let copies = u32::try_from(MAX_LOOKED_UP_MESSAGES).unwrap();
    server.add_copies(hidden, copies - 2).await;
    let claim = |last: i64| {
        format!(
            "INSERT OR IGNORE INTO attachment_message (attachment_id, message_id)
             SELECT attachment_id, id FROM attachment_message CROSS JOIN message
             WHERE message_id = {hidden} AND id BETWEEN {hidden} AND {last}"
        )
    };
    // The newest that Bob may read is the last one that is looked at.
    server.sql(&claim(hidden + i64::from(copies) - 2)).await;
    let id = bob.send_direct(&[&eve], &link(&url)).await;
    assert!(may_load(&eve, &url).await);
    bob.delete(&format!("/messages/{id}"), ()).await.ok();
    assert!(!may_load(&eve, &url).await);

    server.add_copies(hidden, 1).await;
    let newest = server.column("SELECT max(id) FROM message").await[0].parse().unwrap();
    server.sql(&claim(newest)).await;
    bob.send_direct(&[&eve], &link(&url)).await;
    assert!(!may_load(&eve, &url).await, "there is one more");
    bob.send_direct(&[&eve], &format!("{} {}", link(&url), link(&other))).await;
    assert!(!may_load(&eve, &other).await, "of all files together");
    bob.send_direct(&[&eve], &link(&other)).await;
    assert!(may_load(&eve, &other).await);
    // Bob himself may still load it, and whose file it is may share it.
    assert!(may_load(&bob, &url).await);
    ada.send_direct(&[&eve], &link(&url)).await;
    assert!(may_load(&eve, &url).await);
}

/// Access to a file can depend on each of the messages that link to it.
#[tokio::test]
async fn files_with_many_links_delay_no_other_requests() {
    let server = TestServer::start().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let (eve, zoe) = (server.member("eve").await, server.member("zoe").await);
    let secret = server.private_channel("secret", &[&ada]).await;
    let url = upload(&ada, "a.png", &png(20, 10)).await;
    let thumbnail = format!("{}/840x560.webp", url.replace("/user_uploads/", "/user_uploads/thumbnail/"));
    let hidden = ada.send(secret, "t", &link(&url)).await;
    server.add_copies(hidden, 150_000).await;
    server
        .sql(
            "INSERT OR IGNORE INTO attachment_message (attachment_id, message_id)
             SELECT attachment_id, id FROM attachment_message CROSS JOIN message",
        )
        .await;
    let blocked = Blocked::new(server.app(), |app| &app.pools.slow_reads).await;
    let mut file = Box::pin(load(&bob, &url));
    let mut image = Box::pin(load(&eve, &thumbnail));
    let mut temporary = Box::pin(zoe.get(&url, ()));
    tokio::select! {
        answer = &mut file => panic!("{answer}"),
        answer = &mut image => panic!("{answer}"),
        answer = &mut temporary => panic!("{answer}"),
        () = until(|| server.app().pools.slow_reads.admitted() >= blocked.count() + 3) => {}
    }
    // Others go on.
    ada.send_direct(&[&ada], &link(&url)).await;
    assert!(may_load(&ada, &url).await);
    blocked.end().await;
    assert_eq!((file.await.status, image.await.status, temporary.await.status), (403, 403, 400));
}

// conformance: upload-9
#[tokio::test]
async fn files_in_web_public_channels_are_public() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let guest = server.guest("guest").await;
    let stream_id = server.channel("web", &[&ada]).await;
    let url = upload(&ada, "a.png", &png(20, 10)).await;
    let thumbnail = format!("{}/840x560.webp", url.replace("/user_uploads/", "/user_uploads/thumbnail/"));
    ada.send(stream_id, "t", &link(&url)).await;
    assert_eq!(load(&server.anonymous(), &url).await.status, 401);
    assert_eq!(load(&guest, &url).await.status, 403);
    server.sql(&format!("UPDATE stream SET is_web_public = 1 WHERE stream_id = {stream_id}")).await;
    let visitor = server.anonymous();
    for (is_open, status) in [(false, 401), (true, 200), (false, 401), (true, 200)] {
        server.set_realm_setting("enable_spectator_access", json!(is_open)).await;
        for path in [&url, &thumbnail] {
            assert_eq!(load(&visitor, path).await.status, status, "{path}");
        }
        assert_eq!(load(&guest, &url).await.status, 200);
    }
    for client in [&visitor, &guest] {
        assert_eq!(load(client, &thumbnail).await.header("content-type"), "image/webp");
    }
    server.owner().await.delete(&format!("/streams/{stream_id}"), ()).await.ok();
    for path in [&url, &thumbnail] {
        assert_eq!(load(&visitor, path).await.status, 401, "{path} of an archived channel");
    }
}

// conformance: move-51, upload-10
#[tokio::test]
async fn a_moved_message_takes_the_access_with_it() {
    let server = TestServer::start().await;
    let ada = server.administrator("ada").await;
    let eve = server.member("eve").await;
    let open = server.channel("open", &[&ada]).await;
    let secret = server.private_channel("secret", &[&ada]).await;
    let url = upload(&ada, "a", b"a").await;
    let id = ada.send(open, "t", &link(&url)).await;
    assert!(may_load(&eve, &url).await);
    let to = json!({"stream_id": secret, "send_notification_to_new_thread": false});
    ada.patch(&format!("/messages/{id}"), to).await.ok();
    assert!(!may_load(&eve, &url).await);
}

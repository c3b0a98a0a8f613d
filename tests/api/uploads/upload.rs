//! `POST /user_uploads`, `GET /attachments`, `DELETE /attachments/{attachment_id}`.

use super::{attachments, content, load, upload};
use crate::harness::{Client, START, TestServer};
use reqwest::Method;
use serde_json::json;
use teamchat::api::uploads::cleaning;
use teamchat::app::{Options, Overrides};

// conformance: upload-1
#[tokio::test]
async fn a_file_is_uploaded_listed_loaded_and_deleted() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let bob = server.member("bob").await;
    let mut events = ada.register(json!({"event_types": ["attachment"]})).await;
    let mut others = bob.register(json!({"event_types": ["attachment"]})).await;
    let bytes = content(700_000);
    // The published Python client names the field as the file.
    let request = ada.request(Method::POST, "/user_uploads");
    let answer = request.multipart((), &[("/home/ada/my notes (1).txt", "my notes (1).txt", &bytes)]);
    let answer = answer.send().await.ok();
    let url = answer["url"].as_str().unwrap();
    assert_eq!((&answer["uri"], &answer["filename"]), (&answer["url"], &json!("my notes (1).txt")));
    assert!(url.starts_with("/user_uploads/1/") && url.ends_with("/my-notes-1.txt"), "{url}");
    assert_eq!(url.split('/').count(), 6, "{url}");
    assert_eq!(load(&ada, url).await.bytes, bytes);

    let other = upload(&bob, "b.bin", b"123").await;
    let path_id = url.strip_prefix("/user_uploads/").unwrap();
    let listed = ada.get("/attachments", ()).await.ok();
    let id = &listed["attachments"][0]["id"];
    let record = json!({"id": id, "name": "my notes (1).txt", "path_id": path_id, "size": 700_000,
        "create_time": START * 1000, "messages": []});
    assert_eq!(listed["attachments"], json!([record]));
    assert_eq!(listed["upload_space_used"], 700_003);

    let path = format!("/attachments/{id}");
    bob.delete(&path, ()).await.error(400, "BAD_REQUEST", "Invalid attachment");
    ada.delete(&path, ()).await.ok();
    ada.delete(&path, ()).await.error(400, "BAD_REQUEST", "Invalid attachment");
    ada.delete("/attachments/x", ()).await.error(400, "BAD_REQUEST", "attachment_id is not valid JSON");
    let gone = "This file does not exist or has been deleted.";
    load(&ada, url).await.error(404, "BAD_REQUEST", gone);
    assert_eq!(ada.get("/attachments", ()).await.ok()["upload_space_used"], 3);
    events
        .expect(&[
            json!({"type": "attachment", "op": "add", "attachment": record, "upload_space_used": 700_000}),
            json!({"type": "attachment", "op": "remove", "attachment": {"id": id}, "upload_space_used": 3}),
        ])
        .await;
    let received = others.expect_kinds(&["attachment/add"]).await;
    assert_eq!(received[0]["upload_space_used"], 700_003);
    assert_eq!(load(&bob, &other).await.bytes, b"123");
}

// conformance: upload-2
#[tokio::test]
async fn exactly_one_file_is_required() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let none = "You must specify a file to upload";
    ada.post("/user_uploads", ()).await.error(400, "BAD_REQUEST", none);
    ada.post("/user_uploads", &[("file", "text")]).await.error(400, "BAD_REQUEST", none);
    let send = async |parameters, files: &[(&str, &str, &[u8])]| {
        ada.request(Method::POST, "/user_uploads").multipart(parameters, files).send().await
    };
    send(json!({"a": "b"}), &[]).await.error(400, "BAD_REQUEST", none);
    send(json!({}), &[("file", "", b"x")]).await.error(400, "BAD_REQUEST", none);
    let several = "You may only upload one file at a time";
    send(json!({}), &[("a", "a", b"x"), ("b", "b", b"y")]).await.error(400, "BAD_REQUEST", several);
    assert_eq!(attachments(&ada).await, json!([]));
    // Of two files in one field, the first is used.
    let answer = send(json!({"note": "n", "client": "c"}), &[("f", "one", b"1"), ("f", "two", b"2")]).await;
    let answer = answer.ok_ignoring(&["note"]);
    assert_eq!(answer["filename"], "one");
    assert_eq!(load(&ada, answer["url"].as_str().unwrap()).await.bytes, b"1");
    // An empty file is a file.
    let answer = send(json!({}), &[("f", "nothing.txt", b"")]).await.ok();
    let empty = load(&ada, answer["url"].as_str().unwrap()).await;
    assert_eq!((empty.status, empty.bytes.len()), (200, 0));
    let login = "Not logged in: API authentication or user session required";
    let anonymous = server.anonymous().request(Method::POST, "/user_uploads");
    let anonymous = anonymous.multipart((), &[("f", "x", b"x")]).send().await;
    anonymous.error(401, "UNAUTHORIZED", login);
    let broken = ada.request(Method::POST, "/user_uploads").body("multipart/form-data; boundary=x", "--y");
    let broken = broken.send().await;
    let msg = "Malformed multipart/form-data body: incomplete multipart stream";
    broken.error(400, "BAD_REQUEST", msg);
    let boundless = ada.request(Method::POST, "/user_uploads").body("multipart/form-data", "x").send().await;
    let msg = "Malformed multipart/form-data body: multipart boundary not found in Content-Type";
    boundless.error(400, "BAD_REQUEST", msg);
}

// conformance: upload-3
#[tokio::test]
async fn files_have_a_size_limit_and_a_quota() {
    let options =
        Options { max_file_upload_size_mib: Some(1), upload_quota_mib: Some(2), ..Options::default() };
    let server = TestServer::start_with(options).await;
    let ada = server.administrator("ada").await;
    let state = ada.post("/register", &[("fetch_event_types", "[\"realm\"]")]).await.ok();
    assert_eq!(
        (&state["max_file_upload_size_mib"], &state["realm_upload_quota_mib"]),
        (&json!(1), &json!(2))
    );
    let mib = content(1 << 20);
    let send = async |name: &str, bytes: &[u8]| {
        let request = ada.request(Method::POST, "/user_uploads");
        request.multipart((), &[("f", name, bytes)]).send().await
    };
    let too_large = "File is larger than this server's configured maximum upload size (1 MiB).";
    for length in [(1 << 20) + 1, 3 << 20] {
        send("large", &content(length)).await.error(400, "BAD_REQUEST", too_large);
    }
    send("one", &mib).await.ok();
    send("small", b"x").await.ok();
    let full = "Upload would exceed your organization's upload quota.";
    send("two", &mib).await.error(400, "REALM_UPLOAD_QUOTA", full);
    send("two", &mib[1..]).await.ok();
    send("any", b"y").await.error(400, "REALM_UPLOAD_QUOTA", full);
    let listed = ada.get("/attachments", ()).await.ok();
    assert_eq!(listed["upload_space_used"], 2 << 20);
    ada.delete(&format!("/attachments/{}", listed["attachments"][1]["id"]), ()).await.ok();
    send("any", b"y").await.ok();
    // Refused uploads leave only pieces that wait for deletion.
    let kept = "SELECT count(*) FROM upload_content WHERE removed_from IS NULL";
    assert_eq!(server.column(kept).await, ["3"]);
}

// conformance: upload-4
#[tokio::test]
async fn the_published_limits_are_those_without_options() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let state = ada.post("/register", &[("fetch_event_types", "[\"realm\"]")]).await.ok();
    assert_eq!(state["max_file_upload_size_mib"], 100);
    assert_eq!(state["realm_upload_quota_mib"], json!(null));
    let format = |name: &str, animated: bool| json!({"name": name, "max_width": 840, "max_height": 560, "format": "webp", "animated": animated});
    let formats = json!([format("840x560-anim.webp", true), format("840x560.webp", false)]);
    assert_eq!(state["server_thumbnail_formats"], formats);
}

// conformance: upload-19
#[tokio::test]
async fn uploads_leave_the_disk_reserve() {
    let options = Options {
        overrides: Overrides { disk_reserve_mib: Some(u64::MAX >> 20), ..Overrides::default() },
        ..Options::default()
    };
    let server = TestServer::start_with(options).await;
    let ada = server.member("ada").await;
    let upload =
        ada.request(Method::POST, "/user_uploads").multipart((), &[("f", "file", b"x")]).send().await;
    let msg = "The server's disk is almost full: no files can be uploaded";
    upload.error(507, "INTERNAL_SERVER_ERROR", msg);
}

// conformance: upload-20
#[tokio::test]
async fn each_person_has_a_share_of_the_quota() {
    let options =
        Options { max_file_upload_size_mib: Some(1), upload_quota_mib: Some(8), ..Options::default() };
    let server = TestServer::start_with(options).await;
    let (owner, ada, eve) = (server.owner().await, server.member("ada").await, server.guest("eve").await);
    let bot = server.bot("helper", &ada).await;
    server.sql(&format!("UPDATE bot SET created_by = {} WHERE user_id = {}", ada.user_id, bot.user_id)).await;
    let mib = content(1 << 20);
    let send = async |who: &Client, bytes: &[u8]| {
        let request = who.request(Method::POST, "/user_uploads");
        request.multipart((), &[("f", "file", bytes)]).send().await
    };
    let refused = "Upload would exceed your share of your organization's upload quota.";
    send(&ada, &mib).await.ok();
    send(&bot, &mib).await.ok();
    for who in [&ada, &bot] {
        send(who, b"x").await.error(400, "REALM_UPLOAD_QUOTA", refused);
    }
    send(&eve, &mib).await.ok();
    send(&eve, b"x").await.error(400, "REALM_UPLOAD_QUOTA", refused);
    for _ in 0..5 {
        send(&owner, &mib).await.ok();
    }
    let full = "Upload would exceed your organization's upload quota.";
    send(&owner, b"x").await.error(400, "REALM_UPLOAD_QUOTA", full);
    let used = || async { owner.get("/attachments", ()).await.ok()["upload_space_used"].as_i64().unwrap() };
    assert_eq!(used().await, 8 << 20);

    // Administrators delete files without links, and files that they can see.
    let of_eve = eve.get("/attachments", ()).await.ok()["attachments"][0].clone();
    let path = format!("/attachments/{}", of_eve["id"]);
    ada.delete(&path, ()).await.error(400, "BAD_REQUEST", "Invalid attachment");
    let list = async |who: &Client, user_id: i64| who.get("/attachments", json!({"user_id": user_id})).await;
    for who in [&ada, &eve] {
        let answer = list(who, owner.user_id).await;
        answer.error(400, "UNAUTHORIZED_PRINCIPAL", "Must be an organization administrator");
        assert_eq!(list(who, who.user_id).await.ok()["attachments"].as_array().unwrap().len(), 1);
    }
    list(&owner, 999).await.error(400, "BAD_REQUEST", "No such user");
    assert_eq!(list(&owner, eve.user_id).await.ok()["attachments"], json!([of_eve]));
    assert_eq!(list(&owner, bot.user_id).await.ok()["attachments"].as_array().unwrap().len(), 1);
    let link = format!("[f](/user_uploads/{})", of_eve["path_id"].as_str().unwrap());
    let private = eve.send_direct(&[&eve], &link).await;
    owner.delete(&path, ()).await.error(400, "BAD_REQUEST", "Invalid attachment");
    assert_eq!(list(&owner, eve.user_id).await.ok()["attachments"], json!([]));
    let shared = eve.send_direct(&[&owner], &link).await;
    let listed = list(&owner, eve.user_id).await.ok()["attachments"][0].clone();
    let messages: Vec<_> =
        listed["messages"].as_array().unwrap().iter().map(|message| &message["id"]).collect();
    assert_eq!((&listed["id"], messages), (&of_eve["id"], vec![&json!(shared)]));
    owner.delete(&path, ()).await.ok();
    assert_eq!(used().await, 7 << 20);
    assert!(private > 0);

    // Files without links are deleted with their account and its bots.
    owner.delete(&format!("/users/{}", ada.user_id), ()).await.ok();
    cleaning::clean_due(&std::sync::Arc::clone(server.app())).await.unwrap();
    assert_eq!(used().await, 5 << 20);
}

#[tokio::test]
async fn names_in_the_charset_of_an_old_system_are_read() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let head = b"--edge\r\nContent-Disposition: form-data; name=\"file\"; filename=\"caf\xe9.txt\"\r\n\r\n";
    let body = [&head[..], b"hello\r\n--edge--\r\n"].concat();
    let request = ada.request(Method::POST, "/user_uploads").body("multipart/form-data; boundary=edge", body);
    let answer = request.send().await.ok();
    assert_eq!(answer["filename"], "café.txt");
    assert_eq!(load(&ada, answer["url"].as_str().unwrap()).await.bytes, b"hello");
}

// conformance: upload-5
#[tokio::test]
async fn names_beyond_ascii_are_kept_and_found() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let bob = server.member("bob").await;
    let url = upload(&ada, "Bücher 日本.txt", b"hello").await;
    assert!(url.ends_with("/Bücher-日本.txt"), "{url}");
    let loaded = load(&ada, &url).await;
    assert_eq!(loaded.bytes, b"hello");
    let name = "inline; filename*=UTF-8''B%C3%BCcher%20%E6%97%A5%E6%9C%AC.txt";
    assert_eq!(loaded.header("content-disposition"), name);
    let encoded = url.replace('ü', "%C3%BC").replace("日本", "%E6%97%A5%E6%9C%AC");
    for (index, url) in [&url, &encoded].into_iter().enumerate() {
        ada.send_direct(&[&bob], &super::link(url)).await;
        assert_eq!(attachments(&ada).await[0]["messages"].as_array().unwrap().len(), index + 1, "{url}");
    }
    assert_eq!(load(&bob, &encoded).await.bytes, b"hello");
}

#[tokio::test]
async fn names_do_not_hide_their_extension() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let url = upload(&ada, "invoice\u{202e}fdp.exe", b"hello").await;
    assert_eq!(attachments(&ada).await[0]["name"], "invoicefdp.exe");
    let loaded = load(&ada, &url).await;
    assert!(loaded.header("content-disposition").ends_with("; filename=\"invoicefdp.exe\""), "{loaded}");
}

#[tokio::test]
async fn the_newest_files_are_listed() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let oldest = upload(&ada, "oldest", b"").await;
    server
        .sql(&format!(
            "WITH RECURSIVE file (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM file WHERE number < 9999)
             INSERT INTO upload_content (content_id) SELECT 1000 + number FROM file;
             INSERT INTO attachment (user_id, path_id, name, content_type, size, create_time, content_id)
             SELECT {}, content_id, 'file', 'text/plain', 0, 0, content_id FROM upload_content WHERE content_id > 1000;",
            ada.user_id
        ))
        .await;
    let listed = attachments(&ada).await;
    let paths: Vec<_> =
        listed.as_array().unwrap().iter().map(|file| file["path_id"].as_str().unwrap()).collect();
    assert_eq!((paths.len(), format!("/user_uploads/{}", paths[0])), (10_000, oldest));
    let newest = upload(&ada, "newest", b"").await;
    let listed = attachments(&ada).await;
    assert_eq!(listed.as_array().unwrap().len(), 10_000);
    assert_eq!(listed[0]["path_id"], "1001");
    assert_eq!(format!("/user_uploads/{}", listed[9999]["path_id"].as_str().unwrap()), newest);
}

//! `GET /user_uploads/{realm_id}/{filename}`, and temporary addresses of files.

use super::{content, load, upload};
use crate::harness::{Client, TestServer};
use reqwest::Method;
use serde_json::json;

const GONE: &str = "This file does not exist or has been deleted.";
const FORBIDDEN: &str = "You are not authorized to view this file.";

// conformance: upload-11
#[tokio::test]
async fn files_come_with_headers_that_keep_them_harmless() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let cases = [
        ("a.txt", "text/plain; charset=utf-8", "inline"),
        ("a.pdf", "application/pdf", "inline"),
        ("a.mp4", "video/mp4", "inline"),
        ("a.html", "text/html", "attachment"),
        ("a.svg", "image/svg+xml", "attachment"),
        ("a.js", "application/octet-stream", "attachment"),
        ("a.mjs", "application/octet-stream", "attachment"),
        ("a.unheard-of", "application/octet-stream", "attachment"),
    ];
    // Browsers show no PDF in a sandbox.
    let pdf = "default-src 'none'; style-src 'unsafe-inline'; object-src 'self'; frame-ancestors 'none'";
    let other = "default-src 'none'; style-src 'unsafe-inline'; img-src 'self'; media-src 'self'; object-src 'self'; \
                 frame-ancestors 'none'; sandbox";
    for (name, content_type, disposition) in cases {
        let url = upload(&ada, name, b"<script>").await;
        let file = load(&ada, &url).await;
        assert_eq!((file.status, &file.bytes[..]), (200, &b"<script>"[..]));
        let headers = [
            ("content-type", content_type),
            ("content-length", "8"),
            ("x-content-type-options", "nosniff"),
            ("cache-control", "private, immutable"),
            ("accept-ranges", "bytes"),
            ("content-security-policy", if content_type == "application/pdf" { pdf } else { other }),
            ("content-disposition", &format!("{disposition}; filename=\"{name}\"")),
        ];
        for (header, value) in headers {
            assert_eq!(file.header(header), value, "{name}: {header}");
        }
        let saved = load(&ada, &format!("{url}?download=true")).await;
        assert_eq!(saved.header("content-disposition"), format!("attachment; filename=\"{name}\""));
    }
    // The client's type is ignored for unknown types and scripts.
    for given in ["text/evil", "text/javascript", "application/javascript"] {
        let body = format!(
            "--x\r\nContent-Disposition: form-data; name=\"f\"; filename=\"f\"\r\n\
             Content-Type: {given}\r\n\r\nx\r\n--x--\r\n"
        );
        let request =
            ada.request(Method::POST, "/user_uploads").body("multipart/form-data; boundary=x", body);
        let url = request.send().await.ok()["url"].as_str().unwrap().to_owned();
        assert_eq!(load(&ada, &url).await.header("content-type"), "application/octet-stream", "{given}");
    }
}

// conformance: upload-12
#[tokio::test]
async fn a_part_of_a_file_can_be_asked_for() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let bytes = content(600_000);
    let url = upload(&ada, "a.bin", &bytes).await;
    let with = async |headers: &[(&str, &str)]| {
        let mut request = ada.request_outside(Method::GET, &url);
        for (name, value) in headers {
            request = request.header(name, value);
        }
        request.send().await
    };
    // Within a piece, over the edges of pieces, to the end.
    for (range, first, last) in [
        ("bytes=0-0", 0, 0),
        ("bytes=262143-262144", 262_143, 262_144),
        ("bytes=100000-599998", 100_000, 599_998),
        ("bytes=524288-", 524_288, 599_999),
        ("bytes=-1", 599_999, 599_999),
    ] {
        let part = with(&[("Range", range)]).await;
        assert_eq!(part.status, 206, "{range}");
        assert_eq!(part.header("content-range"), format!("bytes {first}-{last}/600000"));
        assert_eq!(part.bytes, bytes[first..=last], "{range}");
    }
    let refused = with(&[("Range", "bytes=600000-")]).await;
    assert_eq!(refused.header("content-range"), "bytes */600000");
    refused.error(416, "BAD_REQUEST", "There are no such bytes in this file");
    let whole = with(&[]).await;
    let etag = whole.header("etag").to_owned();
    assert_eq!((whole.status, whole.bytes == bytes), (200, true));
    let same = with(&[("If-None-Match", &etag)]).await;
    assert_eq!((same.status, same.bytes.len(), same.header("etag")), (304, 0, etag.as_str()));
    let part = with(&[("Range", "bytes=1-2"), ("If-Range", &etag)]).await;
    assert_eq!((part.status, &part.bytes[..]), (206, &bytes[1..3]));
    let other = with(&[("Range", "bytes=1-2"), ("If-Range", "\"other\"")]).await;
    assert_eq!((other.status, other.bytes == bytes), (200, true));
    let other = upload(&ada, "b.bin", &bytes).await;
    assert_ne!(load(&ada, &other).await.header("etag"), etag);
    let head = ada.request_outside(Method::HEAD, &url).send().await;
    assert_eq!((head.status, head.header("content-length"), head.bytes.len()), (200, "600000", 0));
}

// conformance: upload-80
#[tokio::test]
async fn older_addresses_of_a_file_lead_to_it() {
    let server = TestServer::start().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let url = upload(&ada, "a b.txt", b"hello").await;
    let saved = load(&ada, &url.replace("/user_uploads/", "/user_uploads/download/")).await;
    assert_eq!((saved.status, &saved.bytes[..]), (200, &b"hello"[..]));
    assert_eq!(saved.header("content-disposition"), "attachment; filename=\"a b.txt\"");
    let refused = load(&bob, &url.replace("/user_uploads/", "/user_uploads/download/")).await;
    refused.error(403, "BAD_REQUEST", FORBIDDEN);
    for (given, expected) in
        [(url.as_str(), url.as_str()), (&url[1..], &url), ("user_uploads/1/é", "/user_uploads/1/%C3%A9")]
    {
        let request =
            ada.request_outside(Method::GET, "/thumbnail").query(json!({"url": given, "size": "full"}));
        let answer = request.send().await;
        assert_eq!((answer.status, answer.header("location")), (302, expected), "{given}");
    }
    for elsewhere in
        ["https://evil.example/x.png", "//evil.example", "user_uploads/../json/x", "/avatar/1", ""]
    {
        let request = ada.request_outside(Method::GET, "/thumbnail").query(json!({"url": elsewhere}));
        request.send().await.error(404, "BAD_REQUEST", "Not found");
    }
}

/// A temporary address has the rights of the one who asked for it.
#[tokio::test]
async fn a_temporary_address_ends_with_the_access_of_its_user() {
    let server = TestServer::start().await;
    let (owner, ada, bob) = (server.owner().await, server.member("ada").await, server.member("bob").await);
    let secret = server.private_channel("secret", &[&owner, &ada, &bob]).await;
    let url = upload(&ada, "a.txt", b"hello").await;
    ada.send(secret, "files", &format!("[file]({url})")).await;
    let of = async |client: &Client| client.get(&url, ()).await.ok()["url"].as_str().unwrap().to_owned();
    let (of_owner, of_ada, of_bob) = (of(&owner).await, of(&ada).await, of(&bob).await);
    owner.delete(&format!("/users/{}", ada.user_id), ()).await.ok();
    let left = json!({"subscriptions": ["secret"], "principals": [bob.user_id]});
    owner.delete("/users/me/subscriptions", left).await.ok();
    let anonymous = server.anonymous();
    for ended in [of_ada, of_bob] {
        load(&anonymous, &ended).await.error(400, "BAD_REQUEST", "Invalid token");
    }
    assert_eq!(load(&anonymous, &of_owner).await.status, 200);
}

// conformance: upload-13
#[tokio::test]
async fn a_temporary_address_is_good_for_a_minute_and_needs_no_login() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let bob = server.member("bob").await;
    let anonymous = server.anonymous();
    let url = upload(&ada, "a b+ü.txt", b"hello").await;
    let of = async |client: &Client| client.get(&url, ()).await;
    let temporary = of(&ada).await.ok()["url"].as_str().unwrap().to_owned();
    assert!(temporary.starts_with("/user_uploads/temporary/"), "{temporary}");
    assert!(temporary.ends_with("/a-b%C3%BC.txt"), "{temporary}");
    let file = load(&anonymous, &temporary).await;
    assert_eq!((file.status, &file.bytes[..]), (200, &b"hello"[..]));
    assert_eq!(file.header("content-disposition"), "inline; filename*=UTF-8''a%20b%2B%C3%BC.txt");
    let saved = load(&anonymous, &format!("{temporary}?download=true")).await;
    assert!(saved.header("content-disposition").starts_with("attachment;"));
    let part = anonymous.request_outside(Method::GET, &temporary).header("Range", "bytes=1-2").send().await;
    assert_eq!((part.status, &part.bytes[..]), (206, &b"el"[..]));
    let head = anonymous.request_outside(Method::HEAD, &temporary).send().await;
    assert_eq!((head.status, head.header("content-length")), (200, "5"));

    let renamed = temporary.replace("a-b%C3%BC.txt", "a.html");
    load(&anonymous, &renamed).await.error(400, "BAD_REQUEST", "Invalid filename");
    let token = temporary.split('/').nth(3).unwrap();
    let mut forged: Vec<String> = (0..token.len())
        .step_by(5)
        .map(|at| {
            let swapped = if &token[at..=at] == "A" { "B" } else { "A" };
            format!("{}{swapped}{}", &token[..at], &token[at + 1..])
        })
        .collect();
    forged.extend(["", "x", &token[..20], "!!!", "AAAA"].map(str::to_owned));
    for forged in forged.iter().filter(|forged| !forged.is_empty()) {
        let address = temporary.replace(token, forged);
        load(&anonymous, &address).await.error(400, "BAD_REQUEST", "Invalid token");
    }
    server.clock.advance(59);
    assert_eq!(load(&anonymous, &temporary).await.status, 200);
    server.clock.advance(1);
    load(&anonymous, &temporary).await.error(400, "BAD_REQUEST", "Invalid token");

    let temporary = of(&ada).await.ok()["url"].as_str().unwrap().to_owned();
    let id = super::attachments(&ada).await[0]["id"].clone();
    of(&bob).await.error(400, "BAD_REQUEST", FORBIDDEN);
    of(&anonymous).await.error(
        401,
        "UNAUTHORIZED",
        "Not logged in: API authentication or user session required",
    );
    ada.get("/user_uploads/1/none", ()).await.error(400, "BAD_REQUEST", GONE);
    ada.delete(&format!("/attachments/{id}"), ()).await.ok();
    load(&anonymous, &temporary).await.error(404, "BAD_REQUEST", GONE);
}

// conformance: upload-13
#[tokio::test]
async fn a_signature_is_good_over_a_restart_and_on_no_other_server() {
    let mut server = TestServer::start().await;
    let ada = server.member("ada").await;
    let url = upload(&ada, "a.txt", b"hello").await;
    let temporary = ada.get(&url, ()).await.ok()["url"].as_str().unwrap().to_owned();
    server.restart().await;
    assert_eq!(load(&server.anonymous(), &temporary).await.bytes, b"hello");
    let other = TestServer::start().await;
    let eve = other.member("eve").await;
    upload(&eve, "a.txt", b"other").await;
    let secret = "SELECT hex(secret) FROM upload_state";
    if server.column(secret).await != other.column(secret).await {
        load(&other.anonymous(), &temporary).await.error(400, "BAD_REQUEST", "Invalid token");
    }
}

// conformance: upload-14
#[tokio::test]
async fn missing_files_are_json_errors() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let bob = server.member("bob").await;
    let url = upload(&ada, "a.txt", b"hello").await;
    let login = "Not logged in: API authentication or user session required";
    for url in ["/user_uploads/1/x", "/user_uploads/2/a/b/c", "/user_uploads/x/y", "/user_uploads/1/../a"] {
        load(&ada, url).await.error(404, "BAD_REQUEST", if url.contains("..") { "Not found" } else { GONE });
    }
    load(&server.anonymous(), "/user_uploads/1/x").await.error(401, "UNAUTHORIZED", login);
    let refused = load(&server.anonymous(), &url).await;
    assert_eq!(refused.header("www-authenticate"), "Basic realm=\"zulip\"");
    refused.error(401, "UNAUTHORIZED", login);
    load(&bob, &url).await.error(403, "BAD_REQUEST", FORBIDDEN);
    let mut wrong = bob.clone();
    wrong.api_key = Some("x".repeat(32));
    load(&wrong, &url).await.error(401, "UNAUTHORIZED", "Invalid API key");
    let post = ada.request_outside(Method::POST, &url).send().await;
    assert_eq!(post.json["allowed_methods"], json!(["GET"]));
}

//! Paths, methods, bodies, encodings, headers.

use crate::harness::TestServer;
use flate2::read::GzDecoder;
use reqwest::Method;
use serde_json::json;
use std::io::Read;

// conformance: conv-1, conv-21
#[tokio::test]
async fn a_wrong_path_is_not_found() {
    let server = TestServer::start().await;
    let anonymous = server.anonymous();
    for path in ["", "/", "/nothing", "/users/", "/users//", "/users/me/", "/server_settings/x", "/users/%ff"]
    {
        anonymous.get(path, ()).await.error(404, "BAD_REQUEST", "Not found");
    }
    for path in ["/api", "/json", "/json/nothing", "/server_settings", "//api/v1/user"] {
        anonymous.request_outside(Method::GET, path).send().await.error(404, "BAD_REQUEST", "Not found");
    }
}

// conformance: conv-86
#[tokio::test]
async fn adjacent_slashes_of_a_path_are_one() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    for path in ["//api/v1/users/me", "///api//v1/users//me?client=a//b"] {
        let me = ada.request_outside(Method::GET, path).send().await.ok();
        assert_eq!(me["user_id"], ada.user_id, "{path}");
    }
    let sent = ada.request_outside(Method::POST, "//api/v1/messages").form(json!({
        "type": "direct", "to": [ada.user_id], "content": "a // b",
    }));
    let id = sent.send().await.ok()["id"].clone();
    assert_eq!(ada.get(&format!("/messages/{id}"), ()).await.ok()["raw_content"], "a // b");
    let zoom = ada.request(Method::POST, "//calls/zoom/create").send().await;
    zoom.error(400, "BAD_REQUEST", "Zoom credentials have not been configured");
}

// conformance: conv-22
#[tokio::test]
async fn wrong_methods_get_the_allowed_ones() {
    let server = TestServer::start().await;
    for method in ["DELETE", "OPTIONS", "TRACE", "PATCH", "BREW"] {
        let request = server.anonymous().request(method.parse().unwrap(), "/users");
        let answer = request.send().await;
        assert_eq!((answer.status, answer.header("allow")), (405, "GET, POST"), "{method}");
        let error = answer.error(405, "BAD_REQUEST", "Method Not Allowed");
        assert_eq!(error["allowed_methods"], json!(["GET", "POST"]), "{method}");
    }
    let answer = server.anonymous().post("/events", ()).await;
    assert_eq!(answer.header("allow"), "DELETE, GET");
    let answer = server.anonymous().patch("/events", ()).await;
    answer.error(405, "BAD_REQUEST", "Method Not Allowed");
}

// conformance: conv-2, conv-3
#[tokio::test]
async fn parameters_come_in_the_query_string_and_in_every_kind_of_body() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let parameters = json!({"event_types": ["realm_user"]});
    let register = || owner.request(Method::POST, "/register");
    let answers = [
        register().query(&parameters).send().await,
        register().form(&parameters).send().await,
        register().multipart(&parameters, &[]).send().await,
        register().multipart(&parameters, &[("file", "a.txt", b"content")]).send().await,
    ];
    for answer in answers {
        let state = answer.ok();
        assert!(state["realm_users"].is_array() && state["realm_name"].is_null(), "{state}");
    }
    let json_body = register().body("application/json", parameters.to_string()).send().await.ok();
    assert!(json_body["realm_users"].is_array(), "a JSON body holds no parameters, so nothing is filtered");
}

// conformance: conv-15
#[tokio::test]
async fn broken_encodings_are_refused_in_words() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let post = |content_type: &str, body: &'static [u8]| {
        owner.request(Method::POST, "/register").body(content_type, body).send()
    };
    let urlencoded = "application/x-www-form-urlencoded";
    let answer = post(urlencoded, b"event_types=%ff").await;
    answer.error(400, "BAD_REQUEST", "Request parameters are not valid UTF-8");
    let answer = post(urlencoded, b"\xff\xfe=1").await;
    answer.error(400, "BAD_REQUEST", "Request parameters are not valid UTF-8");
    let answer = post("multipart/form-data; boundary=x", b"--x\r\nContent-Disposition: form-data").await;
    assert_eq!((answer.status, &answer["code"]), (400, &json!("BAD_REQUEST")));
    assert!(answer["msg"].as_str().unwrap().starts_with("Malformed multipart/form-data body: "));
    // Nothing is no parameters, with a boundary or without.
    for content_type in ["multipart/form-data", "multipart/form-data; boundary=x", "application/json"] {
        post(content_type, b"").await.ok();
        let get = owner.request(Method::GET, "/users/me").header("Content-Type", content_type);
        get.send().await.ok();
    }
}

// conformance: conv-85
#[tokio::test]
async fn forms_and_their_parts_are_read_in_their_charset() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let send = |content_type: &str, body: Vec<u8>| {
        ada.request(Method::POST, "/messages").body(content_type, body).send()
    };
    let form = format!("type=direct&to=[{}]&content=", ada.user_id);
    let marked = format!("\u{feff}{form}");
    let utf_16: Vec<u8> = format!("{form}café").encode_utf16().flat_map(u16::to_le_bytes).collect();
    let part = |name: &str, head: &str, value: &[u8]| {
        let head = format!("--x\r\nContent-Disposition: form-data; name=\"{name}\"{head}\r\n\r\n");
        [head.as_bytes(), value, b"\r\n"].concat()
    };
    let multipart = |head: &str, content: &[u8]| {
        let to = format!("[{}]", ada.user_id);
        let parts =
            [part("type", "", b"direct"), part("to", "", to.as_bytes()), part("content", head, content)];
        [parts.concat(), b"--x--\r\n".to_vec()].concat()
    };
    let urlencoded = |charset: &str| format!("application/x-www-form-urlencoded; charset={charset}");
    let in_parts = |charset: &str| format!("multipart/form-data; boundary=x{charset}");
    let latin = "\r\nContent-Type: text/plain; charset=iso-8859-1";
    let cases = [
        (urlencoded("iso-8859-1"), [form.as_bytes(), b"caf%E9"].concat()),
        (urlencoded("\"Windows-1252\""), [form.as_bytes(), b"caf\xe9"].concat()),
        (urlencoded("utf-8"), [marked.as_bytes(), b"caf%C3%A9"].concat()),
        (urlencoded("us-ascii"), [form.as_bytes(), b"caf%C3%A9"].concat()),
        (urlencoded("utf-16"), utf_16),
        (in_parts(""), multipart(latin, b"caf\xe9")),
        (in_parts("; charset=iso-8859-1"), multipart("", b"caf\xe9")),
        (in_parts(""), multipart("", b"\xef\xbb\xbfcaf\xc3\xa9")),
    ];
    for (content_type, body) in cases {
        let id = send(&content_type, body).await.ok()["id"].as_i64().unwrap();
        let message = ada.message(id).await;
        assert_eq!(message["content"], "<p>café</p>", "{content_type}");
    }
    let unknown = "\r\nContent-Type: text/plain; charset=klingon";
    for (content_type, body, msg) in [
        (urlencoded("klingon"), form.clone().into_bytes(), "Unknown charset: klingon"),
        (in_parts(""), multipart(unknown, b"cafe"), "Unknown charset: klingon"),
        (
            urlencoded("shift_jis"),
            [form.as_bytes(), b"%FF"].concat(),
            "Request parameters are not valid Shift_JIS",
        ),
        (
            urlencoded("utf-8"),
            [form.as_bytes(), b"caf%E9"].concat(),
            "Request parameters are not valid UTF-8",
        ),
    ] {
        send(&content_type, body).await.error(400, "BAD_REQUEST", msg);
    }
}

// conformance: conv-27
#[tokio::test]
async fn long_answers_are_compressed_on_request() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    for number in 0..20 {
        server.member(&format!("user{number}")).await;
    }
    let get =
        |accepted: &str| owner.request(Method::GET, "/users").header("Accept-Encoding", accepted).send();
    let plain = get("identity").await;
    assert_eq!((plain.header("content-encoding"), plain.header("vary")), ("", "Accept-Encoding"));
    for accepted in ["gzip", "br, gzip;q=0.5", "deflate,gzip"] {
        let packed = get(accepted).await;
        assert_eq!((packed.status, packed.header("content-encoding")), (200, "gzip"), "{accepted}");
        let mut unpacked = String::new();
        GzDecoder::new(packed.bytes.as_slice()).read_to_string(&mut unpacked).unwrap();
        assert_eq!(unpacked.as_bytes(), plain.bytes, "{accepted}");
    }
    for accepted in ["gzip;q=0", "br", "", "x-gzip"] {
        assert_eq!(get(accepted).await.header("content-encoding"), "", "{accepted}");
    }
    plain.ok();
    let short = owner.request(Method::GET, "/users/me").header("Accept-Encoding", "gzip").send().await;
    assert_eq!((short.header("content-encoding"), short.header("vary")), ("", ""));
    short.ok();
}

// conformance: conv-19, conv-20, send-54
#[tokio::test]
async fn unknown_parameters_are_listed() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let unknown = &[("zoo", "1"), ("client", "me"), ("Anchor", "2"), ("zoo", "3")];
    owner.get("/users/me", unknown).await.ok_ignoring(&["Anchor", "zoo"]);
    let both =
        owner.request(Method::POST, "/users/me/api_key/regenerate").query(&[("b", "1")]).form(&[("a", "1")]);
    both.send().await.ok_ignoring(&["a", "b"]);
    let error = server.anonymous().get("/users/me", unknown).await;
    error.error(401, "UNAUTHORIZED", "Not logged in: API authentication or user session required");
}

// conformance: conv-4
#[tokio::test]
async fn the_path_wins_over_parameters_of_the_same_name() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let ada = server.member("ada").await;
    let path = format!("/users/{}", ada.user_id);
    let request = owner.request(Method::GET, &path).query(&[("user_id_or_email", "1")]);
    assert_eq!(request.send().await.ok()["user"]["user_id"], ada.user_id);
    let by_email = owner.get("/users/ada%40EXAMPLE.com", ()).await.ok();
    assert_eq!(by_email["user"]["user_id"], ada.user_id);
}

// conformance: conv-34, send-27
#[tokio::test]
async fn the_client_is_named_by_its_parameter_or_its_agent() {
    let server = TestServer::start().await;
    let anonymous = server.anonymous();
    let is_incompatible = async |agent: &str, parameter: &[(&str, &str); 1]| {
        let request = anonymous.request(Method::GET, "/server_settings").header("User-Agent", agent);
        request.query(parameter).send().await.ok()["is_incompatible"].clone()
    };
    assert_eq!(is_incompatible("ZulipInvalid/1.0 (Linux)", &[("client", "")]).await, true);
    assert_eq!(is_incompatible("ZulipInvalid", &[("client", "")]).await, true);
    assert_eq!(is_incompatible("ZulipInvalid/1.0", &[("client", "other")]).await, false);
    assert_eq!(is_incompatible("ZulipMobile/1.0", &[("client", "ZulipInvalid")]).await, true);
}

// conformance: conv-16
#[tokio::test]
async fn too_many_parameters_are_refused() {
    let server = TestServer::start().await;
    let body = vec!["a=1"; 1001].join("&");
    let request = server.anonymous().request(Method::POST, "/fetch_api_key");
    let answer = request.body("application/x-www-form-urlencoded", body).send().await;
    answer.error(400, "BAD_REQUEST", "Too many request parameters (limit: 1000)");
}

// conformance: conv-2
#[tokio::test]
async fn every_method_takes_parameters_from_the_query_string_and_the_body() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let bot = server.bot("helper", &owner).await;
    let snippet = owner.post("/saved_snippets", &[("title", "t"), ("content", "c")]).await.ok();
    let snippet = format!("/saved_snippets/{}", snippet["saved_snippet_id"]);
    let words = json!({"alert_words": ["a"]});
    let storage = json!({"storage": {"a": "b"}});
    let title = json!({"title": "title"});
    let cases = [
        (&owner, Method::POST, "/users/me/alert_words", words.clone()),
        (&owner, Method::DELETE, "/users/me/alert_words", words),
        (&owner, Method::PATCH, snippet.as_str(), title),
        (&bot, Method::PUT, "/bot_storage", storage),
        (&owner, Method::GET, "/users", json!({"client_gravatar": true})),
    ];
    for (client, method, path, parameters) in cases {
        let request = || client.request(method.clone(), path);
        request().query(&parameters).send().await.ok();
        request().form(&parameters).send().await.ok();
        request().multipart(&parameters, &[]).send().await.ok();
        // Query and body are combined.
        let both = request().query(&[("left", "1")]).form(&parameters);
        both.send().await.ok_ignoring(&["left"]);
        let both = request().query(&parameters).form(&[("right", "1")]);
        both.send().await.ok_ignoring(&["right"]);
    }
}

// conformance: conv-17, conv-18
#[tokio::test]
async fn an_answer_begins_with_its_result_and_ends_with_its_line() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let success = owner.get("/users/me/alert_words", ()).await;
    assert_eq!(success.bytes, b"{\"result\":\"success\",\"msg\":\"\",\"alert_words\":[]}\n");
    let error = owner.get("/users/9999", ()).await;
    assert_eq!(error.bytes, b"{\"result\":\"error\",\"msg\":\"No such user\",\"code\":\"BAD_REQUEST\"}\n");
}

// conformance: conv-32
#[tokio::test]
async fn messages_name_the_client_that_sent_them() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let long = "x".repeat(40);
    let cases = [
        ("ZulipPython/0.9.1 (Debian GNU/Linux; 12)", None, "ZulipPython"),
        ("curl", None, "curl"),
        ("ZulipPython/0.9.1", Some("my script"), "my script"),
        ("", None, "Unspecified"),
        ("", Some("website"), "website"),
        (long.as_str(), None, &long[..30]),
        ("curl/8", Some(long.as_str()), &long[..30]),
        ("curl/8", Some("phone\r\n\u{2028}\u{1b}[31m\u{202e}"), "phone[31m"),
        ("curl/8", Some("\n\u{2066}"), "curl"),
    ];
    for (agent, client, expected) in cases {
        let mut message = json!({"type": "direct", "to": [ada.user_id], "content": "hello"});
        if let Some(client) = client {
            message["client"] = json!(client);
        }
        let sent =
            ada.request(Method::POST, "/messages").header("User-Agent", agent).form(message).send().await;
        let id = sent.ok()["id"].as_i64().unwrap();
        assert_eq!(ada.message(id).await["client"], expected, "{agent:?} {client:?}");
    }
}

// conformance: conv-33
#[tokio::test]
async fn the_client_decides_whether_a_sender_has_read_their_message() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let bob = server.member("bob").await;
    let has_read = async |client: &str, read_by_sender: Option<bool>| {
        let mut message = json!({"type": "direct", "to": [bob.user_id], "content": "hi", "client": client});
        if let Some(read_by_sender) = read_by_sender {
            message["read_by_sender"] = json!(read_by_sender);
        }
        let id = ada.post("/messages", message).await.ok()["id"].as_i64().unwrap();
        ada.message(id).await["flags"] == json!(["read"])
    };
    for client in [
        "zulipandroid",
        "ZulipAndroid",
        "zulipios",
        "zulipdesktop",
        "ZulipMobile",
        "ZulipElectron",
        "ZulipTerminal",
        "snipe",
        "website",
        "WEBSITE",
        "ios",
        "Android",
    ] {
        assert!(has_read(client, None).await, "{client}");
        assert!(!has_read(client, Some(false)).await, "{client}");
    }
    for client in ["ZulipPython", "ZulipFlutter", "curl", "websites", "desktop app"] {
        assert!(!has_read(client, None).await, "{client}");
        assert!(has_read(client, Some(true)).await, "{client}");
    }
}

// conformance: conv-14
#[tokio::test]
async fn a_parameter_has_one_of_its_names() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let general = server.channel("general", &[&ada]).await;
    let with = |names: &[&str]| {
        let mut message = json!({"type": "channel", "to": general, "content": "hello"});
        for name in names {
            message[*name] = json!(" lunch ");
        }
        message
    };
    let id = ada.post("/messages", with(&["subject"])).await.ok()["id"].as_i64().unwrap();
    assert_eq!(ada.message(id).await["subject"], "lunch");
    let both = ada.post("/messages", with(&["subject", "topic"])).await;
    let msg = "Can't decide between 'topic' and 'subject' arguments";
    let error = both.error(400, "REQUEST_CONFUSING_VAR", msg);
    assert_eq!((&error["var_name1"], &error["var_name2"]), (&json!("topic"), &json!("subject")));
}

/// The published server refuses the 201st request of a minute. Tests of clients against this server need not wait.
// conformance: conv-40
#[tokio::test]
async fn no_client_asks_too_often() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    for _ in 0..250 {
        ada.get("/users/me/alert_words", ()).await.ok();
        server.anonymous().get("/server_settings", ()).await.ok();
    }
}

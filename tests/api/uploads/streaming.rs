//! Streaming uploads: nothing accumulates in memory, and aborted uploads leave nothing.

use super::{attachments, content, load, until, upload};
use crate::harness::{Client, TestServer};
use serde_json::json;
use std::fmt::Write as _;
use std::io::{Read, Write};
use std::net::TcpStream;
use teamchat::app::Options;

const PIECES: &str = "SELECT count(*) FROM upload_piece";
const MIB: usize = 1 << 20;

/// A whole request that uploads a file, and where its body begins.
fn request(client: &Client, file: &[u8]) -> (Vec<u8>, usize) {
    let part = "--edge\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.bin\"\r\n\r\n";
    let end = "\r\n--edge--\r\n";
    let mut head = "POST /api/v1/user_uploads HTTP/1.1\r\nHost: x\r\n".to_owned() + &client.authorization();
    head += "Content-Type: multipart/form-data; boundary=edge\r\n";
    write!(head, "Content-Length: {}\r\n\r\n", part.len() + file.len() + end.len()).unwrap();
    let body_at = head.len();
    ([head.as_bytes(), part.as_bytes(), file, end.as_bytes()].concat(), body_at)
}

/// Reads the head of an answer.
fn read_head(stream: &mut TcpStream) -> String {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        assert_eq!(stream.read(&mut byte).unwrap(), 1, "the head ends: {}", String::from_utf8_lossy(&head));
        head.push(byte[0]);
    }
    String::from_utf8(head).unwrap().to_lowercase()
}

// conformance: upload-6
#[tokio::test]
async fn a_file_is_written_while_it_arrives() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let file = content(8 * MIB);
    let (request, body_at) = request(&ada, &file);
    let mut stream = TcpStream::connect(server.address()).unwrap();
    let mut sent = 0;
    for arrived in [1, 3, 7] {
        // Data in the file so far: all received bytes except for the last piece.
        let now = body_at + arrived * MIB + 4096;
        stream.write_all(&request[sent..now]).unwrap();
        sent = now;
        until(&server, PIECES, arrived as i64 * 4).await;
        assert_eq!(attachments(&ada).await, json!([]), "nothing is there before all is");
        // Other requests are not delayed.
        ada.send_direct(&[&ada], "meanwhile").await;
    }
    stream.write_all(&request[sent..]).unwrap();
    assert!(read_head(&mut stream).starts_with("http/1.1 200"));
    let listed = attachments(&ada).await;
    let url = format!("/user_uploads/{}", listed[0]["path_id"].as_str().unwrap());
    assert!(load(&ada, &url).await.bytes == file);
}

// conformance: upload-15
#[tokio::test]
async fn a_file_is_read_while_it_is_sent() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let file = content(32 * MIB);
    let url = upload(&ada, "a.bin", &file).await;
    let mut stream = server.connect_with_small_buffer().await;
    let get = format!("GET {url} HTTP/1.1\r\nHost: x\r\n{}\r\n", ada.authorization());
    stream.write_all(get.as_bytes()).unwrap();
    let head = read_head(&mut stream);
    assert!(head.contains(&format!("content-length: {}\r\n", file.len())), "{head}");
    // Some of it is in network buffers; the rest is not in memory, so that it can be deleted.
    server.sql("DELETE FROM upload_piece WHERE number >= 100").await;
    let mut found = Vec::new();
    // The connection ends early, and the client knows it.
    let _ended = stream.read_to_end(&mut found);
    assert!(found.len() <= 100 * MIB / 4, "{}", found.len());
    assert!(found == file[..found.len()]);
    ada.get("/users/me", ()).await.ok();
}

// conformance: upload-6
#[tokio::test]
async fn an_upload_that_breaks_off_leaves_nothing() {
    let mut server = TestServer::start().await;
    let ada = server.member("ada").await;
    let (whole, body_at) = request(&ada, &content(900_000));
    let mut random = 0x2545_f491_4f6c_dd1d_u64;
    // The end of the last part is `--edge--`, and an optional line end.
    let last = whole.len() - 3;
    let mut cuts = vec![body_at, body_at + 1, last, last - 8];
    for _ in 0..12 {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        cuts.push(body_at + (random % (last - body_at) as u64) as usize);
    }
    for cut in cuts {
        let mut stream = TcpStream::connect(server.address()).unwrap();
        stream.write_all(&whole[..cut]).unwrap();
        drop(stream);
        assert_eq!(attachments(&ada).await, json!([]), "after {cut} bytes");
    }
    let kept = upload(&ada, "kept.bin", &content(600_000)).await;
    server.restart().await;
    // The three pieces of the whole file.
    until(&server, PIECES, 3).await;
    until(&server, "SELECT count(*) FROM upload_content", 1).await;
    assert!(load(&ada, &kept).await.bytes == content(600_000));
    assert_eq!(ada.get("/attachments", ()).await.ok()["upload_space_used"], 600_000);
}

#[tokio::test]
async fn a_crash_leaves_whole_files_only() {
    let mut server = TestServer::start().await;
    let ada = server.member("ada").await;
    let kept = upload(&ada, "kept.bin", &content(600_000)).await;
    let (whole, _) = request(&ada, &content(2 * MIB));
    let mut stream = TcpStream::connect(server.address()).unwrap();
    stream.write_all(&whole[..whole.len() - 5]).unwrap();
    // The body is complete except for its last five bytes. The last piece may be held back, depending on the
    // segmentation of the network.
    until(&server, "SELECT count(*) >= 3 + 7 FROM upload_piece", 1).await;
    server.crash().await;
    assert_eq!(attachments(&ada).await.as_array().unwrap().len(), 1);
    assert!(load(&ada, &kept).await.bytes == content(600_000));
    until(&server, PIECES, 3).await;
}

/// Data after the last part belongs to the body, not to the next request.
#[tokio::test]
async fn a_connection_goes_on_after_an_upload() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let part = "--edge\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\n\r\nhello";
    let body = format!("{part}\r\n--edge--\r\n{}", " ".repeat(300_000));
    let mut head = "POST /api/v1/user_uploads HTTP/1.1\r\nHost: x\r\n".to_owned() + &ada.authorization();
    head += "Content-Type: multipart/form-data; boundary=edge\r\nTransfer-Encoding: chunked\r\n\r\n";
    let upload = format!("{head}{:x}\r\n{body}\r\n0\r\n\r\n", body.len());
    let last = "GET /api/v1/server_settings HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
    let mut stream = TcpStream::connect(server.address()).unwrap();
    stream.write_all(format!("{upload}{upload}{last}").as_bytes()).unwrap();
    let mut answers = String::new();
    stream.read_to_string(&mut answers).unwrap();
    assert_eq!(answers.matches("HTTP/1.1 200").count(), 3, "{answers}");
}

#[tokio::test]
async fn a_body_may_arrive_in_single_bytes() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let part = "--edge\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\n\r\n";
    let file = "line\r\n--edg\r\n".repeat(100);
    let mut request = "POST /api/v1/user_uploads HTTP/1.1\r\nHost: x\r\n".to_owned() + &ada.authorization();
    request += "Content-Type: multipart/form-data; boundary=edge\r\nTransfer-Encoding: chunked\r\n\r\n";
    for byte in format!("{part}{file}\r\n--edge--\r\n").chars() {
        write!(request, "1\r\n{byte}\r\n").unwrap();
    }
    let mut stream = TcpStream::connect(server.address()).unwrap();
    stream.write_all((request + "0\r\n\r\n").as_bytes()).unwrap();
    assert!(read_head(&mut stream).starts_with("http/1.1 200"));
    let listed = attachments(&ada).await;
    let url = format!("/user_uploads/{}", listed[0]["path_id"].as_str().unwrap());
    assert_eq!(load(&ada, &url).await.bytes, file.as_bytes());
}

#[tokio::test]
async fn a_boundary_has_at_most_70_characters() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let upload = async |boundary: &str| {
        let body = format!(
            "--{boundary}\r\nContent-Disposition: form-data; name=\"f\"; filename=\"f\"\r\n\r\nhello\r\n--{boundary}--\r\n"
        );
        let request = ada.request(reqwest::Method::POST, "/user_uploads");
        request.body(&format!("multipart/form-data; boundary={boundary}"), body).send().await
    };
    upload(&"b".repeat(70)).await.ok();
    let msg = "Malformed multipart/form-data body: the boundary is too long";
    upload(&"b".repeat(71)).await.error(400, "BAD_REQUEST", msg);
}

#[tokio::test]
async fn headers_without_end_are_not_collected() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let endless = format!("--x\r\nContent-Disposition: {}", "a".repeat(MIB));
    let request = ada.request(reqwest::Method::POST, "/user_uploads");
    let refused = request.body("multipart/form-data; boundary=x", endless).send().await;
    assert_eq!(refused.header("connection"), "close");
    refused.error(413, "BAD_REQUEST", "Request body is too large");
    // Text between files is read and forgotten.
    let text = "t".repeat(3 * MIB);
    let body = format!(
        "--x\r\nContent-Disposition: form-data; name=\"text\"\r\n\r\n{text}\r\n\
         --x\r\nContent-Disposition: form-data; name=\"f\"; filename=\"f\"\r\n\r\nhello\r\n--x--\r\n"
    );
    let request = ada.request(reqwest::Method::POST, "/user_uploads");
    let answer = request.body("multipart/form-data; boundary=x", body).send().await;
    let url = answer.ok_ignoring(&["text"])["url"].as_str().unwrap().to_owned();
    assert_eq!(load(&ada, &url).await.bytes, b"hello");
}

/// The response has the names of parts that are no files.
#[tokio::test]
async fn long_names_of_parts_are_not_collected() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let names = |count: usize, length: usize| -> Vec<String> {
        (10..10 + count).map(|number| format!("{number}{}", "n".repeat(length - 2))).collect()
    };
    let upload = async |names: &[String]| {
        let part =
            |name: &String| format!("--x\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n\r\n");
        let body = names.iter().map(part).collect::<String>()
            + "--x\r\nContent-Disposition: form-data; name=\"f\"; filename=\"f\"\r\n\r\nhello\r\n--x--\r\n";
        ada.request(reqwest::Method::POST, "/user_uploads")
            .body("multipart/form-data; boundary=x", body)
            .send()
            .await
    };
    let short = names(64, 1024);
    let short: Vec<&str> = short.iter().map(String::as_str).collect();
    upload(&names(64, 1024)).await.ok_ignoring(&short);
    upload(&names(65, 1024)).await.error(413, "BAD_REQUEST", "Request body is too large");
    upload(&names(5, 200_000)).await.error(413, "BAD_REQUEST", "Request body is too large");
}

/// Concurrent uploads count, even if they are never completed.
// conformance: upload-3
#[tokio::test]
async fn unfinished_files_are_within_the_quota() {
    let server = TestServer::start_with(Options { upload_quota_mib: Some(2), ..Options::default() }).await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let (request, _) = request(&ada, &content(2 * MIB));
    let mut stream = TcpStream::connect(server.address()).unwrap();
    stream.write_all(&request[..request.len() - 1000]).unwrap();
    until(&server, PIECES, 7).await;
    let upload = async || {
        let request = bob.request(reqwest::Method::POST, "/user_uploads");
        request.multipart((), &[("f", "more", &content(MIB)[..])]).send().await
    };
    let full = "Upload would exceed your organization's upload quota.";
    upload().await.error(400, "REALM_UPLOAD_QUOTA", full);
    // Aborted once the server has noticed, or after a timeout.
    drop(stream);
    server.clock.advance(24 * 60 * 60);
    upload().await.ok();
}

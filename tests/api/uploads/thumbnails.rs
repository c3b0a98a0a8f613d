//! Thumbnails of images, and how messages show them.

use super::{load, png, upload};
use crate::harness::{TestServer, pictures};
use image::ImageFormat;
use reqwest::Method;
use serde_json::json;
use teamchat::domain::files::thumbnails::MAX_ANIMATION_SIZE;
use teamchat::domain::images::decoding::decode;

// conformance: md-34, upload-16
#[tokio::test]
async fn a_message_shows_an_image_by_its_thumbnail() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let bob = server.member("bob").await;
    let url = upload(&ada, "wide.png", &png(1680, 500)).await;
    let thumbnail = format!("{}/840x560.webp", url.replace("/user_uploads/", "/user_uploads/thumbnail/"));
    let id = ada.send_direct(&[&bob], &format!("[wide.png]({url})")).await;
    let shown = format!(
        "<p><a href=\"{url}\">wide.png</a></p>\n<div class=\"message_inline_image\"><a href=\"{url}\" \
         title=\"wide.png\"><img data-original-content-type=\"image/png\" \
         data-original-dimensions=\"1680x500\" src=\"{thumbnail}\"></a></div>"
    );
    assert_eq!(bob.message(id).await["content"], shown);
    let image = load(&bob, &thumbnail).await;
    assert_eq!((image.status, image.header("content-type")), (200, "image/webp"));
    assert_eq!(image.header("cache-control"), "private, immutable");
    let decoded = decode(&image.bytes).unwrap();
    assert_eq!((decoded.format, decoded.picture.dimensions()), (ImageFormat::WebP, (840, 250)));
    let again = bob.request_outside(Method::GET, &thumbnail);
    let again = again.header("If-None-Match", image.header("etag")).send().await;
    assert_eq!((again.status, again.bytes.len()), (304, 0));
    let head = bob.request_outside(Method::HEAD, &thumbnail).send().await;
    assert_eq!(head.header("content-length"), image.bytes.len().to_string());
    let narrow = json!([["has", "image"]]);
    let found = json!({"anchor": "newest", "num_before": 9, "num_after": 0, "narrow": narrow});
    assert_eq!(bob.get("/messages", found).await.ok()["messages"][0]["id"], id);
}

// conformance: upload-16
#[tokio::test]
async fn thumbnails_need_access_to_the_image() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let eve = server.member("eve").await;
    let url = upload(&ada, "small.png", &png(3, 2)).await;
    let thumbnail = format!("{}/840x560.webp", url.replace("/user_uploads/", "/user_uploads/thumbnail/"));
    let image = decode(&load(&ada, &thumbnail).await.bytes).unwrap();
    assert_eq!(image.picture.dimensions(), (3, 2), "small images do not grow");
    let forbidden = "You are not authorized to view this file.";
    load(&eve, &thumbnail).await.error(403, "BAD_REQUEST", forbidden);
    let login = "Not logged in: API authentication or user session required";
    load(&server.anonymous(), &thumbnail).await.error(401, "UNAUTHORIZED", login);
    for format in ["100x100.webp", "840x560.png", "840x560-anim.webp", "x"] {
        let other = thumbnail.replace("840x560.webp", format);
        load(&ada, &other).await.error(404, "BAD_REQUEST", "Not found");
    }
    let gone = "This file does not exist or has been deleted.";
    load(&ada, "/user_uploads/thumbnail/1/x/840x560.webp").await.error(404, "BAD_REQUEST", gone);
    let text = upload(&ada, "a.txt", b"text").await.replace("/user_uploads/", "/user_uploads/thumbnail/");
    load(&ada, &format!("{text}/840x560.webp")).await.error(404, "BAD_REQUEST", "Not found");
    let id = super::attachments(&ada).await[0]["id"].clone();
    ada.delete(&format!("/attachments/{id}"), ()).await.ok();
    load(&ada, &thumbnail).await.error(404, "BAD_REQUEST", gone);
}

// conformance: upload-17
#[tokio::test]
async fn other_files_are_links_without_preview() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let mut broken = png(30, 20);
    broken.truncate(50);
    // A header that announces more pixels than fit into memory.
    let mut bomb = png(1, 1);
    bomb[16..24].copy_from_slice(&[0, 0, 0xff, 0xff, 0, 0, 0xff, 0xff]);
    let mut checksum = flate2::Crc::new();
    checksum.update(&bomb[12..29]);
    bomb[29..33].copy_from_slice(&checksum.sum().to_be_bytes());
    let svg = b"<svg xmlns='http://www.w3.org/2000/svg'/>";
    let good = png(3, 2);
    let cases: [(&str, &[u8]); 5] =
        [("a.png", &broken), ("b.png", &bomb), ("c.svg", svg), ("d.png", b"hello"), ("e.txt", &good)];
    for (name, bytes) in cases {
        let url = upload(&ada, name, bytes).await;
        let id = ada.send_direct(&[&ada], &format!("[{name}]({url})")).await;
        let content = ada.message(id).await["content"].clone();
        assert_eq!(content, format!("<p><a href=\"{url}\">{name}</a></p>"), "{name}");
        assert_eq!(load(&ada, &url).await.bytes, bytes, "{name}");
    }
}

// conformance: upload-17
#[tokio::test]
async fn image_types_follow_from_content() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let url = upload(&ada, "photo.jpg", &png(3, 2)).await;
    assert_eq!(load(&ada, &url).await.header("content-type"), "image/png");
    let id = ada.send_direct(&[&ada], &url_alone(&server, &url)).await;
    let content = ada.message(id).await["content"].as_str().unwrap().to_owned();
    assert!(content.contains("data-original-content-type=\"image/png\""), "{content}");
}

/// Browsers show no HEIC and no TIFF: as `image/jpeg` they would be a broken picture.
// conformance: upload-17
#[tokio::test]
async fn images_are_served_as_what_they_are() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let heic: &[u8] = b"\0\0\0\x18ftypheic\0\0\0\0mif1heic";
    let cases: [(&str, &[u8], &str, &str); 10] = [
        ("a.jpg", heic, "image/heic", "attachment"),
        ("a.png", b"\0\0\0\x14ftypmif1\0\0\0\0mif1", "image/heif", "attachment"),
        ("a.jpg", b"\0\0\0\x14ftypavif\0\0\0\0mif1", "image/avif", "inline"),
        ("a.jpg", b"II*\0 little", "image/tiff", "attachment"),
        ("a.jpg", b"MM\0* big", "image/tiff", "attachment"),
        ("a.mp4", heic, "image/heic", "attachment"),
        ("a.heif", b"?", "image/heif", "attachment"),
        // What is no image stays harmless under the name of one.
        ("a.png", b"<html><script>alert(1)</script>", "image/png", "inline"),
        ("a.png", b"<svg xmlns='http://www.w3.org/2000/svg'/>", "image/png", "inline"),
        ("a.txt", heic, "text/plain; charset=utf-8", "inline"),
    ];
    for (name, bytes, content_type, disposition) in cases {
        let url = upload(&ada, name, bytes).await;
        let file = load(&ada, &url).await;
        let headers = ["content-type", "content-disposition", "x-content-type-options"];
        let expected = [content_type, &format!("{disposition}; filename=\"{name}\""), "nosniff"];
        assert_eq!(headers.map(|header| file.header(header)), expected, "{bytes:?}");
        if !name.ends_with("mp4") {
            let id = ada.send_direct(&[&ada], &format!("[{name}]({url})")).await;
            let content = ada.message(id).await["content"].clone();
            assert_eq!(content, format!("<p><a href=\"{url}\">{name}</a></p>"));
        }
    }
    // The images of accounts, emoji and organizations are decoded, whatever they are called.
    let owner = server.owner().await;
    let msg = "Could not decode image; did you upload an image file?";
    for path in ["/users/me/avatar", "/realm/icon", "/realm/logo", "/realm/emoji/photo"] {
        for bytes in [heic, b"II*\0 little", b"<svg xmlns='http://www.w3.org/2000/svg'/>"] {
            let request = owner.request(Method::POST, path);
            let fields = if path == "/realm/logo" { json!({"night": false}) } else { json!({}) };
            request.multipart(fields, &[("file", "a.png", bytes)]).send().await.error(400, "BAD_IMAGE", msg);
        }
    }
}

// conformance: md-32, upload-18
#[tokio::test]
async fn videos_and_sounds_are_shown_with_players() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let film = upload(&ada, "film.mp4", b"moving").await;
    let id = ada.send_direct(&[&ada], &format!("[film]({film})")).await;
    let content = ada.message(id).await["content"].as_str().unwrap().to_owned();
    let player = format!("<video preload=\"metadata\" src=\"{film}\"></video>");
    assert!(content.contains("message_inline_video") && content.contains(&player), "{content}");
    let sound = upload(&ada, "song.mp3", b"la la").await;
    let id = ada.send_direct(&[&ada], &format!("![song]({sound})")).await;
    let content = ada.message(id).await["content"].as_str().unwrap().to_owned();
    assert!(content.contains(&format!("<audio controls preload=\"metadata\" src=\"{sound}\"")), "{content}");
}

fn url_alone(server: &TestServer, url: &str) -> String {
    format!("http://{}{url}", server.address())
}

#[tokio::test]
async fn an_animation_moves_in_the_message() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let bob = server.member("bob").await;
    let file = pictures::gif(60, 40, &[pictures::RED, pictures::BLUE]);
    let url = upload(&ada, "anim.gif", &file).await;
    let thumbnail =
        format!("{}/840x560-anim.webp", url.replace("/user_uploads/", "/user_uploads/thumbnail/"));
    let id = ada.send_direct(&[&bob], &format!("[]({url})")).await;
    let shown = bob.message(id).await["content"].clone();
    let image = format!(
        "<img data-animated=\"true\" data-original-content-type=\"image/gif\" data-original-dimensions=\"60x40\" \
         src=\"{thumbnail}\">"
    );
    assert!(shown.as_str().unwrap().contains(&image), "{shown}");
    let moving = load(&bob, &thumbnail).await;
    assert_eq!((moving.header("content-type"), moving.bytes == file), ("image/gif", true));
    let still = load(&bob, &thumbnail.replace("-anim", "")).await;
    assert_eq!(still.header("content-type"), "image/webp");
    // One frame is a still image.
    let url = upload(&ada, "still.gif", &pictures::gif(60, 40, &[pictures::RED])).await;
    let none = format!("{}/840x560-anim.webp", url.replace("/user_uploads/", "/user_uploads/thumbnail/"));
    assert_eq!(load(&ada, &none).await.status, 404);
}

#[tokio::test]
async fn large_animations_become_still_images() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let mut file = pictures::gif(60, 40, &[pictures::RED, pictures::BLUE]);
    file.resize(MAX_ANIMATION_SIZE + 1, 0);
    let url = upload(&ada, "anim.gif", &file).await;
    let moving = format!("{}/840x560-anim.webp", url.replace("/user_uploads/", "/user_uploads/thumbnail/"));
    assert_eq!(load(&ada, &moving).await.status, 404);
    assert_eq!(load(&ada, &moving.replace("-anim", "")).await.status, 200);
}

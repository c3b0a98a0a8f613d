//! Uploaded files.

mod access;
mod cleaning;
mod download;
mod quota;
mod references;
mod streaming;
mod thumbnails;
mod upload;

use crate::harness::{Answer, Client, TestServer};
use reqwest::Method;
use serde_json::Value;
use teamchat::domain::images::scaling::to_png;

/// A byte of a file that differs from place to place, so that no piece can stand for another.
fn content(length: usize) -> Vec<u8> {
    (0..length).map(|at| (at % 251) as u8 ^ (at / 65_536) as u8).collect()
}

/// A PNG file of this size.
pub fn png(width: u32, height: u32) -> Vec<u8> {
    to_png(&image::RgbaImage::from_pixel(width, height, image::Rgba([200, 100, 50, 255]))).unwrap()
}

/// Uploads a file as most clients do. Returns its address, `/user_uploads/...`.
pub async fn upload(client: &Client, name: &str, content: &[u8]) -> String {
    let answer = client.request(Method::POST, "/user_uploads").multipart((), &[("file", name, content)]);
    answer.send().await.ok()["url"].as_str().unwrap().to_owned()
}

/// Requests a file.
pub async fn load(client: &Client, url: &str) -> Answer {
    client.request_outside(Method::GET, url).send().await
}

/// The caller's uploads.
async fn attachments(client: &Client) -> Value {
    client.get("/attachments", ()).await.ok()["attachments"].clone()
}

/// Waits until a query of one number answers this.
async fn until(server: &TestServer, query: &str, number: i64) {
    while server.column(query).await != [number.to_string()] {
        tokio::task::yield_now().await;
    }
}

/// A text that links to a file.
pub fn link(url: &str) -> String {
    format!("look: [file]({url})")
}

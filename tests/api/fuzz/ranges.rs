//! Range requests: for any headers, the bytes are those of the announced range.

use super::{Source, fuzz, runtime};
use crate::harness::TestServer;
use reqwest::Method;

const PIECES: &[&str] = &[
    "bytes",
    "=",
    "-",
    "0",
    "1",
    "9",
    "10",
    "99",
    "999",
    "1000",
    "1001",
    "300000",
    "18446744073709551615",
    "99999999999999999999",
    ",",
    " ",
    "\t",
    "items",
    "+",
    "a",
    "é",
    "*",
    "/",
    "\"",
];

#[test]
fn ranges() {
    let runtime = runtime();
    let content: Vec<u8> = (0..1000).map(|at| (at % 251) as u8).collect();
    let (_server, ada, url, etag) = runtime.block_on(async {
        let server = TestServer::start().await;
        let ada = server.member("ada").await;
        let files = [("file", "a.bin", content.as_slice())];
        let sent = ada.request(Method::POST, "/user_uploads").multipart((), &files).send().await.ok();
        let url = sent["url"].as_str().unwrap().to_owned();
        let etag = ada.request_outside(Method::GET, &url).send().await.header("etag").to_owned();
        (server, ada, url, etag)
    });
    fuzz!(|mut source: Source<'_>| {
        let method = source.pick(&[Method::GET, Method::GET, Method::HEAD].each_ref()).clone();
        let mut request = ada.request_outside(method.clone(), &url);
        let range = match source.below(3) {
            0 => source.text(PIECES, 12),
            1 => format!("bytes={}-", source.text(&PIECES[3..12], 3)),
            _ => format!("bytes={}-{}", source.below(1200), source.below(1200)),
        };
        let is_sendable = |text: &str| reqwest::header::HeaderValue::from_str(text).is_ok();
        if is_sendable(&range) {
            request = request.header("Range", &range);
        }
        for header in ["If-Range", "If-None-Match"] {
            let value = match source.below(6) {
                0 => etag.clone(),
                1 => format!("W/{etag}, \"x\""),
                2 => source.text(PIECES, 6),
                _ => continue,
            };
            if is_sendable(&value) {
                request = request.header(header, &value);
            }
        }
        let answer = runtime.block_on(request.send());
        let expected: &[u8] = match answer.status {
            200 => &content,
            206 => {
                let text = answer.header("content-range");
                let (part, size) = text.strip_prefix("bytes ").unwrap().split_once('/').unwrap();
                let (first, last) = part.split_once('-').unwrap();
                let (first, last): (usize, usize) = (first.parse().unwrap(), last.parse().unwrap());
                assert_eq!(size, "1000", "{answer}");
                &content[first..=last]
            }
            304 => &[],
            416 => {
                assert_eq!(answer.header("content-range"), "bytes */1000");
                return;
            }
            _ => panic!("{range:?}: {answer}"),
        };
        if answer.status != 304 {
            assert_eq!(answer.header("content-length"), expected.len().to_string(), "{range:?}");
        }
        let expected = if method == Method::HEAD { &[] } else { expected };
        assert_eq!(answer.bytes, expected, "{range:?}");
    });
}

//! Responses from the output of handlers, compressed if they are large.

use super::budgets::Reservation;
use super::page;
use super::reply::{ReplyBody, success_body};
use super::request_metrics::{REQUEST_ID, refused_id};
use super::response_body::ResponseBody;
use super::route::HandlerOutput;
use super::streamed;
use crate::error::ApiError;
use bytes::Bytes;
use flate2::read::GzDecoder;
use flate2::{Compress, Compression, Crc, FlushCompress, Status};
use hyper::header::{self, HeaderMap, HeaderValue};
use hyper::{Response, StatusCode};
use parking_lot::Mutex;
use std::io::Read;

/// The smallest response that is compressed, in bytes.
const MIN_COMPRESSED: usize = 4096;

const JSON: &str = "application/json";

pub(super) fn success(output: HandlerOutput, compress: bool) -> Response<ResponseBody> {
    let HandlerOutput { reply, ignored, headers, reservation } = output;
    let mut response = self::reply(reply, &ignored, compress, reservation.as_ref());
    insert_all(response.headers_mut(), &headers);
    if let (ResponseBody::Full(body), Some(reservation)) = (response.body_mut(), reservation) {
        *body = reservation.keep_with(std::mem::take(body));
    }
    response
}

fn reply(
    reply: ReplyBody,
    ignored: &[String],
    compress: bool,
    reservation: Option<&Reservation>,
) -> Response<ResponseBody> {
    match reply {
        ReplyBody::Json(members) => json(StatusCode::OK, success_body(members, ignored), compress),
        ReplyBody::Other(other) => {
            let status = StatusCode::from_u16(other.status).unwrap_or(StatusCode::OK);
            let is_text = other.content_type.starts_with("text/") || other.content_type == JSON;
            let is_packed = other.headers.iter().any(|(name, _)| *name == "Content-Encoding");
            let mut response =
                full(status, other.content_type, other.body, compress && is_text && !is_packed);
            if is_packed {
                response.headers_mut().insert(header::VARY, HeaderValue::from_static("Accept-Encoding"));
            }
            insert_all(response.headers_mut(), &other.headers);
            response
        }
        ReplyBody::Streamed(file) => {
            let status = StatusCode::from_u16(file.status).unwrap_or(StatusCode::OK);
            let stream = streamed::stream(file.source, file.length, reservation.cloned());
            let mut response = Response::new(ResponseBody::Streamed { remaining: file.length, stream });
            *response.status_mut() = status;
            let headers = response.headers_mut();
            headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(file.content_type));
            headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
            insert_all(headers, &file.headers);
            response
        }
    }
}

pub(super) fn failure(error: &ApiError) -> Response<ResponseBody> {
    let status = StatusCode::from_u16(error.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = match error.page() {
        Some(page) => {
            let mut response = full(status, page::HTML, Bytes::copy_from_slice(page.as_bytes()), false);
            insert_all(response.headers_mut(), &page::headers());
            response
        }
        None => json(status, error.body().to_string() + "\n", false),
    };
    insert_all(response.headers_mut(), error.headers());
    response
}

/// The response for an error before there is a route.
pub fn error_response(error: &ApiError) -> Response<ResponseBody> {
    let mut response = failure(error);
    if response.status().is_server_error() {
        let id = refused_id(response.status().as_u16());
        insert_all(response.headers_mut(), &[(REQUEST_ID, id)]);
    }
    response
}

fn insert_all(headers: &mut HeaderMap, more: &[(&'static str, String)]) {
    for (name, value) in more {
        if let Ok(value) = HeaderValue::from_str(value) {
            headers.append(*name, value);
        }
    }
}

fn json(status: StatusCode, body: String, compress: bool) -> Response<ResponseBody> {
    let mut response = full(status, JSON, body.into(), compress);
    // Messages and keys stay out of the caches of browsers and proxies.
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

fn full(
    status: StatusCode,
    content_type: &'static str,
    body: Bytes,
    compress: bool,
) -> Response<ResponseBody> {
    let large = body.len() >= MIN_COMPRESSED;
    let packed = if compress && large { gzip(&body) } else { None };
    let is_packed = packed.is_some();
    let mut response = Response::new(ResponseBody::Full(packed.map_or(body, Bytes::from)));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    if large {
        headers.insert(header::VARY, HeaderValue::from_static("Accept-Encoding"));
    }
    if is_packed {
        headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    response
}

/// A compressor that is not in use. A new one takes a fifth of the time of compressing a page of messages.
static SPARE_COMPRESSOR: Mutex<Option<Compress>> = Mutex::new(None);

/// The header of gzip (RFC 1952): deflate, without flags and time, by an unknown system.
const GZIP_HEADER: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];

/// Compresses a body. Large states are a fifth smaller with this level than with the fastest one, and take little longer.
fn gzip(body: &[u8]) -> Option<Vec<u8>> {
    tokio::task::block_in_place(|| {
        let spare = || SPARE_COMPRESSOR.lock();
        let kept = spare().take();
        let mut compressor = kept.unwrap_or_else(|| Compress::new(Compression::new(3), false));
        compressor.reset();
        let mut packed = Vec::with_capacity(body.len() / 4 + 64);
        packed.extend_from_slice(&GZIP_HEADER);
        loop {
            let rest = body.get(usize::try_from(compressor.total_in()).ok()?..)?;
            match compressor.compress_vec(rest, &mut packed, FlushCompress::Finish).ok()? {
                Status::StreamEnd => break,
                Status::Ok | Status::BufError => packed.reserve(packed.len()),
            }
        }
        *spare() = Some(compressor);
        let mut checksum = Crc::new();
        checksum.update(body);
        packed.extend_from_slice(&checksum.sum().to_le_bytes());
        packed.extend_from_slice(&checksum.amount().to_le_bytes());
        Some(packed)
    })
}

/// Unpacks a file that the program has in it, for the few clients that do not accept gzip.
pub fn unpacked(gzip: &[u8]) -> Bytes {
    let mut plain = Vec::new();
    GzDecoder::new(gzip).read_to_end(&mut plain).map(|_| plain).unwrap_or_default().into()
}

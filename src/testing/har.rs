//! Writes exchanges to a file as HTTP Archive (HAR 1.2), which browsers and many tools read.

use super::redaction::{REDACTED, headers_without_secrets, redact_json, redact_pairs, redact_paths};
use super::requests::{BODY_LIMIT, form_of};
use bytes::Bytes;
use flate2::read::GzDecoder;
use hyper::header::{self, HeaderMap};
use hyper::{Method, StatusCode, Uri};
use parking_lot::Mutex;
use serde_json::{Value, json};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;

/// The largest decompressed body.
const DECOMPRESSED_LIMIT: u64 = 8 << 20;

const END: &[u8] = b"\n]}}\n";

/// The file. It is complete after each exchange: every write replaces the end of the JSON text.
pub struct Har(Mutex<Writing>);

struct Writing {
    file: File,
    /// Offset of the end of the text.
    end: u64,
    is_empty: bool,
}

/// A request and its response.
pub struct Exchange<'a> {
    /// When it began, UNIX milliseconds.
    pub started: i64,
    /// Duration in milliseconds.
    pub duration: f64,
    /// The HTTP method.
    pub method: &'a Method,
    /// The path and query string.
    pub uri: &'a Uri,
    /// The headers of the request.
    pub headers: &'a HeaderMap,
    /// The body of the request.
    pub body: Bytes,
    /// Status, headers and body of the response; `None` if the connection ended without one.
    pub response: Option<(StatusCode, &'a HeaderMap, Bytes)>,
}

impl Har {
    /// Creates the file, or empties it. Only its owner may read it.
    pub fn create(path: &Path) -> std::io::Result<Self> {
        let mut options = File::options();
        options.write(true).create(true).truncate(true);
        #[cfg(unix)]
        {
            use std::os::unix::fs::OpenOptionsExt;
            options.mode(0o600);
        }
        let mut file = options.open(path)?;
        let creator = json!({"name": "teamchat", "version": env!("CARGO_PKG_VERSION")});
        let head = format!("{{\"log\":{{\"version\":\"1.2\",\"creator\":{creator},\"entries\":[");
        file.write_all(&[head.as_bytes(), END].concat())?;
        Ok(Self(Mutex::new(Writing { file, end: head.len() as u64, is_empty: true })))
    }

    /// Appends an exchange.
    pub fn add(&self, exchange: &Exchange<'_>) {
        let entry = exchange.entry().to_string();
        let mut writing = self.0.lock();
        if let Err(error) = writing.append(&entry) {
            tracing::warn!(%error, "an exchange was not recorded");
        }
    }
}

impl Writing {
    fn append(&mut self, entry: &str) -> std::io::Result<()> {
        let separator = if self.is_empty { "\n" } else { ",\n" };
        // One write, so that the file is valid before and after it.
        let text = [separator.as_bytes(), entry.as_bytes(), END].concat();
        self.file.seek(SeekFrom::Start(self.end))?;
        self.file.write_all(&text)?;
        self.end += (separator.len() + entry.len()) as u64;
        self.is_empty = false;
        Ok(())
    }
}

impl Exchange<'_> {
    fn entry(&self) -> Value {
        let time =
            jiff::Timestamp::from_millisecond(self.started).map(|time| time.to_string()).unwrap_or_default();
        let mut entry = json!({
            "startedDateTime": time,
            "time": self.duration,
            "request": self.request(),
            "response": self.response(),
            "cache": {},
            "timings": {"send": 0, "wait": self.duration, "receive": 0},
        });
        if self.response.is_none() {
            entry["comment"] = "the connection ended without a response".into();
        }
        entry
    }

    fn request(&self) -> Value {
        let host = self.headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or("localhost");
        let query = self.uri.query().unwrap_or_default();
        let query = redact_pairs(form_urlencoded::parse(query.as_bytes()));
        let mut url = format!("http://{host}{}", redact_paths(self.uri.path()));
        if !query.is_empty() {
            let mut text = form_urlencoded::Serializer::new(String::new());
            for (name, value) in &query {
                text.append_pair(name, value);
            }
            url = format!("{url}?{}", text.finish());
        }
        let mut request = json!({
            "method": self.method.as_str(),
            "url": url,
            "httpVersion": "HTTP/1.1",
            "cookies": [],
            "headers": headers(self.headers),
            "queryString": pairs(&query),
            "headersSize": -1,
            "bodySize": self.body.len(),
        });
        if !self.body.is_empty() {
            let mime_type = content_type(self.headers);
            let is_form = mime_type.starts_with("application/x-www-form-urlencoded");
            request["postData"] = if is_form {
                let form = redact_pairs(form_urlencoded::parse(&self.body));
                let mut text = form_urlencoded::Serializer::new(String::new());
                for (name, value) in &form {
                    text.append_pair(name, value);
                }
                json!({"mimeType": mime_type, "params": pairs(&form), "text": text.finish()})
            } else {
                // Fields of multipart bodies may be secrets, too: only their names are kept.
                let form = form_of(&mime_type, &self.body);
                let names: Vec<(String, String)> =
                    form.into_iter().map(|(name, _)| (name, String::new())).collect();
                json!({"mimeType": mime_type, "params": pairs(&names), "text": ""})
            };
        }
        request
    }

    fn response(&self) -> Value {
        let no_headers = HeaderMap::new();
        let (status, response_headers, body) = match &self.response {
            Some((status, headers, body)) => (Some(*status), *headers, body.clone()),
            None => (None, &no_headers, Bytes::new()),
        };
        let mime_type = content_type(response_headers);
        let size = body.len();
        let plain = decompressed(response_headers, body);
        let mut content = json!({"size": plain.len(), "mimeType": mime_type});
        if plain.len() <= BODY_LIMIT {
            match std::str::from_utf8(&plain) {
                // The page shown after a sign-up contains the API key, the form before it the key of an invitation.
                Ok(_)
                    if mime_type.starts_with("text/html")
                        && ["/join/", "/register/", "/accounts/home/"]
                            .iter()
                            .any(|start| self.uri.path().starts_with(start)) =>
                {
                    content["text"] = REDACTED.into();
                }
                // The address of a channel is a secret.
                Ok(_) if self.uri.path().ends_with("/email_address") => content["text"] = REDACTED.into(),
                Ok(text) => content["text"] = redact_json(text).into(),
                Err(_) => {
                    use base64::Engine;
                    content["text"] = base64::engine::general_purpose::STANDARD.encode(&plain).into();
                    content["encoding"] = "base64".into();
                }
            }
        }
        json!({
            "status": status.map_or(0, |status| status.as_u16()),
            "statusText": status.and_then(|status| status.canonical_reason()).unwrap_or_default(),
            "httpVersion": "HTTP/1.1",
            "cookies": [],
            "headers": headers(response_headers),
            "content": content,
            "redirectURL": "",
            "headersSize": -1,
            "bodySize": size,
        })
    }
}

fn content_type(headers: &HeaderMap) -> String {
    let value = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    value.unwrap_or_default().to_owned()
}

fn decompressed(headers: &HeaderMap, body: Bytes) -> Bytes {
    if headers.get(header::CONTENT_ENCODING).is_none_or(|encoding| encoding != "gzip") {
        return body;
    }
    let mut plain = Vec::new();
    match GzDecoder::new(&*body).take(DECOMPRESSED_LIMIT).read_to_end(&mut plain) {
        Ok(_) => plain.into(),
        Err(_) => body,
    }
}

fn headers(headers: &HeaderMap) -> Value {
    headers_without_secrets(headers).map(|(name, value)| json!({"name": name, "value": value})).collect()
}

fn pairs(list: &[(String, String)]) -> Value {
    list.iter().map(|(name, value)| json!({"name": name, "value": value})).collect()
}

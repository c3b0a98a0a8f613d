//! Requests that servers of the tests receive.

use std::collections::HashMap;
use std::io::{BufRead, Result};

/// A request over HTTP/1.1 with a `Content-Length`, or without a body.
#[derive(Debug)]
pub struct Received {
    pub method: String,
    /// The path with its query.
    pub path: String,
    /// Values by name, in lower case.
    pub headers: HashMap<String, String>,
    pub body: Vec<u8>,
}

impl Received {
    /// Reads a request; `None` if the connection ends before it.
    pub fn read(reader: &mut impl BufRead) -> Result<Option<Self>> {
        let mut first = String::new();
        if reader.read_line(&mut first)? == 0 {
            return Ok(None);
        }
        let mut headers = HashMap::new();
        loop {
            let mut line = String::new();
            reader.read_line(&mut line)?;
            let Some((name, value)) = line.trim_end().split_once(": ") else { break };
            headers.insert(name.to_lowercase(), value.to_owned());
        }
        let mut body = vec![0; headers.get("content-length").map_or(0, |length| length.parse().unwrap())];
        reader.read_exact(&mut body)?;
        let mut words = first.split(' ').map(str::to_owned);
        let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        Ok(Some(Self { method, path, headers, body }))
    }

    /// The value of a header, or an empty text.
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }
}

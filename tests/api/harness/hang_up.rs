//! Clients that hang up before the response.

use super::{Client, TestServer, until};
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};

impl TestServer {
    /// Sends a form, and hangs up when a condition holds. `line` is the method and the path. Returns when the server has ended
    /// the request.
    pub async fn hang_up(&self, client: &Client, (line, form): (&str, &str), when: impl Fn() -> bool) {
        let request = format!(
            "{line} HTTP/1.1\r\nHost: x\r\n{}Content-Type: application/x-www-form-urlencoded\r\n\
             Content-Length: {}\r\n\r\n{form}",
            client.authorization(),
            form.len()
        );
        let mut stream = TcpStream::connect(self.address()).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        until(when).await;
        stream.shutdown(Shutdown::Write).unwrap();
        let mut response = Vec::new();
        let _closed = stream.read_to_end(&mut response);
        assert!(response.is_empty(), "{line}: {}", String::from_utf8_lossy(&response));
    }
}

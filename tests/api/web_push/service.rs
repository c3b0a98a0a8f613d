//! A push service for tests, with TLS, and browsers that decrypt what it gets.

use crate::harness::{Client, OUTGOING_TIMEOUT, Received, TestServer};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use p256::elliptic_curve::sec1::ToSec1Point;
use p256::{PublicKey, SecretKey};
use rand::RngExt;
use rcgen::{CertifiedKey, generate_simple_self_signed};
use ring::aead::{AES_128_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use ring::signature::{ECDSA_P256_SHA256_FIXED, UnparsedPublicKey};
use serde_json::{Value, json};
use sha2::Sha256;
use std::collections::{HashMap, VecDeque};
use std::io::{BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::{Arc, Barrier, Mutex};
use std::thread;
use teamchat::app::{Options, Overrides, WebPush};
use teamchat::domain::logins::known::LoginSource;
use teamchat::domain::logins::sessions;
use teamchat::types::UserId;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;
use tokio_rustls::rustls::{ServerConfig, ServerConnection, StreamOwned};

/// The answer of the service to a request.
#[derive(Clone, Debug)]
pub enum Reply {
    /// With a status, and lines of the head, each with its end.
    Status(u16, &'static str),
    /// Not at all, and the connection stays open.
    Silence,
    /// With bytes that are not HTTP.
    Noise,
    /// With a head that does not end.
    Endless,
    /// With a body that does not end.
    EndlessBody,
    /// With a status, once the test has come to the barrier as well.
    Held(Arc<Barrier>, u16),
}

pub struct PushService {
    pub port: u16,
    /// Its certificate, in PEM.
    pub certificate: String,
    requests: UnboundedReceiver<Received>,
    replies: Arc<Mutex<Replies>>,
}

/// The next replies, and by path that to all requests; 201 otherwise.
#[derive(Default)]
struct Replies {
    next: VecDeque<Reply>,
    by_path: HashMap<String, Reply>,
}

impl PushService {
    /// A service, and a server that may ask it.
    pub async fn with_server() -> (Self, TestServer) {
        let service = Self::start();
        let server = TestServer::start_with(service.options()).await;
        (service, server)
    }

    /// The same, with Ada, who is notified in a browser, with Bob, and with the browser.
    pub async fn with_reader() -> (Self, TestServer, Client, Client, Browser) {
        let (service, server) = Self::with_server().await;
        let (ada, bob) = (server.member("ada").await, server.member("bob").await);
        let browser = Browser::subscribed(&server, &ada, &service).await;
        (service, server, ada, bob, browser)
    }

    pub fn start() -> Self {
        let CertifiedKey { cert, signing_key } =
            generate_simple_self_signed(vec!["127.0.0.1".to_owned(), "localhost".to_owned()]).unwrap();
        let key = PrivateKeyDer::try_from(signing_key.serialize_der()).unwrap();
        let config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![cert.der().clone()], key)
            .unwrap();
        let config = Arc::new(config);
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let replies = Arc::new(Mutex::new(Replies::default()));
        let (sender, requests) = unbounded_channel();
        let (config, known) = (config, Arc::clone(&replies));
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (config, known, sender) = (Arc::clone(&config), Arc::clone(&known), sender.clone());
                thread::spawn(move || drop(serve(config, stream.unwrap(), &known, &sender)));
            }
        });
        Self { port, certificate: cert.pem(), requests, replies }
    }

    /// The next replies.
    pub fn reply(&self, replies: impl IntoIterator<Item = Reply>) {
        self.replies.lock().unwrap().next.extend(replies);
    }

    /// The reply to all requests of a browser from now on.
    pub fn always(&self, browser: &Browser, reply: Reply) {
        self.replies.lock().unwrap().by_path.insert(browser.path.clone(), reply);
    }

    /// Options of a server that may ask the service.
    pub fn options(&self) -> Options {
        let (hosts, authorities) = (vec!["127.0.0.1:*".to_owned()], Some(self.certificate.clone()));
        let web_push = WebPush { is_off: false, hosts, authorities };
        Options {
            web_push,
            overrides: Overrides { outgoing_timeout: Some(OUTGOING_TIMEOUT), ..Overrides::default() },
            ..Options::default()
        }
    }

    /// Waits for the next request.
    pub async fn next(&mut self) -> Received {
        self.requests.recv().await.unwrap()
    }

    /// Requests that have come, once all that is due was sent.
    pub async fn all(&mut self, server: &TestServer) -> Vec<Received> {
        teamchat::scheduler::settle(server.app()).await;
        let mut found = Vec::new();
        while let Ok(pushed) = self.requests.try_recv() {
            found.push(pushed);
        }
        found
    }
}

fn serve(
    config: Arc<ServerConfig>,
    stream: TcpStream,
    replies: &Mutex<Replies>,
    sender: &UnboundedSender<Received>,
) -> std::io::Result<()> {
    let connection = ServerConnection::new(config).unwrap();
    let mut reader = BufReader::new(StreamOwned::new(connection, stream));
    let Some(pushed) = Received::read(&mut reader)? else { return Ok(()) };
    assert_eq!(pushed.method, "POST");
    let reply = {
        let mut replies = replies.lock().unwrap();
        let always = replies.by_path.get(&pushed.path).cloned();
        always.or_else(|| replies.next.pop_front()).unwrap_or(Reply::Status(201, ""))
    };
    let _no_test_waits = sender.send(pushed);
    let stream = reader.get_mut();
    match reply {
        Reply::Status(status, head) => {
            write!(stream, "HTTP/1.1 {status} X\r\n{head}Content-Length: 0\r\n\r\n")?;
        }
        Reply::Held(barrier, status) => {
            barrier.wait();
            write!(stream, "HTTP/1.1 {status} X\r\nContent-Length: 0\r\n\r\n")?;
        }
        Reply::Silence => {
            // Until the other side ends the connection.
            stream.read_to_end(&mut Vec::new())?;
        }
        Reply::Noise => stream.write_all(b"\x00\xffSSH-2.0 no HTTP\r\n\r\n")?,
        Reply::Endless => {
            stream.write_all(b"HTTP/1.1 201 X\r\n")?;
            loop {
                stream.write_all(b"X-More: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n")?;
            }
        }
        Reply::EndlessBody => {
            stream.write_all(b"HTTP/1.1 201 X\r\nTransfer-Encoding: chunked\r\n\r\n")?;
            loop {
                stream.write_all(b"10\r\naaaaaaaaaaaaaaaa\r\n")?;
            }
        }
    }
    stream.flush()?;
    stream.conn.send_close_notify();
    stream.flush()
}

/// A browser with a session and a subscription.
pub struct Browser {
    /// Its user, with the session.
    pub client: Client,
    pub session_id: i64,
    path: String,
    secret_key: SecretKey,
    auth: [u8; 16],
}

pub fn base64url(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

impl Browser {
    /// A browser in which a user has logged in, without a subscription.
    pub async fn log_in(server: &TestServer, client: &Client) -> Self {
        let user_id = UserId(client.user_id);
        let source = LoginSource { client: "Firefox".to_owned(), address: Ipv4Addr::LOCALHOST.into() };
        let begun = server.app().writer.run(move |tx| {
            let secret = sessions::begin(tx, user_id, &source)?;
            let newest = "SELECT max(id) FROM session";
            Ok::<_, teamchat::http::ApiError>((secret, tx.query_row(newest, [], |row| row.get(0))?))
        });
        let (secret, session_id): (String, i64) = begun.await.unwrap();
        let mut random = [0; 32];
        random.fill_with(|| rand::rng().random());
        random[0] &= 0x7f;
        let secret_key = SecretKey::from_slice(&random).unwrap();
        let (client, path) = (client.in_browser(Some(secret)), format!("/push/{session_id}?secret"));
        Self { client, session_id, path, secret_key, auth: rand::rng().random() }
    }

    /// The parameters of its subscription at a service.
    pub fn subscription(&self, service: &PushService) -> Value {
        json!({"endpoint": format!("https://127.0.0.1:{}{}", service.port, self.path),
            "p256dh": base64url(&self.public_key()), "auth": base64url(&self.auth)})
    }

    /// A browser that has turned notifications on.
    pub async fn subscribed(server: &TestServer, client: &Client, service: &PushService) -> Self {
        let browser = Self::log_in(server, client).await;
        browser.client.get("/users/me/web_push", ()).await.ok();
        browser.client.post("/users/me/web_push", browser.subscription(service)).await.ok();
        browser
    }

    fn public_key(&self) -> Vec<u8> {
        let bytes = self.secret_key.public_key().to_sec1_point(false).as_bytes().to_vec();
        assert_eq!(bytes.len(), 65, "uncompressed");
        bytes
    }

    /// Decrypts a request for this browser (RFC 8291).
    pub fn read(&self, pushed: &Received) -> Value {
        assert_eq!(pushed.path, self.path);
        serde_json::from_slice(&self.decrypt(&pushed.body)).unwrap()
    }

    fn decrypt(&self, body: &[u8]) -> Vec<u8> {
        let (salt, rest) = body.split_at(16);
        assert_eq!(rest[..5], [0, 0, 16, 0, 65], "one record of 4096 bytes, and a key");
        let (sender, sealed) = rest[5..].split_at(65);
        let shared = self.secret_key.diffie_hellman(&PublicKey::from_sec1_bytes(sender).unwrap());
        let agreed = mac(&self.auth, &[shared.raw_secret_bytes()]);
        let input = mac(&agreed, &[b"WebPush: info\0", &self.public_key(), sender, b"\x01"]);
        let extracted = mac(salt, &[&input]);
        let key = mac(&extracted, &[b"Content-Encoding: aes128gcm\0\x01"]);
        let nonce = mac(&extracted, &[b"Content-Encoding: nonce\0\x01"]);
        let key = LessSafeKey::new(UnboundKey::new(&AES_128_GCM, &key[..16]).unwrap());
        let nonce = Nonce::try_assume_unique_for_key(&nonce[..12]).unwrap();
        let mut sealed = sealed.to_vec();
        let mut opened = key.open_in_place(nonce, Aad::empty(), &mut sealed).unwrap().to_vec();
        while opened.last() == Some(&0) {
            opened.pop();
        }
        assert_eq!(opened.pop(), Some(2), "the last record");
        opened
    }
}

fn mac(key: &[u8], parts: &[&[u8]]) -> Vec<u8> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).unwrap();
    for part in parts {
        mac.update(part);
    }
    mac.finalize().into_bytes().to_vec()
}

/// Checks the header `Authorization` (RFC 8292), and returns the claims.
pub fn claims_of(pushed: &Received, public_key: &str) -> Value {
    let header = pushed.headers["authorization"].strip_prefix("vapid t=").unwrap();
    let (token, key) = header.split_once(", k=").unwrap();
    assert_eq!(key, public_key);
    let (signed, signature) = token.rsplit_once('.').unwrap();
    let decoded = |text: &str| URL_SAFE_NO_PAD.decode(text).unwrap();
    UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, decoded(key))
        .verify(signed.as_bytes(), &decoded(signature))
        .unwrap();
    serde_json::from_slice(&decoded(signed.split('.').nth(1).unwrap())).unwrap()
}

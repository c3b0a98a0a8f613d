//! The server behind nginx and Caddy, with the configurations of `docs/reverse-proxies.md`.
//!
//! `.ci/run` installs both.

use crate::authority::{Answer, Authority, Files, NAME, address_of, exchange, request, secure, with};
use crate::doctor::examine;
use crate::ports::ReservedPort;
use crate::program::{Serving, command, create_owner, words};
use crate::requirements::program_or_skip;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use hyper::{Request, Version};
use hyper_util::rt::{TokioExecutor, TokioIo};
use serde_json::Value;
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use tokio::net::{TcpSocket, TcpStream};
use tokio_rustls::client::TlsStream;

const PAGE: &str = include_str!("../../docs/reverse-proxies.md");

/// The upstream server in the page.
const UPSTREAM: &str = "127.0.0.1:9991";

const EMAIL: &str = "ada@example.com";

/// The first block of the page in a language.
fn block(language: &str) -> &'static str {
    let start = format!("```{language}\n");
    PAGE.split_once(&start).unwrap().1.split_once("```").unwrap().0
}

/// The command of nginx with the block of the page.
fn nginx(program: &Path, folder: &Path, files: &Files, listen: SocketAddr, upstream: SocketAddr) -> Command {
    let path = folder.display();
    let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
    let temporary = temporary.map(|name| format!("{name}_temp_path {path}/{name};")).join("\n");
    let configuration = format!(
        "daemon off;
         master_process off;
         pid {path}/nginx.pid;
         error_log {path}/proxy.log;
         events {{}}
         http {{
             access_log off;
             {temporary}
             server {{
                 listen {listen} ssl http2;
                 server_name {NAME};
                 ssl_certificate {};
                 ssl_certificate_key {};
                 {}
             }}
         }}",
        files.certificate.display(),
        files.key.display(),
        block("nginx").replace(UPSTREAM, &upstream.to_string())
    );
    let file = folder.join("nginx.conf");
    std::fs::write(&file, configuration).unwrap();
    let mut command = Command::new(program);
    command.arg("-p").arg(folder).arg("-c").arg(file).arg("-e").arg(folder.join("proxy.log"));
    command
}

/// The command of Caddy with the site of the page.
fn caddy(program: &Path, folder: &Path, files: &Files, listen: SocketAddr, upstream: SocketAddr) -> Command {
    let site = block("caddyfile").replace(UPSTREAM, &upstream.to_string());
    let (name, rest) = site.split_once(" {\n").unwrap();
    let configuration = format!(
        "{{
             admin off
             auto_https disable_redirects
         }}
         {name}:{} {{
             bind {}
             tls {} {}
         {rest}",
        listen.port(),
        listen.ip(),
        files.certificate.display(),
        files.key.display(),
    );
    let file = folder.join("Caddyfile");
    std::fs::write(&file, configuration).unwrap();
    let mut command = Command::new(program);
    command.args(["run", "--adapter", "caddyfile", "--config"]).arg(file);
    command.env("HOME", folder).env("XDG_DATA_HOME", folder).env("XDG_CONFIG_HOME", folder);
    command
}

/// Writes the configuration of a proxy into a folder, and returns its command.
type Configure = fn(&Path, &Path, &Files, SocketAddr, SocketAddr) -> Command;

/// A server behind a proxy.
struct Proxied {
    proxy: Child,
    serving: Serving,
    authority: Authority,
    address: SocketAddr,
    authorization: String,
    password: String,
    folder: tempfile::TempDir,
}

impl Proxied {
    /// Starts the server and a proxy; `None` if the proxy is not installed, and need not be.
    async fn start(program: &str, configure: Configure) -> Option<Self> {
        Self::start_as(program, configure, NAME, &["--trusted-proxy", "127.0.0.1"]).await
    }

    /// Likewise for another host, with other flags of the server.
    async fn start_as(program: &str, configure: Configure, host: &str, flags: &[&str]) -> Option<Self> {
        let path = program_or_skip(program)?;
        let folder = tempfile::tempdir().unwrap();
        let authority = Authority::new();
        let files = authority.issue(folder.path(), &[host], 90);
        let account = create_owner(folder.path());
        let reserved = ReservedPort::new();
        let address = reserved.address();
        let url = format!("https://{host}:{}", address.port());
        let flags = [&["--listen", "127.0.0.1:0", "--public-url", &url], flags].concat();
        let serving = Serving::start(folder.path(), &flags);
        let log =
            std::fs::File::options().create(true).append(true).open(folder.path().join("proxy.log")).unwrap();
        let mut command = configure(&path, folder.path(), &files, address, address_of(&serving.origin()));
        let mut proxy = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).spawn().unwrap();
        while TcpStream::connect(address).await.is_err() {
            let end = proxy.try_wait().unwrap();
            let log = || std::fs::read_to_string(folder.path().join("proxy.log")).unwrap();
            assert!(end.is_none(), "{program}: {end:?}: {}", log());
            tokio::task::yield_now().await;
        }
        let (key, password) = (account["api_key"].as_str().unwrap(), account["password"].as_str().unwrap());
        let authorization = format!("Basic {}", STANDARD.encode(format!("{EMAIL}:{key}")));
        let password = password.to_owned();
        Some(Self { proxy, serving, authority, address, authorization, password, folder })
    }

    fn url(&self, path: &str) -> String {
        format!("https://{NAME}:{}/api/v1{path}", self.address.port())
    }

    /// A connection from an address of this machine.
    async fn connect(&self, from: &str, protocol: &[u8]) -> TlsStream<TcpStream> {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind(SocketAddr::new(from.parse().unwrap(), 0)).unwrap();
        let stream = socket.connect(self.address).await.unwrap();
        secure(self.authority.roots(), stream, NAME, &[protocol]).await.unwrap()
    }

    /// Sends a request over HTTP/2 from an address of this machine.
    async fn send_from(&self, from: &str, request: Request<Full<Bytes>>) -> Answer {
        let answer = exchange(self.connect(from, b"h2").await, Version::HTTP_2, request).await;
        assert_eq!(answer.version, Version::HTTP_2);
        answer
    }

    /// A request of the owner.
    fn request(&self, method: &str, path: &str, form: &[(&str, &str)]) -> Request<Full<Bytes>> {
        with(request(method, &self.url(path), form), "authorization", &self.authorization)
    }

    /// Its answer, which is a success.
    async fn call(&self, method: &str, path: &str, form: &[(&str, &str)]) -> Value {
        let answer = self.send_from("127.0.0.2", self.request(method, path, form)).await;
        assert_eq!(answer.status, 200, "{:?}", answer.body);
        answer.json()
    }

    /// The request of a poll on a new queue.
    async fn new_poll(&self) -> Request<Full<Bytes>> {
        let types = r#"["message"]"#;
        let queue =
            self.call("POST", "/register", &[("event_types", types), ("fetch_event_types", "[]")]).await;
        let path = format!(
            "/events?queue_id={}&last_event_id={}",
            queue["queue_id"].as_str().unwrap(),
            queue["last_event_id"]
        );
        self.request("GET", &path, &[])
    }

    /// Logs in with a password; the client claims another address.
    async fn log_in(&self, from: &str, password: &str) -> u16 {
        let form = [("username", EMAIL), ("password", password)];
        let login = request("POST", &self.url("/fetch_api_key"), &form);
        self.send_from(from, with(login, "x-forwarded-for", "203.0.113.9")).await.status
    }

    /// The address and the number of occurrences of each entry of an action in the audit log.
    async fn addresses(&self, action: &str) -> Vec<(String, i64)> {
        let listed = self.call("GET", &format!("/audit_log?action={action}"), &[]).await;
        let entries = listed["entries"].as_array().unwrap().iter();
        entries
            .map(|entry| (entry["address"].as_str().unwrap().to_owned(), entry["times"].as_i64().unwrap()))
            .collect()
    }

    async fn addresses_are_those_of_clients(&self) {
        assert_eq!(self.log_in("127.0.0.2", &self.password).await, 200);
        assert_eq!(self.log_in("127.0.0.3", "wrong").await, 401);
        assert_eq!(self.log_in("127.0.0.3", "wrong").await, 401);
        assert_eq!(self.addresses("login").await, [("127.0.0.2".to_owned(), 1)]);
        assert_eq!(self.addresses("login_failed").await, [("127.0.0.3".to_owned(), 2)]);
        let db = self.folder.path().join("chat.sqlite");
        let listed = command(&["audit", "--json", "--action", "login"]).arg("--db").arg(db).output().unwrap();
        let (code, printed, error) = words(&listed);
        assert_eq!(code, 0, "{error}");
        let entry: Value = serde_json::from_str(&printed).unwrap();
        assert_eq!((&entry["address"], &entry["actor"]), (&"127.0.0.2".into(), &EMAIL.into()));
    }

    /// Uploads that are larger than the limit of an nginx without settings.
    async fn large_bodies_pass(&self) {
        let content = "x".repeat(3 << 20);
        let head = "--limit\r\nContent-Disposition: form-data; name=\"file\"; filename=\"x.txt\"\r\n\r\n";
        let body = Bytes::from(format!("{head}{content}\r\n--limit--\r\n"));
        let upload = Request::post(self.url("/user_uploads"))
            .header("content-type", "multipart/form-data; boundary=limit")
            .header("authorization", &self.authorization)
            .body(Full::new(body))
            .unwrap();
        assert_eq!(self.send_from("127.0.0.2", upload).await.status, 200);
    }

    /// Polls on one connection of HTTP/2 get a message.
    async fn polls_get_messages(&self) {
        let connection = TokioIo::new(self.connect("127.0.0.2", b"h2").await);
        let (sender, connection) =
            hyper::client::conn::http2::handshake(TokioExecutor::new(), connection).await.unwrap();
        tokio::spawn(connection);
        let mut polls = Vec::new();
        for _ in 0..20 {
            let (mut sender, poll) = (sender.clone(), self.new_poll().await);
            polls.push(tokio::spawn(async move {
                let body = sender.send_request(poll).await.unwrap().into_body();
                serde_json::from_slice::<Value>(&body.collect().await.unwrap().to_bytes()).unwrap()
            }));
        }
        let message = [("type", "direct"), ("to", "[\"ada@example.com\"]"), ("content", "hello")];
        self.call("POST", "/messages", &message).await;
        for poll in polls {
            assert_eq!(poll.await.unwrap()["events"][0]["message"]["content"], "hello");
        }
    }

    /// Polls without a message are held until their heartbeat.
    async fn polls_get_heartbeats(&self) {
        let (over_http1, over_http2) = (self.new_poll().await, self.new_poll().await);
        let http1 = self.connect("127.0.0.2", b"http/1.1").await;
        let answers = tokio::join!(
            exchange(http1, Version::HTTP_11, over_http1),
            self.send_from("127.0.0.2", over_http2)
        );
        for answer in [answers.0, answers.1] {
            assert_eq!(answer.status, 200);
            assert_eq!(answer.json()["events"][0]["type"], "heartbeat");
        }
    }

    /// Checks all of it.
    async fn check(&self) {
        self.addresses_are_those_of_clients().await;
        self.large_bodies_pass().await;
        Box::pin(self.polls_get_messages()).await;
        Box::pin(self.polls_get_heartbeats()).await;
        assert!(self.serving.log().contains("the server has started"));
    }
}

impl Drop for Proxied {
    fn drop(&mut self) {
        // Already gone, unless the test failed.
        let _gone = self.proxy.kill();
        let _gone = self.proxy.wait();
    }
}

#[tokio::test]
async fn the_server_works_behind_nginx() {
    if let Some(proxied) = Proxied::start("nginx", nginx).await {
        Box::pin(proxied.check()).await;
    }
}

#[tokio::test]
async fn the_server_works_behind_caddy() {
    if let Some(proxied) = Proxied::start("caddy", caddy).await {
        Box::pin(proxied.check()).await;
    }
}

/// `teamchat doctor` with the configuration of the page, and with one that only names the server.
#[tokio::test]
async fn the_doctor_tells_a_good_proxy_from_a_bad_one() {
    let bare: Configure = |program, folder, files, listen, upstream| {
        let command = nginx(program, folder, files, listen, upstream);
        let file = folder.join("nginx.conf");
        let configuration = std::fs::read_to_string(&file).unwrap();
        let site = format!("location / {{ proxy_pass http://{upstream}; }}");
        std::fs::write(
            &file,
            configuration.replace(&block("nginx").replace(UPSTREAM, &upstream.to_string()), &site),
        )
        .unwrap();
        command
    };
    let (trusted, untrusted) = (&["--trusted-proxy", "127.0.0.1"][..], &[][..]);
    for (configure, flags, findings) in [
        (nginx as Configure, trusted, &[("ok", "reports 127.0.0.1 as the client")][..]),
        (nginx, untrusted, &[("problem", "the proxy at 127.0.0.1 is not trusted")]),
        (
            bare,
            trusted,
            &[
                ("problem", "clients can forge their address"),
                ("problem", "the proxy refuses uploads of 100 MiB"),
            ],
        ),
    ] {
        let Some(proxied) = Proxied::start_as("nginx", configure, "localhost", flags).await else { return };
        let folder = proxied.folder.path();
        let ca = folder.join("ca.pem");
        std::fs::write(&ca, proxied.authority.pem()).unwrap();
        let url = format!("https://localhost:{}", proxied.address.port());
        let own = ["--public-url", &url, "--ca", ca.to_str().unwrap()];
        let examined = examine(folder, &[&own[..], flags].concat());
        examined.expect("ok", "public address", &["leads to this server"]);
        for (level, text) in findings {
            examined.expect(level, "proxy", &[text]);
        }
    }
}

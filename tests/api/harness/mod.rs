//! Servers for tests.
//!
//! ```ignore
//! let server = TestServer::start().await;
//! let ada = server.member("ada").await;
//! let mut queue = ada.register(json!({"event_types": ["realm_user"]})).await;
//! server.member("bob").await;
//! queue.expect(&[json!({"type": "realm_user", "op": "add", "person": "*"})]).await;
//! ada.get("/users/9999", ()).await.error(400, "BAD_REQUEST", "No such user");
//! ```
//!
//! The clock of a test server is frozen until the test moves it ([`TestServer::clock`]). Tests never sleep.

pub mod access;
mod blocked;
mod budget;
mod chat;
mod client;
pub mod description;
pub mod generated;
mod hang_up;
mod matching;
mod model;
pub mod pictures;
mod ports;
mod queue;
mod received;
mod rng;
mod sync;
mod tests;

pub use blocked::{Blocked, copy_between, crash_between_jobs, grouped, interrupt, overtaken, until};
pub use budget::{budget, seed};
pub use client::{Answer, Client, Request, cookies_of};
pub use matching::{differences, mask};
pub use model::SYSTEM_GROUPS;
pub use ports::ReservedPort;
pub use queue::{Queue, kind};
pub use received::Received;
pub use rng::Rng;
pub use sync::{Fetched, Registered};

use rusqlite::config::DbConfig;
use rusqlite::types::Value;
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::sync::{Arc, LazyLock, Mutex, Weak};
use std::time::Duration;
use teamchat::app::{App, Options, Overrides};
use teamchat::commands;
use teamchat::commands::{Command, CreatedUser};
use teamchat::domain::accounts::create::NewUser;
use teamchat::domain::bots::NewBotRow;
use teamchat::domain::realm::DUMMY_DOMAIN;
use teamchat::domain::users::passwords;
use teamchat::domain::{accounts, keys};
use teamchat::events;
use teamchat::http::ApiResult;
use teamchat::server::{Engine, ListenAddress, Server};
use teamchat::store::{DatabaseCopy, StoreError, Tx};
use teamchat::types::{BotType, Clock, Role, UserId};
use tempfile::TempDir;
use tokio::net::TcpSocket;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::OnceCell;

/// When the clocks of test servers start: 2026-09-21, in UNIX seconds.
pub const START: i64 = 1_790_000_000;

/// The time limit of requests to servers of a test, which may be slow on a busy machine.
pub const OUTGOING_TIMEOUT: Duration = Duration::from_secs(3600);

/// The time that requests wait for a pool, whose threads get little of a busy machine.
const POOL_DEADLINE: Duration = Duration::from_secs(3600);

/// All servers run here, apart from the tests' own runtimes: a test may block its thread, and needs no attribute beyond
/// `#[tokio::test]`.
static RUNTIME: LazyLock<Runtime> =
    LazyLock::new(|| Builder::new_multi_thread().worker_threads(4).enable_all().build().unwrap());

/// A new, empty organization as bytes of its file: made once, copied for each test.
static PREPARED: OnceCell<Vec<u8>> = OnceCell::const_new();

/// A server in this process, on a file of its own, with real HTTP.
pub struct TestServer {
    running: Option<Server>,
    endpoint: Arc<Mutex<Endpoint>>,
    /// Moves only when the test moves it: `server.clock.advance(60)`.
    pub clock: Clock,
    options: Options,
    folder: TempDir,
}

/// Shared with the clients, which stay good when the server starts again at another port.
struct Endpoint {
    origin: String,
    app: Weak<App>,
}

impl TestServer {
    /// A server on a new file.
    pub async fn start() -> Self {
        Self::start_with(Options::default()).await
    }

    /// A server with options of its own.
    pub async fn start_with(options: Options) -> Self {
        Self::start_on(PREPARED.get_or_init(prepare).await, Clock::manual(START), options).await
    }

    /// A server on a copy of a file.
    pub async fn start_on(file: &[u8], clock: Clock, options: Options) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(database_in(&folder), file).unwrap();
        let endpoint = Endpoint { origin: String::new(), app: Weak::new() };
        let endpoint = Arc::new(Mutex::new(endpoint));
        let mut server = Self { running: None, endpoint, clock, options, folder };
        server.run().await;
        server
    }

    async fn run(&mut self) {
        let (path, clock, mut options) = (self.database(), self.clock.clone(), self.options.clone());
        // Notices must not depend on the disk of the machine.
        options.overrides.disk_warning.get_or_insert(Overrides::NO_DISK_WARNING);
        options.overrides.pool_deadline.get_or_insert(POOL_DEADLINE);
        let started = RUNTIME.spawn(async move {
            let engine = Engine::open(&path, clock, options).await.unwrap();
            Server::start(engine, "127.0.0.1:0".parse().unwrap()).unwrap()
        });
        let server = started.await.unwrap();
        // How background work is divided, and whether a read succeeds, must not depend on the speed of the machine. Tests of the
        // division set another limit.
        server.app().writer.background().set_limit(Duration::MAX);
        server.app().readers.lift_deadlines();
        *self.endpoint.lock().unwrap() = Endpoint {
            origin: format!("http://{}", server.address().unwrap()),
            app: Arc::downgrade(server.app()),
        };
        self.running = Some(server);
    }

    /// Stops cleanly.
    pub async fn stop(&mut self) {
        if let Some(server) = self.running.take() {
            RUNTIME.spawn(server.stop()).await.unwrap();
        }
    }

    /// Stops up to the point where only the file is open.
    pub async fn finish(&mut self) -> Engine {
        let server = self.running.take().expect("the server runs");
        RUNTIME.spawn(server.finish()).await.unwrap()
    }

    /// Stops cleanly and starts again on the same file. Clients and queues stay good.
    pub async fn restart(&mut self) {
        self.stop().await;
        self.run().await;
    }

    /// Stops cleanly and starts again on the same file with other options.
    pub async fn with_options(mut self, options: Options) -> Self {
        self.options = options;
        self.restart().await;
        self
    }

    /// Starts again on the file as it is on the disk at this moment, as after a crash: nothing was drained, saved or
    /// checkpointed. Queues whose registration was answered are there, as after any later change.
    pub async fn crash(&mut self) {
        let later: ApiResult<()> = self.app().writer.run(|_| Ok(())).await;
        later.unwrap();
        let after = tempfile::tempdir().unwrap();
        for ending in ["", "-wal"] {
            let name = format!("chat.sqlite{ending}");
            std::fs::copy(self.folder.path().join(&name), after.path().join(&name)).unwrap();
        }
        let before = std::mem::replace(&mut self.folder, after);
        self.running = None;
        self.run().await;
        drop(before);
    }

    /// Runs the maintenance of event queues of one minute.
    pub async fn maintain(&self) {
        let app = self.app();
        events::run_maintenance(&app.hub, &app.writer, &app.clock).await;
    }

    /// The file.
    pub fn database(&self) -> PathBuf {
        database_in(&self.folder)
    }

    /// The shared state of handlers, for tests of internals.
    pub fn app(&self) -> &Arc<App> {
        self.running.as_ref().expect("the server runs").app()
    }

    /// The address on which the server listens.
    pub fn address(&self) -> SocketAddr {
        self.running.as_ref().expect("the server runs").address().unwrap()
    }

    /// Receives mail on a listener of its own, until the server stops. Returns its address.
    pub fn receive_mail(&mut self) -> SocketAddr {
        let server = self.running.as_mut().expect("the server runs");
        let _inside = RUNTIME.enter();
        let listener = Server::listen(&ListenAddress::Tcp("127.0.0.1:0".parse().unwrap()), 0).unwrap();
        let ListenAddress::Tcp(address) = listener.address().unwrap() else { panic!("it listens on a port") };
        server.serve_mail(listener);
        address
    }

    /// A connection of which the system holds little that is not read, however much it holds of others.
    pub async fn connect_with_small_buffer(&self) -> TcpStream {
        let socket = TcpSocket::new_v4().unwrap();
        socket.set_recv_buffer_size(256 << 10).unwrap();
        let stream = socket.connect(self.address()).await.unwrap().into_std().unwrap();
        stream.set_nonblocking(false).unwrap();
        stream
    }

    /// Carries out a command as the command line does.
    pub async fn command(&self, command: Command) -> serde_json::Value {
        commands::run(self.app(), command).await.unwrap()
    }

    /// Changes the file directly, for states that the interface cannot produce.
    pub async fn sql(&self, statement: &str) {
        let statement = statement.to_owned();
        let done = self.app().writer.run(move |tx| {
            // With a trigger, a statement fails. The program disables them.
            if statement.contains("CREATE TRIGGER") {
                tx.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, true)?;
            }
            Ok::<_, StoreError>(tx.execute_batch(&statement)?)
        });
        done.await.unwrap();
    }

    /// Adds copies of a message with later ids, as a large history.
    pub async fn add_copies(&self, message_id: i64, copies: u32) {
        self.sql(&format!(
            "WITH RECURSIVE copy (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM copy WHERE number < {copies})
             INSERT INTO message (recipient_id, topic_id, subject, sender_id, client_id, timestamp, content,
                 html, rendered_version, attributes)
             SELECT recipient_id, topic_id, subject, sender_id, client_id, timestamp, content, html,
                 rendered_version, attributes FROM message CROSS JOIN copy WHERE id = {message_id}"
        ))
        .await;
    }

    /// Looks into the file: the first column of a query, as text.
    pub async fn column(&self, query: &str) -> Vec<String> {
        let (app, query) = (Arc::clone(self.app()), query.to_owned());
        let read = RUNTIME.spawn_blocking(move || {
            app.readers.read_now(|snapshot| -> Result<Vec<String>, StoreError> {
                let mut statement = snapshot.prepare(&query)?;
                let rows = statement.query_map([], |row| row.get::<_, Value>(0))?;
                Ok(rows.map(|value| text_of(&value.unwrap())).collect())
            })
        });
        read.await.unwrap().unwrap()
    }

    /// The number of rows of a table.
    pub async fn count(&self, table: &str) -> String {
        self.column(&format!("SELECT count(*) FROM {table}")).await.remove(0)
    }

    /// Stops cleanly and returns the file.
    pub async fn into_file(mut self) -> Vec<u8> {
        self.stop().await;
        std::fs::read(self.database()).unwrap()
    }

    /// Copies the current file, for [`Self::restore`].
    pub fn copy(&self) -> Arc<DatabaseCopy> {
        self.app().writer.copy()
    }

    /// Restores the copied file. Queues are removed.
    pub async fn restore(&self, copy: &Arc<DatabaseCopy>) {
        let hub = Arc::clone(&self.app().hub);
        self.app().writer.restore(Arc::clone(copy), move || hub.clear()).await.unwrap();
    }

    /// The client of a user of another server, on whose file this one runs.
    pub fn client_of(&self, other: &Client) -> Client {
        other.at(Arc::clone(&self.endpoint))
    }

    /// A client without credentials.
    pub fn anonymous(&self) -> Client {
        Client::anonymous(Arc::clone(&self.endpoint))
    }

    /// A new owner, with the email `owner@example.com`.
    pub async fn owner(&self) -> Client {
        self.user("owner", Role::Owner, None, None).await
    }

    /// A new administrator.
    pub async fn administrator(&self, name: &str) -> Client {
        self.user(name, Role::Administrator, None, None).await
    }

    /// A new moderator.
    pub async fn moderator(&self, name: &str) -> Client {
        self.user(name, Role::Moderator, None, None).await
    }

    /// A new member: `ada` gets the email `ada@example.com` and the name `Ada`.
    pub async fn member(&self, name: &str) -> Client {
        self.user(name, Role::Member, None, None).await
    }

    /// A new guest.
    pub async fn guest(&self, name: &str) -> Client {
        self.user(name, Role::Guest, None, None).await
    }

    /// A new generic bot.
    pub async fn bot(&self, name: &str, owner: &Client) -> Client {
        self.user(name, Role::Member, Some(owner), None).await
    }

    /// A new bot that only sends.
    pub async fn webhook_bot(&self, name: &str, owner: &Client) -> Client {
        self.create(name, Role::Member, Some((BotType::IncomingWebhook, UserId(owner.user_id))), None).await
    }

    /// Creates the key of a client work that ended when the account was deactivated and reactivated.
    pub async fn restore_key(&self, client: &Client) {
        let (user_id, key) = (UserId(client.user_id), client.api_key.clone().unwrap());
        self.app().writer.run(move |tx| keys::insert(tx, user_id, "test", &key)).await.unwrap();
    }

    /// A new user, without the greeting that the command line and the interface send: tests count messages. Passwords are
    /// slow to hash: only tests about passwords give one.
    pub async fn user(
        &self,
        name: &str,
        role: Role,
        bot_owner: Option<&Client>,
        password: Option<&str>,
    ) -> Client {
        let bot = bot_owner.map(|owner| (BotType::Generic, UserId(owner.user_id)));
        self.create(name, role, bot, password).await
    }

    /// Creates this number of members, named `person0` and so on.
    pub async fn crowd(&self, count: usize) -> Vec<Client> {
        let job = move |tx: &mut Tx<'_>| -> ApiResult<Vec<CreatedUser>> {
            let one = |number: usize| {
                let (email, full_name) = (format!("person{number}@example.com"), format!("Person {number}"));
                let new = NewUser { email, full_name, role: Role::Member, bot: None, password_hash: None };
                let user = accounts::create::create(tx, &new)?;
                let api_key = keys::mint(tx, user.user_id, "command line")?;
                Ok(CreatedUser::new(user, api_key))
            };
            (0..count).map(one).collect()
        };
        let created = self.app().writer.run(job).await.unwrap();
        created.into_iter().map(|user| Client::new(Arc::clone(&self.endpoint), user)).collect()
    }

    async fn create(
        &self,
        name: &str,
        role: Role,
        bot: Option<(BotType, UserId)>,
        password: Option<&str>,
    ) -> Client {
        let mut letters = name.chars();
        let capital = letters.next().into_iter().flat_map(char::to_uppercase);
        let new = NewUser {
            email: format!("{name}@example.com"),
            full_name: capital.chain(letters).collect(),
            role,
            bot,
            // Each login computes a hash with the same cost.
            password_hash: password.map(|password| passwords::hash_quickly(password).unwrap()),
        };
        let job = move |tx: &mut Tx<'_>| -> ApiResult<CreatedUser> {
            let (user, api_key) = if new.bot.is_some() {
                accounts::create::create_bot(tx, &new, DUMMY_DOMAIN, &NewBotRow::default())?
            } else {
                let user = accounts::create::create(tx, &new)?;
                let api_key = keys::mint(tx, user.user_id, "command line")?;
                (user, api_key)
            };
            Ok(CreatedUser::new(user, api_key))
        };
        Client::new(Arc::clone(&self.endpoint), self.app().writer.run(job).await.unwrap())
    }
}

fn text_of(value: &Value) -> String {
    match value {
        Value::Text(text) => text.clone(),
        Value::Integer(number) => number.to_string(),
        other => format!("{other:?}"),
    }
}

fn database_in(folder: &TempDir) -> PathBuf {
    folder.path().join("chat.sqlite")
}

/// Creates the file that all tests start from.
async fn prepare() -> Vec<u8> {
    let prepared = RUNTIME.spawn(async {
        let folder = tempfile::tempdir().unwrap();
        let path = database_in(&folder);
        let engine = Engine::open(&path, Clock::manual(START), Options::default()).await.unwrap();
        tokio::task::spawn_blocking(move || engine.close()).await.unwrap();
        std::fs::read(path).unwrap()
    });
    prepared.await.unwrap()
}

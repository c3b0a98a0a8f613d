//! The command line of `teamchat`, parsed with clap. Every flag can also be set as an environment variable
//! `TEAMCHAT_...`.

use clap::{Args, Parser, Subcommand, ValueEnum};
use http_body_util::{BodyExt, Full};
use hyper_util::rt::TokioIo;
use rand::RngExt;
use rand::distr::Alphanumeric;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::error::Error;
use std::io::{BufRead, IsTerminal, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use teamchat::api::control;
use teamchat::api::control::{Command, CreatedUser, ListedUser};
use teamchat::app::Options;
use teamchat::domain::keys::KeyRecord;
use teamchat::domain::limits::MAX_FILE_UPLOAD_SIZE_MIB;
use teamchat::server::{Engine, Server, runtime};
use teamchat::store::Database;
use teamchat::types::{Clock, Role};
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::{Layer, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;

type Failure = Box<dyn Error + Send + Sync>;

/// A team chat server in one binary and one SQLite file.
///
/// `teamchat serve --db chat.sqlite` runs it; `teamchat user create` makes accounts. Clients of the published team-chat
/// API work with it unchanged.
#[derive(Parser)]
#[command(version, about, max_term_width = 100)]
pub struct Arguments {
    #[command(subcommand)]
    command: MainCommand,
}

#[derive(Subcommand)]
enum MainCommand {
    /// Run the server until it is stopped (Ctrl-C or SIGTERM).
    ///
    /// A missing file is created, with its organization. The server is ready when GET /api/v1/server_settings responds.
    Serve(Serve),
    /// Create and list users, and manage their API keys.
    ///
    /// Works while the server runs and while it does not.
    #[command(subcommand)]
    User(UserCommand),
    /// Reactivate an organization that an owner has deactivated.
    ///
    /// Works while the server runs and while it does not.
    #[command(subcommand)]
    Organization(OrganizationCommand),
}

#[derive(Subcommand)]
enum OrganizationCommand {
    /// Let people log in again. Accounts, keys and messages are unchanged.
    Reactivate {
        #[command(flatten)]
        file: File,
        #[command(flatten)]
        output: Output,
    },
}

#[derive(Args)]
struct File {
    /// The SQLite database file.
    #[arg(long, env = "TEAMCHAT_DB", value_name = "FILE", default_value = "chat.sqlite")]
    db: PathBuf,
}

#[derive(Args)]
struct Output {
    /// Print JSON instead of text.
    #[arg(long, env = "TEAMCHAT_JSON")]
    json: bool,
}

#[derive(Args)]
struct Serve {
    #[command(flatten)]
    file: File,
    /// The address to listen on. Port 0 picks a free port, which is printed.
    #[arg(long, env = "TEAMCHAT_LISTEN", value_name = "ADDR:PORT", default_value = "127.0.0.1:9991")]
    listen: SocketAddr,
    /// The URL at which clients reach the server, if it runs behind a reverse proxy, for example
    /// https://chat.example.com.
    #[arg(long, env = "TEAMCHAT_PUBLIC_URL", value_name = "URL")]
    public_url: Option<String>,
    /// The maximum size of an uploaded file, in MiB.
    #[arg(long, env = "TEAMCHAT_MAX_FILE_UPLOAD_SIZE_MIB", value_name = "MIB", default_value_t = MAX_FILE_UPLOAD_SIZE_MIB)]
    max_file_upload_size_mib: u64,
    /// The maximum size of all uploaded files together, in MiB. Unlimited by default.
    #[arg(long, env = "TEAMCHAT_UPLOAD_QUOTA_MIB", value_name = "MIB")]
    upload_quota_mib: Option<u64>,
    /// Hosts that bots of type "outgoing webhook" may post to, separated by commas: names, names with a port, or * for
    /// all. Requests use http, not https. None by default.
    #[arg(long, env = "TEAMCHAT_WEBHOOK_HOSTS", value_name = "HOST[:PORT]", value_delimiter = ',')]
    webhook_hosts: Vec<String>,
    /// What to log: error, warn, info, debug or trace, or directives such as teamchat=debug.
    #[arg(long, env = "TEAMCHAT_LOG", value_name = "FILTER", default_value = "warn")]
    log: String,
}

#[derive(Subcommand)]
enum UserCommand {
    /// Create a user or a bot, and print an API key.
    ///
    /// A person without --password-stdin gets a random password, printed once.
    Create(Create),
    /// List all users.
    List {
        #[command(flatten)]
        file: File,
        #[command(flatten)]
        output: Output,
    },
    /// Create, list and revoke the API keys of a user.
    #[command(subcommand)]
    Key(KeyCommand),
}

#[derive(Args)]
struct Create {
    #[command(flatten)]
    file: File,
    /// The email address, used to log in.
    #[arg(long, env = "TEAMCHAT_EMAIL", value_name = "EMAIL")]
    email: String,
    /// The display name.
    #[arg(long, env = "TEAMCHAT_FULL_NAME", value_name = "NAME")]
    full_name: String,
    /// The role in the organization.
    #[arg(long, env = "TEAMCHAT_ROLE", value_enum, default_value = "member")]
    role: RoleName,
    /// Create a bot that belongs to this person.
    #[arg(long, env = "TEAMCHAT_BOT_OWNER", value_name = "EMAIL", conflicts_with = "password_stdin")]
    bot_owner: Option<String>,
    /// Read the password from the first line of standard input.
    #[arg(long, env = "TEAMCHAT_PASSWORD_STDIN")]
    password_stdin: bool,
    #[command(flatten)]
    output: Output,
}

#[derive(Subcommand)]
enum KeyCommand {
    /// Create another API key. It is printed once and cannot be read again.
    Mint {
        #[command(flatten)]
        file: File,
        /// The email address of the user.
        #[arg(long, env = "TEAMCHAT_EMAIL", value_name = "EMAIL")]
        email: String,
        /// The client or purpose of the key, shown in the list.
        #[arg(long, env = "TEAMCHAT_CLIENT", value_name = "NAME", default_value = "command line")]
        client: String,
        #[command(flatten)]
        output: Output,
    },
    /// List the API keys of a user: id, creation time and purpose.
    List {
        #[command(flatten)]
        file: File,
        /// The email address of the user.
        #[arg(long, env = "TEAMCHAT_EMAIL", value_name = "EMAIL")]
        email: String,
        #[command(flatten)]
        output: Output,
    },
    /// Revoke an API key. Only the client that uses it is logged out.
    Revoke {
        #[command(flatten)]
        file: File,
        /// The email address of the user.
        #[arg(long, env = "TEAMCHAT_EMAIL", value_name = "EMAIL")]
        email: String,
        /// The id of the key, as listed.
        id: i64,
        #[command(flatten)]
        output: Output,
    },
}

#[derive(Clone, Copy, ValueEnum)]
enum RoleName {
    Owner,
    Administrator,
    Moderator,
    Member,
    Guest,
}

impl From<RoleName> for Role {
    fn from(name: RoleName) -> Self {
        match name {
            RoleName::Owner => Self::Owner,
            RoleName::Administrator => Self::Administrator,
            RoleName::Moderator => Self::Moderator,
            RoleName::Member => Self::Member,
            RoleName::Guest => Self::Guest,
        }
    }
}

impl Arguments {
    /// Runs the command.
    pub fn run(self) -> ExitCode {
        let done = match self.command {
            MainCommand::Serve(serve) => serve.run(),
            MainCommand::User(task) => task.run(),
            MainCommand::Organization(task) => task.run(),
        };
        match done {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                // Without standard error there is nowhere to report to.
                let _unreported = writeln!(std::io::stderr(), "{} {error}", Style::stderr().red("error:"));
                ExitCode::FAILURE
            }
        }
    }
}

impl Serve {
    fn run(self) -> Result<(), Failure> {
        let filter: Targets = self.log.parse()?;
        let lines = tracing_subscriber::fmt::layer()
            .with_writer(std::io::stderr)
            .with_ansi(std::io::stderr().is_terminal());
        tracing_subscriber::registry().with(lines.with_filter(filter)).init();
        let options = Options {
            public_url: self.public_url.clone().map(|url| url.trim_end_matches('/').to_owned()),
            control_token: rand::rng().sample_iter(Alphanumeric).take(32).map(char::from).collect(),
            webhook_hosts: self.webhook_hosts.clone(),
            heartbeat: None,
            max_file_upload_size_mib: Some(self.max_file_upload_size_mib),
            upload_quota_mib: self.upload_quota_mib,
        };
        runtime()?.block_on(async {
            let engine = Engine::open(&self.file.db, Clock::System, options).await?;
            let upgraded_from = engine.upgraded_from().map(Path::to_owned);
            let server = Server::start(engine, self.listen).await?;
            let owner_link: Option<String> = run_on_server(&server, Command::OwnerLink).await?;
            self.print_start(&server, upgraded_from.as_deref(), owner_link.as_deref())?;
            stop_signal().await?;
            let style = Style::stderr();
            writeln!(
                std::io::stderr(),
                "{}",
                style.dim("stopping: answering waiting clients, saving the file")
            )?;
            server.stop().await;
            Ok(())
        })
    }

    /// Prints where the server listens and, while nobody can log in, how to create the first owner.
    fn print_start(
        &self,
        server: &Server,
        upgraded_from: Option<&Path>,
        owner_link: Option<&str>,
    ) -> std::io::Result<()> {
        let style = Style::stdout();
        let mut out = std::io::stdout();
        let url = self.public_url.clone().unwrap_or_else(|| format!("http://{}", server.address()));
        let db = self.file.db.display();
        writeln!(out, "{} {}", style.bold("teamchat"), style.dim(env!("CARGO_PKG_VERSION")))?;
        writeln!(out, "  listening  {}", style.green(&url))?;
        writeln!(out, "  database   {db}")?;
        if let Some(copy) = upgraded_from {
            writeln!(out, "  upgraded   the file as it was is kept as {}", copy.display())?;
        }
        if let Some(path) = owner_link {
            writeln!(out)?;
            writeln!(out, "Nobody can log in yet. Open this page to become the owner:")?;
            writeln!(out)?;
            writeln!(out, "  {}", style.bold(&format!("{}{path}", url.trim_end_matches('/'))))?;
            writeln!(out)?;
            writeln!(out, "{}", style.dim("It works once, and until the server stops."))?;
            // The path by which the program was started, so that the command can be copied.
            let program = std::env::args().next().unwrap_or_else(|| "teamchat".to_owned());
            let command = format!("{program} user create --db {db} --role owner --email ... --full-name ...");
            writeln!(out, "{}", style.dim(&format!("Without a browser: {command}")))?;
        }
        out.flush()
    }
}

/// Waits for Ctrl-C or, on Unix, SIGTERM.
async fn stop_signal() -> std::io::Result<()> {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let mut terminate = signal(SignalKind::terminate())?;
        tokio::select! {
            interrupted = tokio::signal::ctrl_c() => interrupted,
            _ = terminate.recv() => Ok(()),
        }
    }
    #[cfg(not(unix))]
    tokio::signal::ctrl_c().await
}

impl UserCommand {
    fn run(self) -> Result<(), Failure> {
        match self {
            Self::Create(create) => create.run(),
            Self::List { file, output } => {
                let users: Vec<ListedUser> = run_command(&file.db, Command::ListUsers)?;
                output.print(&users, |out, style| list_users(out, style, &users))
            }
            Self::Key(KeyCommand::Mint { file, email, client, output }) => {
                let key: Value = run_command(&file.db, Command::CreateKey { email: email.clone(), client })?;
                output.print(&key, |out, style| {
                    let api_key = key["api_key"].as_str().unwrap_or_default();
                    writeln!(out, "API key of {email}: {}", style.bold(api_key))?;
                    writeln!(out, "{}", style.dim("It is shown this once."))
                })
            }
            Self::Key(KeyCommand::List { file, email, output }) => {
                let keys: Vec<KeyRecord> = run_command(&file.db, Command::ListKeys { email })?;
                output.print(&keys, |out, style| list_keys(out, style, &keys))
            }
            Self::Key(KeyCommand::Revoke { file, email, id, output }) => {
                let done: Value = run_command(&file.db, Command::RevokeKey { email: email.clone(), id })?;
                output.print(&done, |out, _| writeln!(out, "Key {id} of {email} does not work any more."))
            }
        }
    }
}

impl OrganizationCommand {
    fn run(self) -> Result<(), Failure> {
        let Self::Reactivate { file, output } = self;
        let done: Value = run_command(&file.db, Command::ReactivateRealm)?;
        output.print(&done, |out, _| writeln!(out, "People can log in again."))
    }
}

impl Create {
    fn run(self) -> Result<(), Failure> {
        let generated = self.bot_owner.is_none() && !self.password_stdin;
        let password = if self.password_stdin {
            let mut line = String::new();
            std::io::stdin().lock().read_line(&mut line)?;
            Some(line.trim_end_matches(['\r', '\n']).to_owned())
        } else if generated {
            Some(random_password())
        } else {
            None
        };
        let command = Command::CreateUser {
            email: self.email,
            full_name: self.full_name,
            role: self.role.into(),
            bot_owner: self.bot_owner,
            password: password.clone(),
        };
        let user: CreatedUser = run_command(&self.file.db, command)?;
        let password = password.filter(|_| generated);
        let mut value = serde_json::to_value(&user)?;
        if let Some(password) = &password {
            value["password"] = password.as_str().into();
        }
        self.output.print(&value, |out, style| {
            let kind = if user.is_bot { "bot" } else { user.role.name() };
            writeln!(out, "{} {} ({kind})", style.green("Created"), style.bold(&user.full_name))?;
            writeln!(out, "  email     {}", user.email)?;
            if let Some(password) = &password {
                writeln!(out, "  password  {}", style.bold(password))?;
            }
            writeln!(out, "  API key   {}", style.bold(&user.api_key))?;
            writeln!(out, "{}", style.dim("Keep them: they are shown this once."))
        })
    }
}

/// A password of four groups of four characters: 80 bits, easy to type on a phone.
fn random_password() -> String {
    const LETTERS: &[u8] = b"abcdefghijkmnpqrstuvwxyz23456789";
    let mut random = rand::rng();
    let groups: Vec<String> = (0..4)
        .map(|_| (0..4).map(|_| char::from(LETTERS[random.random_range(0..LETTERS.len())])).collect())
        .collect();
    groups.join("-")
}

fn list_users(out: &mut dyn Write, style: Style, users: &[ListedUser]) -> std::io::Result<()> {
    if users.is_empty() {
        return writeln!(out, "No users yet. Make one with: teamchat user create");
    }
    let width = users.iter().map(|user| user.full_name.chars().count()).max().unwrap_or(0);
    let email = users.iter().map(|user| user.email.chars().count()).max().unwrap_or(0);
    let head = format!("{:>5}  {:width$}  {:email$}  {:13}  KEYS", "ID", "NAME", "EMAIL", "ROLE");
    writeln!(out, "{}", style.dim(&head))?;
    for user in users {
        let kind = if user.is_bot { "bot" } else { user.role.name() };
        let line = format!(
            "{:>5}  {:width$}  {:email$}  {kind:13}  {:>4}",
            user.user_id.0, user.full_name, user.email, user.keys
        );
        if user.is_active {
            writeln!(out, "{line}")?;
        } else {
            writeln!(out, "{}", style.dim(&format!("{line}  deactivated")))?;
        }
    }
    Ok(())
}

fn list_keys(out: &mut dyn Write, style: Style, keys: &[KeyRecord]) -> std::io::Result<()> {
    if keys.is_empty() {
        return writeln!(out, "No keys.");
    }
    writeln!(out, "{}", style.dim(&format!("{:>5}  {:20}  FOR", "ID", "MADE")))?;
    for key in keys {
        let made = jiff::Timestamp::from_second(key.date_created).unwrap_or_default();
        writeln!(out, "{:>5}  {made:20}  {}", key.id, key.client)?;
    }
    Ok(())
}

impl Output {
    fn print<T: serde::Serialize>(
        &self,
        value: &T,
        text: impl FnOnce(&mut dyn Write, Style) -> std::io::Result<()>,
    ) -> Result<(), Failure> {
        let mut out = std::io::stdout();
        if self.json {
            writeln!(out, "{}", serde_json::to_string(value)?)?;
        } else {
            text(&mut out, Style::stdout())?;
        }
        Ok(out.flush()?)
    }
}

/// Runs a command on the server that has the database open, or else on the database itself.
fn run_command<T: DeserializeOwned>(db: &Path, command: Command) -> Result<T, Failure> {
    runtime()?.block_on(async {
        let answer = match Database::announced(db) {
            Some(announcement) => send(&announcement, &command).await?,
            None => {
                let engine = Engine::open(db, Clock::System, Options::default()).await?;
                let answer = control::run(&engine.app, command).await;
                tokio::task::spawn_blocking(move || engine.close()).await?;
                answer?
            }
        };
        Ok(serde_json::from_value(answer)?)
    })
}

/// Runs a command on the server of this process.
async fn run_on_server<T: DeserializeOwned>(server: &Server, command: Command) -> Result<T, Failure> {
    Ok(serde_json::from_value(control::run(server.app(), command).await?)?)
}

/// Sends a command to the server that announced itself in the lock file.
async fn send(announcement: &str, command: &Command) -> Result<Value, Failure> {
    let server: Value = serde_json::from_str(announcement)
        .map_err(|_| "the file is in use by a server that is just starting or stopping; try again")?;
    let address: SocketAddr = server["address"].as_str().unwrap_or_default().parse()?;
    let reachable = if address.ip().is_unspecified() {
        SocketAddr::new(std::net::Ipv4Addr::LOCALHOST.into(), address.port())
    } else {
        address
    };
    let stream = tokio::net::TcpStream::connect(reachable).await?;
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
    let body = form_urlencoded::Serializer::new(String::new())
        .append_pair("token", server["token"].as_str().unwrap_or_default())
        .append_pair("command", &serde_json::to_string(command)?)
        .finish();
    let request = hyper::Request::post(control::PATH)
        .header("Host", reachable.to_string())
        .header("Content-Type", "application/x-www-form-urlencoded")
        .body(Full::new(bytes::Bytes::from(body)))?;
    let exchange = async {
        let response = sender.send_request(request).await?;
        response.into_body().collect().await.map(http_body_util::Collected::to_bytes)
    };
    let answered = tokio::select! {
        answered = exchange => answered?,
        closed = connection => { closed?; return Err("the server closed the connection".into()); }
    };
    let mut answer: Value = serde_json::from_slice(&answered)?;
    if answer["result"] == "success" {
        return Ok(answer["answer"].take());
    }
    Err(answer["msg"].as_str().unwrap_or("the server did not understand the command").to_owned().into())
}

/// Text styles, disabled if the output is not a terminal or `NO_COLOR` is set.
#[derive(Clone, Copy)]
struct Style {
    colour: bool,
}

impl Style {
    fn stdout() -> Self {
        Self { colour: std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none() }
    }

    fn stderr() -> Self {
        Self { colour: std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none() }
    }

    fn paint(self, code: &str, text: &str) -> String {
        if self.colour { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }

    fn bold(self, text: &str) -> String {
        self.paint("1", text)
    }

    fn dim(self, text: &str) -> String {
        self.paint("2", text)
    }

    fn green(self, text: &str) -> String {
        self.paint("32", text)
    }

    fn red(self, text: &str) -> String {
        self.paint("31", text)
    }
}

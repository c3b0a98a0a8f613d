//! `teamchat serve`.

use super::common::{Failure, File, Output, Style, run_on_server};
use super::{serve_options, test_flags};
use clap::builder::BoolishValueParser;
use clap::{Args, ValueEnum};
use std::io::{IsTerminal, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use teamchat::api::control::Command;
use teamchat::app::{ClientFiles, Options};
use teamchat::domain::limits::{MAX_FILE_UPLOAD_SIZE_MIB, UPLOAD_QUOTA_MIB};
use teamchat::server::{Engine, Server, runtime};
use teamchat::types::{Clock, Network};
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::{Layer, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;

/// The address on which a server listens by default.
pub const DEFAULT_ADDRESS: &str = "127.0.0.1:9991";

#[derive(Args)]
pub struct Serve {
    #[command(flatten)]
    pub file: File,
    /// The address to listen on: 0.0.0.0:9991 for all of IPv4, [::]:9991 for all. Port 0 picks a free port, which is
    /// printed.
    #[arg(long, env = "TEAMCHAT_LISTEN", value_name = "ADDR:PORT", default_value = DEFAULT_ADDRESS, value_parser = serve_options::parse_listen)]
    pub listen: SocketAddr,
    /// The URL at which clients reach the server: scheme, host and port, for example https://chat.example.com. Links
    /// begin with it. Without it they begin with what each request calls the server.
    #[arg(long, env = "TEAMCHAT_PUBLIC_URL", value_name = "URL", value_parser = serve_options::parse_public_url)]
    pub public_url: Option<String>,
    /// The addresses of reverse proxies, separated by commas: from them, X-Forwarded-For says who the client is. For
    /// example 127.0.0.1 or 10.0.0.0/8.
    #[arg(long, env = "TEAMCHAT_TRUSTED_PROXY", value_name = "CIDR", value_delimiter = ',')]
    pub trusted_proxy: Vec<Network>,
    /// Limit requests to 200 a minute for each user, and 100 for each address without a login. On by default if others can
    /// reach the server: with --public-url, and on an address that is not of this machine alone, but for servers of
    /// tests. Wrong passwords and keys are always limited.
    #[arg(long, env = "TEAMCHAT_RATE_LIMIT", value_enum, value_name = "ON|OFF")]
    pub rate_limit: Option<Switch>,
    /// The maximum size of an uploaded file, in MiB.
    #[arg(long, env = "TEAMCHAT_MAX_FILE_UPLOAD_SIZE_MIB", value_name = "MIB", default_value_t = MAX_FILE_UPLOAD_SIZE_MIB, value_parser = clap::value_parser!(u64).range(1..))]
    pub max_file_upload_size_mib: u64,
    /// The maximum size of all uploaded files together, in MiB. Whatever it is, uploads are refused while the disk has
    /// less than 256 MiB left.
    #[arg(long, env = "TEAMCHAT_UPLOAD_QUOTA_MIB", value_name = "MIB", default_value_t = UPLOAD_QUOTA_MIB)]
    pub upload_quota_mib: u64,
    /// Hosts that bots of type "outgoing webhook" may post to, separated by commas: a name means its port 80, name:8080
    /// another one, name:* all. A single * means every host of the public internet, and none of this machine or of
    /// private networks. Requests use http, not https. None by default.
    #[arg(long, env = "TEAMCHAT_WEBHOOK_HOSTS", value_name = "HOST[:PORT]", value_delimiter = ',', value_parser = serve_options::parse_webhook_host)]
    pub webhook_hosts: Vec<String>,
    /// Leave out the web client: no page is served but those of invitations and new passwords.
    #[arg(long, env = "TEAMCHAT_NO_WEB", value_parser = BoolishValueParser::new(), conflicts_with = "web_dir")]
    pub no_web: bool,
    /// Serve the web client from a folder instead of from the program, for people who work on it.
    #[arg(long, env = "TEAMCHAT_WEB_DIR", value_name = "FOLDER")]
    pub web_dir: Option<PathBuf>,
    /// What to log: error, warn, info, debug or trace, or directives such as warn,teamchat=debug.
    #[arg(long, env = "TEAMCHAT_LOG", value_name = "FILTER", default_value = "info", value_parser = serve_options::parse_log)]
    pub log: Targets,
    #[command(flatten)]
    pub output: Output,
    // The last, since its heading is for all that follow.
    #[command(flatten)]
    pub testing: test_flags::Flags,
}

/// On or off.
#[derive(Clone, Copy, PartialEq, ValueEnum)]
pub enum Switch {
    On,
    Off,
}

impl Serve {
    /// Whether requests are limited where nothing else is said: if others can reach the server. A server for tests is
    /// reached by tests.
    fn limits_requests(&self) -> bool {
        let is_reached = !self.listen.ip().to_canonical().is_loopback() && !self.testing.is_test_server();
        self.public_url.is_some() || is_reached
    }

    pub fn run(self) -> Result<(), Failure> {
        let lines = tracing_subscriber::fmt::layer()
            .with_writer(std::io::stderr)
            .with_ansi(std::io::stderr().is_terminal());
        tracing_subscriber::registry().with(lines.with_filter(self.log.clone())).init();
        let options = Options {
            public_url: self.public_url.clone(),
            webhook_hosts: self.webhook_hosts.clone(),
            trusted_proxies: self.trusted_proxy.clone(),
            rate_limit: self.rate_limit.map_or(self.limits_requests(), |switch| switch == Switch::On),
            connections_per_address: None,
            heartbeat: None,
            max_file_upload_size_mib: Some(self.max_file_upload_size_mib),
            upload_quota_mib: Some(self.upload_quota_mib),
            disk_reserve_mib: None,
            client_files: match &self.web_dir {
                _ if self.no_web => ClientFiles::Off,
                Some(folder) => ClientFiles::Folder(folder.clone()),
                None => ClientFiles::Embedded,
            },
            dev_login: self.testing.dev,
        };
        self.testing.check(self.listen, self.public_url.is_some())?;
        if self.testing.is_test_server() {
            return self.run_test_server(options);
        }
        runtime()?.block_on(async {
            let listener = Server::listen(self.listen).await?;
            let engine = Engine::open(&self.file.db, Clock::System, options).await?;
            let upgraded_from = engine.upgraded_from().map(Path::to_owned);
            let server = Server::serve(engine, listener)?;
            let owner_link: Option<String> = run_on_server(&server, Command::OwnerLink).await?;
            let version = env!("CARGO_PKG_VERSION");
            tracing::info!(version, address = %server.address(), "the server has started");
            self.warn(server.address());
            if self.output.json {
                self.print_ready(server.address(), None, owner_link.as_deref())?;
            } else {
                self.print_start(&server, upgraded_from.as_deref(), owner_link.as_deref())?;
            }
            let failed = tokio::select! {
                signal = stop_signal() => signal.map(|()| false)?,
                () = server.failed() => true,
            };
            tracing::info!("the server is stopping");
            let style = Style::stderr();
            writeln!(
                std::io::stderr(),
                "{}",
                style.dim("stopping: answering waiting clients, saving the file")
            )?;
            server.stop().await;
            if failed { Err("the server cannot write any more; the log says why".into()) } else { Ok(()) }
        })
    }

    /// Warns of settings that are fine on one machine, and not for others.
    pub fn warn(&self, address: SocketAddr) {
        match &self.public_url {
            None if !address.ip().to_canonical().is_loopback() => tracing::warn!(
                "others can reach this server, and there is no --public-url: links begin with whatever address a request \
                 names, and requests that succeed are not limited"
            ),
            Some(url) if url.starts_with("https:") && self.trusted_proxy.is_empty() => tracing::warn!(
                "there is a reverse proxy for https, and no --trusted-proxy: all clients have the address of the proxy, \
                 and share its limits"
            ),
            _ => {}
        }
    }

    /// Prints where the server listens and, while nobody can log in, how to create the first owner.
    pub fn print_start(
        &self,
        server: &Server,
        upgraded_from: Option<&Path>,
        owner_link: Option<&str>,
    ) -> std::io::Result<()> {
        let style = Style::stdout();
        let mut out = std::io::stdout();
        let listening = format!("http://{}", server.address());
        let here = format!("http://{}", server.address_here());
        let url = self.public_url.as_ref().unwrap_or(&here);
        let db = self.file.db.display();
        writeln!(out, "{} {}", style.bold("teamchat"), style.dim(env!("CARGO_PKG_VERSION")))?;
        if let Some(url) = &self.public_url {
            writeln!(out, "  public     {}", style.green(url))?;
        }
        writeln!(out, "  listening  {}", style.green(&listening))?;
        let new = if server.is_new() { " (created)" } else { "" };
        writeln!(out, "  database   {db}{new}")?;
        if let Some(free) = server.free_mib() {
            writeln!(
                out,
                "  unused     {free} MiB of the file are free and will be used again; to shrink it, stop the"
            )?;
            writeln!(out, "             server and run: sqlite3 {db} VACUUM")?;
        }
        if let Some(copy) = upgraded_from {
            writeln!(out, "  upgraded   the file as it was is kept as {}", copy.display())?;
        }
        if let Some(path) = owner_link {
            writeln!(out)?;
            writeln!(out, "Nobody can log in yet. Open this page to become the owner:")?;
            writeln!(out)?;
            writeln!(out, "  {}", style.bold(&format!("{url}{path}")))?;
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
pub async fn stop_signal() -> std::io::Result<()> {
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

//! `teamchat serve`.

use super::common::{Failure, File, Output, Style, run_on_server};
use super::logging::LogFormat;
use super::mail_flags::{MailFlags, MailInFlags};
use super::push_flags::PushFlags;
use super::test_flags::UsageError;
use super::tls_flags::TlsFlags;
use super::{keeping, logging, serve_options, test_flags};
use clap::builder::BoolishValueParser;
use clap::{Args, ValueEnum};
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use teamchat::app::{ClientFiles, MailOptions, Options, Overrides, WebPush};
use teamchat::commands::Command;
use teamchat::domain::audit::DEFAULT_KEEP_DAYS;
use teamchat::domain::limits::{MAX_FILE_UPLOAD_SIZE_MIB, UPLOAD_QUOTA_MIB};
use teamchat::oidc::Provider;
#[cfg(unix)]
use teamchat::server::systemd;
use teamchat::server::tls::{Certificate, Tls, TlsOptions};
use teamchat::server::{Engine, ListenAddress, Listener, Server, inherited, runtime};
use teamchat::store::{Database, network_file_system};
use teamchat::types::{Clock, Network};
#[cfg(unix)]
use tokio::signal::unix::{SignalKind, signal};
use tracing_subscriber::filter::Targets;
use url::Url;

/// The address on which a server listens by default.
pub const DEFAULT_ADDRESS: &str = "127.0.0.1:9991";

/// The longest time for which a server that has stopped waits for its threads.
const THREADS_GRACE: Duration = Duration::from_secs(2);

/// The public address of the server of a database, or that of the running one on this machine, or the default.
pub fn address_of(db: &Path, public_url: Option<String>) -> String {
    let running = || Database::announced(db).and_then(|server| server.origin);
    let address = public_url.or_else(running).unwrap_or_else(|| format!("http://{DEFAULT_ADDRESS}"));
    address.trim_end_matches('/').to_owned()
}

#[derive(Args)]
pub struct Serve {
    /// A configuration file in TOML. Its keys are the names of these flags, for example `listen = ["127.0.0.1:9991"]`.
    /// Flags and environment variables take precedence over the file. docs/configuration.md has an example.
    #[arg(long, env = "TEAMCHAT_CONFIG", value_name = "FILE")]
    pub config: Option<PathBuf>,
    #[command(flatten)]
    pub file: File,
    /// The address to listen on. Several are separated by commas, or the flag is repeated. Examples: 127.0.0.1:9991 for this
    /// machine only, 0.0.0.0:9991 for all IPv4 addresses, [::]:9991 for all addresses, unix:/run/teamchat/http for a Unix
    /// socket. With port 0 the system chooses a free port, which is printed. If systemd passes sockets, they replace the
    /// default.
    #[arg(long, env = "TEAMCHAT_LISTEN", value_name = "ADDR:PORT", default_value = DEFAULT_ADDRESS, value_delimiter = ',')]
    pub listen: Vec<ListenAddress>,
    /// The permissions of Unix sockets, in octal. Clients also need access to the folder of the socket.
    #[arg(long, env = "TEAMCHAT_UNIX_MODE", value_name = "MODE", default_value = "660", value_parser = serve_options::parse_mode)]
    pub unix_mode: u32,
    /// The public URL of the server: scheme, host and port, for example https://chat.example.com. Links begin with it.
    /// Without it, links in a response begin with the Host header of its request, and links in emails with the first name of
    /// --acme or the first address of --listen.
    #[arg(long, env = "TEAMCHAT_PUBLIC_URL", value_name = "URL", value_parser = serve_options::parse_public_url)]
    pub public_url: Option<String>,
    /// The addresses of your reverse proxies, separated by commas, for example 127.0.0.1 or 10.0.0.0/8. In requests from
    /// them, X-Forwarded-For names the client.
    #[arg(long, env = "TEAMCHAT_TRUSTED_PROXY", value_name = "CIDR", value_delimiter = ',')]
    pub trusted_proxy: Vec<Network>,
    /// Limit requests to 200 a minute for each user, and 100 for each address without a login. By default, this is on with
    /// --public-url, and if other machines can reach an address of --listen (except for test servers). Wrong passwords and
    /// keys are always limited.
    #[arg(long, env = "TEAMCHAT_RATE_LIMIT", value_enum, value_name = "ON|OFF")]
    pub rate_limit: Option<Switch>,
    /// Let search engines list web-public channels, if the organization can be read without an account. With off, robots.txt
    /// and the pages ask search engines not to list the channels.
    #[arg(long, env = "TEAMCHAT_SEARCH_ENGINES", value_enum, value_name = "ON|OFF", default_value = "off")]
    pub search_engines: Switch,
    /// The maximum size of an uploaded file, in MiB.
    #[arg(long, env = "TEAMCHAT_MAX_FILE_UPLOAD_SIZE_MIB", value_name = "MIB", default_value_t = MAX_FILE_UPLOAD_SIZE_MIB, value_parser = clap::value_parser!(u64).range(1..))]
    pub max_file_upload_size_mib: u64,
    /// The maximum size of all uploaded files together, in MiB. Uploads are always refused while the disk has
    /// less than 256 MiB left.
    #[arg(long, env = "TEAMCHAT_UPLOAD_QUOTA_MIB", value_name = "MIB", default_value_t = UPLOAD_QUOTA_MIB)]
    pub upload_quota_mib: u64,
    /// The maximum size of the uploads of one person and their bots, in MiB. By default, a member may use a quarter of
    /// --upload-quota-mib, a guest an eighth, and an administrator all of it. Each may have at least one file of the maximum
    /// size.
    #[arg(long, env = "TEAMCHAT_UPLOAD_QUOTA_PER_PERSON_MIB", value_name = "MIB")]
    pub upload_quota_per_person_mib: Option<u64>,
    /// Hosts that bots of type "outgoing webhook" may post to, separated by commas. Write name for port 80, name:8080 for
    /// another port, name:* for all ports. A single * allows all hosts of the public internet, but not this machine and
    /// private networks. Requests use http, not https. By default, no host is allowed.
    #[arg(long, env = "TEAMCHAT_WEBHOOK_HOSTS", value_name = "HOST[:PORT]", value_delimiter = ',', value_parser = serve_options::parse_webhook_host)]
    pub webhook_hosts: Vec<String>,
    /// Send notifications to browsers, even while the page is closed (Web Push). Each person turns them on in a browser. The
    /// server encrypts them, and sends them to the push service of the browser, which must have a public address.
    #[arg(long, env = "TEAMCHAT_WEB_PUSH", value_enum, value_name = "ON|OFF", default_value = "on")]
    pub web_push: Switch,
    /// Push services at private addresses that the server may use, separated by commas. Write name for port 443, name:8443
    /// for another port, name:* for all ports.
    #[arg(long, env = "TEAMCHAT_WEB_PUSH_HOSTS", value_name = "HOST[:PORT]", value_delimiter = ',', value_parser = serve_options::parse_webhook_host)]
    pub web_push_hosts: Vec<String>,
    /// A file with CA certificates, in PEM, for push services, a push bouncer and providers of single sign-on whose certificates
    /// are not publicly trusted.
    #[arg(long = "web-push-ca", env = "TEAMCHAT_WEB_PUSH_CA", value_name = "FILE", value_parser = serve_options::parse_authorities)]
    pub web_push_authorities: Option<String>,
    #[command(flatten)]
    pub push: PushFlags,
    /// Disable the web client. Only the pages of invitations and new passwords are served.
    #[arg(long, env = "TEAMCHAT_NO_WEB", value_parser = BoolishValueParser::new(), conflicts_with = "web_dir")]
    pub no_web: bool,
    /// Serve the web client from a directory instead of the embedded files, for development.
    #[arg(long, env = "TEAMCHAT_WEB_DIR", value_name = "FOLDER", value_parser = serve_options::parse_folder)]
    pub web_dir: Option<PathBuf>,
    /// The number of days for which entries of the audit log are kept.
    #[arg(long, env = "TEAMCHAT_AUDIT_KEEP", value_name = "DAYS", default_value_t = DEFAULT_KEEP_DAYS, value_parser = serve_options::parse_days)]
    pub audit_keep: u32,
    /// The log level: error, warn, info, debug or trace, or directives such as warn,teamchat=debug.
    #[arg(long, env = "TEAMCHAT_LOG", value_name = "FILTER", default_value = "info", value_parser = serve_options::parse_log)]
    pub log: Targets,
    /// The format of the log: text, or one JSON object a line.
    #[arg(long, env = "TEAMCHAT_LOG_FORMAT", value_enum, value_name = "text|json", default_value = "text")]
    pub log_format: LogFormat,
    /// Serve metrics for Prometheus at /metrics on this address only, for example 127.0.0.1:9992 or unix:PATH. They require
    /// no login. Without this flag, the server serves no metrics.
    #[arg(long, env = "TEAMCHAT_METRICS", value_name = "ADDR:PORT")]
    pub metrics: Option<ListenAddress>,
    /// The tables `[[oidc]]` of the configuration file.
    #[arg(skip)]
    pub oidc: Vec<Provider>,
    #[command(flatten)]
    pub mail_in: MailInFlags,
    #[command(flatten)]
    pub output: Output,
    #[command(flatten)]
    pub mail: MailFlags,
    #[command(flatten)]
    pub keeping: keeping::KeepingFlags,
    // The last two, since their headings are for all that follow.
    #[command(flatten)]
    pub tls: TlsFlags,
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
    /// The default of `--rate-limit`: on if other machines can reach the server, off for test servers.
    fn limits_requests(&self, listeners: &[Listener]) -> bool {
        let is_reached = |listeners: &[Listener]| {
            let mut addresses = listeners.iter().filter_map(|listener| listener.address().ok());
            addresses.any(|address| !address.is_local()) && !self.testing.is_test_server()
        };
        self.public_url.is_some() || is_reached(listeners)
    }

    /// Checks the values that depend on each other, and the files that they name, without a start.
    pub fn check(&self) -> Result<(), Failure> {
        if self.testing.is_test_server() {
            self.check_test_server()?;
        }
        self.testing.check(&self.listen, self.public_url.is_some())?;
        self.keeping.backups()?;
        self.push.bouncer()?;
        self.mail_options(&[])?;
        if let Some(TlsOptions::Files { certificate, key }) = self.tls.options(&self.file.db) {
            Certificate::read(&certificate, &key, Clock::System.seconds())
                .map_err(|error| UsageError(error.to_string()))?;
        }
        Ok(())
    }

    pub fn run(self) -> Result<(), Failure> {
        logging::start(&self.log, self.log_format);
        if self.testing.is_test_server() {
            return self.run_test_server();
        }
        let runtime = runtime()?;
        let done = runtime.block_on(self.serve());
        // A folder of backups that does not respond holds up its thread.
        runtime.shutdown_timeout(THREADS_GRACE);
        done
    }

    /// Serves until a signal, or until the server fails.
    async fn serve(&self) -> Result<(), Failure> {
        let listeners = self.open_sockets()?;
        let listen = |address: Option<&ListenAddress>| {
            address.map(|address| Server::listen(address, self.unix_mode)).transpose()
        };
        let (metrics, mail) = (listen(self.metrics.as_ref())?, listen(self.mail_in.mail_listen.as_ref())?);
        let tls = self.open_tls(&listeners)?;
        let engine = Engine::open(&self.file.db, Clock::System, self.options(&listeners)?).await?;
        let upgraded_from = engine.upgraded_from().map(Path::to_owned);
        let mut server = Server::serve(engine, listeners, tls.clone())?;
        let metrics_address = metrics.as_ref().map(Listener::address).transpose()?;
        if let Some(listener) = metrics {
            server.serve_metrics(listener);
        }
        let mail_address = mail.as_ref().map(Listener::address).transpose()?;
        if let Some(listener) = mail {
            server.serve_mail(listener);
        }
        let owner_link: Option<String> = run_on_server(&server, Command::OwnerLink).await?;
        let version = env!("CARGO_PKG_VERSION");
        let addresses: Vec<String> = server.addresses().iter().map(ToString::to_string).collect();
        tracing::info!(version, address = addresses.join(", "), "the server has started");
        self.warn(server.addresses(), tls.as_deref());
        let (stopped, reloading) = (stop_signal()?, reload_on_hangup(tls.clone())?);
        let urls: Vec<String> = server.addresses().iter().map(|address| address.url(tls.is_some())).collect();
        let metrics = metrics_address.map(|address| match &address {
            ListenAddress::Tcp(_) => format!("{}/metrics", address.url(false)),
            #[cfg(unix)]
            ListenAddress::Unix(_) => address.to_string(),
        });
        if self.output.json {
            self.print_ready(&urls, ("metrics_url", metrics), owner_link.as_deref(), server.is_new())?;
        } else {
            let upgraded_from = upgraded_from.as_deref();
            let others = [("metrics", metrics), ("mail", mail_address.map(|address| address.to_string()))];
            self.print_start(&server, &urls, &others, upgraded_from, owner_link.as_deref())?;
        }
        #[cfg(unix)]
        systemd::notify_ready();
        let failed = tokio::select! {
            () = stopped => false,
            () = server.failed() => true,
            () = reloading => false,
        };
        #[cfg(unix)]
        systemd::notify_stopping();
        tracing::info!("the server is stopping");
        if self.log_format == LogFormat::Text {
            let text = Style::stderr().dim("stopping: answering waiting clients, saving the file");
            writeln!(std::io::stderr(), "{text}")?;
        }
        server.stop().await;
        if failed {
            return Err("the server can no longer write to the database; the log says why".into());
        }
        Ok(())
    }

    /// Reads the certificate, if the server speaks TLS and has one yet. Checks that a socket can speak it.
    fn open_tls(&self, listeners: &[Listener]) -> Result<Option<Arc<Tls>>, Failure> {
        let tls = self.tls.options(&self.file.db).map(|options| Tls::new(&options, Clock::System));
        let tls = tls.transpose().map_err(|error| UsageError(error.to_string()))?.map(Arc::new);
        if tls.is_some() && !listeners.iter().any(|listener| matches!(listener, Listener::Tcp(_))) {
            let text = "TLS needs an ADDR:PORT in --listen: Unix sockets use plain HTTP";
            return Err(UsageError(text.to_owned()).into());
        }
        Ok(tls)
    }

    /// Opens the sockets that systemd passes, and those of `--listen` that are not among them.
    fn open_sockets(&self) -> Result<Vec<Listener>, Failure> {
        let mut listeners = inherited().map_err(|error| format!("socket activation: {error}"))?;
        let passed: Vec<ListenAddress> = listeners.iter().map(Listener::address).collect::<Result<_, _>>()?;
        let is_default = matches!(&self.listen[..], [only] if only.to_string() == DEFAULT_ADDRESS);
        let own = || {
            let own = self.listen.iter().filter(|address| !passed.contains(address));
            own.filter(|_| passed.is_empty() || !is_default)
        };
        self.testing.check(passed.iter().chain(own()), self.public_url.is_some())?;
        for address in own() {
            listeners.push(Server::listen(address, self.unix_mode)?);
        }
        Ok(listeners)
    }

    /// The public URL, or else the name of the certificate of `--acme`, whose checks arrive at the standard port.
    pub fn named_url(&self) -> Option<String> {
        let by_certificate = || self.tls.acme.first().map(|name| format!("https://{name}"));
        self.public_url.clone().or_else(by_certificate)
    }

    /// The base of links outside requests: that of the name, or else the first address. The host that a request names is not
    /// used: it may be another site.
    fn own_url(&self, listeners: &[Listener]) -> String {
        let is_secure = self.tls.options(&self.file.db).is_some();
        let opened = listeners.iter().filter_map(|listener| listener.address().ok());
        let addresses = opened.chain(self.listen.iter().cloned());
        let mut urls = addresses.map(|address| address.here().url(is_secure));
        let first = || urls.find(|url| url.starts_with("http"));
        self.named_url().or_else(first).unwrap_or_else(|| format!("http://{DEFAULT_ADDRESS}"))
    }

    /// The options of mail, of a server with these sockets.
    pub fn mail_options(&self, listeners: &[Listener]) -> Result<Option<MailOptions>, Failure> {
        Ok(self.mail.options(&self.own_url(listeners))?)
    }

    /// The options of a server with these sockets.
    pub fn options(&self, listeners: &[Listener]) -> Result<Options, Failure> {
        Ok(Options {
            public_url: self.public_url.clone(),
            webhook_hosts: self.webhook_hosts.clone(),
            web_push: WebPush {
                is_off: self.web_push == Switch::Off,
                hosts: self.web_push_hosts.clone(),
                authorities: self.web_push_authorities.clone(),
            },
            push_bouncer: self.push.bouncer()?,
            mail_pattern: self.mail_in.mail_pattern.clone(),
            trusted_proxies: self.trusted_proxy.clone(),
            search_engines: self.search_engines == Switch::On,
            rate_limit: self
                .rate_limit
                .map_or(self.limits_requests(listeners), |switch| switch == Switch::On),
            oidc: self.oidc.clone(),
            max_file_upload_size_mib: Some(self.max_file_upload_size_mib),
            upload_quota_mib: Some(self.upload_quota_mib),
            upload_quota_per_person_mib: self.upload_quota_per_person_mib,
            audit_keep_days: Some(self.audit_keep),
            mail: self.mail_options(listeners)?,
            backups: self.keeping.backups()?,
            is_replicated: self.keeping.replicated,
            client_files: match &self.web_dir {
                _ if self.no_web => ClientFiles::Off,
                Some(folder) => ClientFiles::Folder(folder.clone()),
                None => ClientFiles::Embedded,
            },
            dev_login: self.testing.dev,
            overrides: Overrides::default(),
        })
    }

    /// Warns of settings that are fine on one machine, and not for others.
    fn warn(&self, addresses: &[ListenAddress], tls: Option<&Tls>) {
        if let Some(name) = network_file_system(&self.file.db) {
            tracing::warn!(
                "the database is on {name}, whose locks are not reliable: move it to a disk of this machine"
            );
        }
        if self.metrics.as_ref().is_some_and(|address| !address.is_local()) {
            tracing::warn!("other machines can reach the address of --metrics, which needs no login");
        }
        let public_host =
            self.public_url.as_ref().and_then(|url| Url::parse(url).ok()?.host_str().map(str::to_owned));
        if let (Some(tls), Some(host)) = (tls, public_host)
            && !tls.is_for(&host)
        {
            tracing::warn!(
                host,
                "the certificate is not for the host of --public-url: clients will refuse it"
            );
        }
        match &self.public_url {
            Some(url) if url.starts_with("http:") && tls.is_some() => {
                tracing::warn!(
                    "the server has TLS, and --public-url begins with http://: set it to https://"
                );
            }
            None if !addresses.iter().all(ListenAddress::is_local) => tracing::warn!(
                "others can reach this server, and there is no --public-url: links use the Host of each request"
            ),
            Some(url) if url.starts_with("https:") && self.trusted_proxy.is_empty() && tls.is_none() => {
                tracing::warn!(
                    "there is a reverse proxy for https, and no --trusted-proxy: all clients have the address of the proxy, \
                 and share its limits"
                );
            }
            _ => {}
        }
    }

    /// Prints the addresses of the server and, if there is no owner yet, a link to become one. `others` are further listeners.
    fn print_start(
        &self,
        server: &Server,
        urls: &[String],
        others: &[(&str, Option<String>)],
        upgraded_from: Option<&Path>,
        owner_link: Option<&str>,
    ) -> std::io::Result<()> {
        let style = Style::stdout();
        let mut out = std::io::stdout();
        let is_secure = urls.iter().any(|url| url.starts_with("https:"));
        let here =
            server.addresses().first().map(|address| address.here().url(is_secure)).unwrap_or_default();
        let url = self.named_url().unwrap_or(here);
        let db = self.file.db.display();
        writeln!(out, "{} {}", style.bold("teamchat"), style.dim(env!("CARGO_PKG_VERSION")))?;
        if let Some(url) = &self.public_url {
            writeln!(out, "  public     {}", style.green(url))?;
        }
        for url in urls {
            writeln!(out, "  listening  {}", style.green(url))?;
        }
        for (name, url) in others {
            if let Some(url) = url {
                writeln!(out, "  {name:<10} {url}")?;
            }
        }
        if let Some(path) = &self.config {
            writeln!(out, "  settings   {}", path.display())?;
        }
        let new = if server.is_new() { " (created)" } else { "" };
        writeln!(out, "  database   {db}{new}")?;
        if let Some(free) = server.free_mib() {
            writeln!(
                out,
                "  unused     {free} MiB of the file are free and will be used again; to shrink it, stop the"
            )?;
            writeln!(out, "             server and run: teamchat compact --db {db}")?;
        }
        if let Some(copy) = upgraded_from {
            writeln!(out, "  upgraded   the previous file was saved as {}", copy.display())?;
        }
        if let Some(path) = owner_link {
            writeln!(out)?;
            writeln!(out, "There is no owner yet. Open this page to create the account:")?;
            writeln!(out)?;
            writeln!(out, "  {}", style.bold(&format!("{url}{path}")))?;
            writeln!(out)?;
            writeln!(out, "{}", style.dim("The link works once, until the server stops."))?;
            // The path by which the program was started, so that the command can be copied.
            let program = std::env::args().next().unwrap_or_else(|| "teamchat".to_owned());
            let command = format!("{program} user create --db {db} --role owner --email ... --full-name ...");
            writeln!(out, "{}", style.dim(&format!("Without a browser: {command}")))?;
        }
        out.flush()
    }
}

/// Has the certificate read again, or the ACME server asked again, at each SIGHUP, from this call on. On a terminal, which sends it when it is closed, SIGHUP
/// ends the program.
fn reload_on_hangup(tls: Option<Arc<Tls>>) -> std::io::Result<impl Future<Output = ()>> {
    #[cfg(unix)]
    let hangup = if std::io::stdout().is_terminal() { None } else { Some(signal(SignalKind::hangup())?) };
    Ok(async move {
        #[cfg(unix)]
        if let Some(mut hangup) = hangup {
            while hangup.recv().await.is_some() {
                match &tls {
                    Some(tls) => tls.reload.notify_one(),
                    None => tracing::info!("SIGHUP: there is no certificate to read again"),
                }
            }
        }
        std::future::pending::<()>().await;
    })
}

/// Waits for Ctrl-C or, on Unix, SIGTERM. Signals count from this call on: one that arrived before would end the program at
/// once.
pub fn stop_signal() -> std::io::Result<impl Future<Output = ()>> {
    #[cfg(unix)]
    {
        let mut interrupt = signal(SignalKind::interrupt())?;
        let mut terminate = signal(SignalKind::terminate())?;
        Ok(async move {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
        })
    }
    #[cfg(not(unix))]
    Ok(async {
        // Without the signal the program is ended from outside.
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending().await
        }
    })
}

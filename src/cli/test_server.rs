//! `serve` as a test server.

use super::common::{Failure, Style};
use super::serve::{Serve, stop_signal};
use super::test_flags::UsageError;
use serde_json::json;
use std::io::Write;
use std::net::SocketAddr;
use teamchat::commands::Command;
use teamchat::server::ListenAddress;
use teamchat::testing::{DoubleError, Fixtures, Program, Settings};
use teamchat::{commands, server, testing};

impl Serve {
    /// Runs a server for tests of clients.
    pub fn run_test_server(&self) -> Result<(), Failure> {
        let flags = &self.testing;
        let (address, fixtures) = self.check_test_server()?;
        flags.check(&self.listen, self.public_url.is_some())?;
        let settings = Settings {
            database: (!flags.ephemeral).then(|| self.file.db.clone()),
            fixtures,
            is_controlled: flags.test_control.is_some(),
            record: flags.record.clone(),
            is_strict: flags.strict,
            options: self.options(&[])?,
        };
        let is_created = !flags.ephemeral && !self.file.db.exists();
        let runtime = if flags.ephemeral { testing::runtime() } else { server::runtime() };
        runtime?.block_on(async {
            let program = Program::start(settings, address, flags.test_control).await;
            let program = program.map_err(|error| -> Failure {
                match &error {
                    DoubleError::Fixtures(wrong) => flags.explain(wrong).into(),
                    DoubleError::NotNew(_) => UsageError(error.to_string()).into(),
                    _ => error.into(),
                }
            })?;
            let owner_link: Option<String> =
                serde_json::from_value(commands::run(&*program.app().await?, Command::OwnerLink).await?)?;
            let stopped = stop_signal()?;
            let url = ListenAddress::Tcp(program.address()).url(false);
            let control = program.control().map(|address| format!("http://{address}"));
            self.print_ready(&[url], ("test_control_url", control), owner_link.as_deref(), is_created)?;
            stopped.await;
            program.stop().await;
            Ok(())
        })
    }
}

impl Serve {
    /// Checks the flags of a test server. Returns its address, and its fixtures.
    pub fn check_test_server(&self) -> Result<(SocketAddr, Option<Fixtures>), Failure> {
        let [ListenAddress::Tcp(address)] = &self.listen[..] else {
            return Err(UsageError("a test server listens on one ADDR:PORT".to_owned()).into());
        };
        if self.tls.options(&self.file.db).is_some() {
            return Err(UsageError("a test server has no TLS".to_owned()).into());
        }
        if self.metrics.is_some() {
            return Err(UsageError("a test server has no --metrics".to_owned()).into());
        }
        Ok((*address, self.testing.read_fixtures()?))
    }

    /// Prints where the server listens, as one line of JSON or in words. `other` is the name and the address of another
    /// listener. `is_created` is true if the database was missing.
    pub fn print_ready(
        &self,
        urls: &[String],
        other: (&str, Option<String>),
        owner_link: Option<&str>,
        is_created: bool,
    ) -> Result<(), Failure> {
        let mut out = std::io::stdout();
        let url = self.public_url.clone().or_else(|| urls.first().cloned()).unwrap_or_default();
        let base = self.named_url().unwrap_or_else(|| url.clone());
        let owner = owner_link.map(|path| format!("{base}{path}"));
        if self.output.json {
            let mut line = json!({ "url": url, "urls": urls, "version": env!("CARGO_PKG_VERSION") });
            for (name, value) in [other, ("owner_url", owner)] {
                if let Some(value) = value {
                    line[name] = value.into();
                }
            }
            if is_created {
                line["created"] = true.into();
            }
            writeln!(out, "{line}")?;
            return Ok(out.flush()?);
        }
        let (_, control) = other;
        let style = Style::stdout();
        writeln!(out, "{} {}", style.bold("teamchat"), style.dim(env!("CARGO_PKG_VERSION")))?;
        writeln!(out, "  listening  {}", style.green(&url))?;
        if self.testing.ephemeral {
            writeln!(out, "  database   none: all data is gone when the server ends")?;
        } else {
            let new = if is_created { " (created)" } else { "" };
            writeln!(out, "  database   {}{new}", self.file.db.display())?;
        }
        if let Some(url) = control {
            writeln!(out, "  control    {url}")?;
        }
        if let Some(url) = owner {
            writeln!(out, "  owner      {url}")?;
        }
        Ok(out.flush()?)
    }
}

//! `serve` as a test server.

use super::common::{Failure, Style};
use super::serve::{Serve, stop_signal};
use super::test_flags::UsageError;
use serde_json::json;
use std::io::Write;
use std::net::SocketAddr;
use teamchat::api::control::{self, Command};
use teamchat::app::Options;
use teamchat::server;
use teamchat::testing::{self, DoubleError, Program, Settings};

impl Serve {
    /// Runs a server for tests of clients.
    pub fn run_test_server(&self, options: Options) -> Result<(), Failure> {
        let flags = &self.testing;
        let settings = Settings {
            database: (!flags.ephemeral).then(|| self.file.db.clone()),
            fixtures: flags.read_fixtures()?,
            is_controlled: flags.test_control.is_some(),
            record: flags.record.clone(),
            options,
        };
        let runtime = if flags.ephemeral { testing::runtime() } else { server::runtime() };
        runtime?.block_on(async {
            let program = Program::start(settings, self.listen, flags.test_control).await;
            let program = program.map_err(|error| -> Failure {
                match &error {
                    DoubleError::Fixtures(wrong) => flags.explain(wrong).into(),
                    DoubleError::NotNew(_) => UsageError(error.to_string()).into(),
                    _ => error.into(),
                }
            })?;
            let owner_link: Option<String> =
                serde_json::from_value(control::run(&*program.app().await?, Command::OwnerLink).await?)?;
            self.print_ready(program.address(), program.control(), owner_link.as_deref())?;
            stop_signal().await?;
            program.stop().await;
            Ok(())
        })
    }
}

impl Serve {
    /// Prints where the server listens, as one line of JSON or in words.
    pub fn print_ready(
        &self,
        address: SocketAddr,
        test_control: Option<SocketAddr>,
        owner_link: Option<&str>,
    ) -> Result<(), Failure> {
        let mut out = std::io::stdout();
        let url = self.public_url.clone().unwrap_or_else(|| format!("http://{address}"));
        let control = test_control.map(|address| format!("http://{address}"));
        let owner = owner_link.map(|path| format!("{url}{path}"));
        if self.output.json {
            let mut line = json!({ "url": url });
            for (name, value) in [("test_control_url", control), ("owner_url", owner)] {
                if let Some(value) = value {
                    line[name] = value.into();
                }
            }
            writeln!(out, "{line}")?;
            return Ok(out.flush()?);
        }
        let style = Style::stdout();
        writeln!(out, "{} {}", style.bold("teamchat"), style.dim(env!("CARGO_PKG_VERSION")))?;
        writeln!(out, "  listening  {}", style.green(&url))?;
        if self.testing.ephemeral {
            writeln!(out, "  database   none: all data is gone when the server ends")?;
        } else {
            writeln!(out, "  database   {}", self.file.db.display())?;
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

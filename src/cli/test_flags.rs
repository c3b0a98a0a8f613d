//! Flags of `serve` for authors of clients and bots, and `teamchat fixtures`.

use super::common::{Failure, File, print, record};
use clap::builder::BoolishValueParser;
use clap::{Args, Subcommand};
use std::error::Error;
use std::io::Write;
use std::net::SocketAddr;
use std::path::PathBuf;
use teamchat::commands::Work;
use teamchat::server::ListenAddress;
use teamchat::store::Database;
use teamchat::testing::{Fixtures, dump};
use teamchat::types::charset;

/// For authors of clients and bots; docs/testing.md shows their use.
#[derive(Args)]
#[command(next_help_heading = "For tests of clients and bots")]
pub struct Flags {
    /// Keep nothing on disk: all data is lost when the server ends.
    #[arg(long, env = "TEAMCHAT_EPHEMERAL", value_parser = BoolishValueParser::new(), conflicts_with = "db")]
    pub ephemeral: bool,
    /// A JSON file with the users, API keys, channels and messages to start with. Only for a new database.
    #[arg(long, env = "TEAMCHAT_FIXTURES", value_name = "FILE")]
    pub fixtures: Option<PathBuf>,
    /// The address of the control interface for tests: requests, clock, faults, reset. It has no authentication, but
    /// refuses requests from web pages.
    #[arg(long, env = "TEAMCHAT_TEST_CONTROL", value_name = "ADDR:PORT")]
    pub test_control: Option<SocketAddr>,
    /// Write all exchanges to a file as HTTP Archive (HAR), without credentials.
    #[arg(long, env = "TEAMCHAT_RECORD", value_name = "FILE")]
    pub record: Option<PathBuf>,
    /// Answer requests that have unknown parameters with an error, so that tests find misspelled names. The requests still
    /// take effect.
    #[arg(long, env = "TEAMCHAT_STRICT", value_parser = BoolishValueParser::new())]
    pub strict: bool,
    /// Issue API keys without passwords: POST /dev_fetch_api_key and GET /dev_list_users. Requires a loopback address and
    /// host name.
    #[arg(long, env = "TEAMCHAT_DEV", value_parser = BoolishValueParser::new())]
    pub dev: bool,
}

#[derive(Subcommand)]
pub enum FixturesCommand {
    /// Print the users, groups, channels and messages of a database as JSON, for serve --fixtures.
    ///
    /// Works whether the server is running or not. The output has the API keys of bots, but no passwords and no other keys:
    /// the database has only their digests.
    Dump {
        #[command(flatten)]
        file: File,
    },
    /// Print sample fixtures: the users that client tests expect, and channels of each kind.
    Sample,
}

/// Invalid input of the user. The program exits with 2, as after an invalid flag.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct UsageError(pub String);

impl Flags {
    /// True for servers with fixtures, control, recording or strictness.
    pub fn is_test_server(&self) -> bool {
        self.ephemeral
            || self.fixtures.is_some()
            || self.test_control.is_some()
            || self.record.is_some()
            || self.strict
    }

    /// Refuses options that give strangers access, and warns of risky ones.
    pub fn check<'a>(
        &self,
        addresses: impl IntoIterator<Item = &'a ListenAddress>,
        is_public: bool,
    ) -> Result<(), Failure> {
        let mut err = std::io::stderr();
        if self.dev {
            if is_public {
                let text = "--dev issues API keys without authentication, so it conflicts with --public-url";
                return Err(UsageError(text.to_owned()).into());
            }
            for listen in addresses {
                if listen.is_local() {
                    writeln!(
                        err,
                        "WARNING: --dev gives the API key of every user to any client at {listen}."
                    )?;
                    continue;
                }
                let text = format!(
                    "--dev issues API keys without authentication, so it requires a loopback address, not {listen}"
                );
                return Err(UsageError(text).into());
            }
        }
        if let Some(address) = self.test_control.filter(|address| !address.ip().is_loopback()) {
            writeln!(err, "WARNING: any client that reaches {address} controls this server.")?;
        }
        Ok(())
    }

    pub fn read_fixtures(&self) -> Result<Option<Fixtures>, Failure> {
        let Some(path) = &self.fixtures else { return Ok(None) };
        let text = charset::read_file(path)
            .map_err(|error| UsageError(format!("cannot read {}: {error}", path.display())))?;
        let fixtures = Fixtures::parse(&text);
        Ok(Some(fixtures.map_err(|error| self.explain(&error))?))
    }

    /// An error about the fixtures, with the name of the file.
    pub fn explain(&self, error: &dyn Error) -> UsageError {
        let path = self.fixtures.as_deref().unwrap_or(std::path::Path::new("fixtures"));
        UsageError(format!("{}: {error}", path.display()))
    }
}

impl FixturesCommand {
    pub fn run(self) -> Result<(), Failure> {
        let fixtures = match self {
            Self::Dump { file } => {
                Database::check_exists(&file.db)?;
                let fixtures = dump(&file.db)?;
                record(&file.db, Work::Export { format: "fixtures".to_owned(), scope: "full".to_owned() });
                fixtures
            }
            Self::Sample => Fixtures::sample()?,
        };
        print(|out| writeln!(out, "{}", fixtures.to_json()))
    }
}

//! Flags of `serve` for authors of clients and bots, and `teamchat fixtures`.

use super::common::{Failure, File, print};
use clap::builder::BoolishValueParser;
use clap::{Args, Subcommand};
use std::error::Error;
use std::io::Write;
use std::net::SocketAddr;
use std::path::PathBuf;
use teamchat::testing::{Fixtures, dump};

/// For authors of clients and bots; docs/testing.md shows their use.
#[derive(Args)]
#[command(next_help_heading = "For tests of clients and bots")]
pub struct Flags {
    /// Keep nothing on the disk: all data is gone when the server ends, however it ends.
    #[arg(long, env = "TEAMCHAT_EPHEMERAL", value_parser = BoolishValueParser::new(), conflicts_with = "db")]
    pub ephemeral: bool,
    /// Users with API keys, channels and messages to start with, as JSON. Only for a new database.
    #[arg(long, env = "TEAMCHAT_FIXTURES", value_name = "FILE")]
    pub fixtures: Option<PathBuf>,
    /// Listen here for the control of tests: requests seen, clock, faults, reset. Whoever reaches it may do anything, but pages of
    /// browsers may not.
    #[arg(long, env = "TEAMCHAT_TEST_CONTROL", value_name = "ADDR:PORT")]
    pub test_control: Option<SocketAddr>,
    /// Write all exchanges to a file as HTTP Archive (HAR), without credentials.
    #[arg(long, env = "TEAMCHAT_RECORD", value_name = "FILE")]
    pub record: Option<PathBuf>,
    /// Hand out API keys without passwords: POST /dev_fetch_api_key and GET /dev_list_users. Only on a loopback address, and
    /// only by its names.
    #[arg(long, env = "TEAMCHAT_DEV", value_parser = BoolishValueParser::new())]
    pub dev: bool,
}

#[derive(Subcommand)]
pub enum FixturesCommand {
    /// Print the users, groups, channels and messages of a database as JSON, for serve --fixtures.
    ///
    /// Works while the server runs and while it does not. API keys and passwords are not in the database, so they are
    /// left out, except for the keys of bots.
    Dump {
        #[command(flatten)]
        file: File,
    },
    /// Print fixtures to begin with: the people that tests of clients know, and channels of each kind.
    Sample,
}

/// What was given to the program cannot be used. It ends with code 2, as after a wrong flag.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct UsageError(pub String);

impl Flags {
    /// Whether the server is more than one for people.
    pub fn is_test_server(&self) -> bool {
        self.ephemeral || self.fixtures.is_some() || self.test_control.is_some() || self.record.is_some()
    }

    /// Refuses what would give strangers access, and warns of what might.
    pub fn check(&self, listen: SocketAddr, is_public: bool) -> Result<(), Failure> {
        let mut err = std::io::stderr();
        if self.dev {
            if is_public {
                let text = "--dev hands out API keys to everybody, so it does not go with --public-url";
                return Err(UsageError(text.to_owned()).into());
            }
            if !listen.ip().is_loopback() {
                let text = format!(
                    "--dev hands out API keys to everybody, so it listens on a loopback address only, not on {listen}"
                );
                return Err(UsageError(text).into());
            }
            writeln!(
                err,
                "WARNING: --dev gives the API key of every user to everybody who reaches {listen}."
            )?;
        }
        if let Some(address) = self.test_control.filter(|address| !address.ip().is_loopback()) {
            writeln!(err, "WARNING: everybody who reaches {address} controls this server.")?;
        }
        Ok(())
    }

    /// Reads the fixtures.
    pub fn read_fixtures(&self) -> Result<Option<Fixtures>, Failure> {
        let Some(path) = &self.fixtures else { return Ok(None) };
        let text = std::fs::read_to_string(path)
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
    /// Runs the command.
    pub fn run(self) -> Result<(), Failure> {
        let fixtures = match self {
            Self::Dump { file } => dump(&file.db)?,
            Self::Sample => Fixtures::sample()?,
        };
        print(|out| writeln!(out, "{}", fixtures.to_json()))
    }
}

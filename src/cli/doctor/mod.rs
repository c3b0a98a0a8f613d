//! `teamchat doctor`: tests of the machine, of the database, and of the connection from the internet to the server.

mod file;
mod findings;
mod machine;
mod oidc;
mod public;
mod running;
mod tls;

use super::common::{Failure, print};
use super::serve::Serve;
use super::serve_options::parse_authorities;
use clap::Args;
use findings::Findings;
use std::process::ExitCode;

/// The exit code if there is a problem, and if the database cannot be used at all.
const PROBLEM: u8 = 1;
const UNUSABLE: u8 = 2;

#[derive(Args)]
pub(super) struct DoctorCommand {
    /// A file with CA certificates, in PEM, if your own CA signed the certificate of the public address.
    #[arg(long, env = "TEAMCHAT_CA", value_name = "FILE", value_parser = parse_authorities)]
    ca: Option<String>,
    #[command(flatten)]
    pub(super) serve: Serve,
}

impl DoctorCommand {
    /// Prints a line for each test.
    pub(super) fn run(self) -> Result<ExitCode, Failure> {
        let mut findings = Findings::default();
        let serve = &self.serve;
        let unusable = match file::open(&serve.file.db, &mut findings) {
            Ok(connection) => {
                let running = running::find(serve, &mut findings);
                file::check(serve, &connection, running.as_ref(), &mut findings);
                machine::check(serve, &connection, running.as_ref(), &mut findings);
                tls::check(serve, self.ca.as_deref(), running.is_some(), &mut findings)?;
                oidc::check(serve, &connection, &mut findings)?;
                drop(connection);
                public::check(serve, self.ca.as_deref(), running.as_ref(), &mut findings)?;
                if let Some(running) = running {
                    findings.add_warnings(&running.status.warnings);
                }
                false
            }
            Err(error) => {
                findings.problem("database", error, "the other tests require a usable database");
                true
            }
        };
        print(|out| findings.write(out, serve.output.json))?;
        Ok(match (unusable, findings.has_problem()) {
            (true, _) => UNUSABLE.into(),
            (false, true) => PROBLEM.into(),
            (false, false) => ExitCode::SUCCESS,
        })
    }
}

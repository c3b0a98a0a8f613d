//! The `teamchat` program: translates the command line to calls of the library.

mod cli;

use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    cli::Arguments::parse().run()
}

//! The `teamchat` program: command line to library calls, and nothing else.

mod cli;

use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    cli::Arguments::parse().run()
}

//! The `teamchat` program: parses the command line and calls the library.

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::Arguments::read().run()
}

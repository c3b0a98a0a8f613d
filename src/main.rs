//! The `teamchat` program: parses the command line and calls the library.

mod cli;

use std::process::ExitCode;

/// The allocator of static binaries. That of musl has one lock for all threads.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    cli::Arguments::read().run()
}

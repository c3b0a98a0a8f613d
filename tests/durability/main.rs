//! What was acknowledged is kept, whatever happens to the program and to the disk.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

#[cfg(target_os = "linux")]
mod faults;
mod files;
mod kills;
mod program;

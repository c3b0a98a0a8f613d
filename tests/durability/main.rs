//! Acknowledged changes survive crashes of the program and faults of the disk.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

#[cfg(target_os = "linux")]
mod archives;
#[cfg(target_os = "linux")]
mod backups;
#[path = "../api/harness/budget.rs"]
mod budget;
#[cfg(target_os = "linux")]
mod checks;
#[cfg(target_os = "linux")]
mod deliveries;
#[cfg(target_os = "linux")]
mod disk;
#[cfg(target_os = "linux")]
mod faults;
mod files;
#[cfg(target_os = "linux")]
mod findings;
mod kills;
mod program;
#[cfg(target_os = "linux")]
mod shim;

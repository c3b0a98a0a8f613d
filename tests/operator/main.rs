//! The program as the person who runs it knows it: configuration, sockets, TLS, proxies.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]
#![expect(
    clippy::disallowed_methods,
    reason = "the clock of the machine is that of the program, and tasks are those of a test"
)]

mod acme;
mod authority;
mod book;
mod configuration;
#[cfg(unix)]
mod doctor;
#[cfg(unix)]
mod files;
mod http2;
#[cfg(unix)]
mod mail;
mod mail_deliver;
#[path = "../api/harness/ports.rs"]
mod ports;
mod program;
#[cfg(target_os = "linux")]
mod proxies;
#[path = "../api/harness/received.rs"]
mod received;
mod requirements;
mod scripts;
mod secrets;
mod sign_on;
#[cfg(unix)]
mod sockets;
mod status;
mod tables;
mod tls;

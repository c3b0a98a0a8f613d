//! Moving organizations from and to other servers.

pub mod export;
mod import;
mod round_trip;

//! A team chat server in one binary and one file.

pub mod markdown;

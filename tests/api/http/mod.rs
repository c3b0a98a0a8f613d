//! Requests of every shape, before any handler.

mod authentication;
mod browsers;
mod bytes;
mod connections;
mod every_route;
mod failed_checks;
mod full_disk;
mod malformed;
mod pools;
mod proxies;
mod rate_limit;
mod requests;
mod slow_reads;

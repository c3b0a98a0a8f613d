//! Authentication: who calls, and what a route may ask of a caller.
//!
//! - [`credentials`]: the `Authorization` header, API keys, and their owners in the database;
//! - [`CredentialCache`]: owners of recently used API keys, in memory;
//! - [`RateLimiter`]: limits on requests, wrong keys and sign-ups, and on guessing passwords ([`password_attempts`]);
//! - [`session`]: cookies of browsers that stand for an API key, and checks against forged requests;
//! - [`Caller`], and the kinds of caller as types: [`Anyone`], [`Visitor`], [`User`], [`Administrator`], [`Owner`];
//! - [`Access`]: what a route asks for, by one of the constants [`ANYONE`] to [`OWNER`];
//! - [`Ctx`]: the database as a caller sees it at one moment.
//!
//! Failures and their order are those of the published server (`Authorization: Basic`, with email and API key).

mod caller;
mod context;
mod credential_cache;
pub mod credentials;
pub mod password_attempts;
mod rate_limit;
pub mod session;
mod window;

pub use caller::{
    ADMINISTRATOR, ANYONE, Access, Administrator, Anyone, Caller, CallerKind, OWNER, Owner, USER, User,
    VISITOR, Visitor,
};
pub use context::Ctx;
pub use credential_cache::CredentialCache;
pub use credentials::ApiKeyOwner;
pub use rate_limit::{RateLimiter, Usage};

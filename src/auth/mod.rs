//! Authentication of callers, and access of routes.
//!
//! - [`credentials`]: API keys and sessions, as sent in requests and as stored, and the function that maps them to a
//!   caller;
//! - [`CredentialCache`]: recently used credentials, in memory;
//! - [`RateLimiter`]: limits on requests, wrong keys and sign-ups, and on guessing passwords ([`password_attempts`]);
//! - [`session`]: cookies of browsers, and checks against forged requests;
//! - [`Caller`], and the kinds of caller as types: [`Anyone`], [`Visitor`], [`User`], [`Administrator`], [`Owner`];
//! - [`Access`]: the access of a route, one of the constants [`ANYONE`] to [`OWNER`];
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
    ADMINISTRATOR, ANYONE, Access, Administrator, Anyone, Caller, CallerKind, Credential, OWNER, Owner, USER,
    User, VISITOR, Visitor,
};
pub use context::Ctx;
pub use credential_cache::{CredentialCache, CredentialUse};
pub use credentials::CredentialRow;
pub use rate_limit::{RateLimiter, Usage};

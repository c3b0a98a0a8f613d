//! HTTP: from bytes to a handler and back.
//!
//! - [`Route`] and [`Router`]: which handler answers, and who may call it;
//! - [`caller`]: credentials to a [`Caller`], kinds of caller as types;
//! - [`form`] and [`params`]: the parameters of a request, decoded and deserialized;
//! - [`ApiError`] and [`Reply`]: what goes back;
//! - [`service`]: one request through all of these.
//!
//! Nothing here knows a resource.

pub mod caller;
mod error;
pub mod form;
mod limit;
pub mod params;
mod refusals;
mod reply;
mod route;
pub mod service;

pub use caller::{ADMINISTRATOR, ANYONE, Administrator, Anyone, Caller, OWNER, Owner, USER, User};
pub use error::{ApiError, ApiResult};
pub use limit::Limits;
pub use refusals::JsonRefusals;
pub use reply::{OtherReply, Reply, members_of};
pub use route::{BODY_LIMIT, Both, Call, Clash, Parameters, Read, RequestInfo, Route, Router};

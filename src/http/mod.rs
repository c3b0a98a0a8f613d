//! HTTP: from bytes to a handler and back.
//!
//! - [`Route`] and [`Router`]: which handler answers, and who may call it;
//! - [`caller`]: credentials to a [`Caller`], kinds of caller as types;
//! - [`KnownCallers`]: those who were here lately;
//! - [`ArrivingFiles`] and [`Body`]: files that are larger than memory should be, both ways;
//! - [`form`] and [`params`]: the parameters of a request, decoded and deserialized;
//! - [`Reply`]: a successful response;
//! - [`service`]: one request through all of these.
//!
//! Nothing here knows a resource.

mod arriving;
mod body;
pub mod form;
mod json_text;
pub mod params;
mod refusals;
mod reply;
mod request_body;
mod route;
mod router;
pub mod service;

pub use crate::auth::{
    ADMINISTRATOR, ANYONE, Administrator, Anyone, Caller, OWNER, Owner, USER, User, VISITOR, Visitor,
};
pub use crate::error::{ApiError, ApiResult};
pub use arriving::{ArrivingFile, ArrivingFiles};
pub use body::{Body, Pieces};
pub use json_text::write_json_text;
pub use refusals::JsonRefusals;
pub use reply::{OtherReply, Reply, StreamedReply, members_of};
pub use route::{BODY_LIMIT, Both, Call, Conditions, Parameters, Read, RequestInfo, Route};
pub use router::{Clash, Found, Router};

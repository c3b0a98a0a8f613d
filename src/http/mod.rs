//! HTTP: from the bytes of a request to a handler, and back.
//!
//! - [`Route`] and [`Router`]: which handler serves a request, and who may call it;
//! - [`form`] and [`params`]: the parameters of a request, decoded and deserialized;
//! - [`Budget`]: limits on the bytes of all bodies and answers in memory;
//! - [`MultipartStream`] and [`ResponseBody`]: bodies that are larger than memory should be, in both directions;
//! - [`Reply`]: the successful result of a handler;
//! - [`page`]: small HTML pages for paths that are not part of the web client;
//! - [`Interceptor`]: a hook for each exchange, used by test doubles;
//! - [`service`]: one request through all of these;
//! - [`JsonErrorIo`]: error bodies for requests that are not HTTP.

pub mod budgets;
mod client_address;
pub mod discard_rate;
pub mod form;
mod interceptor;
mod malformed_request;
mod multipart_stream;
pub mod page;
pub mod params;
pub mod ranges;
mod reply;
mod request_body;
mod request_info;
mod request_metrics;
mod response;
mod response_body;
pub mod rounds;
mod route;
mod router;
pub mod service;
mod streamed;

pub use crate::auth::{
    ADMINISTRATOR, ANYONE, Administrator, Anyone, Caller, OWNER, Owner, USER, User, VISITOR, Visitor,
};
pub use crate::error::{ApiError, ApiResult, ok_unless_refused};
pub use budgets::Budget;
pub use client_address::{Peer, is_local};
pub use interceptor::{BodyTap, Dropped, Intercepted, Interceptor, Next, Outcome};
pub use malformed_request::{HEAD_TOO_LARGE, JsonErrorIo, write_error};
pub use multipart_stream::{FilePart, MultipartStream};
pub use reply::{NotJson, OtherReply, Reply, ReplyBody, StreamedReply, success_body};
pub use request_info::{Conditions, RequestInfo};
pub use request_metrics::{RequestMetrics, RouteFigures};
pub use response::{error_response, unpacked};
pub use response_body::{BodyStream, ResponseBody};
pub use route::{BODY_LIMIT, Call, Parameters, Params2, Read, Request, Route};
pub use router::{Found, RouteConflict, Router};
pub use streamed::PartSource;

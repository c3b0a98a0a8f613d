//! HTTP: from the bytes of a request to a handler, and back.
//!
//! - [`Route`] and [`Router`]: which handler serves a request, and who may call it;
//! - [`form`] and [`params`]: the parameters of a request, decoded and deserialized;
//! - [`Budget`]: limits on the bytes of all bodies and answers in memory;
//! - [`MultipartStream`] and [`ResponseBody`]: bodies that are larger than memory should be, in both directions;
//! - [`Reply`]: the successful result of a handler;
//! - [`page`]: small pages for people whose browser opens what is no page of the client;
//! - [`StatePart`]: what a resource adds to the state of `POST /register`;
//! - [`Interceptor`]: what sees each exchange, if the server is a test double;
//! - [`service`]: one request through all of these;
//! - [`JsonErrorIo`]: error bodies for requests that are not HTTP.

mod budgets;
mod client_address;
pub mod form;
mod interceptor;
mod json_text;
mod malformed_request;
mod multipart_stream;
pub mod page;
pub mod params;
mod reply;
mod request_body;
mod resource;
mod response_body;
mod route;
mod router;
pub mod service;
mod state_part;

pub use crate::auth::{
    ADMINISTRATOR, ANYONE, Administrator, Anyone, Caller, OWNER, Owner, USER, User, VISITOR, Visitor,
};
pub use crate::error::{ApiError, ApiResult, allowed};
pub use budgets::Budget;
pub use client_address::is_local;
pub use interceptor::{BodyTap, Dropped, Intercepted, Interceptor, Next};
pub use json_text::{MAX_JSON_VALUES, has_more_values, write_json_text};
pub use malformed_request::{JsonErrorIo, write_error};
pub use multipart_stream::{FilePart, MultipartStream};
pub use reply::{NotJson, OtherReply, Reply, ReplyBody, StreamedReply, members_of, success_body};
pub use resource::{Background, Resource};
pub use response_body::{BodyStream, ResponseBody};
pub use route::{
    BODY_LIMIT, Call, Conditions, Parameters, Params2, Read, Request, RequestInfo, Route, STRANGER_BODY_LIMIT,
};
pub use router::{Found, RouteConflict, Router};
pub use state_part::{State, StatePart, StateRequest, Subscribers};

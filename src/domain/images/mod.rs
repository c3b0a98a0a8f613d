//! Images: decoding and scaling of uploaded ones, and the public images of users, emoji and the organization.

pub mod animation;
pub mod avatar;
pub mod decoding;
pub mod public;
pub mod realm;
pub mod scaling;
pub mod upload;

//! `POST /register`: its parameters, and the fields that clients require.

mod conformance;
mod messages;
mod parameters;
mod race;

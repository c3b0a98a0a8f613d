//! `POST /register`: its parameters, and what clients need of the answer.

mod conformance;
mod messages;
mod parameters;
mod race;

//! Messages.

mod model;
mod sync;

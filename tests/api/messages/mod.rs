//! Messages.

mod sync;

//! User groups.

mod list;

//! The state of rendering one message.

use std::collections::BTreeSet;

use super::{directory::Directory, typeset::Typesetter};

/// The mentions of a message that are not silent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mentions {
    pub user_ids: BTreeSet<i64>,
    pub group_ids: BTreeSet<i64>,
    pub stream_wildcard: bool,
    pub topic_wildcard: bool,
}

/// Input of the rules, and their collected results.
pub struct Context<'a> {
    pub directory: &'a dyn Directory,
    /// Mentions in a quote are silent.
    pub in_quote: bool,
    pub mentions: Mentions,
    pub typesetter: Typesetter,
}

impl<'a> Context<'a> {
    /// The state at the beginning of a message.
    pub fn new(directory: &'a dyn Directory) -> Self {
        let typesetter = Typesetter::with_time(directory.time_for_formulas());
        Self { directory, in_quote: false, mentions: Mentions::default(), typesetter }
    }
}

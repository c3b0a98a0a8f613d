//! The newest message of each topic. Batches are rendered while others are written, so the database does not tell.

use crate::types::Topic;
use std::collections::HashMap;

/// The newest messages so far, by channel and topic.
#[derive(Default)]
pub struct NewestMessages(HashMap<u32, HashMap<String, u32>>);

impl NewestMessages {
    /// Adds a message of a topic.
    pub fn add(&mut self, stream: u32, topic: &str, id: u32) {
        self.0.entry(stream).or_default().insert(Topic::stored(topic.to_owned()).key(), id);
    }

    /// True if a channel has messages.
    pub fn has_messages(&self, stream: u32) -> bool {
        self.0.contains_key(&stream)
    }

    /// The topics that a text links to (`#**channel>topic**`), with their newest messages.
    pub fn linked(
        &self,
        text: &str,
        channel: impl Fn(&str) -> Option<u32>,
    ) -> Vec<(i64, String, Option<i64>)> {
        let mut linked = Vec::new();
        for (at, marks) in text.match_indices("#**") {
            let inner = text[at + marks.len()..].split('*').next().unwrap_or_default();
            let Some((name, topic)) = inner.split_once('>') else { continue };
            let Some(stream) = channel(name) else { continue };
            let key = Topic::stored(topic.to_owned()).key();
            let newest = self.0.get(&stream).and_then(|topics| topics.get(&key));
            linked.push((stream.into(), topic.to_owned(), newest.map(|id| (*id).into())));
        }
        linked
    }
}

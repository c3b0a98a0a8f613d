//! Full-text search: what a client types, as an expression for the index and as marks in the found messages.
//!
//! The index is SQLite's FTS5: words without case and accents, stemmed. It is given no user's text as syntax: each word
//! and phrase goes in as a quoted string, so no input is an error. Scripts that do not put spaces between words (Chinese,
//! Japanese, Thai ...) are indexed as overlapping pairs of characters ([`text`]), so that a phrase of pairs finds any
//! part of such a text.
//!
//! - [`index`]: writing the index, and the list of words that completes the beginning of one;
//! - [`text`]: the words of a text, the same way as the index sees them;
//! - [`stem`]: the index's stemmer, to know which words of a message it found;
//! - [`emoji`]: emoji, which are found however they are written;
//! - [`query`]: what a client typed; [`highlight`]: marks in HTML.

pub mod emoji;
pub mod highlight;
pub mod index;
pub mod query;
pub mod stem;
pub mod text;

//! Full-text search: parsing queries, matching them with the index, and highlighting matches.
//!
//! The index is SQLite's FTS5: words without case and accents, stemmed. Each word and phrase of a query is quoted, so that
//! no input is a syntax error. Scripts that do not put spaces between words (Chinese,
//! Japanese, Thai ...) are indexed as overlapping pairs of characters ([`text`]), so that a phrase of pairs finds any
//! part of such a text.
//!
//! - [`index`]: writing the index after messages are acknowledged, and the list of words that completes prefixes;
//! - [`purge`]: removal of unused words and topics from both;
//! - [`text`]: the words of a text, as the index splits it;
//! - `stem`: the index's stemmer, to know which words of a message matched;
//! - `emoji`: emoji, which match however they are written;
//! - [`query`]: parsing of queries; [`highlight`]: highlighting matches in HTML.

mod emoji;
pub mod highlight;
pub mod index;
pub mod purge;
pub mod query;
mod stem;
pub mod text;

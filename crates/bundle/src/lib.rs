//! Joins the modules and styles of a page into few files without comments and spaces, and writes the book.
//!
//! The page names its style sheets and its scripts. All style sheets become one file. Each script becomes one file with
//! the modules that it imports, also one that the page names for later. All other modules that are imported on demand
//! become one more. Development needs none of this: browsers load the files as written.
//!
//! A module becomes a function that returns its exports, so names of different modules never meet. This needs no parser,
//! only tokens: constructs whose meaning tokens do not tell are errors of the build. They are default exports, exported
//! variables, circular imports, computed imports, and `/` after `}`.
//!
//! - `tokens` splits a script into tokens;
//! - `strip` writes tokens, and style sheets, with as little space as possible;
//! - `modules` reads imports and exports, and joins modules;
//! - `page` reads and writes the page;
//! - `book` writes the pages of the book, whose sources are Markdown;
//! - `compress` compresses files.

mod book;
mod compress;
mod modules;
mod page;
mod strip;
mod tokens;

pub use book::book;
pub use compress::{Compressed, compress};
pub use page::{Bundle, bundle};
pub use strip::strip_script;

/// Reasons why a page cannot be joined.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file that cannot be read.
    #[error("{path}: {error}")]
    Read {
        /// The path of the file.
        path: String,
        /// The error of the operating system.
        error: std::io::Error,
    },
    /// A construct that is not supported.
    #[error("{path}:{line}: {reason}")]
    Source {
        /// The path of the file.
        path: String,
        /// The line, from 1.
        line: usize,
        /// The construct that cannot be joined, and the rule.
        reason: &'static str,
    },
    /// A link in the book that leads nowhere.
    #[error("{page} has a link that leads nowhere: {target}")]
    Link {
        /// The path of the page in the book.
        page: String,
        /// The link as written.
        target: String,
    },
    /// Modules that import each other.
    #[error("{0} imports itself through other modules")]
    Circle(String),
}

/// Results of this crate.
pub type Result<T> = std::result::Result<T, Error>;

//! Regular expressions of the program's own.

use regex::Regex;

/// Compiles a pattern that is part of the program. It is correct, since tests use each of them.
pub fn pattern(text: &str) -> Regex {
    Regex::new(text).unwrap_or_else(|error| unreachable!("the program has a pattern with an error: {error}"))
}

//! Autolinks: `https://...`, `example.com/path` and `someone@example.com` in plain text.

use std::ops::Range;

/// The top-level domains, one per line, sorted; without those that are more often file endings (`md`, `py`).
const TOP_LEVEL_DOMAINS: &str = include_str!("top_level_domains.txt");

/// Depth limit of parentheses in a path.
const MAX_PARENTHESES: usize = 7;

/// Finds the first URL or email address at or after a position, in bytes.
pub fn find_at(text: &str, from: usize) -> Option<Range<usize>> {
    let mut word_start = from;
    while word_start < text.len() {
        let word_end = text[word_start..].find(char::is_whitespace).map_or(text.len(), |at| word_start + at);
        if let Some(found) = find_in_word(text, word_start, word_end) {
            return Some(found);
        }
        word_start = word_end + text[word_end..].chars().next().map_or(1, char::len_utf8);
    }
    None
}

/// An address ends with its word, except for punctuation, so that only its start is searched.
fn find_in_word(text: &str, start: usize, end: usize) -> Option<Range<usize>> {
    let word = &text[start..end];
    if !word.contains(['.', '/', '@', ':']) {
        return None;
    }
    let ends_at = word.trim_end_matches(['!', ':', ';', '?', ')', ',', '.', '\'', '"', '>']).len();
    let before = |at: usize| text[..start + at].chars().next_back();
    word.char_indices()
        .filter(|&(at, _)| {
            before(at).is_none_or(|c| c.is_whitespace() || matches!(c, '\'' | '"' | '(' | ',' | ':' | '<'))
        })
        .find_map(|(at, _)| {
            let length = address_length(&word[at..], ends_at.checked_sub(at)?)?;
            Some(start + at..start + at + length)
        })
}

/// Returns the length of the address at the start of a word. It is at least `minimum`, where the punctuation at the end of the
/// word starts.
fn address_length(word: &str, minimum: usize) -> Option<usize> {
    web_length(word, minimum)
        .or_else(|| email_length(word, minimum))
        .or_else(|| bitcoin_length(word, minimum))
}

fn web_length(word: &str, minimum: usize) -> Option<usize> {
    if let Some(rest) = word.strip_prefix("https://").or_else(|| word.strip_prefix("http://")) {
        let scheme = word.len() - rest.len();
        let host = rest.find(|c| !is_word(c) && !matches!(c, '.' | ':' | '@' | '-')).unwrap_or(rest.len());
        if host == 0 {
            return None;
        }
        // The host reaches to the punctuation at the end, or a path follows it.
        if scheme + host >= minimum {
            return Some(minimum.max(scheme + rest.chars().next().map_or(1, char::len_utf8)));
        }
        return path_length(word, scheme + host, minimum);
    }
    let run = word.find(|c| !is_word(c) && !matches!(c, '.' | '-')).unwrap_or(word.len());
    let host = word[..run].trim_end_matches('.').len();
    let domain = &word[..host];
    let (labels, top) = domain.rsplit_once('.')?;
    if labels.split('.').any(str::is_empty) || !is_top_level_domain(top) {
        return None;
    }
    if host >= minimum { Some(host) } else { path_length(word, host, minimum) }
}

/// Returns the end of a path that starts at `from`: the earliest one after `minimum` and outside of parentheses.
fn path_length(word: &str, from: usize, minimum: usize) -> Option<usize> {
    if !word[from..].starts_with('/') {
        return None;
    }
    let mut depth = 0;
    for (at, character) in word[from..].char_indices() {
        if depth == 0 && at > 0 && from + at >= minimum {
            return Some(from + at);
        }
        match character {
            '"' => return None,
            '(' if depth == MAX_PARENTHESES => return None,
            '(' => depth += 1,
            ')' if depth == 0 => return None,
            ')' => depth -= 1,
            _ => {}
        }
    }
    (depth == 0).then_some(word.len())
}

fn email_length(word: &str, minimum: usize) -> Option<usize> {
    let local = word.find(|c| !is_word(c) && !matches!(c, '.' | '-'))?;
    if local == 0 {
        return None;
    }
    let rest = word[local..].strip_prefix('@')?;
    let run = rest.find(|c| !is_word(c) && !matches!(c, '.' | '-')).unwrap_or(rest.len());
    let host = rest[..run].trim_end_matches(['.', '-']);
    let (name, top) = host.rsplit_once('.')?;
    let length = local + 1 + host.len();
    (!name.is_empty() && !top.is_empty() && top.chars().all(is_word) && length >= minimum).then_some(length)
}

fn bitcoin_length(word: &str, minimum: usize) -> Option<usize> {
    let address = word.strip_prefix("bitcoin:").filter(|address| address.starts_with(['1', '3']))?;
    let is_digit = |c: char| c.is_ascii_alphanumeric() && !matches!(c, '0' | 'O' | 'I' | 'l');
    let length = address.find(|c| !is_digit(c)).unwrap_or(address.len());
    ((26..=35).contains(&length) && "bitcoin:".len() + length >= minimum).then_some("bitcoin:".len() + length)
}

fn is_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

fn is_top_level_domain(label: &str) -> bool {
    // Binary search over bytes, as in the emoji table: no index in memory.
    let mut low = 0;
    let mut high = TOP_LEVEL_DOMAINS.len();
    while low < high {
        let middle = low.midpoint(high);
        let bytes = &TOP_LEVEL_DOMAINS.as_bytes()[..middle];
        let start = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
        let line = TOP_LEVEL_DOMAINS[start..].lines().next().unwrap_or_default();
        match line.cmp(label) {
            std::cmp::Ordering::Equal => return true,
            std::cmp::Ordering::Less => low = start + line.len() + 1,
            std::cmp::Ordering::Greater => high = start,
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    // conformance: md-31
    #[test]
    fn all_top_level_domains_are_found() {
        assert!(TOP_LEVEL_DOMAINS.lines().is_sorted());
        assert!(TOP_LEVEL_DOMAINS.lines().all(is_top_level_domain));
        for absent in ["", "md", "py", "zzz", "co.uk", "\n"] {
            assert!(!is_top_level_domain(absent), "{absent}");
        }
    }

    // conformance: md-31
    #[test]
    fn addresses_end_before_punctuation() {
        for (text, found) in [
            ("see example.com.", Some("example.com")),
            ("see (https://example.com/a_(b)).", Some("https://example.com/a_(b)")),
            ("https://example.com:8080/x?y=1, and", Some("https://example.com:8080/x?y=1")),
            ("https://localhost", Some("https://localhost")),
            ("http://", None),
            ("mail someone@example.com!", Some("someone@example.com")),
            ("example.com:8080", None),
            ("x/example.com", None),
            ("file.txt", None),
            ("...com", None),
            ("a..com", None),
            ("https://example.com/a\"b", None),
            ("täst.de/ü", Some("täst.de/ü")),
            (
                "bitcoin:1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa",
                Some("bitcoin:1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa"),
            ),
        ] {
            assert_eq!(find_at(text, 0).map(|range| &text[range]), found, "{text}");
        }
    }
}

//! Filters of events by name: `only_events` and `exclude_events`, lists of patterns with the wildcards of a shell.

/// Selects the events of a delivery that become messages.
#[derive(Clone, Copy, Debug)]
pub struct Filter<'a> {
    /// Patterns of which one has to match.
    pub only: Option<&'a [String]>,
    /// Patterns of which none may match.
    pub exclude: Option<&'a [String]>,
}

impl Filter<'_> {
    /// True if an event passes. Messages without an event always do.
    pub fn passes(&self, event: &str) -> bool {
        let matches = |patterns: &[String]| patterns.iter().any(|pattern| matches_pattern(pattern, event));
        event.is_empty() || (self.only.is_none_or(matches) && !self.exclude.is_some_and(matches))
    }
}

/// Matches a whole text: `*` is any text, `?` one character, `[abc]`, `[a-z]` and `[!abc]` one of a set.
///
/// Takes time of the product of the lengths at most: a star is tried again only for the last one.
fn matches_pattern(pattern: &str, text: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let text: Vec<char> = text.chars().collect();
    let (mut at, mut position) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while position < text.len() {
        if pattern.get(at) == Some(&'*') {
            star = Some((at + 1, position));
            at += 1;
        } else if let Some(length) = matches_one(&pattern[at..], text[position]) {
            at += length;
            position += 1;
        } else if let Some((after, tried)) = star {
            star = Some((after, tried + 1));
            (at, position) = (after, tried + 1);
        } else {
            return false;
        }
    }
    pattern[at..].iter().all(|character| *character == '*')
}

/// Matches one character; returns the length of the pattern that it took.
fn matches_one(pattern: &[char], character: char) -> Option<usize> {
    match pattern {
        [] => None,
        ['?', ..] => Some(1),
        ['[', rest @ ..] => {
            let (negated, set) = match rest {
                ['!', set @ ..] => (true, set),
                set => (false, set),
            };
            // A bracket at the start of a set belongs to it; a set without an end is a plain bracket.
            let Some(end) = set.iter().skip(1).position(|end| *end == ']').map(|end| end + 1) else {
                return (character == '[').then_some(1);
            };
            let mut found = false;
            let mut members = &set[..end];
            while let [first, rest @ ..] = members {
                if let ['-', last, rest @ ..] = rest {
                    found |= (*first..=*last).contains(&character);
                    members = rest;
                } else {
                    found |= *first == character;
                    members = rest;
                }
            }
            (found != negated).then_some(1 + usize::from(negated) + end + 1)
        }
        [literal, ..] => (*literal == character).then_some(1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_those_of_a_shell() {
        let cases = [
            ("push", "push", true),
            ("push", "pushed", false),
            ("*", "", true),
            ("pull_request*", "pull_request_review", true),
            ("*request*", "pull_request_review", true),
            ("*_*_x", "a_b_c_x", true),
            ("a?c", "abc", true),
            ("a?c", "ac", false),
            ("[!a-c]x", "dx", true),
            ("[!a-c]x", "bx", false),
            ("[ab]x", "bx", true),
            ("[]]x", "]x", true),
            ("[x", "[x", true),
            ("*a*a*a*a*b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", false),
            ("Push", "push", false),
        ];
        for (pattern, text, expected) in cases {
            assert_eq!(matches_pattern(pattern, text), expected, "{pattern} {text}");
        }
    }

    #[test]
    fn filters_combine_only_and_exclude() {
        let list = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
        let (only, exclude) = (list(&["push*", "issues"]), list(&["push_tags"]));
        let filter = Filter { only: Some(&only), exclude: Some(&exclude) };
        assert!(filter.passes("push_commits") && filter.passes("issues") && filter.passes(""));
        assert!(!filter.passes("push_tags") && !filter.passes("star"));
        assert!(Filter { only: None, exclude: None }.passes("anything"));
    }
}

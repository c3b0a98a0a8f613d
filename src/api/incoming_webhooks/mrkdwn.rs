//! Slack's markup to Markdown.
//!
//! `*bold*`, `_emphasis_` and `~deleted~` have other marks; addresses, mentions and times stand between `<` and `>`; and
//! the characters `&`, `<` and `>` are written as entities. Code is left as it is.

use super::text::{link, web_address};
use crate::types::LAST_SECOND;
use std::fmt::Write;

/// Converts a text.
pub fn markdown(text: &str) -> String {
    let mut converted = String::with_capacity(text.len() + 16);
    let mut rest = text;
    // Text between backticks is code: a block between three, or within a line between one.
    while let Some(start) = rest.find('`') {
        let fence = if rest[start..].starts_with("```") { "```" } else { "`" };
        let inside = &rest[start + fence.len()..];
        let Some(end) =
            inside.find(fence).filter(|end| *end > 0 && (fence == "```" || !inside[..*end].contains('\n')))
        else {
            let (before, after) = rest.split_at(start + fence.len());
            converted.push_str(&formatted(before));
            rest = after;
            continue;
        };
        converted.push_str(&formatted(&rest[..start]));
        let code = entities(&inside[..end]);
        if fence == "```" {
            let fence = teamchat_markdown::unused_fence(&code);
            let before = if converted.is_empty() || converted.ends_with('\n') { "" } else { "\n" };
            let _infallible = write!(converted, "{before}{fence}\n{}\n{fence}\n", code.trim_matches('\n'));
        } else {
            let _infallible = write!(converted, "`{code}`");
        }
        rest = inside[end + fence.len()..]
            .strip_prefix('\n')
            .filter(|_| fence == "```")
            .unwrap_or(&inside[end + fence.len()..]);
    }
    converted.push_str(&formatted(rest));
    converted
}

/// Replaces the three entities that Slack writes: `&lt;`, `&gt;` and `&amp;`.
pub fn entities(text: &str) -> String {
    text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
}

/// Converts a text without code.
fn formatted(text: &str) -> String {
    let mut converted = String::with_capacity(text.len() + 16);
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('<') {
        converted.push_str(&styled(before));
        // The next `<` starts another reference, so the text in between is scanned only once.
        match after.find(['<', '>']) {
            Some(end) if end > 0 && after[end..].starts_with('>') => {
                converted.push_str(&reference(&after[..end]));
                rest = &after[end + 1..];
            }
            _ => {
                converted.push('<');
                rest = after;
            }
        }
    }
    converted.push_str(&styled(rest));
    converted
}

/// Converts the text between `<` and `>`.
fn reference(inside: &str) -> String {
    let (target, text) = match inside.split_once('|') {
        Some((target, text)) => (target, Some(entities(text))),
        None => (inside, None),
    };
    let name = || text.clone().unwrap_or_default();
    match target.split_at_checked(1) {
        Some(("@", id)) => format!("@{}", text.as_deref().unwrap_or(id).trim_start_matches('@')),
        Some(("#", id)) => format!("#{}", text.as_deref().unwrap_or(id).trim_start_matches('#')),
        Some(("!", command)) => match command.split('^').collect::<Vec<_>>().as_slice() {
            ["channel" | "here" | "everyone"] => "@**all**".to_owned(),
            ["date", seconds, ..] => match seconds.parse::<i64>() {
                Ok(seconds @ 0..=LAST_SECOND) => teamchat_markdown::global_time(seconds),
                _ => name(),
            },
            ["subteam", id, ..] => text.unwrap_or_else(|| format!("@{id}")),
            _ => text.unwrap_or_else(|| command.to_owned()),
        },
        _ => {
            let target = entities(target);
            match text {
                _ if target.starts_with("mailto:") => {
                    text.unwrap_or_else(|| target["mailto:".len()..].to_owned())
                }
                Some(text) if web_address(&target).is_some() => link(&text, &target),
                Some(text) => text,
                None if web_address(&target).is_some() => target,
                None => format!("<{target}>"),
            }
        }
    }
}

/// Converts the marks of bold, emphasized and deleted text at the edges of words.
fn styled(text: &str) -> String {
    let text = entities(text);
    let characters: Vec<char> = text.chars().collect();
    let mut converted = String::with_capacity(text.len() + 8);
    let mut position = 0;
    // Text within marks may have other marks: each opening mark is replaced, and its end is remembered.
    let mut ends: Vec<(usize, &str)> = Vec::new();
    while position < characters.len() {
        if let Some(index) = ends.iter().position(|(end, _)| *end == position) {
            converted.push_str(ends.remove(index).1);
            position += 1;
            continue;
        }
        let mark = match characters[position] {
            '*' => "**",
            '_' => "*",
            '~' => "~~",
            other => {
                converted.push(other);
                position += 1;
                continue;
            }
        };
        // A doubled mark is one of Markdown, which some programs send all the same.
        let before = position.checked_sub(1).map(|before| characters[before]);
        let is_inside = before.is_some_and(|before| is_word(before) || before == characters[position]);
        match closing(&characters, position).filter(|_| !is_inside) {
            Some(end) => {
                ends.push((end, mark));
                converted.push_str(mark);
            }
            None => converted.push(characters[position]),
        }
        position += 1;
    }
    converted
}

fn is_word(character: char) -> bool {
    character.is_alphanumeric()
}

/// The position of the mark that closes the one at a position: in the same line, with text between, and no word after
/// it.
fn closing(characters: &[char], start: usize) -> Option<usize> {
    /// The longest text between two marks, in characters, so that a text of marks alone takes little time.
    const LONGEST: usize = 2000;
    let mark = characters[start];
    if characters.get(start + 1).is_none_or(|next| next.is_whitespace() || *next == mark) {
        return None;
    }
    for end in start + 2..characters.len().min(start + LONGEST) {
        match characters[end] {
            '\n' => return None,
            other if other == mark => {
                let spaced = characters[end - 1].is_whitespace();
                let word_after = characters.get(end + 1).is_some_and(|next| is_word(*next) || *next == mark);
                return (!spaced && !word_after).then_some(end);
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_becomes_markdown() {
        let cases = [
            ("*bold* _em_ ~gone~", "**bold** *em* ~~gone~~"),
            ("*_both_*", "***both***"),
            ("2 * 3 * 4, snake_case_name, a*b*c", "2 * 3 * 4, snake_case_name, a*b*c"),
            ("*not\nbold*", "*not\nbold*"),
            ("**bold already** and ~~gone~~", "**bold already** and ~~gone~~"),
            ("<https://x.example/a?b=1&amp;c=2|the page>", "[the page](https://x.example/a?b=1&c=2)"),
            ("<https://x.example/a>", "https://x.example/a"),
            ("<mailto:a@x.example|a@x.example>", "a@x.example"),
            ("<!channel> <!here|here> <!everyone>", "@**all** @**all** @**all**"),
            ("<@U1|ada> <@U2> <#C1|general>", "@ada @U2 #general"),
            ("<!date^1790000000^{date}|a day>", "<time:2026-09-21T14:13:20+00:00>"),
            ("<!date^1790000000000^{date}|a day>", "a day"),
            ("<!subteam^S1|@team> <!subteam^S2>", "@team @S2"),
            ("a &lt;b&gt; &amp;amp;", "a <b> &amp;"),
            ("`*code*` *x*", "`*code*` **x**"),
            ("see ```a *b*\n&lt;c``` *d*", "see \n```\na *b*\n<c\n```\n **d**"),
            ("a ` b *c*", "a ` b **c**"),
            ("< b", "< b"),
            ("<javascript:alert(1)|x>", "x"),
            ("", ""),
        ];
        for (text, expected) in cases {
            assert_eq!(markdown(text), expected, "{text}");
        }
    }

    #[test]
    fn a_text_of_marks_takes_little_time() {
        for marks in ["*a ", "<", "< a", "`` ", "~ _ * "] {
            let text = marks.repeat(100_000);
            assert_eq!(markdown(&text).len(), text.len(), "{marks}");
        }
    }
}

//! Slack's markup to Markdown.
//!
//! `*bold*`, `_emphasis_` and `~deleted~` have other marks; addresses, mentions and times stand between `<` and `>`; and
//! the characters `&`, `<` and `>` are written as entities. Some emoji have other names. Code is left as it is.

use super::text::{link, web_address};
use crate::domain::emoji::short_names;
use crate::types::LAST_SECOND;
use teamchat_markdown::{SlackText, decode_slack_entities, global_time, unused_fence};

/// Converts a text.
pub fn markdown(text: &str) -> String {
    let mut converted = SlackText::default();
    let mut rest = text;
    // Text between backticks is code: a block between three, or within a line between one.
    while let Some(start) = rest.find('`') {
        let fence = if rest[start..].starts_with("```") { "```" } else { "`" };
        let inside = &rest[start + fence.len()..];
        let Some(end) =
            inside.find(fence).filter(|end| *end > 0 && (fence == "```" || !inside[..*end].contains('\n')))
        else {
            let (before, after) = rest.split_at(start + fence.len());
            add_formatted(&mut converted, before);
            rest = after;
            continue;
        };
        add_formatted(&mut converted, &rest[..start]);
        let code = decode_slack_entities(&inside[..end]);
        if fence == "```" {
            converted.push_code_block(&unused_fence(&code), &code);
        } else {
            converted.push_markdown(&format!("`{code}`"));
        }
        rest = inside[end + fence.len()..]
            .strip_prefix('\n')
            .filter(|_| fence == "```")
            .unwrap_or(&inside[end + fence.len()..]);
    }
    add_formatted(&mut converted, rest);
    converted.to_markdown()
}

/// Converts a text without marks.
pub fn plain(text: &str) -> String {
    short_names::in_text(&decode_slack_entities(text))
}

/// Adds a text without code.
fn add_formatted(converted: &mut SlackText, text: &str) {
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('<') {
        converted.push_text(&short_names::in_text(before));
        // The next `<` starts another reference, so the text in between is scanned only once.
        match after.find(['<', '>']) {
            Some(end) if end > 0 && after[end..].starts_with('>') => {
                converted.push_markdown(&reference(&after[..end]));
                rest = &after[end + 1..];
            }
            _ => {
                converted.push_text("<");
                rest = after;
            }
        }
    }
    converted.push_text(&short_names::in_text(rest));
}

/// Converts a date: the tokens of its form, such as `{date_num} at {time}`, become one time in the time zone of the reader, and
/// the words around them stay. An empty `url` is none. `None` for a time that cannot be shown.
pub fn date(seconds: i64, form: &str, url: &str) -> Option<String> {
    let time = (0..=LAST_SECOND).contains(&seconds).then(|| global_time(seconds))?;
    let form = plain(form);
    let shown = match (form.find('{'), form.rfind('}')) {
        (Some(start), Some(end)) if start < end => format!("{}{time}{}", &form[..start], &form[end + 1..]),
        _ => time,
    };
    Some(if url.is_empty() { shown } else { link(&shown, url) })
}

/// Converts the text between `<` and `>`.
fn reference(inside: &str) -> String {
    let (target, text) = match inside.split_once('|') {
        // Slack leaves the name of a private channel empty.
        Some((target, text)) => (target, Some(plain(text)).filter(|text| !text.is_empty())),
        None => (inside, None),
    };
    match target.split_at_checked(1) {
        Some(("@", id)) => format!("@{}", text.as_deref().unwrap_or(id).trim_start_matches('@')),
        Some(("#", id)) => format!("#{}", text.as_deref().unwrap_or(id).trim_start_matches('#')),
        Some(("!", command)) => match command.split('^').collect::<Vec<_>>().as_slice() {
            ["channel" | "here" | "everyone"] => "@**all**".to_owned(),
            ["date", seconds, form @ ..] => {
                let part = |index: usize| form.get(index).copied().unwrap_or_default();
                let seconds = seconds.parse::<i64>().ok();
                let date =
                    seconds.and_then(|seconds| date(seconds, part(0), &decode_slack_entities(part(1))));
                date.or(text).unwrap_or_default()
            }
            ["subteam", id, ..] => text.unwrap_or_else(|| format!("@{id}")),
            _ => text.unwrap_or_else(|| command.to_owned()),
        },
        _ => {
            let target = decode_slack_entities(target);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_becomes_markdown() {
        let cases = [
            ("*bold* _em_ ~gone~", "**bold** *em* ~~gone~~"),
            ("*_both_*", "***both***"),
            (
                "*<https://x.example/1|Graph>* and _see <https://x.example/2|it>_",
                "**[Graph](https://x.example/1)** and *see [it](https://x.example/2)*",
            ),
            ("*Use the `*` key*, ~<@U1|ada>~", "**Use the `*` key**, ~~@ada~~"),
            ("*<https://x.example/1|Graph>\nnot bold*", "*[Graph](https://x.example/1)\nnot bold*"),
            ("2 * 3 * 4, snake_case_name, a*b*c", "2 * 3 * 4, snake_case_name, a*b*c"),
            ("*not\nbold*", "*not\nbold*"),
            ("**bold already** and ~~gone~~", "**bold already** and ~~gone~~"),
            ("<https://x.example/a?b=1&amp;c=2|the page>", "[the page](https://x.example/a?b=1&c=2)"),
            ("<https://x.example/a>", "https://x.example/a"),
            ("<mailto:a@x.example|a@x.example>", "a@x.example"),
            ("<!channel> <!here|here> <!everyone>", "@**all** @**all** @**all**"),
            ("<@U1|ada> <@U2> <#C1|general> <#C2|>", "@ada @U2 #general #C2"),
            ("<!date^1790000000^{date}|a day>", "<time:2026-09-21T14:13:20+00:00>"),
            (
                "<!date^1790000000^Posted {date_num} at {time_secs}, &amp; seen|a day>",
                "Posted <time:2026-09-21T14:13:20+00:00>, & seen",
            ),
            (
                "<!date^1790000000^{ago}^https://x.example/?a=1&amp;b=2|a day>",
                "[<time:2026-09-21T14:13:20+00:00>](https://x.example/?a=1&b=2)",
            ),
            ("<!date^1790000000000^{date}|a day>", "a day"),
            ("<!subteam^S1|@team> <!subteam^S2>", "@team @S2"),
            ("a &lt;b&gt; &amp;amp;", "a <b> &amp;"),
            ("`*code*` *x*", "`*code*` **x**"),
            ("see ```a *b*\n&lt;c``` *d*", "see \n```\na *b*\n<c\n```\n **d**"),
            ("a ` b *c*", "a ` b **c**"),
            (
                "*:x: <https://x.example/?a=:x:|:lock: a>* `:x:`",
                "**:cross_mark: [:locked: a](https://x.example/?a=:x:)** `:x:`",
            ),
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

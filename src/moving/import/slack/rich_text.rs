//! Slack's blocks as Markdown: rich text, and what programs write.

use super::text;
use super::text::{Names, labelled_link, without_token};
use crate::moving::import::blocks;
use crate::moving::import::json::{first_text, text};
use serde_json::Value;
use teamchat_markdown::{FlatList, nested_lists, styled_slack_text, unused_fence};

/// Converts the blocks of a message if its `text` says less: it has lists as lines with characters for the marks, and beside the
/// blocks of programs, it is only the text of a notification.
pub fn to_markdown(blocks: &Value, names: &Names) -> Option<String> {
    let says_less =
        |block: &Value| text(block, "type") != "rich_text" || members(block, "elements").any(is_list);
    if !blocks.as_array()?.iter().any(says_less) {
        return None;
    }
    Some(texts(blocks, names)).filter(|text| !text.is_empty())
}

/// The texts of blocks. Those of programs are sections with their fields, headers, contexts, tables, images and videos.
pub fn texts(blocks: &Value, names: &Names) -> String {
    let texts_of = |block: &Value| match text(block, "type") {
        "rich_text" => rich_text(block, names),
        "markdown" => text(block, "text").trim().to_owned(),
        "table" => table(block, names),
        "image" => {
            let label = [plain(block, "title"), text(block, "alt_text")];
            let label = label.into_iter().find(|label| !label.is_empty()).unwrap_or_default();
            blocks::link(label, without_token(text(block, "image_url")))
        }
        "video" => blocks::link(plain(block, "title"), first_text(block, &["title_url", "video_url"])),
        _ => {
            let parts = block.get("text").into_iter();
            let parts = parts.chain(members(block, "fields")).chain(members(block, "elements"));
            let texts = parts.map(|part| text::to_markdown(text(part, "text"), names));
            texts.filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n")
        }
    };
    let all = blocks.as_array().into_iter().flatten().map(texts_of);
    all.filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n\n")
}

fn rich_text(block: &Value, names: &Names) -> String {
    let mut pieces = Vec::new();
    // A nested list follows the list that it is part of.
    let mut lists = Vec::new();
    for element in members(block, "elements") {
        if is_list(element) {
            lists.push(list(element, names));
            continue;
        }
        pieces.push(nested_lists(&std::mem::take(&mut lists)));
        let content = spans(element, names);
        let content = content.trim_matches('\n');
        pieces.push(match text(element, "type") {
            _ if content.trim().is_empty() => String::new(),
            "rich_text_preformatted" => {
                let code: String = elements_text(element);
                let fence = unused_fence(&code);
                format!("{fence}\n{}\n{fence}", code.trim_matches('\n'))
            }
            "rich_text_quote" => {
                content.lines().map(|line| format!("> {line}")).collect::<Vec<_>>().join("\n")
            }
            _ => content.to_owned(),
        });
    }
    pieces.push(nested_lists(&lists));
    pieces.retain(|piece| !piece.is_empty());
    pieces.join("\n\n")
}

/// A table, whose first row is its header.
fn table(block: &Value, names: &Names) -> String {
    let cell = |cell: &Value| {
        let shown = match text(cell, "type") {
            "rich_text" => rich_text(cell, names),
            _ => text(cell, "text").to_owned(),
        };
        shown.replace('|', " ").split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let cells = |row: &Value| -> Vec<String> { row.as_array().into_iter().flatten().map(cell).collect() };
    let rows: Vec<Vec<String>> = members(block, "rows").map(cells).collect();
    let width = rows.iter().map(Vec::len).max().unwrap_or_default();
    if width == 0 {
        return String::new();
    }
    let mut lines: Vec<String> = rows.iter().map(|row| format!("| {} |", row.join(" | "))).collect();
    lines.insert(1, format!("|{}", "-|".repeat(width)));
    lines.join("\n")
}

/// The text of an object with a plain text.
fn plain<'v>(value: &'v Value, member: &str) -> &'v str {
    value.get(member).map(|object| text(object, "text")).unwrap_or_default()
}

fn members<'v>(value: &'v Value, member: &str) -> impl Iterator<Item = &'v Value> {
    value.get(member).and_then(Value::as_array).into_iter().flatten()
}

fn is_list(element: &Value) -> bool {
    text(element, "type") == "rich_text_list"
}

/// A list. One that continues after a nested list has as its offset the number of items before.
fn list(element: &Value, names: &Names) -> FlatList {
    let number = |member: &str| element.get(member).and_then(Value::as_u64).unwrap_or_default();
    FlatList {
        start: (text(element, "style") == "ordered").then(|| number("offset").saturating_add(1)),
        depth: usize::try_from(number("indent")).unwrap_or(usize::MAX),
        items: members(element, "elements")
            .map(|item| spans(item, names).split_whitespace().collect::<Vec<_>>().join(" "))
            .collect(),
    }
}

/// The text of code.
fn elements_text(element: &Value) -> String {
    let texts = members(element, "elements").map(|span| match text(span, "text") {
        "" => text(span, "url"),
        text => text,
    });
    texts.collect()
}

fn spans(element: &Value, names: &Names) -> String {
    members(element, "elements").map(|element| span(element, names)).collect()
}

fn span(span: &Value, names: &Names) -> String {
    match text(span, "type") {
        "link" => match (text(span, "text"), text(span, "url")) {
            (label, url) if label.is_empty() || label == url => url.to_owned(),
            (label, url) => labelled_link(label, url),
        },
        "emoji" => names.with_emoji(&format!(":{}:", text(span, "name"))),
        "user" => {
            let id = text(span, "user_id");
            names.people.get(id).map_or_else(|| format!("<@{id}>"), |name| format!("@**{name}**"))
        }
        "channel" => {
            let id = text(span, "channel_id");
            names.channels.get(id).map_or_else(|| format!("<#{id}>"), |name| format!("#**{name}**"))
        }
        "broadcast" => "@**all**".to_owned(),
        "date" => text(span, "fallback").to_owned(),
        "color" => text(span, "value").to_owned(),
        _ => styled_slack_text(text(span, "text"), |name| {
            span.get("style").and_then(|style| style.get(name)).is_some_and(|is| *is == true)
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::collections::HashMap;

    #[test]
    fn texts_of_other_blocks_are_joined() {
        let blocks = json!([
            {"type": "header", "text": {"type": "plain_text", "text": "Build 7"}},
            {"type": "section", "text": {"type": "mrkdwn", "text": "*passed* &amp; shipped"},
                "fields": [{"type": "mrkdwn", "text": "_branch_: main"}]},
            {"type": "divider"},
            {"type": "actions", "elements": [{"type": "button", "text": {"type": "plain_text", "text": "Open"}}]},
            {"type": "context", "elements": [{"type": "image", "image_url": "x"}, {"type": "mrkdwn", "text": "by ci"}]},
            {"type": "image", "image_url": "https://x.example/a.png", "alt_text": "a [chart]"},
            {"type": "image", "image_url": "https://files.slack.com/a.png?t=secret", "title": {"text": "Tides"}},
            {"type": "video", "title": {"type": "plain_text", "text": "Row"}, "video_url": "https://x.example/v"},
            {"type": "markdown", "text": "## Notes\n* one\n"},
            {"type": "table", "rows": [
                [{"type": "raw_text", "text": "a|b"}, {"type": "raw_text", "text": ""}],
                [{"type": "rich_text", "elements": [{"type": "rich_text_section", "elements": [{"type": "text", "text": "c"}]}]}]]},
            {"type": "table", "rows": [[]]},
        ]);
        let expected = "Build 7\n\n**passed** & shipped\n*branch*: main\n\nby ci\n\n[a chart](https://x.example/a.png)\n\n\
                        [Tides](https://files.slack.com/a.png)\n\n[Row](https://x.example/v)\n\n## Notes\n* one\n\n\
                        | a b |  |\n|-|-|\n| c |";
        assert_eq!(texts(&blocks, &Names::default()), expected);
        assert_eq!(texts(&json!(null), &Names::default()), "");
    }

    #[test]
    fn blocks_with_lists_become_markdown() {
        let names = Names {
            people: HashMap::from([("U1".to_owned(), "Ada Abel".to_owned())]),
            channels: HashMap::from([("C1".to_owned(), "random".to_owned())]),
            emoji: HashMap::new(),
        };
        let text = |text: &str| json!({"type": "text", "text": text});
        let section = |spans: Vec<Value>| json!({"type": "rich_text_section", "elements": spans});
        let list = |style: &str, indent: u64, offset: u64, items: &[&str]| {
            let items: Vec<Value> = items.iter().map(|item| section(vec![text(item)])).collect();
            json!({"type": "rich_text_list", "style": style, "indent": indent, "offset": offset, "elements": items})
        };
        let spans = vec![
            json!({"type": "user", "user_id": "U1"}),
            json!({"type": "text", "text": " plans ", "style": {"bold": true}}),
            json!({"type": "link", "url": "https://x.example/a_(b", "text": "a [page]"}),
            text(" in "),
            json!({"type": "emoji", "name": "dog", "unicode": "1f436"}),
            json!({"type": "channel", "channel_id": "C1"}),
            text("\n"),
        ];
        let blocks = json!([{"type": "rich_text", "elements": [
            section(spans),
            list("ordered", 0, 0, &["one", "two"]),
            list("ordered", 1, 0, &["inner"]),
            list("ordered", 0, 2, &["three\nmore"]),
            {"type": "rich_text_quote", "elements": [text("said\nhe")]},
            {"type": "rich_text_preformatted", "elements": [text("a *b*")]},
        ]}]);
        let expected = "@**Ada Abel** **plans** [a page](https://x.example/a_%28b) in :puppy:#**random**\n\n1. one\n2. two\n  1. \
                        inner\n3. three more\n\n> said\n> he\n\n```\na *b*\n```";
        assert_eq!(to_markdown(&blocks, &names).as_deref(), Some(expected));
        let without = json!([{"type": "rich_text", "elements": [section(vec![text("a")])]}]);
        assert_eq!(texts(&without, &names), "a");
        for other in [without, json!([{"type": "actions"}]), json!(null), json!([])] {
            assert_eq!(to_markdown(&other, &names), None, "{other}");
        }
    }
}

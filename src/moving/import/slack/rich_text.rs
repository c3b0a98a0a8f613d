//! Slack's rich text as Markdown.

use super::text;
use super::text::Names;
use serde_json::Value;
use teamchat_markdown::{FlatList, nested_lists, styled_slack_text, unused_fence};

/// Converts the blocks of a message with lists, which `text` has as lines with characters for the marks. `None` for other
/// messages.
pub fn to_markdown(blocks: &Value, names: &Names) -> Option<String> {
    let blocks = blocks.as_array()?;
    if blocks.iter().any(|block| text(block, "type") != "rich_text") {
        return None;
    }
    let elements: Vec<&Value> = blocks.iter().flat_map(elements).collect();
    let is_list = |element: &Value| text(element, "type") == "rich_text_list";
    if !elements.iter().any(|element| is_list(element)) {
        return None;
    }
    let mut pieces = Vec::new();
    // A nested list follows the list that it is part of.
    let mut lists = Vec::new();
    for element in elements {
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
    Some(pieces.join("\n\n"))
}

/// The texts of other blocks, which programs write: sections with their fields, headers and contexts.
pub fn texts(blocks: &Value, names: &Names) -> String {
    let texts_of = |block: &Value| {
        let fields = block.get("fields").and_then(Value::as_array).into_iter().flatten();
        let parts = block.get("text").into_iter().chain(fields).chain(elements(block));
        let texts = parts.map(|part| text::to_markdown(text(part, "text"), names));
        texts.filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n")
    };
    let all = blocks.as_array().into_iter().flatten().map(texts_of);
    all.filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n\n")
}

fn text<'v>(value: &'v Value, member: &str) -> &'v str {
    value.get(member).and_then(Value::as_str).unwrap_or_default()
}

fn elements(value: &Value) -> impl Iterator<Item = &Value> {
    value.get("elements").and_then(Value::as_array).into_iter().flatten()
}

/// A list. One that continues after a nested list has as its offset the number of items before.
fn list(element: &Value, names: &Names) -> FlatList {
    let number = |member: &str| element.get(member).and_then(Value::as_u64).unwrap_or_default();
    FlatList {
        start: (text(element, "style") == "ordered").then(|| number("offset").saturating_add(1)),
        depth: usize::try_from(number("indent")).unwrap_or(usize::MAX),
        items: elements(element)
            .map(|item| spans(item, names).split_whitespace().collect::<Vec<_>>().join(" "))
            .collect(),
    }
}

/// The text of code.
fn elements_text(element: &Value) -> String {
    let texts = elements(element).map(|span| match text(span, "text") {
        "" => text(span, "url"),
        text => text,
    });
    texts.collect()
}

fn spans(element: &Value, names: &Names) -> String {
    elements(element).map(|element| span(element, names)).collect()
}

fn span(span: &Value, names: &Names) -> String {
    match text(span, "type") {
        "link" => match (text(span, "text"), text(span, "url")) {
            (label, url) if label.is_empty() || label == url => url.to_owned(),
            (label, url) => format!("[{}]({url})", label.replace(['[', ']'], "")),
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
        ]);
        let expected = "Build 7\n\n**passed** & shipped\n*branch*: main\n\nby ci";
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
            json!({"type": "link", "url": "https://x.example/a", "text": "a [page]"}),
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
        let expected = "@**Ada Abel** **plans** [a page](https://x.example/a) in :puppy:#**random**\n\n1. one\n2. two\n  1. \
                        inner\n3. three more\n\n> said\n> he\n\n```\na *b*\n```";
        assert_eq!(to_markdown(&blocks, &names).as_deref(), Some(expected));
        let without = json!([{"type": "rich_text", "elements": [section(vec![text("a")])]}]);
        let others =
            json!([{"type": "section"}, {"type": "rich_text", "elements": [list("bullet", 0, 0, &["a"])]}]);
        for other in [without, others, json!(null), json!([])] {
            assert_eq!(to_markdown(&other, &names), None, "{other}");
        }
    }
}

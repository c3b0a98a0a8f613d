//! Messages in Slack's format: text, attachments and blocks, as any program sends that knows Slack alone.

use super::mrkdwn;
use super::payload::{Options, Payload, Post, PostsResult, Refusal};
use super::text::{bold, code_block, label, line, link, quote, web_address};
use crate::domain::emoji::short_names;
use crate::types::whole_seconds;
use teamchat_markdown::{FlatList, nested_lists, styled_slack_text};

/// The most blocks, attachments or elements of a list that are read.
const MAX_ITEMS: usize = 100;

/// Creates the message of a delivery.
pub fn posts(payload: Payload<'_>, _options: &Options<'_>) -> PostsResult {
    if !payload.0.is_object() {
        return Err(Refusal::Anomalous);
    }
    let channel = payload.find_text("/channel").map(|name| name.trim_start_matches(['@', '#']));
    let topic = channel.filter(|name| !name.is_empty()).unwrap_or("(no topic)");
    let mut pieces = Vec::new();
    for item in payload.find_list("/blocks").take(MAX_ITEMS) {
        block(item, &mut pieces);
    }
    // With blocks, the text is shown in notifications only.
    if pieces.is_empty()
        && let Some(text) = payload.find_text("/text")
    {
        // Some programs leave the colons out, and some send the emoji itself.
        let icon = payload.find_text("/icon_emoji").map(|icon| {
            let shown = if icon.is_ascii() { emoji(icon.trim_matches(':')) } else { line(icon) };
            shown + " "
        });
        let icon = icon.unwrap_or_default();
        let text = if payload.0.pointer("/mrkdwn") == Some(&false.into()) {
            mrkdwn::plain(text)
        } else {
            mrkdwn::markdown(text)
        };
        add(&mut pieces, icon + text.trim());
    }
    for item in payload.find_list("/attachments").take(MAX_ITEMS) {
        attachment(item, &mut pieces);
    }
    if pieces.is_empty() {
        return Ok(Vec::new());
    }
    Ok(vec![Post::new(topic, pieces.join("\n\n"), "")])
}

fn add(pieces: &mut Vec<String>, piece: String) {
    if !piece.trim().is_empty() {
        pieces.push(piece.trim().to_owned());
    }
}

/// An emoji by the name that it has in Slack.
fn emoji(name: &str) -> String {
    short_names::in_text(&format!(":{}:", line(name)))
}

/// A text object, or a plain string.
fn text_of(object: Payload<'_>) -> String {
    match object.find_text("/text") {
        Some(text) if object.find_text("/type") == Some("plain_text") => short_names::in_text(text),
        Some(text) => mrkdwn::markdown(text),
        None => object.as_text().map(mrkdwn::markdown).unwrap_or_default(),
    }
}

/// An image as a link, which is shown.
fn image(element: Payload<'_>) -> String {
    let url = element.find_text("/image_url").or(element.find_text("/slack_file/url")).unwrap_or_default();
    let title = element.find("/title").map(|title| line(&text_of(title)));
    let title = title.or(element.find_text("/alt_text").map(line)).unwrap_or_default();
    if web_address(url).is_some() { link(&title, url) } else { label(&title) }
}

/// A button with a URL as a link. Other buttons need a server that answers.
fn button(element: Payload<'_>) -> String {
    let title = element.find("/text").map(|text| line(&text_of(text))).unwrap_or_default();
    element.find_text("/url").map(|url| link(&title, url)).unwrap_or_default()
}

/// Buttons in a line.
fn buttons<'a>(elements: impl Iterator<Item = Payload<'a>>) -> String {
    let links: Vec<String> =
        elements.take(MAX_ITEMS).map(button).filter(|button| !button.is_empty()).collect();
    links.join(" · ")
}

/// Adds the text of a block.
fn block(block: Payload<'_>, pieces: &mut Vec<String>) {
    match block.find_text("/type").unwrap_or_default() {
        "header" => {
            let text = block.find("/text").map(|text| line(&text_of(text))).unwrap_or_default();
            if !text.is_empty() {
                add(pieces, format!("## {text}"));
            }
        }
        "divider" => pieces.push("----".to_owned()),
        "image" => add(pieces, image(block)),
        "section" | "alert" => section(block, pieces),
        "card" | "carousel" | "container" => group(block, pieces),
        "context" => {
            for element in block.find_list("/elements").take(MAX_ITEMS) {
                let shown = if element.find_text("/type") == Some("image") {
                    image(element)
                } else {
                    text_of(element)
                };
                add(pieces, shown);
            }
        }
        "actions" => add(pieces, buttons(block.find_list("/elements"))),
        "video" => {
            let title = block.find("/title").map(|title| line(&text_of(title))).unwrap_or_default();
            add(
                pieces,
                link(
                    &title,
                    block.find_text("/title_url").or(block.find_text("/video_url")).unwrap_or_default(),
                ),
            );
        }
        "markdown" => add(pieces, block.find_text("/text").unwrap_or_default().to_owned()),
        "rich_text" => rich_text(block, pieces),
        "table" | "data_table" => table(block, pieces),
        _ => {}
    }
}

/// Adds a card, a carousel of cards or a container of blocks.
fn group(group: Payload<'_>, pieces: &mut Vec<String>) {
    match group.find("/rich_text_title") {
        Some(title) => rich_text(title, pieces),
        None => add(pieces, group.find("/title").map(|title| bold(&text_of(title))).unwrap_or_default()),
    }
    for text in ["/subtitle", "/body"].into_iter().filter_map(|path| group.find(path)) {
        add(pieces, text_of(text));
    }
    add(pieces, group.find("/hero_image").map(image).unwrap_or_default());
    for item in group.find_list("/elements").chain(group.find_list("/child_blocks")).take(MAX_ITEMS) {
        block(item, pieces);
    }
    add(pieces, buttons(group.find_list("/actions")));
}

/// Adds a table, whose first row is its header.
fn table(block: Payload<'_>, pieces: &mut Vec<String>) {
    add(pieces, block.find_text("/caption").map(bold).unwrap_or_default());
    let cells = |row: Payload<'_>| -> Vec<String> {
        let shown = row.find_list("").take(MAX_ITEMS).map(|found| {
            let mut texts = Vec::new();
            match found.find_text("/type") {
                Some("rich_text") => rich_text(found, &mut texts),
                _ => texts.extend(found.find("/text").or(found.find("/value")).map(Payload::shown)),
            }
            cell(&texts.join(" "))
        });
        shown.collect()
    };
    let rows: Vec<Vec<String>> = block.find_list("/rows").take(MAX_ITEMS).map(cells).collect();
    let width = rows.iter().map(Vec::len).max().unwrap_or_default();
    let mut lines: Vec<String> = rows.iter().map(|row| format!("| {} |", row.join(" | "))).collect();
    if width > 0 {
        lines.insert(1, format!("|{}", "-|".repeat(width)));
        add(pieces, lines.join("\n"));
    }
}

fn section(block: Payload<'_>, pieces: &mut Vec<String>) {
    if let Some(text) = block.find("/text") {
        add(pieces, text_of(text));
    }
    if let Some(accessory) = block.find("/accessory") {
        match accessory.find_text("/type") {
            Some("image") => add(pieces, image(accessory)),
            Some("button") => add(pieces, button(accessory)),
            _ => {}
        }
    }
    let fields: Vec<String> = block.find_list("/fields").take(MAX_ITEMS).map(text_of).collect();
    match fields.as_slice() {
        [] => {}
        [only] => add(pieces, only.clone()),
        fields => {
            // Slack shows two columns without a header.
            let rows: Vec<String> = fields
                .chunks(2)
                .map(|row| {
                    let cell = |index: usize| row.get(index).map(|text| cell(text)).unwrap_or_default();
                    format!("| {} | {} |", cell(0), cell(1))
                })
                .collect();
            add(pieces, format!("| | |\n|-|-|\n{}", rows.join("\n")));
        }
    }
}

/// A text as a cell of a table, which has neither lines nor bars.
fn cell(text: &str) -> String {
    line(&text.replace('|', " "))
}

fn rich_text(block: Payload<'_>, pieces: &mut Vec<String>) {
    // A nested list follows the list that it is part of.
    let mut lists: Vec<FlatList> = Vec::new();
    for element in block.find_list("/elements").take(MAX_ITEMS) {
        let kind = element.find_text("/type").unwrap_or_default();
        if kind == "rich_text_list" {
            lists.push(list(element));
            continue;
        }
        add(pieces, nested_lists(&std::mem::take(&mut lists)));
        let piece = match kind {
            "rich_text_preformatted" => code_block("", &plain(element)),
            "rich_text_quote" => quote(&spans(element)),
            _ => spans(element),
        };
        add(pieces, piece);
    }
    add(pieces, nested_lists(&lists));
}

/// A list. One that continues after a nested list has as its offset the number of items before.
fn list(element: Payload<'_>) -> FlatList {
    let number = |path: &str| element.integer(path).map_or(0, |number| number.max(0).unsigned_abs());
    let is_ordered = element.find_text("/style") == Some("ordered");
    FlatList {
        start: is_ordered.then(|| number("/offset").saturating_add(1)),
        depth: usize::try_from(number("/indent")).unwrap_or(usize::MAX),
        items: element.find_list("/elements").take(MAX_ITEMS).map(|item| line(&spans(item))).collect(),
    }
}

fn plain(element: Payload<'_>) -> String {
    let texts = element.find_list("/elements").take(MAX_ITEMS);
    texts.filter_map(|span| span.find_text("/text").or(span.find_text("/url"))).collect()
}

fn spans(element: Payload<'_>) -> String {
    element.find_list("/elements").take(MAX_ITEMS).map(span).collect()
}

fn span(span: Payload<'_>) -> String {
    let text = |path: &str| span.find_text(path).unwrap_or_default();
    let has_style = |style: &str| span.is_true(&format!("/style/{style}"));
    // In code, the Markdown of a link would be text.
    let has_mark = |style: &str| style != "code" && has_style(style);
    match text("/type") {
        "link" => styled_slack_text(&link(text("/text"), text("/url")), has_mark),
        "emoji" => emoji(text("/name")),
        "user" => format!("@{}", line(text("/user_id"))),
        "channel" => format!("#{}", line(text("/channel_id"))),
        "usergroup" => format!("@{}", line(text("/usergroup_id"))),
        "broadcast" => "@**all**".to_owned(),
        "color" => line(text("/value")),
        "date" => {
            let date = span.integer("/timestamp").ok().and_then(|seconds| {
                let date = mrkdwn::date(seconds, text("/format"), text("/url"))?;
                Some(styled_slack_text(&date, has_mark))
            });
            date.unwrap_or_else(|| line(text("/fallback")))
        }
        _ => styled_slack_text(text("/text"), has_style),
    }
}

/// Adds the text of an attachment: its older members, and its blocks.
fn attachment(attachment: Payload<'_>, pieces: &mut Vec<String>) {
    let before = pieces.len();
    let text = |name: &str| attachment.find_text(name);
    if let Some(pretext) = text("/pretext") {
        add(pieces, mrkdwn::markdown(pretext));
    }
    if let Some(author) = text("/author_name") {
        add(pieces, link(&mrkdwn::plain(author), text("/author_link").unwrap_or_default()));
    }
    if let Some(title) = text("/title") {
        let title = mrkdwn::plain(title);
        add(pieces, format!("## {}", link(&title, text("/title_link").unwrap_or_default())));
    }
    if let Some(text) = text("/text") {
        add(pieces, mrkdwn::markdown(text));
    }
    let fields = attachment.find_list("/fields").take(MAX_ITEMS).map(|field| {
        let title = field.find_text("/title").map(|title| line(&mrkdwn::plain(title)));
        let value = field.find("/value").map(|value| mrkdwn::markdown(&value.shown()));
        match (title, value.filter(|value| !value.is_empty())) {
            (Some(title), Some(value)) => format!("**{title}**: {value}"),
            (Some(title), None) => format!("**{title}**"),
            (None, value) => value.unwrap_or_default(),
        }
    });
    add(pieces, fields.filter(|field| !field.is_empty()).collect::<Vec<_>>().join("\n"));
    for item in attachment.find_list("/blocks").take(MAX_ITEMS) {
        block(item, pieces);
    }
    for name in ["/image_url", "/thumb_url"] {
        if let Some(url) = text(name) {
            add(pieces, link("", url));
        }
    }
    let buttons: Vec<String> = attachment
        .find_list("/actions")
        .take(MAX_ITEMS)
        .filter_map(|action| Some(link(action.find_text("/text")?, action.find_text("/url")?)))
        .collect();
    add(pieces, buttons.join(" · "));
    if let Some(footer) = text("/footer") {
        add(pieces, mrkdwn::markdown(footer));
    }
    if let Some(seconds) = attachment.find("/ts").and_then(seconds) {
        add(pieces, format!("<time:{seconds}>"));
    }
    if pieces.len() == before
        && let Some(fallback) = text("/fallback")
    {
        add(pieces, mrkdwn::plain(fallback));
    }
}

/// A time in seconds, a number or the text of one.
fn seconds(value: Payload<'_>) -> Option<i64> {
    let number = value.0.as_f64().or_else(|| value.as_text()?.parse().ok())?;
    whole_seconds(number).filter(|seconds| *seconds > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_long_list_is_cut() {
        let many = vec![json!({"text": "a"}); MAX_ITEMS + 5];
        let payload = json!({"attachments": many});
        let posts = posts(Payload(&payload), &Options::default()).unwrap();
        assert_eq!(posts[0].content.matches('a').count(), MAX_ITEMS);
    }

    #[test]
    fn members_of_other_types_are_no_text() {
        for payload in
            [json!({"text": 7}), json!({"blocks": "x"}), json!({"attachments": [1, null]}), json!({})]
        {
            assert_eq!(posts(Payload(&payload), &Options::default()), Ok(Vec::new()), "{payload}");
        }
        assert_eq!(posts(Payload(&json!([])), &Options::default()), Err(Refusal::Anomalous));
    }
}

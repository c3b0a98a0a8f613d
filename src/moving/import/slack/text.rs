//! Slack's markup as Markdown.

use crate::moving::import::short_names;
use std::collections::HashMap;

/// Names for mentions and links.
#[derive(Debug, Default)]
pub struct Names {
    /// Display names of people, by id.
    pub people: HashMap<String, String>,
    pub channels: HashMap<String, String>,
}

/// Converts a text. Code stays as it is, but for entities.
pub fn to_markdown(text: &str, names: &Names) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    let mut rest = text;
    while let Some(start) = rest.find('`') {
        let fence = if rest[start..].starts_with("```") { "```" } else { "`" };
        let inner = start + fence.len();
        let Some(length) = rest[inner..].find(fence) else { break };
        out.push_str(&of_words(&rest[..start], names));
        let code = decode(&links(&rest[inner..inner + length], names, false));
        if fence.len() == 3 {
            if !out.is_empty() && !out.ends_with('\n') {
                out.push('\n');
            }
            out.extend(["```\n", code.trim_matches('\n'), "\n```\n"]);
        } else {
            out.extend(["`", &code, "`"]);
        }
        rest = &rest[inner + length + fence.len()..];
    }
    out.push_str(&of_words(rest, names));
    out.trim_end().to_owned()
}

/// Converts a text without code.
fn of_words(text: &str, names: &Names) -> String {
    let text = marked(text, '*', "**");
    let text = marked(&text, '~', "~~");
    let text = marked(&text, '_', "*");
    decode(&links(&short_names::in_text(&text), names, true))
}

fn decode(text: &str) -> String {
    text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
}

/// Replaces pairs of a mark at borders of words, in one line.
fn marked(text: &str, mark: char, with: &str) -> String {
    let characters: Vec<char> = text.chars().collect();
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while at < characters.len() {
        let Some(end) = end_of_mark(&characters, at, mark) else {
            out.push(characters[at]);
            at += 1;
            continue;
        };
        out.push_str(with);
        out.extend(&characters[at + 1..end]);
        out.push_str(with);
        at = end + 1;
    }
    out
}

/// The place of the mark that ends a marked text which begins at `at`.
fn end_of_mark(text: &[char], at: usize, mark: char) -> Option<usize> {
    let is_word = |character: Option<&char>| character.is_some_and(|c| c.is_alphanumeric() || *c == mark);
    let before = at.checked_sub(1).and_then(|at| text.get(at));
    if text[at] != mark || is_word(before) || before == Some(&'<') {
        return None;
    }
    let first = text.get(at + 1)?;
    if first.is_whitespace() || *first == mark {
        return None;
    }
    // Marks within `<...>` are parts of links.
    let mut depth = 0;
    for (end, character) in text.iter().enumerate().skip(at + 1) {
        match character {
            '\n' => return None,
            '<' => depth += 1,
            '>' => depth = 0,
            // The first one ends the text, or there is none.
            _ if *character == mark && depth == 0 => {
                let is_end = !text[end - 1].is_whitespace() && !is_word(text.get(end + 1));
                return is_end.then_some(end);
            }
            _ => {}
        }
    }
    None
}

/// Replaces `<...>`: mentions, channels and links. In code only their text is kept.
fn links(text: &str, names: &Names, is_markup: bool) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find('<') {
        out.push_str(&rest[..start]);
        let Some(length) = rest[start..].find('>') else {
            rest = &rest[start..];
            break;
        };
        let inner = &rest[start + 1..start + length];
        let (target, label) = match inner.split_once('|') {
            Some((target, label)) => (target, Some(label)),
            None => (inner, None),
        };
        match link(target, label, names, is_markup) {
            Some(converted) => out.push_str(&converted),
            None => out.push_str(&rest[start..=start + length]),
        }
        rest = &rest[start + length + 1..];
    }
    out.push_str(rest);
    out
}

fn link(target: &str, label: Option<&str>, names: &Names, is_markup: bool) -> Option<String> {
    if !is_markup {
        return target.contains("://").then(|| label.unwrap_or(target).to_owned());
    }
    if matches!(target, "!everyone" | "!channel" | "!here") {
        return Some("@**all**".to_owned());
    }
    if let Some(id) = target.strip_prefix('@') {
        return Some(format!("@**{}**", names.people.get(id)?));
    }
    if let Some(id) = target.strip_prefix('#') {
        let name = names.channels.get(id).map(String::as_str).or(label)?;
        return Some(format!("#**{name}**"));
    }
    if target.starts_with("!subteam^") || target.starts_with("!date^") {
        return label.map(str::to_owned);
    }
    if let Some(email) = target.strip_prefix("mailto:") {
        return Some(label.unwrap_or(email).to_owned());
    }
    if !target.contains("://") {
        return None;
    }
    Some(match label {
        Some(label) if label != target => format!("[{}]({target})", label.replace(['[', ']'], "")),
        _ => target.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_becomes_markdown() {
        let names = Names {
            people: HashMap::from([("U1".to_owned(), "Ada Abel".to_owned())]),
            channels: HashMap::from([("C1".to_owned(), "random".to_owned())]),
        };
        let cases = [
            ("(~str ike!~, text. ~Also ~)", "(~~str ike!~~, text. ~Also ~)"),
            ("Mid~word~ strike. Also ~~strike~~)", "Mid~word~ strike. Also ~~strike~~)"),
            ("ital ^_lic_, _wo r@d_.", "ital ^*lic*, *wo r@d*."),
            ("mid_word_, snake_case_name", "mid_word_, snake_case_name"),
            ("(*text*} and normal *bold*.", "(**text**} and normal **bold**."),
            ("*mid*word **word**", "*mid*word **word**"),
            ("*_x y_*", "***x y***"),
            ("~*bold*~ and *~strike~*.", "~~**bold**~~ and **~~strike~~**."),
            ("<!everyone> <!here>", "@**all** @**all**"),
            ("<@U1> and <@U1|ada>: <@U9>", "@**Ada Abel** and @**Ada Abel**: <@U9>"),
            ("<#C1|random>, <#C1>, <#C9|gone>", "#**random**, #**random**, #**gone**"),
            ("<http://a.b/c_d_e>", "http://a.b/c_d_e"),
            ("<http://a.b/c|text>", "[text](http://a.b/c)"),
            ("<mailto:a@b.c|a@b.c>", "a@b.c"),
            ("1 &lt; 2 &amp;&amp; 3 &gt; 2", "1 < 2 && 3 > 2"),
            ("use `*a*` &amp; `x &lt; y`", "use `*a*` & `x < y`"),
            ("see ```let _a_ = *b*;```", "see \n```\nlet _a_ = *b*;\n```"),
            ("*:dog:* `:dog:` <https://a.b/:x:/c>", "**:puppy:** `:dog:` https://a.b/:x:/c"),
            ("an unfinished ` one", "an unfinished ` one"),
        ];
        for (slack, markdown) in cases {
            assert_eq!(to_markdown(slack, &names), markdown, "{slack}");
        }
    }
}

//! Slack's markup as Markdown.

use crate::domain::emoji::short_names;
use std::collections::HashMap;
use teamchat_markdown::{SlackText, decode_slack_entities, link_target};

/// The beginning of the addresses of Slack's files.
pub const FILES: &str = "https://files.slack.com/";

/// An address, without the token that exports put into those of Slack's files. It is a secret.
pub fn without_token(address: &str) -> &str {
    match address.split_once('?') {
        Some((plain, _)) if address.starts_with(FILES) => plain,
        _ => address,
    }
}

/// Names for mentions and links.
#[derive(Debug, Default)]
pub struct Names {
    /// Display names of people, by id.
    pub people: HashMap<String, String>,
    pub channels: HashMap<String, String>,
    /// Names of standard emoji, by the other names that the workspace gave them.
    pub emoji: HashMap<String, String>,
}

impl Names {
    /// The name that Slack gives to an emoji: `name`, unless it is another name of a standard one.
    pub fn emoji<'n>(&'n self, name: &'n str) -> &'n str {
        self.emoji.get(name).map_or(name, String::as_str)
    }

    /// Replaces the names of emoji in a text by those here.
    pub fn with_emoji(&self, text: &str) -> String {
        short_names::in_text_with(text, |name| self.emoji.get(name).map(String::as_str))
    }
}

/// Converts a text. Code stays as it is, but for entities.
pub fn to_markdown(text: &str, names: &Names) -> String {
    let mut converted = SlackText::default();
    let mut rest = text;
    while let Some(start) = rest.find('`') {
        let fence = if rest[start..].starts_with("```") { "```" } else { "`" };
        let inner = start + fence.len();
        let Some(length) = rest[inner..].find(fence) else { break };
        add_words(&mut converted, &rest[..start], names);
        let code = code(&rest[inner..inner + length]);
        if fence.len() == 3 {
            converted.push_code_block(fence, &code);
        } else {
            converted.push_markdown(&format!("`{code}`"));
        }
        rest = &rest[inner + length + fence.len()..];
    }
    add_words(&mut converted, rest, names);
    converted.to_markdown().trim_end().to_owned()
}

/// Adds a text without code.
fn add_words(converted: &mut SlackText, text: &str, names: &Names) {
    for (words, reference) in references(&names.with_emoji(text)) {
        converted.push_text(words);
        if let Some(reference) = reference {
            let linked = link(reference, names).unwrap_or_else(|| format!("<{reference}>"));
            converted.push_markdown(&decode_slack_entities(&linked));
        }
    }
}

/// Converts code. Of links, only the text is kept.
fn code(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for (before, reference) in references(text) {
        out.push_str(before);
        match reference.map(|reference| (reference, target_and_label(reference))) {
            Some((_, (target, label))) if target.contains("://") => out.push_str(label.unwrap_or(target)),
            Some((reference, _)) => out.extend(["<", reference, ">"]),
            None => {}
        }
    }
    decode_slack_entities(&out)
}

/// Splits a text at its references `<...>`: the text before each, and the text within. After the last one, there is only
/// text.
fn references(text: &str) -> impl Iterator<Item = (&str, Option<&str>)> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest.take()?;
        let found = text.split_once('<').and_then(|(before, after)| Some((before, after.split_once('>')?)));
        Some(match found {
            Some((before, (inside, after))) => {
                rest = Some(after);
                (before, Some(inside))
            }
            None => (text, None),
        })
    })
}

fn target_and_label(reference: &str) -> (&str, Option<&str>) {
    match reference.split_once('|') {
        Some((target, label)) => (target, Some(label)),
        None => (reference, None),
    }
}

/// Converts a reference: a mention, a channel or a link.
fn link(reference: &str, names: &Names) -> Option<String> {
    let (target, label) = target_and_label(reference);
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
        Some(label) if label != target => labelled_link(label, target),
        _ => target.to_owned(),
    })
}

/// A link in Markdown. Brackets in its label are left out.
pub fn labelled_link(label: &str, address: &str) -> String {
    format!("[{}]({})", label.replace(['[', ']'], ""), link_target(address))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_becomes_markdown() {
        let names = Names {
            people: HashMap::from([("U1".to_owned(), "Ada Abel".to_owned())]),
            channels: HashMap::from([("C1".to_owned(), "random".to_owned())]),
            emoji: HashMap::from([("yes".to_owned(), "thumbsup".to_owned())]),
        };
        let cases = [
            // The published converter also replaces marks with a space inside, which then show themselves.
            ("(~str ike!~, text. ~Also ~)", "(~~str ike!~~, text. ~Also ~)"),
            ("(*text*} and normal :* bold*.", "(**text**} and normal :* bold*."),
            // The cases of the published converter.
            ("Mid~word~ strike. Also ~~strike~~)", "Mid~word~ strike. Also ~~strike~~)"),
            ("ital ^_lic_, _wo r@d_.", "ital ^*lic*, *wo r@d*."),
            ("mid_word_, @_italics_", "mid_word_, @_italics_"),
            ("*mid*word **word**", "*mid*word **word**"),
            ("***word***", "***word***"),
            ("*_x y_*", "***x y***"),
            ("~*bold*~ and *~strike~*.", "~~**bold**~~ and **~~strike~~**."),
            ("mid_word_, snake_case_name", "mid_word_, snake_case_name"),
            ("(*text*) (a)*b* *c*(d) \\_e_", "(**text**) (a)*b* *c*(d) \\_e_"),
            ("<!everyone> <!here>", "@**all** @**all**"),
            ("<@U1> and <@U1|ada>: <@U9>", "@**Ada Abel** and @**Ada Abel**: <@U9>"),
            ("<#C1|random>, <#C1>, <#C9|gone>", "#**random**, #**random**, #**gone**"),
            ("<http://a.b/c_d_e>", "http://a.b/c_d_e"),
            ("<http://a.b/c|text>", "[text](http://a.b/c)"),
            ("<http://a.b/c?d='e'|text>", "[text](http://a.b/c?d=%27e%27)"),
            ("<mailto:a@b.c|a@b.c> <mailto:a@b.c>", "a@b.c a@b.c"),
            ("1 &lt; 2 &amp;&amp; 3 &gt; 2", "1 < 2 && 3 > 2"),
            ("use `*a*` &amp; `x &lt; y`", "use `*a*` & `x < y`"),
            ("see ```let _a_ = *b*;```", "see \n```\nlet _a_ = *b*;\n```"),
            ("*use `a*b`* _<http://a.b/c|text>_", "**use `a*b`** *[text](http://a.b/c)*"),
            ("*:dog:* `:dog:` <https://a.b/:x:/c>", "**:puppy:** `:dog:` https://a.b/:x:/c"),
            (":yes: `:yes:` a:yes:b", ":+1: `:yes:` a:yes:b"),
            ("an unfinished ` one", "an unfinished ` one"),
        ];
        for (slack, markdown) in cases {
            assert_eq!(to_markdown(slack, &names), markdown, "{slack}");
        }
    }
}

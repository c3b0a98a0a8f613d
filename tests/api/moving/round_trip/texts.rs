//! Random Markdown that names what an organization has, or had.

use crate::harness::Rng;

const PIECES: [&str; 34] = [
    "lanterns",
    "Fire",
    "the *tide* of SHIP-12",
    "**loud**",
    "~~gone~~",
    "`code`",
    "https://example.com/a?b=c",
    "[named](https://example.com/x)",
    ":tada:",
    ":buoy:",
    ":rope:",
    ":anchor:",
    ":)",
    "🚢",
    "$$x^2$$",
    "<time:2026-09-21T10:00:00Z>",
    "\n\n> quoted @**Ada**\n\n",
    "\n\n```python\nprint(1) #**harbour**\n```\n\n",
    "\n\n```spoiler what\nhidden\n```\n\n",
    "\n\n* item\n* other\n\n",
    "\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n",
    "\n\n# Title\n\n",
    "東京 Grüße",
    "<b>raw</b> &amp; \"quoted\" 'single'",
    "\\*escaped\\*",
    "@**all**",
    "@**topic**",
    "@_**all**",
    "@*role:members*",
    "@**nobody at all**",
    "#**no such channel**",
    "https://example.com/picture.png",
    "BERTH1-7",
    "a\nb",
];

const BEGINNINGS: [&str; 4] = ["/me ", "/poll Which?\none\ntwo\n", "/todo List\none: this\n", ""];

/// Names of now and of before.
#[derive(Default)]
pub struct Names {
    users: Vec<(i64, String)>,
    groups: Vec<(i64, String)>,
    channels: Vec<(i64, String)>,
    pub files: Vec<String>,
    /// Ids, channels and topics of messages.
    pub messages: Vec<(i64, Option<i64>, String)>,
}

impl Names {
    /// Adds names that are new.
    pub fn learn(&mut self, users: &[(i64, String)], groups: &[(i64, String)], channels: &[(i64, String)]) {
        for (known, found) in
            [(&mut self.users, users), (&mut self.groups, groups), (&mut self.channels, channels)]
        {
            for name in found {
                if !known.contains(name) {
                    known.push(name.clone());
                }
            }
        }
    }
}

/// A random text of some pieces.
pub fn text(rng: &mut Rng, names: &Names) -> String {
    let mut text = String::new();
    if rng.below(10) == 0 {
        text.push_str(BEGINNINGS[rng.below(BEGINNINGS.len())]);
    }
    for _ in 0..=rng.below(6) {
        let piece = piece(rng, names);
        text.push_str(&piece);
        text.push(' ');
    }
    text.truncate(text.trim_end().len());
    if text.is_empty() { "nothing".to_owned() } else { text }
}

fn piece(rng: &mut Rng, names: &Names) -> String {
    let plain = PIECES[rng.below(PIECES.len())].to_owned();
    let silent = if rng.below(4) == 0 { "_" } else { "" };
    let message = rng.pick(&names.messages);
    let topic_of = |message: &(i64, Option<i64>, String)| {
        let (id, channel, topic) = message;
        let of = names.channels.iter().rfind(|known| Some(known.0) == *channel);
        of.map(|(_, name)| (*id, name.clone(), topic.clone()))
    };
    let found = match rng.below(16) {
        0 => rng.pick(&names.users).map(|(_, name)| format!("@{silent}**{name}**")),
        1 => rng.pick(&names.users).map(|(id, name)| format!("@{silent}**{name}|{id}**")),
        2 => rng.pick(&names.groups).map(|(_, name)| format!("@{silent}*{name}*")),
        3 => rng.pick(&names.channels).map(|(_, name)| format!("#**{name}**")),
        4 => message.as_ref().and_then(topic_of).map(|(_, name, topic)| format!("#**{name}>{topic}**")),
        5 => message.as_ref().and_then(topic_of).map(|(id, name, topic)| format!("#**{name}>{topic}@{id}**")),
        6..=7 => rng.pick(&names.files).map(|url| format!("[map.png]({url})")),
        _ => None,
    };
    found.unwrap_or(plain)
}

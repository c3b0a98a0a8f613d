//! References in the HTML of an archive. Messages are rendered again, because HTML of archives is not trusted; who and what
//! they refer to is taken from it, because names, access and topics have changed since.

use crate::domain::messages::plain_text::unescaped;
use crate::domain::rendering::Earlier;
use crate::types::EMPTY_TOPIC_DISPLAY_NAME;
use std::collections::HashMap;
use teamchat_markdown::{LinkedChannel, MentionedGroup, MentionedUser};

/// A mark of HTML from before mentions had ids: names of today have to do.
const WITHOUT_IDS: &str = "data-user-email=";

/// The references in an HTML text. `groups` has the ids of groups here by those of the archive. `None` if the HTML has no
/// ids.
pub fn references(html: &str, groups: &HashMap<u32, i64>) -> Option<Earlier> {
    if html.contains(WITHOUT_IDS) {
        return None;
    }
    let mut found = Earlier { is_complete: true, ..Earlier::default() };
    let mut rest = html;
    while let Some(start) = rest.find('<') {
        let after = &rest[start + 1..];
        let Some(end) = after.find('>') else { break };
        rest = &after[end + 1..];
        let element = Element { tag: &after[..end], rest };
        match element.name() {
            "span" => element.add_mention(&mut found, groups),
            "a" => element.add_link(&mut found),
            "img" => element.add_image(&mut found),
            "video" => found.files.extend(element.file()),
            _ => {}
        }
    }
    Some(found)
}

/// An opening tag, and what follows it.
struct Element<'h> {
    tag: &'h str,
    rest: &'h str,
}

impl<'h> Element<'h> {
    fn name(&self) -> &'h str {
        self.tag.split([' ', '/']).next().unwrap_or_default()
    }

    fn attribute(&self, name: &str) -> Option<&'h str> {
        let (_, rest) = self.tag.split_once(&format!(" {name}=\""))?;
        rest.split('"').next()
    }

    fn has_class(&self, class: &str) -> bool {
        self.attribute("class").is_some_and(|classes| classes.split(' ').any(|known| known == class))
    }

    /// The text up to the closing tag of this name, without the tags in it.
    fn text(&self) -> String {
        let end = self.rest.find(&format!("</{}>", self.name())).unwrap_or_default();
        let mut text = String::new();
        let mut inside = &self.rest[..end];
        while let Some((before, after)) = inside.split_once('<') {
            text.push_str(before);
            inside = after.split_once('>').map_or("", |(_, after)| after);
        }
        text.push_str(inside);
        unescaped(&text)
    }

    fn add_mention(&self, found: &mut Earlier, groups: &HashMap<u32, i64>) {
        let is_active = !self.has_class("silent");
        // Quotes of other programs have silent mentions with `@`, which no name begins with.
        let name = || {
            let text = self.text();
            text.strip_prefix('@').map(str::to_owned).unwrap_or(text)
        };
        if let Some(user_id) = self.attribute("data-user-id").and_then(|id| id.parse().ok()) {
            let user = MentionedUser { user_id, full_name: name(), is_active };
            match found.users.iter_mut().find(|known| known.user_id == user_id) {
                Some(known) => known.is_active |= is_active,
                None => found.users.push(user),
            }
        }
        let group = self.attribute("data-user-group-id").and_then(|id| id.parse::<u32>().ok());
        if let Some(group_id) = group.and_then(|id| groups.get(&id).copied()) {
            let group = MentionedGroup { group_id, name: name(), is_active };
            match found.groups.iter_mut().find(|known| known.group_id == group_id) {
                Some(known) => known.is_active |= is_active,
                None => found.groups.push(group),
            }
        }
    }

    /// Adds a link to a channel, a topic or a message.
    fn add_link(&self, found: &mut Earlier) {
        let is_topic = self.has_class("stream-topic");
        let is_message = self.has_class("message-link");
        if !is_topic && !is_message && !self.has_class("stream") {
            return;
        }
        let Some(place) = self.attribute("href").and_then(Place::of) else { return };
        let text = self.text();
        let shown = text.strip_prefix('#').unwrap_or(&text);
        let shown = if is_message { shown.strip_suffix(" @ 💬").unwrap_or(shown) } else { shown };
        let name = match &place.topic {
            Some(topic) => {
                let topic = if topic.is_empty() { EMPTY_TOPIC_DISPLAY_NAME } else { topic };
                shown.strip_suffix(&format!(" > {topic}")).or_else(|| Some(shown.rsplit_once(" > ")?.0))
            }
            None => Some(shown),
        };
        let Some(name) = name else { return };
        let channel = LinkedChannel { stream_id: place.stream_id, name: name.to_owned() };
        if !found.channels.contains(&channel) {
            found.channels.push(channel);
        }
        if let Some(topic) = place.topic.filter(|_| is_topic) {
            found.topics.push((place.stream_id, topic, place.message_id));
        }
    }

    /// Adds a custom emoji, or the preview of a file.
    fn add_image(&self, found: &mut Earlier) {
        if !self.has_class("emoji") {
            found.files.extend(self.file());
            return;
        }
        let file = self.attribute("src").and_then(|src| src.rsplit_once("/emoji/images/"));
        let name = self.attribute("alt").map(|alt| alt.trim_matches(':'));
        if let (Some((_, file)), Some(name)) = (file, name) {
            found.emoji.push((unescaped(name), unescaped(file)));
        }
    }

    /// The path id of the uploaded file that is shown.
    fn file(&self) -> Option<String> {
        let (_, path) = self.attribute("src")?.split_once("/user_uploads/")?;
        match path.strip_prefix("thumbnail/") {
            // The last part is the format.
            Some(path) => path.rsplit_once('/').map(|(path, _)| unescaped(path)),
            None => Some(unescaped(path)),
        }
    }
}

/// The place that a link leads to.
struct Place {
    stream_id: i64,
    topic: Option<String>,
    message_id: Option<i64>,
}

impl Place {
    fn of(href: &str) -> Option<Self> {
        let (_, narrow) = href.split_once("#narrow/")?;
        let mut parts = narrow.split('/');
        parts.next().filter(|part| matches!(*part, "channel" | "stream"))?;
        let channel = parts.next()?;
        let digits = channel.find(|c: char| !c.is_ascii_digit()).unwrap_or(channel.len());
        let mut place = Self { stream_id: channel[..digits].parse().ok()?, topic: None, message_id: None };
        while let (Some(kind), Some(value)) = (parts.next(), parts.next()) {
            match kind {
                "topic" | "subject" => place.topic = Some(decoded(&unescaped(value))),
                "with" => place.message_id = value.parse().ok(),
                _ => {}
            }
        }
        Some(place)
    }
}

/// The text of a part of a narrow: percent-encoded, with `.` for `%`.
fn decoded(part: &str) -> String {
    let mut bytes = Vec::with_capacity(part.len());
    let mut rest = part.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let hexadecimal = after.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        let byte = hexadecimal.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match byte.filter(|_| matches!(first, b'.' | b'%')) {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_have_ids_and_the_names_of_that_time() {
        let html = "<p><span class=\"user-mention\" data-user-id=\"8\">@Ada &amp; Co</span> \
            <span class=\"user-mention silent\" data-user-id=\"9\">Bob</span> \
            <span class=\"user-group-mention\" data-user-group-id=\"3\">@crew</span> \
            <a class=\"stream\" data-stream-id=\"5\" href=\"/#narrow/channel/5-old-name\">#old name</a> \
            <a class=\"stream-topic\" data-stream-id=\"6\" href=\"/#narrow/channel/6-a/topic/b.20.3E.20c/with/12\">#a &gt; b &gt; c</a> \
            <a class=\"message-link\" href=\"/#narrow/channel/7-x/topic//near/3\">#x &gt; <em>general chat</em> @ 💬</a> \
            <img alt=\":rope:\" class=\"emoji\" src=\"/user_avatars/2/emoji/images/4.png\" title=\"rope\"> \
            <img data-original-dimensions=\"3x4\" src=\"/user_uploads/thumbnail/2/ab/c.png/840x560.webp\"></p>";
        let found = references(html, &HashMap::from([(3, 17)])).unwrap();
        let users: Vec<_> =
            found.users.iter().map(|user| (user.user_id, user.full_name.as_str(), user.is_active)).collect();
        assert_eq!(users, [(8, "Ada & Co", true), (9, "Bob", false)]);
        assert_eq!((found.groups[0].group_id, found.groups[0].name.as_str()), (17, "crew"));
        let channels: Vec<_> =
            found.channels.iter().map(|channel| (channel.stream_id, channel.name.as_str())).collect();
        assert_eq!(channels, [(5, "old name"), (6, "a"), (7, "x")]);
        assert_eq!(found.topics, [(6, "b > c".to_owned(), Some(12))]);
        assert_eq!(found.emoji, [("rope".to_owned(), "4.png".to_owned())]);
        assert_eq!(found.files, ["2/ab/c.png"]);
        assert!(references("<span data-user-email=\"a@b.org\">@A</span>", &HashMap::new()).is_none());
    }
}

//! Pass 5: previews of the pictures and videos that a message links to. Nothing is fetched here.

use std::collections::HashSet;

use super::{
    directory::{Directory, UploadedFile},
    html::{Attribute, Element, Node, SafeUrl, Tag, text_content},
    links::path_id,
};

/// A message with more different links than this gets no previews.
const MAXIMUM_LINKS: usize = 24;

const IMAGE_ENDINGS: [&str; 9] = [".avif", ".bmp", ".gif", ".jpe", ".jpeg", ".jpg", ".png", ".tiff", ".webp"];
const VIDEO_ENDINGS: [&str; 2] = [".mp4", ".webm"];

/// What the links of a message are about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Links {
    pub has_link: bool,
    pub has_image: bool,
    /// Path ids of uploaded files, in the order of the links.
    pub attachment_path_ids: Vec<String>,
}

/// Adds previews behind the paragraphs that link to something, and says what the links are about.
pub fn add(blocks: &mut Vec<Node>, directory: &dyn Directory) -> Links {
    let mut links = Links::default();
    let mut different = HashSet::new();
    survey(blocks, false, &mut links, &mut different);
    if !different.is_empty() && different.len() <= MAXIMUM_LINKS && directory.previews_media() {
        let mut previews = Previews { directory, done: HashSet::new(), at_the_end: Vec::new(), any: false };
        previews.add_to(blocks);
        blocks.append(&mut previews.at_the_end);
        links.has_image = previews.any;
    }
    links
}

/// Finds all links; `different` are those that may have a preview (quotes have none).
fn survey(nodes: &[Node], in_quote: bool, links: &mut Links, different: &mut HashSet<String>) {
    for node in nodes {
        let Node::Element(element) = node else { continue };
        if let Some(url) = element.address() {
            links.has_link = true;
            if let Some(path_id) =
                path_id(url).filter(|id| !links.attachment_path_ids.iter().any(|known| known == id))
            {
                links.attachment_path_ids.push(path_id.to_owned());
            }
            if !in_quote {
                different.insert(url.as_str().to_owned());
            }
        }
        survey(&element.children, in_quote || element.tag == Tag::BlockQuote, links, different);
    }
}

struct Previews<'a> {
    directory: &'a dyn Directory,
    done: HashSet<String>,
    /// Previews of links that do not stand directly in a paragraph or list item.
    at_the_end: Vec<Node>,
    any: bool,
}

impl Previews<'_> {
    /// Adds previews to a list of blocks: those of a paragraph follow it.
    fn add_to(&mut self, blocks: &mut Vec<Node>) {
        let mut position = 0;
        while position < blocks.len() {
            let mut following = Vec::new();
            let mut only_its_link = false;
            if let Node::Element(element) = &mut blocks[position] {
                match element.tag {
                    Tag::BlockQuote | Tag::Anchor => {}
                    Tag::Paragraph => {
                        only_its_link = element.children.len() == 1;
                        let (previews, replace) = self.of_line(&element.children);
                        only_its_link &= replace;
                        following = previews;
                    }
                    Tag::ListItem => self.add_to_item(&mut element.children),
                    Tag::Division if element.has_class("codehilite") => {}
                    _ => self.add_to(&mut element.children),
                }
            }
            let added = following.len();
            // A paragraph with nothing but the link gives way to its preview.
            let start = if only_its_link && added > 0 { position } else { position + 1 };
            blocks.splice(start..=position, following);
            position = start + added;
        }
    }

    /// The previews of an item's own text follow it, before the blocks of the item.
    fn add_to_item(&mut self, children: &mut Vec<Node>) {
        let text_length = children.iter().take_while(|node| !is_container(node)).count();
        let (previews, replace) = self.of_line(&children[..text_length]);
        let added = previews.len();
        if replace && text_length == 1 && added > 0 {
            children.splice(..1, previews);
            let mut rest = children.split_off(added);
            self.add_to(&mut rest);
            children.append(&mut rest);
            return;
        }
        let mut rest = children.split_off(text_length);
        self.add_to(&mut rest);
        children.append(&mut rest);
        children.extend(previews);
    }

    /// The previews of the links that stand directly in a line, and whether the first link is shown by its
    /// preview well enough. Links further inside get theirs at the end of the message.
    fn of_line(&mut self, line: &[Node]) -> (Vec<Node>, bool) {
        let mut previews = Vec::new();
        let mut replace = false;
        for (index, node) in line.iter().enumerate() {
            let Node::Element(element) = node else { continue };
            if element.tag == Tag::Anchor {
                if let Some((preview, plain)) = self.of_link(element) {
                    replace |= plain && index == 0;
                    previews.push(preview);
                }
            } else {
                let (mut inner, _) = self.of_line(&element.children);
                self.at_the_end.append(&mut inner);
            }
        }
        (previews, replace)
    }

    /// The preview of a link, the first time it occurs, and whether it may take the link's place.
    fn of_link(&mut self, link: &Element) -> Option<(Node, bool)> {
        let url = link.href()?;
        if link.has_class("stream") || !self.done.insert(url.as_str().to_owned()) {
            return None;
        }
        let shown = text_content(&link.children);
        let same_text = shown == url.as_str();
        let title = (!same_text).then_some(shown);
        let (preview, may_replace) = if let Some(path_id) = path_id(url) {
            let file = self.directory.uploaded_file(path_id)?;
            (uploaded(url, &file, title)?, true)
        } else if !is_elsewhere(url) {
            return None;
        } else if ends_with_any(url, &VIDEO_ENDINGS) {
            (video(url, &self.external(url)?), true)
        } else if ends_with_any(url, &IMAGE_ENDINGS) {
            (picture(url, title, vec![Attribute::Src(self.external(url)?)]), true)
        } else {
            (youtube(url, &|picture| self.directory.external_media_url(picture))?, false)
        };
        self.any = true;
        Some((preview, same_text && may_replace))
    }

    fn external(&self, url: &SafeUrl) -> Option<SafeUrl> {
        SafeUrl::from_text(&self.directory.external_media_url(url.as_str()))
    }
}

fn is_container(node: &Node) -> bool {
    matches!(node, Node::Element(element) if matches!(
        element.tag,
        Tag::Paragraph | Tag::UnorderedList | Tag::OrderedList | Tag::BlockQuote | Tag::Division | Tag::Table
            | Tag::Heading(_) | Tag::Rule
    ))
}

/// Whether the address is on the web, and not on this server.
fn is_elsewhere(url: &SafeUrl) -> bool {
    matches!(url.as_str().split_once("://"), Some(("http" | "https", _)))
}

/// Whether the address is of a file on the web with one of these endings.
pub fn is_elsewhere_with_ending(url: &SafeUrl, endings: &[&str]) -> bool {
    is_elsewhere(url) && ends_with_any(url, endings)
}

fn ends_with_any(url: &SafeUrl, endings: &[&str]) -> bool {
    let path = url.as_str().split(['?', '#']).next().unwrap_or_default().to_ascii_lowercase();
    // The host alone has no ending: `http://example.jpg` is no picture.
    path.split_once("://").is_some_and(|(_, rest)| rest.contains('/'))
        && endings.iter().any(|ending| path.ends_with(ending))
}

fn frame(class: &str, link: Vec<Attribute>, content: Element) -> Node {
    let link = Element::new(Tag::Anchor, vec![content.node()]).with(link);
    Element::new(Tag::Division, vec![link.node()]).with(vec![Attribute::Class(class.to_owned())]).node()
}

fn picture(url: &SafeUrl, title: Option<String>, image: Vec<Attribute>) -> Node {
    let mut link = vec![Attribute::Href(url.clone())];
    link.extend(title.map(Attribute::Title));
    frame("message_inline_image", link, Element::new(Tag::Image, Vec::new()).with(image))
}

fn video(url: &SafeUrl, source: &SafeUrl) -> Node {
    let content = Element::new(Tag::Video, Vec::new())
        .with(vec![Attribute::PreloadMetadata, Attribute::Src(source.clone())]);
    frame("message_inline_image message_inline_video", vec![Attribute::Href(url.clone())], content)
}

fn uploaded(url: &SafeUrl, file: &UploadedFile, title: Option<String>) -> Option<Node> {
    if matches!(file.content_type.as_str(), "video/mp4" | "video/webm") {
        return Some(video(url, url));
    }
    if !file.content_type.starts_with("image/") {
        return None;
    }
    let source = match &file.thumbnail_url {
        Some(thumbnail) => SafeUrl::from_text(thumbnail)?,
        None => url.clone(),
    };
    let mut image = Vec::new();
    if let Some((width, height)) = file.dimensions {
        image.push(Attribute::DataOriginalContentType(file.content_type.clone()));
        image.push(Attribute::DataOriginalDimensions(width, height));
    }
    image.push(Attribute::Src(source));
    Some(picture(url, title, image))
}

/// A video's still picture comes from the platform itself.
fn youtube(url: &SafeUrl, media_url: &dyn Fn(&str) -> String) -> Option<Node> {
    let id = youtube_id(url.as_str())?;
    let still = SafeUrl::from_text(&media_url(&format!("https://i.ytimg.com/vi/{id}/mqdefault.jpg")))?;
    let link = vec![Attribute::DataId(id.to_owned()), Attribute::Href(url.clone())];
    let image = Element::new(Tag::Image, Vec::new()).with(vec![Attribute::Src(still)]);
    Some(frame("youtube-video message_inline_image", link, image))
}

/// The eleven characters that name a video.
fn youtube_id(url: &str) -> Option<&str> {
    let (_, rest) = url.split_once("://")?;
    let (host, path) = rest.split_once('/')?;
    let after = match host.strip_prefix("www.").or_else(|| host.strip_prefix("m.")).unwrap_or(host) {
        "youtu.be" => path,
        "youtube.com" | "youtube-nocookie.com" => ["embed/", "v/", "e/", "shorts/", "live/"]
            .iter()
            .find_map(|prefix| path.strip_prefix(prefix))
            .or_else(|| {
                let query = path.strip_prefix("watch?")?.split('#').next()?;
                query.split('&').find_map(|parameter| parameter.strip_prefix("v="))
            })?,
        _ => return None,
    };
    let id = after.split(['?', '&', '#', '/']).next()?;
    (id.len() == 11 && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')))
        .then_some(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn videos_are_named_by_eleven_characters() {
        for url in [
            "https://www.youtube.com/watch?v=0c46YHS3RY8",
            "https://youtube.com/watch?t=1s&v=0c46YHS3RY8#x",
            "https://youtu.be/0c46YHS3RY8?t=1",
            "https://www.youtube.com/embed/0c46YHS3RY8",
            "https://www.youtube.com/shorts/0c46YHS3RY8",
        ] {
            assert_eq!(youtube_id(url), Some("0c46YHS3RY8"), "{url}");
        }
        for url in ["https://youtu.be/short", "https://example.com/watch?v=0c46YHS3RY8", "https://youtu.be/"]
        {
            assert_eq!(youtube_id(url), None, "{url}");
        }
    }
}

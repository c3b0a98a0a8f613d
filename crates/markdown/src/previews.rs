//! Previews of the pictures and videos that a message links to. Nothing is fetched.

use std::collections::HashSet;

use super::{
    directory::{Directory, UploadedFile},
    html::{Attribute, Element, Node, Tag, text_content},
    url::SafeUrl,
};

/// A message with more distinct links has no previews.
const MAX_LINKS: usize = 24;

const IMAGE_EXTENSIONS: [&str; 7] = [".bmp", ".gif", ".jpe", ".jpeg", ".jpg", ".png", ".webp"];
const VIDEO_EXTENSIONS: [&str; 2] = [".mp4", ".webm"];

/// The links of a message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Links {
    pub has_link: bool,
    pub has_image: bool,
    /// Path ids of uploaded files, in order of appearance.
    pub attachment_path_ids: Vec<String>,
}

/// Adds previews after the paragraphs that contain links, and returns the links.
pub fn add(blocks: &mut Vec<Node>, directory: &dyn Directory) -> Links {
    let mut links = Links::default();
    let mut distinct = HashSet::new();
    collect_links(blocks, false, &mut links, &mut distinct);
    if !distinct.is_empty() && distinct.len() <= MAX_LINKS && directory.previews_media() {
        let mut previews = Previews { directory, done: HashSet::new(), at_the_end: Vec::new(), any: false };
        previews.add_to(blocks);
        blocks.append(&mut previews.at_the_end);
        links.has_image = previews.any;
    }
    links
}

/// Checks whether there is a link of any kind.
pub fn has_links(blocks: &[Node]) -> bool {
    let mut links = Links::default();
    collect_links(blocks, false, &mut links, &mut HashSet::new());
    links.has_link
}

/// Collects all links; `distinct` are those that may have a preview (quotes have none).
fn collect_links(nodes: &[Node], in_quote: bool, links: &mut Links, distinct: &mut HashSet<String>) {
    for node in nodes {
        let Node::Element(element) = node else { continue };
        if let Some(url) = element.target() {
            links.has_link = true;
            if let Some(path_id) =
                url.path_id().filter(|id| !links.attachment_path_ids.iter().any(|known| known == id))
            {
                links.attachment_path_ids.push(path_id.to_owned());
            }
            if !in_quote {
                distinct.insert(url.as_str().to_owned());
            }
        }
        collect_links(&element.children, in_quote || element.tag == Tag::BlockQuote, links, distinct);
    }
}

struct Previews<'a> {
    directory: &'a dyn Directory,
    done: HashSet<String>,
    /// Previews of links that are nested deeper than a paragraph or list item.
    at_the_end: Vec<Node>,
    any: bool,
}

impl Previews<'_> {
    /// Adds the previews of each paragraph after it.
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
            // The preview replaces a paragraph that is only the link.
            let start = if only_its_link && added > 0 { position } else { position + 1 };
            blocks.splice(start..=position, following);
            position = start + added;
        }
    }

    /// Adds the previews of a list item.
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

    /// Returns the previews of the links directly in a line, and whether the preview may replace the first one. The
    /// previews of links that are nested deeper go to the end of the message.
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

    /// Returns the preview of a link, once for each URL, and whether it may replace the link.
    fn of_link(&mut self, link: &Element) -> Option<(Node, bool)> {
        let url = link.href()?;
        if link.has_class("stream") || !self.done.insert(url.as_str().to_owned()) {
            return None;
        }
        let shown = text_content(&link.children);
        let same_text = shown == url.as_str();
        let title = (!same_text).then_some(shown);
        let (preview, replaces_link) = if let Some(path_id) = url.path_id() {
            let file = self.directory.uploaded_file(path_id)?;
            (uploaded(url, &file, title)?, same_text)
        } else if !url.is_external() {
            return None;
        } else if url.has_extension(&VIDEO_EXTENSIONS) {
            (video(url, title, &self.external(url)?), same_text)
        } else if let Some((source, is_linked)) = picture_source(url) {
            let image = vec![Attribute::Src(self.external(&source)?)];
            let (link, title) = if is_linked { (&source, None) } else { (url, title) };
            (picture(link, title, image), same_text || is_linked)
        } else {
            (youtube(url, &|picture| self.directory.external_media_url(picture))?, false)
        };
        self.any = true;
        Some((preview, replaces_link))
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

fn frame(class: &str, link: Vec<Attribute>, content: Element) -> Node {
    let link = Element::new(Tag::Anchor, vec![content.node()]).with(link);
    Element::new(Tag::Division, vec![link.node()]).with(vec![Attribute::Class(class.to_owned())]).node()
}

fn picture(url: &SafeUrl, title: Option<String>, image: Vec<Attribute>) -> Node {
    let mut link = vec![Attribute::Href(url.clone())];
    link.extend(title.map(Attribute::Title));
    frame("message_inline_image", link, Element::new(Tag::Image, Vec::new()).with(image))
}

fn video(url: &SafeUrl, title: Option<String>, source: &SafeUrl) -> Node {
    let mut link = vec![Attribute::Href(url.clone())];
    link.extend(title.map(Attribute::Title));
    let content = Element::new(Tag::Video, Vec::new())
        .with(vec![Attribute::PreloadMetadata, Attribute::Src(source.clone())]);
    frame("message_inline_image message_inline_video", link, content)
}

fn uploaded(url: &SafeUrl, file: &UploadedFile, title: Option<String>) -> Option<Node> {
    if matches!(file.content_type.as_str(), "video/mp4" | "video/webm") {
        return Some(video(url, title, url));
    }
    if !file.content_type.starts_with("image/") {
        return None;
    }
    let source = match &file.thumbnail_url {
        Some(thumbnail) => SafeUrl::from_text(thumbnail)?,
        None => url.clone(),
    };
    let mut image = Vec::new();
    if file.is_animated {
        image.push(Attribute::DataAnimated);
    }
    if let Some((width, height)) = file.dimensions {
        image.push(Attribute::DataOriginalContentType(file.content_type.clone()));
        image.push(Attribute::DataOriginalDimensions(width, height));
    }
    image.push(Attribute::Src(source));
    Some(picture(url, title, image))
}

/// Returns the address of the picture that a link shows, and whether the preview links to it instead of the page that was
/// typed. Some sites have pages whose addresses look like pictures. `None` if the link is no picture.
fn picture_source(url: &SafeUrl) -> Option<(SafeUrl, bool)> {
    let (scheme, rest) = url.as_str().split_once("://")?;
    let (host, path) = rest.split_once('/')?;
    if !url.has_extension(&IMAGE_EXTENSIONS) || host == "pasteboard.co" {
        return None;
    }
    let is_of = |site: &str| host.strip_suffix(site).is_some_and(|sub| sub.is_empty() || sub.ends_with('.'));
    let page = path.split(['?', '#']).next().unwrap_or_default();
    let (source, is_linked) = if is_of("github.com")
        && let [owner, repository, "blob", file] = page.splitn(4, '/').collect::<Vec<_>>().as_slice()
    {
        (format!("https://raw.githubusercontent.com/{owner}/{repository}/{file}"), false)
    } else if host.ends_with(".wikipedia.org")
        && let Some(name) = path.strip_prefix("wiki/File:")
    {
        (format!("{scheme}://{host}/wiki/Special:FilePath/File:{name}"), true)
    } else if is_of("dropbox.com") && page.starts_with("scl/fi/") {
        let address = url.as_str().split('#').next().unwrap_or_default();
        let separator = if address.contains('?') { '&' } else { '?' };
        (format!("{address}{separator}raw=1"), true)
    } else if host == "linx.li" && !page.starts_with("s/") {
        (format!("https://linx.li/s/{page}"), true)
    } else {
        return Some((url.clone(), false));
    };
    Some((SafeUrl::from_text(&source)?, is_linked))
}

/// Creates the preview of a YouTube video, with the still picture of the platform.
fn youtube(url: &SafeUrl, media_url: &dyn Fn(&str) -> String) -> Option<Node> {
    let id = youtube_id(url.as_str())?;
    let still = SafeUrl::from_text(&media_url(&format!("https://i.ytimg.com/vi/{id}/mqdefault.jpg")))?;
    let link = vec![Attribute::DataId(id.to_owned()), Attribute::Href(url.clone())];
    let image = Element::new(Tag::Image, Vec::new()).with(vec![Attribute::Src(still)]);
    Some(frame("youtube-video message_inline_image", link, image))
}

/// Returns the eleven characters that name a video.
fn youtube_id(url: &str) -> Option<&str> {
    let (_, rest) = url.split_once("://")?;
    let (host, path) = rest.split_once('/')?;
    let after = match host.strip_prefix("www.").or_else(|| host.strip_prefix("m.")).unwrap_or(host) {
        "youtu.be" => path,
        "youtube.com" | "youtube-nocookie.com" => ["embed/", "v/", "e/", "shorts/", "live/"]
            .iter()
            .find_map(|prefix| path.strip_prefix(prefix))
            .or_else(|| {
                let (page, query) = path.split('#').next()?.split_once('?')?;
                let name = match page {
                    "watch" | "watch_popup" => "v=",
                    "watch_videos" => "video_ids=",
                    _ => return None,
                };
                query.split('&').find_map(|parameter| parameter.strip_prefix(name))
            })?,
        _ => return None,
    };
    let id = after.split(['?', '&', '#', '/', ',']).next()?;
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
            "https://www.youtube.com/watch_popup?v=0c46YHS3RY8",
            "https://www.youtube.com/watch_videos?video_ids=0c46YHS3RY8,nOJgD4fcZhI",
        ] {
            assert_eq!(youtube_id(url), Some("0c46YHS3RY8"), "{url}");
        }
        for url in ["https://youtu.be/short", "https://example.com/watch?v=0c46YHS3RY8", "https://youtu.be/"]
        {
            assert_eq!(youtube_id(url), None, "{url}");
        }
    }
}

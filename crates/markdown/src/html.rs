//! The syntax tree, and its serializer to HTML.
//!
//! Nothing else writes HTML. Only the tags of [`Tag`] and the attributes of [`Attribute`] can be written, text is always
//! escaped, and a URL must have passed [`SafeUrl`]. So no message can bring markup of its own.

use std::{fmt::Write as _, ops::Range};

use super::{typeset::Formula, url::SafeUrl};

/// Depth limit of quotes, lists, spoilers and emphasis. Deeper nesting is shown as text.
pub const MAX_DEPTH: usize = 20;

/// The tags that clients know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tag {
    Anchor,
    Audio,
    BlockQuote,
    Break,
    Code,
    Deletion,
    Division,
    Emphasis,
    /// Level 1 to 6; other levels are written as 6.
    Heading(u8),
    Image,
    ListItem,
    OrderedList,
    Paragraph,
    Preformatted,
    Rule,
    Span,
    Strong,
    Table,
    TableBody,
    TableCell,
    TableHead,
    TableHeaderCell,
    TableRow,
    Time,
    UnorderedList,
    Video,
}

impl Tag {
    fn name(self) -> &'static str {
        match self {
            Self::Anchor => "a",
            Self::Audio => "audio",
            Self::BlockQuote => "blockquote",
            Self::Break => "br",
            Self::Code => "code",
            Self::Deletion => "del",
            Self::Division => "div",
            Self::Emphasis => "em",
            Self::Heading(1) => "h1",
            Self::Heading(2) => "h2",
            Self::Heading(3) => "h3",
            Self::Heading(4) => "h4",
            Self::Heading(5) => "h5",
            Self::Heading(_) => "h6",
            Self::Image => "img",
            Self::ListItem => "li",
            Self::OrderedList => "ol",
            Self::Paragraph => "p",
            Self::Preformatted => "pre",
            Self::Rule => "hr",
            Self::Span => "span",
            Self::Strong => "strong",
            Self::Table => "table",
            Self::TableBody => "tbody",
            Self::TableCell => "td",
            Self::TableHead => "thead",
            Self::TableHeaderCell => "th",
            Self::TableRow => "tr",
            Self::Time => "time",
            Self::UnorderedList => "ul",
            Self::Video => "video",
        }
    }

    /// Tags without content and without an end tag.
    fn is_void(self) -> bool {
        matches!(self, Self::Break | Self::Image | Self::Rule)
    }
}

/// The attributes that clients know. Elements list them in the alphabetical order of their names, as the published server
/// does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Attribute {
    Alt(String),
    AriaHidden,
    AriaLabel(String),
    Class(String),
    Controls,
    DataAnimated,
    DataCodeLanguage(String),
    DataOriginalContentType(String),
    DataOriginalDimensions(u32, u32),
    /// The URL of a player's file, if clients load it through a proxy.
    DataOriginalUrl(SafeUrl),
    DataStreamId(i64),
    DataUserGroupId(i64),
    /// A user's id as text, or `*` for a wildcard.
    DataUserId(String),
    DateTime(String),
    Href(SafeUrl),
    /// The id of a video on its platform.
    DataId(String),
    PreloadMetadata,
    RoleImage,
    Src(SafeUrl),
    /// The number of the first item of an ordered list.
    Start(u64),
    TextAlign(TextAlign),
    Title(String),
}

/// The alignment of a column of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextAlign {
    Left,
    Center,
    Right,
}

impl Attribute {
    fn name(&self) -> &'static str {
        match self {
            Self::Alt(_) => "alt",
            Self::AriaHidden => "aria-hidden",
            Self::AriaLabel(_) => "aria-label",
            Self::Class(_) => "class",
            Self::Controls => "controls",
            Self::DataAnimated => "data-animated",
            Self::DataCodeLanguage(_) => "data-code-language",
            Self::DataId(_) => "data-id",
            Self::DataOriginalContentType(_) => "data-original-content-type",
            Self::DataOriginalDimensions(..) => "data-original-dimensions",
            Self::DataOriginalUrl(_) => "data-original-url",
            Self::DataStreamId(_) => "data-stream-id",
            Self::DataUserGroupId(_) => "data-user-group-id",
            Self::DataUserId(_) => "data-user-id",
            Self::DateTime(_) => "datetime",
            Self::Href(_) => "href",
            Self::PreloadMetadata => "preload",
            Self::RoleImage => "role",
            Self::Src(_) => "src",
            Self::Start(_) => "start",
            Self::TextAlign(_) => "style",
            Self::Title(_) => "title",
        }
    }

    fn value(&self) -> Option<String> {
        Some(match self {
            Self::Controls => return None,
            Self::Alt(text)
            | Self::AriaLabel(text)
            | Self::Class(text)
            | Self::DataCodeLanguage(text)
            | Self::DataId(text)
            | Self::DataOriginalContentType(text)
            | Self::DataUserId(text)
            | Self::DateTime(text)
            | Self::Title(text) => text.clone(),
            Self::DataOriginalUrl(url) | Self::Href(url) | Self::Src(url) => url.as_str().to_owned(),
            Self::AriaHidden | Self::DataAnimated => "true".to_owned(),
            Self::DataOriginalDimensions(width, height) => format!("{width}x{height}"),
            Self::DataStreamId(id) | Self::DataUserGroupId(id) => id.to_string(),
            Self::PreloadMetadata => "metadata".to_owned(),
            Self::RoleImage => "img".to_owned(),
            Self::Start(number) => number.to_string(),
            Self::TextAlign(TextAlign::Left) => "text-align: left;".to_owned(),
            Self::TextAlign(TextAlign::Center) => "text-align: center;".to_owned(),
            Self::TextAlign(TextAlign::Right) => "text-align: right;".to_owned(),
        })
    }
}

/// A node of the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Node {
    /// Text, escaped when written.
    Text(String),
    /// Text whose quotation marks are escaped too, as the published server does in formulas with errors.
    QuotedText(String),
    /// A character reference as typed, without `&` and `;`: ASCII letters, digits and `#` only.
    Reference(String),
    Element(Element),
    Formula(Formula),
    /// Blocks that [`write_blocks`] wrote before.
    Stored(String),
}

/// A tag with its attributes and children.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Element {
    pub tag: Tag,
    pub attributes: Vec<Attribute>,
    pub children: Vec<Node>,
}

impl Element {
    /// Creates an element without attributes.
    pub fn new(tag: Tag, children: Vec<Node>) -> Self {
        Self { tag, attributes: Vec::new(), children }
    }

    /// Sets the attributes.
    #[must_use]
    pub fn with(mut self, attributes: Vec<Attribute>) -> Self {
        self.attributes = attributes;
        self
    }

    /// Converts the element to a node.
    pub fn node(self) -> Node {
        Node::Element(self)
    }

    /// Checks whether the element has a class.
    pub fn has_class(&self, wanted: &str) -> bool {
        self.attributes
            .iter()
            .any(|attribute| matches!(attribute, Attribute::Class(classes) if classes.split(' ').any(|c| c == wanted)))
    }

    /// Checks whether this is a code block whose fence names no language.
    fn is_plain_code(&self) -> bool {
        let names_language = |attribute| matches!(attribute, &Attribute::DataCodeLanguage(_));
        self.tag == Tag::Division
            && self.has_class("codehilite")
            && !self.attributes.iter().any(names_language)
    }

    /// Returns the URL of a link or of an audio player.
    pub fn target(&self) -> Option<&SafeUrl> {
        self.attributes.iter().find_map(|attribute| match (self.tag, attribute) {
            (Tag::Anchor, Attribute::Href(url)) | (Tag::Audio, Attribute::Src(url)) => Some(url),
            _ => None,
        })
    }

    /// Returns the URL of a link.
    pub fn href(&self) -> Option<&SafeUrl> {
        self.attributes.iter().find_map(|attribute| match attribute {
            Attribute::Href(url) => Some(url),
            _ => None,
        })
    }
}

/// Creates a text node.
pub fn text(content: impl Into<String>) -> Node {
    Node::Text(content.into())
}

/// Creates nodes of text in which `&amp;`, `&#38;` and the like are references.
pub fn text_with_references(source: &str) -> Vec<Node> {
    let mut nodes = Vec::new();
    let mut position = 0;
    while let Some(range) = find_reference(source, position) {
        if position < range.start {
            nodes.push(text(&source[position..range.start]));
        }
        nodes.push(Node::Reference(source[range.start + 1..range.end - 1].to_owned()));
        position = range.end;
    }
    if position < source.len() {
        nodes.push(text(&source[position..]));
    }
    nodes
}

/// Finds the next character reference, from `&` to `;`.
pub fn find_reference(source: &str, from: usize) -> Option<Range<usize>> {
    /// No reference has a longer name.
    const MAX_LENGTH: usize = 40;
    source[from..].match_indices('&').find_map(|(at, _)| {
        let start = from + at;
        let end = start + source[start..].bytes().take(MAX_LENGTH).position(|byte| byte == b';')?;
        let name = &source[start + 1..end];
        let is_reference = match name.strip_prefix('#') {
            Some(number) => match number.strip_prefix(['x', 'X']) {
                Some(digits) => !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit()),
                None => !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()),
            },
            None => !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric()),
        };
        is_reference.then_some(start..end + 1)
    })
}

/// Returns the visible text of nodes.
pub fn text_content(nodes: &[Node]) -> String {
    fn collect(nodes: &[Node], into: &mut String) {
        for node in nodes {
            match node {
                Node::Text(text) | Node::QuotedText(text) => into.push_str(text),
                Node::Reference(name) => {
                    let _ = write!(into, "&{name};");
                }
                Node::Element(element) => collect(&element.children, into),
                Node::Formula(formula) => into.push_str(formula.source()),
                Node::Stored(_) => {}
            }
        }
    }
    let mut collected = String::new();
    collect(nodes, &mut collected);
    collected
}

/// Serializes blocks, with the line ends of the published server.
pub fn write_blocks(blocks: &[Node]) -> String {
    let mut output = String::new();
    write_lines(blocks, &mut output);
    output
}

/// Writes nodes with a line end between them. None follows a preview.
fn write_lines(nodes: &[Node], output: &mut String) {
    for (index, node) in nodes.iter().enumerate() {
        if index > 0 && !is_preview(&nodes[index - 1]) {
            output.push('\n');
        }
        write_node(node, false, output);
    }
}

fn is_preview(node: &Node) -> bool {
    matches!(node, Node::Element(element) if element.tag == Tag::Division && element.has_class("message_inline_image"))
}

/// `in_plain_code`: in code whose fence names no language, quotation marks are escaped too.
fn write_node(node: &Node, in_plain_code: bool, output: &mut String) {
    match node {
        Node::Text(text) if in_plain_code => escape_all(text, "&#39;", output),
        Node::Text(text) => escape(text, false, output),
        Node::QuotedText(text) => escape_all(text, "&#x27;", output),
        Node::Reference(name) => {
            output.push('&');
            output.extend(name.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '#'));
            output.push(';');
        }
        Node::Formula(formula) => output.push_str(formula.html()),
        Node::Stored(html) => output.push_str(html),
        Node::Element(element) => write_element(element, in_plain_code, output),
    }
}

fn write_element(element: &Element, in_plain_code: bool, output: &mut String) {
    let name = element.tag.name();
    output.push('<');
    output.push_str(name);
    for attribute in &element.attributes {
        output.push(' ');
        output.push_str(attribute.name());
        if let Some(value) = attribute.value() {
            output.push_str("=\"");
            escape_attribute(&value, output);
            output.push('"');
        }
    }
    output.push('>');
    if element.tag == Tag::Break {
        output.push('\n');
    }
    if element.tag.is_void() {
        return;
    }
    match element.tag {
        Tag::BlockQuote
        | Tag::OrderedList
        | Tag::UnorderedList
        | Tag::Table
        | Tag::TableHead
        | Tag::TableBody
        | Tag::TableRow => {
            output.push('\n');
            write_lines(&element.children, output);
            output.push('\n');
        }
        Tag::ListItem => write_list_item(&element.children, output),
        Tag::Division if element.has_class("spoiler-header") || element.has_class("spoiler-content") => {
            output.push('\n');
            write_lines(&element.children, output);
            if !element.children.is_empty() {
                output.push('\n');
            }
        }
        _ => {
            let in_plain_code = in_plain_code || element.is_plain_code();
            for child in &element.children {
                write_node(child, in_plain_code, output);
            }
        }
    }
    output.push_str("</");
    output.push_str(name);
    output.push('>');
}

/// The text of a tight item follows its tag directly; blocks are on lines of their own.
fn write_list_item(children: &[Node], output: &mut String) {
    let mut ends_with_block = false;
    for (index, node) in children.iter().enumerate() {
        let block = is_block(node);
        if (block && index == 0) || ends_with_block {
            output.push('\n');
        }
        write_node(node, false, output);
        ends_with_block = block;
    }
    if ends_with_block {
        output.push('\n');
    }
}

fn is_block(node: &Node) -> bool {
    match node {
        Node::Element(element) => match element.tag {
            Tag::Division => !is_preview(node),
            Tag::BlockQuote
            | Tag::Heading(_)
            | Tag::OrderedList
            | Tag::Paragraph
            | Tag::Rule
            | Tag::Table
            | Tag::UnorderedList => true,
            _ => false,
        },
        _ => false,
    }
}

/// Escapes text, with its quotation marks, and with `apostrophe` for apostrophes.
fn escape_all(text: &str, apostrophe: &str, output: &mut String) {
    for piece in text.split_inclusive('\'') {
        let without = piece.strip_suffix('\'');
        escape(without.unwrap_or(piece), true, output);
        if without.is_some() {
            output.push_str(apostrophe);
        }
    }
}

/// Escapes the value of an attribute, except for character references.
fn escape_attribute(value: &str, output: &mut String) {
    for node in text_with_references(value) {
        match node {
            Node::Text(text) => escape(&text, true, output),
            other => write_node(&other, false, output),
        }
    }
}

/// Escapes text; `quotes`: as in the value of an attribute.
fn escape(text: &str, quotes: bool, output: &mut String) {
    let is_special = |c: char| matches!(c, '&' | '<' | '>') || (quotes && c == '"');
    let mut rest = text;
    while let Some(at) = rest.find(is_special) {
        output.push_str(&rest[..at]);
        output.push_str(match rest.as_bytes()[at] {
            b'&' => "&amp;",
            b'<' => "&lt;",
            b'>' => "&gt;",
            _ => "&quot;",
        });
        rest = &rest[at + 1..];
    }
    output.push_str(rest);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_attributes_are_escaped() {
        let link = Element::new(Tag::Anchor, vec![text("</a><script>\"&")])
            .with(vec![Attribute::Title("\"><script>".to_owned())]);
        assert_eq!(
            write_blocks(&[link.node()]),
            "<a title=\"&quot;&gt;&lt;script&gt;\">&lt;/a&gt;&lt;script&gt;\"&amp;</a>"
        );
    }
}

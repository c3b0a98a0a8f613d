//! Message text to the HTML that clients know.
//!
//! The dialect is the published server's: Markdown with mentions, links to channels and topics, emoji, quotes,
//! spoilers, formulas and global times. Clients parse the HTML into widgets, so it must be exactly theirs; the
//! cases in `cases.json` say what that is. Rendering is pure: what it needs to know about the organization it asks
//! a [`Directory`], and nothing is fetched.
//!
//! The passes, in reading order:
//! 1. `fences` splits lines at ```` ``` ```` and `~~~`: code, quotes, spoilers, formulas.
//! 2. `blocks` splits the lines between them into lists, quotes, indented code and leaves.
//! 3. `inline` finds mentions, links, code spans and so on in a leaf, and puts `atoms` in their places
//!    (`mentions`, `links`, `autolinks`, `linkifiers`, `times`, `math`, `emoji_text`).
//! 4. `leaves` puts paragraphs, headings and `tables` together; `emphasis` pairs the marks in what is left of a text.
//!    Both write what they found as CommonMark and GFM, of which `tree` takes the `markdown` crate's syntax tree.
//! 5. `previews` adds pictures and videos behind the links to them.
//! 6. `code` frames code, which `highlight` cuts into the pieces that clients colour.
//! 7. `html` writes the tree. It is the only way to a tag, and knows no unsafe one.
//!
//! Every pass is linear in the length of the text, or nearly so, and nesting ends at a fixed depth, so no text can
//! exhaust time or stack.

mod atoms;
mod autolinks;
mod blocks;
mod code;
mod directory;
pub mod emoji;
mod emoji_text;
mod emphasis;
mod fences;
mod highlight;
mod html;
mod inline;
mod leaves;
mod linkifiers;
mod links;
mod math;
mod mentions;
mod previews;
mod tables;
#[cfg(test)]
mod tests;
mod times;
mod tree;

pub use directory::{
    CustomEmoji, Directory, LinkedChannel, MentionedGroup, MentionedUser, NoDirectory, UploadedFile,
    UserQuery,
};
pub use linkifiers::{Linkifier, LinkifierError, TopicLink, topic_links, url_template_variables};
pub use links::{encode_fragment, message_url, topic_url};

use self::{
    blocks::{Block, List},
    html::{Attribute, Element, Node, Tag},
    inline::{Context, Mentions},
};

/// Quotes, lists and spoilers nest so deep; what lies deeper is shown as text.
const MAXIMUM_DEPTH: usize = 20;

/// Tab stops are so many columns apart.
const TAB_WIDTH: usize = 4;

/// A message as HTML, and what was found out on the way.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rendered {
    /// `rendered_content`: well-formed HTML, empty for an empty message.
    pub html: String,
    /// Whether this is a status message: `/me` and one paragraph.
    pub is_me_message: bool,
    /// Users mentioned, but not silently; sorted.
    pub mentioned_user_ids: Vec<i64>,
    /// Groups mentioned, but not silently; sorted.
    pub mentioned_group_ids: Vec<i64>,
    /// Whether everybody in the channel is mentioned.
    pub mentions_stream_wildcard: bool,
    /// Whether everybody who takes part in the topic is mentioned.
    pub mentions_topic_wildcard: bool,
    /// Whether there is a link of any kind.
    pub has_link: bool,
    /// Whether there is a preview of a picture or video.
    pub has_image: bool,
    /// Path ids (what follows `/user_uploads/`) of the uploaded files that are linked to.
    pub attachment_path_ids: Vec<String>,
    /// The text as a reader sees it, without quotes and code: what alert words are looked for in.
    pub text: String,
}

impl Rendered {
    /// Whether an uploaded file is linked to.
    pub fn has_attachment(&self) -> bool {
        !self.attachment_path_ids.is_empty()
    }
}

/// Renders a message.
pub fn render(message: &str, directory: &dyn Directory) -> Rendered {
    let normalised = normalised_lines(message);
    let lines: Vec<&str> = normalised.iter().map(String::as_str).collect();
    let mut context = Context { directory, in_quote: false, mentions: Mentions::default() };
    let mut nodes = Vec::new();
    if !message.trim().is_empty() {
        nodes = block_nodes(blocks::blocks(fences::sections(&lines)), &mut context);
    }
    let found_links = previews::add(&mut nodes, directory);
    let html = html::write_blocks(&nodes);
    let is_one_paragraph = matches!(&nodes[..], [Node::Element(only)] if only.tag == Tag::Paragraph);
    let Mentions { user_ids, group_ids, stream_wildcard, topic_wildcard } = context.mentions;
    Rendered {
        is_me_message: message.starts_with("/me ") && is_one_paragraph,
        mentioned_user_ids: user_ids.into_iter().collect(),
        mentioned_group_ids: group_ids.into_iter().collect(),
        mentions_stream_wildcard: stream_wildcard,
        mentions_topic_wildcard: topic_wildcard,
        has_link: found_links.has_link,
        has_image: found_links.has_image,
        attachment_path_ids: found_links.attachment_path_ids,
        text: alertable_text(&nodes),
        html,
    }
}

/// Lines with one kind of line end, no control characters, and spaces for tabs. Only the first may consist of spaces.
fn normalised_lines(message: &str) -> Vec<String> {
    let is_forbidden = |c: char| c.is_control() && !matches!(c, '\t' | '\n');
    message
        .replace("\r\n", "\n")
        .replace('\r', "\n")
        .split('\n')
        .enumerate()
        .map(|(index, line)| {
            let mut expanded = String::with_capacity(line.len());
            let mut column = 0;
            for character in line.chars().filter(|&c| !is_forbidden(c)) {
                if character == '\t' {
                    let spaces = TAB_WIDTH - column % TAB_WIDTH;
                    expanded.extend(std::iter::repeat_n(' ', spaces));
                    column += spaces;
                } else {
                    expanded.push(character);
                    column += 1;
                }
            }
            if index > 0 && expanded.trim_matches(' ').is_empty() {
                expanded.clear();
            }
            expanded
        })
        .collect()
}

fn push_block(nodes: &mut Vec<Node>, block: Block, context: &mut Context<'_>) {
    match block {
        Block::Paragraph(source) => {
            nodes.push(Element::new(Tag::Paragraph, leaves::running_text(&source, context)).node());
        }
        Block::TightText(source) => nodes.extend(leaves::running_text(&source, context)),
        Block::Heading { level, source } => nodes.push(leaves::heading(level, &source, context)),
        Block::Rule => nodes.push(leaves::rule()),
        Block::Table(table) => nodes.push(leaves::table(&table, context)),
        Block::Code { language, text } => {
            let default = context.directory.default_code_block_language();
            nodes.push(code::block(if language.is_empty() { default } else { &language }, &text));
        }
        Block::IndentedCode(text) => nodes.push(code::block("", text.trim_matches('\n'))),
        Block::Math(tex) => {
            nodes.push(Element::new(Tag::Paragraph, vec![math::display(&tex)]).node());
        }
        Block::List(list) => nodes.push(list_node(list, context)),
        Block::Quote(inner) => {
            let was_in_quote = std::mem::replace(&mut context.in_quote, true);
            let quoted = block_nodes(inner, context);
            context.in_quote = was_in_quote;
            nodes.push(Element::new(Tag::BlockQuote, quoted).node());
        }
        Block::Spoiler { header, content } => {
            let shown = Element::new(Tag::Division, block_nodes(header, context))
                .with(vec![Attribute::Class("spoiler-header".to_owned())]);
            let hidden = Element::new(Tag::Division, block_nodes(content, context))
                .with(vec![Attribute::Class("spoiler-content".to_owned()), Attribute::AriaHidden]);
            let spoiler = Element::new(Tag::Division, vec![shown.node(), hidden.node()])
                .with(vec![Attribute::Class("spoiler-block".to_owned())]);
            nodes.push(spoiler.node());
        }
    }
}

fn block_nodes(blocks: Vec<Block>, context: &mut Context<'_>) -> Vec<Node> {
    let mut nodes = Vec::new();
    for block in blocks {
        push_block(&mut nodes, block, context);
    }
    nodes
}

fn list_node(list: List, context: &mut Context<'_>) -> Node {
    let items = list
        .items
        .into_iter()
        .map(|item| Element::new(Tag::ListItem, block_nodes(item, context)).node())
        .collect();
    match list.start {
        None => Element::new(Tag::UnorderedList, items).node(),
        Some(1) => Element::new(Tag::OrderedList, items).node(),
        Some(start) => Element::new(Tag::OrderedList, items).with(vec![Attribute::Start(start)]).node(),
    }
}

/// All text but quotes and code, with spaces between blocks.
fn alertable_text(nodes: &[Node]) -> String {
    fn collect(nodes: &[Node], into: &mut String) {
        for node in nodes {
            match node {
                Node::Element(element) => match element.tag {
                    Tag::BlockQuote | Tag::Code | Tag::Preformatted => {}
                    Tag::Anchor | Tag::Deletion | Tag::Emphasis | Tag::Span | Tag::Strong => {
                        collect(&element.children, into);
                    }
                    _ => {
                        collect(&element.children, into);
                        into.push('\n');
                    }
                },
                other => into.push_str(&html::text_content(std::slice::from_ref(other))),
            }
        }
    }
    let mut text = String::new();
    collect(nodes, &mut text);
    text.trim_end().to_owned()
}

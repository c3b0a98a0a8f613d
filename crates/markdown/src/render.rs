//! Messages to HTML: runs the passes, and turns blocks into nodes.

use super::{
    blocks::{self, Block, List},
    code_blocks,
    context::{Context, Mentions},
    directory::Directory,
    fences,
    html::{self, Attribute, Element, Node, Tag},
    inline,
    linkifiers::Linkifier,
    math, plain_text, previews,
    tables::Table,
};

/// A message as HTML, and its properties.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rendered {
    /// `rendered_content`: well-formed HTML, empty for an empty message.
    pub html: String,
    /// True for a status message: `/me` and one paragraph.
    pub is_me_message: bool,
    /// Users mentioned, but not silently; sorted.
    pub mentioned_user_ids: Vec<i64>,
    /// Groups mentioned, but not silently; sorted.
    pub mentioned_group_ids: Vec<i64>,
    /// True if all subscribers of the channel are mentioned.
    pub mentions_stream_wildcard: bool,
    /// True if all participants of the topic are mentioned.
    pub mentions_topic_wildcard: bool,
    /// True if there is a link of any kind.
    pub has_link: bool,
    /// True if there is a preview of a picture or video.
    pub has_image: bool,
    /// Path ids (the part after `/user_uploads/`) of the linked uploaded files.
    pub attachment_path_ids: Vec<String>,
    /// The source without code blocks, for alert words.
    pub alertable: String,
}

impl Rendered {
    /// Checks whether an uploaded file is linked to.
    pub fn has_attachment(&self) -> bool {
        !self.attachment_path_ids.is_empty()
    }
}

/// The longest text in bytes that is cheap to render.
const MAX_CHEAP_LENGTH: usize = 500;

/// Checks whether rendering a text takes well under a millisecond: it is short and has no formula. A long text may take longer
/// even without markup, because each linkifier looks for matches in it.
pub fn is_cheap(text: &str) -> bool {
    let may_have_formulas = || text.contains("$$") || text.contains("math");
    text.len() <= MAX_CHEAP_LENGTH && (plain_text::is_plain(text) || !may_have_formulas())
}

/// Renders a message.
pub fn render(message: &str, directory: &dyn Directory) -> Rendered {
    render_plain(message, || directory.linkifiers()).unwrap_or_else(|| render_markup(message, directory))
}

/// Renders a message without markup, which no linkifier matches: it is the same for all senders. Returns `None` for others.
/// `linkifiers` is called only if there is no markup.
pub fn render_plain<'l>(message: &str, linkifiers: impl FnOnce() -> &'l [Linkifier]) -> Option<Rendered> {
    if !plain_text::is_plain(message) || linkifiers().iter().any(|linkifier| linkifier.is_match(message)) {
        return None;
    }
    let alertable = message.trim_end().to_owned();
    Some(Rendered { html: plain_text::html(message), alertable, ..Rendered::default() })
}

/// Renders a message that may have markup.
pub(super) fn render_markup(message: &str, directory: &dyn Directory) -> Rendered {
    let normalized = fences::normalized_lines(message);
    let lines: Vec<&str> = normalized.iter().map(String::as_str).collect();
    let mut context = Context::new(directory);
    let (mut nodes, mut alertable) = (Vec::new(), String::new());
    if !message.trim().is_empty() {
        let sections = fences::parse(&lines);
        alertable = fences::without_code(&sections);
        nodes = block_nodes(blocks::parse(sections), &mut context);
    }
    let targets = previews::add(&mut nodes, directory);
    let is_one_paragraph = matches!(&nodes[..], [Node::Element(only)] if only.tag == Tag::Paragraph);
    let Mentions { user_ids, group_ids, stream_wildcard, topic_wildcard } = context.mentions;
    Rendered {
        html: html::write_blocks(&nodes),
        is_me_message: message.starts_with("/me ") && is_one_paragraph,
        mentioned_user_ids: user_ids.into_iter().collect(),
        mentioned_group_ids: group_ids.into_iter().collect(),
        mentions_stream_wildcard: stream_wildcard,
        mentions_topic_wildcard: topic_wildcard,
        has_link: targets.has_link,
        has_image: targets.has_image,
        attachment_path_ids: targets.attachment_path_ids,
        alertable,
    }
}

fn block_nodes(blocks: Vec<Block>, context: &mut Context<'_>) -> Vec<Node> {
    let mut nodes = Vec::new();
    for block in blocks {
        push_block(&mut nodes, block, context);
    }
    nodes
}

fn push_block(nodes: &mut Vec<Node>, block: Block, context: &mut Context<'_>) {
    let element = match block {
        Block::TightText(source) => return nodes.extend(inline::parse(&source, context)),
        Block::Code { language, text } => {
            let default = context.directory.default_code_block_language();
            let language = if language.is_empty() { default } else { &language };
            return nodes.push(code_blocks::render(language, &text));
        }
        Block::IndentedCode(text) => return nodes.push(code_blocks::render("", text.trim_matches('\n'))),
        Block::Paragraph(source) => Element::new(Tag::Paragraph, inline::parse(&source, context)),
        Block::Heading { level, source } => {
            Element::new(Tag::Heading(level), inline::parse(&source, context))
        }
        Block::ThematicBreak => Element::new(Tag::Rule, Vec::new()),
        Block::Table(table) => table_element(&table, context),
        Block::Math(tex) => Element::new(Tag::Paragraph, math::displays(&tex, &mut context.typesetter)),
        Block::List(list) => list_element(list, context),
        Block::Quote(blocks) => {
            let was_in_quote = std::mem::replace(&mut context.in_quote, true);
            let quoted = block_nodes(blocks, context);
            context.in_quote = was_in_quote;
            Element::new(Tag::BlockQuote, quoted)
        }
        Block::Spoiler { header, content: hidden } => {
            let header = division("spoiler-header", block_nodes(header, context));
            let mut hidden = division("spoiler-content", block_nodes(hidden, context));
            hidden.attributes.push(Attribute::AriaHidden);
            division("spoiler-block", vec![header.node(), hidden.node()])
        }
    };
    nodes.push(element.node());
}

fn division(class: &str, children: Vec<Node>) -> Element {
    Element::new(Tag::Division, children).with(vec![Attribute::Class(class.to_owned())])
}

fn list_element(list: List, context: &mut Context<'_>) -> Element {
    let items = list
        .items
        .into_iter()
        .map(|item| Element::new(Tag::ListItem, block_nodes(item, context)).node())
        .collect();
    match list.start {
        None => Element::new(Tag::UnorderedList, items),
        Some(1) => Element::new(Tag::OrderedList, items),
        Some(start) => Element::new(Tag::OrderedList, items).with(vec![Attribute::Start(start)]),
    }
}

fn table_element(table: &Table, context: &mut Context<'_>) -> Element {
    // Each row has as many cells as the header.
    let mut row = |cells: &[String], tag: Tag| {
        let cells = table.alignments.iter().enumerate().map(|(column, align)| {
            let children = cells.get(column).map_or_else(Vec::new, |source| inline::parse(source, context));
            Element::new(tag, children).with(align.map(Attribute::TextAlign).into_iter().collect()).node()
        });
        Element::new(Tag::TableRow, cells.collect()).node()
    };
    let mut rows = table.rows.iter();
    let head = rows.next().map(|header| row(header, Tag::TableHeaderCell));
    let mut body: Vec<Node> = rows.map(|cells| row(cells, Tag::TableCell)).collect();
    if body.is_empty() {
        // A table without rows gets an empty one, which is not aligned.
        let cells = table.alignments.iter().map(|_| Element::new(Tag::TableCell, Vec::new()).node());
        body.push(Element::new(Tag::TableRow, cells.collect()).node());
    }
    let head = Element::new(Tag::TableHead, head.into_iter().collect());
    Element::new(Tag::Table, vec![head.node(), Element::new(Tag::TableBody, body).node()])
}

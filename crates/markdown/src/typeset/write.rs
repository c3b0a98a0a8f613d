//! Writes the typesetter's tree with the tags, attributes and style properties that clients know, and no others.
//!
//! The typesetter keeps attributes and styles in hash maps. Here they have a fixed order, so that the same formula
//! is always the same HTML.

use std::fmt::Write as _;

use katex::{
    dom_tree::{HtmlDomNode, Span, SymbolNode},
    mathml_tree::{MathDomNode, MathNode, MathNodeType},
    types::{ClassList, CssProperty, CssStyle},
};

/// Length limit of the HTML of a formula in bytes.
const MAX_HTML_LENGTH: usize = 512 * 1024;

/// Limit of lengths that a formula gives itself, in em. Longer ones would cover the window of a client.
pub const MAX_SIZE: f64 = 50.0;

/// Style properties in the order they are written, with their names.
const PROPERTIES: [(CssProperty, &str); 23] = [
    (CssProperty::Position, "position"),
    (CssProperty::Height, "height"),
    (CssProperty::VerticalAlign, "vertical-align"),
    (CssProperty::Width, "width"),
    (CssProperty::MinWidth, "min-width"),
    (CssProperty::Top, "top"),
    (CssProperty::Bottom, "bottom"),
    (CssProperty::Left, "left"),
    (CssProperty::Margin, "margin"),
    (CssProperty::MarginTop, "margin-top"),
    (CssProperty::MarginLeft, "margin-left"),
    (CssProperty::MarginRight, "margin-right"),
    (CssProperty::PaddingLeft, "padding-left"),
    (CssProperty::BackgroundColor, "background-color"),
    (CssProperty::BorderStyle, "border-style"),
    (CssProperty::BorderWidth, "border-width"),
    (CssProperty::BorderTopWidth, "border-top-width"),
    (CssProperty::BorderRightStyle, "border-right-style"),
    (CssProperty::BorderRightWidth, "border-right-width"),
    (CssProperty::BorderBottomWidth, "border-bottom-width"),
    (CssProperty::BorderColor, "border-color"),
    (CssProperty::Color, "color"),
    (CssProperty::TextShadow, "text-shadow"),
];

/// Attributes of MathML and SVG in the order they are written.
const ATTRIBUTES: [&str; 35] = [
    "xmlns",
    "accent",
    "accentunder",
    "align",
    "background",
    "columnalign",
    "columnlines",
    "columnspacing",
    "depth",
    "display",
    "displaystyle",
    "encoding",
    "fence",
    "height",
    "largeop",
    "linebreak",
    "linethickness",
    "lspace",
    "mathbackground",
    "mathcolor",
    "mathsize",
    "mathvariant",
    "maxsize",
    "minsize",
    "movablelimits",
    "notation",
    "rowlines",
    "rowspacing",
    "rspace",
    "scriptlevel",
    "separator",
    "side",
    "stretchy",
    "voffset",
    "width",
];

/// The HTML of a formula; `None` if the tree holds anything that is not known to be harmless, or if it is too long.
pub fn html(tree: &Span<HtmlDomNode>) -> Option<String> {
    let mut output = String::new();
    write_span(tree, Place::default(), &mut output)?;
    Some(output)
}

/// Context of a node.
#[derive(Clone, Copy, Default)]
struct Place {
    /// True inside of text within the formula.
    is_text: bool,
    /// The way from here to the span that gets the class `svg-align`, by numbers of children.
    aligned: Option<&'static [usize]>,
}

/// From an arrow with text above it to the span that its line is in. The typesetter forgets the class there.
const LINE_OF_ARROW: &[usize] = &[0, 0, 0, 1];

impl Place {
    /// The place inside of a span.
    fn inside(self, classes: &ClassList) -> Self {
        Self {
            is_text: self.is_text || classes.contains("text"),
            aligned: if classes.contains("x-arrow") { Some(LINE_OF_ARROW) } else { self.aligned },
        }
    }

    /// The place of a child of the span that this is in.
    fn of_child(self, index: usize) -> Self {
        let (next, rest) = self.aligned.and_then(<[usize]>::split_first).unzip();
        Self { aligned: rest.filter(|_| next == Some(&index)), ..self }
    }
}

fn write_span(span: &Span<HtmlDomNode>, place: Place, output: &mut String) -> Option<()> {
    if output.len() > MAX_HTML_LENGTH {
        return None;
    }
    output.push_str("<span");
    if place.aligned.is_some_and(<[usize]>::is_empty) {
        write_attribute("class", "svg-align", output);
    } else {
        write_classes(&span.classes, output);
    }
    write_style(0.0, &span.style, output)?;
    if span.attributes.get("aria-hidden").is_some_and(|value| value == "true") {
        output.push_str(" aria-hidden=\"true\"");
    }
    output.push('>');
    write_nodes(&span.children, place.inside(&span.classes), output)?;
    output.push_str("</span>");
    Some(())
}

/// Adjacent symbols with the same style share one element, with the italic correction of the last.
fn write_nodes(nodes: &[HtmlDomNode], place: Place, output: &mut String) -> Option<()> {
    let mut rest = nodes;
    while let Some((first, following)) = rest.split_first() {
        let index = nodes.len() - rest.len();
        rest = following;
        let HtmlDomNode::Symbol(first) = first else {
            write_node(first, place.of_child(index), output)?;
            continue;
        };
        let mut combined = first.clone();
        while let Some((HtmlDomNode::Symbol(next), following)) = rest.split_first()
            && looks_same(&combined, next)
            && (place.is_text
                || !(combined.text.chars().any(is_operator) || next.text.chars().any(is_operator)))
        {
            combined.text.push_str(&next.text);
            combined.italic = next.italic;
            rest = following;
        }
        write_symbol(&combined, output)?;
    }
    Some(())
}

fn looks_same(one: &SymbolNode, other: &SymbolNode) -> bool {
    // Binary operators keep their own space.
    one.classes == other.classes
        && !one.classes.iter().eq(["mbin"])
        && one.style == other.style
        && one.skew.total_cmp(&other.skew).is_eq()
        && one.max_font_size.total_cmp(&other.max_font_size).is_eq()
}

/// True if a character is a binary operator. Without operands it is an ordinary symbol, and keeps its own element.
fn is_operator(character: char) -> bool {
    matches!(
        character,
        '+' | '±'
            | '×'
            | '÷'
            | '†'
            | '‡'
            | '∓'
            | '∔'
            | '−'
            | '∖'
            | '∗'
            | '∘'
            | '∙'
            | '∧'
            | '∨'
            | '∩'
            | '∪'
            | '≀'
            | '⊎'
            | '⊓'
            | '⊔'
            | '⊕'
            | '⊖'
            | '⊗'
            | '⊘'
            | '⊙'
            | '⊚'
            | '⊛'
            | '⊝'
            | '⊞'
            | '⊟'
            | '⊠'
            | '⊡'
            | '⊲'
            | '⊳'
            | '⊴'
            | '⊵'
            | '⊺'
            | '⊻'
            | '⊼'
            | '⋄'
            | '⋅'
            | '⋆'
            | '⋇'
            | '⋉'
            | '⋊'
            | '⋋'
            | '⋌'
            | '⋎'
            | '⋏'
            | '⋒'
            | '⋓'
            | '▹'
            | '▽'
            | '◃'
            | '◯'
            | '⨿'
            | '⩞'
    )
}

fn write_symbol(symbol: &SymbolNode, output: &mut String) -> Option<()> {
    if symbol.italic <= 0.0 && symbol.classes.is_empty() && symbol.style.is_empty() {
        escape(&symbol.text, output);
        return Some(());
    }
    output.push_str("<span");
    write_classes(&symbol.classes, output);
    write_style(symbol.italic, &symbol.style, output)?;
    output.push('>');
    escape(&symbol.text, output);
    output.push_str("</span>");
    Some(())
}

fn write_node(node: &HtmlDomNode, place: Place, output: &mut String) -> Option<()> {
    match node {
        HtmlDomNode::DomSpan(span) => write_span(span, place, output)?,
        HtmlDomNode::Symbol(symbol) => write_symbol(symbol, output)?,
        HtmlDomNode::SvgNode(svg) => {
            output.push_str("<svg xmlns=\"http://www.w3.org/2000/svg\"");
            for name in ["width", "height", "viewBox", "preserveAspectRatio", "style"] {
                if let Some(value) = svg.attributes.get(name).filter(|value| is_plain(value)) {
                    write_attribute(name, value, output);
                }
            }
            output.push('>');
            for child in &svg.children {
                // Lines and paths: their geometry is the typesetter's own, and its numbers.
                output.push_str(&child.to_markup().ok()?);
            }
            output.push_str("</svg>");
        }
        HtmlDomNode::MathML(math) => write_math(math, output)?,
        HtmlDomNode::Fragment(fragment) => write_nodes(&fragment.children, place, output)?,
        // Only untrusted commands create links and images.
        HtmlDomNode::Anchor(_) | HtmlDomNode::Img(_) => return None,
    }
    Some(())
}

fn write_math(node: &MathNode, output: &mut String) -> Option<()> {
    // Glyphs are images.
    if node.node_type == MathNodeType::Mglyph || output.len() > MAX_HTML_LENGTH {
        return None;
    }
    let name = node.node_type.as_ref();
    output.push('<');
    output.push_str(name);
    write_classes(&node.classes, output);
    for name in ATTRIBUTES {
        if let Some(value) = node.attributes.get(name) {
            write_attribute(name, value, output);
        }
    }
    output.push('>');
    for child in &node.children {
        write_math_child(child, output)?;
    }
    let _ = write!(output, "</{name}>");
    Some(())
}

fn write_math_child(child: &MathDomNode, output: &mut String) -> Option<()> {
    match child {
        MathDomNode::Math(node) => write_math(node, output)?,
        MathDomNode::Text(node) => escape(&node.text, output),
        MathDomNode::Space(space) => match &space.character {
            Some(character) => {
                output.push_str("<mtext>");
                escape(character, output);
                output.push_str("</mtext>");
            }
            None => {
                let _ = write!(output, "<mspace width=\"{}em\"></mspace>", rounded(space.width));
            }
        },
        MathDomNode::Fragment(fragment) => {
            for child in &fragment.children {
                write_math_child(child, output)?;
            }
        }
    }
    Some(())
}

/// Four digits, as the typesetter writes lengths.
fn rounded(length: f64) -> f64 {
    (length * 10_000.0).round() / 10_000.0
}

fn write_classes(classes: &ClassList, output: &mut String) {
    let names: Vec<&str> = classes.iter().filter(|class| !class.is_empty()).collect();
    if !names.is_empty() {
        write_attribute("class", &names.join(" "), output);
    }
}

/// `italic` is how far a slanted symbol leans over, in em. Clients get it in full.
fn write_style(italic: f64, style: &CssStyle, output: &mut String) -> Option<()> {
    let mut declarations = String::new();
    if italic > 0.0 {
        let _ = write!(declarations, "margin-right:{italic}em;");
    }
    for (property, name) in PROPERTIES {
        if let Some(value) = style.get(property) {
            if !is_plain(value) || (name.starts_with("margin") && !is_short(value)) {
                return None;
            }
            let _ = write!(declarations, "{name}:{value};");
        }
    }
    if !declarations.is_empty() {
        write_attribute("style", &declarations, output);
    }
    Some(())
}

/// Lengths, colours, key words: nothing that could call or load something.
fn is_plain(value: &str) -> bool {
    value.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '+' | '#' | '%' | ' '))
}

/// True if a length is within the limit. Negative ones, which the typesetter does not limit, move the following content
/// over other text.
fn is_short(length: &str) -> bool {
    length
        .strip_suffix("em")
        .and_then(|number| number.parse().ok())
        .is_none_or(|number: f64| number.abs() <= MAX_SIZE)
}

fn write_attribute(name: &str, value: &str, output: &mut String) {
    output.push(' ');
    output.push_str(name);
    output.push_str("=\"");
    escape(value, output);
    output.push('"');
}

fn escape(text: &str, output: &mut String) {
    for character in text.chars() {
        match character {
            '&' => output.push_str("&amp;"),
            '<' => output.push_str("&lt;"),
            '>' => output.push_str("&gt;"),
            '"' => output.push_str("&quot;"),
            '\'' => output.push_str("&#x27;"),
            _ => output.push(character),
        }
    }
}

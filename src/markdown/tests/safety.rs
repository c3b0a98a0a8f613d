//! What must hold for every text: it ends, and what comes out is harmless.

use proptest::prelude::*;

use super::*;

#[test]
fn hostile_texts_stay_text() {
    for markdown in [
        "<img src=x onerror=alert(1)>",
        "[x](javascript:alert(1))",
        "[x](  JaVaScRiPt:alert(1))",
        "[x](java\u{1}script:alert(1))",
        "[x](data:text/html;base64,PHNjcmlwdD4=)",
        "[x](vbscript:x)",
        "[x](//evil.example\" onclick=\"alert(1))",
        "[x](https://e.example/\"onmouseover=\"alert(1))",
        "[\"><script>](https://e.example/x.png)",
        "<https://e.example/\"><script>>",
        "```\"><script>alert(1)</script>\nx\n```",
        "```{\"onclick=\"x}\nx\n```",
        "```spoiler <script>\n</div></div><script>\n```",
        "@**\"><script>**",
        "#**\"><script>>x**",
        ":\"><script>:",
        "<time:\"><script>>",
        "&lt;script&gt; &#60;script&#62; &script;",
        "\u{F0001}\u{F0000}\u{2028}<b>\u{F0002}",
        "a | \"><script>\n--|--\n<b> | </table>",
        "https://e.example/<script>.png",
        "http://e.example/x.png?\"onerror=\"alert(1)",
        "https://youtu.be/\"onerror=\"x",
    ] {
        assert_harmless(&html_of(markdown));
    }
}

#[test]
fn reserved_characters_come_through() {
    assert_rendered(&[(
        "a\u{F0001}b\u{F0000}c\u{2028}d *e*",
        "<p>a\u{F0001}b\u{F0000}c\u{2028}d <em>e</em></p>",
    )]);
}

/// Text that is hard on parsers; each is repeated until it is as long as a message may be.
#[test]
fn pathological_texts_end() {
    for part in [
        "*",
        "**",
        "*a",
        "*a *",
        "**a **b",
        "***a ",
        "a***b**c*",
        "~~",
        "~~a",
        "_",
        "`",
        "`a``",
        "``` a",
        "[",
        "[a](",
        "[a](b",
        "[](<",
        "](",
        ">",
        "> ",
        "> > a\n",
        "* ",
        "* a\n  ",
        "1. ",
        "- a\n\n",
        " ",
        "  ",
        "  * a\n",
        "\n",
        "a\n",
        "#",
        "# a\n",
        "|",
        "a|b\n-|-\n",
        "-",
        "---\n",
        "@**",
        "@**a",
        "@**a**",
        "@_*",
        "#**",
        "#**a>",
        "#**a>b@1**",
        "<time:",
        "<time:1>",
        ":",
        ":a",
        ":smile:",
        "💩",
        "$$",
        "$$a",
        "$$a$$ ",
        "&",
        "&amp;",
        "&#",
        "http://",
        "http://a/",
        "'http://a/(",
        "a.b,",
        "a@",
        "(",
        "https://a.com/x.png ",
        "```quote\n",
        "````spoiler\n",
        "~~~\n",
        "```math\n",
        "\\",
        "\\`",
        "\t",
        "\u{F0001}",
        "[a](/x \"",
        "* a\n\n  * b\n\n",
        "<",
        "é",
        "a ",
    ] {
        let text = part.repeat(10_000 / part.len());
        assert_harmless(&html_of(&text));
    }
    // Indented further and further.
    let stairs: String = (0..140).map(|level| " ".repeat(level) + "* a\n").collect();
    assert_harmless(&html_of(&stairs));
    let nested = (3..40).fold("> * ".repeat(100), |inner, length| {
        let fence = "`".repeat(length);
        format!("{fence}quote\n{inner}a\n{fence}\n")
    });
    assert!(html_of(&nested).matches("<blockquote>").count() <= MAXIMUM_DEPTH + 1);
    let fences: String = (3..140).map(|length| "`".repeat(length) + "quote\n").collect();
    assert_harmless(&html_of(&fences));
}

proptest! {
    #[test]
    fn any_text_is_harmless(text in any::<String>()) {
        assert_harmless(&html_of(&text));
    }

    #[test]
    fn any_mix_of_marks_is_harmless(
        parts in prop::collection::vec(
            prop::sample::select(vec![
                "*", "**", "***", "~~", "`", "```", "~~~", "\n", "\n\n", " ", "  ", "    ", "> ", "* ", "1. ", "# ", "---", "a|b", "-|-",
                "[", "](", ")", "@**Zoe**", "@_**", "#**announce now>", "$$", "x^2", "<time:", "0>", ":smile:", "http://e.com/x.png",
                "/user_uploads/2/ab/zoe.png", "quote", "spoiler h", "math", "&amp;", "<b>", "\"", "'", "word", "é", "💩", "\u{F0001}", "\t",
            ]),
            0..60,
        )
    ) {
        let text = parts.concat();
        let rendered = render(&text, &TestDirectory::default());
        assert_harmless(&rendered.html);
        // The same text is always the same HTML.
        prop_assert_eq!(rendered, render(&text, &TestDirectory::default()));
    }
}

/// Panics unless this is well-formed HTML of known tags and attributes with harmless values.
pub fn assert_harmless(html: &str) {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = html;
    while let Some(start) = rest.find(['<', '>', '&']) {
        let after = &rest[start..];
        assert!(!after.starts_with('>'), "a loose > in {html}");
        if after.starts_with('&') {
            let end = after.find(';').unwrap_or_else(|| panic!("a loose & in {html}"));
            assert!(
                after[1..end].chars().all(|c| c.is_ascii_alphanumeric() || c == '#'),
                "a loose & in {html}"
            );
            rest = &after[end..];
            continue;
        }
        let end = after.find('>').unwrap_or_else(|| panic!("an unclosed tag in {html}"));
        let tag = &after[1..end];
        rest = &after[end + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "crossed tags in {html}");
            continue;
        }
        let self_closing = tag.ends_with('/');
        let tag = tag.strip_suffix('/').unwrap_or(tag);
        let (name, attributes) = tag.split_once(' ').unwrap_or((tag, ""));
        assert!(KNOWN_TAGS.contains(&name), "unknown tag {name} in {html}");
        assert_harmless_attributes(attributes, html);
        if !self_closing && !["br", "hr", "img"].contains(&name) {
            open.push(name);
        }
    }
    assert!(open.is_empty(), "open tags in {html}");
}

fn assert_harmless_attributes(attributes: &str, html: &str) {
    let mut rest = attributes;
    while !rest.is_empty() {
        let name_end = rest.find([' ', '=']).unwrap_or(rest.len());
        let name = &rest[..name_end];
        assert!(KNOWN_ATTRIBUTES.contains(&name), "unknown attribute {name} in {html}");
        let Some(quoted) = rest[name_end..].strip_prefix("=\"") else {
            rest = rest[name_end..].trim_start();
            continue;
        };
        let value_end = quoted.find('"').unwrap_or_else(|| panic!("an open value in {html}"));
        let value = &quoted[..value_end];
        if name == "href" || name == "src" {
            let known =
                ["http://", "https://", "ftp://", "mailto:", "tel:", "sms:", "news:", "bitcoin:", "/", "#"];
            assert!(known.iter().any(|start| value.starts_with(start)), "address {value} in {html}");
        }
        assert!(name != "style" || !value.contains(['(', '\\', '@']), "style {value} in {html}");
        rest = quoted[value_end + 1..].trim_start();
    }
}

const KNOWN_TAGS: [&str; 60] = [
    "a",
    "annotation",
    "audio",
    "blockquote",
    "br",
    "code",
    "del",
    "div",
    "em",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "hr",
    "img",
    "li",
    "line",
    "math",
    "menclose",
    "mfrac",
    "mi",
    "mlabeledtr",
    "mn",
    "mo",
    "mover",
    "mpadded",
    "mphantom",
    "mroot",
    "mrow",
    "mspace",
    "msqrt",
    "mstyle",
    "msub",
    "msubsup",
    "msup",
    "mtable",
    "mtd",
    "mtext",
    "mtr",
    "munder",
    "munderover",
    "ol",
    "p",
    "path",
    "pre",
    "semantics",
    "span",
    "strong",
    "svg",
    "table",
    "tbody",
    "td",
    "th",
    "thead",
    "time",
    "tr",
    "ul",
    "video",
];

const KNOWN_ATTRIBUTES: [&str; 63] = [
    "accent",
    "accentunder",
    "align",
    "alt",
    "aria-hidden",
    "aria-label",
    "background",
    "class",
    "columnalign",
    "columnlines",
    "columnspacing",
    "controls",
    "d",
    "data-code-language",
    "data-id",
    "data-original-content-type",
    "data-original-dimensions",
    "data-stream-id",
    "data-user-group-id",
    "data-user-id",
    "datetime",
    "depth",
    "display",
    "displaystyle",
    "encoding",
    "fence",
    "height",
    "href",
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
    "preload",
    "preserveAspectRatio",
    "role",
    "rowlines",
    "rowspacing",
    "rspace",
    "scriptlevel",
    "separator",
    "side",
    "src",
    "start",
    "stretchy",
    "stroke-width",
    "style",
    "title",
    "viewBox",
    "voffset",
    "width",
    "x1",
    "x2",
    "xmlns",
    "y1",
    "y2",
];

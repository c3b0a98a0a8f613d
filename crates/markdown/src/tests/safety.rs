//! Properties of all texts: rendering ends, and the HTML is harmless.

use proptest::prelude::*;

use super::*;

// conformance: md-29
#[test]
fn addresses_of_harmless_schemes_are_linked_and_others_stay_text() {
    let linked = [
        "http://e.example/a",
        "https://e.example/a",
        "ftp://e.example/a",
        "mailto:a@e.example",
        "news:comp.lang.misc",
        "bitcoin:1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa",
        "sms:+15550100",
        "tel:+15550100",
        "/user_uploads/a",
        "#narrow/is/starred",
    ];
    for address in linked {
        let expected = format!("<p><a href=\"{address}\">x</a></p>");
        assert_eq!(html_of(&format!("[x]({address})")), expected, "{address}");
    }
    let others = [
        "javascript:alert(1)",
        "data:text/html,x",
        "vbscript:x",
        "file:///etc/passwd",
        "ssh://e.example",
        "gopher://e.example",
        "ftps://e.example",
        "//e.example",
    ];
    for address in others {
        let typed = format!("[x]({address})");
        assert!(!html_of(&typed).contains("<a"), "{address}: {}", html_of(&typed));
        assert!(html_of(&typed).contains(address), "{address}: {}", html_of(&typed));
    }
}

// conformance: md-26, md-57, md-63
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
        // Schemes in disguise.
        "[x](&#106;avascript:alert(1))",
        "[x](javascript&colon;alert(1))",
        "[x](javascript&#58;alert(1))",
        "[x](JAVASCRIPT&#x3a;alert(1))",
        "[x](<javascript:alert(1)>)",
        "[x]( \n javascript:alert(1))",
        "[x](java script:alert(1))",
        "[x](\u{2028}javascript:alert(1))",
        "[x](\u{feff}javascript:alert(1))",
        "[x](jav`a`script:alert(1))",
        "[x](`javascript:alert(1)`)",
        "[x](blob:https://e.example/x)",
        "[x](file:///etc/passwd)",
        "[x](//e.example)",
        "[x](/\\e.example)",
        "[x](/&#47;e.example)",
        "[x](view-source:x) [x](about:blank) [x](intent:x) [x](ms-word:x)",
        "javascript:alert(1) data:text/html,x //e.example",
        "<javascript:alert(1)>",
        // Values that would like to end.
        "[x](https://e.example \"t\\\" onclick=\\\"x\")",
        "[x](https://e.example '\" onclick=\"x')",
        "[x](https://e.example/`\"><b>`)",
        "[`\"><b>`](https://e.example/x.png)",
        "https://e.example/`\"><b>`.png",
        "#**announce now>\"><script>**",
        "#**announce now>`\"><b>`@1**",
        "#**announce now>\" onclick=\"x@1**",
        "@**Gone <b>** @**|9**",
        "[x](https://e.example/&quot;onclick=&quot;x)",
        "[x](/x \"&quot;><script>\")",
        "bitcoin:1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa\"onclick=\"x",
        "x@e.example\"onclick=\"x",
        // Tags from everywhere.
        "|a\"><b>|c|\n|:-\"|-|\n|d|e|",
        "|`</td><script>`|a|\n|-|-|",
        "# </h1><script>",
        "* </li></ul><script>",
        "1. </li></ol><script>\n  2. <b>",
        "> </blockquote><script>",
        "***</em></strong><script>***",
        "~~</del><script>~~",
        "```spoiler `</p></div>` **<b>**\n</div>\n```",
        "````quote\n```spoiler <b>\n```py\n</code></pre></div><script>\n```\n````",
        "```py\n\"\"\"</code><script>\n```",
        "    </code></pre><script>",
        "```math\n\\href{javascript:alert(1)}{x}\n```",
        "```math\n\\htmlData{x=y\" onclick=\"z}{a}\\htmlStyle{color:expression(x)}{b}\n```",
        "```math\n\\includegraphics[height=1em,alt=\"x]{https://e.example/x.png}\n```",
        "$$\\url{javascript:alert(1)}$$ $$\\text{</span><script>}$$ $$\\color{\"onclick=x}a$$",
        "$$\\class{x\" onclick=\"y}{a}$$ $$\\cssId{x}{a}$$ $$\\unknown{<script>}$$",
        "&#0; &#x110000; &#xd800; &#60;script&#62; &lt;script&gt; &amp;lt;script&amp;gt;",
        "<math><annotation-xml encoding=\"text/html\"><script>",
        "<svg onload=alert(1)> <style>@import x</style> <!--><script>--> <![CDATA[<script>]]> <?php ?>",
    ] {
        assert_harmless(&html_of(markdown));
    }
}

// conformance: md-64
#[test]
fn reserved_characters_come_through() {
    assert_rendered(&[(
        "a\u{F0001}b\u{F0000}c\u{2028}d *e*",
        "<p>a\u{F0001}b\u{F0000}c\u{2028}d <em>e</em></p>",
    )]);
}

/// Text that is hard on parsers; each is repeated until it is as long as a message may be.
// conformance: md-15, md-65
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
        "\u{202e}\u{5d0}",
        "\u{200d}👨",
        "🇩🇪",
        "👍🏽",
        "#️⃣",
        "[a](/x '",
        "[a](<b",
        "![a](b)",
        "[[",
        "]",
        "**a **b",
        "*a^",
        "^*a",
        "**`",
        "``a`",
        "`a``b`",
        "\\|",
        "|`",
        "a:",
        "a#",
        "#",
        "((http://a.com/",
        "x.com/(",
        "#**announce now>a** ",
        "@**Zoe** ",
        "@*support* ",
        "~~~quote\na\n~~~\n",
        "```\na\n```\n",
        ">a\n>>b\n",
        "    a\n\n",
        "<time:Jun 5th 2017, 10:30PM> ",
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
    assert!(html_of(&nested).matches("<blockquote>").count() <= MAX_DEPTH + 1);
    let fences: String = (3..140).map(|length| "`".repeat(length) + "quote\n").collect();
    assert_harmless(&html_of(&fences));
}

proptest! {
    // conformance: md-63
    #[test]
    fn any_text_is_harmless(text in any::<String>()) {
        assert_harmless(&html_of(&text));
    }

    // conformance: md-63
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

    #[test]
    fn plain_text_renders_as_by_the_parser(
        parts in prop::collection::vec(
            prop::sample::select(vec![
                "a", "Words", "word", " ", " ", "  ", "\n", "\n\n", ".", ". ", "...", "1", "1. ", "2024", "-", " - ", "- ", "---", ",", "?", "!", "(", ")",
                "\"", "'", "it's", "e.g.", "com", "é", "漢字", "かな", "ª", "ℹ", "©", "Ⓜ", "🅰", "\u{20e3}", "\t", "\r", "\u{a0}", "\u{1}", ":", "*", "/me ", "\u{F0001}",
            ]),
            0..12,
        ),
        translates_emoticons: bool,
        has_linkifier: bool,
    ) {
        let linkifiers = Linkifier::compile("word(?P<id>[a-z0-9]*)", "https://example.com/{id}");
        let linkifiers = linkifiers.into_iter().filter(|_| has_linkifier).collect();
        let directory = TestDirectory { translates_emoticons, linkifiers, ..TestDirectory::default() };
        let text = parts.concat();
        prop_assert_eq!(render(&text, &directory), render_markup(&text, &directory));
    }
}

#[test]
fn ordinary_text_is_plain() {
    for text in
        ["Good morning.", "I'll be late (10 minutes), sorry!\nCan you start?", "Привет, как дела?", "你好"]
    {
        assert!(plain_text::is_plain(text), "{text}");
    }
    for text in
        ["", "1. a", "- a", " a", "a\n\nb", "a\n", "example.com", "a:b", "*a*", "/me waves", "© a", "a ℹ"]
    {
        assert!(!plain_text::is_plain(text), "{text}");
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
        if name == "href" || name == "src" || name == "data-original-url" {
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

const KNOWN_ATTRIBUTES: [&str; 65] = [
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
    "data-animated",
    "data-code-language",
    "data-id",
    "data-original-content-type",
    "data-original-dimensions",
    "data-original-url",
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

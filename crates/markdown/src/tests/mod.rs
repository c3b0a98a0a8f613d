//! The cases of `cases.json`, and the HTML of every construct.

mod commonmark;
mod dialect_of_blocks;
mod dialect_of_lines;
mod safety;

use std::collections::HashMap;

use serde::Deserialize;

pub use self::safety::assert_harmless;
use super::{html::MAX_DEPTH, render::render_markup, *};

#[derive(Deserialize)]
struct Cases {
    rendered: Vec<RenderedCase>,
    addresses: Vec<AddressCase>,
    /// Names of cases that differ, each with the reason.
    not_matching: HashMap<String, String>,
    external_media: HashMap<String, String>,
}

#[derive(Deserialize)]
struct RenderedCase {
    name: String,
    markdown: String,
    html: String,
}

/// `%s` in `html` is replaced by the link to `address`.
#[derive(Deserialize)]
struct AddressCase {
    text: String,
    html: String,
    address: String,
}

fn cases() -> Cases {
    serde_json::from_str(include_str!("../cases.json")).unwrap()
}

/// A small organization.
#[derive(Default)]
struct TestDirectory {
    translates_emoticons: bool,
    default_code_block_language: &'static str,
    external_media: HashMap<String, String>,
    linkifiers: Vec<Linkifier>,
}

impl Directory for TestDirectory {
    fn user(&self, wanted: UserQuery<'_>) -> Option<MentionedUser> {
        let users = [(7, "Zoe", true), (8, "King Hamlet", true), (9, "Gone <b>", false)];
        let found = users.into_iter().find(|&(user_id, full_name, _)| match wanted {
            UserQuery::Id(id) => id == user_id,
            UserQuery::FullName(name) => name.eq_ignore_ascii_case(full_name),
            UserQuery::FullNameAndId(name, id) => id == user_id && name.eq_ignore_ascii_case(full_name),
        });
        found.map(|(user_id, full_name, is_active)| MentionedUser {
            user_id,
            full_name: full_name.to_owned(),
            is_active,
        })
    }

    fn group(&self, name: &str) -> Option<MentionedGroup> {
        let (group_id, name) = match name {
            "support" => (17, "support"),
            "role:administrators" => (5, "Administrators"),
            _ => return None,
        };
        Some(MentionedGroup { group_id, name: name.to_owned(), is_active: true })
    }

    fn channel(&self, name: &str) -> Option<LinkedChannel> {
        (name == "announce now").then(|| LinkedChannel { stream_id: 9, name: name.to_owned() })
    }

    fn newest_message_in_topic(&self, _stream_id: i64, topic: &str) -> Option<i64> {
        (topic != "new").then_some(214)
    }

    fn custom_emoji(&self, name: &str) -> Option<CustomEmoji> {
        (name == "green_tick")
            .then(|| CustomEmoji { emoji_id: 1, source_url: "/user_avatars/2/emoji/images/1.png".to_owned() })
    }

    fn uploaded_file(&self, path_id: &str) -> Option<UploadedFile> {
        let file = |content_type: &str, dimensions, thumbnail: Option<&str>| UploadedFile {
            content_type: content_type.to_owned(),
            dimensions,
            is_animated: content_type == "image/webp",
            thumbnail_url: thumbnail.map(str::to_owned),
        };
        match path_id {
            "2/ab/zoe.png" => Some(file(
                "image/png",
                Some((1920, 1080)),
                Some("/user_uploads/thumbnail/2/ab/zoe.png/840x560.webp"),
            )),
            "2/ab/wave.webp" => Some(file(
                "image/webp",
                Some((60, 40)),
                Some("/user_uploads/thumbnail/2/ab/wave.webp/840x560-anim.webp"),
            )),
            "2/ab/plain.gif" => Some(file("image/gif", None, None)),
            "2/ab/film.mp4" => Some(file("video/mp4", None, None)),
            "2/ab/song.mp3" => Some(file("audio/mpeg", None, None)),
            "2/ab/notes.txt" => Some(file("text/plain", None, None)),
            _ => None,
        }
    }

    fn external_media_url(&self, url: &str) -> String {
        self.external_media.get(url).cloned().unwrap_or_else(|| url.to_owned())
    }

    fn linkifiers(&self) -> &[Linkifier] {
        &self.linkifiers
    }

    fn realm_url(&self) -> &'static str {
        "http://zulip.testserver"
    }

    fn empty_topic_display_name(&self) -> &'static str {
        "general chat"
    }

    fn default_code_block_language(&self) -> &'static str {
        self.default_code_block_language
    }

    fn translates_emoticons(&self) -> bool {
        self.translates_emoticons
    }
}

fn html_of(markdown: &str) -> String {
    render(markdown, &TestDirectory::default()).html
}

/// Renders each text and compares.
fn assert_rendered(cases: &[(&str, &str)]) {
    for (markdown, html) in cases {
        assert_eq!(html_of(markdown), *html, "{markdown}");
    }
}

// conformance: md-6, md-30, md-33, md-49, md-50, md-52, md-53, md-55, md-56
#[test]
fn rendered_cases_match() {
    let Cases { rendered, not_matching, external_media, .. } = cases();
    let mut different: Vec<&str> = Vec::new();
    for case in &rendered {
        let directory = TestDirectory {
            translates_emoticons: case.name.starts_with("translate_emoticons")
                && case.name != "translate_emoticons_not_enabled",
            external_media: external_media.clone(),
            ..TestDirectory::default()
        };
        let html = render(&case.markdown, &directory).html;
        assert_harmless(&html);
        if html != case.html {
            println!("{}: expected\n{}\nrendered\n{html}", case.name, case.html);
            different.push(&case.name);
        }
    }
    different.sort_unstable();
    let mut known: Vec<&str> = not_matching.keys().map(String::as_str).collect();
    known.sort_unstable();
    assert_eq!(different, known);
}

// conformance: md-6
#[test]
fn addresses_become_links() {
    for case in cases().addresses {
        let address = &case.address;
        let href = if address.starts_with("http") {
            address.clone()
        } else if address.contains('@') {
            format!("mailto:{address}")
        } else {
            format!("http://{address}")
        };
        let expected = case.html.replace("%s", &format!("<a href=\"{href}\">{address}</a>"));
        assert_eq!(render(&case.text, &NoDirectory).html, expected);
    }
}

// conformance: md-37, md-39, md-40, md-41
#[test]
fn mentions_name_and_notify() {
    assert_rendered(&[
        ("@**Zoe**", r#"<p><span class="user-mention" data-user-id="7">@Zoe</span></p>"#),
        ("@**king hamlet|8**", r#"<p><span class="user-mention" data-user-id="8">@King Hamlet</span></p>"#),
        ("@**|8**", r#"<p><span class="user-mention" data-user-id="8">@King Hamlet</span></p>"#),
        ("@_**Zoe**", r#"<p><span class="user-mention silent" data-user-id="7">Zoe</span></p>"#),
        ("@**|9**", r#"<p><span class="user-mention silent" data-user-id="9">Gone &lt;b&gt;</span></p>"#),
        ("@**Zoe|8**", "<p>@<strong>Zoe|8</strong></p>"),
        ("@**Nobody**", "<p>@<strong>Nobody</strong></p>"),
        ("x@**Zoe**", "<p>x@<strong>Zoe</strong></p>"),
        ("@**topic**", r#"<p><span class="topic-mention">@topic</span></p>"#),
        (
            "@**channel**",
            r#"<p><span class="user-mention channel-wildcard-mention" data-user-id="*">@channel</span></p>"#,
        ),
        ("@*support*", r#"<p><span class="user-group-mention" data-user-group-id="17">@support</span></p>"#),
        (
            "@_*role:administrators*",
            r#"<p><span class="user-group-mention silent" data-user-group-id="5">Administrators</span></p>"#,
        ),
        ("@*nothing*", "<p>@<em>nothing</em></p>"),
        ("`@**Zoe**`", "<p><code>@**Zoe**</code></p>"),
    ]);
    let rendered =
        render("@**King Hamlet** @**Zoe** @_**|9** @*support* @**all**", &TestDirectory::default());
    assert_eq!(rendered.mentioned_user_ids, [7, 8]);
    assert_eq!(rendered.mentioned_group_ids, [17]);
    assert!(rendered.mentions_stream_wildcard && !rendered.mentions_topic_wildcard);
    assert!(render("@**topic**", &TestDirectory::default()).mentions_topic_wildcard);
}

// conformance: md-43
#[test]
fn quotes_code_and_silent_mentions_set_no_flags() {
    for markdown in [
        "> @**Zoe** @*support* @**all** @**topic**",
        "```quote\n@**Zoe** @*support* @**all** @**topic**\n```",
        "~~~spoiler x\n> @**Zoe** @*support*\n~~~",
        "`@**Zoe** @*support* @**all** @**topic**`",
        "```\n@**Zoe** @*support* @**all** @**topic**\n```",
        "    @**Zoe**",
        "@_**Zoe** @_*support* @_**all** @_**topic**",
        "@**|9**",
    ] {
        let rendered = render(markdown, &TestDirectory::default());
        assert!(
            rendered.mentioned_user_ids.is_empty() && rendered.mentioned_group_ids.is_empty(),
            "{markdown}"
        );
        assert!(!rendered.mentions_stream_wildcard && !rendered.mentions_topic_wildcard, "{markdown}");
    }
    // Behind a quote, people are mentioned again.
    let rendered = render("> @**Zoe**\n\n@**King Hamlet**", &TestDirectory::default());
    assert_eq!(rendered.mentioned_user_ids, [8]);
}

// conformance: md-44, md-45, md-46
#[test]
fn channels_topics_and_messages_are_linked() {
    assert_rendered(&[
        (
            "#**announce now**",
            r#"<p><a class="stream" data-stream-id="9" href="/#narrow/channel/9-announce-now">#announce now</a></p>"#,
        ),
        (
            "#**announce now>a b**",
            r#"<p><a class="stream-topic" data-stream-id="9" href="/#narrow/channel/9-announce-now/topic/a.20b/with/214">#announce now &gt; a b</a></p>"#,
        ),
        (
            "#**announce now>new**",
            r#"<p><a class="stream-topic" data-stream-id="9" href="/#narrow/channel/9-announce-now/topic/new">#announce now &gt; new</a></p>"#,
        ),
        (
            "#**announce now>**",
            r#"<p><a class="stream-topic" data-stream-id="9" href="/#narrow/channel/9-announce-now/topic//with/214">#announce now &gt; <em>general chat</em></a></p>"#,
        ),
        (
            "#**announce now>a b@12**",
            r#"<p><a class="message-link" href="/#narrow/channel/9-announce-now/topic/a.20b/near/12">#announce now &gt; a b @ 💬</a></p>"#,
        ),
        (
            "#**announce now>@12**",
            r#"<p><a class="message-link" href="/#narrow/channel/9-announce-now/topic//near/12">#announce now &gt; <em>general chat</em> @ 💬</a></p>"#,
        ),
        ("#**elsewhere**", "<p>#<strong>elsewhere</strong></p>"),
        ("[a](/x \"t\")", r#"<p><a href="/x" title="t">a</a></p>"#),
        ("![a](/x)", "<p>![a](/x)</p>"),
        ("x#**announce now**", "<p>x#<strong>announce now</strong></p>"),
    ]);
}

// conformance: md-50, md-51
#[test]
fn emoji_have_names_and_pictures() {
    assert_rendered(&[
        (
            ":green_tick:",
            r#"<p><img alt=":green_tick:" class="emoji" src="/user_avatars/2/emoji/images/1.png" title="green tick"></p>"#,
        ),
        (
            ":zulip:",
            r#"<p><img alt=":zulip:" class="emoji" src="/static/generated/emoji/images/emoji/unicode/zulip.png" title="zulip"></p>"#,
        ),
        (
            "❤️",
            r#"<p><span aria-label="heart" class="emoji emoji-2764" role="img" title="heart">:heart:</span></p>"#,
        ),
        ("❤ ↔ 1 #", "<p>❤ ↔ 1 #</p>"),
        ("`:smile:` [:smile:](/x)", "<p><code>:smile:</code> <a href=\"/x\">:smile:</a></p>"),
    ]);
}

// conformance: md-22
#[test]
fn emphasis_pairs_within_a_line() {
    assert_rendered(&[
        ("***a***", "<p><strong><em>a</em></strong></p>"),
        ("**a *b* c**", "<p><strong>a <em>b</em> c</strong></p>"),
        ("~~a **b** c~~", "<p><del>a <strong>b</strong> c</del></p>"),
        ("*a ~~b~~ c*", "<p><em>a <del>b</del> c</em></p>"),
        ("* a", "<ul>\n<li>a</li>\n</ul>"),
        ("2 * 3 * 4", "<p>2 * 3 * 4</p>"),
        ("a*b*c _d_ __e__", "<p>a<em>b</em>c _d_ __e__</p>"),
        ("你好**“世界”**你好", "<p>你好<strong>“世界”</strong>你好</p>"),
        ("*a\nb*", "<p>*a<br>\nb*</p>"),
        ("~a~ ~~~b~~~ ~~c~d~~", "<p>~a~ ~~~b~~~ ~~c~d~~</p>"),
        ("**", "<p>**</p>"),
        ("****", "<hr>"),
        ("a ****", "<p>a ****</p>"),
    ]);
}

// conformance: md-10
#[test]
fn tables_headings_and_rules() {
    assert_rendered(&[
        (
            "a | *b*\n:--|--:\n`c|d` | @**Zoe**\ne",
            "<table>\n<thead>\n<tr>\n<th style=\"text-align: left;\">a</th>\n<th style=\"text-align: right;\"><em>b</em></th>\n</tr>\n</thead>\n<tbody>\n<tr>\n<td style=\"text-align: left;\"><code>c|d</code></td>\n<td style=\"text-align: right;\"><span class=\"user-mention\" data-user-id=\"7\">@Zoe</span></td>\n</tr>\n<tr>\n<td style=\"text-align: left;\">e</td>\n<td style=\"text-align: right;\"></td>\n</tr>\n</tbody>\n</table>",
        ),
        ("a | b\nc | d", "<p>a | b<br>\nc | d</p>"),
        ("above\n## *b* ##\nbelow", "<p>above</p>\n<h2><em>b</em></h2>\n<p>below</p>"),
        ("above\n---\nbelow", "<p>above</p>\n<hr>\n<p>below</p>"),
        ("* [ ] task\n* [x] done", "<ul>\n<li>[ ] task</li>\n<li>[x] done</li>\n</ul>"),
    ]);
}

// conformance: md-8
#[test]
fn lists_nest_by_two_spaces() {
    assert_rendered(&[
        (
            "* a\n  * b\n    * c\n* d",
            "<ul>\n<li>a<ul>\n<li>b<ul>\n<li>c</li>\n</ul>\n</li>\n</ul>\n</li>\n<li>d</li>\n</ul>",
        ),
        (
            "* a\n\n  more\n\n* b\n* c",
            "<ul>\n<li>\n<p>a</p>\n<p>more</p>\n</li>\n<li>\n<p>b</p>\n</li>\n<li>c</li>\n</ul>",
        ),
        ("2. a\n3. b", "<ol start=\"2\">\n<li>a</li>\n<li>b</li>\n</ol>"),
        ("1. a\n* b", "<ol>\n<li>a</li>\n</ol>\n<ul>\n<li>b</li>\n</ul>"),
        ("* > a", "<ul>\n<li>\n<blockquote>\n<p>a</p>\n</blockquote>\n</li>\n</ul>"),
    ]);
}

// conformance: md-56
#[test]
fn blank_lines_separate_formulas() {
    let html = html_of("```math\na\n\nb\n```");
    assert_eq!(html.matches("<span class=\"katex-display\">").count(), 2, "{html}");
    assert!(html.contains("</span>\n\n<span class=\"katex-display\">"), "{html}");
    assert_eq!(html.matches("<p>").count(), 1, "{html}");
}

// conformance: md-30, md-32, md-33, md-34, md-36
#[test]
fn previews_follow_their_links() {
    assert_rendered(&[
        (
            "[zoe.png](/user_uploads/2/ab/zoe.png)",
            r#"<p><a href="/user_uploads/2/ab/zoe.png">zoe.png</a></p>
<div class="message_inline_image"><a href="/user_uploads/2/ab/zoe.png" title="zoe.png"><img data-original-content-type="image/png" data-original-dimensions="1920x1080" src="/user_uploads/thumbnail/2/ab/zoe.png/840x560.webp"></a></div>"#,
        ),
        (
            "[](/user_uploads/2/ab/wave.webp)",
            r#"<div class="message_inline_image"><a href="/user_uploads/2/ab/wave.webp"><img data-animated="true" data-original-content-type="image/webp" data-original-dimensions="60x40" src="/user_uploads/thumbnail/2/ab/wave.webp/840x560-anim.webp"></a></div>"#,
        ),
        (
            "[](/user_uploads/2/ab/plain.gif)",
            r#"<div class="message_inline_image"><a href="/user_uploads/2/ab/plain.gif"><img src="/user_uploads/2/ab/plain.gif"></a></div>"#,
        ),
        (
            "[f](/user_uploads/2/ab/film.mp4) x\n\ny",
            r#"<p><a href="/user_uploads/2/ab/film.mp4">f</a> x</p>
<div class="message_inline_image message_inline_video"><a href="/user_uploads/2/ab/film.mp4" title="f"><video preload="metadata" src="/user_uploads/2/ab/film.mp4"></video></a></div><p>y</p>"#,
        ),
        (
            "![song.mp3](/user_uploads/2/ab/song.mp3)",
            r#"<p><audio controls preload="metadata" src="/user_uploads/2/ab/song.mp3" title="song.mp3"></audio></p>"#,
        ),
        (
            "a ![song](https://example.com/b.MP3?c) ![d](https://example.com/e.txt)",
            r#"<p>a <audio controls preload="metadata" src="https://example.com/b.MP3?c" title="song"></audio> ![d](<a href="https://example.com/e.txt">https://example.com/e.txt</a>)</p>"#,
        ),
        ("[n](/user_uploads/2/ab/notes.txt)", r#"<p><a href="/user_uploads/2/ab/notes.txt">n</a></p>"#),
        (
            "> https://example.com/a.png",
            "<blockquote>\n<p><a href=\"https://example.com/a.png\">https://example.com/a.png</a></p>\n</blockquote>",
        ),
        (
            "https://youtu.be/0c46YHS3RY8",
            r#"<p><a href="https://youtu.be/0c46YHS3RY8">https://youtu.be/0c46YHS3RY8</a></p>
<div class="youtube-video message_inline_image"><a data-id="0c46YHS3RY8" href="https://youtu.be/0c46YHS3RY8"><img src="https://i.ytimg.com/vi/0c46YHS3RY8/mqdefault.jpg"></a></div>"#,
        ),
    ]);
    // A sound of another site has a link to its source.
    let address = "https://example.com/b.wav".to_owned();
    let external_media = HashMap::from([(address, "https://proxy.example.com/1".to_owned())]);
    let directory = TestDirectory { external_media, ..TestDirectory::default() };
    assert_eq!(
        render("![b](https://example.com/b.wav)", &directory).html,
        r#"<p><audio controls data-original-url="https://example.com/b.wav" preload="metadata" src="https://proxy.example.com/1" title="b"></audio></p>"#
    );
    let rendered = render(
        "[a](/user_uploads/2/ab/zoe.png) [b](http://zulip.testserver/user_uploads/2/cd/x) [a](/user_uploads/2/ab/zoe.png)",
        &TestDirectory::default(),
    );
    assert_eq!(rendered.attachment_path_ids, ["2/ab/zoe.png", "2/cd/x"]);
    assert!(rendered.has_link && rendered.has_image && rendered.has_attachment());
    let many: Vec<String> = (0..25).map(|number| format!("https://example.com/{number}.png")).collect();
    assert!(!render(&many.join("\n"), &TestDirectory::default()).has_image);
}

// conformance: md-68
#[test]
fn previews_have_the_addresses_of_pictures() {
    let preview = |link: &str, source: &str| {
        format!(r#"<div class="message_inline_image"><a href="{link}"><img src="{source}"></a></div>"#)
    };
    let github = "https://github.com/o/r/blob/main/docs/a.png";
    let raw = "https://raw.githubusercontent.com/o/r/main/docs/a.png";
    assert_eq!(html_of(github), preview(github, raw));
    assert_eq!(html_of(&format!("{github}?raw=true")), preview(&format!("{github}?raw=true"), raw));
    for plain in ["https://github.com/o/r/raw/main/a.png", "https://example.com/o/r/blob/main/a.png"] {
        assert_eq!(html_of(plain), preview(plain, plain));
    }
    let orrery = "https://en.wikipedia.org/wiki/Special:FilePath/File:Orrery.jpg";
    let page = "https://en.wikipedia.org/wiki/File:Orrery.jpg";
    assert_eq!(html_of(page), preview(orrery, orrery));
    assert_eq!(html_of(&format!("[painting]({page})")), preview(orrery, orrery));
    let file = "https://www.dropbox.com/scl/fi/1/a.png?rlkey=2&amp;raw=1";
    assert_eq!(html_of("https://www.dropbox.com/scl/fi/1/a.png?rlkey=2"), preview(file, file));
    let file = "https://linx.li/s/a.png";
    assert_eq!(html_of("http://linx.li/a.png?b#c"), preview(file, file));
    assert_eq!(html_of(file), preview(file, file), "the address of a picture is kept");
    for other in ["https://pasteboard.co/a.png", "https://example.com/a.avif", "https://example.com/a.tiff"] {
        assert_eq!(html_of(other), format!(r#"<p><a href="{other}">{other}</a></p>"#));
    }
}

// conformance: md-59
#[test]
fn linkifiers_link_their_matches() {
    let compile = |pattern: &str, template: &str| Linkifier::compile(pattern, template).unwrap();
    let directory = TestDirectory {
        linkifiers: vec![
            compile("#(?P<id>[0-9]+)", "https://tickets.example.com/{id}"),
            compile("find:(?P<words>\\S+)", "https://example.com/{?words}"),
        ],
        ..TestDirectory::default()
    };
    let rendered = |markdown: &str| render(markdown, &directory).html;
    // Matches in code, links and addresses are ignored; code within a match is parsed.
    assert_eq!(
        rendered("https://example.com/#1 ***#2*** find:a`b`c&amp;"),
        "<p><a href=\"https://example.com/#1\">https://example.com/#1</a> <strong><em><a href=\"https://tickets.example.com/2\">#2</a></em></strong> <a href=\"https://example.com/?words=abc%26amp%3B\">find:a<code>b</code>c&amp;</a></p>"
    );
    assert_eq!(
        render("**#12**, `#13` [#14](/x)", &directory).html,
        "<p><strong>#12</strong>, <code>#13</code> <a href=\"/x\">#14</a></p>"
    );
    assert_eq!(
        render("see #12", &directory).html,
        "<p>see <a href=\"https://tickets.example.com/12\">#12</a></p>"
    );
}

// conformance: md-16, md-17
#[test]
fn fences_without_a_language_have_the_organizations() {
    let directory = TestDirectory { default_code_block_language: "py", ..TestDirectory::default() };
    let block = |language: &str, code: &str| {
        format!("<div class=\"codehilite\"{language}><pre><span></span><code>{code}\n</code></pre></div>")
    };
    for (markdown, language, code) in [
        ("```\nx\n```", " data-code-language=\"Python\"", "<span class=\"n\">x</span>"),
        ("```rs\nx\n```", " data-code-language=\"Rust\"", "<span class=\"n\">x</span>"),
        ("    x", "", "x"),
        // Quotation marks are references where no language is named.
        ("    \"it's\"", "", "&quot;it&#39;s&quot;"),
        ("```text\n\"it's\"\n```", " data-code-language=\"Text only\"", "\"it's\""),
    ] {
        assert_eq!(render(markdown, &directory).html, block(language, code), "{markdown}");
    }
}

// conformance: md-27
#[test]
fn status_messages_are_one_paragraph() {
    let is_me = |markdown: &str| render(markdown, &NoDirectory).is_me_message;
    assert!(is_me("/me waves"));
    assert!(is_me("/me waves\nand smiles"));
    assert!(!is_me("/me waves\n\nand smiles"));
    assert!(!is_me("/me waves\n```\ncode\n```"));
    assert!(!is_me("/menu"));
    assert!(!is_me("He said /me waves"));
}

#[test]
fn alert_words_are_looked_for_in_the_source() {
    let source = "a **b** @**Zoe** :tada:\n> quoted\n\n`code`\t\u{1f389}\n```\nc\n```\n";
    let expected = "a **b** @**Zoe** :tada:\n> quoted\n\n`code`  \u{1f389}";
    assert_eq!(render(source, &TestDirectory::default()).alertable, expected);
    for plain in ["", "one\ntwo"] {
        assert_eq!(render(plain, &TestDirectory::default()).alertable, plain);
    }
}

//! Texts that the server writes itself, built as trees.
//!
//! Names, topics and descriptions in a composition are user input. In the tree they are text, so they can contain
//! neither markup nor mentions. In the Markdown source, which is stored beside the HTML, no rule applies to them: they
//! are inside of a mention or link that they cannot end, in a quote that they cannot close, or in code.

use super::{
    channel_links::{channel_link, topic_link, topic_url},
    code_blocks,
    context::Context,
    directory::NoDirectory,
    fences,
    html::{Attribute, Element, Node, Tag, text, write_blocks},
    inline, mentions, plain_text, previews,
    render::Rendered,
    times,
    url::SafeUrl,
};

/// A fence that no line of a description is: descriptions have one line, and the fence has its own.
const QUOTE_FENCE: &str = "````";

/// Words of a line: Markdown source and nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Words {
    source: String,
    nodes: Vec<Node>,
}

/// A text with its Markdown source, made of blocks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Composition {
    source: String,
    nodes: Vec<Node>,
    /// True if the next block follows on the next line of the source, without an empty line.
    is_tight: bool,
}

impl Words {
    /// Words of the server, in Markdown.
    pub fn new(markdown: &'static str) -> Self {
        Self::default().words(markdown)
    }

    /// Appends words of the server, in Markdown. Only constants, so that nothing that users typed is read as markup.
    #[must_use]
    pub fn words(self, markdown: &'static str) -> Self {
        let nodes = inline::parse(markdown, &mut Context::new(&NoDirectory));
        self.with(markdown, nodes)
    }

    /// Words of the server, in Markdown, with other words in the places that have their names in braces.
    pub fn filled(markdown: &'static str, parameters: &[(&str, Self)]) -> Self {
        let mut words = Self::default();
        let mut rest = markdown;
        while let Some((before, (name, after))) =
            rest.split_once('{').and_then(|(before, after)| Some((before, after.split_once('}')?)))
        {
            let parameter = parameters.iter().find(|(known, _)| *known == name);
            words = words.words(before).append(parameter.map(|(_, value)| value.clone()).unwrap_or_default());
            rest = after;
        }
        words.words(rest)
    }

    /// Appends a number.
    #[must_use]
    pub fn number(self, number: impl Into<i64>) -> Self {
        let digits = number.into().to_string();
        self.with(&digits, vec![text(digits.as_str())])
    }

    /// Appends user input.
    #[must_use]
    pub fn text(self, typed: &str) -> Self {
        self.with(&inert(typed), vec![text(typed)])
    }

    /// Appends user input in bold.
    #[must_use]
    pub fn strong_text(self, typed: &str) -> Self {
        self.strong(Self::default().text(typed))
    }

    /// Appends words in bold.
    #[must_use]
    pub fn strong(self, inner: Self) -> Self {
        let source = format!("**{}**", inner.source);
        self.with(&source, vec![Element::new(Tag::Strong, inner.nodes).node()])
    }

    /// Appends words in italics.
    #[must_use]
    pub fn emphasis(self, inner: Self) -> Self {
        let source = format!("*{}*", inner.source);
        self.with(&source, vec![Element::new(Tag::Emphasis, inner.nodes).node()])
    }

    /// Appends the end of a line within a paragraph.
    #[must_use]
    pub fn line_break(self) -> Self {
        self.with("\n", vec![Element::new(Tag::Break, Vec::new()).node()])
    }

    /// Appends a time in UNIX seconds, which readers see in their own time zone.
    #[must_use]
    pub fn time(self, seconds: i64) -> Self {
        let source = times::global_time(seconds);
        let nodes = times::find(&source, 0).and_then(|(_, nodes)| nodes).unwrap_or_default();
        self.with(&source, nodes)
    }

    /// Appends user input as code.
    #[must_use]
    pub fn code(self, typed: &str) -> Self {
        self.with(&code_span(typed), vec![Element::new(Tag::Code, vec![text(typed)]).node()])
    }

    /// Appends a silent mention of a user.
    #[must_use]
    pub fn user(self, user_id: i64, full_name: &str) -> Self {
        let source = format!("@_**{full_name}|{user_id}**");
        let source = if fits_between_stars(full_name) { source } else { format!("@_**|{user_id}**") };
        self.with(&source, mentions::silent_user(user_id, full_name))
    }

    /// Appends a silent mention of a group. `shown` is its display name, which for system groups is not `name`.
    #[must_use]
    pub fn group(self, group_id: i64, name: &str, shown: &str) -> Self {
        let source = if fits_between_stars(name) { format!("@_*{name}*") } else { inert(name) };
        self.with(&source, mentions::silent_group(group_id, shown))
    }

    /// Appends a link to a channel.
    #[must_use]
    pub fn channel(self, stream_id: i64, name: &str) -> Self {
        let source = if fits_into_a_link(name) { format!("#**{name}**") } else { inert(name) };
        match channel_link(stream_id, name) {
            Some(nodes) => self.with(&source, nodes),
            None => self.text(name),
        }
    }

    /// Appends a link to a topic. `newest` is a message in it, with which the link survives a move. `empty` is the
    /// display name of the empty topic.
    #[must_use]
    pub fn topic(
        self,
        (stream_id, channel): (i64, &str),
        topic: &str,
        newest: Option<i64>,
        empty: &str,
    ) -> Self {
        let source = if [channel, topic].iter().all(|name| fits_into_a_link(name)) {
            format!("#**{channel}>{topic}**")
        } else {
            let url = topic_url(stream_id, channel, topic);
            let shown = if topic.is_empty() { empty } else { topic };
            let label = format!("#{} > {}", link_text(channel), link_text(shown));
            format!("[{label}]({})", url.trim_start_matches('/'))
        };
        match topic_link((stream_id, channel), topic, newest, empty) {
            Some(nodes) => self.with(&source, nodes),
            None => self.text(channel),
        }
    }

    /// Appends a link with a label of the server.
    #[must_use]
    pub fn link(self, label: &'static str, url: &str) -> Self {
        let label = Self::new(label);
        let url =
            SafeUrl::from_text(url).filter(|url| !url.as_str().contains(['(', ')', '\\', '<', '>', '`']));
        let Some(url) = url else { return self.append(label) };
        let source = format!("[{}]({})", label.source, url.as_str());
        let link = Element::new(Tag::Anchor, label.nodes).with(vec![Attribute::Href(url)]);
        self.with(&source, vec![link.node()])
    }

    /// Appends an address as a link to itself.
    #[must_use]
    pub fn address(self, url: &str) -> Self {
        match SafeUrl::from_text(url).filter(|safe| safe.as_str() == url) {
            Some(safe) => {
                let link = Element::new(Tag::Anchor, vec![text(url)]).with(vec![Attribute::Href(safe)]);
                self.with(url, vec![link.node()])
            }
            None => self.text(url),
        }
    }

    /// Appends other words.
    #[must_use]
    pub fn append(self, other: Self) -> Self {
        self.with(&other.source, other.nodes)
    }

    /// Joins lists of words by a separator.
    pub fn joined(list: impl IntoIterator<Item = Self>, separator: &'static str) -> Self {
        list.into_iter().enumerate().fold(Self::default(), |joined, (index, next)| {
            if index > 0 { joined.words(separator).append(next) } else { joined.append(next) }
        })
    }

    fn with(mut self, source: &str, nodes: Vec<Node>) -> Self {
        self.source.push_str(source);
        for node in nodes {
            match (self.nodes.last_mut(), node) {
                (Some(Node::Text(before)), Node::Text(more)) => before.push_str(&more),
                (_, node) => self.nodes.push(node),
            }
        }
        self
    }
}

impl From<Words> for Composition {
    fn from(words: Words) -> Self {
        Self::default().paragraph(words)
    }
}

impl Composition {
    /// Appends a paragraph.
    #[must_use]
    pub fn paragraph(self, words: Words) -> Self {
        self.block(&words.source, Element::new(Tag::Paragraph, words.nodes).node())
    }

    /// Puts the next block on the next line of the source, without an empty line between.
    #[must_use]
    pub fn next_line(mut self) -> Self {
        self.is_tight = true;
        self
    }

    /// Appends a list.
    #[must_use]
    pub fn list(self, items: Vec<Words>) -> Self {
        let lines: Vec<String> = items.iter().map(|item| format!("* {}", item.source)).collect();
        let items = items.into_iter().map(|item| Element::new(Tag::ListItem, item.nodes).node());
        self.block(&lines.join("\n"), Element::new(Tag::UnorderedList, items.collect()).node())
    }

    /// Appends a quote of a line. `html` is its stored rendering, made with the permissions of its author. Its mentions
    /// are silent.
    #[must_use]
    pub fn quote(self, line: &str, html: &str) -> Self {
        let line = line.replace(char::is_control, " ");
        self.fenced_quote(&line, Node::Stored(with_silent_mentions(html)))
    }

    /// Appends a quote of words of the server.
    #[must_use]
    pub fn quote_words(self, words: Words) -> Self {
        self.fenced_quote(&words.source, Element::new(Tag::Paragraph, words.nodes).node())
    }

    fn fenced_quote(self, line: &str, node: Node) -> Self {
        let source = format!("{QUOTE_FENCE} quote\n{line}\n{QUOTE_FENCE}");
        self.block(&source, Element::new(Tag::BlockQuote, vec![node]).node())
    }

    /// Appends a quote of a line of user input, as text.
    #[must_use]
    pub fn quote_text(self, typed: &str) -> Self {
        let words = Words::default().text(typed);
        let paragraph = Element::new(Tag::Paragraph, words.nodes).node();
        self.block(&format!("> {}", words.source), Element::new(Tag::BlockQuote, vec![paragraph]).node())
    }

    /// Appends several lines of user input, as code.
    #[must_use]
    pub fn code_block(self, typed: &str) -> Self {
        let fence = unused_fence(typed);
        self.block(&format!("{fence}\n{typed}\n{fence}"), code_blocks::render("", typed))
    }

    fn block(mut self, source: &str, node: Node) -> Self {
        let separator = if self.is_tight { "\n" } else { "\n\n" };
        self.is_tight = false;
        if !self.source.is_empty() {
            self.source.push_str(separator);
        }
        self.source.push_str(source);
        self.nodes.push(node);
        self
    }

    /// Replaces the names of users for whom `is_hidden` is true, except in quotes. Their mentions keep the ids: clients that know
    /// the user show the name, and the source has no other.
    pub fn hide_names<E>(
        &mut self,
        shown: &str,
        mut is_hidden: impl FnMut(i64) -> Result<bool, E>,
    ) -> Result<(), E> {
        let mut hidden = Vec::new();
        for_each_user(&mut self.nodes, &mut |user_id, name: &mut Vec<Node>| {
            if is_hidden(user_id)? {
                *name = vec![text(shown)];
                hidden.push(user_id);
            }
            Ok(())
        })?;
        for user_id in hidden {
            self.source = without_name(&self.source, user_id);
        }
        Ok(())
    }

    /// Returns the Markdown source and the rendering.
    pub fn finish(self) -> (String, Rendered) {
        let lines = fences::normalized_lines(&self.source);
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let rendered = Rendered {
            html: write_blocks(&self.nodes),
            has_link: previews::has_links(&self.nodes),
            alertable: fences::without_code(&fences::parse(&lines)),
            ..Rendered::default()
        };
        (self.source, rendered)
    }
}

/// Calls `visit` with the id of each mentioned user, and the nodes of the shown name.
fn for_each_user<E>(
    nodes: &mut [Node],
    visit: &mut impl FnMut(i64, &mut Vec<Node>) -> Result<(), E>,
) -> Result<(), E> {
    for node in nodes {
        let Node::Element(element) = node else { continue };
        let user_id = element.attributes.iter().find_map(|attribute| match attribute {
            Attribute::DataUserId(id) => id.parse().ok(),
            _ => None,
        });
        match user_id {
            Some(user_id) => visit(user_id, &mut element.children)?,
            None => for_each_user(&mut element.children, visit)?,
        }
    }
    Ok(())
}

/// A source in which silent mentions of a user have only the id.
fn without_name(source: &str, user_id: i64) -> String {
    const START: &str = "@_**";
    let end = format!("|{user_id}**");
    let mut parts: Vec<&str> = source.split(end.as_str()).collect();
    let rest = parts.pop();
    let begin_of_name = |part: &str| {
        let at = part.rfind(START)? + START.len();
        // Names of mentions contain no asterisks: user input may end like a mention.
        (!part[at..].contains('*')).then_some(at)
    };
    let starts = parts.into_iter().map(|part| begin_of_name(part).map_or(part, |at| &part[..at]));
    starts.chain(rest).collect::<Vec<_>>().join(&end)
}

/// A fence of backticks that a text does not close.
pub fn unused_fence(text: &str) -> String {
    "`".repeat(longest_run(text).max(2) + 1)
}

/// Makes all mentions of a text silent, including wildcards: for quotes, and text of strangers. Leaves out the characters that the
/// renderer omits, because one of them could hide a mention.
pub fn silenced(text: &str) -> String {
    fences::without_controls(text).replace("@**", "@_**").replace("@*", "@_*")
}

fn longest_run(text: &str) -> usize {
    let (mut longest, mut run) = (0, 0);
    // The renderer leaves out control characters.
    for character in text.chars().filter(|character| !character.is_control() || *character == '\n') {
        run = if character == '`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest
}

/// A text of one line as Markdown that no rule reads: as it is if it has no marks, or else as code.
fn inert(typed: &str) -> String {
    // The letter represents the preceding words: a number after them is not a list.
    let is_plain = plain_text::is_plain(&format!("a{typed}")) && !typed.contains('\n');
    if is_plain { typed.to_owned() } else { code_span(typed) }
}

fn code_span(typed: &str) -> String {
    let typed = typed.replace(char::is_control, " ");
    let marks = "`".repeat(longest_run(&typed) + 1);
    // Spaces keep backticks at the ends apart from the marks.
    if typed.starts_with('`') || typed.ends_with('`') {
        format!("{marks} {typed} {marks}")
    } else {
        format!("{marks}{typed}{marks}")
    }
}

/// True if a name can be written between the marks of a mention.
fn fits_between_stars(name: &str) -> bool {
    !name.is_empty()
        && !name.contains(['*', '`', '|'])
        && !name.contains("$$")
        && !name.contains(char::is_control)
}

/// True if a name can be written between `#**` and `**`.
pub fn fits_into_a_link(name: &str) -> bool {
    !name.contains(['`', '>', '*', '&', '[', ']']) && !name.contains("$$") && !name.contains(char::is_control)
}

/// A name as the text of a plain link, without characters that would end the link or be markup.
pub fn link_text(name: &str) -> String {
    name.chars()
        .filter(|&character| {
            !matches!(character, '`' | '*' | '[' | ']' | '$' | '~') && !character.is_control()
        })
        .collect()
}

/// HTML of the renderer with its mentions as they are in a quote: silent, and without `@`.
fn with_silent_mentions(html: &str) -> String {
    const BEGIN: &str = "<span class=\"";
    let mut silent = String::with_capacity(html.len());
    let mut rest = html;
    while let Some((before, after)) = rest.split_once(BEGIN) {
        let (class, after) = after.split_once('"').unwrap_or((after, ""));
        silent.extend([before, BEGIN, class]);
        let kind = class.split(' ').next().unwrap_or_default();
        let is_mention = ["user-mention", "user-group-mention", "topic-mention"].contains(&kind);
        rest = if is_mention && !class.ends_with(" silent") {
            let (attributes, text) = after.split_once('>').unwrap_or((after, ""));
            silent.extend([" silent\"", attributes, ">"]);
            text.strip_prefix('@').unwrap_or(text)
        } else {
            silent.push('"');
            after
        };
    }
    silent.push_str(rest);
    silent
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Directory, LinkedChannel, MentionedGroup, MentionedUser, UserQuery, render};

    /// Everything that the compositions below name.
    struct Everything;

    impl Directory for Everything {
        fn user(&self, _wanted: UserQuery<'_>) -> Option<MentionedUser> {
            Some(MentionedUser { user_id: 9, full_name: "Ada".to_owned(), is_active: true })
        }

        fn group(&self, _name: &str) -> Option<MentionedGroup> {
            Some(MentionedGroup { group_id: 4, name: "Crew".to_owned(), is_active: true })
        }

        fn channel(&self, _name: &str) -> Option<LinkedChannel> {
            Some(LinkedChannel { stream_id: 7, name: "Verona".to_owned() })
        }

        fn realm_url(&self) -> &'static str {
            ""
        }

        fn empty_topic_display_name(&self) -> &'static str {
            "general chat"
        }

        fn default_code_block_language(&self) -> &'static str {
            ""
        }
    }

    #[test]
    fn the_source_renders_to_the_same_html() {
        let ada = || Words::default().user(9, "Ada");
        let compositions = [
            Composition::from(
                ada().words(" renamed channel ").strong_text("Rome").words(" to ").channel(7, "Verona"),
            ),
            Composition::from(Words::new("Hello **you** 👋, see ").link("the rules", "/help/rules")),
            Composition::from(Words::new("New:")).list(vec![
                ada(),
                Words::default().group(4, "crew", "Crew"),
                Words::default().code("a`b"),
            ]),
            Composition::from(Words::new("Old:"))
                .next_line()
                .list(vec![Words::new("**Description:**")])
                .next_line()
                .quote("Italy", "<p>Italy</p>")
                .paragraph(Words::default().topic((7, "Verona"), "tea", None, "general chat")),
            Composition::from(
                Words::new("Failed with ")
                    .emphasis(Words::default().number(500))
                    .line_break()
                    .words("at ")
                    .time(1_790_000_000),
            )
            .quote_text("no such channel")
            .next_line()
            .code_block("x <y>\n```\nz"),
        ];
        for composition in compositions {
            let (source, rendered) = composition.finish();
            assert_eq!(rendered.html, render(&source, &Everything).html, "{source}");
        }
    }

    #[test]
    fn user_input_is_text_in_html_and_source() {
        for typed in [
            "x*\n\n# Your password has expired\n[Log in again](https://evil.example/login)\n\n*x",
            "a** @**all** [free](https://evil.example) #**b",
            "` @**all** `",
            "```\n@**all**",
            "$$x$$ ~~y~~ :smile: https://evil.example a@b.example <time:2026-01-01>",
            "x\\` **y**",
        ] {
            let composition = Composition::from(
                Words::default()
                    .text(typed)
                    .words(" a ")
                    .strong_text(typed)
                    .words(" b ")
                    .user(9, typed)
                    .words(" c ")
                    .group(4, typed, typed)
                    .words(" d ")
                    .channel(7, typed)
                    .words(" e ")
                    .code(typed),
            );
            let (source, rendered) =
                composition.list(vec![Words::default().text(typed)]).quote_text(typed).finish();
            assert_eq!(source.lines().count(), 5, "{source}");
            let again = render(&source, &Everything);
            for (kind, html) in [("tree", &rendered.html), ("source", &again.html)] {
                for forbidden in
                    ["<h1", "evil.example\"", "data-user-id=\"*\"", "<del", "katex", "<time", "class=\"emoji"]
                {
                    assert!(!html.contains(forbidden), "{kind} of {typed:?}: {html}");
                }
            }
            assert!(again.mentioned_user_ids.is_empty() && again.mentioned_group_ids.is_empty(), "{source}");
            assert!(!again.mentions_stream_wildcard && !rendered.mentions_stream_wildcard, "{source}");
        }
    }

    #[test]
    fn no_mention_is_loud_in_a_silenced_text() {
        for (text, silent) in [
            ("@**all** @*crew* @_**Ada** a@b", "@_**all** @_*crew* @_**Ada** a@b"),
            ("@\u{1}**all** @*\u{7f}*Ada**", "@_**all** @_**Ada**"),
        ] {
            assert_eq!(silenced(text), silent);
            let rendered = render(&silenced(text), &Everything);
            assert!(rendered.mentioned_user_ids.is_empty() && !rendered.mentions_stream_wildcard, "{text}");
        }
    }

    #[test]
    fn hidden_names_leave_ids() {
        let (ada, bob) = (Words::default().user(9, "Ada"), Words::default().user(89, "Bob"));
        let mut composition = Composition::from(ada.clone().words(" and ").append(bob))
            .list(vec![Words::new("**New**: ").append(ada).text(" Ada")]);
        composition.hide_names("Unknown user", |user_id| Ok::<_, ()>(user_id == 9)).unwrap();
        let (source, rendered) = composition.finish();
        assert_eq!(source, "@_**|9** and @_**Bob|89**\n\n* **New**: @_**|9** Ada");
        let unknown = r#"<span class="user-mention silent" data-user-id="9">Unknown user</span>"#;
        let bob = r#"<span class="user-mention silent" data-user-id="89">Bob</span>"#;
        let list = format!("<ul>\n<li><strong>New</strong>: {unknown} Ada</li>\n</ul>");
        assert_eq!(rendered.html, format!("<p>{unknown} and {bob}</p>\n{list}"));
        let source = "@_**Bob|89** renamed channel **a** to **b|9**.";
        assert_eq!(without_name(source, 9), source);
    }

    #[test]
    fn quotes_contain_no_mentions() {
        let html = r#"<p><span class="user-mention" data-user-id="9">@Ada</span> <span class="user-mention channel-wildcard-mention" data-user-id="*">@all</span> <span class="user-mention silent" data-user-id="8">@Bob</span> <span class="k">@</span></p>"#;
        let (source, rendered) =
            Composition::from(Words::new("Old:")).next_line().quote("@**Ada**", html).finish();
        assert_eq!(source, "Old:\n```` quote\n@**Ada**\n````");
        let silent = r#"<p><span class="user-mention silent" data-user-id="9">Ada</span> <span class="user-mention channel-wildcard-mention silent" data-user-id="*">all</span> <span class="user-mention silent" data-user-id="8">@Bob</span> <span class="k">@</span></p>"#;
        assert_eq!(rendered.html, format!("<p>Old:</p>\n<blockquote>\n{silent}\n</blockquote>"));
        assert!(rendered.mentioned_user_ids.is_empty());
    }

    #[test]
    fn names_and_fences_have_no_marks_that_end_them() {
        assert!(fits_into_a_link("lunch (today)") && !fits_into_a_link("2 > 1") && !fits_into_a_link("a*b"));
        assert_eq!(link_text("2 > 1 & **[x]**"), "2 > 1 & x");
        assert_eq!(["plain `code`", "a\n````quote"].map(unused_fence), ["```", "`````"]);
    }
}

//! The rules of the dialect, each with variations: what a text becomes, and what it does not become.

use super::assert_rendered;

/// A list nests by two spaces, may hang off a line of text, and parts from a list of the other kind.
#[test]
fn lists_nest_continue_and_part() {
    assert_rendered(&[
        ("* a\n* b\n\n* c", "<ul>\n<li>a</li>\n<li>\n<p>b</p>\n</li>\n<li>\n<p>c</p>\n</li>\n</ul>"),
        ("* a\n    * b\n    * c\n* d", "<ul>\n<li>a<br>\n    * b<br>\n    * c</li>\n<li>d</li>\n</ul>"),
        ("* a\n   * b", "<ul>\n<li>a<ul>\n<li>b</li>\n</ul>\n</li>\n</ul>"),
        ("- a\n+ b\n* c", "<ul>\n<li>a</li>\n<li>b</li>\n<li>c</li>\n</ul>"),
        (
            "* a\n  more\n  * b\n    more",
            "<ul>\n<li>\n<p>a<br>\n  more</p>\n<ul>\n<li>b<br>\n  more</li>\n</ul>\n</li>\n</ul>",
        ),
        ("text\n* a\ntext", "<p>text</p>\n<ul>\n<li>a<br>\ntext</li>\n</ul>"),
        (
            "text\n1. a\n\ntext\n\n- b",
            "<p>text</p>\n<ol>\n<li>a</li>\n</ol>\n<p>text</p>\n<ul>\n<li>b</li>\n</ul>",
        ),
        ("text\n10. a", "<p>text<br>\n10. a</p>"),
        (
            "1. a\n  - b\n  - c\n2. d",
            "<ol>\n<li>\n<p>a</p>\n<ul>\n<li>b</li>\n<li>c</li>\n</ul>\n</li>\n<li>\n<p>d</p>\n</li>\n</ol>",
        ),
        ("1. a\n- b", "<ol>\n<li>a</li>\n</ol>\n<ul>\n<li>b</li>\n</ul>"),
        ("10. a\n11. b", "<ol start=\"10\">\n<li>a</li>\n<li>b</li>\n</ol>"),
        (
            "1. a\n1. b\n   1. c\n   3. d\n1. e\n   17. f\n   18. g",
            "<ol>\n<li>a</li>\n<li>b<ol>\n<li>c</li>\n<li>d</li>\n</ol>\n</li>\n<li>e<ol start=\"17\">\n<li>f</li>\n<li>g</li>\n</ol>\n</li>\n</ol>",
        ),
        (
            "* a\n\n      code\n* b",
            "<ul>\n<li>\n<p>a</p>\n<div class=\"codehilite\"><pre><span></span><code>code\n</code></pre></div>\n</li>\n<li>\n<p>b</p>\n</li>\n</ul>",
        ),
        (
            "* a\n\n  more\n\n  and more\n* b",
            "<ul>\n<li>\n<p>a</p>\n<p>more</p>\n<p>and more</p>\n</li>\n<li>\n<p>b</p>\n</li>\n</ul>",
        ),
        (
            "* 1. a\n  2. b",
            "<ul>\n<li>\n<ol>\n<li>\n<p>a</p>\n</li>\n<li>\n<p>b</p>\n</li>\n</ol>\n</li>\n</ul>",
        ),
        ("* \n  a", "<ul>\n<li>\n<p>a</p>\n</li>\n</ul>"),
        ("* a\n  # b", "<ul>\n<li>a<br>\n  # b</li>\n</ul>"),
        ("* a\n---\n* b", "<ul>\n<li>a</li>\n</ul>\n<hr>\n<ul>\n<li>b</li>\n</ul>"),
        ("*a", "<p>*a</p>"),
        ("1.a", "<p>1.a</p>"),
        ("1) a", "<p>1) a</p>"),
    ]);
}

/// A quote goes on without its mark, nests, and ends with an empty line.
#[test]
fn quotes_reach_to_the_next_empty_line() {
    assert_rendered(&[
        ("> a\nb\n\nc", "<blockquote>\n<p>a<br>\nb</p>\n</blockquote>\n<p>c</p>"),
        ("> a\n>\n> b", "<blockquote>\n<p>a</p>\n<p>b</p>\n</blockquote>"),
        ("> a\n\n> b", "<blockquote>\n<p>a</p>\n</blockquote>\n<blockquote>\n<p>b</p>\n</blockquote>"),
        (
            "> a\n> > b\n> c",
            "<blockquote>\n<p>a</p>\n<blockquote>\n<p>b<br>\nc</p>\n</blockquote>\n</blockquote>",
        ),
        (
            ">a\n>>b\n>c",
            "<blockquote>\n<p>a</p>\n<blockquote>\n<p>b<br>\nc</p>\n</blockquote>\n</blockquote>",
        ),
        ("text\n> a", "<p>text</p>\n<blockquote>\n<p>a</p>\n</blockquote>"),
        ("> # a\n> text", "<blockquote>\n<h1>a</h1>\n<p>text</p>\n</blockquote>"),
        ("> * a\n> * b", "<blockquote>\n<ul>\n<li>a</li>\n<li>b</li>\n</ul>\n</blockquote>"),
        ("> text\n> * a", "<blockquote>\n<p>text<br>\n* a</p>\n</blockquote>"),
        (
            ">     code",
            "<blockquote>\n<div class=\"codehilite\"><pre><span></span><code>code\n</code></pre></div>\n</blockquote>",
        ),
        ("> `a\n> b`", "<blockquote>\n<p><code>a\nb</code></p>\n</blockquote>"),
        ("   > a", "<blockquote>\n<p>a</p>\n</blockquote>"),
        ("    > a", "<div class=\"codehilite\"><pre><span></span><code>&gt; a\n</code></pre></div>"),
        (">", "<p>&gt;</p>"),
        ("> \n>", "<p>&gt; <br>\n&gt;</p>"),
        ("> a\n>", "<blockquote>\n<p>a<br>\n</p>\n</blockquote>"),
        ("* a\n> b", "<ul>\n<li>a<blockquote>\n<p>b</p>\n</blockquote>\n</li>\n</ul>"),
        ("* > a\n  > b", "<ul>\n<li>\n<blockquote>\n<p>a<br>\nb</p>\n</blockquote>\n</li>\n</ul>"),
    ]);
}

/// Each line end is a break. Spaces at the start of a line are kept before text only.
#[test]
fn lines_break_where_they_were_broken() {
    assert_rendered(&[
        ("a\nb", "<p>a<br>\nb</p>"),
        ("a\n  b", "<p>a<br>\n  b</p>"),
        ("a  \nb", "<p>a  <br>\nb</p>"),
        ("a\\\nb", "<p>a\\<br>\nb</p>"),
        ("a\n\n\nb", "<p>a</p>\n<p>b</p>"),
        ("a\n  `b`", "<p>a<br>\n<code>b</code></p>"),
        ("a\n  **b** c", "<p>a<br>\n<strong>b</strong> c</p>"),
        ("a\n &amp;", "<p>a<br>\n &amp;</p>"),
        ("a\tb", "<p>a   b</p>"),
        ("\n\na", "<p>a</p>"),
    ]);
}

/// A fence closes with the marks that opened it, or never. Four spaces make code of a line behind an empty one.
#[test]
fn code_stands_in_fences_or_behind_four_spaces() {
    assert_rendered(&[
        (
            "```\na\n\nb\n```\nc",
            "<div class=\"codehilite\"><pre><span></span><code>a\n\nb\n</code></pre></div>\n<p>c</p>",
        ),
        (
            "~~~\n```\na\n```\n~~~",
            "<div class=\"codehilite\"><pre><span></span><code>```\na\n```\n</code></pre></div>",
        ),
        (
            "````\n```\n````\na",
            "<div class=\"codehilite\"><pre><span></span><code>```\n</code></pre></div>\n<p>a</p>",
        ),
        ("```\na", "<div class=\"codehilite\"><pre><span></span><code>a\n</code></pre></div>"),
        (
            "a\n```\nb\n```\nc",
            "<p>a</p>\n<div class=\"codehilite\"><pre><span></span><code>b\n</code></pre></div>\n<p>c</p>",
        ),
        ("``` a ```", "<p><code> a </code></p>"),
        ("```* a", "<p>```* a</p>"),
        ("  ```\na\n  ```", "<p><code>\na\n  </code></p>"),
        (
            "```\na\n  ```\n```",
            "<div class=\"codehilite\"><pre><span></span><code>a\n  ```\n</code></pre></div>",
        ),
        (
            "```{.x-y}\na\n```",
            "<div class=\"codehilite\" data-code-language=\"x-y\"><pre><span></span><code>a\n</code></pre></div>",
        ),
        (
            "~~~ {x-y}\na",
            "<div class=\"codehilite\" data-code-language=\"x-y\"><pre><span></span><code>a\n</code></pre></div>",
        ),
        (
            "```x-y: z\na",
            "<div class=\"codehilite\" data-code-language=\"x-y\"><pre><span></span><code>a\n</code></pre></div>",
        ),
        (
            "    a\n\n    b\nc",
            "<div class=\"codehilite\"><pre><span></span><code>a\n\nb\n</code></pre></div>\n<p>c</p>",
        ),
        (
            "    a\n\n\n\n    b",
            "<div class=\"codehilite\"><pre><span></span><code>a\n\n\n\nb\n</code></pre></div>",
        ),
        ("a\n    b", "<p>a<br>\n    b</p>"),
        ("a\n\n    b", "<p>a</p>\n<div class=\"codehilite\"><pre><span></span><code>b\n</code></pre></div>"),
        ("\ta", "<div class=\"codehilite\"><pre><span></span><code>a\n</code></pre></div>"),
        (
            "```quote\n    a\n```",
            "<blockquote>\n<div class=\"codehilite\"><pre><span></span><code>a\n</code></pre></div>\n</blockquote>",
        ),
        (
            r#"    <b>&amp;"'"#,
            "<div class=\"codehilite\"><pre><span></span><code>&lt;b&gt;&amp;amp;&quot;&#39;\n</code></pre></div>",
        ),
    ]);
}

/// What a fenced quote or spoiler holds is read like a message, also further fences.
#[test]
fn quotes_and_spoilers_are_fenced_too() {
    assert_rendered(&[
        (
            "```quote\na\n\n* b\n```\nc",
            "<blockquote>\n<p>a</p>\n<ul>\n<li>b</li>\n</ul>\n</blockquote>\n<p>c</p>",
        ),
        (
            "~~~quote\n```\na\n```\nb\n~~~",
            "<blockquote>\n<div class=\"codehilite\"><pre><span></span><code>a\n</code></pre></div>\n<p>b</p>\n</blockquote>",
        ),
        (
            "~~~quote\n> a\nb\n~~~",
            "<blockquote>\n<blockquote>\n<p>a<br>\nb</p>\n</blockquote>\n</blockquote>",
        ),
        ("```quoted\na\n```", "<blockquote>\n<p>a</p>\n</blockquote>"),
        ("```QUOTE\na\n```", "<blockquote>\n<p>a</p>\n</blockquote>"),
        ("```quote\n```", "<p>&gt; </p>"),
        (
            "````quote\n```quote\na\n```\nb\n````",
            "<blockquote>\n<blockquote>\n<p>a</p>\n</blockquote>\n<p>b</p>\n</blockquote>",
        ),
        (
            "```spoiler\na\n```",
            "<div class=\"spoiler-block\"><div class=\"spoiler-header\">\n</div><div class=\"spoiler-content\" aria-hidden=\"true\">\n<p>a</p>\n</div></div>",
        ),
        (
            "```spoiler **a** `b`\n* c\n\nd\n```",
            "<p><code>``spoiler **a** </code>b`</p>\n<ul>\n<li>c</li>\n</ul>\n<p>d</p>\n<div class=\"codehilite\"><pre><span></span><code>\n</code></pre></div>",
        ),
        (
            "````spoiler a\n```quote\nb\n```\n````",
            "<div class=\"spoiler-block\"><div class=\"spoiler-header\">\n<p>a</p>\n</div><div class=\"spoiler-content\" aria-hidden=\"true\">\n<blockquote>\n<p>b</p>\n</blockquote>\n</div></div>",
        ),
        (
            "```spoiler a\ntext\n* b\n```",
            "<div class=\"spoiler-block\"><div class=\"spoiler-header\">\n<p>a</p>\n</div><div class=\"spoiler-content\" aria-hidden=\"true\">\n<p>text<br>\n* b</p>\n</div></div>",
        ),
        ("```spoiler a\n```", ""),
        (
            "```quote\n~~~spoiler a\nb\n~~~\n```",
            "<blockquote>\n<div class=\"spoiler-block\"><div class=\"spoiler-header\">\n<p>a</p>\n</div><div class=\"spoiler-content\" aria-hidden=\"true\">\n<p>b</p>\n</div></div>\n</blockquote>",
        ),
        (
            "```spoiler a\n\n```",
            "<div class=\"spoiler-block\"><div class=\"spoiler-header\">\n<p>a</p>\n</div><div class=\"spoiler-content\" aria-hidden=\"true\">\n</div></div>",
        ),
    ]);
}

/// One to six marks and a space make a heading of a line anywhere in a paragraph.
#[test]
fn headings_take_a_space_and_lose_their_end() {
    assert_rendered(&[
        ("# a", "<h1>a</h1>"),
        ("###### a", "<h6>a</h6>"),
        ("####### a", "<p>####### a</p>"),
        ("#a", "<p>#a</p>"),
        ("#\ta", "<h1>a</h1>"),
        ("# a #", "<h1>a</h1>"),
        ("## a ###", "<h2>a</h2>"),
        ("# a # b", "<h1>a # b</h1>"),
        ("# a \\#", "<h1>a \\#</h1>"),
        ("# a\\", "<p># a\\</p>"),
        ("# **a** `b`", "<h1><strong>a</strong> <code>b</code></h1>"),
        ("a\n# b\nc", "<p>a</p>\n<h1>b</h1>\n<p>c</p>"),
        ("# ", "<h1></h1>"),
        ("> ## a", "<blockquote>\n<h2>a</h2>\n</blockquote>"),
        (" # a", "<p># a</p>"),
    ]);
}

/// Three `-`, `*` or `_` make a rule, with up to two spaces between them.
#[test]
fn rules_are_three_marks() {
    assert_rendered(&[
        ("---", "<hr>"),
        ("***", "<hr>"),
        ("___", "<hr>"),
        ("- - -", "<hr>"),
        ("*  *  *", "<hr>"),
        ("-   -   -", "<ul>\n<li>\n<ul>\n<li>-</li>\n</ul>\n</li>\n</ul>"),
        ("--", "<p>--</p>"),
        ("a\n---\nb", "<p>a</p>\n<hr>\n<p>b</p>"),
        ("   ---", "<hr>"),
        ("    ---", "<div class=\"codehilite\"><pre><span></span><code>---\n</code></pre></div>"),
        ("--- a", "<p>--- a</p>"),
        ("**-", "<p>**-</p>"),
    ]);
}

/// A backslash is text. Only before a backtick it keeps code from starting, and two are one.
#[test]
fn backslashes_escape_nothing_but_backticks() {
    assert_rendered(&[
        ("\\*a\\*", "<p>\\<em>a\\</em></p>"),
        ("\\_", "<p>\\_</p>"),
        ("\\`a\\`", "<p>\\`a\\`</p>"),
        ("\\\\`a`", "<p>\\<code>a</code></p>"),
        ("\\[a](/x)", "<p>\\<a href=\"/x\">a</a></p>"),
        ("\\# a", "<p>\\# a</p>"),
        ("\\> a", "<p>\\&gt; a</p>"),
        ("\\&amp;", "<p>\\&amp;</p>"),
        ("\\<b>", "<p>\\&lt;b&gt;</p>"),
        ("a\\", "<p>a\\</p>"),
    ]);
}

/// Code in a line closes with as many backticks, keeps its spaces, and nothing in it is read.
#[test]
fn code_takes_as_many_backticks_as_it_can() {
    assert_rendered(&[
        ("`a`", "<p><code>a</code></p>"),
        ("`` `a` ``", "<p><code> `a` </code></p>"),
        ("``a``", "<p><code>a</code></p>"),
        ("``a`", "<p><code>`a</code></p>"),
        ("`a``", "<p>`a``</p>"),
        ("`a``b`", "<p><code>a``b</code></p>"),
        ("` a `", "<p><code> a </code></p>"),
        ("`a\nb`", "<p><code>a\nb</code></p>"),
        ("`a\n\nb`", "<p>`a</p>\n<p>b`</p>"),
        ("`a", "<p>`a</p>"),
        ("```a```", "<p><code>a</code></p>"),
        ("`**a** @**Zoe** http://x.com &amp;`", "<p><code>**a** @**Zoe** http://x.com &amp;amp;</code></p>"),
        ("`a` `b`", "<p><code>a</code> <code>b</code></p>"),
        ("**`a`**", "<p><strong><code>a</code></strong></p>"),
        ("a`b`c", "<p>a<code>b</code>c</p>"),
    ]);
}

/// Stars pair within a line, whatever stands around them; `_` is text.
#[test]
fn emphasis_pairs_stars_and_knows_no_underscore() {
    assert_rendered(&[
        ("*a* **b** ***c***", "<p><em>a</em> <strong>b</strong> <strong><em>c</em></strong></p>"),
        ("**a *b* c**", "<p><strong>a <em>b</em> c</strong></p>"),
        ("*a **b** c*", "<p><em>a <strong>b</strong> c</em></p>"),
        ("*a *b* c*", "<p><em>a <em>b</em> c</em></p>"),
        ("***~~a~~***", "<p><strong><em><del>a</del></em></strong></p>"),
        ("***http://x.com***", r#"<p><strong><em><a href="http://x.com">http://x.com</a></em></strong></p>"#),
        ("**a* b**", "<p><strong>a* b</strong></p>"),
        ("**a*", "<p>*<em>a</em></p>"),
        ("***a* b**", "<p><strong><em>a</em> b</strong></p>"),
        ("a*b*c a**b**c", "<p>a<em>b</em>c a<strong>b</strong>c</p>"),
        ("* a*", "<ul>\n<li>a*</li>\n</ul>"),
        ("*a *", "<p>*a *</p>"),
        ("** a **", "<p><strong> a </strong></p>"),
        ("**a\nb**", "<p>**a<br>\nb**</p>"),
        ("a * b * c", "<p>a * b * c</p>"),
        ("_a_ __b__ a_b_c", "<p>_a_ __b__ a_b_c</p>"),
        ("*a_b*", "<p><em>a_b</em></p>"),
        ("*a^b*", "<p>*a^b*</p>"),
        ("**a^b**", "<p><strong>a^b</strong></p>"),
        ("*a* *b*", "<p><em>a</em> <em>b</em></p>"),
        ("****", "<hr>"),
        ("a **** b", "<p>a **** b</p>"),
        ("**a****b**", "<p><strong>a</strong><strong>b</strong></p>"),
        ("**[a](/x)**", r#"<p><strong><a href="/x">a</a></strong></p>"#),
        ("*`*`*", "<p><em><code>*</code></em></p>"),
    ]);
}

/// Two tildes on either side strike what is between, unless there is another tilde.
#[test]
fn tildes_strike_in_pairs() {
    assert_rendered(&[
        ("~~a~~", "<p><del>a</del></p>"),
        ("~~a b~~ c", "<p><del>a b</del> c</p>"),
        ("~~ a ~~", "<p><del> a </del></p>"),
        ("~a~", "<p>~a~</p>"),
        ("~~~a~~", "<p>~~~a~~</p>"),
        ("~~a~~~", "<p>~~a~~~</p>"),
        ("a~~b~~c", "<p>a<del>b</del>c</p>"),
        ("~~a\nb~~", "<p>~~a<br>\nb~~</p>"),
        ("~~**a**~~", "<p><del><strong>a</strong></del></p>"),
        ("**~~a~~**", "<p><strong><del>a</del></strong></p>"),
        ("~~a~b~~", "<p>~~a~b~~</p>"),
        ("~~~~", "<div class=\"codehilite\"><pre><span></span><code>\n</code></pre></div>"),
    ]);
}

/// `[text](address "title")`. The text is not read for emphasis, and brackets and parentheses nest.
#[test]
fn links_have_text_an_address_and_maybe_a_title() {
    assert_rendered(&[
        ("[a](http://x.com)", r#"<p><a href="http://x.com">a</a></p>"#),
        (r#"[a](http://x.com "b c")"#, r#"<p><a href="http://x.com" title="b c">a</a></p>"#),
        ("[a](http://x.com 'b')", r#"<p><a href="http://x.com" title="b">a</a></p>"#),
        ("[a](http://x.com/(b))", r#"<p><a href="http://x.com/(b)">a</a></p>"#),
        ("[a](<http://x.com/b c>)", r#"<p><a href="http://x.com/b%20c">a</a></p>"#),
        ("[a](http://x.com/b c)", r#"<p><a href="http://x.com/b%20c">a</a></p>"#),
        ("[a]( http://x.com )", r#"<p><a href="http://x.com">a</a></p>"#),
        ("[a [b] c](/x)", r#"<p><a href="/x">a [b] c</a></p>"#),
        ("[**a**](/x)", r#"<p><a href="/x">**a**</a></p>"#),
        ("[`a`](/x)", r#"<p><a href="/x"><code>a</code></a></p>"#),
        (
            "[@**Zoe**](/x)",
            r#"<p><a href="/x"><span class="user-mention" data-user-id="7">@Zoe</span></a></p>"#,
        ),
        ("[](http://x.com)", r#"<p><a href="http://x.com">http://x.com</a></p>"#),
        ("[a]()", "<p>[a]()</p>"),
        ("[a](#b)", "<p><a href=\"#b\">a</a></p>"),
        ("[a](x.com/y)", r#"<p><a href="http://x.com/y">a</a></p>"#),
        ("[a](x@y.com)", r#"<p><a href="mailto:x@y.com">a</a></p>"#),
        ("[a](HTTP://x.com)", r#"<p><a href="http://x.com">a</a></p>"#),
        ("[a](/x)[b](/y)", r#"<p><a href="/x">a</a><a href="/y">b</a></p>"#),
        ("[a] (/x)", "<p>[a] (/x)</p>"),
        ("[a][b]", "<p>[a][b]</p>"),
        ("[a](/x", "<p>[a](/x</p>"),
        ("[a](//x.com)", "<p>[a](//x.com)</p>"),
        ("[a](javascript:b)", "<p>[a](javascript:b)</p>"),
        ("![a](/x)", "<p>![a](/x)</p>"),
        ("[a](http://x.com/?b&c=d&amp;e)", r#"<p><a href="http://x.com/?b&amp;c=d&amp;e">a</a></p>"#),
        ("[a\nb](/x)", "<p><a href=\"/x\">a\nb</a></p>"),
        ("[http://x.com](http://y.com)", r#"<p><a href="http://y.com">http://x.com</a></p>"#),
    ]);
}

/// An address starts behind a space or an opening mark and ends before closing marks at the end of its word.
#[test]
fn addresses_link_by_themselves() {
    assert_rendered(&[
        ("http://x.com.", r#"<p><a href="http://x.com">http://x.com</a>.</p>"#),
        ("(http://x.com)", r#"<p>(<a href="http://x.com">http://x.com</a>)</p>"#),
        ("http://x.com/a_(b)", r#"<p><a href="http://x.com/a_(b)">http://x.com/a_(b)</a></p>"#),
        ("http://x.com/a)", r#"<p><a href="http://x.com/a">http://x.com/a</a>)</p>"#),
        ("<http://x.com>", r#"<p>&lt;<a href="http://x.com">http://x.com</a>&gt;</p>"#),
        (r#""http://x.com""#, r#"<p>"<a href="http://x.com">http://x.com</a>"</p>"#),
        (
            "http://x.com, y.com; z.org!",
            r#"<p><a href="http://x.com">http://x.com</a>, <a href="http://y.com">y.com</a>; <a href="http://z.org">z.org</a>!</p>"#,
        ),
        ("http://x.com?a=b", "<p>http://x.com?a=b</p>"),
        (
            "http://x.com/?a=b&c=d#e",
            r#"<p><a href="http://x.com/?a=b&amp;c=d#e">http://x.com/?a=b&amp;c=d#e</a></p>"#,
        ),
        ("http://x.com/ä/ö?ü", r#"<p><a href="http://x.com/ä/ö?ü">http://x.com/ä/ö?ü</a></p>"#),
        ("http://täst.de", r#"<p><a href="http://täst.de">http://täst.de</a></p>"#),
        (
            "http://localhost:9991/a",
            r#"<p><a href="http://localhost:9991/a">http://localhost:9991/a</a></p>"#,
        ),
        ("http://[::1]/", "<p>http://[::1]/</p>"),
        (r#"https://x.com/a"b"#, r#"<p>https://x.com/a"b</p>"#),
        ("x.com", r#"<p><a href="http://x.com">x.com</a></p>"#),
        ("x.com:80", "<p>x.com:80</p>"),
        ("x.comx", "<p>x.comx</p>"),
        ("X.COM", "<p>X.COM</p>"),
        ("sub.x-y.co.uk/a", r#"<p><a href="http://sub.x-y.co.uk/a">sub.x-y.co.uk/a</a></p>"#),
        ("x.zip y.py z.md", r#"<p><a href="http://x.zip">x.zip</a> y.py z.md</p>"#),
        ("1.2.3.4", "<p>1.2.3.4</p>"),
        ("http://1.2.3.4/", r#"<p><a href="http://1.2.3.4/">http://1.2.3.4/</a></p>"#),
        ("a@b.com", r#"<p><a href="mailto:a@b.com">a@b.com</a></p>"#),
        ("mailto:a@b.com", r#"<p>mailto:<a href="mailto:a@b.com">a@b.com</a></p>"#),
        ("a.b-c@d.e.com,", r#"<p><a href="mailto:a.b-c@d.e.com">a.b-c@d.e.com</a>,</p>"#),
        ("a@b", "<p>a@b</p>"),
        ("ftp://x.com", "<p>ftp://x.com</p>"),
        ("HTTP://x.com", "<p>HTTP://x.com</p>"),
        ("a/x.com", "<p>a/x.com</p>"),
        ("**http://x.com**", "<p><strong>http://x.com</strong></p>"),
        ("*http://x.com *", "<p>*http://x.com *</p>"),
        ("http://x.com/a*b*c", r#"<p><a href="http://x.com/a*b*c">http://x.com/a*b*c</a></p>"#),
        (
            "http://x.com/?a=1&amp;b=2",
            r#"<p><a href="http://x.com/?a=1&amp;b=2">http://x.com/?a=1&amp;b=2</a></p>"#,
        ),
        ("http://x.com/`a`", r#"<p><a href="http://x.com/a">http://x.com/<code>a</code></a></p>"#),
        ("http://a@b.com/c", r#"<p><a href="http://a@b.com/c">http://a@b.com/c</a></p>"#),
        (
            "http://x.com/(((((((a)))))))",
            r#"<p><a href="http://x.com/(((((((a)))))))">http://x.com/(((((((a)))))))</a></p>"#,
        ),
        ("http://x.com/((((((((a))))))))", "<p>http://x.com/((((((((a))))))))</p>"),
        ("x.com...", r#"<p><a href="http://x.com">x.com</a>...</p>"#),
        ("http://http://x.com", r#"<p><a href="http://http://x.com">http://http://x.com</a></p>"#),
    ]);
}

/// A character reference is written as typed; everything else that could be markup is text.
#[test]
fn references_stay_and_other_ampersands_are_escaped() {
    assert_rendered(&[
        ("&amp; &lt; &copy; &#65; &#x41;", "<p>&amp; &lt; &copy; &#65; &#x41;</p>"),
        ("& &; &#; &#x; &x", "<p>&amp; &amp;; &amp;#; &amp;#x; &amp;x</p>"),
        ("AT&T;x", "<p>AT&T;x</p>"),
        ("<b>a</b>", "<p>&lt;b&gt;a&lt;/b&gt;</p>"),
        ("a < b > c", "<p>a &lt; b &gt; c</p>"),
        (r#""a" 'b'"#, r#"<p>"a" 'b'</p>"#),
        ("<!-- a -->", "<p>&lt;!-- a --&gt;</p>"),
        ("<http://x.com", r#"<p>&lt;<a href="http://x.com">http://x.com</a></p>"#),
        ("&lt;b&gt;", "<p>&lt;b&gt;</p>"),
    ]);
}

/// A table needs a line of dashes with as many cells as its header.
#[test]
fn tables_have_cells_between_bars() {
    assert_rendered(&[
        (
            "a|b\n-|-\nc|d",
            "<table>\n<thead>\n<tr>\n<th>a</th>\n<th>b</th>\n</tr>\n</thead>\n<tbody>\n<tr>\n<td>c</td>\n<td>d</td>\n</tr>\n</tbody>\n</table>",
        ),
        (
            "|a|b|\n|:-|-:|\n|c|d|",
            "<table>\n<thead>\n<tr>\n<th style=\"text-align: left;\">a</th>\n<th style=\"text-align: right;\">b</th>\n</tr>\n</thead>\n<tbody>\n<tr>\n<td style=\"text-align: left;\">c</td>\n<td style=\"text-align: right;\">d</td>\n</tr>\n</tbody>\n</table>",
        ),
        (
            "a | b | c\n:-: | --- | :--\n*d* | `e` | f",
            "<table>\n<thead>\n<tr>\n<th style=\"text-align: center;\">a</th>\n<th>b</th>\n<th style=\"text-align: left;\">c</th>\n</tr>\n</thead>\n<tbody>\n<tr>\n<td style=\"text-align: center;\"><em>d</em></td>\n<td><code>e</code></td>\n<td style=\"text-align: left;\">f</td>\n</tr>\n</tbody>\n</table>",
        ),
        (
            "a|b\n-|-",
            "<table>\n<thead>\n<tr>\n<th>a</th>\n<th>b</th>\n</tr>\n</thead>\n<tbody>\n<tr>\n<td></td>\n<td></td>\n</tr>\n</tbody>\n</table>",
        ),
        (
            "a|b\n:-|-:",
            "<table>\n<thead>\n<tr>\n<th style=\"text-align: left;\">a</th>\n<th style=\"text-align: right;\">b</th>\n</tr>\n</thead>\n<tbody>\n<tr>\n<td></td>\n<td></td>\n</tr>\n</tbody>\n</table>",
        ),
        (
            "a|b\n-|-\nc",
            "<table>\n<thead>\n<tr>\n<th>a</th>\n<th>b</th>\n</tr>\n</thead>\n<tbody>\n<tr>\n<td>c</td>\n<td></td>\n</tr>\n</tbody>\n</table>",
        ),
        (
            "a|b\n-|-\nc|d|e",
            "<table>\n<thead>\n<tr>\n<th>a</th>\n<th>b</th>\n</tr>\n</thead>\n<tbody>\n<tr>\n<td>c</td>\n<td>d</td>\n</tr>\n</tbody>\n</table>",
        ),
        (
            "|a|\n|-|\n|b|",
            "<table>\n<thead>\n<tr>\n<th>a</th>\n</tr>\n</thead>\n<tbody>\n<tr>\n<td>b</td>\n</tr>\n</tbody>\n</table>",
        ),
        (
            "a\\|b|c\n-|-\nd\\|e|f",
            "<table>\n<thead>\n<tr>\n<th>a\\|b</th>\n<th>c</th>\n</tr>\n</thead>\n<tbody>\n<tr>\n<td>d\\|e</td>\n<td>f</td>\n</tr>\n</tbody>\n</table>",
        ),
        (
            "`a|b`|c\n-|-\nd|`e|f`",
            "<table>\n<thead>\n<tr>\n<th><code>a|b</code></th>\n<th>c</th>\n</tr>\n</thead>\n<tbody>\n<tr>\n<td>d</td>\n<td><code>e|f</code></td>\n</tr>\n</tbody>\n</table>",
        ),
        ("a|b\n-|-|-", "<p>a|b<br>\n-|-|-</p>"),
        ("a|b\n=|=", "<p>a|b<br>\n=|=</p>"),
        ("text\na|b\n-|-", "<p>text<br>\na|b<br>\n-|-</p>"),
        (
            "a|b\n-|-\n\nc|d",
            "<table>\n<thead>\n<tr>\n<th>a</th>\n<th>b</th>\n</tr>\n</thead>\n<tbody>\n<tr>\n<td></td>\n<td></td>\n</tr>\n</tbody>\n</table>\n<p>c|d</p>",
        ),
        (
            "> a|b\n> -|-",
            "<blockquote>\n<table>\n<thead>\n<tr>\n<th>a</th>\n<th>b</th>\n</tr>\n</thead>\n<tbody>\n<tr>\n<td></td>\n<td></td>\n</tr>\n</tbody>\n</table>\n</blockquote>",
        ),
        (
            "* a|b\n  -|-",
            "<table>\n<thead>\n<tr>\n<th>* a</th>\n<th>b</th>\n</tr>\n</thead>\n<tbody>\n<tr>\n<td></td>\n<td></td>\n</tr>\n</tbody>\n</table>",
        ),
        (
            "a|b\n-|-\n@**Zoe**|http://x.com",
            "<table>\n<thead>\n<tr>\n<th>a</th>\n<th>b</th>\n</tr>\n</thead>\n<tbody>\n<tr>\n<td><span class=\"user-mention\" data-user-id=\"7\">@Zoe</span></td>\n<td><a href=\"http://x.com\">http://x.com</a></td>\n</tr>\n</tbody>\n</table>",
        ),
        (
            "|| a |\n|---|---:|\n| b ||\n|c|*d*|e|",
            "<table>\n<thead>\n<tr>\n<th></th>\n<th style=\"text-align: right;\">a</th>\n</tr>\n</thead>\n<tbody>\n<tr>\n<td>b</td>\n<td style=\"text-align: right;\"></td>\n</tr>\n<tr>\n<td>c</td>\n<td style=\"text-align: right;\"><em>d</em></td>\n</tr>\n</tbody>\n</table>",
        ),
    ]);
}

/// A mention stands behind a space or an opening mark, and names somebody who is there.
#[test]
fn mentions_stand_free() {
    assert_rendered(&[
        ("@**Zoe**", r#"<p><span class="user-mention" data-user-id="7">@Zoe</span></p>"#),
        ("(@**Zoe**)", r#"<p>(<span class="user-mention" data-user-id="7">@Zoe</span>)</p>"#),
        ("[@**Zoe**]", r#"<p>[<span class="user-mention" data-user-id="7">@Zoe</span>]</p>"#),
        ("{@**Zoe**}", r#"<p>{<span class="user-mention" data-user-id="7">@Zoe</span>}</p>"#),
        ("/@**Zoe**", r#"<p>/<span class="user-mention" data-user-id="7">@Zoe</span></p>"#),
        (
            r#"'@**Zoe**' "@**Zoe**""#,
            r#"<p>'<span class="user-mention" data-user-id="7">@Zoe</span>' "<span class="user-mention" data-user-id="7">@Zoe</span>"</p>"#,
        ),
        ("<@**Zoe**>", r#"<p>&lt;<span class="user-mention" data-user-id="7">@Zoe</span>&gt;</p>"#),
        (".@**Zoe**", "<p>.@<strong>Zoe</strong></p>"),
        ("a@**Zoe**", "<p>a@<strong>Zoe</strong></p>"),
        ("@**Zoe**a", r#"<p><span class="user-mention" data-user-id="7">@Zoe</span>a</p>"#),
        ("@**zoe|7**", r#"<p><span class="user-mention" data-user-id="7">@Zoe</span></p>"#),
        (
            "@**|7** @_**|8**",
            r#"<p><span class="user-mention" data-user-id="7">@Zoe</span> <span class="user-mention silent" data-user-id="8">King Hamlet</span></p>"#,
        ),
        ("@**Zoe|8**", "<p>@<strong>Zoe|8</strong></p>"),
        ("@**|99** @**Zoe|99**", "<p>@<strong>|99</strong> @<strong>Zoe|99</strong></p>"),
        ("@** Zoe**", "<p>@<strong> Zoe</strong></p>"),
        ("@*Zoe*", "<p>@<em>Zoe</em></p>"),
        ("@**support**", "<p>@<strong>support</strong></p>"),
        (
            "@*support* @_*support*",
            r#"<p><span class="user-group-mention" data-user-group-id="17">@support</span> <span class="user-group-mention silent" data-user-group-id="17">support</span></p>"#,
        ),
        (
            "@**all** @**everyone** @**channel** @**stream** @**topic**",
            r#"<p><span class="user-mention channel-wildcard-mention" data-user-id="*">@all</span> <span class="user-mention channel-wildcard-mention" data-user-id="*">@everyone</span> <span class="user-mention channel-wildcard-mention" data-user-id="*">@channel</span> <span class="user-mention channel-wildcard-mention" data-user-id="*">@stream</span> <span class="topic-mention">@topic</span></p>"#,
        ),
        (
            "@_**all** @_**topic**",
            r#"<p><span class="user-mention channel-wildcard-mention silent" data-user-id="*">all</span> <span class="topic-mention silent">topic</span></p>"#,
        ),
        ("@**ALL**", "<p>@<strong>ALL</strong></p>"),
        ("@all @zoe", "<p>@all @zoe</p>"),
        (
            "@**Zoe** @**Zoe**",
            r#"<p><span class="user-mention" data-user-id="7">@Zoe</span> <span class="user-mention" data-user-id="7">@Zoe</span></p>"#,
        ),
        ("# @**Zoe**", r#"<h1><span class="user-mention" data-user-id="7">@Zoe</span></h1>"#),
        ("* @**Zoe**", "<ul>\n<li><span class=\"user-mention\" data-user-id=\"7\">@Zoe</span></li>\n</ul>"),
        (
            "> @**Zoe** @*support*",
            "<blockquote>\n<p><span class=\"user-mention silent\" data-user-id=\"7\">Zoe</span> <span class=\"user-group-mention silent\" data-user-group-id=\"17\">support</span></p>\n</blockquote>",
        ),
        (
            "```spoiler @**Zoe**\n@**|8**\n```",
            "<div class=\"spoiler-block\"><div class=\"spoiler-header\">\n<p><span class=\"user-mention\" data-user-id=\"7\">@Zoe</span></p>\n</div><div class=\"spoiler-content\" aria-hidden=\"true\">\n<p><span class=\"user-mention\" data-user-id=\"8\">@King Hamlet</span></p>\n</div></div>",
        ),
        ("**@**Zoe****", "<p><strong>@</strong>Zoe****</p>"),
        ("~~@**Zoe**~~", "<p><del>@<strong>Zoe</strong></del></p>"),
        ("@****", "<p>@****</p>"),
        ("@**|9**", r#"<p><span class="user-mention silent" data-user-id="9">Gone &lt;b&gt;</span></p>"#),
    ]);
}

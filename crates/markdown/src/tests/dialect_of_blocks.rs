//! Rules of the dialect for blocks, with positive and negative examples.

use super::assert_rendered;

/// A list nests by two spaces, may hang off a line of text, and parts from a list of the other kind.
// conformance: md-8, md-9
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

/// A quote continues without its mark, nests, and ends with an empty line.
// conformance: md-11
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
// conformance: md-7
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

/// A fence closes with the marks that opened it, or never. After an empty line, four spaces start a code block.
// conformance: md-12, md-13
#[test]
fn code_blocks_are_fenced_or_indented() {
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

/// The content of a fenced quote or spoiler is parsed like a message, including further fences.
// conformance: md-14
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

/// One to six marks and a space start a heading, anywhere in a paragraph.
// conformance: md-19
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

/// Three `-`, `*` or `_` are a thematic break, with up to two spaces between them.
// conformance: md-20
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

/// A table needs a line of dashes with as many cells as its header.
// conformance: md-21
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

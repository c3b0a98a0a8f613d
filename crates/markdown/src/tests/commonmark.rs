//! Why most constructs of the `markdown` crate are off: for each there is a text that CommonMark or GFM reads otherwise than
//! the dialect. `leaf_blocks` has the others.

use markdown::{Options, to_html_with_options};

use super::{NoDirectory, render};

/// A construct, a text, and the HTML of the text by the crate and by the dialect.
const DIFFERENCES: &[[&str; 4]] = &[
    ["attention", "好**“x”**好", "<p>好**“x”**好</p>", "<p>好<strong>“x”</strong>好</p>"],
    ["attention", "** a **", "<p>** a **</p>", "<p><strong> a </strong></p>"],
    [
        "autolink",
        "<http://a.com>",
        "<p><a href=\"http://a.com\">http://a.com</a></p>",
        "<p>&lt;<a href=\"http://a.com\">http://a.com</a>&gt;</p>",
    ],
    [
        "block quote",
        "* a\n> b",
        "<ul>\n<li>a</li>\n</ul>\n<blockquote>\n<p>b</p>\n</blockquote>",
        "<ul>\n<li>a<blockquote>\n<p>b</p>\n</blockquote>\n</li>\n</ul>",
    ],
    ["block quote", ">", "<blockquote>\n</blockquote>", "<p>&gt;</p>"],
    ["character escape", "\\*a\\*", "<p>*a*</p>", "<p>\\<em>a\\</em></p>"],
    ["character reference", "&T;", "<p>&amp;T;</p>", "<p>&T;</p>"],
    [
        "code (fenced)",
        "```\na\n  ```\nb\n```",
        "<pre><code>a\n</code></pre>\n<p>b</p>\n<pre><code></code></pre>\n",
        "<div class=\"codehilite\"><pre><span></span><code>a\n  ```\nb\n</code></pre></div>",
    ],
    ["code (text)", "``a`", "<p>``a`</p>", "<p><code>`a</code></p>"],
    ["definition", "[a]: b", "", "<p>[a]: b</p>"],
    ["footnote", "[^1]: b", "", "<p>[^1]: b</p>"],
    ["hard break", "a  \nb", "<p>a<br />\nb</p>", "<p>a  <br>\nb</p>"],
    ["heading (setext)", "a\n---", "<h2>a</h2>", "<p>a</p>\n<hr>"],
    ["html", "<div>\n*a*", "&lt;div&gt;\n*a*", "<p>&lt;div&gt;<br>\n<em>a</em></p>"],
    ["label", "[a](/b c)", "<p>[a](/b c)</p>", "<p><a href=\"/b%20c\">a</a></p>"],
    ["label", "[*a*](/b)", "<p><a href=\"/b\"><em>a</em></a></p>", "<p><a href=\"/b\">*a*</a></p>"],
    [
        "list item",
        "* a\n    * b",
        "<ul>\n<li>a\n<ul>\n<li>b</li>\n</ul>\n</li>\n</ul>",
        "<ul>\n<li>a<br>\n    * b</li>\n</ul>",
    ],
    [
        "literal autolink",
        "http://a.com?b",
        "<p><a href=\"http://a.com?b\">http://a.com?b</a></p>",
        "<p>http://a.com?b</p>",
    ],
    ["strikethrough", "~~ a ~~", "<p>~~ a ~~</p>", "<p><del> a </del></p>"],
    [
        "table",
        "`a|b`|c\n-|-",
        "<p><code>a|b</code>|c\n-|-</p>",
        "<table>\n<thead>\n<tr>\n<th><code>a|b</code></th>\n<th>c</th>\n</tr>\n</thead>\n<tbody>\n<tr>\n<td></td>\n<td></td>\n</tr>\n</tbody>\n</table>",
    ],
    [
        "task list",
        "* [ ] a",
        "<ul>\n<li><input type=\"checkbox\" disabled=\"\" /> a</li>\n</ul>",
        "<ul>\n<li>[ ] a</li>\n</ul>",
    ],
];

#[test]
fn the_dialect_differs_from_commonmark() {
    for [construct, text, gfm, dialect] in DIFFERENCES {
        assert_eq!(to_html_with_options(text, &Options::gfm()).as_deref(), Ok(*gfm), "{construct}");
        assert_eq!(render(text, &NoDirectory).html, *dialect, "{construct}");
    }
}

//! Rules of the dialect within a line, with positive and negative examples.

use super::assert_rendered;

/// A backslash is text. Only before a backtick it keeps code from starting, and two are one.
// conformance: md-25
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
// conformance: md-24
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

/// Stars pair within a line, in any context; `_` is text.
// conformance: md-22
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

/// Two tildes on both sides strike the text in between, unless there is another tilde.
// conformance: md-23
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
// conformance: md-28, md-32
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
// conformance: md-31
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
// conformance: md-26
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

/// A mention follows a space or an opening mark, and names an existing user.
// conformance: md-37, md-39, md-40, md-42
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

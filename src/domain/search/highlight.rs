//! Highlighting the words of a search in HTML: in its text, never in its tags.

use crate::domain::search::query::SearchQuery;
use crate::domain::search::text::{Atom, Token};
use crate::domain::search::{emoji, text};

const BEFORE: &str = "<span class=\"highlight\">";

const AFTER: &str = "</span>";

/// Highlights a search in HTML.
pub fn in_html(html: &str, query: &SearchQuery) -> String {
    let (mut words, mut emoji) = (Vec::new(), Vec::new());
    for (start, end) in texts(html) {
        let text = &html[start..end];
        words.extend(text::tokens(text).into_iter().map(|token| Token {
            start: token.start + start,
            end: token.end + start,
            ..token
        }));
        emoji.extend(emoji::find(text).into_iter().map(|found| Token {
            start: found.start + start,
            end: found.end + start,
            atom: Atom::Emoji(found.emoji.code),
        }));
    }
    mark(html, [&words, &emoji], query)
}

/// Highlights a search in plain text, as HTML.
pub fn in_text(plain: &str, query: &SearchQuery) -> String {
    in_html(&escape(plain), query)
}

/// Escapes a text as HTML.
pub fn escape(text: &str) -> String {
    let mut html = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '"' => html.push_str("&quot;"),
            '\'' => html.push_str("&#x27;"),
            other => html.push(other),
        }
    }
    html
}

/// The ranges of text between tags and entities, in bytes.
fn texts(html: &str) -> Vec<(usize, usize)> {
    let bytes = html.as_bytes();
    let mut texts = Vec::new();
    let (mut start, mut index) = (0, 0);
    while index < bytes.len() {
        let end = match bytes[index] {
            b'<' => end_of_tag(bytes, index),
            b'&' => end_of_entity(bytes, index),
            _ => None,
        };
        match end {
            Some(end) => {
                if start < index {
                    texts.push((start, index));
                }
                (start, index) = (end, end);
            }
            None => index += 1,
        }
    }
    if start < bytes.len() {
        texts.push((start, bytes.len()));
    }
    texts
}

/// The byte after a tag. Quoted values may contain anything.
fn end_of_tag(bytes: &[u8], start: usize) -> Option<usize> {
    let mut quote = None;
    for (index, byte) in bytes.iter().enumerate().skip(start) {
        match (quote, byte) {
            (None, b'>') => return Some(index + 1),
            (None, b'"' | b'\'') => quote = Some(byte),
            (Some(open), byte) if open == byte => quote = None,
            _ => {}
        }
    }
    // There is no text after a tag that does not end.
    Some(bytes.len())
}

/// The byte after an entity; `None` if it is none.
fn end_of_entity(bytes: &[u8], start: usize) -> Option<usize> {
    const LONGEST: usize = 12;
    let rest = bytes.get(start + 1..)?;
    let name =
        rest.iter().take(LONGEST).take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'#').count();
    (name > 0 && rest.get(name) == Some(&b';')).then_some(start + name + 2)
}

fn mark(html: &str, lists: [&[Token]; 2], query: &SearchQuery) -> String {
    let mut tokens = Vec::new();
    for list in lists {
        tokens.extend(found_in(list, query));
    }
    tokens.sort_by_key(|token| token.start);
    let mut marked = String::with_capacity(html.len() + 64);
    let mut copied = 0;
    let mut found = tokens.into_iter().peekable();
    while let Some(first) = found.next() {
        // The name of an emoji is a word in it.
        if first.start < copied {
            continue;
        }
        // Characters of one run get one mark.
        let mut end = first.end;
        while let Some(next) =
            found.next_if(|next| next.start == end && matches!(next.atom, Atom::Character(_)))
        {
            end = next.end;
        }
        marked.push_str(&html[copied..first.start]);
        marked.push_str(BEFORE);
        marked.push_str(&html[first.start..end]);
        marked.push_str(AFTER);
        copied = end;
    }
    marked.push_str(&html[copied..]);
    marked
}

/// The tokens that match a query, in order.
fn found_in<'t>(tokens: &'t [Token], query: &SearchQuery) -> impl Iterator<Item = &'t Token> {
    let mut is_found = vec![false; tokens.len()];
    for phrase in query.phrases() {
        for (start, window) in tokens.windows(phrase.length()).enumerate() {
            if phrase.matches(window) {
                is_found[start..start + window.len()].fill(true);
            }
        }
    }
    tokens.iter().zip(is_found).filter(|(_, is_found)| *is_found).map(|(token, _)| token)
}

#[cfg(test)]
mod tests {
    use crate::domain::search::highlight::*;
    use crate::store::Database;

    fn marked(typed: &str, html: &str) -> String {
        let folder = tempfile::tempdir().unwrap();
        let database = Database::open(&folder.path().join("search.sqlite")).unwrap();
        let connection = database.connect_writer().unwrap();
        let query = SearchQuery::new(&connection, typed).unwrap();
        in_html(html, &query).replace(BEFORE, "[").replace(AFTER, "]")
    }

    // conformance: fetch-89
    #[test]
    fn only_text_is_marked() {
        let cases = [
            ("run", "<p>He runs, running.</p>", "<p>He [runs], [running].</p>"),
            ("class", "<p class=\"class\">class</p>", "<p class=\"class\">[class]</p>"),
            ("a", "<a title=\"> a\" href='a'>a</a>", "<a title=\"> a\" href='a'>[a]</a>"),
            ("amp", "<p>a &amp; amp &#39;</p>", "<p>a &amp; [amp] &#39;</p>"),
            ("\"big cat\"", "<p>big <b>cat</b>, cat, big</p>", "<p>[big] <b>[cat]</b>, cat, big</p>"),
            ("caf", "<p>Cafés, decaf</p>", "<p>[Cafés], decaf</p>"),
            ("京都", "<p>東京都。京 都</p>", "<p>東[京都]。京 都</p>"),
            ("🎉 x", "<p>🎉 :tada: tada</p>", "<p>[🎉] [:tada:] tada</p>"),
            ("tada :tada:", "<p>:tada:, tada</p>", "<p>[:tada:], [tada]</p>"),
            ("tada", "<p title=\":tada:\">:tada:</p>", "<p title=\":tada:\">:[tada]:</p>"),
            ("nothing", "<p>unclosed <a title=\"nothing", "<p>unclosed <a title=\"nothing"),
            ("& <", "<p>& < a</p>", "<p>& < a</p>"),
        ];
        for (typed, html, expected) in cases {
            assert_eq!(marked(typed, html), expected, "{typed}");
        }
    }
}

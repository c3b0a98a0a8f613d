//! Search queries: parsing the user's text into phrases and an FTS5 expression.

use crate::domain::search::stem::stem;
use crate::domain::search::text::{Atom, Token, index_text};
use crate::domain::search::{emoji, text};
use crate::error::ApiResult;
use rusqlite::Connection;

/// The most words and characters of a query that count. Each costs an index lookup.
const MAX_ATOMS: usize = 32;

/// The most stems that a prefix is completed to, if each is searched for.
const FEW_COMPLETIONS: usize = 32;

/// The most stems that a prefix is completed to, if the index cannot be searched for the prefix itself.
const MAX_COMPLETIONS: usize = 256;

/// The length of the shortest prefix that is completed, in characters.
const MIN_PREFIX: usize = 3;

/// A search query. Messages must match all its phrases.
#[derive(Clone, Debug)]
pub struct SearchQuery {
    phrases: Vec<Phrase>,
    /// For FTS5; empty if nothing can match.
    expression: String,
}

/// Words and characters that must follow one another: a quoted phrase, or a word.
#[derive(Clone, Debug)]
pub struct Phrase {
    /// The tokens of `text`; never empty.
    tokens: Vec<Token>,
    /// True if the last word may be a prefix: it ends the query and may be incomplete.
    is_prefix: bool,
    text: String,
}

impl SearchQuery {
    /// Parses a query: quoted phrases, and words.
    pub fn new(connection: &Connection, operand: &str) -> ApiResult<Self> {
        let phrases = phrases(operand);
        let mut parts = Vec::with_capacity(phrases.len());
        for phrase in &phrases {
            // A repetition would change nothing and cost as much again.
            let part = expression(connection, phrase)?;
            if !parts.contains(&part) {
                parts.push(part);
            }
        }
        Ok(Self { phrases, expression: parts.join(" AND ") })
    }

    /// The FTS5 expression; empty if the query has no words, which matches nothing.
    pub fn expression(&self) -> &str {
        &self.expression
    }

    /// The phrases, each of one or more words; all must match. They mark words in results.
    pub fn phrases(&self) -> &[Phrase] {
        &self.phrases
    }
}

impl Phrase {
    /// The number of words and characters.
    pub fn length(&self) -> usize {
        self.tokens.len()
    }

    /// True if as many tokens of a text as the phrase has match it. Characters that are adjacent in the phrase must be
    /// adjacent in the text.
    pub fn matches(&self, found: &[Token]) -> bool {
        let last = self.tokens.len() - 1;
        let is_joined =
            |tokens: &[Token], index: usize| index > 0 && tokens[index - 1].end == tokens[index].start;
        found.iter().zip(&self.tokens).enumerate().all(|(index, (token, wanted))| {
            match (&token.atom, &wanted.atom) {
                (Atom::Character(character), Atom::Character(wanted)) => {
                    character == wanted && is_joined(found, index) >= is_joined(&self.tokens, index)
                }
                (Atom::Word { folded, stem }, Atom::Word { folded: wanted, stem: wanted_stem }) => {
                    let goes_on = self.is_prefix && index == last && folded.starts_with(wanted.as_str());
                    stem == wanted_stem || goes_on
                }
                (Atom::Emoji(code), Atom::Emoji(wanted)) => code == wanted,
                _ => false,
            }
        })
    }

    /// An emoji, however it is written.
    fn emoji(code: &'static str) -> Self {
        let token = Token { start: 0, end: 0, atom: Atom::Emoji(code) };
        Self { tokens: vec![token], is_prefix: false, text: emoji::word(code) }
    }

    /// The words of a text; `None` if it has none.
    fn of(text: &str, most_atoms: usize) -> Option<Self> {
        // A quote would end the FTS5 string, and NUL the expression.
        let text: String = text.chars().map(|c| if c == '"' || c.is_control() { ' ' } else { c }).collect();
        let text = without_runs(&text);
        let mut tokens = text::tokens(&text);
        tokens.truncate(most_atoms);
        let text = text[..tokens.last()?.end].to_owned();
        Some(Self { tokens, is_prefix: false, text })
    }
}

/// The text with at most two of the same word in a row. The index walks all positions of a word for each time that a phrase
/// has it, which takes a third of a second for a common one that is repeated a thousand times.
fn without_runs(text: &str) -> String {
    let tokens = text::tokens(text);
    let mut kept = String::with_capacity(text.len());
    let mut rest = 0;
    for run in tokens.windows(3) {
        if let [Atom::Word { stem, .. }, Atom::Word { stem: second, .. }, Atom::Word { stem: third, .. }] =
            [&run[0].atom, &run[1].atom, &run[2].atom]
            && stem == second
            && stem == third
        {
            kept.push_str(&text[rest..run[1].end.max(rest)]);
            rest = run[2].end;
        }
    }
    kept + &text[rest..]
}

fn phrases(operand: &str) -> Vec<Phrase> {
    let mut phrases: Vec<Phrase> = Vec::new();
    let mut atoms_left = MAX_ATOMS;
    let mut is_last_quoted = false;
    for (text, is_quoted) in parts(operand) {
        // In a phrase an emoji is one of its words. By itself it is one however it is written.
        let found = if is_quoted { Vec::new() } else { emoji::find(text) };
        let text = if is_quoted { emoji::with_names(text) } else { text.into() };
        let mut rest = 0;
        let ends = found.iter().map(|one| (one.start, one.end, Some(one.emoji.code)));
        for (start, end, code) in ends.chain([(text.len(), text.len(), None)]) {
            let words = Phrase::of(&text[rest..start], atoms_left);
            rest = end;
            for phrase in words.into_iter().chain(code.map(Phrase::emoji)) {
                if let Some(left) = atoms_left.checked_sub(phrase.length()) {
                    atoms_left = left;
                    phrases.push(phrase);
                    is_last_quoted = is_quoted;
                }
            }
        }
    }
    if let Some(last) = phrases.last_mut()
        && let [Token { atom: Atom::Word { folded, .. }, .. }] = last.tokens.as_slice()
    {
        last.is_prefix = !is_last_quoted && folded.chars().count() >= MIN_PREFIX;
    }
    phrases
}

/// Quoted phrases and words, each with whether it was quoted. A quote without its closing quote is part of a word.
fn parts(operand: &str) -> Vec<(&str, bool)> {
    let mut parts = Vec::new();
    let mut rest = operand.trim_start();
    while !rest.is_empty() {
        let quoted = rest.strip_prefix('"').and_then(|inner| inner.split_once('"'));
        let after = match quoted.filter(|(inner, _)| !inner.is_empty()) {
            Some((inner, after)) => {
                parts.push((inner, true));
                after
            }
            None => {
                let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
                parts.push((&rest[..end], false));
                &rest[end..]
            }
        };
        rest = after.trim_start();
    }
    parts
}

/// A phrase for FTS5.
fn expression(connection: &Connection, phrase: &Phrase) -> ApiResult<String> {
    if let [Token { atom: Atom::Emoji(_), .. }] = phrase.tokens.as_slice() {
        return Ok(format!("\"{}\"", phrase.text));
    }
    let indexed = index_text(&phrase.text);
    let mut words = indexed.trim_end();
    let mut star = "";
    if let Some(Token { atom: Atom::Character(last), start, .. }) = phrase.tokens.last() {
        // The last character forms a pair with the next one in the message. After another character its pair with that
        // is enough; alone it is the beginning of a pair.
        let before = phrase.text[..*start].chars().next_back();
        if before.is_some_and(text::is_unspaced) {
            words = words.strip_suffix(*last).unwrap_or(words).trim_end();
        } else {
            star = " *";
        }
    }
    let exact = format!("\"{words}\"{star}");
    if !phrase.is_prefix {
        return Ok(exact);
    }
    let Some(Token { atom: Atom::Word { folded, .. }, .. }) = phrase.tokens.last() else { return Ok(exact) };
    Ok(format!("({})", completions(connection, folded, exact)?.join(" OR ")))
}

/// The completions of a prefix as FTS5 phrases: itself as a word, and the words that begin with it.
fn completions(connection: &Connection, beginning: &str, exact: String) -> ApiResult<Vec<String>> {
    let mut choices = vec![exact];
    let few = stems(connection, beginning, false, FEW_COMPLETIONS + 1)?;
    let stems = if few.len() <= FEW_COMPLETIONS {
        few
    } else if stem(beginning) == beginning {
        // One prefix search for all stems with the same beginning. Words whose stem is shorter are listed.
        choices.push(format!("\"{beginning}\" *"));
        stems(connection, beginning, true, MAX_COMPLETIONS)?
    } else {
        // The index would stem the prefix, and find words with the prefix of that stem.
        stems(connection, beginning, false, MAX_COMPLETIONS)?
    };
    choices.extend(stems.into_iter().map(|stem| format!("\"{stem}\"")));
    Ok(choices)
}

/// Stems of all words that begin with a prefix; with `odd`, only stems that do not begin with it.
fn stems(connection: &Connection, beginning: &str, odd: bool, limit: usize) -> ApiResult<Vec<String>> {
    let end = format!("{beginning}{}", char::MAX);
    let mut statement = connection.prepare_cached(
        "SELECT DISTINCT stem FROM search_word
         WHERE word >= ?1 AND word < ?2 AND (?3 = 0 OR stem < ?1 OR stem >= ?2) LIMIT ?4",
    )?;
    let rows = statement.query_map((beginning, end, odd, limit as i64), |row| row.get(0))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

#[cfg(test)]
mod tests {
    use crate::domain::search::index::{Entry, KnownWords, put};
    use crate::domain::search::query::*;
    use crate::store::Database;
    use crate::types::MessageId;
    use tempfile::TempDir;

    /// A new file with messages of these contents, numbered from 1.
    fn index(texts: &[&str]) -> (TempDir, Connection) {
        let folder = tempfile::tempdir().unwrap();
        let database = Database::open(&folder.path().join("search.sqlite")).unwrap();
        let connection = database.connect_writer().unwrap();
        let mut known = KnownWords::default();
        for (id, text) in (1..).zip(texts) {
            put(&connection, &mut known, MessageId(id), (text, ""), Entry::New).unwrap();
        }
        (folder, connection)
    }

    /// The numbers of the messages that a query finds, ascending.
    fn found(connection: &Connection, query: &SearchQuery) -> Vec<i64> {
        let mut statement = connection
            .prepare("SELECT rowid FROM message_search WHERE message_search MATCH ?1 ORDER BY rowid")
            .unwrap();
        let rows = statement.query_map([query.expression()], |row| row.get::<_, i64>(0)).unwrap();
        rows.map(Result::unwrap).collect()
    }

    /// True if a text matches all of a query, as determined by its highlights.
    fn is_in(query: &SearchQuery, text: &str) -> bool {
        let tokens = text::tokens(text);
        query
            .phrases()
            .iter()
            .all(|phrase| tokens.windows(phrase.length()).any(|window| phrase.matches(window)))
    }

    #[test]
    fn words_and_phrases_are_distinguished() {
        assert_eq!(
            parts(" one \"two three\"four \"\" \"open end"),
            [
                ("one", false),
                ("two three", true),
                ("four", false),
                ("\"\"", false),
                ("\"open", false),
                ("end", false)
            ]
        );
    }

    // conformance: fetch-88
    #[test]
    fn user_input_is_never_query_syntax() {
        let (_folder, connection) = index(&[]);
        let long = "word ".repeat(5000);
        let typed = [
            "AND",
            "OR NOT",
            "NEAR(a b)",
            "a*",
            "^a",
            "content:a",
            "a\"b",
            "\"",
            "\"\"\"",
            "(",
            ")",
            "{a}",
            "+",
            "a + b",
            "-a",
            "a\0b",
            "\u{1}",
            "東",
            "\"東\"",
            "a東",
            "'; DROP TABLE message;--",
            "\\",
            "👍",
            &long,
        ];
        for text in typed {
            let query = SearchQuery::new(&connection, text).unwrap();
            if query.expression().is_empty() {
                assert!(!text.contains(char::is_alphanumeric), "{text:?}");
                continue;
            }
            assert_eq!(found(&connection, &query), [0_i64; 0], "{text:?} as {:?}", query.expression());
        }
    }

    #[test]
    fn repetitions_are_searched_for_at_most_twice() {
        let texts = ["no no", "no no no no way", "no way", "no"];
        let (_folder, connection) = index(&texts);
        let cases: [(&str, &[i64]); 5] = [
            ("\"no no no no\"", &[1, 2]),
            ("\"no No no, no way\"", &[2]),
            ("\"way no no no\"", &[]),
            ("no no no no", &[1, 2, 3, 4]),
            ("\"no way\" \"no way\"", &[2, 3]),
        ];
        for (typed, expected) in cases {
            let query = SearchQuery::new(&connection, typed).unwrap();
            assert_eq!(found(&connection, &query), expected, "{typed:?} as {:?}", query.expression());
            let words = query.expression().matches("no").count();
            assert!(words <= 2, "{:?}", query.expression());
        }
    }

    // conformance: fetch-86
    #[test]
    fn the_index_and_a_look_at_the_text_agree() {
        let texts = [
            "The runners were running in Tōkyō",
            "東京都に住んでいます",
            "ผมชอบกินข้าว",
            "run-time errors; state-of-the-art",
            "हिन्दी में लिखा",
            "東 alone, and 手机 in iPhone手机v2",
        ];
        let (_folder, connection) = index(&texts);
        let cases: [(&str, &[i64]); 18] = [
            ("run", &[1, 4]),
            ("runs", &[1, 4]),
            ("tokyo", &[1]),
            ("TŌKYŌ", &[1]),
            ("\"were running\"", &[1]),
            ("\"running were\"", &[]),
            ("running were", &[1]),
            ("tok", &[1]),
            ("\"tok\"", &[]),
            ("京都", &[2]),
            ("東", &[2, 6]),
            ("都", &[2]),
            ("住んで", &[2]),
            ("京住", &[]),
            ("ข้าว", &[3]),
            ("लिखा", &[5]),
            ("iPhone手机v2", &[6]),
            ("手机 alone", &[6]),
        ];
        for (typed, expected) in cases {
            let query = SearchQuery::new(&connection, typed).unwrap();
            assert_eq!(found(&connection, &query), expected, "{typed:?} as {:?}", query.expression());
            let seen: Vec<i64> =
                (1..).zip(texts).filter(|(_, text)| is_in(&query, text)).map(|(id, _)| id).collect();
            assert_eq!(seen, expected, "{typed:?}, looked at");
        }
    }

    #[test]
    fn a_beginning_finds_words_that_lose_it_to_their_stem() {
        let texts = ["an organization", "organs", "resolve", "all the rest"];
        let (_folder, connection) = index(&texts);
        let cases: [(&str, &[i64]); 5] =
            [("organizat", &[1, 2]), ("orga", &[1, 2]), ("res", &[3, 4]), ("resto", &[]), ("al", &[])];
        for (typed, expected) in cases {
            let query = SearchQuery::new(&connection, typed).unwrap();
            assert_eq!(found(&connection, &query), expected, "{typed}");
        }
    }

    // conformance: fetch-84
    #[test]
    fn a_beginning_of_many_words_finds_them_all() {
        let words: Vec<String> = (0..300).map(|number| format!("con{number:03}x")).collect();
        let others: Vec<String> = (0..100).map(|number| format!("res{number:03}x")).collect();
        let all = format!("{} conn", words.join(" "));
        let mut texts: Vec<&str> = words.iter().chain(&others).map(String::as_str).collect();
        texts.extend(["cones", "copper", "rex", &all]);
        let (_folder, connection) = index(&texts);
        let query = SearchQuery::new(&connection, "con").unwrap();
        let cons: Vec<i64> = (1..=300).chain([401, 404]).collect();
        assert_eq!(found(&connection, &query), cons);
        // "res" has the stem "re", which begins other words.
        let query = SearchQuery::new(&connection, "res").unwrap();
        assert_eq!(found(&connection, &query), (301..=400).collect::<Vec<i64>>());
    }
}

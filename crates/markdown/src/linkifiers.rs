//! Linkifiers: the organization's patterns that become links, in messages and in topics.

use regex::{Regex, RegexBuilder, RegexSetBuilder};
use serde::{Deserialize, Serialize};
use uritemplate::{TemplateVar, UriTemplate};

use super::{autolinks, url::SafeUrl};

/// Limit of the memory of a compiled pattern, in bytes, and of all patterns together.
const COMPILED_SIZE_LIMIT: usize = 256 << 10;
const COMPILED_SIZE_LIMIT_OF_ALL: usize = 32 << 20;

/// The number of patterns that are never too large together.
pub const ALWAYS_FIT: usize = COMPILED_SIZE_LIMIT_OF_ALL / COMPILED_SIZE_LIMIT;

/// The same for a pattern times its groups: a search may take memory for each group in each of the pattern's states.
const COMPILED_SIZE_TIMES_GROUPS: usize = 2 << 20;

/// Limit of the memory in which each thread caches the states of all patterns, in bytes, and of one. Searches are slower with
/// less.
const CACHE_SIZE_OF_ALL: usize = 16 << 20;
const MAX_CACHE_SIZE: usize = 2 << 20;

/// A pattern and the URL template of its matches.
#[derive(Clone, Debug)]
pub struct Linkifier {
    pattern: Regex,
    group_names: Vec<String>,
    url_template: String,
}

/// An error of a linkifier, in the published words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LinkifierError {
    /// Also for look-around and back-references, which cannot be matched in linear time.
    #[error("Bad regular expression: {0}")]
    BadPattern(String),
    /// Not RFC 6570.
    #[error("Invalid URL template.")]
    BadTemplate,
    /// The template uses a name that no group of the pattern has.
    #[error("Group '{0}' in URL template is not present in linkifier pattern.")]
    GroupNotInPattern(String),
    /// The pattern has a group that the template does not use.
    #[error("Group '{0}' in linkifier pattern is not present in URL template.")]
    GroupNotInTemplate(String),
}

/// The name of the group around the whole match. No template can use it: it is not a name in RFC 6570.
const MATCH: &str = "linkifier[match]";

/// A link in a topic, which a linkifier made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TopicLink {
    /// The part of the topic that is the link.
    pub text: String,
    /// The URL that the link opens.
    pub url: String,
}

/// A part of a text that a linkifier makes a link, and the target.
#[derive(Debug, PartialEq, Eq)]
pub struct LinkifierMatch {
    /// The part of the text, in bytes.
    pub range: std::ops::Range<usize>,
    pub url: SafeUrl,
}

impl Linkifier {
    /// Compiles a pattern (a regular expression with named groups) and its RFC 6570 template.
    pub fn compile(pattern: &str, url_template: &str) -> Result<Self, LinkifierError> {
        Self::compile_among(1, pattern, url_template)
    }

    /// The same for one of `count` linkifiers, which share the memory for caches.
    pub fn compile_among(count: usize, pattern: &str, url_template: &str) -> Result<Self, LinkifierError> {
        let cache_size = (CACHE_SIZE_OF_ALL / count.max(1)).min(MAX_CACHE_SIZE);
        // Compiled alone first: below, a stray parenthesis could close the group around the pattern.
        let own = build(pattern, COMPILED_SIZE_LIMIT, cache_size)?;
        let group_names: Vec<String> = own.capture_names().flatten().map(str::to_owned).collect();
        let variables = url_template_variables(url_template).ok_or(LinkifierError::BadTemplate)?;
        // Of several names, the error has the alphabetically first.
        if let Some(variable) = variables.iter().filter(|variable| !group_names.contains(variable)).min() {
            return Err(LinkifierError::GroupNotInPattern(variable.clone()));
        }
        if let Some(group) = group_names.iter().filter(|group| !variables.contains(group)).min() {
            return Err(LinkifierError::GroupNotInTemplate(group.clone()));
        }
        let size_limit = COMPILED_SIZE_LIMIT.min(COMPILED_SIZE_TIMES_GROUPS / (own.captures_len() + 1));
        let pattern = build(&bounded(pattern), size_limit, cache_size)?;
        Ok(Self { pattern, group_names, url_template: url_template.to_owned() })
    }

    /// Checks whether there may be a match.
    pub fn is_match(&self, text: &str) -> bool {
        self.pattern.is_match(text)
    }

    /// Finds the first match at or after a position, in bytes. One whose URL is not safe is skipped. `plain` returns the
    /// visible text of a part of the source, for the values in the URL.
    pub fn find_at(
        &self,
        text: &str,
        start: usize,
        plain: impl Fn(&str) -> String,
    ) -> Option<LinkifierMatch> {
        let mut from = start;
        while from <= text.len() {
            let captures = self.pattern.captures_at(text, from)?;
            let matched = captures.name(MATCH)?;
            let mut template = UriTemplate::new(&self.url_template);
            for name in &self.group_names {
                if let Some(group) = captures.name(name) {
                    template.set(name, TemplateVar::Scalar(plain(group.as_str())));
                }
            }
            if !matched.is_empty()
                && let Some(url) = SafeUrl::from_text(&template.build())
            {
                return Some(LinkifierMatch { range: matched.range(), url });
            }
            from = matched.end() + text[matched.end()..].chars().next().map_or(1, char::len_utf8);
        }
        None
    }
}

/// Checks that compiled patterns are not too large together. With more than [`ALWAYS_FIT`] it compiles all of them.
pub fn fit_together(patterns: &[&str]) -> bool {
    patterns.len() <= ALWAYS_FIT || {
        let patterns = patterns.iter().map(|pattern| bounded(pattern));
        let compiled = RegexSetBuilder::new(patterns).size_limit(COMPILED_SIZE_LIMIT_OF_ALL).build();
        !matches!(compiled, Err(regex::Error::CompiledTooBig(_)))
    }
}

/// A pattern with the conditions of a match, which starts behind a space or an opening mark, and ends before anything but a
/// letter or a digit.
fn bounded(pattern: &str) -> String {
    format!(r#"(?:^|\s|\u{{85}}|\pZ|['"(,:<])(?P<{MATCH}>(?:{pattern}))(?:$|\s|\u{{85}}|\pZ|[^\pL\pM\pN])"#)
}

fn build(pattern: &str, size_limit: usize, cache_size: usize) -> Result<Regex, LinkifierError> {
    let bad = |error: regex::Error| LinkifierError::BadPattern(error_message(pattern, &error.to_string()));
    RegexBuilder::new(pattern).size_limit(size_limit).dfa_size_limit(cache_size).build().map_err(bad)
}

/// Translates an error of the `regex` crate to the words of the published server's engine, where it has some. The last line is
/// the reason; in a line before it, `^` marks the position.
fn error_message(pattern: &str, error: &str) -> String {
    let reason = error.lines().last().unwrap_or_default();
    let reason = reason.strip_prefix("error: ").unwrap_or(reason);
    let place = error.lines().find_map(|line| {
        let marks = line.trim_start();
        let is_marks = !marks.is_empty() && marks.bytes().all(|byte| byte == b'^');
        // The pattern is indented by four spaces.
        is_marks
            .then(|| pattern.chars().skip(line.len() - marks.len() - 4).take(marks.len()).collect::<String>())
    });
    let place = place.unwrap_or_default();
    match reason {
        "unclosed group" => format!("missing ): {pattern}"),
        "unopened group" => format!("unexpected ): {pattern}"),
        "unclosed character class" => format!("missing ]: {pattern}"),
        "repetition operator missing expression" => format!("no argument for repetition operator: {place}"),
        "backreferences are not supported" | "unrecognized escape sequence" => {
            format!("invalid escape sequence: {place}")
        }
        _ if reason.starts_with("look-around") => format!("invalid perl operator: {place}"),
        _ if reason.starts_with("invalid character class range") => {
            format!("invalid character class range: {place}")
        }
        _ if reason.starts_with("Compiled regex exceeds size limit") => {
            "pattern too large - compile failed".to_owned()
        }
        _ => reason.to_owned(),
    }
}

/// True if the URLs of a template have a harmless scheme for all values of its variables: the text before the first
/// variable has the scheme, or a character that schemes cannot contain.
pub fn has_harmless_scheme(template: &str) -> bool {
    let fixed = template.split('{').next().unwrap_or_default();
    fixed.contains([':', '/', '#', '?']) && SafeUrl::from_text(&format!("{fixed}x")).is_some()
}

/// Returns the variables of an RFC 6570 template; `None` if it is malformed.
pub fn url_template_variables(template: &str) -> Option<Vec<String>> {
    let mut variables = Vec::new();
    let mut rest = template;
    while let Some(start) = rest.find(['{', '}']) {
        let expression = rest[start..].strip_prefix('{')?;
        let (expression, after) = expression.split_once('}')?;
        rest = after;
        let names = expression.strip_prefix(['+', '#', '.', '/', ';', '?', '&']).unwrap_or(expression);
        for name in names.split(',') {
            let name = match name.split_once(':') {
                Some((name, length)) => {
                    let digits =
                        (1..=4).contains(&length.len()) && length.bytes().all(|byte| byte.is_ascii_digit());
                    (digits && !length.starts_with('0')).then_some(name)?
                }
                None => name.strip_suffix('*').unwrap_or(name),
            };
            let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '%');
            if name.is_empty() || !name.chars().all(is_name) {
                return None;
            }
            variables.push(name.to_owned());
        }
    }
    Some(variables)
}

/// Returns the links of a topic: matches of linkifiers and autolinks, in order. Where they overlap, the first linkifier takes
/// precedence, and autolinks come last.
pub fn topic_links(topic: &str, linkifiers: &[Linkifier]) -> Vec<TopicLink> {
    let mut taken: Vec<(std::ops::Range<usize>, String)> = Vec::new();
    let mut take = |range: std::ops::Range<usize>, url: &SafeUrl| {
        if taken.iter().all(|(other, _)| range.end <= other.start || other.end <= range.start) {
            taken.push((range, url.as_str().to_owned()));
        }
    };
    for linkifier in linkifiers {
        let mut position = 0;
        while let Some(found) = linkifier.find_at(topic, position, str::to_owned) {
            position = found.range.end;
            take(found.range, &found.url);
        }
    }
    let mut position = 0;
    while let Some(range) = autolinks::find_at(topic, position) {
        position = range.end;
        let typed = &topic[range.clone()];
        // Unlike in messages, a URL without a scheme is `https`.
        let is_bare = !typed.contains("://") && !typed.contains(['@', ':']);
        let url = if is_bare { &format!("https://{typed}") } else { typed };
        if let Some(url) = SafeUrl::from_text(url) {
            take(range, &url);
        }
    }
    taken.sort_by_key(|(range, _)| range.start);
    taken.into_iter().map(|(range, url)| TopicLink { text: topic[range].to_owned(), url }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tickets() -> Linkifier {
        Linkifier::compile(r"#(?P<id>[0-9]+)", "https://tickets.example.com/{id}").unwrap()
    }

    fn links(topic: &str, linkifiers: &[Linkifier]) -> Vec<(String, String)> {
        topic_links(topic, linkifiers).into_iter().map(|link| (link.text, link.url)).collect()
    }

    fn pair(text: &str, url: &str) -> (String, String) {
        (text.to_owned(), url.to_owned())
    }

    // conformance: md-58
    #[test]
    fn matches_stand_free() {
        assert_eq!(
            links("#1 #2,#3 (#4) x#5 #6x", &[tickets()]),
            [1, 2, 3, 4].map(|id| pair(&format!("#{id}"), &format!("https://tickets.example.com/{id}")))
        );
    }

    // conformance: md-58
    #[test]
    fn linkifiers_check_adjacent_characters() {
        for (topic, is_link) in [
            ("#1", true),
            ("#1.", true),
            ("(#1)", true),
            ("'#1'", true),
            ("\"#1\"", true),
            ("<#1>", true),
            ("a,#1", true),
            ("a:#1!", true),
            ("\u{3000}#1\u{3000}", true),
            ("\u{a0}#1", true),
            ("#1-2", true),
            ("#1_", true),
            ("[#1]", false),
            ("*#1*", false),
            ("-#1", false),
            ("#1a", false),
            ("#1é", false),
            ("é#1", false),
            ("漢#1", false),
            ("#1漢", false),
            ("#1e\u{301}", false),
        ] {
            assert_eq!(links(topic, &[tickets()]).len(), usize::from(is_link), "{topic}");
        }
    }

    // conformance: md-59
    #[test]
    fn overlapping_and_adjacent_matches_go_by_the_order_of_the_linkifiers() {
        let special = Linkifier::compile("site#(?P<id>[0-9]+)", "https://special.example.com/{id}").unwrap();
        let general =
            Linkifier::compile("(?P<repo>[a-z-]+)#(?P<id>[0-9]+)", "https://e.example.com/{repo}/{id}")
                .unwrap();
        let to = |text: &str, path: &str| pair(text, &format!("https://{path}"));
        assert_eq!(
            links("site#1 other#2,site#3", &[special.clone(), general.clone()]),
            [
                to("site#1", "special.example.com/1"),
                to("other#2", "e.example.com/other/2"),
                to("site#3", "special.example.com/3"),
            ]
        );
        assert_eq!(links("site#1", &[general, special]), [to("site#1", "e.example.com/site/1")]);
        let wide = Linkifier::compile("see #(?P<id>[0-9]+)", "https://wide.example.com/{id}").unwrap();
        assert_eq!(
            links("see #1 #2", &[wide.clone(), tickets()]),
            [to("see #1", "wide.example.com/1"), to("#2", "tickets.example.com/2")]
        );
        assert_eq!(
            links("see #1 #2", &[tickets(), wide]),
            [to("#1", "tickets.example.com/1"), to("#2", "tickets.example.com/2")]
        );
    }

    // conformance: md-61
    #[test]
    fn addresses_in_topics_lead_out() {
        assert_eq!(
            links("see example.com/a, (http://example.org) or x@example.com", &[]),
            [
                pair("example.com/a", "https://example.com/a"),
                pair("http://example.org", "http://example.org"),
                pair("x@example.com", "mailto:x@example.com"),
            ]
        );
        assert_eq!(links("javascript://example.com readme.md", &[]), []);
    }

    // conformance: md-60
    #[test]
    fn values_are_encoded_as_the_template_says() {
        let search =
            Linkifier::compile(r"find:(?P<words>\S+)(?P<rest>!)?", "https://example.com/{?words,rest}")
                .unwrap();
        assert_eq!(
            links("find:a&b/c", &[search]),
            [pair("find:a&b/c", "https://example.com/?words=a%26b%2Fc")]
        );
    }

    // conformance: md-61
    #[test]
    fn earlier_linkifiers_win_and_addresses_come_last() {
        let pages =
            Linkifier::compile(r"https://example\.com/(?P<page>\w+)", "https://wiki.example.com/{page}")
                .unwrap();
        assert_eq!(
            links("see https://example.com/home and example.org or #7", &[tickets(), pages]),
            [
                pair("https://example.com/home", "https://wiki.example.com/home"),
                pair("example.org", "https://example.org"),
                pair("#7", "https://tickets.example.com/7"),
            ]
        );
    }

    #[test]
    fn no_template_leads_to_code() {
        let bad = Linkifier::compile(r"run:(?P<code>\w+)", "javascript:{code}").unwrap();
        assert_eq!(links("run:alert", &[bad]), []);
    }

    #[test]
    fn patterns_share_memory() {
        // A state takes half of the memory on machines of 32 bits.
        let thousands = 40 / size_of::<usize>();
        let pattern = |number: usize| format!("(?P<number>{number}(?:a{{1000}}){{{thousands}}})");
        let patterns: Vec<String> = (0..300).map(pattern).collect();
        let patterns: Vec<&str> = patterns.iter().map(String::as_str).collect();
        assert!(fit_together(&patterns[..120]));
        assert!(!fit_together(&patterns));
        assert!(fit_together(&["(broken"; 300]), "a pattern of another version takes no memory");
        let simple: Vec<String> = (0..500).map(|number| format!("T{number}-(?P<id>[0-9]+)")).collect();
        assert!(
            fit_together(&simple.iter().map(String::as_str).collect::<Vec<_>>()),
            "as many as there can be"
        );
        let topic = format!("7{}", "a".repeat(1000 * thousands));
        for count in [0, 1, 500, usize::MAX] {
            let one = Linkifier::compile_among(count, &pattern(7), "https://example.com/{number}").unwrap();
            assert_eq!(links(&topic, &[one]).len(), 1, "{count}");
        }
    }

    #[test]
    fn errors_are_reported() {
        let error =
            |pattern: &str, template: &str| Linkifier::compile(pattern, template).unwrap_err().to_string();
        let too_many_groups = "(a{1000}){3}".to_owned() + &"()".repeat(450);
        for (pattern, reason) in [
            ("(?=x)y", "invalid perl operator: (?="),
            ("x(?<!y)", "invalid perl operator: (?<!"),
            (r"(a)\1", r"invalid escape sequence: \1"),
            (r"\q", r"invalid escape sequence: \q"),
            ("(unclosed", "missing ): (unclosed"),
            ("a)(b", "unexpected ): a)(b"),
            ("[a", "missing ]: [a"),
            ("*a", "no argument for repetition operator: *"),
            ("[z-a]", "invalid character class range: z-a"),
            ("(a{1000}){1000}", "pattern too large - compile failed"),
            (too_many_groups.as_str(), "pattern too large - compile failed"),
            (r"\p{Nonsense}", "Unicode property not found"),
        ] {
            let expected = format!("Bad regular expression: {reason}");
            assert_eq!(error(pattern, "https://example.com"), expected);
        }
        for template in ["{", "}", "{}", "{id", "{id:0}", "{i d}", "{=id}", "{{id}}"] {
            assert_eq!(error("(?P<id>x)", template), "Invalid URL template.", "{template}");
        }
        assert_eq!(
            error("(?P<id>x)", "https://example.com/{id}{?other}"),
            "Group 'other' in URL template is not present in linkifier pattern."
        );
        assert_eq!(
            error("(?P<id>x)(?P<more>y)(?P<less>z)", "https://example.com/{+id:3}"),
            "Group 'less' in linkifier pattern is not present in URL template."
        );
    }
}

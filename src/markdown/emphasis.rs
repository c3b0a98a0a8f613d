//! Marks of emphasis: `***`, `**`, `*` and `~~`.
//!
//! The dialect knows no flanking and no `_`. Each kind of mark is looked for in turn, from the strongest to the
//! weakest: the leftmost pair within a line counts, whatever surrounds it. What a pair encloses becomes one character,
//! and only weaker marks are looked for inside. So a weaker pair may enclose a stronger one, but none cross. `***` comes
//! before mentions and links ([`replace_both`]), the others come after them ([`nodes`]). The pairs that were found make
//! a [`MarkedText`].

use std::{collections::HashMap, ops::Range};

use super::{
    MAXIMUM_DEPTH,
    atoms::Atoms,
    html::Node,
    tree::{self, MarkedText},
};

/// Replaces emoji by atoms, in text without marks.
pub type ReplaceEmoji<'a> = &'a dyn Fn(&str, &mut Atoms) -> String;

/// The kinds of marks that come last, the strongest first.
const MARKS: [&str; 3] = ["**", "*", "~~"];

/// Replaces `***a***` by atoms. `recognise` replaces what is not text inside: there is no further star.
pub fn replace_both(
    source: &str,
    atoms: &mut Atoms,
    replace_emoji: ReplaceEmoji<'_>,
    recognise: &mut dyn FnMut(&str, &mut Atoms) -> String,
) -> String {
    replace(source, find_both, &mut |inside| {
        let inside = recognise(inside, atoms);
        let mut pairs = Pairs::new(atoms, replace_emoji);
        let text = pairs.weaker_than(None, &inside);
        let mut marked = MarkedText::default();
        marked.open("**");
        marked.open("*");
        pairs.write(&text, &mut marked);
        marked.close("*");
        marked.close("**");
        let nodes = marked.nodes(atoms);
        atoms.hold(nodes)
    })
}

/// The nodes of a text in which all that is neither a mark nor plain is an atom already.
pub fn nodes(source: &str, atoms: &mut Atoms, replace_emoji: ReplaceEmoji<'_>) -> Vec<Node> {
    let mut pairs = Pairs::new(atoms, replace_emoji);
    let text = pairs.weaker_than(None, source);
    // Most texts have no marks: then there is no tree.
    if pairs.found.is_empty() {
        return tree::plain(&text, atoms);
    }
    let mut marked = MarkedText::default();
    pairs.write(&text, &mut marked);
    marked.nodes(atoms)
}

/// The pairs found in a text. One character stands for each: an atom that holds nothing.
struct Pairs<'a> {
    atoms: &'a mut Atoms,
    replace_emoji: ReplaceEmoji<'a>,
    /// The mark, and the text inside.
    found: HashMap<char, (&'static str, String)>,
}

impl<'a> Pairs<'a> {
    fn new(atoms: &'a mut Atoms, replace_emoji: ReplaceEmoji<'a>) -> Self {
        Self { atoms, replace_emoji, found: HashMap::new() }
    }

    /// Replaces the pairs in a text that stands inside of marks of this index, and then its emoji.
    fn weaker_than(&mut self, around: Option<usize>, source: &str) -> String {
        let mut replaced = source.to_owned();
        for (index, mark) in MARKS.iter().enumerate().skip(around.map_or(0, |around| around + 1)) {
            if !replaced.contains(mark) {
                continue;
            }
            let mut hold = |inside: &str| self.hold(index, inside);
            replaced = match *mark {
                "**" => replace(&replaced, find_strong, &mut hold),
                "*" => replace_emphasis(&replaced, &mut hold),
                _ => replace(&replaced, find_deletion, &mut hold),
            };
        }
        (self.replace_emoji)(&replaced, self.atoms)
    }

    /// The character that stands for a pair; `None` when there are too many.
    fn hold(&mut self, index: usize, inside: &str) -> Option<char> {
        let inside = self.weaker_than(Some(index), inside);
        let place = self.atoms.hold(Vec::new())?;
        self.found.insert(place, (MARKS[index], inside));
        Some(place)
    }

    /// Writes a text with the marks back in their places.
    fn write(&self, text: &str, marked: &mut MarkedText) {
        for character in text.chars() {
            match self.found.get(&character) {
                Some((mark, inside)) => {
                    marked.open(mark);
                    self.write(inside, marked);
                    marked.close(mark);
                }
                None => marked.push(character),
            }
        }
    }
}

/// A pair of marks: where it stands with its marks, and what it encloses, in bytes.
struct Pair {
    whole: Range<usize>,
    inside: Range<usize>,
}

impl Pair {
    fn new(start: usize, mark: usize, close: usize) -> Self {
        Self { whole: start..close + mark, inside: start + mark..close }
    }
}

/// Replaces pairs by what `hold` gives for what is inside, from the left to the right.
fn replace(
    source: &str,
    find: fn(&str, usize) -> Option<Pair>,
    hold: &mut dyn FnMut(&str) -> Option<char>,
) -> String {
    let mut output = String::with_capacity(source.len());
    let mut position = 0;
    while let Some(pair) = find(source, position) {
        output.push_str(&source[position..pair.whole.start]);
        match hold(&source[pair.inside]) {
            Some(place) => output.push(place),
            None => output.push_str(&source[pair.whole.clone()]),
        }
        position = pair.whole.end;
    }
    output.push_str(&source[position..]);
    output
}

/// `***a***`: no star, `^` or line end inside, and no space beside the marks.
fn find_both(source: &str, from: usize) -> Option<Pair> {
    let mut position = from;
    while let Some(start) = source[position..].find("***").map(|at| position + at) {
        let inside = &source[start + 3..];
        let length = inside.find(['*', '^', '\n']).unwrap_or(inside.len());
        if may_be_emphasised(&inside[..length]) && inside[length..].starts_with("***") {
            return Some(Pair::new(start, 3, start + 3 + length));
        }
        position = start + 1;
    }
    None
}

/// `**a**`: at least one character inside, and no line end.
fn find_strong(source: &str, from: usize) -> Option<Pair> {
    let mut position = from;
    while let Some(start) = source[position..].find("**").map(|at| position + at) {
        let inside = &source[start + 2..];
        let first = inside.chars().next()?.len_utf8();
        let length = first + inside[first..].find("**")?;
        match inside[..length].find('\n') {
            None => return Some(Pair::new(start, 2, start + 2 + length)),
            // Without an end for this one, there is none for a later one in the line.
            Some(line_end) => position = start + 2 + line_end,
        }
    }
    None
}

/// `~~a~~`: exactly two on either side, and none inside.
fn find_deletion(source: &str, from: usize) -> Option<Pair> {
    let mut opening: Option<usize> = None;
    let mut position = from;
    while let Some(at) = source[position..].find(['~', '\n']).map(|at| position + at) {
        let rest = &source[at..];
        let length = rest.len() - rest.trim_start_matches('~').len();
        let follows_another = source[..at].ends_with('~');
        match opening {
            Some(start) if length == 2 => return Some(Pair::new(start, 2, at)),
            _ => opening = (length == 2 && !follows_another).then_some(at),
        }
        position = at + length.max(1);
    }
    None
}

/// Replaces `*a*`: no star, `^` or line end inside, and no space beside the marks. A pair that was replaced counts as
/// inside, so that the stars around it can be a pair in their turn.
fn replace_emphasis(source: &str, hold: &mut dyn FnMut(&str) -> Option<char>) -> String {
    let mut output = String::with_capacity(source.len());
    // The text before each star that waits for its partner, from the last such star on, and how deep it nests.
    let mut waiting: Vec<(String, usize)> = Vec::new();
    let (mut text, mut depth) = (String::new(), 0);
    for character in source.chars() {
        match character {
            '*' if !waiting.is_empty() && depth < MAXIMUM_DEPTH && may_be_emphasised(&text) => {
                let (before, depth_before) = waiting.pop().unwrap_or_default();
                let place = hold(&text).map_or_else(|| format!("*{text}*"), String::from);
                text = before + &place;
                depth = depth_before.max(depth + 1);
            }
            '*' => waiting.push((std::mem::take(&mut text), std::mem::take(&mut depth))),
            '^' | '\n' => {
                for (before, _) in waiting.drain(..) {
                    output.push_str(&before);
                    output.push('*');
                }
                output.push_str(&text);
                output.push(character);
                text.clear();
                depth = 0;
            }
            _ => text.push(character),
        }
    }
    for (before, _) in waiting {
        output.push_str(&before);
        output.push('*');
    }
    output + &text
}

fn may_be_emphasised(inside: &str) -> bool {
    !inside.is_empty() && !inside.starts_with(char::is_whitespace) && !inside.ends_with(char::is_whitespace)
}

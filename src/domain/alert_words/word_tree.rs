//! The words of all users as a radix tree. A word more or less changes one path of it, however many words there are.

use crate::types::{UserId, fold};
use std::cell::Cell;

/// The characters that may precede a word, besides the start of the text. As published.
const BEFORE: &[u8] = b" \n(\".,';[*`>";

/// The characters that may follow a word, besides the end of the text. As published.
const AFTER: &[u8] = b" \n)\"?:.,';]!*`";

/// Case-folded words and who has them.
#[derive(Default)]
pub struct WordTree {
    root: Node,
    /// The number of searches so far.
    searches: Cell<u64>,
}

/// A node of the tree: the text on the path to it is a prefix of at least one word.
#[derive(Default)]
struct Node {
    /// The text after that of the parent, in bytes.
    label: Box<[u8]>,
    /// Users of the word that ends here, ascending. Empty if there is none.
    user_ids: Vec<UserId>,
    /// Ordered by the first bytes of their labels, which differ.
    children: Vec<Node>,
    /// The number of the last search that found the word which ends here.
    found_in: Cell<u64>,
}

impl WordTree {
    /// Adds a word of a user. `word` is folded.
    pub fn insert(&mut self, word: &str, user_id: UserId) {
        self.root.insert(word.as_bytes(), user_id);
    }

    /// Removes a word of a user. `word` is folded.
    pub fn remove(&mut self, word: &str, user_id: UserId) {
        self.root.remove(word.as_bytes(), user_id);
    }

    /// Returns the users who have a word in `text`, ascending. Takes time for the length of the text, not for the words.
    pub fn find_users(&self, text: &str) -> Vec<UserId> {
        if self.root.children.is_empty() {
            return Vec::new();
        }
        let text = fold(text);
        let text = text.as_bytes();
        // Repeated words count once.
        let search = self.searches.get() + 1;
        self.searches.set(search);
        let mut user_ids = Vec::new();
        for start in (0..text.len()).filter(|&at| at == 0 || BEFORE.contains(&text[at - 1])) {
            let (mut node, mut rest) = (&self.root, &text[start..]);
            while let Some((child, after)) = node.step(rest) {
                (node, rest) = (child, after);
                let is_whole = rest.first().is_none_or(|next| AFTER.contains(next));
                if is_whole && !node.user_ids.is_empty() && node.found_in.replace(search) != search {
                    user_ids.extend(&node.user_ids);
                }
            }
        }
        user_ids.sort_unstable();
        user_ids.dedup();
        user_ids
    }
}

impl Node {
    /// The child to which a text leads, and the rest of the text after it.
    fn step<'t>(&self, text: &'t [u8]) -> Option<(&Self, &'t [u8])> {
        let child = &self.children[self.child(*text.first()?).ok()?];
        Some((child, text.strip_prefix(&*child.label)?))
    }

    /// The index of the child whose label begins with a byte, or where one would be.
    fn child(&self, first: u8) -> Result<usize, usize> {
        self.children.binary_search_by_key(&Some(first), |child| child.label.first().copied())
    }

    fn insert(&mut self, word: &[u8], user_id: UserId) {
        let Some(first) = word.first() else {
            if let Err(at) = self.user_ids.binary_search(&user_id) {
                self.user_ids.insert(at, user_id);
            }
            return;
        };
        match self.child(*first) {
            Ok(at) => {
                let child = &mut self.children[at];
                let common = child.label.iter().zip(word).take_while(|(one, other)| one == other).count();
                child.split(common);
                child.insert(&word[common..], user_id);
            }
            Err(at) => {
                let child = Self { label: word.into(), user_ids: vec![user_id], ..Self::default() };
                self.children.insert(at, child);
            }
        }
    }

    /// Shortens the label, and puts the rest of it into an only child.
    fn split(&mut self, length: usize) {
        if length == self.label.len() {
            return;
        }
        let (start, rest) = self.label.split_at(length);
        let (start, rest) = (start.into(), rest.into());
        let child = Self {
            label: rest,
            user_ids: std::mem::take(&mut self.user_ids),
            children: std::mem::take(&mut self.children),
            ..Self::default()
        };
        (self.label, self.children) = (start, vec![child]);
    }

    fn remove(&mut self, word: &[u8], user_id: UserId) {
        let Some(first) = word.first() else {
            self.user_ids.retain(|other| *other != user_id);
            return;
        };
        let Ok(at) = self.child(*first) else { return };
        let child = &mut self.children[at];
        let Some(rest) = word.strip_prefix(&*child.label) else { return };
        child.remove(rest, user_id);
        if !child.user_ids.is_empty() || child.children.len() > 1 {
            return;
        }
        match child.children.pop() {
            None => drop(self.children.remove(at)),
            Some(only) => {
                let label = [&*child.label, &*only.label].concat().into();
                *child = Self { label, ..only };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::Write;

    fn tree(words: &[(&str, i64)]) -> WordTree {
        let mut tree = WordTree::default();
        for (word, user_id) in words {
            tree.insert(word, UserId(*user_id));
        }
        tree
    }

    /// The shape of a tree: labels with the users of the words that end there.
    fn shape(node: &Node) -> String {
        let mut text = String::from_utf8_lossy(&node.label).into_owned();
        for user_id in &node.user_ids {
            write!(text, " {user_id}").unwrap();
        }
        let children: Vec<String> = node.children.iter().map(shape).collect();
        if children.is_empty() { text } else { format!("{text}({})", children.join(", ")) }
    }

    #[test]
    fn alert_words_match_whole_words() {
        let tree =
            tree(&[("été", 1), ("two words", 2), ("c++", 3), ("c", 4), ("two", 5), ("two", 6), ("è", 7)]);
        let cases: [(&str, &[i64]); 17] = [
            ("", &[]),
            ("été", &[1]),
            ("L'ÉTÉ!", &[1]),
            ("étés", &[]),
            ("(été)", &[1]),
            ("\"été\", he said", &[1]),
            ("Two words", &[2, 5, 6]),
            ("two\nwords", &[5, 6]),
            ("two-words", &[]),
            ("I like C++.", &[3]),
            ("c, c++: both", &[3, 4]),
            ("a two", &[5, 6]),
            ("atwo two", &[5, 6]),
            ("[two](x)", &[5, 6]),
            ("È", &[7]),
            ("two two words two", &[2, 5, 6]),
            ("`two` and\n> c", &[4, 5, 6]),
        ];
        for (text, expected) in cases {
            let found: Vec<i64> = tree.find_users(text).into_iter().map(|user_id| user_id.0).collect();
            assert_eq!(found, expected, "{text:?}");
        }
        assert_eq!(WordTree::default().find_users("anything"), []);
    }

    #[test]
    fn alert_words_are_parts_of_the_source() {
        let words = ["\u{1f6a8}", "king", "https://test.com", "verona", ":parrot:", ":tada:"];
        let words: Vec<(&str, i64)> = words.into_iter().zip(1..).collect();
        let tree = tree(&words);
        let cases: [(&str, &[i64]); 7] = [
            ("\u{1f6a8} fire", &[1]),
            ("@**King Hamlet**", &[2]),
            ("[docs](https://test.com)", &[3]),
            ("#**Verona**", &[4]),
            ("a :parrot:", &[5]),
            ("\u{1f389}", &[]),
            ("x:tada: :tada:x", &[]),
        ];
        for (text, expected) in cases {
            let found: Vec<i64> = tree.find_users(text).into_iter().map(|user_id| user_id.0).collect();
            assert_eq!(found, expected, "{text:?}");
        }
    }

    /// The costliest text: at each of its words, all words of the tree begin.
    #[test]
    fn users_of_words_that_overlap_are_listed_once() {
        let words: Vec<String> = (1..=50).map(|count| vec!["a"; count].join(" ")).collect();
        let mut tree = WordTree::default();
        for word in &words {
            (1..=100).for_each(|user_id| tree.insert(word, UserId(user_id)));
        }
        let found = tree.find_users(&"a ".repeat(5000));
        assert_eq!(found, (1..=100).map(UserId).collect::<Vec<_>>());
    }

    /// A tree that words were added to and removed from is the tree of those that are left.
    #[test]
    fn a_change_leaves_the_tree_of_the_words() {
        let mut tree = tree(&[("team", 1), ("test", 1), ("tea", 2), ("team", 3), ("x", 1)]);
        assert_eq!(shape(&tree.root), "(te(a 2(m 1 3), st 1), x 1)");
        let steps = [
            (("tea", 2), "(te(am 1 3, st 1), x 1)"),
            (("team", 1), "(te(am 3, st 1), x 1)"),
            (("tea", 2), "(te(am 3, st 1), x 1)"),
            (("tests", 1), "(te(am 3, st 1), x 1)"),
            (("team", 3), "(test 1, x 1)"),
            (("x", 1), "(test 1)"),
            (("test", 1), ""),
        ];
        for ((word, user_id), expected) in steps {
            tree.remove(word, UserId(user_id));
            assert_eq!(shape(&tree.root), expected, "{word}");
        }
    }
}

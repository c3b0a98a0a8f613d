//! Lists as Markdown, for formats in which a nested list is not part of an item, but follows with a depth.

/// Maximum depth of a list.
const MAX_DEPTH: usize = 8;

/// A list whose items have the same depth. It belongs to the last item before it that is less deep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlatList {
    /// The number of the first item; `None` for a bullet list.
    pub start: Option<u64>,
    /// The depth: 0 for a list that is not part of another.
    pub depth: usize,
    /// The items in Markdown, one line each.
    pub items: Vec<String>,
}

impl FlatList {
    /// True if the renderer finds the items without blank lines around the list, between lists of the same kind. It takes
    /// numbers of two digits in such a place as text.
    fn can_be_tight(&self) -> bool {
        self.start.is_none_or(|start| start.saturating_add(self.items.len() as u64) <= 10)
    }
}

/// Returns consecutive lists in Markdown, nested by two spaces.
///
/// A line after a nested list of another kind would become part of that list, so that such lists have blank lines between
/// them.
pub fn nested_lists(lists: &[FlatList]) -> String {
    let is_tight = lists.iter().all(FlatList::can_be_tight)
        && lists.windows(2).all(|pair| pair[0].start.is_some() == pair[1].start.is_some());
    let mut markdown = String::new();
    let mut deepest = 0;
    for list in lists.iter().filter(|list| !list.items.is_empty()) {
        // A list that skips a depth would be text.
        let depth = list.depth.min(deepest).min(MAX_DEPTH);
        deepest = depth + 1;
        if !markdown.is_empty() {
            markdown.push_str(if is_tight { "\n" } else { "\n\n" });
        }
        let lines = (0..).zip(&list.items).map(|(index, item)| {
            let mark = list.start.map(|start| format!("{}.", start.saturating_add(index)));
            format!("{}{} {item}", "  ".repeat(depth), mark.as_deref().unwrap_or("*"))
        });
        markdown.push_str(&lines.collect::<Vec<String>>().join("\n"));
    }
    markdown
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{NoDirectory, render};

    fn list(start: Option<u64>, depth: usize, items: &[&str]) -> FlatList {
        FlatList { start, depth, items: items.iter().map(ToString::to_string).collect() }
    }

    #[test]
    fn lists_nest_as_the_renderer_reads_them() {
        let cases = [
            (
                vec![
                    list(None, 0, &["a", "b"]),
                    list(None, 1, &["c"]),
                    list(None, 2, &["d"]),
                    list(None, 1, &["e"]),
                    list(None, 0, &["f"]),
                ],
                "* a\n* b\n  * c\n    * d\n  * e\n* f",
                "<ul><li>a</li><li>b<ul><li>c<ul><li>d</li></ul></li><li>e</li></ul></li><li>f</li></ul>",
            ),
            (
                vec![list(Some(1), 0, &["a", "b"]), list(Some(1), 1, &["c"]), list(Some(3), 0, &["d"])],
                "1. a\n2. b\n  1. c\n3. d",
                "<ol><li>a</li><li>b<ol><li>c</li></ol></li><li>d</li></ol>",
            ),
            (
                vec![list(Some(9), 0, &["a", "b"]), list(Some(1), 1, &["c"]), list(Some(11), 0, &["d"])],
                "9. a\n10. b\n\n  1. c\n\n11. d",
                "<ol start=\"9\"><li>a</li><li>b<ol><li>c</li></ol></li><li>d</li></ol>",
            ),
            (
                vec![
                    list(None, 0, &["a"]),
                    list(None, 1, &["b"]),
                    list(Some(1), 2, &["c", "d"]),
                    list(None, 1, &["e"]),
                    list(None, 0, &["f"]),
                ],
                "* a\n\n  * b\n\n    1. c\n    2. d\n\n  * e\n\n* f",
                "<ul><li>a<ul><li>b<ol><li>c</li><li>d</li></ol></li><li>e</li></ul></li><li>f</li></ul>",
            ),
            (
                vec![list(None, 3, &["a"]), list(None, 0, &[]), list(None, 4, &["b"])],
                "* a\n  * b",
                "<ul><li>a<ul><li>b</li></ul></li></ul>",
            ),
            (vec![], "", ""),
        ];
        for (lists, markdown, html) in cases {
            assert_eq!(nested_lists(&lists), markdown);
            // Items beside blank lines are paragraphs.
            let rendered = render(markdown, &NoDirectory).html.replace('\n', "");
            assert_eq!(rendered.replace("<p>", "").replace("</p>", ""), html, "{markdown}");
        }
    }
}

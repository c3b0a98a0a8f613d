//! A channel's description as HTML.

/// Renders a description: one paragraph of text.
pub fn render(text: &str) -> String {
    if text.trim().is_empty() {
        return String::new();
    }
    let mut html = String::with_capacity(text.len() + 7);
    html.push_str("<p>");
    for character in text.trim().chars() {
        match character {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '"' => html.push_str("&quot;"),
            _ => html.push(character),
        }
    }
    html.push_str("</p>");
    html
}

#[cfg(test)]
mod tests {
    use super::render;

    #[test]
    fn text_stays_text() {
        assert_eq!(render(""), "");
        assert_eq!(render(" <b>&\"x\" "), "<p>&lt;b&gt;&amp;&quot;x&quot;</p>");
    }
}

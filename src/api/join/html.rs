//! HTML that cannot be forgotten to be escaped: tags and attribute names are the program's own, and every other text
//! goes through [`Html::text`] or an attribute's value.

/// A piece of a page.
#[derive(Clone, Debug, Default)]
pub struct Html(String);

/// Attributes: names of the program's own, and values.
pub type Attributes<'a> = &'a [(&'static str, &'a str)];

impl Html {
    /// Adds text.
    #[must_use]
    pub fn text(mut self, text: &str) -> Self {
        escape(text, &mut self.0);
        self
    }

    /// Adds an element with something in it.
    #[must_use]
    pub fn element(
        self,
        tag: &'static str,
        attributes: Attributes<'_>,
        inside: impl FnOnce(Self) -> Self,
    ) -> Self {
        let mut opened = self.void(tag, attributes);
        opened = inside(opened);
        opened.0.push_str("</");
        opened.0.push_str(tag);
        opened.0.push('>');
        opened
    }

    /// Adds an element with a text in it.
    #[must_use]
    pub fn with_text(self, tag: &'static str, attributes: Attributes<'_>, text: &str) -> Self {
        self.element(tag, attributes, |inside| inside.text(text))
    }

    /// Adds an element that has no content.
    #[must_use]
    pub fn void(mut self, tag: &'static str, attributes: Attributes<'_>) -> Self {
        self.0.push('<');
        self.0.push_str(tag);
        for (name, value) in attributes {
            self.0.push(' ');
            self.0.push_str(name);
            self.0.push_str("=\"");
            escape(value, &mut self.0);
            self.0.push('"');
        }
        self.0.push('>');
        self
    }

    /// Adds what the program itself wrote, such as its style sheet.
    #[must_use]
    pub fn own(mut self, html: &'static str) -> Self {
        self.0.push_str(html);
        self
    }

    /// The whole text.
    pub fn into_string(self) -> String {
        self.0
    }
}

fn escape(text: &str, output: &mut String) {
    for character in text.chars() {
        match character {
            '&' => output.push_str("&amp;"),
            '<' => output.push_str("&lt;"),
            '>' => output.push_str("&gt;"),
            '"' => output.push_str("&quot;"),
            '\'' => output.push_str("&#39;"),
            other => output.push(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_and_values_are_escaped() {
        let evil = "\"><script>'&";
        let html = Html::default().with_text("p", &[("title", evil)], evil).into_string();
        let escaped = "&quot;&gt;&lt;script&gt;&#39;&amp;";
        assert_eq!(html, format!("<p title=\"{escaped}\">{escaped}</p>"));
    }
}

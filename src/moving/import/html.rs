//! Comparing the HTML of an archive with ours.

/// True if two HTML texts show the same. Ids that are new here, addresses of images and white space between blocks do not
/// count.
pub fn is_same(theirs: &str, ours: &str) -> bool {
    theirs == ours || normal(theirs) == normal(ours)
}

/// Attributes whose values differ between servers.
const IGNORED: [&str; 9] = [
    "data-user-group-id",
    "data-thumbnail-src",
    "data-animated",
    "data-original-dimensions",
    "data-original-content-type",
    "data-transcoded-image",
    "src",
    "title",
    "aria-label",
];

fn normal(html: &str) -> String {
    let mut out = String::with_capacity(html.len());
    let mut rest = html;
    while let Some(start) = rest.find('<') {
        push_text(&mut out, &rest[..start]);
        let end = rest[start..].find('>').map_or(rest.len(), |length| start + length + 1);
        push_tag(&mut out, &rest[start..end]);
        rest = &rest[end..];
    }
    push_text(&mut out, rest);
    out
}

/// Adds a text; line breaks beside tags are left out.
fn push_text(out: &mut String, text: &str) {
    let text = text.trim_matches('\n');
    out.push_str(&text.replace("&quot;", "\"").replace("&#39;", "'").replace("&#x27;", "'"));
}

/// Adds a tag without the attributes that do not count.
fn push_tag(out: &mut String, tag: &str) {
    let mut rest = tag.trim_end_matches(['>', '/', ' ']);
    let name = rest.find(' ').unwrap_or(rest.len());
    out.push_str(&rest[..name]);
    rest = &rest[name..];
    let mut attributes = Vec::new();
    while let Some(equals) = rest.find("=\"") {
        let key = rest[..equals].trim();
        let value_start = equals + 2;
        let length = rest[value_start..].find('"').unwrap_or(rest.len() - value_start);
        let value = &rest[value_start..value_start + length];
        if !IGNORED.contains(&key) {
            let value = value.strip_prefix('/').filter(|value| value.starts_with('#')).unwrap_or(value);
            attributes.push(format!(" {key}=\"{value}\""));
        }
        rest = rest.get(value_start + length + 1..).unwrap_or_default();
    }
    attributes.sort_unstable();
    out.extend(attributes);
    out.push('>');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn html_that_shows_the_same_is_the_same() {
        assert!(is_same("<p>a<br>\nb</p>", "<p>a<br/>b</p>"));
        assert!(is_same(
            "<p><span class=\"user-group-mention\" data-user-group-id=\"17\">@x</span></p>",
            "<p><span data-user-group-id=\"9\" class=\"user-group-mention\">@x</span></p>\n"
        ));
        assert!(is_same("<a href=\"/#narrow/dm/1\">x</a>", "<a href=\"#narrow/dm/1\">x</a>"));
        assert!(!is_same("<p>a</p>", "<p>b</p>"));
        assert!(!is_same("<a href=\"http://a/\">x</a>", "<a href=\"http://b/\">x</a>"));
        assert!(!is_same("<p>a</p>", "<p>a"));
    }
}

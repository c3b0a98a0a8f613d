//! Pictures, videos and sounds of other sites, for pages that load nothing from elsewhere.

use crate::domain::messages::plain_text::attribute;
use crate::types::pattern;
use regex::{Captures, Regex};
use std::sync::LazyLock;

/// Replaces pictures, videos and sounds of other sites with links, in HTML that the renderer of messages wrote. A preview is removed
/// if the text has its link.
pub fn as_links(rendered: &str) -> String {
    static PREVIEW: LazyLock<Regex> = LazyLock::new(|| {
        pattern(concat!(
            r#"<div class="[^"]*message_inline_image[^"]*">\s*<a( [^>]*)>\s*"#,
            r"<(?:img|video)( [^>]*)>(?:</video>)?\s*</a>\s*</div>"
        ))
    });
    static SOUND: LazyLock<Regex> = LazyLock::new(|| pattern(r"<audio( [^>]*)></audio>"));
    let text = PREVIEW.replace_all(rendered, "");
    let html = PREVIEW.replace_all(rendered, |found: &Captures<'_>| {
        let is_shown = !attribute(&found[2], "src").is_some_and(is_foreign);
        match attribute(&found[1], "href") {
            Some(url) if !is_shown && text.contains(&format!(" href=\"{url}\"")) => String::new(),
            Some(url) if !is_shown => format!(r#"<p><a href="{url}">{url}</a></p>"#),
            _ => found[0].to_owned(),
        }
    });
    let html = SOUND.replace_all(&html, |found: &Captures<'_>| {
        let url = ["data-original-url", "src"].into_iter().find_map(|name| attribute(&found[1], name));
        match url {
            Some(url) if is_foreign(url) => {
                let title = attribute(&found[1], "title").unwrap_or(url);
                format!(r#"<a href="{url}">{title}</a>"#)
            }
            _ => found[0].to_owned(),
        }
    });
    html.into_owned()
}

/// True if an address is of another site. Imported messages can have the address of the proxy of their server.
fn is_foreign(url: &str) -> bool {
    ["https://", "http://", "/external_content/"].iter().any(|start| url.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn media_of_other_sites_become_links() {
        let cases = [
            (
                r#"<div class="message_inline_image"><a href="https://a.example/b.png"><img src="https://a.example/b.png"></a></div>"#,
                r#"<p><a href="https://a.example/b.png">https://a.example/b.png</a></p>"#,
            ),
            (
                r#"<p><a href="https://a.example/b.png">b</a></p>
<div class="message_inline_image"><a href="https://a.example/b.png" title="b"><img src="/external_content/1/2"></a></div>"#,
                "<p><a href=\"https://a.example/b.png\">b</a></p>\n",
            ),
            (
                r#"<div class="message_inline_image message_inline_video"><a href="https://a.example/b.mp4"><video preload="metadata" src="https://a.example/b.mp4"></video></a></div>"#,
                r#"<p><a href="https://a.example/b.mp4">https://a.example/b.mp4</a></p>"#,
            ),
            (
                r#"<p><audio controls preload="metadata" src="https://a.example/b.mp3" title="b"></audio></p>"#,
                r#"<p><a href="https://a.example/b.mp3">b</a></p>"#,
            ),
            (
                r#"<p><audio controls data-original-url="https://a.example/b.mp3" preload="metadata" src="/external_content/1/2" title="b"></audio></p>"#,
                r#"<p><a href="https://a.example/b.mp3">b</a></p>"#,
            ),
        ];
        for (rendered, expected) in cases {
            assert_eq!(as_links(rendered), expected, "{rendered}");
        }
    }

    #[test]
    fn uploaded_files_stay() {
        for rendered in [
            r#"<div class="message_inline_image"><a href="/user_uploads/1/a.png" title="a"><img src="/user_uploads/thumbnail/1/a.png/840x560.webp"></a></div>"#,
            r#"<audio controls preload="metadata" src="/user_uploads/1/a.mp3" title="a"></audio>"#,
            r#"<p><img alt=":party:" class="emoji" src="/user_avatars/1/emoji/images/1.png" title="party"></p>"#,
        ] {
            assert_eq!(as_links(rendered), rendered);
        }
    }
}

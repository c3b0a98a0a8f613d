//! The attachments of messages, and their files.

use crate::moving::import::blocks;
use crate::moving::import::json::{first_text, text};
use serde_json::Value;

/// The members of an attachment with addresses. Those of files are paths.
const ADDRESSES: [&str; 4] = ["title_link", "image_url", "video_url", "audio_url"];

/// The texts of a message's attachments: of files and quotes what people wrote, and of integrations all that is shown.
pub fn texts(message: &Value) -> Vec<String> {
    let all = message.get("attachments").and_then(Value::as_array).into_iter().flatten();
    all.map(text_of).filter(|text| !text.is_empty()).collect()
}

fn text_of(attachment: &Value) -> String {
    let words = first_text(attachment, &["description", "text"]);
    let is_path = |member: &str| text(attachment, member).starts_with('/');
    let is_file = text(attachment, "type") == "file" || ADDRESSES.into_iter().any(is_path);
    if is_file || !text(attachment, "message_link").is_empty() {
        return words.to_owned();
    }
    blocks::to_markdown(attachment, words)
}

/// The files of a message, without the small images that the server made of others.
pub fn files(message: &Value) -> Vec<&Value> {
    let list = |name: &str| message.get(name).and_then(Value::as_array);
    let Some(files) = list("files") else { return message.get("file").into_iter().collect() };
    // Earlier releases do not name them: of two files with one attachment, the second was made of the first.
    let is_unnamed = files.iter().all(|file| group(file).is_empty());
    let is_pair = is_unnamed && files.len() == 2 && list("attachments").is_some_and(|all| all.len() == 1);
    let shown = if is_pair { &files[..1] } else { files.as_slice() };
    shown.iter().filter(|file| group(file) != "thumb").collect()
}

fn group(file: &Value) -> &str {
    text(file, "typeGroup")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn files_of_a_message_are_without_small_images() {
        let file = |id: &str, group: &str| json!({"_id": id, "typeGroup": group});
        let cases = [
            (json!({"file": {"_id": "a"}}), vec!["a"]),
            (json!({"file": {"_id": "a"}, "files": [{"_id": "a"}]}), vec!["a"]),
            (json!({"files": [file("a", "image"), file("b", "thumb")], "attachments": [{}]}), vec!["a"]),
            (json!({"files": [file("a", "image"), file("b", "image")], "attachments": [{}]}), vec!["a", "b"]),
            (json!({"files": [{"_id": "a"}, {"_id": "b"}], "attachments": [{}]}), vec!["a"]),
            (json!({"files": [{"_id": "a"}, {"_id": "b"}], "attachments": [{}, {}]}), vec!["a", "b"]),
            (json!({"files": [{"_id": "a"}, {"_id": "b"}]}), vec!["a", "b"]),
            (json!({}), vec![]),
        ];
        for (message, expected) in cases {
            let ids: Vec<&str> = files(&message).into_iter().map(|file| text(file, "_id")).collect();
            assert_eq!(ids, expected, "{message}");
        }
    }
}

//! Blocks and attachments in messages of Slack's export.

use super::slack::export;
use super::{client, messages};
use serde_json::{Value, json};

/// The contents of these messages after an import.
async fn contents(sent: &[Value]) -> Vec<String> {
    let import = export();
    let sent = sent.iter().zip(1..).map(|(message, second)| {
        let mut message = message.clone();
        message["user"] = json!("U1");
        message["ts"] = json!(format!("170936640{second}.000100"));
        message
    });
    let sent: Vec<Value> = sent.collect();
    import.write("general/2024-03-02.json", json!(sent).to_string());
    import.run(&[]);
    let server = import.serve().await;
    let ada = client(&server, "ada@example.com").await;
    let seen = messages(&ada, json!([])).await;
    let contents = seen.iter().skip(seen.len() - sent.len());
    contents.map(|one| one["content"].as_str().unwrap().to_owned()).collect()
}

/// Beside blocks of programs, the text is that of a notification.
#[tokio::test]
async fn messages_with_blocks_have_the_texts_that_slack_shows() {
    let section = |text: &str| json!([{"type": "section", "text": {"type": "mrkdwn", "text": text}}]);
    let rich = |text: &str| {
        let section = json!({"type": "rich_text_section", "elements": [{"type": "text", "text": text}]});
        json!([{"type": "rich_text", "elements": [section]}])
    };
    let image = json!({"type": "image", "image_url": "https://boats.example/a.png", "alt_text": "chart"});
    let sent = [
        json!({"text": "", "blocks": section("*shipped*"),
            "attachments": [{"fallback": "[no preview available]", "blocks": section("by <@U2>")}]}),
        json!({"text": "a notification", "blocks": [section("*what* is shown")[0], image]}),
        json!({"text": "", "blocks": rich("typed")}),
        json!({"text": "as text", "blocks": rich("not this")}),
        json!({"text": "a call", "blocks": [{"type": "call", "call_id": "R1"}]}),
    ];
    let expected = [
        "**shipped**\n\nby @**Bob**",
        "**what** is shown\n\n[chart](https://boats.example/a.png)",
        "typed",
        "as text",
        "a call",
    ];
    assert_eq!(contents(&sent).await, expected);
}

#[tokio::test]
async fn attachments_are_added_to_the_text_of_a_message() {
    let fields =
        json!([{"title": "Branch", "value": "main", "short": true}, {"title": "", "value": "by <@U2>"}]);
    let build = json!([{"title": "Build 7", "text": "passed", "fields": fields}, {"fallback": "deployed"}]);
    let chart = json!([{"title": "Tides &amp; `more`", "title_link": "https://boats.example/t",
        "image_url": "https://files.slack.com/t.png?t=xoxe-secret"}]);
    // A message that was passed on, and the preview of a link.
    let share =
        json!([{"from_url": "https://b.slack.com/archives/C1/p1", "is_share": true, "text": "*hello*"}]);
    let preview = json!([{"from_url": "https://boats.example/1", "title": "Boats"}]);
    let sent = [
        json!({"text": "deployed", "attachments": build}),
        json!({"text": "chart", "attachments": chart}),
        json!({"text": "look", "attachments": share}),
        json!({"text": "see <https://boats.example/1>", "attachments": preview}),
    ];
    let expected = [
        "deployed\n\nBuild 7\npassed\n**Branch**: main\nby @**Bob**",
        "chart\n\n[Tides & more](https://boats.example/t)\nhttps://files.slack.com/t.png",
        "look\n\n**hello**",
        "see https://boats.example/1",
    ];
    assert_eq!(contents(&sent).await, expected);
}

/// The text and the files of a message that was passed on are in its attachment.
#[tokio::test]
async fn files_of_messages_that_were_passed_on_are_kept() {
    let file = json!({"id": "F1", "name": "list.txt", "mimetype": "text/plain"});
    let share = |is_share: bool| json!([{"from_url": "https://b.slack.com/1", "is_share": is_share, "files": [file]}]);
    let sent = [
        json!({"text": "look", "attachments": share(true)}),
        json!({"text": "a preview", "attachments": share(false)}),
    ];
    let contents = contents(&sent).await;
    assert!(contents[0].starts_with("look\n[list.txt](/user_uploads/"), "{contents:?}");
    assert_eq!(contents[1], "a preview");
}

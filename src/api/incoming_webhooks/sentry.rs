//! Sentry: errors of programs, and the issues that they are collected in.

use super::payload::{Options, Payload, Post, PostsResult, Refusal};
use super::text::{bold, code_block, label, line, link, quote, start, time};
use crate::types::whole_seconds;
use std::fmt::Write;
use teamchat_markdown::global_time;

/// The types of events.
pub const EVENTS: &[&str] = &[
    "event",
    "issue created",
    "issue resolved",
    "issue assigned",
    "issue ignored",
    "issue archived",
    "issue unresolved",
    "metric_alert",
];

/// The most lines around the one of an error.
const MAX_CONTEXT: usize = 10;

/// Creates the message of a delivery.
pub fn posts(payload: Payload<'_>, _options: &Options<'_>) -> PostsResult {
    let post = if let Some(event) = payload.find("/data/event").or(payload.find("/data/error")) {
        error(event, None)?
    } else if let Some(issue) = payload.find("/data/issue") {
        self::issue(payload, issue)?
    } else if let Some(alert) = payload.find("/data/metric_alert") {
        let title = payload.first_text(&["/data/description_title", "/data/metric_alert/title"])?;
        let url = payload.find_text("/data/web_url").or(alert.find_text("/web_url")).unwrap_or_default();
        let text = payload.find_text("/data/description_text").unwrap_or_default();
        let action = label(payload.find_text("/action").unwrap_or("changed"));
        Post::new(
            title,
            format!("**{}** {}\n{}", action.to_uppercase(), link(title, url), start(&line(text))).trim_end(),
            "metric_alert",
        )
    } else if payload.find("/project_name").is_some() {
        // The plugin of projects. Its `message` is empty for exceptions.
        match payload.find("/event").filter(|event| event.find_text("/title").is_some()) {
            Some(event) => error(event, payload.find_text("/url"))?,
            None => older(payload)?,
        }
    } else {
        let names: Vec<&str> = payload.members("/data").map(|(name, _)| name).collect();
        return Err(Refusal::Unsupported(names.join(", ")));
    };
    Ok(vec![post])
}

/// The language of a platform, for its code.
fn language(platform: &str) -> &'static str {
    match platform {
        "python" => "python3",
        "javascript" | "node" => "javascript",
        "go" => "go",
        "java" => "java",
        "csharp" => "csharp",
        "ruby" => "ruby",
        "php" => "php",
        "rust" | "native" => "rust",
        _ => "",
    }
}

/// An error. `page` is the web page of its issue, for an event that does not name its own.
fn error(event: Payload<'_>, page: Option<&str>) -> Result<Post, Refusal> {
    let title = event.text("/title")?;
    let exception = event.find("/exception");
    let kind = if exception.is_some() { "New exception" } else { "New message event" };
    let mut facts = vec![format!("**level:** {}", label(event.find_text("/level").unwrap_or("error")))];
    if let Some(when) = event.find_text("/datetime").map(time).or_else(|| seconds(event)) {
        facts.push(format!("**timestamp:** {when}"));
    }
    let file = event.find_text("/metadata/filename");
    if let Some(file) = file {
        facts.push(format!("**filename:** {}", line(file)));
    }
    let url = event.find_text("/web_url").or(event.find_text("/issue_url")).or(page).unwrap_or_default();
    let mut content = format!("**{kind}:** {}{}", link(title, url), quote(&facts.join("\n")));
    let frames = exception.into_iter().flat_map(|exception| exception.find_list("/values"));
    let frames = frames.flat_map(|value| value.find_list("/stacktrace/frames"));
    let in_file = |frame: &Payload<'_>| file.is_some() && frame.find_text("/filename") == file;
    // Callers come before what they call, and causes before their effects.
    if let Some(frame) = frames.filter(in_file).last()
        && let Some(code) = source(frame)
    {
        let language = language(event.find_text("/platform").unwrap_or_default());
        let _infallible = write!(content, "\n\nTraceback:\n{}", code_block(language, &code));
    }
    Ok(Post::new(title, content, "event"))
}

/// The time of an event that has it as a number of seconds.
fn seconds(event: Payload<'_>) -> Option<String> {
    let number = event.find("/timestamp").or(event.find("/received"))?.0.as_f64()?;
    whole_seconds(number).map(global_time)
}

/// The lines around an error, with an arrow at its own.
fn source(frame: Payload<'_>) -> Option<String> {
    let context = frame.find_text("/context_line")?;
    let lines = |path: &str| -> Vec<String> {
        let lines = frame.find_list(path).filter_map(Payload::as_text);
        lines.map(|line| format!("     {line}").trim_end().to_owned()).collect()
    };
    let before = lines("/pre_context");
    let mut all: Vec<String> = before[before.len().saturating_sub(MAX_CONTEXT)..].to_vec();
    all.push(format!("---> {context}"));
    all.extend(lines("/post_context").into_iter().take(MAX_CONTEXT));
    Some(all.join("\n"))
}

fn issue(payload: Payload<'_>, issue: Payload<'_>) -> Result<Post, Refusal> {
    let title = issue.text("/title")?;
    let url = issue.find_text("/web_url").or(issue.find_text("/permalink")).unwrap_or_default();
    let named = if url.is_empty() { bold(title) } else { link(title, url) };
    let assignee =
        issue.find_text("/assignedTo/name").map(|name| match issue.find_text("/assignedTo/type") {
            Some("team") => format!("team {}", label(name)),
            _ => label(name),
        });
    let assignee = assignee.unwrap_or_else(|| "No one".to_owned());
    let actor = bold(payload.find_text("/actor/name").unwrap_or("Sentry"));
    let action = payload.text("/action")?;
    let content = match action {
        "created" => {
            let seen = issue.find_text("/lastSeen").map(|seen| format!("\n**timestamp:** {}", time(seen)));
            let level = label(issue.find_text("/level").unwrap_or("error"));
            let facts = format!("**level:** {level}{}\n**assignee:** {assignee}", seen.unwrap_or_default());
            format!("**New issue created:** {named}{}", quote(&facts))
        }
        "resolved" => format!("Issue {named} was marked as resolved by {actor}."),
        "assigned" => format!("Issue {named} has now been assigned to {} by {actor}.", bold(&assignee)),
        "ignored" | "archived" => format!("Issue {named} was {action} by {actor}."),
        "unresolved" => format!("Issue {named} is unresolved again, by {actor}."),
        _ => return Err(Refusal::Unsupported("unknown-issue-action type".to_owned())),
    };
    Ok(Post::new(title, content, format!("issue {action}")))
}

/// The payload of older versions of the plugin.
fn older(payload: Payload<'_>) -> Result<Post, Refusal> {
    let level = payload.find_text("/level").unwrap_or("error").to_uppercase();
    let issue = link("issue", payload.find_text("/url").unwrap_or_default());
    let text = quote(payload.find_text("/message").unwrap_or_default());
    Ok(Post::new(
        payload.text("/project_name")?,
        format!("New {issue} (level: {}):{text}", label(&level)),
        "event",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn few_lines_around_an_error_are_shown() {
        let lines: Vec<String> = (0..30).map(|number| format!("line {number}")).collect();
        let frame = json!({"context_line": "here", "pre_context": lines, "post_context": lines});
        let shown = source(Payload(&frame)).unwrap();
        assert_eq!(shown.lines().count(), 2 * MAX_CONTEXT + 1);
        assert!(shown.starts_with("     line 20\n") && shown.ends_with("     line 9"), "{shown}");
        assert!(shown.contains("\n---> here\n"));
    }
}

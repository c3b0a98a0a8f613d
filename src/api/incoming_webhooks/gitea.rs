//! Gitea and Forgejo: their payloads are the same, and Forgejo sends the event under both names.

use super::git;
use super::git::{Change, Commit, Push, branch_topic, commented, numbered_topic};
use super::payload::{Options, Payload, Post, PostsResult, Refusal};
use super::text::{in_path, label, link};
use percent_encoding::percent_decode_str;
use std::borrow::Cow;
use teamchat_markdown::without_controls;

/// The header in which Gitea names the event.
pub const GITEA_HEADER: &str = "X-Gitea-Event";

/// The header in which Forgejo names the event.
pub const FORGEJO_HEADER: &str = "X-Forgejo-Event";

/// The types of events.
pub const EVENTS: &[&str] = &[
    "create",
    "delete",
    "fork",
    "issue_comment",
    "issues",
    "pull_request",
    "pull_request_approved",
    "pull_request_comment",
    "pull_request_rejected",
    "push",
    "release",
    "repository",
    "wiki",
];

/// Creates the messages of a delivery of Gitea.
pub fn gitea(payload: Payload<'_>, options: &Options<'_>) -> PostsResult {
    posts(payload, options, GITEA_HEADER)
}

/// Creates the messages of a delivery of Forgejo.
pub fn forgejo(payload: Payload<'_>, options: &Options<'_>) -> PostsResult {
    posts(payload, options, FORGEJO_HEADER)
}

fn posts(payload: Payload<'_>, options: &Options<'_>, header: &'static str) -> PostsResult {
    let event = options.event(header)?;
    // Events of packages and of some jobs have no repository.
    if !EVENTS.contains(&event) {
        return Err(Refusal::Unsupported(event.to_owned()));
    }
    let repository = payload.text("/repository/name")?;
    let named = options.topic.is_some();
    let (topic, content) = match event {
        "push" => {
            let reference = payload.text("/ref")?;
            if let Some(tag) = reference.strip_prefix("refs/tags/") {
                let url = format!("{}/src/tag/{}", payload.text("/repository/html_url")?, in_path(tag));
                (repository.to_owned(), git::tag(user(payload)?, "pushed", tag, Some(&url)))
            } else {
                let branch = git::branch_of(reference);
                if !options.shows_branch(branch) {
                    return Ok(Vec::new());
                }
                (branch_topic(repository, branch), push(payload, branch)?)
            }
        }
        "create" | "delete" => {
            let name = payload.text("/ref")?;
            (branch_topic(repository, name), created_or_deleted(event, payload, name)?)
        }
        "issues" | "issue_comment" if payload.find("/issue").is_some() => {
            let issue = payload.at("/issue")?;
            let kind = if payload.is_true("/is_pull") { "PR" } else { "issue" };
            let (number, title) = (issue.integer("/number")?, issue.text("/title")?);
            let topic = numbered_topic(repository, kind, number, title);
            let content = if event == "issues" {
                changed(payload, issue, kind, named)?
            } else {
                comment(payload, issue, kind, named)?
            };
            (topic, content)
        }
        "pull_request"
        | "pull_request_approved"
        | "pull_request_rejected"
        | "pull_request_comment"
        | "issue_comment" => {
            let request = payload.at("/pull_request")?;
            let (number, title) = (request.integer("/number")?, request.text("/title")?);
            let topic = numbered_topic(repository, "PR", number, title);
            let content = match event {
                "pull_request" => changed(payload, request, "PR", named)?,
                _ => review(event, payload, request, named)?,
            };
            (topic, content)
        }
        "release" => {
            let release = payload.at("/release")?;
            let (tag, action) = (release.text("/tag_name")?, payload.text("/action")?);
            let name = release.find_text("/name").unwrap_or(tag);
            let url = release.find_text("/html_url").or(payload.find_text("/repository/html_url"));
            let content = git::release(user(payload)?, action, name, url.unwrap_or_default(), tag);
            (format!("{repository} / {tag} {name}"), content)
        }
        "fork" => {
            let fork = link(payload.text("/repository/full_name")?, payload.text("/repository/html_url")?);
            let forked = payload.first_text(&["/forkee/name"])?;
            let content = format!("{} forked {} to {fork}.", label(user(payload)?), label(forked));
            (forked.to_owned(), content)
        }
        "repository" => {
            let name = link(payload.text("/repository/full_name")?, payload.text("/repository/html_url")?);
            let action = label(payload.text("/action")?);
            (repository.to_owned(), format!("{} {action} the repository {name}.", label(user(payload)?)))
        }
        "wiki" => {
            let page = payload.text("/page")?;
            let url = format!("{}/wiki/{page}", payload.text("/repository/html_url")?);
            let (action, page) = (label(payload.text("/action")?), link(&title_of(page), &url));
            let content = format!("{} {action} the wiki page {page}.", label(user(payload)?));
            (branch_topic(repository, "wiki pages"), content)
        }
        other => return Err(Refusal::Unsupported(other.to_owned())),
    };
    Ok(vec![Post::new(topic, content, event)])
}

/// The address of an issue or a pull request. Payloads before Gitea 1.12 do not have it.
fn url_of<'p>(payload: Payload<'p>, thing: Payload<'p>, kind: &str) -> Result<Cow<'p, str>, Refusal> {
    if let Some(url) = thing.find_text("/html_url") {
        return Ok(url.into());
    }
    let (repository, number) = (payload.text("/repository/html_url")?, thing.integer("/number")?);
    let folder = if kind == "PR" { "pulls" } else { "issues" };
    Ok(format!("{repository}/{folder}/{number}").into())
}

fn user(payload: Payload<'_>) -> Result<&str, Refusal> {
    payload.first_text(&["/sender/username", "/sender/login", "/pusher/username", "/pusher/login"])
}

fn push(payload: Payload<'_>, branch: &str) -> Result<String, Refusal> {
    let authors = ["/author/username", "/author/name", "/author/email"];
    let commits = payload.find_list("/commits").map(|commit| Commit::read(commit, &authors));
    let commits: Vec<Commit<'_>> = commits.collect::<Result<_, Refusal>>()?;
    let total = payload.integer("/total_commits").ok().and_then(|total| usize::try_from(total).ok());
    let push = Push {
        user: user(payload)?,
        branch,
        compare_url: payload.text("/compare_url")?,
        total: total.unwrap_or(commits.len()),
        commits,
        deleted: false,
        forced: false,
    };
    Ok(push.message())
}

fn created_or_deleted(event: &str, payload: Payload<'_>, name: &str) -> Result<String, Refusal> {
    let kind = payload.find_text("/ref_type").unwrap_or("branch");
    let user = label(user(payload)?);
    if event == "delete" {
        return Ok(format!("{user} deleted {} {}.", label(kind), label(name)));
    }
    let folder = if kind == "tag" { "src/tag" } else { "src/branch" };
    let url = format!("{}/{folder}/{}", payload.text("/repository/html_url")?, in_path(name));
    Ok(format!("{user} created {} {}.", link(name, &url), label(kind)))
}

/// A change of an issue or a pull request.
fn changed(payload: Payload<'_>, thing: Payload<'_>, kind: &str, named: bool) -> Result<String, Refusal> {
    let (number, url) = (thing.integer("/number")?, &*url_of(payload, thing, kind)?);
    let title = if named { Some(thing.text("/title")?) } else { None };
    let action = &*label(payload.text("/action")?);
    let user = user(payload)?;
    let is_request = kind == "PR";
    let change = Change { user, action, kind, number: Some(number), title, url, ..Change::default() };
    let milestone = || {
        let name = thing.find_text("/milestone/title").or(payload.find_text("/changes/milestone/from"));
        // Gitea 1.23 does not name a milestone that was removed.
        name.map_or_else(|| "a milestone".to_owned(), |name| format!("milestone {}", label(name)))
    };
    let assignees = thing.find_list("/assignees").filter_map(|assignee| assignee.find_text("/login"));
    Ok(match action {
        "milestoned" => change.attachment("added", &milestone()),
        "demilestoned" => change.attachment("removed", &milestone()),
        "label_updated" | "label_cleared" => {
            let labels: Vec<String> =
                thing.find_list("/labels").filter_map(|found| found.find_text("/name").map(label)).collect();
            let thing = change.object();
            match labels.as_slice() {
                [] => format!("{} cleared the labels of {thing}.", label(user)),
                all => format!("{} set the labels of {thing} to {}.", label(user), all.join(", ")),
            }
        }
        "closed" if is_request => {
            let merged = thing.is_true("/merged");
            let by = thing.find_text("/merged_by/username").or(thing.find_text("/merged_by/login"));
            let user = by.filter(|_| merged).unwrap_or(user);
            Change { user, action: if merged { "merged" } else { "closed without merge" }, ..change }
                .message()
        }
        "synchronized" => Change { action: "updated", ..change }.message(),
        "review_requested" | "review_request_removed" => {
            let reviewer = payload.find_text("/requested_reviewer/login").map(label);
            // It is null for a team.
            let reviewer = reviewer.unwrap_or_else(|| "a team".to_owned());
            let thing = change.object();
            if action == "review_requested" {
                format!("{} requested {reviewer} for a review on {thing}.", label(user))
            } else {
                format!("{} no longer requests {reviewer} for a review on {thing}.", label(user))
            }
        }
        "opened" => {
            let branches = thing.find_text("/head/ref").zip(thing.find_text("/base/ref"));
            let change = Change {
                branches: branches.filter(|_| is_request),
                assignees: assignees.collect(),
                text: thing.find_text("/body"),
                ..change
            };
            change.message()
        }
        "edited" => {
            let is_described = payload.find("/changes/body").is_some();
            Change { text: thing.find_text("/body").filter(|_| is_described), ..change }.message()
        }
        _ => Change { assignees: assignees.collect(), ..change }.message(),
    })
}

fn comment(payload: Payload<'_>, issue: Payload<'_>, kind: &str, named: bool) -> Result<String, Refusal> {
    let comment = payload.at("/comment")?;
    let url = url_of(payload, issue, kind)?;
    let action = commented(payload.text("/action")?, comment.find_text("/html_url").unwrap_or(&url));
    let change = Change {
        user: user(payload)?,
        action: &action,
        kind,
        number: Some(issue.integer("/number")?),
        title: if named { Some(issue.text("/title")?) } else { None },
        url: &url,
        text: comment.find_text("/body"),
        ..Change::default()
    };
    Ok(change.message())
}

/// The title of a wiki page, from its path: `100%25-Free` is `100% Free`, `a-b.-` is `a-b`.
fn title_of(page: &str) -> String {
    let title = match page.strip_suffix(".-") {
        Some(with_dashes) => with_dashes.replace('+', " "),
        None => page.replace(['-', '+'], " "),
    };
    let title = percent_decode_str(&title).decode_utf8_lossy();
    without_controls(&title).into_owned()
}

fn review(event: &str, payload: Payload<'_>, request: Payload<'_>, named: bool) -> Result<String, Refusal> {
    let action = match event {
        "pull_request_approved" => "approved",
        "pull_request_rejected" => "requested changes to",
        _ => "commented on",
    };
    let change = Change {
        user: user(payload)?,
        action,
        kind: "PR",
        number: Some(request.integer("/number")?),
        title: if named { Some(request.text("/title")?) } else { None },
        url: &url_of(payload, request, "PR")?,
        text: payload.find_text("/review/content").or(payload.find_text("/comment/body")),
        ..Change::default()
    };
    Ok(change.message())
}

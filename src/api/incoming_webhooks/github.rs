//! GitHub: `X-GitHub-Event` names the event, the payload has the details.

use super::git;
use super::git::{Change, Commit, Push, branch_topic, commented, numbered_topic};
use super::payload::{Options, Payload, Post, PostsResult, Refusal};
use super::text::{bold, label, link, quote, short_id, start};

/// The header that names the event.
pub const HEADER: &str = "X-GitHub-Event";

/// The types of events, refined from those of the header.
pub const EVENTS: &[&str] = &[
    "commit_comment",
    "closed_pull_request",
    "create",
    "check_run",
    "delete",
    "deployment",
    "deployment_status",
    "discussion",
    "discussion_comment",
    "fork",
    "gollum",
    "issue_comment",
    "issue_labeled_or_unlabeled",
    "issue_milestoned_or_demilestoned",
    "issues_opened_via_transfer",
    "issues_transferred",
    "issues",
    "member",
    "membership",
    "opened_pull_request",
    "updated_pull_request",
    "assigned_or_unassigned_pull_request",
    "page_build",
    "ping",
    "public",
    "pull_request_ready_for_review",
    "pull_request_review",
    "pull_request_review_comment",
    "pull_request_review_requested",
    "pull_request_auto_merge",
    "locked_or_unlocked_pull_request",
    "push_commits",
    "push_tags",
    "release",
    "repository",
    "star",
    "status",
    "team",
    "team_add",
    "watch",
];

/// Known events that are not shown.
const IGNORED: &[&str] = &[
    "check_suite",
    "label",
    "meta",
    "milestone",
    "organization",
    "project_card",
    "repository_vulnerability_alert",
    "workflow_job",
    "workflow_run",
];

/// Creates the messages of a delivery.
pub fn posts(payload: Payload<'_>, options: &Options<'_>) -> PostsResult {
    let header = options.event(HEADER)?;
    if options.ignore_private_repositories && payload.is_true("/repository/private") {
        return Ok(Vec::new());
    }
    // An edit of a comment that leaves its text alone.
    let unchanged = payload.find_text("/changes/body/from").is_some()
        && payload.find_text("/changes/body/from") == payload.find_text("/comment/body");
    if unchanged && !header.starts_with("discussion") {
        return Ok(Vec::new());
    }
    let Some(event) = event_of(header, payload, options)? else { return Ok(Vec::new()) };
    let content = content(event, payload, options)?;
    Ok(vec![Post::new(topic(event, payload)?, content, event)])
}

/// The type of an event; `None` if it is not shown.
fn event_of(
    header: &str,
    payload: Payload<'_>,
    options: &Options<'_>,
) -> Result<Option<&'static str>, Refusal> {
    let action = payload.find_text("/action").unwrap_or_default();
    let event = match header {
        "pull_request" => match action {
            "opened" | "reopened" => "opened_pull_request",
            "synchronize" | "edited" => "updated_pull_request",
            "assigned" | "unassigned" => "assigned_or_unassigned_pull_request",
            "closed" => "closed_pull_request",
            "review_requested" => "pull_request_review_requested",
            "ready_for_review" => "pull_request_ready_for_review",
            "locked" | "unlocked" => "locked_or_unlocked_pull_request",
            "auto_merge_enabled" | "auto_merge_disabled" => "pull_request_auto_merge",
            "approved"
            | "converted_to_draft"
            | "labeled"
            | "unlabeled"
            | "milestoned"
            | "demilestoned"
            | "review_request_removed"
            | "enqueued"
            | "dequeued" => return Ok(None),
            _ => return Err(unsupported(header, action)),
        },
        // A review is followed by an edit without changes.
        "pull_request_review" if action == "edited" && payload.members("/changes").next().is_none() => {
            return Ok(None);
        }
        "push" => {
            let reference = payload.text("/ref")?;
            if is_of_merge_queue(reference) {
                return Ok(None);
            }
            if !reference.starts_with("refs/heads/") {
                "push_tags"
            } else if options.shows_branch(git::branch_of(reference)) {
                "push_commits"
            } else {
                return Ok(None);
            }
        }
        "create" | "delete" if payload.find_text("/ref").is_some_and(is_of_merge_queue) => return Ok(None),
        "check_run" if payload.text("/check_run/status")? != "completed" => return Ok(None),
        "team" => match action {
            "edited" => "team",
            "added_to_repository" | "created" | "deleted" | "removed_from_repository" => return Ok(None),
            _ => return Err(unsupported(header, action)),
        },
        "issues" => match action {
            "labeled" | "unlabeled" => "issue_labeled_or_unlabeled",
            "milestoned" | "demilestoned" => "issue_milestoned_or_demilestoned",
            "transferred" => "issues_transferred",
            "opened" if payload.find("/changes/old_issue").is_some() => "issues_opened_via_transfer",
            _ => "issues",
        },
        header if IGNORED.contains(&header) => return Ok(None),
        header => match EVENTS.iter().find(|event| **event == header) {
            Some(event) => event,
            None => return Err(unsupported(header, action)),
        },
    };
    Ok(Some(event))
}

/// True for the branches in which GitHub tests pull requests before it merges them.
fn is_of_merge_queue(reference: &str) -> bool {
    git::branch_of(reference).starts_with("gh-readonly-queue/")
}

fn unsupported(header: &str, action: &str) -> Refusal {
    Refusal::Unsupported(format!("{header}:{}", if action.is_empty() { "???" } else { action }))
}

fn topic(event: &str, payload: Payload<'_>) -> Result<String, Refusal> {
    let repository = || payload.text("/repository/name");
    Ok(match event {
        event if event.contains("pull_request") => numbered_topic(
            repository()?,
            "PR",
            payload.integer("/pull_request/number")?,
            payload.text("/pull_request/title")?,
        ),
        event if event.starts_with("issue") => {
            let kind = if payload.find("/issue/pull_request").is_some() { "PR" } else { "issue" };
            let (number, title) = (payload.integer("/issue/number")?, payload.text("/issue/title")?);
            numbered_topic(repository()?, kind, number, title)
        }
        "deployment" | "deployment_status" => {
            format!("{} / Deployment on {}", repository()?, payload.text("/deployment/environment")?)
        }
        "membership" => format!("{} organization", payload.text("/organization/login")?),
        "team" => format!("team {}", payload.text("/team/name")?),
        "push_commits" => branch_topic(repository()?, git::branch_of(payload.text("/ref")?)),
        "gollum" => branch_topic(repository()?, "wiki pages"),
        "check_run" => format!("{} / checks", repository()?),
        "discussion" | "discussion_comment" => {
            let (number, title) =
                (payload.integer("/discussion/number")?, payload.text("/discussion/title")?);
            format!("{} discussion #{number}: {title}", repository()?)
        }
        "ping" => of_place(payload).unwrap_or("GitHub").to_owned(),
        _ => of_place(payload)?.to_owned(),
    })
}

/// The repository, organization or user that an event is about.
fn of_place(payload: Payload<'_>) -> Result<&str, Refusal> {
    payload.first_text(&["/repository/name", "/organization/login", "/sender/login"])
}

fn content(event: &str, payload: Payload<'_>, options: &Options<'_>) -> Result<String, Refusal> {
    let named = options.topic.is_some();
    match event {
        event if event.contains("pull_request") => pull_request(event, payload, named),
        event if event.starts_with("issue") => issue(event, payload, named),
        "push_commits" => push(payload),
        "discussion" | "discussion_comment" => discussion(event, payload, named),
        "team" => team(payload),
        _ => other(event, payload),
    }
}

/// The acting user. Pushes, and requests of a deleted account, may have no sender.
fn sender(payload: Payload<'_>) -> &str {
    payload.first_text(&["/sender/login", "/pusher/name"]).unwrap_or(git::NO_NAME)
}

/// An account or a team as a link; a deleted one is null.
fn account(account: Option<Payload<'_>>) -> String {
    let text = |path: &str| account.and_then(|account| account.find_text(path));
    let name = text("/login").or(text("/name")).unwrap_or(git::NO_NAME);
    link(name, text("/html_url").unwrap_or_default())
}

fn push(payload: Payload<'_>) -> Result<String, Refusal> {
    let authors = ["/author/username", "/author/name"];
    let commits = payload.list("/commits")?.map(|commit| Commit::read(commit, &authors));
    let commits: Vec<Commit<'_>> = commits.collect::<Result<_, Refusal>>()?;
    let push = Push {
        user: sender(payload),
        branch: git::branch_of(payload.text("/ref")?),
        compare_url: payload.text("/compare")?,
        total: commits.len(),
        commits,
        deleted: payload.is_true("/deleted"),
        forced: payload.is_true("/forced"),
    };
    Ok(push.message())
}

fn pull_request(event: &str, payload: Payload<'_>, named: bool) -> Result<String, Refusal> {
    let request = payload.at("/pull_request")?;
    let (user, action) = (sender(payload), &*label(payload.text("/action")?));
    let (number, url) = (request.integer("/number")?, request.text("/html_url")?);
    let title = if named { Some(request.text("/title")?) } else { None };
    let change = Change { user, action, kind: "PR", number: Some(number), title, url, ..Change::default() };
    Ok(match event {
        "opened_pull_request" | "updated_pull_request" => {
            let (opened, text_changed) = (action == "opened", payload.find("/changes/body").is_some());
            let branches = if opened {
                // A fork that was deleted has no label.
                let head = request.first_text(&["/head/label", "/head/ref"])?;
                Some((head, request.first_text(&["/base/label", "/base/ref"])?))
            } else {
                None
            };
            let change = Change {
                action: if action == "synchronize" { "updated" } else { action },
                branches,
                assignees: request.find_text("/assignee/login").into_iter().collect(),
                text: if opened || text_changed { request.find_text("/body") } else { None },
                ..change
            };
            change.message()
        }
        "assigned_or_unassigned_pull_request" => {
            Change { assigned: payload.find_text("/assignee/login"), ..change }.message()
        }
        "closed_pull_request" => {
            let action = if request.is_true("/merged") { "merged" } else { "closed without merge" };
            Change { action, ..change }.message()
        }
        "pull_request_ready_for_review" => {
            format!("{} has marked {} as ready for review.", bold(user), change.object())
        }
        "pull_request_auto_merge" => {
            let verb = if action == "auto_merge_disabled" { "disabled" } else { "enabled" };
            format!("{} has {verb} auto merge for {}.", label(user), change.object())
        }
        "locked_or_unlocked_pull_request" if action == "unlocked" => {
            format!("{} has unlocked {}.", label(user), change.object())
        }
        "locked_or_unlocked_pull_request" => {
            let reason =
                request.find_text("/active_lock_reason").map(|reason| format!(" as {}", label(reason)));
            let (request, reason) = (change.object(), reason.unwrap_or_default());
            format!("{} has locked {request}{reason} and limited conversation to collaborators.", label(user))
        }
        "pull_request_review_requested" => {
            let reviewer =
                account(payload.find("/requested_reviewer").or_else(|| payload.find("/requested_team")));
            format!("{} requested {reviewer} for a review on {}.", bold(user), change.object())
        }
        "pull_request_review" => {
            let review = payload.at("/review")?;
            // Approvals and requests for changes have their own text, other reviews the published one.
            let verdict = match (action, review.find_text("/state")) {
                ("submitted", Some("approved")) => Some("approved"),
                ("submitted", Some("changes_requested")) => Some("requested changes to"),
                _ => None,
            };
            if let Some(action) = verdict {
                let (url, text) = (review.text("/html_url")?, review.find_text("/body"));
                return Ok(Change { action, url, text, ..change }.message());
            }
            let title = title.map(|title| format!("for #{number} {title}"));
            let change = Change {
                user,
                action,
                kind: "PR review",
                title: title.as_deref(),
                url: review.text("/html_url")?,
                text: review.find_text("/body"),
                ..Change::default()
            };
            change.message()
        }
        "pull_request_review_comment" => {
            let comment = payload.at("/comment")?;
            let title = title.map(|title| format!("on #{number} {title}"));
            let change = Change {
                user,
                action,
                kind: "PR review comment",
                title: title.as_deref(),
                url: comment.text("/html_url")?,
                text: if action == "created" { comment.find_text("/body") } else { None },
                ..Change::default()
            };
            change.message()
        }
        _ => return Err(Refusal::Unsupported(event.to_owned())),
    })
}

fn issue(event: &str, payload: Payload<'_>, named: bool) -> Result<String, Refusal> {
    let issue = payload.at("/issue")?;
    let (user, action) = (sender(payload), &*label(payload.text("/action")?));
    let (number, url) = (issue.integer("/number")?, issue.text("/html_url")?);
    let title = if named { Some(issue.text("/title")?) } else { None };
    let kind = if issue.find("/pull_request").is_some() { "PR" } else { "issue" };
    let change = Change { user, action, kind, number: Some(number), title, url, ..Change::default() };
    Ok(match event {
        "issue_comment" => {
            let comment = payload.at("/comment")?;
            let action = commented(action, comment.text("/html_url")?);
            Change { action: &action, text: comment.find_text("/body"), ..change }.message()
        }
        "issue_labeled_or_unlabeled" if payload.find("/label").is_some() => {
            let verb = if action == "labeled" { "added" } else { "removed" };
            change.attachment(verb, &format!("the {} label", label(payload.text("/label/name")?)))
        }
        "issue_milestoned_or_demilestoned" if payload.find("/milestone").is_some() => {
            let verb = if action == "milestoned" { "added" } else { "removed" };
            let milestone = link(payload.text("/milestone/title")?, payload.text("/milestone/html_url")?);
            change.attachment(verb, &format!("milestone {milestone}"))
        }
        "issues" if matches!(action, "typed" | "untyped") && payload.find("/type").is_some() => {
            let verb = if action == "typed" { "added" } else { "removed" };
            change.attachment(verb, &format!("the {} type", label(payload.text("/type/name")?)))
        }
        "issues_transferred" => {
            let (new, name) =
                (payload.at("/changes/new_issue")?, payload.text("/changes/new_repository/full_name")?);
            let old = link(&format!("issue #{number} {}", issue.text("/title")?), url);
            let new = link(&format!("{name}#{}", new.integer("/number")?), new.text("/html_url")?);
            format!("{} transferred {old} to {new}.", label(user))
        }
        "issues_opened_via_transfer" => {
            let (old, name) =
                (payload.at("/changes/old_issue")?, payload.text("/changes/old_repository/full_name")?);
            let new = link(&format!("Issue #{number} {}", issue.text("/title")?), url);
            let old = link(&format!("{name}#{}", old.integer("/number")?), old.text("/html_url")?);
            format!("{new} was transferred from {old}.")
        }
        _ => {
            let about_people = matches!(action, "assigned" | "unassigned");
            let shows_text = action == "opened" || payload.find("/changes/body").is_some();
            let change = Change {
                assigned: payload.find_text("/assignee/login").filter(|_| about_people),
                text: if shows_text { issue.find_text("/body") } else { None },
                ..change
            };
            change.message()
        }
    })
}

fn discussion(event: &str, payload: Payload<'_>, named: bool) -> Result<String, Refusal> {
    let discussion = payload.at("/discussion")?;
    let (number, url, title) =
        (discussion.integer("/number")?, discussion.text("/html_url")?, discussion.text("/title")?);
    if event == "discussion_comment" {
        let comment = payload.at("/comment")?;
        let action = commented(payload.text("/action")?, comment.text("/html_url")?);
        let change = Change {
            user: sender(payload),
            action: &action,
            kind: "discussion",
            number: Some(number),
            title: named.then_some(title),
            url,
            text: comment.find_text("/body"),
            ..Change::default()
        };
        return Ok(change.message());
    }
    let (verb, preposition) = match payload.find_text("/action").unwrap_or("created") {
        "category_changed" => ("moved", "to"),
        verb => (verb, "in"),
    };
    let shows_text = verb == "created" || payload.find("/changes/body").is_some();
    let name = if named && !shows_text {
        format!("discussion #{number} {title}")
    } else {
        format!("discussion #{number}")
    };
    let category = label(payload.text("/discussion/category/name")?);
    let change =
        format!("{} {} {} {preposition} {category}", label(sender(payload)), label(verb), link(&name, url));
    if !shows_text {
        return Ok(change + ".");
    }
    let text = format!("### {}\n{}", label(title), discussion.find_text("/body").unwrap_or_default());
    Ok(format!("{change}:\n{}", quote(&text)))
}

fn team(payload: Payload<'_>) -> Result<String, Refusal> {
    if payload.find("/changes/description").is_some() {
        let text = quote(payload.find_text("/team/description").unwrap_or_default());
        return Ok(format!("{} changed the team description to:\n{text}", bold(sender(payload))));
    }
    if let Some(former) = payload.find_text("/changes/name/from") {
        let name = payload.text("/team/name")?;
        return Ok(format!("Team {} was renamed to {}.", bold(former), bold(name)));
    }
    if payload.find("/changes/privacy").is_some() {
        return Ok(format!("Team visibility changed to {}.", bold(payload.text("/team/privacy")?)));
    }
    let changed: Vec<&str> = payload.members("/changes").map(|(name, _)| name).collect();
    Ok(format!("Team has changes to {} data.", bold(&changed.join("/"))))
}

fn commit_comment(payload: Payload<'_>) -> Result<String, Refusal> {
    let comment = payload.at("/comment")?;
    let url = comment.text("/html_url")?;
    let commit_url = url.split('#').next().unwrap_or(url);
    Ok(git::commit_comment(
        sender(payload),
        &commented("created", url),
        commit_url,
        comment.text("/commit_id")?,
        comment.text("/body")?,
    ))
}

fn check_run(payload: Payload<'_>) -> Result<String, Refusal> {
    let run = payload.at("/check_run")?;
    let id = run.text("/head_sha")?;
    let commit = link(short_id(id), &format!("{}/commit/{id}", payload.text("/repository/html_url")?));
    let name = link(run.text("/name")?, run.find_text("/html_url").unwrap_or_default());
    let (conclusion, status) = (label(run.text("/conclusion")?), label(run.text("/status")?));
    Ok(format!("Check {name} {status} ({conclusion}). ({commit})"))
}

/// The person who joined or left, and the preposition between them and the place.
fn member(payload: Payload<'_>, action: &str) -> (String, &'static str) {
    (account(payload.find("/member")), if action == "removed" { "from" } else { "to" })
}

fn page_build(payload: Payload<'_>) -> String {
    let error = payload.find_text("/build/error/message").map(quote).unwrap_or_default();
    let status = match payload.find_text("/build/status").unwrap_or("null") {
        "null" => "has yet to be built".to_owned(),
        "building" => "is being built".to_owned(),
        "errored" => format!("has failed:{error}"),
        "built" => "has finished building".to_owned(),
        other => format!("is {}", label(other)),
    };
    let pusher = label(payload.find_text("/build/pusher/login").unwrap_or(git::NO_NAME));
    let end = if error.is_empty() { "." } else { "" };
    format!("GitHub Pages build, triggered by {pusher}, {status}{end}")
}

fn other(event: &str, payload: Payload<'_>) -> Result<String, Refusal> {
    let user = label(sender(payload));
    let repository = || {
        Ok::<_, Refusal>(link(payload.text("/repository/full_name")?, payload.text("/repository/html_url")?))
    };
    let action = payload.find_text("/action").unwrap_or_default();
    Ok(match event {
        "ping" => git::configured("GitHub", payload.find_text("/sender/login")),
        "commit_comment" => commit_comment(payload)?,
        "create" | "delete" => {
            let name = payload.find_text("/ref").map(|name| format!(" {}", label(name))).unwrap_or_default();
            format!("{user} {event}d {}{name}.", label(payload.text("/ref_type")?))
        }
        "push_tags" => {
            // A tag that was moved is neither created nor deleted.
            let action = if payload.is_true("/deleted") { "removed" } else { "pushed" };
            git::tag(sender(payload), action, git::tag_of(payload.text("/ref")?), None)
        }
        "check_run" => check_run(payload)?,
        "status" => {
            let state = payload.text("/state")?;
            let state = payload.find_text("/target_url").map_or_else(|| label(state), |url| link(state, url));
            let commit = link(short_id(payload.text("/sha")?), payload.text("/commit/html_url")?);
            format!("{commit} changed its status to {state}.")
        }
        "deployment" => format!("{user} created new deployment."),
        "deployment_status" => {
            format!("Deployment changed status to {}.", label(payload.text("/deployment_status/state")?))
        }
        "fork" => {
            let fork = link(payload.text("/forkee/name")?, payload.text("/forkee/html_url")?);
            format!("{user} forked {fork}.")
        }
        "gollum" => {
            let pages = payload.list("/pages")?.map(|page| {
                let title = link(page.text("/title")?, page.text("/html_url")?);
                Ok(format!("* {} {title}", start(&label(page.text("/action")?))))
            });
            let pages: Vec<String> = pages.collect::<Result<_, Refusal>>()?;
            format!("{user}:\n{}", pages.join("\n"))
        }
        "member" if action == "edited" => {
            format!("{user} changed the permissions of {} in {}.", member(payload, action).0, repository()?)
        }
        "member" => {
            let (member, preposition) = member(payload, action);
            format!("{user} {} {member} {preposition} {}.", label(action), repository()?)
        }
        "membership" => {
            let (member, preposition) = member(payload, action);
            let team = label(payload.text("/team/name")?);
            format!("{user} {} {member} {preposition} the {team} team.", label(action))
        }
        "page_build" => page_build(payload),
        "public" => format!("{user} made the repository {} public.", repository()?),
        "release" => {
            let release = payload.at("/release")?;
            let tag = release.text("/tag_name")?;
            let name = release.find_text("/name").unwrap_or(tag);
            git::release(sender(payload), action, name, release.text("/html_url")?, tag)
        }
        "repository" => format!("{user} {} the repository {}.", label(action), repository()?),
        "star" => {
            let verb = if action == "created" { "starred" } else { "unstarred" };
            let user = account(payload.find("/sender"));
            format!("{user} {verb} the repository {}.", repository()?)
        }
        "team_add" => {
            format!(
                "The repository {} was added to team {}.",
                repository()?,
                label(payload.text("/team/name")?)
            )
        }
        "watch" => format!("{user} starred the repository {}.", repository()?),
        _ => return Err(Refusal::Unsupported(event.to_owned())),
    })
}

//! GitLab: `X-Gitlab-Event` names the event, such as `Merge Request Hook`, and the payload has the action.

use super::git;
use super::git::{Change, Commit, Push, branch_topic, numbered_topic};
use super::payload::{Options, Payload, Post, PostsResult, Refusal};
use super::text::{in_path, label, link, start};
use std::borrow::Cow;

/// The header that names the event.
pub const HEADER: &str = "X-Gitlab-Event";

/// The types of events: that of the header, with the action or the kind of object.
pub const EVENTS: &[&str] = &[
    "Push Hook",
    "Tag Push Hook",
    "Test Hook",
    "Issue Hook open",
    "Issue Hook close",
    "Issue Hook reopen",
    "Issue Hook update",
    "Confidential Issue Hook open",
    "Confidential Issue Hook close",
    "Confidential Issue Hook reopen",
    "Confidential Issue Hook update",
    "Note Hook Commit",
    "Note Hook MergeRequest",
    "Note Hook Issue",
    "Confidential Note Hook Issue",
    "Confidential Note Hook MergeRequest",
    "Note Hook Snippet",
    "Merge Request Hook approved",
    "Merge Request Hook unapproved",
    "Merge Request Hook approval",
    "Merge Request Hook unapproval",
    "Merge Request Hook open",
    "Merge Request Hook update",
    "Merge Request Hook merge",
    "Merge Request Hook close",
    "Merge Request Hook reopen",
    "Wiki Page Hook create",
    "Wiki Page Hook update",
    "Wiki Page Hook delete",
    "Job Hook",
    "Build Hook",
    "Pipeline Hook",
    "Release Hook",
    "Deployment Hook",
];

/// The header of all system hooks. The payload has the event.
const SYSTEM_HOOK: &str = "System Hook";

/// The event of a delivery as hooks of projects name it: `Tag Push Hook` for a server's hook about `tag_push`.
fn event_of<'p>(header: &'p str, payload: Payload<'p>) -> Result<Cow<'p, str>, Refusal> {
    if header != SYSTEM_HOOK {
        return Ok(header.into());
    }
    let name = payload.first_text(&["/event_name", "/object_kind"]);
    let name = name.map_err(|_| Refusal::Unsupported(header.to_owned()))?;
    // A suffix after two underscores is ignored.
    let name = name.split("__").next().unwrap_or_default();
    let words = name.split('_').map(|word| {
        let mut letters = word.chars();
        letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
    });
    Ok(format!("{} Hook", words.collect::<Vec<String>>().join(" ")).into())
}

/// Creates the messages of a delivery.
pub fn posts(payload: Payload<'_>, options: &Options<'_>) -> PostsResult {
    let header = event_of(options.event(HEADER)?, payload)?;
    let header = header.as_ref();
    let object = "/object_attributes";
    let refined = match header {
        "Issue Hook" | "Confidential Issue Hook" | "Merge Request Hook" | "Wiki Page Hook" => {
            // The default action is an update.
            let action = payload.find_text(&format!("{object}/action")).unwrap_or("update");
            format!("{header} {action}")
        }
        "Note Hook" | "Confidential Note Hook" => {
            format!("{header} {}", payload.find_text(&format!("{object}/noteable_type")).unwrap_or_default())
        }
        header => header.to_owned(),
    };
    let event = EVENTS.iter().copied().find(|event| *event == refined);
    let event = event.ok_or(Refusal::Unsupported(refined))?;
    // Epics and wikis of groups are sent like those of projects.
    let may_be_of_group =
        ["Issue Hook", "Note Hook", "Wiki Page Hook"].iter().any(|kind| header.ends_with(kind));
    if may_be_of_group && repository(payload).is_err() {
        return Err(Refusal::Unsupported(format!("{event} of a group")));
    }
    if header == "Push Hook" && !options.shows_branch(git::branch_of(payload.text("/ref")?)) {
        return Ok(Vec::new());
    }
    let content = content(header, event, payload, options.topic.is_some())?;
    Ok(vec![Post::new(topic(event, payload)?, content, event)])
}

fn repository(payload: Payload<'_>) -> Result<&str, Refusal> {
    payload.first_text(&["/project/name", "/repository/name", "/project_name"])
}

/// The event without the mark of confidential issues and internal notes, whose payload is the same.
fn without_confidential(event: &str) -> &str {
    event.strip_prefix("Confidential ").unwrap_or(event)
}

fn topic(event: &str, payload: Payload<'_>) -> Result<String, Refusal> {
    let repository = repository(payload)?;
    let numbered = |kind: &str, path: &str, number: &str| {
        let (number, title) =
            (payload.integer(&format!("{path}/{number}"))?, payload.text(&format!("{path}/title"))?);
        Ok(numbered_topic(repository, kind, number, title))
    };
    match without_confidential(event) {
        "Push Hook" | "Job Hook" | "Build Hook" => {
            Ok(branch_topic(repository, git::branch_of(payload.text("/ref")?)))
        }
        "Pipeline Hook" => {
            Ok(branch_topic(repository, git::branch_of(payload.text("/object_attributes/ref")?)))
        }
        "Release Hook" => Ok(format!("{repository} / {} {}", payload.text("/tag")?, payload.text("/name")?)),
        "Deployment Hook" => Ok(format!("{repository} / Deployment on {}", payload.text("/environment")?)),
        "Note Hook MergeRequest" => numbered("MR", "/merge_request", "iid"),
        "Note Hook Issue" => numbered("issue", "/issue", "iid"),
        "Note Hook Snippet" => numbered("snippet", "/snippet", "id"),
        event if event.starts_with("Merge Request Hook") => numbered("MR", "/object_attributes", "iid"),
        event if event.starts_with("Issue Hook") => numbered("issue", "/object_attributes", "iid"),
        _ => Ok(repository.to_owned()),
    }
}

fn content(header: &str, event: &str, payload: Payload<'_>, named: bool) -> Result<String, Refusal> {
    match header {
        "Push Hook" => push(payload),
        "Tag Push Hook" => {
            // A tag of anything but a commit has no `checkout_sha` either.
            let removed = is_no_object(payload.text("/after")?);
            let tag = git::tag_of(payload.text("/ref")?);
            let url = format!("{}/-/tags/{}", payload.text("/project/web_url")?, in_path(tag));
            let user = payload.first_text(&["/user_name", "/user_username"])?;
            Ok(if removed {
                git::tag(user, "removed", tag, None)
            } else {
                git::tag(user, "pushed", tag, Some(&url))
            })
        }
        "Test Hook" => Ok(format!(
            "Webhook for **{}** has been configured successfully! :tada:",
            label(repository(payload)?)
        )),
        "Issue Hook" | "Confidential Issue Hook" => issue(payload, named),
        "Merge Request Hook" => merge_request(payload, named),
        "Note Hook" | "Confidential Note Hook" => note(event, payload, named),
        "Wiki Page Hook" => {
            let page = payload.at("/object_attributes")?;
            let action = match page.text("/action")? {
                "create" => "created",
                "delete" => "deleted",
                _ => "updated",
            };
            let title = link(&format!("wiki page \"{}\"", page.text("/title")?), page.text("/url")?);
            Ok(format!("{} {action} {title}.", label(payload.text("/user/name")?)))
        }
        "Job Hook" | "Build Hook" => {
            let action = stage(payload.text("/build_status")?);
            let (name, stage) = (payload.text("/build_name")?, label(payload.text("/build_stage")?));
            let home = payload.find_text("/repository/homepage").or(payload.find_text("/project/web_url"));
            let name = match (home, payload.integer("/build_id")) {
                (Some(home), Ok(id)) => link(name, &format!("{home}/-/jobs/{id}")),
                _ => label(name),
            };
            Ok(format!("Build {name} from {stage} stage {action}."))
        }
        "Pipeline Hook" => pipeline(payload),
        "Release Hook" => {
            let action = match payload.text("/action")? {
                "create" => "created",
                "update" => "updated",
                "delete" => "deleted",
                other => other,
            };
            let (name, url) = (payload.text("/name")?, payload.text("/url")?);
            Ok(format!(
                "Release {} for tag {} was {}.",
                link(name, url),
                label(payload.text("/tag")?),
                label(action)
            ))
        }
        "Deployment Hook" => {
            let status = label(payload.text("/status")?);
            let name = link("Deployment", payload.find_text("/deployable_url").unwrap_or_default());
            Ok(format!("{name} changed status to {status}."))
        }
        _ => Err(Refusal::Unsupported(event.to_owned())),
    }
}

/// Text for the status of a build or pipeline.
fn stage(status: &str) -> String {
    match status {
        "created" | "pending" => "was created".to_owned(),
        "running" => "started".to_owned(),
        other => format!("changed status to {}", label(other)),
    }
}

/// True for the id that a branch or a tag has before it is created, and after it is deleted.
fn is_no_object(id: &str) -> bool {
    id.chars().all(|digit| digit == '0')
}

fn push(payload: Payload<'_>) -> Result<String, Refusal> {
    let (before, after) = (payload.text("/before")?, payload.text("/after")?);
    let user = payload.first_text(&["/user_name", "/user_username"])?;
    let branch = git::branch_of(payload.text("/ref")?);
    if is_no_object(after) {
        return Ok(format!("{} deleted branch {}.", label(user), label(branch)));
    }
    let home = payload.text("/project/web_url")?;
    let compare = format!("{home}/-/compare/{before}...{after}");
    let tree = format!("{home}/-/tree/{}", in_path(branch));
    let authors = ["/author/name", "/author/email"];
    let commits = payload.list("/commits")?.map(|commit| Commit::read(commit, &authors));
    let commits: Vec<Commit<'_>> = commits.collect::<Result<_, Refusal>>()?;
    let total = payload.integer("/total_commits_count").ok().and_then(|total| usize::try_from(total).ok());
    let push = Push {
        user,
        branch,
        compare_url: if is_no_object(before) { &tree } else { &compare },
        total: total.unwrap_or(commits.len()),
        commits,
        deleted: false,
        forced: false,
    };
    Ok(push.message())
}

fn people(payload: Payload<'_>) -> Vec<&str> {
    let several: Vec<&str> =
        payload.find_list("/assignees").filter_map(|one| one.find_text("/name")).collect();
    if several.is_empty() { payload.find_text("/assignee/name").into_iter().collect() } else { several }
}

/// A description without the comments that templates have in it.
fn without_comments(text: &str) -> String {
    let mut rest = text;
    let mut shown = String::new();
    while let Some((before, after)) = rest.split_once("<!--") {
        shown.push_str(before);
        rest = after.split_once("-->").map_or("", |(_, after)| after);
    }
    shown.push_str(rest);
    shown.trim().to_owned()
}

fn issue(payload: Payload<'_>, named: bool) -> Result<String, Refusal> {
    let issue = payload.at("/object_attributes")?;
    let opened = issue.find_text("/action") == Some("open");
    let action = match issue.find_text("/action") {
        Some("open") => "created",
        Some("close") => "closed",
        Some("reopen") => "reopened",
        _ => "updated",
    };
    let text = issue.find_text("/description").map(without_comments).unwrap_or_default();
    let change = Change {
        user: payload.text("/user/name")?,
        action,
        kind: "issue",
        number: Some(issue.integer("/iid")?),
        title: if named { Some(issue.text("/title")?) } else { None },
        url: issue.text("/url")?,
        assignees: if opened { people(payload) } else { Vec::new() },
        text: opened.then_some(&*text),
        ..Change::default()
    };
    Ok(change.message())
}

fn merge_request(payload: Payload<'_>, named: bool) -> Result<String, Refusal> {
    let request = payload.at("/object_attributes")?;
    let new_commits = request.find_text("/oldrev").is_some();
    let (action, whole) = match request.find_text("/action") {
        Some("open") => ("created", true),
        Some("merge") => ("merged", false),
        Some("close") => ("closed", false),
        Some("reopen") => ("reopened", false),
        Some("approved") => ("approved", false),
        Some("unapproved") => ("unapproved", false),
        Some("approval") => ("added their approval for", false),
        Some("unapproval") => ("removed their approval for", false),
        _ if new_commits => ("added commit(s) to", false),
        _ => ("updated", true),
    };
    // Labels, people and drafts change without the description.
    let is_described = action == "created" || payload.find("/changes/description").is_some();
    let text = request.find_text("/description").map(without_comments).unwrap_or_default();
    let branches = request.find_text("/source_branch").zip(request.find_text("/target_branch"));
    let user = payload.text("/user/name")?;
    let change = Change {
        user,
        action,
        kind: "MR",
        number: Some(request.integer("/iid")?),
        title: if named { Some(request.text("/title")?) } else { None },
        url: request.text("/url")?,
        branches: branches.filter(|_| whole),
        assignees: if whole { people(payload) } else { Vec::new() },
        text: (whole && is_described).then_some(&*text),
        ..Change::default()
    };
    // The payload names the person who pushed, not those whose approvals are gone.
    if request.is_true("/system") && matches!(action, "unapproved" | "removed their approval for") {
        return Ok(format!("A push by {} reset approvals of {}.", label(user), change.object()));
    }
    Ok(change.message())
}

fn note(event: &str, payload: Payload<'_>, named: bool) -> Result<String, Refusal> {
    let note = payload.at("/object_attributes")?;
    let (user, url, text) = (payload.text("/user/name")?, note.text("/url")?, note.text("/note")?);
    // Versions before 16.11 name no action, and do not send edits.
    let is_edit = note.find_text("/action") == Some("update");
    let action = git::commented(if is_edit { "edited" } else { "created" }, url);
    if event == "Note Hook Commit" {
        let commit = payload.at("/commit")?;
        return Ok(git::commit_comment(user, &action, commit.text("/url")?, commit.text("/id")?, text));
    }
    let home = payload.text("/project/web_url")?;
    let (kind, thing, folder, number) = match without_confidential(event) {
        "Note Hook MergeRequest" => ("MR", payload.at("/merge_request")?, "merge_requests", "/iid"),
        "Note Hook Snippet" => ("snippet", payload.at("/snippet")?, "snippets", "/id"),
        _ => ("issue", payload.at("/issue")?, "issues", "/iid"),
    };
    let number = thing.integer(number)?;
    let change = Change {
        user,
        action: &action,
        kind,
        number: Some(number),
        title: if named { Some(thing.text("/title")?) } else { None },
        url: &format!("{home}/-/{folder}/{number}"),
        text: Some(text),
        ..Change::default()
    };
    Ok(change.message())
}

fn pipeline(payload: Payload<'_>) -> Result<String, Refusal> {
    let pipeline = payload.at("/object_attributes")?;
    let action = stage(pipeline.text("/status")?);
    let home = payload.text("/project/web_url")?;
    let name = match pipeline.integer("/id") {
        Ok(id) => link(&format!("Pipeline ({id})"), &format!("{home}/-/pipelines/{id}")),
        Err(_) => "Pipeline".to_owned(),
    };
    let builds = payload.find_list("/builds").map(|build| {
        let build_name = build.text("/name")?;
        let build_name = match build.integer("/id") {
            Ok(id) => link(build_name, &format!("{home}/-/jobs/{id}")),
            Err(_) => label(build_name),
        };
        Ok(format!("* {} - {}", start(&build_name), label(build.text("/status")?)))
    });
    let builds: Vec<String> = builds.collect::<Result<_, Refusal>>()?;
    Ok(if builds.is_empty() {
        format!("{name} {action}.")
    } else {
        format!("{name} {action} with build(s):\n{}", builds.join("\n"))
    })
}

//! Messages of git forges: the sentences that GitHub, GitLab, Gitea and Forgejo share.

use super::payload::{Payload, Refusal};
use super::text::{code, label, link, quote, sentence, short_id, start};
use std::collections::BTreeMap;
use std::fmt::Write;

/// The most commits that one message lists.
const MAX_COMMITS: usize = 20;

/// The most authors that one message names.
const MAX_AUTHORS: usize = 3;

/// The author of a commit without a name.
pub const NO_NAME: &str = "unknown";

/// A commit of a push.
pub struct Commit<'a> {
    /// The author's name.
    pub author: &'a str,
    /// The whole id.
    pub id: &'a str,
    /// The web page.
    pub url: &'a str,
    /// The whole message, of which the first line is shown.
    pub message: &'a str,
}

impl<'a> Commit<'a> {
    /// Reads a commit of a payload. `authors` are the paths at which its author may have a name.
    pub fn read(commit: Payload<'a>, authors: &[&str]) -> Result<Self, Refusal> {
        Ok(Self {
            author: commit.first_text(authors).unwrap_or(NO_NAME),
            id: commit.text("/id")?,
            url: commit.text("/url")?,
            message: commit.text("/message")?,
        })
    }
}

/// A push to a branch.
pub struct Push<'a> {
    /// The user who pushed.
    pub user: &'a str,
    /// The name of the branch, without `refs/heads/`.
    pub branch: &'a str,
    /// The page that compares before and after.
    pub compare_url: &'a str,
    /// The commits in their order.
    pub commits: Vec<Commit<'a>>,
    /// The number of commits, of which the payload may have only the first.
    pub total: usize,
    /// True if the branch was deleted.
    pub deleted: bool,
    /// True for a forced push.
    pub forced: bool,
}

impl Push<'_> {
    /// The message about the push.
    pub fn message(&self) -> String {
        let (user, branch) = (label(self.user), label(self.branch));
        if self.commits.is_empty() && self.deleted {
            return format!("{user} {} the branch {branch}.", link("deleted", self.compare_url));
        }
        let verb = link(if self.forced { "force pushed" } else { "pushed" }, self.compare_url);
        if self.commits.is_empty() {
            return format!("{user} {verb} the branch {branch}.");
        }
        let total = self.total.max(self.commits.len());
        let noun = if total == 1 { "commit" } else { "commits" };
        let mut text = format!("{user} {verb} {total} {noun} to branch {branch}.");
        let authors = self.authors();
        if !matches!(authors.as_slice(), [(only, _)] if only == self.user) {
            let names: Vec<String> =
                authors.iter().map(|(name, count)| format!("{} ({count})", label(name))).collect();
            let names = match names.split_last() {
                Some((last, [])) => last.clone(),
                Some((last, others)) => format!("{} and {last}", others.join(", ")),
                None => String::new(),
            };
            let _infallible = write!(text, " Commits by {names}.");
        }
        text.push_str("\n\n");
        let lines: Vec<String> = self.commits.iter().take(MAX_COMMITS).map(Commit::line).collect();
        text.push_str(&lines.join("\n"));
        if total > lines.len() {
            let _infallible = write!(text, "\n[and {} more commit(s)]", total - lines.len());
        }
        text
    }

    /// The authors with their numbers of commits, those with the most first.
    fn authors(&self) -> Vec<(String, usize)> {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for commit in &self.commits {
            *counts.entry(commit.author).or_default() += 1;
        }
        let mut authors: Vec<(String, usize)> =
            counts.into_iter().map(|(name, count)| (name.to_owned(), count)).collect();
        authors.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        if authors.len() > MAX_AUTHORS {
            let others = authors.split_off(MAX_AUTHORS).iter().map(|(_, count)| count).sum();
            authors.push(("others".to_owned(), others));
        }
        authors
    }
}

impl Commit<'_> {
    fn line(&self) -> String {
        let summary = label(self.message.lines().next().unwrap_or_default());
        format!("* {} ({})", start(&summary), link(short_id(self.id), self.url))
    }
}

/// A change of a pull request, an issue or another numbered object.
#[derive(Default)]
pub struct Change<'a> {
    /// The acting user.
    pub user: &'a str,
    /// The action, as Markdown: `opened`, or that of [`commented`].
    pub action: &'a str,
    /// The kind of object: `PR`, `MR`, `issue`.
    pub kind: &'a str,
    /// The number of the object in its repository, if it has one.
    pub number: Option<i64>,
    /// Its title, which is named if the topic does not.
    pub title: Option<&'a str>,
    /// Its web page.
    pub url: &'a str,
    /// The branches that a pull request leads from and to.
    pub branches: Option<(&'a str, &'a str)>,
    /// The assigned users.
    pub assignees: Vec<&'a str>,
    /// The user who was assigned or unassigned.
    pub assigned: Option<&'a str>,
    /// The text that is quoted.
    pub text: Option<&'a str>,
}

impl Change<'_> {
    /// A link to the object.
    pub fn object(&self) -> String {
        let mut name = self.kind.to_owned();
        if let Some(number) = self.number {
            let _infallible = write!(name, " #{number}");
        }
        if let Some(title) = self.title {
            name.push(' ');
            name.push_str(&label(title));
        }
        link(&name, self.url)
    }

    /// The message about a label or a milestone that was `added` to the object or `removed` from it.
    pub fn attachment(&self, action: &str, what: &str) -> String {
        let preposition = if action == "added" { "to" } else { "from" };
        format!("{} {action} {what} {preposition} {}.", label(self.user), self.object())
    }

    /// The message about the change.
    pub fn message(&self) -> String {
        let assigned = match (self.action, self.assigned) {
            ("assigned", Some(assigned)) => format!(" {} to", label(assigned)),
            ("unassigned", Some(assigned)) => format!(" {} from", label(assigned)),
            _ => String::new(),
        };
        let mut text = format!("{} {}{assigned} {}", label(self.user), self.action, self.object());
        if let Some((from, to)) = self.branches {
            let _infallible = write!(text, " from {} to {}", code(from), code(to));
        }
        if let Some((last, others)) = self.assignees.split_last() {
            let others: Vec<String> = others.iter().map(|name| label(name)).collect();
            let names = match others.as_slice() {
                [] => label(last),
                others => format!("{} and {}", others.join(", "), label(last)),
            };
            let _infallible = write!(text, " (assigned to {names})");
        }
        match self.text.map(str::trim).filter(|text| !text.is_empty()) {
            Some(quoted) => format!("{text}:\n{}", quote(quoted)),
            None => text + ".",
        }
    }
}

/// The action of a comment, which links to it.
pub fn commented(action: &str, url: &str) -> String {
    match action {
        "created" => format!("{} on", link("commented", url)),
        action => format!("{} a {} on", label(action), link("comment", url)),
    }
}

/// A comment on a commit. `action` is that of [`commented`].
pub fn commit_comment(user: &str, action: &str, commit_url: &str, id: &str, text: &str) -> String {
    format!("{} {action} {}:{}", label(user), link(short_id(id), commit_url), quote(text))
}

/// A tag that was pushed or removed.
pub fn tag(user: &str, action: &str, tag: &str, url: Option<&str>) -> String {
    let tag = url.map_or_else(|| label(tag), |url| link(tag, url));
    sentence(format!("{} {action} tag {tag}", label(user)))
}

/// The message about a release: `action` is a word such as `published`.
pub fn release(user: &str, action: &str, name: &str, url: &str, tag: &str) -> String {
    format!("{} {} release {} for tag {}.", label(user), label(action), link(name, url), label(tag))
}

/// The name of a branch, from a ref such as `refs/heads/main` or the name itself.
pub fn branch_of(reference: &str) -> &str {
    reference.strip_prefix("refs/heads/").unwrap_or(reference)
}

/// The name of a tag, from a ref such as `refs/tags/v1` or the name itself.
pub fn tag_of(reference: &str) -> &str {
    reference.strip_prefix("refs/tags/").unwrap_or(reference)
}

/// The topic of messages about a branch: `repository / branch`.
pub fn branch_topic(repository: &str, branch: &str) -> String {
    format!("{repository} / {branch}")
}

/// The topic of a pull request or issue.
pub fn numbered_topic(repository: &str, kind: &str, number: i64, title: &str) -> String {
    format!("{repository} / {kind} #{number} {title}")
}

/// The message of a test.
pub fn configured(name: &str, user: Option<&str>) -> String {
    match user {
        Some(user) => format!("{name} webhook has been successfully configured by {}.", label(user)),
        None => format!("{name} webhook has been successfully configured."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_push_names_the_first_commits_and_authors() {
        let authors = ["ada", "bob", "ada", "cy", "dan", "eve"];
        let commits = (0..24).map(|index| Commit {
            author: authors[index % authors.len()],
            id: "0123456789abcdef",
            url: "https://x.example/c",
            message: "one\n\nmore",
        });
        let push = Push {
            user: "ada",
            branch: "main",
            compare_url: "https://x.example/d",
            commits: commits.collect(),
            total: 30,
            deleted: false,
            forced: true,
        };
        let text = push.message();
        let first = "ada [force pushed](https://x.example/d) 30 commits to branch main. Commits by ada (8), bob (4), cy \
                     (4) and others (8).\n\n* one ([0123456789a](https://x.example/c))\n";
        assert!(text.starts_with(first), "{text}");
        assert!(text.ends_with("\n[and 10 more commit(s)]"), "{text}");
        assert_eq!(text.matches("* one").count(), 20);
    }
}

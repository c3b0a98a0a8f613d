//! Mentions: `@**Name**`, `@**Name|id**`, `@**|id**`, `@*group*`, the wildcards, and `@_` for silent ones.

use std::ops::Range;

use super::{
    context::Context,
    directory::UserQuery,
    html::{Attribute, Element, Node, Tag, text},
    placeholders::Match,
};

/// Wildcards for all subscribers of the channel.
const STREAM_WILDCARDS: [&str; 4] = ["all", "everyone", "stream", "channel"];

/// The wildcard for all participants of the topic.
const TOPIC_WILDCARD: &str = "topic";

/// A mention before its name is looked up.
struct Candidate<'a> {
    range: Range<usize>,
    silent: bool,
    name: &'a str,
}

/// Finds the next `@`, optional `_`, and name between `marks`.
fn find_candidate<'a>(source: &'a str, from: usize, marks: &str) -> Option<Candidate<'a>> {
    source[from..].match_indices('@').find_map(|(at, _)| {
        let start = from + at;
        let before = source[..start].chars().next_back();
        if before
            .is_some_and(|c| !c.is_whitespace() && !matches!(c, '\'' | '"' | '(' | '{' | '[' | '/' | '<'))
        {
            return None;
        }
        let rest = &source[start + 1..];
        let unsilenced = rest.strip_prefix('_').unwrap_or(rest);
        let name = unsilenced.strip_prefix(marks)?;
        let name = &name[..name.find('*')?];
        let end = start + 1 + (rest.len() - unsilenced.len()) + marks.len() + name.len();
        (!name.is_empty() && source[end..].starts_with(marks)).then(|| Candidate {
            range: start..end + marks.len(),
            silent: unsilenced.len() < rest.len(),
            name,
        })
    })
}

/// Finds the next mention of a user or a wildcard. It has no nodes if there is no such user.
pub fn find_user(source: &str, from: usize, context: &mut Context<'_>) -> Option<Match> {
    let candidate = find_candidate(source, from, "**")?;
    let nodes = user_nodes(&candidate, context);
    Some((candidate.range, nodes))
}

fn user_nodes(candidate: &Candidate<'_>, context: &mut Context<'_>) -> Option<Vec<Node>> {
    let silent = candidate.silent || context.in_quote;
    if STREAM_WILDCARDS.contains(&candidate.name) {
        context.mentions.stream_wildcard |= !silent;
        let class = "user-mention channel-wildcard-mention";
        let id = Attribute::DataUserId("*".to_owned());
        return Some(mention(class, Some(id), candidate.name, silent));
    }
    if candidate.name == TOPIC_WILDCARD {
        context.mentions.topic_wildcard |= !silent;
        return Some(mention("topic-mention", None, candidate.name, silent));
    }
    let query = match candidate.name.rsplit_once('|') {
        Some((name, id)) if !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_digit()) => {
            let id = id.parse().ok()?;
            if name.is_empty() { UserQuery::Id(id) } else { UserQuery::FullNameAndId(name, id) }
        }
        _ => UserQuery::FullName(candidate.name),
    };
    let user = context.directory.user(query)?;
    let silent = silent || !user.is_active;
    if !silent {
        context.mentions.user_ids.insert(user.user_id);
    }
    let id = Attribute::DataUserId(user.user_id.to_string());
    Some(mention("user-mention", Some(id), &user.full_name, silent))
}

/// Finds the next mention of a group. It has no nodes if there is no such group.
pub fn find_group(source: &str, from: usize, context: &mut Context<'_>) -> Option<Match> {
    let candidate = find_candidate(source, from, "*")?;
    let nodes = context.directory.group(candidate.name).map(|group| {
        let silent = candidate.silent || context.in_quote || !group.is_active;
        if !silent {
            context.mentions.group_ids.insert(group.group_id);
        }
        let id = Attribute::DataUserGroupId(group.group_id);
        mention("user-group-mention", Some(id), &group.name, silent)
    });
    Some((candidate.range, nodes))
}

/// A silent mention of a user.
pub fn silent_user(user_id: i64, full_name: &str) -> Vec<Node> {
    mention("user-mention", Some(Attribute::DataUserId(user_id.to_string())), full_name, true)
}

/// A silent mention of a group.
pub fn silent_group(group_id: i64, name: &str) -> Vec<Node> {
    mention("user-group-mention", Some(Attribute::DataUserGroupId(group_id)), name, true)
}

fn mention(class: &str, id: Option<Attribute>, name: &str, silent: bool) -> Vec<Node> {
    let (class, shown) = if silent {
        (format!("{class} silent"), name.to_owned())
    } else {
        (class.to_owned(), format!("@{name}"))
    };
    let attributes = std::iter::once(Attribute::Class(class)).chain(id).collect();
    vec![Element::new(Tag::Span, vec![text(shown)]).with(attributes).node()]
}

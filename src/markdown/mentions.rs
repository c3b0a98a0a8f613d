//! Mentions: `@**Name**`, `@**Name|id**`, `@**|id**`, `@*group*`, the wildcards, and `@_` for silent ones.

use std::ops::Range;

use super::{
    directory::UserQuery,
    html::{Attribute, Element, Node, Tag, text},
    inline::Context,
};

/// Names that mean everybody in the channel.
const STREAM_WILDCARDS: [&str; 4] = ["all", "everyone", "stream", "channel"];

/// The name that means everybody who takes part in the topic.
const TOPIC_WILDCARD: &str = "topic";

/// A mention as typed.
struct Typed<'a> {
    range: Range<usize>,
    silent: bool,
    name: &'a str,
}

/// The next `@`, optional `_`, and name between `marks`.
fn find_typed<'a>(source: &'a str, from: usize, marks: &str) -> Option<Typed<'a>> {
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
        (!name.is_empty() && source[end..].starts_with(marks)).then(|| Typed {
            range: start..end + marks.len(),
            silent: unsilenced.len() < rest.len(),
            name,
        })
    })
}

/// The next mention of a user or of everybody; `None` as its nodes when nobody is meant.
pub fn find_user(
    source: &str,
    from: usize,
    context: &mut Context<'_>,
) -> Option<(Range<usize>, Option<Vec<Node>>)> {
    let typed = find_typed(source, from, "**")?;
    let nodes = user_nodes(&typed, context);
    Some((typed.range, nodes))
}

fn user_nodes(typed: &Typed<'_>, context: &mut Context<'_>) -> Option<Vec<Node>> {
    let silent = typed.silent || context.in_quote;
    if STREAM_WILDCARDS.contains(&typed.name) {
        context.mentions.stream_wildcard |= !silent;
        let class = "user-mention channel-wildcard-mention";
        return Some(mention(class, vec![Attribute::DataUserId("*".to_owned())], typed.name, silent));
    }
    if typed.name == TOPIC_WILDCARD {
        context.mentions.topic_wildcard |= !silent;
        return Some(mention("topic-mention", Vec::new(), typed.name, silent));
    }
    let query = match typed.name.rsplit_once('|') {
        Some((name, id)) if !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_digit()) => {
            let id = id.parse().ok()?;
            if name.is_empty() { UserQuery::Id(id) } else { UserQuery::FullNameAndId(name, id) }
        }
        _ => UserQuery::FullName(typed.name),
    };
    let user = context.directory.user(query)?;
    let silent = silent || !user.is_active;
    if !silent {
        context.mentions.user_ids.insert(user.user_id);
    }
    let id = Attribute::DataUserId(user.user_id.to_string());
    Some(mention("user-mention", vec![id], &user.full_name, silent))
}

/// The next mention of a group; `None` as its nodes when there is no such group.
pub fn find_group(
    source: &str,
    from: usize,
    context: &mut Context<'_>,
) -> Option<(Range<usize>, Option<Vec<Node>>)> {
    let typed = find_typed(source, from, "*")?;
    let nodes = context.directory.group(typed.name).map(|group| {
        let silent = typed.silent || context.in_quote || !group.is_active;
        if !silent {
            context.mentions.group_ids.insert(group.group_id);
        }
        let id = Attribute::DataUserGroupId(group.group_id);
        mention("user-group-mention", vec![id], &group.name, silent)
    });
    Some((typed.range, nodes))
}

fn mention(class: &str, more: Vec<Attribute>, name: &str, silent: bool) -> Vec<Node> {
    let (class, shown) = if silent {
        (format!("{class} silent"), name.to_owned())
    } else {
        (class.to_owned(), format!("@{name}"))
    };
    let attributes = std::iter::once(Attribute::Class(class)).chain(more).collect();
    vec![Element::new(Tag::Span, vec![text(shown)]).with(attributes).node()]
}

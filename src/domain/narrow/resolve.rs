//! Resolving the operands of a narrow: channels, users, conversations and messages that they name.

use crate::auth::Ctx;
use crate::domain::access::channels::Viewer;
use crate::domain::access::users::Accessible;
use crate::domain::limits::MAX_NARROW_TERMS;
use crate::domain::messages::flags::bit;
use crate::domain::messages::record::attribute;
use crate::domain::messages::viewer::MessageViewer;
use crate::domain::narrow::{Element, Narrow, Operator, Term, Test};
use crate::domain::rows::channel::StreamRow;
use crate::domain::rows::user::UserRow;
use crate::domain::search::query::SearchQuery;
use crate::domain::{channels, limits, messages, narrow, rows, users};
use crate::error::{ApiError, ApiResult, ok_unless_refused};
use crate::types::{EMPTY_TOPIC_DISPLAY_NAME, MessageId, RecipientId, StreamId, UserId, fold};
use serde_json::Value;
use std::cell::OnceCell;
use std::rc::Rc;

/// Resolves the operands of a narrow to channels, users and messages that the viewer can see. Fails with 400 for an invalid
/// operand.
pub fn resolve(viewer: &MessageViewer<'_>, elements: &[Element]) -> ApiResult<Narrow> {
    limits::check("terms in a narrow", elements.len(), MAX_NARROW_TERMS)?;
    let (connection, caller) = (viewer.connection, viewer.caller);
    let known = Known { ctx: viewer.ctx(), channels: &viewer.channels, accessible: OnceCell::new() };
    let elements = replace_with(viewer, elements)?;
    let mut terms = Vec::new();
    let mut kinds = Kinds::default();
    let mut words: Vec<&str> = Vec::new();
    for element in &elements {
        if element.operator == Operator::Search && !element.negated {
            words.extend(element.operand.as_str());
            continue;
        }
        let (test, is_inverse) = resolve_element(&known, element)?;
        kinds.add(element)?;
        terms.push(Term { test, negated: element.negated != is_inverse });
    }
    // All searches are one, so that all their words are highlighted.
    if !words.is_empty() {
        let query = SearchQuery::new(connection, &words.join(" "))?;
        terms.push(Term { test: Test::Search(Rc::new(query)), negated: false });
    }
    let may_read_history = |stream: &_| viewer.channels.has_full_history(stream);
    let wants_shared_history =
        caller.is_visitor() || narrow::wants_shared_history(caller, &elements, may_read_history, &terms)?;
    let names_channel = elements.iter().any(Element::is_channel);
    Ok(Narrow { terms, wants_shared_history, names_channel })
}

/// Replaces `with` and the elements that name a conversation by the conversation that the message is in now (feature
/// level 271). If the viewer may not read the message, those elements stay.
fn replace_with(viewer: &MessageViewer<'_>, elements: &[Element]) -> ApiResult<Vec<Element>> {
    let (with, others): (Vec<&Element>, Vec<&Element>) =
        elements.iter().partition(|element| element.operator == Operator::With);
    let others = others.into_iter().cloned();
    let with = match with.as_slice() {
        [] => return Ok(others.collect()),
        [with] => *with,
        _ => return Err(bad_combination("Duplicate 'with' operators.")),
    };
    let invalid = || ApiError::bad_narrow("Invalid 'with' operator");
    if with.negated {
        return Err(invalid());
    }
    let id = match &with.operand {
        Value::String(text) => text.trim().parse().map_err(|_| invalid())?,
        id => id.as_i64().ok_or_else(invalid)?,
    };
    let Some(message) = ok_unless_refused(viewer.find(MessageId(id)))? else {
        let others: Vec<Element> = others.collect();
        return if names_conversation(&others) { Ok(others) } else { Err(invalid()) };
    };
    let element = |operator, operand: Value| Element { operator, operand, negated: false };
    let conversation = viewer.conversation(message.recipient_id)?;
    let conversation = match &conversation.stream {
        Some(stream) => {
            // By name: a message that is starred may be in a channel that the viewer does not see.
            let channel = element(Operator::Channel, stream.name.as_str().into());
            vec![channel, element(Operator::Topic, message.subject.into())]
        }
        None => vec![element(
            Operator::Direct,
            conversation.participants.iter().map(|user_id| user_id.0).collect(),
        )],
    };
    let others =
        others.filter(|element| !element.is_channel() && !element.is_direct() && !element.is_topic());
    Ok(conversation.into_iter().chain(others).collect())
}

fn names_conversation(elements: &[Element]) -> bool {
    elements.iter().any(Element::is_direct)
        || (elements.iter().any(Element::is_channel) && elements.iter().any(Element::is_topic))
}

fn bad_combination(desc: &str) -> ApiError {
    ApiError::new(400, "BAD_NARROW", format!("Invalid narrow operator combination: {desc}"))
        .with("desc", desc)
}

/// The kinds of conversations that the elements so far ask for.
#[derive(Default)]
struct Kinds {
    channel: bool,
    direct: bool,
}

impl Kinds {
    fn add(&mut self, element: &Element) -> ApiResult<()> {
        use Operator::{Channel, Channels, Direct, DirectIncluding, GroupDirectWith, Is, Topic};
        match (&element.operator, element.operand.as_str(), element.negated) {
            (Channel | Channels | Topic, _, false) | (Is, Some("dm" | "private"), true) => {
                self.channel = true;
            }
            (Direct | DirectIncluding | GroupDirectWith, _, false) | (Is, Some("dm" | "private"), false) => {
                self.direct = true;
            }
            _ => {}
        }
        if self.channel && self.direct {
            return Err(ApiError::bad_narrow("No message can be both a channel message and direct message"));
        }
        Ok(())
    }
}

/// The test of an element, and true if the result is inverted.
fn resolve_element(known: &Known<'_>, element: &Element) -> ApiResult<(Test, bool)> {
    let (connection, operand) = (known.ctx.connection, &element.operand);
    let unknown = |what: &str| ApiError::bad_narrow(&format!("unknown {what} {}", plain(operand)));
    let test = match &element.operator {
        Operator::Channel => {
            let stream = match operand {
                Value::String(name) => known.channel_named(name)?,
                id => known.find_channel(StreamId(id.as_i64().unwrap_or(-1)))?,
            };
            Test::Channel(Rc::new(stream.ok_or_else(|| unknown("channel"))?))
        }
        Operator::Channels => match operand.as_str() {
            Some("public") => Test::PublicChannels,
            Some("web-public") => Test::WebPublicChannels,
            _ => return Err(unknown("channels operand")),
        },
        Operator::Topic => Test::Topic(topic_key(operand.as_str().unwrap_or_default())),
        Operator::Direct => Test::Direct(known.conversation(operand)?),
        Operator::DirectIncluding => match known.user(operand)? {
            user_id if user_id == known.ctx.caller.user_id => Test::AnyDirect,
            user_id => Test::DirectIncluding(user_id),
        },
        Operator::GroupDirectWith => Test::GroupDirectWith(known.user(operand)?),
        Operator::Sender => Test::Sender(known.user(operand)?),
        Operator::Is => match operand.as_str() {
            Some("dm" | "private") => Test::AnyDirect,
            Some("starred") => Test::Flag(bit::STARRED),
            Some("unread") => Test::Unread,
            Some("mentioned") => Test::Mentioned,
            Some("alerted") => Test::Flag(bit::HAS_ALERT_WORD),
            Some("resolved") => Test::Resolved,
            Some("followed") => Test::Followed,
            Some("muted") => return Ok((Test::Home { with_channels: true }, true)),
            _ => return Err(unknown("'is' operand")),
        },
        Operator::Has => match operand.as_str() {
            Some("link") => Test::Attribute(attribute::HAS_LINK),
            Some("image") => Test::Attribute(attribute::HAS_IMAGE),
            Some("attachment") => Test::Attribute(attribute::HAS_ATTACHMENT),
            Some("reaction") => Test::Reaction,
            _ => return Err(unknown("'has' operand")),
        },
        Operator::In => match operand.as_str() {
            Some("home") => Test::Home { with_channels: true },
            // It matches every message, even negated.
            Some("all") => return Ok((Test::Everything, element.negated)),
            _ => return Err(unknown("'in' operand")),
        },
        Operator::Id => Test::Id(message_id(operand)?),
        // `near` is only a hint for the anchor, `with` has been replaced.
        Operator::Near | Operator::With => return Ok((Test::Everything, element.negated)),
        Operator::Search => {
            Test::Search(Rc::new(SearchQuery::new(connection, operand.as_str().unwrap_or_default())?))
        }
        Operator::Unknown(name) => return Err(ApiError::bad_narrow(&format!("unknown operator {name}"))),
    };
    Ok((test, false))
}

/// The key of a topic. Long operands are not truncated as topics of new messages are: they would match another topic.
fn topic_key(operand: &str) -> String {
    match operand.trim() {
        EMPTY_TOPIC_DISPLAY_NAME | "(no topic)" => String::new(),
        name => fold(name),
    }
}

/// An operand as errors show it.
fn plain(operand: &Value) -> String {
    match operand {
        Value::String(text) => text.clone(),
        Value::Array(ids) => {
            let ids: Vec<String> = ids.iter().map(ToString::to_string).collect();
            format!("[{}]", ids.join(", "))
        }
        other => other.to_string(),
    }
}

fn message_id(operand: &Value) -> ApiResult<MessageId> {
    let id = match operand {
        Value::String(text) if text.bytes().all(|byte| byte.is_ascii_digit()) => text.parse().ok(),
        id => id.as_i64(),
    };
    id.filter(|id| (0..=i64::from(i32::MAX)).contains(id))
        .map(MessageId)
        .ok_or_else(|| ApiError::bad_narrow("Invalid message ID"))
}

/// Looks up the users and channels that a narrow names.
struct Known<'a> {
    ctx: Ctx<'a>,
    /// The caller's access to channels.
    channels: &'a Viewer<'a>,
    /// Users accessible to the caller, loaded when the first user is named by email.
    accessible: OnceCell<Accessible>,
}

impl Known<'_> {
    /// Finds a channel that the caller can see. Ids of other channels behave like unknown ids.
    fn find_channel(&self, stream_id: StreamId) -> ApiResult<Option<StreamRow>> {
        ok_unless_refused(self.channels.find_for_metadata(stream_id))
    }

    /// Finds a channel by name. Names are unique, so that users learn of any name anyway; visitors do not.
    fn channel_named(&self, name: &str) -> ApiResult<Option<StreamRow>> {
        let Some(stream) = channels::by_name(&self.ctx, name)? else { return Ok(None) };
        let is_hidden = self.ctx.caller.is_visitor() && !self.channels.can_see(&stream)?;
        Ok((!is_hidden).then_some(stream))
    }

    fn accessible(&self) -> ApiResult<&Accessible> {
        if let Some(known) = self.accessible.get() {
            return Ok(known);
        }
        let loaded = Accessible::to(&self.ctx, self.ctx.caller)?;
        Ok(self.accessible.get_or_init(|| loaded))
    }

    fn user(&self, operand: &Value) -> ApiResult<UserId> {
        let user = match operand {
            Value::String(text) => self.named(text)?,
            id => self.with_id(id)?,
        };
        user.map(|user| user.user_id)
            .ok_or_else(|| ApiError::bad_narrow(&format!("unknown user {}", plain(operand))))
    }

    fn with_id(&self, id: &Value) -> ApiResult<Option<UserRow>> {
        Ok(rows::user::by_id(&self.ctx, UserId(id.as_i64().unwrap_or(-1)))?)
    }

    /// A user by email. Pairs may have an id as a string.
    fn named(&self, name: &str) -> ApiResult<Option<UserRow>> {
        if let Ok(id) = name.parse() {
            return Ok(rows::user::by_id(&self.ctx, UserId(id))?);
        }
        users::find::by_email(&self.ctx, self.ctx.caller, self.accessible()?, name)
    }

    /// The conversation of these users and the viewer; `None` for no users.
    fn conversation(&self, operand: &Value) -> ApiResult<Option<RecipientId>> {
        let unknown = || ApiError::bad_narrow(&format!("unknown user in {}", plain(operand)));
        let mut user_ids = Vec::new();
        match operand {
            Value::String(text) => {
                for name in text.split(',') {
                    user_ids.push(self.named(name.trim())?.ok_or_else(unknown)?.user_id);
                }
            }
            ids => {
                for id in ids.as_array().into_iter().flatten() {
                    user_ids.push(self.with_id(id)?.ok_or_else(unknown)?.user_id);
                }
            }
        }
        if user_ids.is_empty() {
            return Ok(None);
        }
        user_ids.push(self.ctx.caller.user_id);
        user_ids.sort_unstable();
        user_ids.dedup();
        Ok(messages::direct_recipient(&self.ctx, &user_ids)?)
    }
}

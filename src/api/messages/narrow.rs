//! Narrows: which messages a client wants to see (`semantics.md` section 5).
//!
//! A narrow is parsed in two steps. [`parse`] reads the form, which needs nothing but the text. [`resolve`] looks up
//! what the operands name; unknown channels and users are errors, an unknown conversation is an empty result.

use super::sql;
use crate::api::channels::{row::StreamRow, sql as channels};
use crate::api::users::sql as users;
use crate::http::{ApiError, ApiResult, Caller};
use crate::types::{MessageId, RecipientId, StreamId, Topic, UserId};
use rusqlite::Connection;
use serde_json::Value;

/// One element of a narrow, as the client wrote it.
#[derive(Clone, Debug, PartialEq)]
pub struct Element {
    /// The operator.
    pub operator: String,
    /// What it applies to: text, a number or a list.
    pub operand: Value,
    /// Whether it is to be turned around.
    pub negated: bool,
}

/// Reads the parameter: objects, or pairs of texts.
pub fn parse(narrow: Option<&Value>) -> ApiResult<Vec<Element>> {
    let Some(narrow) = narrow else { return Ok(Vec::new()) };
    let list = narrow.as_array().ok_or_else(|| ApiError::bad_request("narrow is not a list"))?;
    list.iter().enumerate().map(|(index, element)| parse_element(index, element)).collect()
}

fn parse_element(index: usize, element: &Value) -> ApiResult<Element> {
    let invalid = |why: &str| ApiError::bad_request(format!("Invalid narrow[{index}]: Value error, {why}"));
    match element {
        Value::Array(pair) => match pair.as_slice() {
            [Value::String(operator), operand @ Value::String(_)] => {
                Ok(Element { operator: operator.clone(), operand: operand.clone(), negated: false })
            }
            [Value::String(_), _] => Err(invalid("operand is not a string")),
            [_, _] => Err(invalid("operator is not a string")),
            _ => Err(invalid("element is not a string pair")),
        },
        Value::Object(object) => {
            let operator = object.get("operator").ok_or_else(|| invalid("operator is missing"))?;
            let operator = operator.as_str().ok_or_else(|| invalid("operator is not a string"))?;
            let operand = object.get("operand").ok_or_else(|| invalid("operand is missing"))?;
            let negated = match object.get("negated") {
                None | Some(Value::Null) => false,
                Some(Value::Bool(negated)) => *negated,
                Some(_) => return Err(invalid("negated is not a boolean")),
            };
            Ok(Element { operator: operator.to_owned(), operand: operand.clone(), negated })
        }
        _ => Err(invalid("dict or list required")),
    }
}

/// A term with its operands looked up.
#[derive(Clone, Debug)]
pub struct Term {
    /// What it asks.
    pub test: Test,
    /// Whether the answer is to be turned around.
    pub negated: bool,
}

/// What a term asks of a message.
#[derive(Clone, Debug)]
pub enum Test {
    /// Is in this channel.
    Channel(Box<StreamRow>),
    /// Is in any public channel.
    PublicChannels,
    /// Is in any web-public channel.
    WebPublicChannels,
    /// Is in a topic of this name, in whatever channel; lower-cased.
    Topic(String),
    /// Is in exactly this direct conversation; `None` if nobody ever wrote there.
    Direct(Option<RecipientId>),
    /// Is a direct message with this user among others.
    DirectIncluding(UserId),
    /// Is a direct message in a group of three or more with this user.
    GroupDirectWith(UserId),
    /// Was sent by this user.
    Sender(UserId),
    /// Is a direct message.
    AnyDirect,
    /// Has a flag of this mask for the viewer.
    Flag(i64),
    /// Mentions the viewer, by name or as part of everybody.
    Mentioned,
    /// Is unread.
    Unread,
    /// Is in a resolved topic.
    Resolved,
    /// Has an attribute.
    Attribute(i64),
    /// Has a reaction.
    Reaction,
    /// Is not muted.
    Home,
    /// Is this one.
    Id(MessageId),
    /// Every message.
    Everything,
}

/// A narrow whose operands are looked up.
#[derive(Clone, Debug, Default)]
pub struct Narrow {
    /// All have to hold.
    pub terms: Vec<Term>,
}

impl Narrow {
    /// The channel of a term that is not turned around.
    pub fn channel(&self) -> Option<&StreamRow> {
        self.terms.iter().find_map(|term| match &term.test {
            Test::Channel(stream) if !term.negated => Some(&**stream),
            _ => None,
        })
    }

    /// Whether messages that were never received may be shown: a channel or the public channels are asked for, and
    /// nothing that only received messages have.
    pub fn wants_shared_history(&self) -> bool {
        let personal = |term: &Term| {
            matches!(term.test, Test::Flag(_) | Test::Mentioned | Test::Unread | Test::AnyDirect)
        };
        let shared =
            |term: &Term| !term.negated && matches!(term.test, Test::Channel(_) | Test::PublicChannels);
        self.terms.iter().any(shared) && !self.terms.iter().any(personal)
    }
}

/// Looks up what a narrow names, for a viewer.
pub fn resolve(connection: &Connection, caller: &Caller, elements: &[Element]) -> ApiResult<Narrow> {
    let mut terms = Vec::new();
    for element in elements {
        let test = resolve_element(connection, caller, element)?;
        terms.push(Term { test, negated: element.negated });
    }
    let is_channel_term =
        |term: &Term| !term.negated && matches!(term.test, Test::Channel(_) | Test::Topic(_));
    let is_direct_term = |term: &Term| {
        !term.negated
            && matches!(
                term.test,
                Test::Direct(_) | Test::DirectIncluding(_) | Test::GroupDirectWith(_) | Test::AnyDirect
            )
    };
    if terms.iter().any(is_channel_term) && terms.iter().any(is_direct_term) {
        let desc = "No message can be both a channel message and direct message";
        return Err(ApiError::new(400, "BAD_NARROW", format!("Invalid narrow operator combination: {desc}"))
            .with("desc", desc));
    }
    Ok(Narrow { terms })
}

fn resolve_element(connection: &Connection, caller: &Caller, element: &Element) -> ApiResult<Test> {
    use super::flags::bit;
    use super::message::attribute;
    let operand = &element.operand;
    let unknown = |what: &str| ApiError::bad_narrow(&format!("unknown {what} {}", plain(operand)));
    Ok(match element.operator.as_str() {
        "channel" | "stream" => {
            let stream = match operand {
                Value::Number(id) => channels::by_id(connection, StreamId(id.as_i64().unwrap_or(-1)))?,
                Value::String(name) => channels::by_name(connection, name)?,
                _ => None,
            };
            Test::Channel(Box::new(stream.ok_or_else(|| unknown("channel"))?))
        }
        "channels" | "streams" => match operand.as_str() {
            Some("public") => Test::PublicChannels,
            Some("web-public") => Test::WebPublicChannels,
            _ => return Err(unknown("channels operand")),
        },
        "topic" => {
            let name = operand.as_str().ok_or_else(|| ApiError::bad_narrow("Invalid topic name"))?;
            Test::Topic(Topic::from_client(name).map_or_else(|_| name.to_lowercase(), |topic| topic.key()))
        }
        "dm" | "pm-with" | "pm_with" => Test::Direct(conversation(connection, caller, operand)?),
        "dm-including" => Test::DirectIncluding(user(connection, operand)?),
        "group-pm-with" => Test::GroupDirectWith(user(connection, operand)?),
        "sender" | "from" => Test::Sender(user(connection, operand)?),
        "is" => match operand.as_str() {
            Some("dm" | "private") => Test::AnyDirect,
            Some("starred") => Test::Flag(bit::STARRED),
            Some("unread") => Test::Unread,
            Some("mentioned") => Test::Mentioned,
            Some("alerted") => Test::Flag(bit::HAS_ALERT_WORD),
            Some("resolved") => Test::Resolved,
            _ => return Err(unknown("'is' operand")),
        },
        "has" => match operand.as_str() {
            Some("link" | "links") => Test::Attribute(attribute::HAS_LINK),
            Some("image" | "images") => Test::Attribute(attribute::HAS_IMAGE),
            Some("attachment" | "attachments") => Test::Attribute(attribute::HAS_ATTACHMENT),
            Some("reaction" | "reactions") => Test::Reaction,
            _ => return Err(unknown("'has' operand")),
        },
        "in" => match operand.as_str() {
            Some("home") => Test::Home,
            Some("all") => Test::Everything,
            _ => return Err(unknown("'in' operand")),
        },
        "id" => Test::Id(message_id(operand)?),
        // Only a hint for the anchor.
        "near" => {
            message_id(operand)?;
            Test::Everything
        }
        other => return Err(ApiError::bad_narrow(&format!("unknown operator {other}"))),
    })
}

/// An operand as the error texts show it.
fn plain(operand: &Value) -> String {
    operand.as_str().map_or_else(|| operand.to_string(), str::to_owned)
}

fn message_id(operand: &Value) -> ApiResult<MessageId> {
    let id = match operand {
        Value::Number(id) => id.as_i64(),
        Value::String(text) => text.parse().ok(),
        _ => None,
    };
    id.filter(|id| (0..=i64::from(i32::MAX)).contains(id))
        .map(MessageId)
        .ok_or_else(|| ApiError::bad_narrow("Invalid message ID"))
}

fn user(connection: &Connection, operand: &Value) -> ApiResult<UserId> {
    let user = match operand {
        Value::Number(id) => users::by_id(connection, UserId(id.as_i64().unwrap_or(-1)))?,
        Value::String(text) => match text.parse() {
            Ok(id) => users::by_id(connection, UserId(id))?,
            Err(_) => by_any_email(connection, text)?,
        },
        _ => None,
    };
    user.map(|user| user.user_id)
        .ok_or_else(|| ApiError::bad_narrow(&format!("unknown user {}", plain(operand))))
}

fn by_any_email(
    connection: &Connection,
    email: &str,
) -> ApiResult<Option<crate::api::users::record::UserRow>> {
    match users::by_email(connection, email)? {
        Some(user) => Ok(Some(user)),
        None => Ok(users::by_delivery_email(connection, email)?),
    }
}

/// The conversation with these people and the viewer.
fn conversation(connection: &Connection, caller: &Caller, operand: &Value) -> ApiResult<Option<RecipientId>> {
    let unknown = || ApiError::bad_narrow(&format!("unknown user in {}", plain(operand)));
    let mut user_ids = vec![caller.user_id];
    match operand {
        Value::Number(id) => user_ids.push(UserId(id.as_i64().ok_or_else(unknown)?)),
        Value::Array(ids) => {
            for id in ids {
                user_ids.push(UserId(id.as_i64().ok_or_else(unknown)?));
            }
        }
        Value::String(text) => {
            for name in text.split(',').map(str::trim).filter(|name| !name.is_empty()) {
                let user = match name.parse() {
                    Ok(id) => users::by_id(connection, UserId(id))?,
                    Err(_) => by_any_email(connection, name)?,
                };
                user_ids.push(user.ok_or_else(unknown)?.user_id);
            }
        }
        _ => return Err(unknown()),
    }
    user_ids.sort_unstable();
    user_ids.dedup();
    for user_id in &user_ids {
        if users::by_id(connection, *user_id)?.is_none() {
            return Err(unknown());
        }
    }
    Ok(sql::direct_recipient(connection, &user_ids)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn both_forms_are_read_and_others_refused_in_the_published_words() {
        let element = |operator: &str, operand: Value, negated| Element {
            operator: operator.to_owned(),
            operand,
            negated,
        };
        let read = parse(Some(&json!([
            ["channel", "lunch"],
            {"operator": "sender", "operand": 7, "negated": true},
            {"operator": "dm", "operand": [1, 2]},
        ])));
        assert_eq!(
            read.unwrap(),
            [
                element("channel", json!("lunch"), false),
                element("sender", json!(7), true),
                element("dm", json!([1, 2]), false),
            ]
        );
        let refused = [
            (json!({}), "narrow is not a list"),
            (json!([{"operator": "channel"}]), "Invalid narrow[0]: Value error, operand is missing"),
            (json!([["is", "dm"], {"operand": "x"}]), "Invalid narrow[1]: Value error, operator is missing"),
            (json!([["channel"]]), "Invalid narrow[0]: Value error, element is not a string pair"),
            (json!([["channel", 1]]), "Invalid narrow[0]: Value error, operand is not a string"),
            (json!([1]), "Invalid narrow[0]: Value error, dict or list required"),
        ];
        for (narrow, msg) in refused {
            assert_eq!(parse(Some(&narrow)).unwrap_err().msg(), msg, "{narrow}");
        }
    }
}

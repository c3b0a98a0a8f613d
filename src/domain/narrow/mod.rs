//! Narrows: which messages a client wants to see (published API, "Construct a narrow").
//!
//! [`parse`] reads the elements of a narrow, and [`resolve`] looks up their operands, which gives a [`Narrow`]: unknown
//! channels and users are errors, an unknown conversation is an empty result. Then:
//!
//! - [`page`]: the messages around an anchor;
//! - [`plan`]: chooses the indexes that list the matching messages; pure, and printable;
//! - [`executor`]: runs a plan for one viewer;
//! - [`cursor`]: ids in order from indexes, merged and intersected;
//! - [`filter`]: tests one message, for terms that no index answers;

pub mod cursor;
pub mod executor;
pub mod filter;
pub mod page;
pub mod plan;
pub mod resolve;

use crate::auth::Caller;
use crate::domain::rows::channel::StreamRow;
use crate::domain::search::query::SearchQuery;
use crate::error::{ApiError, ApiResult};
use crate::types::{MessageId, RecipientId, UserId};
use serde_json::Value;
use std::rc::Rc;

/// An element of a narrow, as the client wrote it.
#[derive(Clone, Debug, PartialEq)]
pub struct Element {
    /// The operator, such as `channel`; spelling variants such as `stream` are read as the same one.
    pub operator: Operator,
    /// The operand: text, a number or a list, as the operator allows.
    pub operand: Value,
    /// True if messages must not match.
    pub negated: bool,
}

impl Element {
    /// True if the operator names a channel.
    pub fn is_channel(&self) -> bool {
        self.operator == Operator::Channel
    }

    /// True if the operator names a topic.
    pub fn is_topic(&self) -> bool {
        self.operator == Operator::Topic
    }

    /// True if the operator names a direct conversation.
    pub fn is_direct(&self) -> bool {
        self.operator == Operator::Direct
    }
}

/// The operator of an element. Some have older names too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operator {
    /// `channel` or `stream`: one channel.
    Channel,
    /// `channels` or `streams`: all of a kind.
    Channels,
    /// `topic`.
    Topic,
    /// `dm`, `pm-with` or `pm_with`: one direct conversation.
    Direct,
    /// `dm-including`.
    DirectIncluding,
    /// `group-pm-with` or `group_pm_with`.
    GroupDirectWith,
    /// `sender`.
    Sender,
    /// `is`.
    Is,
    /// `has`.
    Has,
    /// `in`.
    In,
    /// `id`.
    Id,
    /// `near`.
    Near,
    /// `with`.
    With,
    /// `search`.
    Search,
    /// Not an operator.
    Unknown(String),
}

impl Operator {
    /// Reads a name.
    pub fn from_client(name: &str) -> Self {
        match name {
            "channel" | "stream" => Self::Channel,
            "channels" | "streams" => Self::Channels,
            "topic" => Self::Topic,
            "dm" | "pm-with" | "pm_with" => Self::Direct,
            "dm-including" => Self::DirectIncluding,
            "group-pm-with" | "group_pm_with" => Self::GroupDirectWith,
            "sender" => Self::Sender,
            "is" => Self::Is,
            "has" => Self::Has,
            "in" => Self::In,
            "id" => Self::Id,
            "near" => Self::Near,
            "with" => Self::With,
            "search" => Self::Search,
            name => Self::Unknown(name.to_owned()),
        }
    }

    /// True if the operand may be one id, as a number.
    fn takes_id(&self) -> bool {
        matches!(
            self,
            Self::Channel
                | Self::DirectIncluding
                | Self::GroupDirectWith
                | Self::Sender
                | Self::Id
                | Self::Near
                | Self::With
        )
    }
}

/// The most elements of a narrow. Each may cost a look at every message that the others find.
const MAX_ELEMENTS: usize = 100;

/// Reads the parameter `narrow`: objects, or pairs of strings.
pub fn parse(narrow: Option<&Value>) -> ApiResult<Vec<Element>> {
    let Some(narrow) = narrow.filter(|narrow| !narrow.is_null()) else { return Ok(Vec::new()) };
    let list = narrow.as_array().ok_or_else(|| ApiError::bad_request("narrow is not a list"))?;
    if list.len() > MAX_ELEMENTS {
        return Err(ApiError::bad_request(format!("narrow is too long (limit: {MAX_ELEMENTS} terms)")));
    }
    list.iter().enumerate().map(|(index, element)| parse_element(index, element)).collect()
}

fn parse_element(index: usize, element: &Value) -> ApiResult<Element> {
    let invalid = |why: &str| ApiError::bad_request(format!("Invalid narrow[{index}]: Value error, {why}"));
    let element = match element {
        Value::Array(pair) => match pair.as_slice() {
            [Value::String(operator), operand @ Value::String(_)] => Element {
                operator: Operator::from_client(operator),
                operand: operand.clone(),
                negated: false,
            },
            _ => return Err(invalid("element is not a string pair")),
        },
        Value::Object(object) => {
            let given = |name: &str| object.get(name).filter(|value| !value.is_null());
            let operand = given("operand").ok_or_else(|| invalid("operand is missing"))?;
            let operator = given("operator").ok_or_else(|| invalid("operator is missing"))?;
            let wrong = |name: &str, kind: &str| {
                ApiError::bad_request(format!("narrow[{index}][\"{name}\"] is not a {kind}"))
            };
            let operator = operator.as_str().ok_or_else(|| wrong("operator", "string"))?;
            let negated = match given("negated") {
                None => false,
                Some(value) => value.as_bool().ok_or_else(|| wrong("negated", "boolean"))?,
            };
            Element { operator: Operator::from_client(operator), operand: operand.clone(), negated }
        }
        _ => return Err(invalid("dict or list required")),
    };
    check_operand(&element)?;
    Ok(element)
}

/// Checks that the operand has a type that the operator takes.
fn check_operand(element: &Element) -> ApiResult<()> {
    let refuse = |msg: &str| Err(ApiError::bad_request(msg.to_owned()));
    match (&element.operator, &element.operand) {
        (Operator::Search, Value::String(text)) if text.trim().is_empty() => {
            refuse("operand cannot be blank.")
        }
        (Operator::Direct, Value::Array(ids)) => {
            match ids.iter().position(|id| !id.is_i64() && !id.is_u64()) {
                Some(index) => refuse(&format!("operand[{index}] is not an integer")),
                None => Ok(()),
            }
        }
        (_, Value::String(_)) => Ok(()),
        (operator, Value::Number(id)) if operator.takes_id() && (id.is_i64() || id.is_u64()) => Ok(()),
        (Operator::Direct, _) => refuse("operand is not a string or an integer list"),
        (operator, _) if operator.takes_id() => refuse("operand is not a string or integer"),
        _ => refuse("operand is not a string"),
    }
}

/// Checks the narrow of a visitor, as published: it names the web-public channels, and otherwise only terms that are the
/// same for all users. `in:home` is among them, because clients add it to the view of all messages.
pub fn of_visitor(mut elements: Vec<Element>) -> ApiResult<Vec<Element>> {
    use Operator::{Channel, Channels, Has, Id, In, Is, Near, Search, Sender, Topic, With};
    elements.retain(|element| {
        element.negated || element.operator != In || element.operand.as_str() != Some("home")
    });
    let is_public = |element: &Element| match element.operator {
        Channel | Channels | Topic | Sender | Has | Search | Near | Id | With => true,
        Is => element.operand.as_str() == Some("resolved"),
        _ => false,
    };
    let names_them = |element: &Element| {
        element.operator == Channels && !element.negated && element.operand.as_str() == Some("web-public")
    };
    let is_allowed = elements.iter().all(is_public) && elements.iter().any(names_them);
    if is_allowed { Ok(elements) } else { Err(ApiError::not_logged_in()) }
}

/// An element whose operand is resolved.
#[derive(Clone, Debug)]
pub struct Term {
    /// The test of a message.
    pub test: Test,
    /// True if messages must not match.
    pub negated: bool,
}

/// The test of a term.
#[derive(Clone, Debug)]
pub enum Test {
    /// Is in this channel.
    Channel(Rc<StreamRow>),
    /// Is in any public channel.
    PublicChannels,
    /// Is in any channel that can be read without an account and is in use.
    WebPublicChannels,
    /// Is in a topic of this name, in any channel; lower-cased.
    Topic(String),
    /// Is in exactly this direct conversation; `None` if it has never had a message.
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
    /// Mentions the viewer, by name, through a group or with a wildcard.
    Mentioned,
    /// Is unread.
    Unread,
    /// Is in a resolved topic.
    Resolved,
    /// Is in a topic that the viewer follows.
    Followed,
    /// Is not muted. A channel that the narrow names is shown though it is muted; then only its muted topics count.
    Home {
        /// True if muted channels count.
        with_channels: bool,
    },
    /// Has an attribute.
    Attribute(i64),
    /// Has a reaction.
    Reaction,
    /// Matches a full-text search.
    Search(Rc<SearchQuery>),
    /// Is this one.
    Id(MessageId),
    /// Every message.
    Everything,
}

/// A narrow whose operands are resolved.
#[derive(Clone, Debug, Default)]
pub struct Narrow {
    /// A message must match all of them.
    pub terms: Vec<Term>,
    /// True if messages that the viewer never received may be shown.
    pub wants_shared_history: bool,
    /// True if an element names a channel. Then the first unread message may be in a muted channel.
    pub names_channel: bool,
}

impl Narrow {
    /// True if a term that is not negated has a test of this kind.
    pub fn asks(&self, kind: impl Fn(&Test) -> bool) -> bool {
        self.terms.iter().any(|term| !term.negated && kind(&term.test))
    }

    /// The search, whose words are highlighted in matching messages.
    pub fn search(&self) -> Option<&SearchQuery> {
        self.terms.iter().find_map(|term| match &term.test {
            Test::Search(query) if !term.negated => Some(&**query),
            _ => None,
        })
    }
}

/// True if a narrow shows messages that the viewer never received: it names a channel whose history they may read, or
/// the public channels, and no property of received messages only.
pub fn wants_shared_history(
    caller: &Caller,
    elements: &[Element],
    mut may_read_history: impl FnMut(&StreamRow) -> ApiResult<bool>,
    terms: &[Term],
) -> ApiResult<bool> {
    let is_personal = |element: &Element| element.operator == Operator::Is && element.operand != "resolved";
    if elements.iter().any(is_personal) {
        return Ok(false);
    }
    for term in terms.iter().filter(|term| !term.negated) {
        let is_shared = match &term.test {
            Test::Channel(stream) => may_read_history(stream)?,
            Test::PublicChannels => !caller.is_guest(),
            _ => false,
        };
        if is_shared {
            return Ok(true);
        }
    }
    Ok(false)
}

/// True if a term selects muted messages, with the same meaning of muted channels.
pub fn is_muted(term: &Term, with_channels: bool) -> bool {
    term.negated && matches!(term.test, Test::Home { with_channels: same } if same == with_channels)
}

#[cfg(test)]
mod tests {
    use crate::domain::narrow::*;
    use serde_json::json;

    // conformance: fetch-47
    #[test]
    fn both_forms_are_read() {
        let element = |operator, operand: Value, negated| Element { operator, operand, negated };
        let read = parse(Some(&json!([
            ["channel", "lunch"],
            {"operator": "sender", "operand": 7, "negated": true},
            {"operator": "dm", "operand": [1, 2], "negated": null},
        ])));
        assert_eq!(
            read.unwrap(),
            [
                element(Operator::Channel, json!("lunch"), false),
                element(Operator::Sender, json!(7), true),
                element(Operator::Direct, json!([1, 2]), false),
            ]
        );
        assert_eq!(parse(Some(&Value::Null)).unwrap(), []);
        assert_eq!(parse(None).unwrap(), []);
    }

    // conformance: fetch-50, fetch-52, fetch-53
    #[test]
    fn other_forms_are_refused_as_published() {
        let dict = |operator: &str, operand: Value| json!([{"operator": operator, "operand": operand}]);
        let refused = [
            (json!({}), "narrow is not a list"),
            (json!([{"operator": "channel"}]), "Invalid narrow[0]: Value error, operand is missing"),
            (
                json!([{"operator": "channel", "operand": null}]),
                "Invalid narrow[0]: Value error, operand is missing",
            ),
            (json!([["is", "dm"], {"operand": "x"}]), "Invalid narrow[1]: Value error, operator is missing"),
            (json!([["channel"]]), "Invalid narrow[0]: Value error, element is not a string pair"),
            (json!([["channel", 1]]), "Invalid narrow[0]: Value error, element is not a string pair"),
            (json!([1]), "Invalid narrow[0]: Value error, dict or list required"),
            (json!([{"operator": 1, "operand": "x"}]), "narrow[0][\"operator\"] is not a string"),
            (
                json!([{"operator": "is", "operand": "dm", "negated": 1}]),
                "narrow[0][\"negated\"] is not a boolean",
            ),
            (dict("channel", json!([1])), "operand is not a string or integer"),
            (dict("channel", json!(1.5)), "operand is not a string or integer"),
            (dict("sender", json!(true)), "operand is not a string or integer"),
            (dict("with", json!({})), "operand is not a string or integer"),
            (dict("dm", json!(1)), "operand is not a string or an integer list"),
            (dict("dm", json!([1, "a"])), "operand[1] is not an integer"),
            (dict("topic", json!(1)), "operand is not a string"),
            (dict("is", json!([])), "operand is not a string"),
            (dict("search", json!(5)), "operand is not a string"),
            (dict("search", json!("  ")), "operand cannot be blank."),
            (json!([["search", ""]]), "operand cannot be blank."),
        ];
        for (narrow, msg) in refused {
            assert_eq!(parse(Some(&narrow)).unwrap_err().msg(), msg, "{narrow}");
        }
    }
}

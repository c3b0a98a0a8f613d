//! Rules: conditions, and the errors if they do not hold. They are written from the published description and compared
//! with the server.

use super::actions::Action;
use super::people::Relation;
use super::people::{ChannelKind, Situation, Who};
use super::settings::{
    self, ACCESS_ALL_USERS, CHANNEL_ADD_SUBSCRIBERS, CHANNEL_ADMINISTER, CHANNEL_SEND, CHANNEL_SUBSCRIBE,
    DIRECT_MESSAGE_PERMISSION, Holders, Setting,
};

/// Conditions, in the order of evaluation. The first that fails determines the error.
pub type Rule = &'static [(Condition, Refusal)];

/// A published error. `{id}` and `{name}` stand for those of the channel, `{queue}` for the id of an event queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal {
    pub status: u16,
    pub code: &'static str,
    pub msg: &'static str,
}

impl Refusal {
    const fn new(status: u16, code: &'static str, msg: &'static str) -> Self {
        Self { status, code, msg }
    }

    /// 400 `BAD_REQUEST`.
    pub const fn bad_request(msg: &'static str) -> Self {
        Self::new(400, "BAD_REQUEST", msg)
    }
}

pub const NOT_LOGGED_IN: Refusal =
    Refusal::new(401, "UNAUTHORIZED", "Not logged in: API authentication or user session required");
const DEACTIVATED: Refusal = Refusal::new(401, "UNAUTHORIZED", "Account is deactivated");
const DEACTIVATED_WITH_SESSION: Refusal = Refusal::new(401, "USER_DEACTIVATED", "Account is deactivated");
const NO_WEBHOOKS: Refusal =
    Refusal::new(401, "UNAUTHORIZED", "This API is not available to incoming webhook bots.");
pub const INVALID_KEY: Refusal = Refusal::new(401, "UNAUTHORIZED", "Invalid API key");

pub const NO_BOTS: Refusal = Refusal::bad_request("This endpoint does not accept bot requests.");
pub const NO_GUESTS: Refusal = Refusal::bad_request("Not allowed for guest users");
pub const INSUFFICIENT: Refusal = Refusal::bad_request("Insufficient permission");
pub const NOT_ADMINISTRATOR: Refusal =
    Refusal::new(400, "UNAUTHORIZED_PRINCIPAL", "Must be an organization administrator");
pub const NOT_OWNER: Refusal = Refusal::new(400, "UNAUTHORIZED_PRINCIPAL", "Must be an organization owner");
pub const NO_MESSAGE: Refusal = Refusal::bad_request("Invalid message(s)");
pub const NO_CHANNEL: Refusal = Refusal::bad_request("Invalid channel ID");
pub const CHANNEL_DOES_NOT_EXIST: Refusal =
    Refusal::new(400, "STREAM_DOES_NOT_EXIST", "Channel with ID '{id}' does not exist");
pub const NOT_CHANNEL_ADMINISTRATOR: Refusal =
    Refusal::new(400, "CANNOT_ADMINISTER_CHANNEL", "You do not have permission to administer this channel.");
pub const NO_CHANNEL_WILDCARD: Refusal = Refusal::new(
    400,
    "STREAM_WILDCARD_MENTION_NOT_ALLOWED",
    "You do not have permission to use channel wildcard mentions in this channel.",
);
pub const NO_REACTION: Refusal = Refusal::new(400, "REACTION_DOES_NOT_EXIST", "Reaction doesn't exist.");
pub const NO_QUEUE: Refusal = Refusal::new(400, "BAD_EVENT_QUEUE_ID", "Bad event queue ID: {queue}");

/// A condition of a rule.
#[derive(Clone, Copy, Debug)]
pub enum Condition {
    Person,
    Bot,
    NoGuest,
    Administrator,
    Owner,
    /// Is the creator of the object.
    Maker,
    /// Has a permission of the organization, the channel or the group.
    Holds(&'static Setting),
    /// Any of these conditions.
    Any(&'static [Self]),
    /// All of these.
    All(&'static [Self]),
    /// May access a member without a shared channel.
    KnowsBystander,
    /// `direct_message_permission_group` has members.
    DirectMessagesAreOn,
    /// The caller or the other member may use direct messages.
    DirectMessageIsAuthorized,
    /// May read the channel's messages: those of the time of their subscription at least.
    ReadsChannel,
    /// May know of the channel.
    SeesChannel,
    /// May read a message from when the channel was new.
    ReadsMessage,
    Subscribed,
    /// Was subscribed when the channel was created: received its messages, and wrote and reacted like all initial
    /// subscribers.
    WasThere,
    AdministersChannel,
    /// Has the channel's permission to post, or is the bot of a user who has it.
    MayPost,
    /// The channel is one of these.
    Is(&'static [ChannelKind]),
    /// The channel is none of these.
    IsNot(&'static [ChannelKind]),
    Nobody,
}

use Condition::{
    AdministersChannel, Administrator, All, Any, Bot, DirectMessageIsAuthorized, DirectMessagesAreOn, Holds,
    Is, IsNot, KnowsBystander, Maker, MayPost, NoGuest, Nobody, Owner, Person, ReadsChannel, ReadsMessage,
    SeesChannel, Subscribed, WasThere,
};

impl Condition {
    pub fn is_met(&self, s: &Situation) -> bool {
        let is_guest = s.who == Who::Guest;
        match self {
            Person => !Bot.is_met(s),
            Bot => matches!(s.who, Who::Bot | Who::WebhookBot),
            NoGuest => !is_guest,
            Administrator => matches!(s.who, Who::Owner | Who::Administrator),
            Owner => s.who == Who::Owner,
            Maker => s.who == Who::Maker,
            Holds(setting) => s.holds(setting),
            Any(conditions) => conditions.iter().any(|condition| condition.is_met(s)),
            All(conditions) => conditions.iter().all(|condition| condition.is_met(s)),
            KnowsBystander => s.holds(&ACCESS_ALL_USERS),
            DirectMessagesAreOn => !s.change.is_some_and(|(setting, value)| {
                *setting == DIRECT_MESSAGE_PERMISSION && value == Holders::Nobody
            }),
            // The member is a full one, but none of the table.
            DirectMessageIsAuthorized => {
                let is_named = s.change == Some((&DIRECT_MESSAGE_PERMISSION, Holders::Named));
                s.holds(&DIRECT_MESSAGE_PERMISSION)
                    || !is_named && s.is_held_by(&DIRECT_MESSAGE_PERMISSION, Who::FullMember)
            }
            ReadsChannel => {
                s.kind == ChannelKind::WebPublic
                    || Subscribed.is_met(s)
                    || !is_guest && !s.kind.is_private()
                    || s.holds(&CHANNEL_ADD_SUBSCRIBERS)
                    || s.holds(&CHANNEL_SUBSCRIBE)
            }
            SeesChannel => ReadsChannel.is_met(s) || AdministersChannel.is_met(s),
            ReadsMessage => {
                ReadsChannel.is_met(s) && (s.kind != ChannelKind::PrivateProtected || WasThere.is_met(s))
            }
            Subscribed => s.relation == Relation::In,
            WasThere => matches!(s.relation, Relation::In | Relation::Left),
            AdministersChannel => Administrator.is_met(s) || s.holds(&CHANNEL_ADMINISTER),
            MayPost => {
                s.holds(&CHANNEL_SEND) || Bot.is_met(s) && s.is_held_by(&CHANNEL_SEND, Who::FullMember)
            }
            Is(kinds) => kinds.contains(&s.kind),
            IsNot(kinds) => !kinds.contains(&s.kind),
            Nobody => false,
        }
    }

    /// The condition in words.
    pub fn words(&self) -> String {
        let list = |conditions: &[Self], joint: &str| {
            conditions.iter().map(Self::words).collect::<Vec<_>>().join(joint)
        };
        let kinds = |kinds: &[ChannelKind]| {
            kinds.iter().map(|kind| kind.title().replace(',', " with")).collect::<Vec<_>>().join(" or ")
        };
        match self {
            Person => "is not a bot".to_owned(),
            Bot => "is a bot".to_owned(),
            NoGuest => "is not a guest".to_owned(),
            Administrator => "is an administrator".to_owned(),
            Owner => "is an owner".to_owned(),
            Maker => "created it".to_owned(),
            Holds(setting) => match setting.of {
                settings::Of::Organization => format!("is in `{}`", setting.name),
                settings::Of::Channel => format!("is in the channel's `{}`", setting.name),
                settings::Of::Group => format!("is in the group's `{}`", setting.name),
            },
            Any(conditions) => list(conditions, " or "),
            All(conditions) => list(conditions, " and "),
            KnowsBystander => format!("is in `{}` or shares a channel", ACCESS_ALL_USERS.name),
            DirectMessagesAreOn => format!("`{}` is not `role:nobody`", DIRECT_MESSAGE_PERMISSION.name),
            DirectMessageIsAuthorized => {
                format!("one of the two is in `{}`", DIRECT_MESSAGE_PERMISSION.name)
            }
            ReadsChannel => "may read the channel".to_owned(),
            SeesChannel => "may know of the channel".to_owned(),
            ReadsMessage => "may read the message".to_owned(),
            Subscribed => "is subscribed".to_owned(),
            WasThere => "did so while subscribed".to_owned(),
            AdministersChannel => "administers the channel".to_owned(),
            MayPost => format!("is in the channel's `{}`, or its owner is", CHANNEL_SEND.name),
            Is(list) => format!("the channel is {}", kinds(list)),
            IsNot(list) => format!("the channel is not {}", kinds(list)),
            Nobody => "never allowed".to_owned(),
        }
    }

    /// The settings that it names.
    pub fn settings(&self) -> Vec<&'static Setting> {
        match self {
            Holds(setting) => vec![setting],
            Any(conditions) | All(conditions) => conditions.iter().flat_map(Self::settings).collect(),
            KnowsBystander => vec![&ACCESS_ALL_USERS],
            DirectMessagesAreOn | DirectMessageIsAuthorized => vec![&DIRECT_MESSAGE_PERMISSION],
            AdministersChannel => vec![&CHANNEL_ADMINISTER],
            MayPost => vec![&CHANNEL_SEND],
            _ => Vec::new(),
        }
    }

    /// The settings that let people into private channels, where it asks about access.
    pub fn access_settings(&self) -> Vec<&'static Setting> {
        match self {
            Any(conditions) | All(conditions) => conditions.iter().flat_map(Self::access_settings).collect(),
            ReadsChannel | ReadsMessage => vec![&CHANNEL_ADD_SUBSCRIBERS, &CHANNEL_SUBSCRIBE],
            SeesChannel => vec![&CHANNEL_ADD_SUBSCRIBERS, &CHANNEL_SUBSCRIBE, &CHANNEL_ADMINISTER],
            _ => Vec::new(),
        }
    }
}

/// The way in for which the table has all situations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Door {
    /// The API key in the header.
    Key,
    /// A session of a browser. Only people have one, even if there are rows for bots.
    Session,
}

/// Like [`judge`], for one who comes by this way.
pub fn judge_at(door: Door, action: &Action, situation: &Situation) -> Result<(), Refusal> {
    let (rule, is_for_webhooks) = (action.rule, action.is_for_webhooks);
    match (door, situation.who) {
        (Door::Session, Who::Bot | Who::WebhookBot | Who::Outsider) if action.is_for_visitors => Ok(()),
        (Door::Session, Who::Bot | Who::WebhookBot) => Err(NOT_LOGGED_IN),
        (Door::Session, Who::Deactivated) => Err(DEACTIVATED_WITH_SESSION),
        _ => judge(rule, is_for_webhooks, situation),
    }
}

/// Evaluates a rule for a caller. Returns the error, if any. Credentials are checked first.
pub fn judge(rule: Rule, is_for_webhooks: bool, situation: &Situation) -> Result<(), Refusal> {
    match situation.who {
        Who::Outsider => return Err(NOT_LOGGED_IN),
        Who::Deactivated => return Err(DEACTIVATED),
        Who::WebhookBot if !is_for_webhooks => return Err(NO_WEBHOOKS),
        _ => {}
    }
    match rule.iter().find(|(condition, _)| !condition.is_met(situation)) {
        Some((_, refusal)) => Err(*refusal),
        None => Ok(()),
    }
}

pub const ANYBODY: Rule = &[];
pub const PEOPLE: Rule = &[(Person, NO_BOTS)];
pub const ADMINISTRATORS: Rule = &[(Administrator, NOT_ADMINISTRATOR)];
pub const OWNERS: Rule = &[(Owner, NOT_OWNER)];
pub const READERS_OF_THE_MESSAGE: Rule = &[(ReadsMessage, NO_MESSAGE)];
pub const NOT_ARCHIVED: Condition = IsNot(&[ChannelKind::Archived]);

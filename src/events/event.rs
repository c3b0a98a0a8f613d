//! The trait of events: storage, delivery, and wire format.

use super::{QueueId, Registration};
use crate::types::{MessageId, UserId};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::Write;

/// An event, as sent to clients.
///
/// The value itself has the members of the wire, without `type`, `op` and `id`. Facts that only decide about delivery
/// are in [`Routing`](Self::Routing), which is stored separately and never sent. [`deliver`](Self::deliver) decides if
/// an event is delivered to a queue, and in which variant.
///
/// Most events look the same to all receivers: `uniform_event!` implements the trait for those.
pub trait Event: Serialize + DeserializeOwned + Send + Sync + 'static {
    /// The event's `type` on the wire, which a queue's `event_types` filters.
    const TYPE: &'static str;

    /// The event's `op` on the wire, for types that always have the same one. Where it differs, it is a member.
    const OP: Option<&'static str> = None;

    /// The name in the log, unique among all events: that of the type, or for one of several with a type, such as
    /// `stream/create`.
    const NAME: &'static str = Self::TYPE;

    /// The version of the stored form. It grows when older rows cannot be read as this type any more, be it the members or
    /// the routing; queues that wait for such a row expire.
    const VERSION: u32;

    /// Data that decides about delivery but is not sent, such as the holders of flags. `()` if there is none.
    type Routing: Serialize + DeserializeOwned + Send + Sync + 'static;

    /// The variants that receivers can get. Each is serialized once and shared by all queues that get it.
    type Variant: Copy + Eq + Send + Sync + 'static;

    /// Returns the variant for a receiver, or `None` if the receiver must not get the event.
    fn deliver(&self, routing: &Self::Routing, receiver: &Receiver<'_>) -> Option<Self::Variant>;

    /// Serializes a variant.
    fn form(&self, routing: &Self::Routing, variant: Self::Variant) -> serde_json::Result<Form>;

    /// Writes members that only this receiver gets, after those of the variant.
    fn personal(&self, _routing: &Self::Routing, _receiver: &Receiver<'_>, _members: &mut Members<'_>) {}

    /// The message whose text the event has. Queues that have not got the event when the message is deleted do not get the
    /// text: see [`Self::without_text`].
    fn message_id(&self) -> Option<MessageId> {
        None
    }

    /// The event without the text of its message; `None` if it is about nothing but the message and `gone` ones (ascending).
    fn without_text(self, _gone: &[MessageId]) -> Option<Self>
    where
        Self: Sized,
    {
        None
    }
}

/// An [`Event`] in the list of all events. Only these can be emitted, because others could not be read back from the
/// log. Implemented only by `register_events!`.
pub trait Registered: Event {}

/// An event with the facts that decide about its delivery.
#[derive(Clone, Debug)]
pub struct Routed<E: Event> {
    pub event: E,
    /// Routing data of the event.
    pub routing: E::Routing,
}

impl<E: Event<Routing = ()>> From<E> for Routed<E> {
    fn from(event: E) -> Self {
        Self { event, routing: () }
    }
}

/// A queue that may get an event, with its user and registration.
#[derive(Clone, Copy)]
pub struct Receiver<'a> {
    /// The user whose queue it is.
    pub user_id: UserId,
    pub queue_id: &'a QueueId,
    /// The registration of its queue.
    pub registration: &'a Registration,
}

/// A serialized variant of an event: its members as JSON text, `type` first, without `id` and braces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Form(String);

impl Form {
    /// Writes an event with all its members.
    pub fn of<E: Event>(event: &E) -> serde_json::Result<Self> {
        Self::with_members::<E>(event)
    }

    /// Writes other members under the `type` and `op` of an event type. `members` is an object.
    pub fn with_members<E: Event>(members: &impl Serialize) -> serde_json::Result<Self> {
        Self::write(E::TYPE, E::OP, members)
    }

    /// Writes other members under the `type` of an event type and another `op`. `members` is an object.
    pub fn with_op<E: Event>(op: &str, members: &impl Serialize) -> serde_json::Result<Self> {
        Self::write(E::TYPE, Some(op), members)
    }

    fn write(event_type: &str, op: Option<&str>, members: &impl Serialize) -> serde_json::Result<Self> {
        let members = serde_json::to_string(members)?;
        let mut form = String::with_capacity(members.len() + 48);
        // Writing to a string cannot fail.
        let _infallible = write!(form, "\"type\":\"{event_type}\"");
        if let Some(op) = op {
            let _infallible = write!(form, ",\"op\":\"{op}\"");
        }
        push_members(&members, &mut form);
        Ok(Self(form))
    }

    /// Returns the JSON text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Appends the members of an object to others.
fn push_members(object: &str, out: &mut String) {
    let members = object.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).unwrap_or_default();
    if !members.is_empty() {
        out.push(',');
        out.push_str(members);
    }
}

/// The members of one receiver's copy of an event.
pub struct Members<'a> {
    out: &'a mut String,
    error: Option<serde_json::Error>,
}

impl<'a> Members<'a> {
    /// Appends to an object that has members already.
    pub(super) fn new(out: &'a mut String) -> Self {
        Self { out, error: None }
    }

    /// Adds the members of an object. `docs/openapi.yaml` describes them by its type.
    pub fn add(&mut self, object: &impl Serialize) {
        match serde_json::to_string(object) {
            Ok(object) => push_members(&object, self.out),
            Err(error) => self.error = Some(error),
        }
    }

    /// Returns whether all members were written.
    pub(super) fn finish(self) -> serde_json::Result<()> {
        self.error.map_or(Ok(()), Err)
    }
}

/// Implements [`Event`] for a type with one variant: all receivers get the same event.
///
/// ```ignore
/// // For the whole audience.
/// uniform_event!(InvitesChanged: "invites_changed", version 1);
/// uniform_event!(DraftRemoved: "drafts", op "remove", version 1);
/// // With a name in the log that does not follow from `type` and `op`.
/// uniform_event!(SnippetChanged: "saved_snippets", name "saved_snippets/change", version 1);
/// // For the receivers for which a function returns true. It gets the receiver, or the routing and the receiver.
/// uniform_event!(LinkifiersChanged: "realm_linkifiers", version 1, if knows_url_templates);
/// uniform_event!(StreamDeleted: "stream", op "delete", version 1, routing ChannelRouting, if ChannelRouting::reaches);
/// ```
///
/// Without a `name`, the name in the log is `type/op`, or `type` for events without `op`.
macro_rules! uniform_event {
    ($event:ty: $type:literal $(, op $op:literal)? $(, name $name:literal)?, version $version:literal) => {
        $crate::events::uniform_event!(@impl $event, $type, [$($op)?], [$($name)?], $version, (), |_, _| true);
    };
    (
        $event:ty: $type:literal $(, op $op:literal)? $(, name $name:literal)?, version $version:literal,
        if $decide:expr
    ) => {
        $crate::events::uniform_event!(
            @impl $event, $type, [$($op)?], [$($name)?], $version, (), |_, receiver| $decide(receiver)
        );
    };
    (
        $event:ty: $type:literal $(, op $op:literal)? $(, name $name:literal)?, version $version:literal,
        routing $routing:ty, if $decide:expr
    ) => {
        $crate::events::uniform_event!(
            @impl $event, $type, [$($op)?], [$($name)?], $version, $routing, $decide
        );
    };
    (@impl $event:ty, $type:literal, $op:tt, $name:tt, $version:literal, $routing:ty, $decide:expr) => {
        impl $crate::events::Event for $event {
            const TYPE: &'static str = $type;
            const OP: Option<&'static str> = $crate::events::uniform_event!(@op $op);
            const NAME: &'static str = $crate::events::uniform_event!(@name $type, $op, $name);
            const VERSION: u32 = $version;
            type Routing = $routing;
            type Variant = ();

            fn deliver(&self, routing: &$routing, receiver: &$crate::events::Receiver<'_>) -> Option<()> {
                let decide: fn(&$routing, &$crate::events::Receiver<'_>) -> bool = $decide;
                decide(routing, receiver).then_some(())
            }

            fn form(&self, _routing: &$routing, _variant: ()) -> serde_json::Result<$crate::events::Form> {
                $crate::events::Form::of(self)
            }
        }
    };
    (@op []) => { None };
    (@op [$op:literal]) => { Some($op) };
    (@name $type:literal, $op:tt, [$name:literal]) => { $name };
    (@name $type:literal, [$op:literal], []) => { concat!($type, "/", $op) };
    (@name $type:literal, [], []) => { $type };
}
pub(crate) use uniform_event;

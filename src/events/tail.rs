//! The recent end of the log in memory, shared by all queues.

use super::{Audience, EventType, Receiver, Verdict, log::LogRow};
use crate::store::Committed;
use crate::types::EventId;
use serde_json::Value;
use std::collections::VecDeque;
use std::fmt::Write;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Events kept in memory; a queue that is further behind reads the table.
const MAX_EVENTS: usize = 4096;

/// Bytes of payload kept in memory. Forms made for receivers may add as much again.
const MAX_BYTES: usize = 1 << 20;

/// An event on its way to its receivers.
pub struct TailEvent {
    /// Its number in the log.
    pub id: EventId,
    /// Its type on the wire.
    pub kind: Box<str>,
    /// Who it is for.
    pub audience: Audience,
    payload: Box<str>,
    /// Set for types whose copies differ between receivers.
    differing: Option<&'static EventType>,
    parsed: OnceLock<Value>,
    forms: Mutex<Vec<(u8, Arc<str>)>>,
}

impl TailEvent {
    /// An event that was just committed.
    pub fn committed(committed: Committed, types: &'static [EventType]) -> Self {
        let event = committed.event;
        Self::new(committed.id, event.kind.into(), event.audience, event.payload, types)
    }

    /// An event read from the log.
    pub fn logged(row: LogRow, types: &'static [EventType]) -> Self {
        Self::new(row.id, row.kind.into(), row.audience, row.payload, types)
    }

    fn new(
        id: EventId,
        kind: Box<str>,
        audience: Audience,
        payload: Box<str>,
        types: &'static [EventType],
    ) -> Self {
        let differing = types.iter().find(|listed| *listed.name == *kind);
        Self { id, kind, audience, payload, differing, parsed: OnceLock::new(), forms: Mutex::default() }
    }

    /// Writes the event as a receiver sees it; answers whether the receiver gets it at all.
    pub fn write_for(&self, receiver: &Receiver<'_>, out: &mut String) -> bool {
        let Some(kind) = self.differing else {
            self.write_object(&self.payload, "", out);
            return true;
        };
        let event = self.parsed.get_or_init(|| serde_json::from_str(&self.payload).unwrap_or(Value::Null));
        let Verdict::Form(number) = (kind.verdict)(event, receiver) else { return false };
        let form = self.form(kind, event, number);
        self.write_object(&form, &(kind.personal)(event, receiver), out);
        true
    }

    /// A form, made once.
    fn form(&self, kind: &EventType, event: &Value, number: u8) -> Arc<str> {
        let mut forms = self.forms.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, form)) = forms.iter().find(|(made, _)| *made == number) {
            return Arc::clone(form);
        }
        let form: Arc<str> = (kind.form)(event, number).into();
        forms.push((number, Arc::clone(&form)));
        form
    }

    /// Joins the id, an object's members and more members.
    fn write_object(&self, object: &str, more: &str, out: &mut String) {
        // Writing to a string cannot fail.
        let _infallible = write!(out, "{{\"id\":{}", self.id);
        let members = object.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).unwrap_or_default();
        for part in [members, more] {
            if !part.is_empty() {
                out.push(',');
                out.push_str(part);
            }
        }
        out.push('}');
    }
}

/// The newest events, in order.
pub struct Tail {
    events: VecDeque<Arc<TailEvent>>,
    bytes: usize,
    /// Every event with a greater number is here.
    base: EventId,
}

impl Tail {
    /// A tail that starts after an event.
    pub fn after(base: EventId) -> Self {
        Self { events: VecDeque::new(), bytes: 0, base }
    }

    /// Events with greater numbers are all here.
    pub fn base(&self) -> EventId {
        self.base
    }

    /// Adds the newest event and lets the oldest go.
    pub fn push(&mut self, event: Arc<TailEvent>) {
        self.bytes += event.payload.len();
        self.events.push_back(event);
        while self.events.len() > MAX_EVENTS || (self.bytes > MAX_BYTES && self.events.len() > 1) {
            if let Some(oldest) = self.events.pop_front() {
                self.bytes -= oldest.payload.len();
                self.base = oldest.id;
            }
        }
    }

    /// The events after a number, oldest first.
    pub fn after_id(&self, after: EventId) -> impl Iterator<Item = &Arc<TailEvent>> {
        let start = self.events.partition_point(|event| event.id <= after);
        self.events.range(start..)
    }
}

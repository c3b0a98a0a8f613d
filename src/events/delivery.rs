//! Events as queues share them while they are delivered: the typed value, and the forms that were written of it so far.

use super::event::{Event, Form, Members, Receiver, Routed};
use parking_lot::Mutex;
use std::sync::Arc;

/// An event of any type, shared by all queues that may get it.
pub trait Deliverable: Send + Sync {
    /// Appends the members of a receiver's copy, without `id` and braces, and returns whether the receiver gets the event
    /// at all.
    fn write_for(&self, receiver: &Receiver<'_>, out: &mut String) -> serde_json::Result<bool>;
}

/// An event of one type.
struct Shared<E: Event> {
    routed: Routed<E>,
    /// One form of each variant that a receiver got. There are few, so that a search beats a map.
    forms: Mutex<Vec<(E::Variant, Arc<Form>)>>,
}

/// Prepares an event for sharing.
pub fn share<E: Event>(routed: Routed<E>) -> Arc<dyn Deliverable> {
    Arc::new(Shared { routed, forms: Mutex::default() })
}

impl<E: Event> Shared<E> {
    /// Returns the form of a variant, which is written at its first use.
    fn form(&self, variant: E::Variant) -> serde_json::Result<Arc<Form>> {
        let mut forms = self.forms.lock();
        if let Some((_, form)) = forms.iter().find(|(of, _)| *of == variant) {
            return Ok(Arc::clone(form));
        }
        let Routed { event, routing } = &self.routed;
        let form = Arc::new(event.form(routing, variant)?);
        forms.push((variant, Arc::clone(&form)));
        Ok(form)
    }
}

impl<E: Event> Deliverable for Shared<E> {
    fn write_for(&self, receiver: &Receiver<'_>, out: &mut String) -> serde_json::Result<bool> {
        let Routed { event, routing } = &self.routed;
        let Some(variant) = event.deliver(routing, receiver) else { return Ok(false) };
        out.push_str(self.form(variant)?.as_str());
        let mut members = Members::new(out);
        event.personal(routing, receiver, &mut members);
        members.finish()?;
        Ok(true)
    }
}

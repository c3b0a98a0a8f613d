//! The events of the log that the queues need.
//!
//! The log is not trimmed up to the slowest queue, but of all events that no queue waits for: one queue that waits for a draft
//! does not keep everything that happened since.

use super::{Audience, QueueId, Registration};
use crate::types::{EventId, UserId};
use roaring::RoaringBitmap;
use std::collections::HashMap;
use std::sync::Arc;

/// Bytes of large events that are kept for a queue without a poll for ten minutes. Its client fetches the state again.
const MAX_BYTES_BEHIND_IDLE: i64 = 64 << 20;

/// An event is large if it has more bytes than this. The number of all events that are kept for a queue is limited as well.
const LARGE: i64 = 4 << 10;

/// A queue that waits for events.
pub struct Need {
    /// No event up to here is for it, or its client has them.
    pub after: EventId,
    /// The owner.
    pub user_id: UserId,
    /// The options of its registration.
    pub registration: Arc<Registration>,
    /// The name of the queue, if it was not polled for longer than usual.
    pub idle: Option<QueueId>,
}

/// The queues that wait for events, and which of the events they need. To be asked about events in the order of their ids.
pub struct Needs {
    /// The newest published event of the log when this was made. Queues may need all later ones.
    pub head: EventId,
    /// Ordered by their positions, the farthest ahead first.
    rest: Vec<Need>,
    by_type: HashMap<String, Wanting>,
    /// Queues that want all types.
    all_types: Wanting,
    idle: Vec<Idle>,
    idle_of: HashMap<u32, Vec<usize>>,
    idle_users: RoaringBitmap,
}

/// The queues that want one type of event, as far as the events have passed their positions.
#[derive(Default)]
struct Wanting {
    users: RoaringBitmap,
    /// True if one gets the events of all public channels.
    is_public: bool,
}

struct Idle {
    queue_id: QueueId,
    registration: Arc<Registration>,
    bytes: i64,
}

impl Wanting {
    fn add(&mut self, need: &Need) {
        self.users.extend(need.user_id.bit());
        self.is_public |= need.registration.all_public_streams;
    }

    fn want(&self, audience: &Audience) -> bool {
        !self.users.is_disjoint(audience.bitmap()) || (self.is_public && audience.is_also_public())
    }
}

impl Needs {
    /// The needs of queues; `head` is the newest published event of the log.
    pub fn new(head: EventId, mut needs: Vec<Need>) -> Self {
        needs.sort_unstable_by_key(|need| std::cmp::Reverse(need.after));
        Self {
            head,
            rest: needs,
            by_type: HashMap::new(),
            all_types: Wanting::default(),
            idle: Vec::new(),
            idle_of: HashMap::new(),
            idle_users: RoaringBitmap::new(),
        }
    }

    /// True if a queue needs an event of this size.
    pub fn is_needed(&mut self, id: EventId, event_type: &str, audience: &Audience, bytes: i64) -> bool {
        while let Some(need) = self.rest.pop_if(|need| need.after < id) {
            self.begin(need);
        }
        if bytes > LARGE {
            self.count(event_type, audience, bytes);
        }
        let of_type = self.by_type.get(event_type);
        self.all_types.want(audience) || of_type.is_some_and(|wanting| wanting.want(audience))
    }

    /// Takes up a queue whose position the events have passed.
    fn begin(&mut self, need: Need) {
        match &need.registration.event_types {
            None => self.all_types.add(&need),
            Some(types) => {
                for event_type in types {
                    self.by_type.entry(event_type.clone()).or_default().add(&need);
                }
            }
        }
        if let (Some(queue_id), Some(user)) = (need.idle, need.user_id.bit()) {
            self.idle_users.insert(user);
            self.idle_of.entry(user).or_default().push(self.idle.len());
            self.idle.push(Idle { queue_id, registration: need.registration, bytes: 0 });
        }
    }

    /// Counts a large event for the idle queues that wait for it.
    fn count(&mut self, event_type: &str, audience: &Audience, bytes: i64) {
        for user in audience.bitmap() & &self.idle_users {
            for index in self.idle_of.get(&user).into_iter().flatten() {
                if let Some(queue) = self.idle.get_mut(*index)
                    && queue.registration.wants(event_type)
                {
                    queue.bytes += bytes;
                }
            }
        }
    }

    /// The idle queues for which too many bytes would be kept.
    pub fn excessive(self) -> impl Iterator<Item = QueueId> {
        let far_behind = self.idle.into_iter().filter(|queue| queue.bytes > MAX_BYTES_BEHIND_IDLE);
        far_behind.map(|queue| queue.queue_id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn need(user_id: i64, after: i64, types: Option<&[&str]>, idle: Option<&QueueId>) -> Need {
        let event_types = types.map(|types| types.iter().map(|name| (*name).to_owned()).collect());
        let registration = Arc::new(Registration { event_types, ..Registration::default() });
        Need { after: EventId(after), user_id: UserId(user_id), registration, idle: idle.cloned() }
    }

    #[test]
    fn events_are_needed_by_type_audience_and_position() {
        let (drafts, all) = (Some(&["drafts"][..]), None);
        let mut needs = Needs::new(EventId(9), vec![need(1, 3, drafts, None), need(2, 5, all, None)]);
        let both = Audience::users([UserId(1), UserId(2)]);
        let mut is_needed = |id, name, audience: &Audience| needs.is_needed(EventId(id), name, audience, 1);
        assert!(!is_needed(3, "drafts", &both), "it has this one");
        assert!(is_needed(4, "drafts", &both));
        assert!(!is_needed(5, "message", &both), "one wants another type, one is ahead");
        assert!(is_needed(6, "message", &both));
        assert!(!is_needed(7, "drafts", &Audience::user(UserId(3))));
        assert!(!is_needed(8, "message", &Audience::user(UserId(1))));
    }

    #[test]
    fn events_of_public_channels_are_needed_by_queues_for_all_of_them() {
        let public = || Audience::user(UserId(7)).and_public_queues();
        let every = Registration {
            event_types: Some(vec!["message".to_owned()]),
            all_public_streams: true,
            ..Registration::default()
        };
        let every = Need { after: EventId(0), user_id: UserId(1), registration: Arc::new(every), idle: None };
        let mut needs = Needs::new(EventId(9), vec![every]);
        assert!(needs.is_needed(EventId(1), "message", &public(), 1));
        assert!(!needs.is_needed(EventId(2), "typing", &public(), 1));
        assert!(!needs.is_needed(EventId(3), "message", &Audience::user(UserId(7)), 1));
    }

    #[test]
    fn idle_queues_have_a_budget_of_bytes() {
        let [far, near, polled] = [0; 3].map(|_| QueueId::random());
        let mut needs = Needs::new(
            EventId(9),
            vec![
                need(1, 0, None, Some(&far)),
                need(1, 2, None, Some(&near)),
                need(1, 2, Some(&["drafts"]), Some(&polled)),
                need(1, 0, None, None),
            ],
        );
        for id in 1..=3 {
            let bytes = MAX_BYTES_BEHIND_IDLE / 2;
            assert!(needs.is_needed(EventId(id), "message", &Audience::user(UserId(1)), bytes));
        }
        assert_eq!(needs.excessive().collect::<Vec<_>>(), [far]);
    }
}

//! Who an event is for: a set of users, as it was when the event happened.

use super::QueueId;
use crate::types::UserId;
use roaring::RoaringBitmap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A set of users. Cheap to clone: events into the same channel share one set.
#[derive(Clone, Debug)]
pub struct Audience {
    members: Arc<Members>,
    /// Also the queues that asked for all public channels (`all_public_streams`).
    also_public: bool,
    /// One queue and no other, whoever the users are.
    queue: Option<QueueId>,
}

#[derive(Debug)]
struct Members {
    /// Names this set for as long as the program runs, so that the log stores a large set once.
    serial: u64,
    users: RoaringBitmap,
}

impl Audience {
    /// These users.
    pub fn users(users: impl IntoIterator<Item = UserId>) -> Self {
        Self::set(users.into_iter().filter_map(UserId::bit).collect())
    }

    /// One user's own clients.
    pub fn user(user_id: UserId) -> Self {
        Self::users([user_id])
    }

    /// A prepared set.
    pub fn set(mut users: RoaringBitmap) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        users.optimize();
        let serial = NEXT.fetch_add(1, Ordering::Relaxed);
        Self { members: Arc::new(Members { serial, users }), also_public: false, queue: None }
    }

    /// One queue: what is said to a connection rather than to a person.
    pub fn queue(queue_id: QueueId) -> Self {
        Self { queue: Some(queue_id), ..Self::set(RoaringBitmap::new()) }
    }

    /// The same, and the queues that asked for all public channels.
    #[must_use]
    pub fn and_public_queues(mut self) -> Self {
        self.also_public = true;
        self
    }

    /// The same, and one user more.
    #[must_use]
    pub fn with(&self, user_id: UserId) -> Self {
        let mut users = self.members.users.clone();
        users.extend(user_id.bit());
        Self { also_public: self.also_public, queue: self.queue.clone(), ..Self::set(users) }
    }

    /// The users.
    pub fn bitmap(&self) -> &RoaringBitmap {
        &self.members.users
    }

    /// Whether the queues of all public channels get it too.
    pub fn is_also_public(&self) -> bool {
        self.also_public
    }

    /// Whether it is for this user.
    pub fn contains(&self, user_id: UserId) -> bool {
        user_id.bit().is_some_and(|bit| self.members.users.contains(bit))
    }

    /// Whether it is for nobody.
    pub fn is_empty(&self) -> bool {
        self.members.users.is_empty() && !self.also_public && self.queue.is_none()
    }

    /// The one queue that it is for, if it is for a queue.
    pub fn only_queue(&self) -> Option<&QueueId> {
        self.queue.as_ref()
    }

    /// The set's name while the program runs.
    pub(super) fn serial(&self) -> u64 {
        self.members.serial
    }
}

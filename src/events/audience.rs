//! The audience of an event: a set of users, computed when the event happened.

use super::QueueId;
use crate::types::UserId;
use roaring::RoaringBitmap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A set of users. Cheap to clone: events into the same channel share one set.
#[derive(Clone, Debug)]
pub struct Audience {
    members: Arc<Members>,
    /// True if queues with `all_public_streams` are included.
    also_public: bool,
    /// The only queue of the audience, regardless of the users.
    queue: Option<QueueId>,
}

#[derive(Debug)]
struct Members {
    /// Identifies the set while the program runs, so that the log stores a large set once.
    serial: u64,
    users: RoaringBitmap,
}

impl Audience {
    /// An audience of these users.
    pub fn users(users: impl IntoIterator<Item = UserId>) -> Self {
        Self::set(users.into_iter().filter_map(UserId::bit).collect())
    }

    /// An audience of one user: their own clients.
    pub fn user(user_id: UserId) -> Self {
        Self::users([user_id])
    }

    /// An audience of a set of users.
    pub fn set(mut users: RoaringBitmap) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        users.optimize();
        // A copy has no spare capacity, and audiences wait as long as their events.
        let users = users.clone();
        let serial = NEXT.fetch_add(1, Ordering::Relaxed);
        Self { members: Arc::new(Members { serial, users }), also_public: false, queue: None }
    }

    /// An audience of one queue, for events about a connection.
    pub fn queue(queue_id: QueueId) -> Self {
        Self { queue: Some(queue_id), ..Self::set(RoaringBitmap::new()) }
    }

    /// Adds the queues that asked for all public channels.
    #[must_use]
    pub fn and_public_queues(mut self) -> Self {
        self.also_public = true;
        self
    }

    /// Returns the audience with one more user.
    #[must_use]
    pub fn with(&self, user_id: UserId) -> Self {
        let mut users = self.members.users.clone();
        users.extend(user_id.bit());
        Self { also_public: self.also_public, queue: self.queue.clone(), ..Self::set(users) }
    }

    /// Returns the users.
    pub fn bitmap(&self) -> &RoaringBitmap {
        &self.members.users
    }

    /// True if queues with `all_public_streams` are in the audience too.
    pub fn is_also_public(&self) -> bool {
        self.also_public
    }

    /// True if a user is in the audience.
    pub fn contains(&self, user_id: UserId) -> bool {
        user_id.is_in(&self.members.users)
    }

    /// True if the audience is empty.
    pub fn is_empty(&self) -> bool {
        self.members.users.is_empty() && !self.also_public && self.queue.is_none()
    }

    /// Returns the queue of an audience of one queue.
    pub fn only_queue(&self) -> Option<&QueueId> {
        self.queue.as_ref()
    }

    /// Returns about how much memory the set takes, in bytes: each 65,536 ids are a container of its own.
    pub(super) fn size(&self) -> usize {
        let users = self.bitmap();
        size_of::<Members>() + users.serialized_size() + users.statistics().n_containers as usize * 48
    }

    /// Returns a number that identifies the set while the program runs.
    pub(super) fn serial(&self) -> u64 {
        self.members.serial
    }
}

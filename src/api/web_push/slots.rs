//! Slots for concurrent requests to push services. A slow service delays its own browsers, and a person with slow ones
//! delays themselves.

use crate::api::web_push::queue::DueNotification;
use crate::types::UserId;
use std::collections::{BTreeMap, VecDeque};

/// Maximum number of concurrent requests.
const SLOTS: usize = 64;

/// Maximum number of them to one host.
const SLOTS_OF_HOST: usize = 16;

/// Maximum number of them for one person.
const SLOTS_OF_USER: usize = 4;

/// The requests that are running.
#[derive(Default)]
pub struct Slots(Vec<Slot>);

struct Slot {
    subscription_id: i64,
    user_id: UserId,
    host: String,
}

impl Slots {
    /// True if a host gets no further request.
    fn is_full(&self, host: &str) -> bool {
        self.0.len() >= SLOTS || self.count(|slot| slot.host == host) >= SLOTS_OF_HOST
    }

    /// True if a person may have another request. A subscription has one request at a time, so that its notifications stay in
    /// order.
    fn has_room(&self, due: &DueNotification) -> bool {
        !self.contains(due.key.subscription_id)
            && self.count(|slot| slot.user_id == due.user_id) < SLOTS_OF_USER
    }

    fn count(&self, is_counted: impl Fn(&Slot) -> bool) -> usize {
        self.0.iter().filter(|slot| is_counted(slot)).count()
    }

    /// True if a subscription has a slot.
    pub fn contains(&self, subscription_id: i64) -> bool {
        self.0.iter().any(|slot| slot.subscription_id == subscription_id)
    }

    /// Frees the slot of a subscription.
    pub fn free(&mut self, subscription_id: i64) {
        self.0.retain(|slot| slot.subscription_id != subscription_id);
    }
}

/// Due notifications that wait for slots, with their numbers in the order of their times, by host. The notifications of a host that
/// has no slot left are not looked at, since there may be thousands.
#[derive(Default)]
pub struct WaitingForSlots(BTreeMap<String, VecDeque<(usize, DueNotification)>>);

impl WaitingForSlots {
    /// Takes due notifications in their order. `host_of` returns the host that gets one.
    pub fn new(
        due: impl IntoIterator<Item = DueNotification>,
        host_of: impl Fn(&DueNotification) -> String,
    ) -> Self {
        let mut waiting = Self::default();
        for (number, due) in due.into_iter().enumerate() {
            waiting.0.entry(host_of(&due)).or_default().push_back((number, due));
        }
        waiting
    }

    /// Number of notifications.
    pub fn count(&self) -> usize {
        self.0.values().map(VecDeque::len).sum()
    }

    /// Gives a slot to the first notification for which one is free, and returns it.
    pub fn start_next(&mut self, slots: &mut Slots) -> Option<DueNotification> {
        let hosts = self.0.iter().filter(|(host, _)| !slots.is_full(host));
        let startable = hosts.filter_map(|(host, waiting)| {
            let index = waiting.iter().position(|(_, due)| slots.has_room(due))?;
            Some((waiting[index].0, index, host.clone()))
        });
        let (_, index, host) = startable.min()?;
        let (_, due) = self.0.get_mut(&host)?.remove(index)?;
        slots.0.push(Slot { subscription_id: due.key.subscription_id, user_id: due.user_id, host });
        Some(due)
    }

    /// Removes the notifications of a subscription.
    pub fn remove(&mut self, subscription_id: i64) {
        for waiting in self.0.values_mut() {
            waiting.retain(|(_, due)| due.key.subscription_id != subscription_id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::web_push::queue::NotificationKey;

    /// A notification of a subscription, a user and a host.
    fn due(subscription_id: i64, user_id: i64, host: &str) -> DueNotification {
        let key = NotificationKey { subscription_id, tag: "dm/1".to_owned() };
        DueNotification { key, endpoint: Some(host.to_owned()), user_id: UserId(user_id) }
    }

    fn waiting(due: impl IntoIterator<Item = DueNotification>) -> WaitingForSlots {
        WaitingForSlots::new(due, |due| due.endpoint.clone().unwrap())
    }

    /// Starts as many as there are slots. Returns their subscriptions.
    fn start(slots: &mut Slots, waiting: &mut WaitingForSlots) -> Vec<i64> {
        std::iter::from_fn(|| waiting.start_next(slots)).map(|due| due.key.subscription_id).collect()
    }

    #[test]
    fn hosts_people_and_subscriptions_have_shares() {
        let mut slots = Slots::default();
        let mut of_one = waiting((0..7).map(|id| due(id.max(1), 1, &id.to_string())));
        assert_eq!(start(&mut slots, &mut of_one), [1, 2, 3, 4], "one for a subscription, four for a person");
        assert_eq!(of_one.count(), 3);
        let mut of_host = waiting((10..40).map(|id| due(id, id, "a")));
        assert_eq!(start(&mut slots, &mut of_host), (10..26).collect::<Vec<_>>(), "sixteen for a host");
        let mut of_all = waiting((100..200).map(|id| due(id, id, &id.to_string())));
        assert_eq!(start(&mut slots, &mut of_all).len(), 64 - 4 - 16, "sixty-four for all");
        slots.free(1);
        assert!(!slots.contains(1));
        assert_eq!(start(&mut slots, &mut of_host), [0; 0], "the host has its share");
        assert_eq!(start(&mut slots, &mut of_one), [1], "the same subscription again");
    }

    #[test]
    fn notifications_start_in_their_order() {
        let mut slots = Slots::default();
        let mut all = waiting([(1, "b"), (2, "a"), (3, "b"), (4, "a")].map(|(id, host)| due(id, id, host)));
        all.remove(3);
        assert_eq!(start(&mut slots, &mut all), [1, 2, 4]);
    }
}

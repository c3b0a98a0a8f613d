//! Slots for concurrent requests to push services. A slow service delays its own browsers, and a person with slow ones
//! delays themselves.

use crate::api::web_push::queue::DueNotification;
use crate::types::UserId;

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
    /// Takes a slot for a notification, if one is free. A subscription has one request at a time, so that its notifications stay
    /// in order.
    pub fn take(&mut self, due: &DueNotification, host: &str) -> bool {
        let count =
            |is_counted: &dyn Fn(&Slot) -> bool| self.0.iter().filter(|slot| is_counted(slot)).count();
        let subscription_id = due.key.subscription_id;
        let has_room = self.0.len() < SLOTS
            && !self.contains(subscription_id)
            && count(&|slot| slot.user_id == due.user_id) < SLOTS_OF_USER
            && count(&|slot| slot.host == host) < SLOTS_OF_HOST;
        if has_room {
            self.0.push(Slot { subscription_id, user_id: due.user_id, host: host.to_owned() });
        }
        has_room
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::web_push::queue::NotificationKey;

    fn due(subscription_id: i64, user_id: i64) -> DueNotification {
        let key = NotificationKey { subscription_id, tag: "dm/1".to_owned() };
        DueNotification { key, endpoint: None, user_id: UserId(user_id) }
    }

    #[test]
    fn hosts_people_and_subscriptions_have_shares() {
        let mut slots = Slots::default();
        assert!(slots.take(&due(1, 1), "a"));
        assert!(!slots.take(&due(1, 1), "a"), "one for a subscription");
        let of_one: Vec<bool> = (2..7).map(|id| slots.take(&due(id, 1), &id.to_string())).collect();
        assert_eq!(of_one, [true, true, true, false, false], "four for a person");
        let of_host = (10..40).filter(|id| slots.take(&due(*id, *id), "a")).count();
        assert_eq!(of_host, 15, "sixteen for a host");
        let of_all = (100..200).filter(|id| slots.take(&due(*id, *id), &id.to_string())).count();
        assert_eq!(of_all, 64 - 4 - 15, "sixty-four for all");
        slots.free(1);
        assert!(slots.take(&due(1, 1), "a"));
    }
}

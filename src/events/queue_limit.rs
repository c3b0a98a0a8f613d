//! The number of queues of a person.

/// The most queues of a person with all their bots, and of all accounts that count with them. Each event for a user looks
/// at all queues of that user. For one more, that queue of the person expires which was not polled for the longest time.
pub const MAX_QUEUES_PER_USER: usize = 1024;

/// The most queues of a person, if all accounts that count with them have this number: the others leave a tenth at least.
pub(super) fn max_queues_of_person(counted: usize) -> usize {
    if counted < MAX_QUEUES_PER_USER { MAX_QUEUES_PER_USER } else { MAX_QUEUES_PER_USER / 10 }
}

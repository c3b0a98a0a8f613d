//! Slots for concurrent posts. Bots with slow servers delay themselves and bots of the same creator, and other bots
//! only if four people have created such bots.

use crate::domain::messages::webhook_queue::{self, QueuedRow, WaitingBot};
use rusqlite::Connection;

/// Maximum number of concurrent posts.
const SLOTS: usize = 64;

/// Maximum number of them for bots created by one person.
const SLOTS_OF_OWNER: usize = 16;

/// `SECURITY.md` has this number.
const _: () = assert!(SLOTS / SLOTS_OF_OWNER == 4);

/// Maximum number of them for one bot.
const SLOTS_OF_BOT: usize = 4;

/// Number of failed messages for one bot after which its messages are delayed.
const MAX_FAILED: usize = 16;

/// The messages that are being posted, and those that the server failed to handle.
#[derive(Default)]
pub struct Slots {
    running: Vec<Slot>,
    failed: Vec<Slot>,
}

/// One message for a bot.
struct Slot {
    bot: WaitingBot,
    row_id: i64,
}

/// Messages to post now, and the time of the next check.
#[derive(Default)]
pub struct Due {
    /// Messages that have a slot.
    pub rows: Vec<QueuedRow>,
    /// When more is due that finds a slot free, UNIX seconds.
    pub next: Option<i64>,
}

impl Slots {
    /// Assigns the free slots to due messages.
    pub fn fill(&mut self, connection: &Connection, now: i64) -> rusqlite::Result<Due> {
        let mut due = Due::default();
        for bot in webhook_queue::waiting_bots(connection)? {
            let failed = self.failed.iter().filter(|slot| slot.bot.bot_id == bot.bot_id).count();
            if failed >= MAX_FAILED || !self.has_room(bot) {
                continue;
            }
            for row in webhook_queue::first(connection, bot.bot_id, SLOTS_OF_BOT + failed)? {
                if self.running.iter().chain(&self.failed).any(|slot| slot.row_id == row.id) {
                    continue;
                }
                if row.next_try > now {
                    due.next = Some(due.next.map_or(row.next_try, |next| next.min(row.next_try)));
                    break;
                }
                if !self.has_room(bot) {
                    break;
                }
                self.running.push(Slot { bot, row_id: row.id });
                due.rows.push(row);
            }
        }
        Ok(due)
    }

    fn has_room(&self, bot: WaitingBot) -> bool {
        let count =
            |is_counted: &dyn Fn(&Slot) -> bool| self.running.iter().filter(|slot| is_counted(slot)).count();
        self.running.len() < SLOTS
            && count(&|slot| slot.bot.quota_owner == bot.quota_owner) < SLOTS_OF_OWNER
            && count(&|slot| slot.bot.bot_id == bot.bot_id) < SLOTS_OF_BOT
    }

    /// Frees the slot of a message. One that failed is not taken again.
    pub fn free(&mut self, row_id: i64, has_failed: bool) {
        if let Some(index) = self.running.iter().position(|slot| slot.row_id == row_id) {
            let slot = self.running.swap_remove(index);
            if has_failed {
                self.failed.push(slot);
            }
        }
    }
}

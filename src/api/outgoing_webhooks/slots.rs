//! Which messages are posted at a time: bots whose servers are slow hold up themselves and bots of the same maker, and
//! those of others only if four people have made such bots.

use crate::domain::messages::webhook_queue::{self, QueuedRow, WaitingBot};
use rusqlite::Connection;

/// How many messages are posted at a time.
const SLOTS: usize = 64;

/// How many of them are for bots that one person made.
const SLOTS_OF_OWNER: usize = 16;

/// How many of them are for one bot.
const SLOTS_OF_BOT: usize = 4;

/// How many messages for one bot the server may fail to handle before it tries no more of them for a while.
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

/// What to post now, and when to look again.
#[derive(Default)]
pub struct Due {
    /// What has got a slot.
    pub rows: Vec<QueuedRow>,
    /// When more is due that finds a slot free, UNIX seconds.
    pub next: Option<i64>,
}

impl Slots {
    /// Gives the free slots to what is due.
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
            && count(&|slot| slot.bot.accountable == bot.accountable) < SLOTS_OF_OWNER
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

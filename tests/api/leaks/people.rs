//! Steps that change accounts, groups, permissions and the time.

use super::Simulation;
use super::listen::{Expected, Listeners};
use super::rules::{Holders, SETTINGS, SYSTEM_GROUPS};
use crate::harness::Registered;
use serde_json::json;
use std::collections::BTreeSet;
use std::sync::Arc;
use teamchat::api::groups::emit_ended_waiting_periods;

const MINUTE: i64 = 60;

impl Simulation {
    /// Promotions and demotions, of deactivated people and of bots too.
    pub async fn change_role(&mut self) {
        let person = 1 + self.rng.below(self.people.len() - 1);
        let roles: &[i64] = match self.rules.accounts[person].owner {
            None => &[200, 300, 400, 400, 600, 600],
            Some(owner) if self.rules.accounts[owner].role == 600 => &[600],
            Some(_) => &[400, 600],
        };
        let role = self.rng.pick(roles).unwrap();
        let before = self.rules.accounts[person].role;
        // A guest becomes a member first.
        if role == before || (before == 600 && role == 200) {
            return;
        }
        let path = format!("/users/{}", self.people[person].user_id);
        self.people[0].patch(&path, json!({"role": role})).await.ok();
        self.done.push(format!("{person} gets role {role}"));
        let mut changed = vec![person];
        self.rules.accounts[person].role = role;
        if role == 600 {
            let bots = self.rules.accounts.iter().enumerate();
            let bots = bots.filter(|(_, bot)| bot.owner == Some(person) && bot.is_active && bot.role != 600);
            changed.extend(bots.map(|(bot, _)| bot).collect::<Vec<_>>());
        }
        for person in changed {
            self.rules.accounts[person].role = role;
            if let Some(listeners) = &mut self.listeners[person] {
                listeners.role_changed(&self.people[person], role).await;
            }
        }
        self.rules.settle();
    }

    /// Deactivates an account with its bots, or reactivates one.
    pub async fn change_account(&mut self) {
        let gone: Vec<usize> =
            (1..self.people.len()).filter(|person| !self.rules.is_active(*person)).collect();
        let wakes = gone.len() > 2 || (!gone.is_empty() && self.rng.below(2) == 0);
        if !wakes {
            let person = 1 + self.rng.below(self.people.len() - 1);
            if !self.rules.is_active(person) {
                return;
            }
            let kind = if self.rules.accounts[person].owner.is_some() { "bots" } else { "users" };
            self.people[0].delete(&format!("/{kind}/{}", self.people[person].user_id), ()).await.ok();
            self.done.push(format!("{person} is deactivated"));
            for other in 0..self.people.len() {
                let account = &mut self.rules.accounts[other];
                if other == person || account.owner == Some(person) {
                    account.is_active = false;
                    if let Some(listeners) = self.listeners[other].take() {
                        listeners.ignore();
                    }
                    let (gone, left) =
                        std::mem::take(&mut self.registered).into_iter().partition(|(who, _)| *who == other);
                    self.registered = left;
                    let gone: Vec<(usize, Vec<Registered>)> = gone;
                    gone.into_iter().flat_map(|(_, all)| all).for_each(Registered::ignore);
                }
            }
            self.rules.settle();
            return;
        }
        let person = self.rng.pick(&gone).unwrap();
        self.people[0].post(&format!("/users/{}/reactivate", self.people[person].user_id), ()).await.ok();
        self.server.restore_key(&self.people[person]).await;
        self.done.push(format!("{person} is reactivated"));
        self.rules.accounts[person].is_active = true;
        if let Some(owner) = self.rules.accounts[person].owner {
            if !self.rules.is_active(owner) {
                self.rules.accounts[person].owner = Some(0);
            } else if self.rules.accounts[owner].role == 600 {
                self.rules.accounts[person].role = 600;
            }
        }
        self.rules.settle();
        self.listen(person).await;
    }

    pub async fn listen(&mut self, person: usize) {
        let role = self.rules.accounts[person].role;
        let narrow = self.narrow();
        self.listeners[person] = Some(Listeners::register(&self.people[person], role, narrow).await);
    }

    /// Adds or removes a member or a subgroup of a group.
    pub async fn change_group(&mut self) {
        let group = self.rng.pick(&self.groups).unwrap();
        if self.rng.below(3) > 0 {
            let person = self.person();
            let members = self.rules.groups.members.get_mut(&group).unwrap();
            let what = if members.remove(&person) { "delete" } else { "add" };
            if what == "add" {
                members.insert(person);
            }
            let parameters = json!({what: [self.people[person].user_id]});
            self.people[0].post(&format!("/user_groups/{group}/members"), parameters).await.ok();
            self.done.push(format!("group {group}: {what} {person}"));
        } else {
            let candidates = [&self.groups[..], &SYSTEM_GROUPS].concat();
            let subgroup = self.rng.pick(&candidates).unwrap();
            if self.rules.groups.includes(subgroup, group) {
                return;
            }
            let subgroups = self.rules.groups.subgroups.get_mut(&group).unwrap();
            let what = if subgroups.remove(&subgroup) { "delete" } else { "add" };
            if what == "add" {
                subgroups.insert(subgroup);
            }
            let path = format!("/user_groups/{group}/subgroups");
            self.people[0].post(&path, json!({what: [subgroup]})).await.ok();
            self.done.push(format!("group {group}: {what} group {subgroup}"));
        }
        self.rules.settle();
    }

    /// Changes the members of a channel permission: users and groups.
    pub async fn change_permission(&mut self) {
        let (place, setting) = (self.channel(), self.rng.below(3));
        let mut holders = Holders::default();
        for person in 0..self.people.len() {
            if self.rules.is_active(person) && self.rng.below(5) == 0 {
                holders.people.insert(person);
            }
        }
        if self.rng.below(2) == 0 {
            holders.groups.extend(self.rng.pick(&self.groups));
        }
        if self.rng.below(4) == 0 {
            holders.groups.extend(self.rng.pick(&SYSTEM_GROUPS));
        }
        let members: BTreeSet<i64> =
            holders.people.iter().map(|person| self.people[*person].user_id).collect();
        let new = json!({"direct_members": members, "direct_subgroups": holders.groups});
        let path = format!("/streams/{}", self.rules.channels[place].stream_id);
        self.people[0].patch(&path, json!({SETTINGS[setting]: {"new": new}})).await.ok();
        self.done.push(format!("{} of {place}: {holders:?}", SETTINGS[setting]));
        self.rules.settings[place][setting] = holders;
        self.rules.settle();
    }

    /// Some hours pass. Queues are polled meanwhile.
    pub async fn pass_time(&mut self) {
        let steps = 20 + self.rng.below(120);
        for _ in 0..steps {
            self.server.clock.advance(9 * MINUTE);
            self.rules.now += 9 * MINUTE;
            for listeners in self.listeners.iter_mut().flatten() {
                listeners.keep_alive().await;
            }
            for registered in self.registered.iter().flat_map(|(_, all)| all) {
                registered.touch().await;
            }
        }
        self.done.push(format!("{steps} times nine minutes pass"));
        self.do_what_is_due().await;
    }

    /// New members wait longer, or shorter.
    pub async fn change_waiting_period(&mut self) {
        let age = (self.rules.now - self.rules.accounts[0].joined) / (24 * 60 * MINUTE);
        let days = if self.rng.below(3) == 0 { 0 } else { age + i64::try_from(self.rng.below(3)).unwrap() };
        if days == self.rules.waiting_period {
            return;
        }
        self.people[0].patch("/realm", json!({"waiting_period_threshold": days})).await.ok();
        self.done.push(format!("members are new for {days} days"));
        self.rules.waiting_period = days;
        self.rules.settle();
    }

    /// A channel keeps its messages for some days, or for ever.
    pub async fn change_retention(&mut self) {
        let place = self.channel();
        let days = [None, Some(1), Some(2)][self.rng.below(3)];
        if days == self.rules.retention[place] || self.rules.channels[place].is_archived {
            return;
        }
        let path = format!("/streams/{}", self.rules.channels[place].stream_id);
        let value = days.map_or(json!("unlimited"), |days| json!(days));
        self.people[0].patch(&path, json!({"message_retention_days": value})).await.ok();
        self.done.push(format!("{place} keeps messages for {days:?} days"));
        self.rules.retention[place] = days;
        self.do_what_is_due().await;
    }

    async fn do_what_is_due(&mut self) {
        self.rules.settle();
        emit_ended_waiting_periods(&Arc::clone(self.server.app())).await.unwrap();
        self.server.remove_expired().await;
        for id in self.rules.expired() {
            self.rules.messages.remove(&id);
            self.expected.push(Expected::Deleted(id));
            self.done.push(format!("{id} has expired"));
        }
    }
}

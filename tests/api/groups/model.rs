//! Random changes of groups against a plain model of them: sets, and a recursion.

use super::{group, path};
use crate::harness::{Client, Dice, TestServer};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};

const GROUPS: usize = 6;

/// Named groups by id: who is in each, and which groups.
#[derive(Default)]
struct Plain {
    members: BTreeMap<i64, BTreeSet<i64>>,
    subgroups: BTreeMap<i64, BTreeSet<i64>>,
    /// Who holds which of the system groups, as a group holds its members.
    roles: BTreeMap<i64, BTreeSet<i64>>,
}

impl Plain {
    fn everybody(&self, group: i64) -> BTreeSet<i64> {
        let mut all =
            self.members.get(&group).or_else(|| self.roles.get(&group)).cloned().unwrap_or_default();
        for subgroup in self.subgroups.get(&group).into_iter().flatten() {
            all.extend(self.everybody(*subgroup));
        }
        // Each system group includes the one before it, but for the first two: nobody and the owners.
        if (3..=8).contains(&group) {
            all.extend(self.everybody(group - 1));
        }
        all
    }

    fn includes(&self, group: i64, other: i64) -> bool {
        group == other
            || self.subgroups.get(&group).is_some_and(|all| all.iter().any(|one| self.includes(*one, other)))
    }
}

struct World {
    users: Vec<Client>,
    groups: Vec<i64>,
    plain: Plain,
    dice: Dice,
}

impl World {
    async fn new(server: &TestServer, seed: u64) -> Self {
        let users = vec![
            server.owner().await,
            server.moderator("mod").await,
            server.member("ada").await,
            server.member("bob").await,
            server.guest("gus").await,
        ];
        let id = |user: usize| users[user].user_id;
        let roles = [(2, vec![id(0)]), (4, vec![id(1)]), (5, vec![id(2), id(3)]), (7, vec![id(4)])];
        let mut plain = Plain {
            roles: roles.into_iter().map(|(group, users)| (group, users.into_iter().collect())).collect(),
            ..Plain::default()
        };
        let mut groups = Vec::new();
        for name in ["a", "b", "c", "d", "e", "f"].into_iter().take(GROUPS) {
            let id = group(&users[0], name, &[]).await;
            plain.members.insert(id, BTreeSet::new());
            plain.subgroups.insert(id, BTreeSet::new());
            groups.push(id);
        }
        Self { users, groups, plain, dice: Dice::new(seed) }
    }

    async fn step(&mut self) {
        let group = self.groups[self.dice.below(GROUPS)];
        if self.dice.below(2) == 0 {
            let user = self.users[self.dice.below(self.users.len())].user_id;
            let members = self.plain.members.get_mut(&group).unwrap();
            let what = if members.remove(&user) { "delete" } else { "add" };
            if what == "add" {
                members.insert(user);
            }
            self.users[0].post(&path(group, "/members"), json!({what: [user]})).await.ok();
            return;
        }
        // System groups may be in a group too.
        let subgroup = if self.dice.below(4) == 0 {
            2 + i64::try_from(self.dice.below(6)).unwrap()
        } else {
            self.groups[self.dice.below(GROUPS)]
        };
        let is_there = self.plain.subgroups[&group].contains(&subgroup);
        let what = if is_there { "delete" } else { "add" };
        let answer = self.users[0].post(&path(group, "/subgroups"), json!({what: [subgroup]})).await;
        if !is_there && self.plain.includes(subgroup, group) {
            let msg = format!("User group {group} is already a subgroup of one of the passed subgroups.");
            answer.error(400, "BAD_REQUEST", &msg);
            return;
        }
        answer.ok();
        let subgroups = self.plain.subgroups.get_mut(&group).unwrap();
        if is_there {
            subgroups.remove(&subgroup)
        } else {
            subgroups.insert(subgroup)
        };
    }

    async fn check(&self) {
        for group in self.groups.iter().copied().chain(2..=7) {
            let expected = self.plain.everybody(group);
            let found = self.users[0].get(&path(group, "/members"), ()).await.ok();
            assert_eq!(found["members"], json!(expected), "group {group}");
            for user in &self.users {
                let member = path(group, &format!("/members/{}", user.user_id));
                let is_member = self.users[0].get(&member, ()).await.ok()["is_user_group_member"].clone();
                assert_eq!(is_member, expected.contains(&user.user_id), "{} in {group}", user.full_name);
            }
        }
    }

    /// A channel for each group, which lets the group in: who may know of it is who is in the group, and no guest.
    async fn check_channels(&self, channels: &BTreeMap<i64, i64>) {
        for user in &self.users {
            let streams = user.get("/streams", json!({"include_all": true})).await.ok()["streams"].clone();
            let found: BTreeSet<i64> = streams
                .as_array()
                .unwrap()
                .iter()
                .map(|stream| stream["stream_id"].as_i64().unwrap())
                .collect();
            let is_guest = user.user_id == self.users[4].user_id;
            for (group, stream_id) in channels {
                let is_in = self.plain.everybody(*group).contains(&user.user_id) && !is_guest;
                let expected = is_in || user.user_id == self.users[0].user_id;
                assert_eq!(found.contains(stream_id), expected, "{} and {stream_id}", user.full_name);
            }
        }
    }
}

async fn run(seed: u64) {
    let server = TestServer::start().await;
    let mut world = World::new(&server, seed).await;
    let mut channels = BTreeMap::new();
    for group in &world.groups {
        let parameters =
            json!({"name": format!("of {group}"), "invite_only": true, "can_subscribe_group": group});
        let made = world.users[0].post("/channels/create", parameters).await.ok();
        channels.insert(*group, made["id"].as_i64().unwrap());
    }
    for _ in 0..4 {
        let users = world.users.clone();
        let others: Vec<&Client> = users.iter().skip(1).collect();
        let steps = async || {
            for _ in 0..6 {
                world.step().await;
            }
        };
        server.check_state_sync(&others, steps).await;
        world.check().await;
        world.check_channels(&channels).await;
    }
}

#[tokio::test]
async fn groups_are_what_a_plain_model_says() {
    for seed in [7, 1_000_003] {
        run(seed).await;
    }
}

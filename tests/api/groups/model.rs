//! Random changes of groups against a plain model of them.

use super::{group, path};
use crate::harness::access::{Channel, Groups, Privacy, Role};
use crate::harness::{Client, Rng, TestServer};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};

const GROUPS: usize = 6;

/// Roles of the users of [`GroupModel::new`], in their order.
const ROLES: [Role; 5] = [Role::Administrator, Role::Member, Role::Member, Role::Member, Role::Guest];

/// Creator of the channels, subscribed to all of them.
const CREATOR: usize = 0;

struct GroupModel {
    users: Vec<Client>,
    groups: Vec<i64>,
    plain: Groups<i64>,
    rng: Rng,
}

impl GroupModel {
    async fn new(server: &TestServer, seed: u64) -> Self {
        let users = vec![
            server.owner().await,
            server.moderator("mod").await,
            server.member("ada").await,
            server.member("bob").await,
            server.guest("gus").await,
        ];
        let id = |user: usize| users[user].user_id;
        let mut plain = Groups::default();
        // The system groups. Each includes the one before it, except the first two: `role:nobody` and owners.
        for (group, users) in [(2, vec![id(0)]), (4, vec![id(1)]), (5, vec![id(2), id(3)]), (7, vec![id(4)])]
        {
            plain.members.insert(group, users.into_iter().collect());
        }
        for group in 3..=8 {
            plain.subgroups.insert(group, BTreeSet::from([group - 1]));
        }
        let mut groups = Vec::new();
        for name in ["a", "b", "c", "d", "e", "f"].into_iter().take(GROUPS) {
            let id = group(&users[0], name, &[]).await;
            plain.members.insert(id, BTreeSet::new());
            plain.subgroups.insert(id, BTreeSet::new());
            groups.push(id);
        }
        Self { users, groups, plain, rng: Rng::new(seed) }
    }

    async fn step(&mut self) {
        let group = self.groups[self.rng.below(GROUPS)];
        if self.rng.below(2) == 0 {
            let user = self.users[self.rng.below(self.users.len())].user_id;
            let members = self.plain.members.get_mut(&group).unwrap();
            let what = if members.remove(&user) { "delete" } else { "add" };
            if what == "add" {
                members.insert(user);
            }
            self.users[0].post(&path(group, "/members"), json!({what: [user]})).await.ok();
            return;
        }
        // System groups may be in a group too.
        let subgroup = if self.rng.below(4) == 0 {
            2 + i64::try_from(self.rng.below(6)).unwrap()
        } else {
            self.groups[self.rng.below(GROUPS)]
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
            let expected = self.plain.all_members(group);
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
            let place = |client: &Client| self.users.iter().position(|other| other.user_id == client.user_id);
            let person = place(user).unwrap();
            for (group, stream_id) in channels {
                let members = self.plain.all_members(*group);
                let inside = self.users.iter().filter(|user| members.contains(&user.user_id));
                let may_subscribe = inside.filter_map(place).collect();
                let channel =
                    Channel { may_subscribe, ..Channel::new(*stream_id, "", Privacy::Shared, CREATOR) };
                let expected = channel.is_known_to(person, ROLES[person]);
                assert_eq!(found.contains(stream_id), expected, "{} and {stream_id}", user.full_name);
            }
        }
    }
}

async fn run(seed: u64) {
    let server = TestServer::start().await;
    let mut model = GroupModel::new(&server, seed).await;
    let mut channels = BTreeMap::new();
    for group in &model.groups {
        let parameters =
            json!({"name": format!("of {group}"), "invite_only": true, "can_subscribe_group": group});
        let made = model.users[0].post("/channels/create", parameters).await.ok();
        channels.insert(*group, made["id"].as_i64().unwrap());
    }
    for _ in 0..4 {
        let users = model.users.clone();
        let others: Vec<&Client> = users.iter().skip(1).collect();
        let steps = async || {
            for _ in 0..6 {
                model.step().await;
            }
        };
        server.check_state_sync(&others, steps).await;
        model.check().await;
        model.check_channels(&channels).await;
    }
}

// conformance: group-23
#[tokio::test]
async fn groups_agree_with_a_simple_model() {
    for seed in [7, 1_000_003] {
        run(seed).await;
    }
}

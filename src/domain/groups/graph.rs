//! All groups at once: who is in which, for whoever asks for many. [`super::membership`] and [`super::members`] say the
//! same for one user and for one group.

use crate::domain::groups::sql;
use crate::domain::groups::system::SystemGroup;
use crate::domain::groups::waiting_period::WaitingPeriod;
use crate::http::ApiResult;
use crate::types::GroupId;
use roaring::RoaringBitmap;
use rusqlite::Connection;
use std::collections::{HashMap, HashSet};

/// The groups of a file as they were when it was loaded, and who is in them.
#[derive(Debug, Default)]
pub struct Graph {
    /// The active users whom a group names itself, or holds by their role.
    direct: HashMap<GroupId, RoaringBitmap>,
    subgroups: HashMap<GroupId, Vec<GroupId>>,
    deactivated: HashSet<GroupId>,
    /// What was asked before.
    known: HashMap<GroupId, RoaringBitmap>,
}

impl Graph {
    /// Loads it: one walk over the users, the groups and what they hold. `now` decides who still is a new member.
    pub fn load(connection: &Connection, now: i64) -> ApiResult<Self> {
        let mut graph = Self::default();
        let waiting_period = WaitingPeriod::load(connection, now)?;
        for (user_id, role, date_joined) in sql::active_users(connection)? {
            let innermost = SystemGroup::of(role, waiting_period.is_new(date_joined));
            graph.direct.entry(innermost.id()).or_default().extend(user_id.bit());
        }
        for (group, user_id) in sql::all_memberships(connection)? {
            graph.direct.entry(group).or_default().extend(user_id.bit());
        }
        for (group, subgroup) in sql::all_inclusions(connection)? {
            graph.subgroups.entry(group).or_default().push(subgroup);
        }
        graph.deactivated = connection
            .prepare_cached("SELECT id FROM user_group WHERE deactivated")?
            .query_map([], |row| row.get(0))?
            .collect::<Result<_, _>>()?;
        Ok(graph)
    }

    /// The active users in a group, directly or through subgroups. Nobody is in a deactivated group.
    pub fn all(&mut self, group: GroupId) -> &RoaringBitmap {
        if !self.known.contains_key(&group) {
            let users = self.find(group);
            self.known.insert(group, users);
        }
        self.known.entry(group).or_default()
    }

    fn find(&self, group: GroupId) -> RoaringBitmap {
        let mut users = RoaringBitmap::new();
        if self.deactivated.contains(&group) {
            return users;
        }
        let (mut seen, mut open) = (HashSet::from([group]), vec![group]);
        while let Some(group) = open.pop() {
            if let Some(direct) = self.direct.get(&group) {
                users |= direct;
            }
            let subgroups = self.subgroups.get(&group).into_iter().flatten();
            open.extend(subgroups.filter(|subgroup| seen.insert(**subgroup)));
        }
        users
    }
}

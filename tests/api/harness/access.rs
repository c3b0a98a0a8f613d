//! The published access rules, stated once for all test models, with plain sets and without optimization.

use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// An index in a list of people.
pub type Person = usize;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Includes owners, which have the same access.
    Administrator,
    /// A moderator too.
    Member,
    Guest,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Privacy {
    Public,
    WebPublic,
    /// Private; subscribers read everything.
    Shared,
    /// Private, without shared history: subscribers read only messages that they received.
    Protected,
}

impl Privacy {
    pub fn is_private(self) -> bool {
        matches!(self, Self::Shared | Self::Protected)
    }

    /// The parameters with which a channel is created so; web-public ones are made from public ones.
    pub fn parameters(self) -> Value {
        json!({"invite_only": self.is_private(), "history_public_to_subscribers": self != Self::Protected})
    }
}

/// A channel, and who has to do with it.
#[derive(Clone, Debug)]
pub struct Channel {
    pub stream_id: i64,
    /// The name now.
    pub name: String,
    pub privacy: Privacy,
    pub is_archived: bool,
    pub subscribers: BTreeSet<Person>,
    /// Members of the channel's `can_add_subscribers_group` and `can_subscribe_group`.
    pub may_subscribe: BTreeSet<Person>,
    /// Members of the channel's `can_administer_channel_group`.
    pub may_administer: BTreeSet<Person>,
}

impl Channel {
    /// A channel with one subscriber, which other users cannot join by themselves.
    pub fn new(stream_id: i64, name: &str, privacy: Privacy, creator: Person) -> Self {
        Self {
            stream_id,
            name: name.to_owned(),
            privacy,
            is_archived: false,
            subscribers: BTreeSet::from([creator]),
            may_subscribe: BTreeSet::new(),
            may_administer: BTreeSet::new(),
        }
    }

    /// True if a user may know that the channel exists.
    pub fn is_known_to(&self, person: Person, role: Role) -> bool {
        let administers = role != Role::Guest && self.may_administer.contains(&person);
        self.is_readable_by(person, role) || administers || role == Role::Administrator
    }

    /// True if a user may read messages of the channel.
    pub fn is_readable_by(&self, person: Person, role: Role) -> bool {
        let may_join = !self.privacy.is_private() || self.may_subscribe.contains(&person);
        self.subscribers.contains(&person)
            || self.privacy == Privacy::WebPublic
            || (role != Role::Guest && may_join)
    }

    /// True if a user may read a message of the channel, given whether they received it.
    pub fn shows(&self, person: Person, role: Role, has_received: bool) -> bool {
        self.is_readable_by(person, role) && (self.privacy != Privacy::Protected || has_received)
    }

    /// The receivers of a message after it was moved to this channel from another.
    pub fn receivers_of_moved(&self, received: &BTreeSet<Person>) -> BTreeSet<Person> {
        match self.privacy {
            Privacy::Protected => self.subscribers.clone(),
            _ => received.intersection(&self.subscribers).copied().collect(),
        }
    }
}

/// The messages of a topic that move together.
#[derive(Clone, Copy, Debug)]
pub enum PropagateMode {
    One,
    Later,
    All,
}

impl PropagateMode {
    pub const ALL: [Self; 3] = [Self::One, Self::Later, Self::All];

    /// On the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::One => "change_one",
            Self::Later => "change_later",
            Self::All => "change_all",
        }
    }

    /// True if a message of the same topic moves with the selected one.
    pub fn moves(self, named: i64, other: i64) -> bool {
        match self {
            Self::One => other == named,
            Self::Later => other >= named,
            Self::All => true,
        }
    }
}

/// Members of groups. `P` is the type of a person: an id, or a position in a list.
#[derive(Clone, Default)]
pub struct Groups<P> {
    /// Direct members by group.
    pub members: BTreeMap<i64, BTreeSet<P>>,
    /// Direct subgroups by group.
    pub subgroups: BTreeMap<i64, BTreeSet<i64>>,
}

impl<P: Copy + Ord> Groups<P> {
    /// All members of a group, including those of subgroups.
    pub fn all_members(&self, group: i64) -> BTreeSet<P> {
        let mut all = self.members.get(&group).cloned().unwrap_or_default();
        for subgroup in self.subgroups.get(&group).into_iter().flatten() {
            all.extend(self.all_members(*subgroup));
        }
        all
    }

    /// True if a group is another one or includes it.
    pub fn includes(&self, group: i64, other: i64) -> bool {
        let subgroups = self.subgroups.get(&group).into_iter().flatten();
        group == other || subgroups.into_iter().any(|subgroup| self.includes(*subgroup, other))
    }
}

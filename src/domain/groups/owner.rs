//! The owner of a group setting.

/// The object that has a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Owner {
    /// The organization.
    Realm,
    /// A channel, by id.
    Stream(i64),
    /// A user group, by id.
    Group(i64),
}

impl Owner {
    /// The owner that two columns of the file name.
    pub fn read(owner: &str, owner_id: i64) -> Self {
        match owner {
            "stream" => Self::Stream(owner_id),
            "group" => Self::Group(owner_id),
            _ => Self::Realm,
        }
    }

    /// The two columns of the file that name this owner.
    pub fn columns(self) -> (&'static str, i64) {
        match self {
            Self::Realm => ("realm", 1),
            Self::Stream(id) => ("stream", id),
            Self::Group(id) => ("group", id),
        }
    }
}

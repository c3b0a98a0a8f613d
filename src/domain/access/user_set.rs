//! Sets of users on which rules of access are evaluated, for one user or for many at once.

use roaring::RoaringBitmap;

/// A set of users. `bool` is the set restricted to one user: whether they are in it. So a rule that is written once
/// answers both for one user and for all.
pub trait UserSet: Clone + Default {
    /// The users in this set or in the other.
    #[must_use]
    fn or(&self, other: &Self) -> Self;

    /// The users in this set who are not in the other.
    #[must_use]
    fn without(&self, other: &Self) -> Self;
}

impl UserSet for bool {
    fn or(&self, other: &Self) -> Self {
        *self || *other
    }

    fn without(&self, other: &Self) -> Self {
        *self && !*other
    }
}

impl UserSet for RoaringBitmap {
    fn or(&self, other: &Self) -> Self {
        self | other
    }

    fn without(&self, other: &Self) -> Self {
        self - other
    }
}

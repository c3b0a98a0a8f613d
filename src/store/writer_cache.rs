//! Caches of the writer's thread, kept from one job to the next.

use std::any::{Any, TypeId};
use std::collections::HashMap;

/// One cache of each type. Only the writer changes the file, so a cache is correct as long as every job that changes
/// the rows behind it updates it too. A failed job drops the caches that it used for writing: a stale entry would be a
/// bug. Others stay, so that failing requests cannot force the writer to fill them again.
#[derive(Default)]
pub struct WriterCaches {
    values: HashMap<TypeId, Cached>,
}

struct Cached {
    value: Box<dyn Any + Send>,
    /// True if the current job used it for writing.
    is_modified: bool,
}

impl WriterCaches {
    /// Returns the cache of a type for reading and writing, empty at first use.
    pub fn cache_mut<T: Default + Send + 'static>(&mut self) -> &mut T {
        let empty = || Cached { value: Box::new(T::default()), is_modified: true };
        let cached = self.values.entry(TypeId::of::<T>()).or_insert_with(empty);
        cached.is_modified = true;
        match cached.value.downcast_mut() {
            Some(value) => value,
            None => unreachable!("a cache is stored under its own type"),
        }
    }

    /// Returns the cache of a type for reading, if it was ever used. Does not count as a modification.
    pub fn cache<T: 'static>(&self) -> Option<&T> {
        self.values.get(&TypeId::of::<T>()).and_then(|cached| cached.value.downcast_ref())
    }

    /// Keeps the caches as they are: the rows of a job or a group are kept.
    pub(super) fn commit(&mut self) {
        self.values.values_mut().for_each(|cached| cached.is_modified = false);
    }

    /// Drops the caches that may be stale: a job's rows were rolled back, or the whole group's.
    pub(super) fn rollback(&mut self, scope: Rollback) {
        match scope {
            Rollback::Job => self.values.retain(|_, cached| !cached.is_modified),
            Rollback::Group => self.values.clear(),
        }
    }
}

/// The scope of a rollback.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Rollback {
    /// One job. Caches that it did not use are still correct.
    Job,
    /// All jobs since the last commit.
    Group,
}

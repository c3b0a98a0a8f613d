//! What jobs remember from one to the next on the writer's thread.

use std::any::{Any, TypeId};
use std::collections::HashMap;

/// A place for the caches of slices, one value for each type. Since only the writer changes the file, a cache here is
/// true as long as every job that changes its rows changes it too. A job that fails after touching a cache takes all
/// caches with it: filling them again is cheap, and a wrong one is not to be had.
#[derive(Default)]
pub struct Locals {
    values: HashMap<TypeId, Box<dyn Any + Send>>,
    touched: bool,
}

impl Locals {
    /// The cache of a type, to read and to change.
    pub fn get<T: Default + Send + 'static>(&mut self) -> &mut T {
        self.touched = true;
        let value = self.values.entry(TypeId::of::<T>()).or_insert_with(|| Box::new(T::default()));
        match value.downcast_mut() {
            Some(value) => value,
            None => unreachable!("a local is stored under its own type"),
        }
    }

    /// The cache of a type, to read. Does not count as touched.
    pub fn peek<T: 'static>(&self) -> Option<&T> {
        self.values.get(&TypeId::of::<T>()).and_then(|value| value.downcast_ref())
    }

    /// Called when a job's or a group's rows are kept.
    pub fn keep(&mut self) {
        self.touched = false;
    }

    /// Called when a job's or a group's rows are undone.
    pub fn undo(&mut self, whole_group: bool) {
        if self.touched || whole_group {
            self.values.clear();
        }
        self.touched = false;
    }
}

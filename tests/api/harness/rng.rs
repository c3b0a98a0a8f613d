//! Random choices that can be repeated: the same seed gives the same ones.

/// A small pseudorandom number generator (xorshift).
pub struct Rng(u64);

impl Rng {
    /// Begins with a seed, which is not 0.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number from 0 up to, and not, the limit.
    pub fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap() % limit
    }

    /// Returns an element of a list, if there is any.
    pub fn pick<T: Clone>(&mut self, list: &[T]) -> Option<T> {
        if list.is_empty() { None } else { Some(list[self.below(list.len())].clone()) }
    }
}

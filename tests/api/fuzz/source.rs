//! Choices that are read from the bytes of an input, so that an engine can change and shrink them.

/// Bytes that are used up by choices. When there are no more, every choice is the first one.
pub struct Source<'a> {
    bytes: &'a [u8],
}

impl<'a> Source<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    pub fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.bytes.split_first() else { return 0 };
        self.bytes = rest;
        *first
    }

    /// A number from 0 up to, and not, the limit.
    pub fn below(&mut self, limit: usize) -> usize {
        let number = usize::from(self.byte());
        if limit <= 256 { number % limit } else { ((number << 8) | usize::from(self.byte())) % limit }
    }

    /// Returns an element of a list.
    pub fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())]
    }

    /// Takes some of the bytes as they are.
    pub fn take(&mut self, length: usize) -> &'a [u8] {
        let (taken, rest) = self.bytes.split_at(length.min(self.bytes.len()));
        self.bytes = rest;
        taken
    }

    /// Takes the rest.
    pub fn rest(&mut self) -> &'a [u8] {
        self.take(usize::MAX)
    }

    /// A text of pieces, until there are no more bytes or it is long enough. Now and then a piece is any characters.
    pub fn text(&mut self, pieces: &[&str], max_pieces: usize) -> String {
        let mut text = String::new();
        for _ in 0..self.below(max_pieces.max(1)) {
            if self.is_empty() {
                break;
            }
            match self.below(12) {
                0 => {
                    let length = self.below(8);
                    text.push_str(&String::from_utf8_lossy(self.take(length)));
                }
                1 => {
                    let repeated = self.pick(pieces);
                    let count = self.below(64);
                    text.push_str(&repeated.repeat(count));
                }
                _ => text.push_str(self.pick(pieces)),
            }
        }
        text
    }
}

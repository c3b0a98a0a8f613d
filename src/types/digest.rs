//! Digests of what is written, as text.

use sha2::{Digest, Sha256};
use std::io::{Result, Write};

/// Passes bytes on, digests and counts them.
pub struct Hashing<W> {
    out: W,
    digest: Sha256,
    bytes: u64,
}

impl<W: Write> Hashing<W> {
    /// Begins without bytes.
    pub fn new(out: W) -> Self {
        Self { out, digest: Sha256::new(), bytes: 0 }
    }

    /// Returns the writer, the SHA-256 of the bytes, and their number.
    pub fn finish(self) -> (W, [u8; 32], u64) {
        (self.out, self.digest.finalize().into(), self.bytes)
    }
}

impl<W: Write> Write for Hashing<W> {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        let written = self.out.write(bytes)?;
        self.digest.update(&bytes[..written]);
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> Result<()> {
        self.out.flush()
    }
}

/// Writes bytes in hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 0xf]);
    digits.filter_map(|digit| char::from_digit(digit.into(), 16)).collect()
}

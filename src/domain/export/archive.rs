//! The compressed tar file of an export.

use super::error::Result;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::{self, Read, Write};
use tar::{Builder, EntryType, Header};

/// The length of a block of a tar file.
const BLOCK: u64 = 512;

/// A tar file that is being written. Its members are in one folder.
pub struct Archive<W: Write> {
    tar: Builder<GzEncoder<W>>,
    folder: String,
    /// The modification time of all members, UNIX seconds.
    time: u64,
}

impl<W: Write> Archive<W> {
    /// Begins an archive.
    pub fn new(out: W, folder: &str, now: i64) -> Self {
        let tar = Builder::new(GzEncoder::new(out, Compression::default()));
        Self { tar, folder: folder.to_owned(), time: now.max(0).unsigned_abs() }
    }

    fn header(&self, size: u64) -> Header {
        let mut header = Header::new_gnu();
        header.set_entry_type(EntryType::Regular);
        header.set_size(size);
        header.set_mode(0o600);
        header.set_mtime(self.time);
        header
    }

    /// Adds a file from memory.
    pub fn add_bytes(&mut self, path: &str, bytes: &[u8]) -> Result<()> {
        self.add(path, bytes.len() as u64, bytes)
    }

    /// Adds a file of a known size. Fails if the reader has fewer bytes.
    pub fn add(&mut self, path: &str, size: u64, content: impl Read) -> Result<()> {
        let mut content = content.take(size);
        let mut header = self.header(size);
        self.tar.append_data(&mut header, format!("{}/{path}", self.folder), &mut content)?;
        if content.limit() > 0 {
            return Err(io::Error::other(format!("{path} is shorter than its size says")).into());
        }
        Ok(())
    }

    /// Adds a file whose size is not known before. `write` runs twice and has to write the same: the first time to count the
    /// bytes.
    pub fn add_written<T>(
        &mut self,
        path: &str,
        mut write: impl FnMut(&mut dyn Write) -> Result<T>,
    ) -> Result<T> {
        let mut counter = Counted { out: &mut io::sink(), bytes: 0 };
        write(&mut counter)?;
        let mut header = self.header(counter.bytes);
        header.set_path(format!("{}/{path}", self.folder))?;
        header.set_cksum();
        let out = self.tar.get_mut();
        out.write_all(header.as_bytes())?;
        let mut buffered = io::BufWriter::with_capacity(64 * 1024, out);
        let mut passed = Counted { out: &mut buffered, bytes: 0 };
        let result = write(&mut passed)?;
        if passed.bytes != counter.bytes {
            return Err(io::Error::other(format!("{path} has another length the second time")).into());
        }
        let padding = counter.bytes.next_multiple_of(BLOCK) - counter.bytes;
        buffered.write_all(&[0; BLOCK as usize][..padding as usize])?;
        buffered.flush()?;
        Ok(result)
    }

    /// Ends the archive.
    pub fn finish(self) -> Result<W> {
        let mut out = self.tar.into_inner()?.finish()?;
        out.flush()?;
        Ok(out)
    }
}

/// Counts bytes and passes them on.
struct Counted<'o> {
    out: &'o mut dyn Write,
    bytes: u64,
}

impl Write for Counted<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

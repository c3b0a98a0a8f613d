//! The file of a new database, as running [`SCHEMA`](super::SCHEMA) leaves it, for databases that are made often: test
//! servers. Writing it takes a tenth of the time of running the statements.
//!
//! `new_database.bin` has the non-zero bytes of the file, in runs: offset and length as 32-bit little-endian numbers,
//! then the bytes. A test compares it with the schema; `.ci/bless` updates it.

use std::fs::File;
use std::io::{Result, Seek, SeekFrom, Write};

/// The runs of bytes that are not zero.
const RUNS: &[u8] = include_bytes!("new_database.bin");

/// Writes the database to a new file.
pub fn write(mut file: &File) -> Result<()> {
    let mut runs = RUNS;
    let mut end = 0;
    while let Some((offset, bytes)) = next_run(&mut runs) {
        file.seek(SeekFrom::Start(offset))?;
        file.write_all(bytes)?;
        end = offset + bytes.len() as u64;
    }
    // The last page may end with zeros.
    file.set_len(end.next_multiple_of(4096))
}

fn next_run<'a>(runs: &mut &'a [u8]) -> Option<(u64, &'a [u8])> {
    let (offset, rest) = runs.split_first_chunk()?;
    let (length, rest) = rest.split_first_chunk()?;
    let (bytes, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
    *runs = rest;
    Some((u32::from_le_bytes(*offset).into(), bytes))
}

#[cfg(test)]
mod tests {
    use super::super::Database;
    use std::path::Path;

    /// Fewer zeros than this do not end a run.
    const GAP: usize = 16;

    fn runs(bytes: &[u8]) -> Vec<u8> {
        let mut runs = Vec::new();
        let mut at = 0;
        while let Some(start) = bytes[at..].iter().position(|byte| *byte != 0).map(|zeros| at + zeros) {
            let zeros = bytes[start..].windows(GAP).position(|gap| gap.iter().all(|byte| *byte == 0));
            let end = zeros.map_or(bytes.len(), |length| start + length);
            for number in [start, end - start] {
                runs.extend_from_slice(&u32::try_from(number).unwrap().to_le_bytes());
            }
            runs.extend_from_slice(&bytes[start..end]);
            at = end;
        }
        runs
    }

    /// The bytes of a database, without the fields of the header about the version of SQLite and the number of changes.
    fn content(path: &Path) -> Vec<u8> {
        let mut bytes = std::fs::read(path).unwrap();
        for range in [24..28, 92..100] {
            bytes[range].fill(0);
        }
        bytes
    }

    #[test]
    fn new_database_matches_the_schema() {
        let folder = tempfile::tempdir().unwrap();
        let made = folder.path().join("made.sqlite");
        drop(Database::open(&made).unwrap());
        let written = folder.path().join("written.sqlite");
        super::write(&std::fs::File::create(&written).unwrap()).unwrap();
        let differs = content(&made) != content(&written);
        if differs && std::env::var("INSTA_UPDATE").is_ok_and(|update| update == "always") {
            let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/store/new_database.bin");
            return std::fs::write(&file, runs(&std::fs::read(&made).unwrap())).unwrap();
        }
        assert!(
            !differs,
            "src/store/new_database.bin is not that of schema.sql: run .ci/bless (or: just bless)"
        );
        drop(Database::open_ephemeral(&written).unwrap());
    }
}

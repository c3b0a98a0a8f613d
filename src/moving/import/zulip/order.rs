//! Archives whose messages are not in the order of their times.
//!
//! The published converters write messages channel by channel, and `sort_by_date` into `realm.json`, so that the importer
//! numbers them by time. Here the ids of the archive are given to its messages again, by time, in files like its own.

use crate::moving::import::error::{ImportError, ImportResult};
use crate::moving::import::json;
use crate::moving::import::progress::Progress;
use crate::moving::import::unpack::Archive;
use crate::moving::import::zulip::tables::{Id, Time};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;

/// The messages of one file.
const OF_FILE: usize = 1000;

/// Tables of a file, and the column with the id of the message.
const TABLES: [(&str, &str); 2] = [("zerver_message", "id"), ("zerver_usermessage", "message")];

/// The bytes of rows that are kept before they are written to their files.
const KEPT: usize = 8 << 20;

/// The order of messages by time.
pub struct Order {
    /// Places by the ids of the archive, ascending.
    places: Vec<(u32, u32)>,
    /// The ids by place.
    ids: Vec<u32>,
}

/// The part of a row of messages that decides its place.
#[derive(Deserialize)]
struct Stamp {
    id: Id,
    date_sent: Time,
}

/// Rows with the same file: of messages, and of their receivers.
type Lines = [String; 2];

impl Order {
    /// Reads the order. `None` if the messages are in it.
    pub fn of(files: &[(String, PathBuf)], progress: &Progress) -> ImportResult<Option<Self>> {
        expect(files, 1, progress)?;
        let mut stamps: Vec<(i64, u32)> = Vec::new();
        for (name, path) in files {
            json::read_tables(path, name, progress, &|table: &str| table == TABLES[0].0, &mut |_, text| {
                let Stamp { id, date_sent } = json::parse(text)?;
                stamps.push((date_sent.0, id.0));
                Ok(())
            })?;
        }
        if stamps.is_sorted_by(|one, next| one.0 <= next.0 && one.1 < next.1) {
            return Ok(None);
        }
        stamps.sort_unstable();
        let mut ids: Vec<u32> = stamps.iter().map(|(_, id)| *id).collect();
        let mut places: Vec<(u32, u32)> = (0..).zip(&ids).map(|(place, id)| (*id, place)).collect();
        ids.sort_unstable();
        places.sort_unstable();
        let twice = ids.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0]);
        match twice {
            Some(id) => Err(ImportError::new(format!("message {id} is there twice"))),
            None => Ok(Some(Self { places, ids })),
        }
    }

    fn place(&self, id: u32) -> Option<usize> {
        let found = self.places.binary_search_by_key(&id, |(id, _)| *id).ok()?;
        self.places.get(found).map(|(_, place)| *place as usize)
    }

    /// The new id of a message; that of the archive if the message is not there.
    pub fn id(&self, id: u32) -> u32 {
        self.place(id).and_then(|place| self.ids.get(place)).copied().unwrap_or(id)
    }

    /// Writes the messages to files in their order, with their new ids.
    pub fn sorted_files(
        &self,
        archive: &Archive,
        files: &[(String, PathBuf)],
        progress: &Progress,
    ) -> ImportResult<Vec<(String, PathBuf)>> {
        // To distribute the rows, and to join them.
        expect(files, 2, progress)?;
        let new_part = |_| Ok([new_file(archive)?.0, new_file(archive)?.0]);
        let parts: Vec<[PathBuf; 2]> =
            (0..self.ids.len().div_ceil(OF_FILE)).map(new_part).collect::<ImportResult<_>>()?;
        let (mut kept, mut size) = (BTreeMap::<usize, Lines>::new(), 0);
        for (name, path) in files {
            let wanted = |table: &str| TABLES.iter().any(|(known, _)| *known == table);
            json::read_tables(path, name, progress, &wanted, &mut |table, text| {
                let kind = usize::from(table != TABLES[0].0);
                let mut row: Map<String, Value> = json::parse(text)?;
                let column = TABLES[kind].1;
                let id = row.get(column).and_then(Value::as_u64).and_then(|id| u32::try_from(id).ok());
                let place = id.and_then(|id| self.place(id)).ok_or_else(|| {
                    let shown = row.get(column).map(Value::to_string).unwrap_or_default();
                    ImportError::new(format!("there is no message {shown}"))
                })?;
                row.insert(column.to_owned(), self.ids[place].into());
                let line = serde_json::to_string(&row).map_err(ImportError::new)?;
                size += line.len();
                kept.entry(place / OF_FILE).or_default()[kind].extend([line.as_str(), "\n"]);
                if size > KEPT {
                    append(&parts, &std::mem::take(&mut kept))?;
                    size = 0;
                }
                Ok(())
            })?;
        }
        append(&parts, &kept)?;
        let mut sorted = Vec::with_capacity(parts.len());
        for (number, part) in (1..).zip(&parts) {
            let path = join(archive, part, progress)?;
            sorted.push((format!("messages-{number:06}.json, sorted"), path));
        }
        Ok(sorted)
    }
}

/// Adds the bytes of files that will be read.
fn expect(files: &[(String, PathBuf)], times: u64, progress: &Progress) -> ImportResult<()> {
    for (_, path) in files {
        progress.expect(times * path.metadata()?.len());
    }
    Ok(())
}

fn new_file(archive: &Archive) -> ImportResult<(PathBuf, File)> {
    let (name, file) = archive.new_scratch_file()?;
    Ok((archive.file(&name)?, file))
}

/// Appends rows to the files of their parts.
fn append(parts: &[[PathBuf; 2]], rows: &BTreeMap<usize, Lines>) -> ImportResult<()> {
    for (part, lines) in rows {
        for (path, lines) in parts[*part].iter().zip(lines) {
            if !lines.is_empty() {
                File::options().append(true).open(path)?.write_all(lines.as_bytes())?;
            }
        }
    }
    Ok(())
}

/// Joins the rows of a part in one file, messages by id, and removes the files with the rows.
fn join(archive: &Archive, part: &[PathBuf; 2], progress: &Progress) -> ImportResult<PathBuf> {
    let (path, file) = new_file(archive)?;
    let mut out = BufWriter::new(file);
    let [messages, receivers] = part;
    // The ids, with the places of the rows.
    let mut places: Vec<(u32, u64, usize)> = Vec::new();
    json::read_lines(messages, "sorted messages", progress, |position, text| {
        let Stamp { id, .. } = json::parse(text)?;
        places.push((id.0, position.offset, text.len()));
        Ok(())
    })?;
    places.sort_unstable();
    let mut source = File::open(messages)?;
    let mut separator = "";
    out.write_all(b"{\"zerver_message\": [\n")?;
    for (_, offset, length) in places {
        out.write_all(separator.as_bytes())?;
        out.write_all(json::read_at(&mut source, offset, length)?.as_bytes())?;
        separator = ",\n";
    }
    separator = "";
    out.write_all(b"],\n\"zerver_usermessage\": [\n")?;
    json::read_lines(receivers, "sorted receivers", progress, |_, text| {
        out.write_all(separator.as_bytes())?;
        out.write_all(text.as_bytes())?;
        separator = ",\n";
        Ok(())
    })?;
    out.write_all(b"]}\n")?;
    out.flush()?;
    for rows in part {
        std::fs::remove_file(rows)?;
    }
    Ok(path)
}

//! The files of messages, in the order in which they are read.
//!
//! Messages are numbered by time. Each file has those of a day, but where a day begins depends on who exported, and on the
//! program, so the times of files may overlap. Such files are read together.

use super::model::{Moment, Stamp, moment};
use crate::moving::import::error::ImportResult;
use crate::moving::import::json;
use crate::moving::import::progress::Progress;
use crate::moving::import::unpack::Archive;

/// A file with messages.
pub struct DayFile {
    /// The path in the archive.
    pub path: String,
    pub conversation: usize,
    /// The times of its first and its last message.
    times: (Moment, Moment),
}

/// Reads the times of a file's messages. `None` if it has none.
pub fn read(
    archive: &Archive,
    path: String,
    conversation: usize,
    progress: &Progress,
) -> ImportResult<Option<DayFile>> {
    let mut times: Option<(Moment, Moment)> = None;
    json::read_list(&archive.file(&path)?, &path, progress, &mut |_, text| {
        let stamp: Stamp = json::parse(text)?;
        let time = moment(&stamp.ts)?;
        let (first, last) = times.unwrap_or((time, time));
        times = Some((first.min(time), last.max(time)));
        Ok(())
    })?;
    Ok(times.map(|times| DayFile { path, conversation, times }))
}

/// Puts files together whose times overlap. All messages of a group are older than those of the next.
pub fn groups(mut files: Vec<DayFile>) -> Vec<Vec<DayFile>> {
    files.sort_by(|one, other| (one.times, &one.path).cmp(&(other.times, &other.path)));
    let mut groups: Vec<Vec<DayFile>> = Vec::new();
    let mut end: Option<Moment> = None;
    for file in files {
        let (first, last) = file.times;
        match groups.last_mut().filter(|_| end.is_some_and(|end| first <= end)) {
            Some(group) => group.push(file),
            None => groups.push(vec![file]),
        }
        end = end.max(Some(last));
    }
    groups
}

//! Reading large JSON files row by row. No file is in memory as a whole, and no row may be longer than a limit.

use crate::moving::import::error::{ImportError, ImportResult};
use crate::moving::import::progress::Progress;
use crate::types::LAST_SECOND;
use crate::types::charset::Charset;
use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor,
};
use serde_json::Value;
use serde_json::value::RawValue;
use std::cell::{Cell, RefCell};
use std::fmt;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::ops::RangeInclusive;
use std::path::Path;
use std::rc::Rc;

/// The most bytes of one row.
const MAX_ROW: u64 = 64 << 20;

/// The times of archives in UNIX seconds, from the year 1 to the year 9999. Milliseconds are beyond them.
pub const TIMES: RangeInclusive<i64> = -62_135_596_800..=LAST_SECOND;

const NUL: &str = "a text has a NUL character";

/// A row of a table: its table's name, its text, and whether it is the first of its table.
pub type OnRow<'a> = dyn FnMut(&str, &str) -> ImportResult<()> + 'a;

/// Reads a file that is an object of tables, which are lists of rows. Rows of the tables that are `wanted` are passed on, and
/// members that are not tables likewise, as one row.
pub fn read_tables(
    path: &Path,
    name: &str,
    progress: &Progress,
    wanted: &dyn Fn(&str) -> bool,
    on_row: &mut OnRow<'_>,
) -> ImportResult<()> {
    read(path, name, progress, |rows| TablesVisitor { rows, wanted, on_row })
}

/// Reads a file that is a list of rows, or null if there are none.
pub fn read_list(path: &Path, name: &str, progress: &Progress, on_row: &mut OnRow<'_>) -> ImportResult<()> {
    read(path, name, progress, |rows| RowsSeed { rows, table: "", on_row: Some(on_row) })
}

/// Parses a row. The line of the error is counted within the row, so only its text is used.
pub fn parse<'a, T: Deserialize<'a>>(text: &'a str) -> ImportResult<T> {
    serde_json::from_str(text).map_err(|error| {
        let text = error.to_string();
        ImportError::new(text.rsplit_once(" at line ").map_or(text.as_str(), |(what, _)| what))
    })
}

/// A time in UNIX seconds, without its fraction.
pub fn time(seconds: f64) -> ImportResult<i64> {
    let whole = seconds.floor() as i64;
    if TIMES.contains(&whole) {
        Ok(whole)
    } else {
        Err(ImportError::new(format!("{seconds} is no time in UNIX seconds")))
    }
}

/// Reads a member that may be null as well as absent.
pub fn nullable<'de, T: Deserialize<'de> + Default, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

/// The text of a member, which is empty if there is none.
pub fn text<'v>(value: &'v Value, member: &str) -> &'v str {
    value.get(member).and_then(Value::as_str).unwrap_or_default()
}

/// The first of some members that is a text and not empty.
pub fn first_text<'v>(value: &'v Value, members: &[&str]) -> &'v str {
    members.iter().map(|member| text(value, member)).find(|text| !text.is_empty()).unwrap_or_default()
}

/// A line of a file: its number, from 1, and the offset of its text.
#[derive(Clone, Copy, Debug)]
pub struct Position {
    /// The number of the line, from 1.
    pub line: usize,
    pub offset: u64,
}

/// Reads a part of a file again.
pub fn read_at(file: &mut File, offset: u64, length: usize) -> ImportResult<String> {
    file.seek(SeekFrom::Start(offset))?;
    let mut text = vec![0; length];
    file.read_exact(&mut text)?;
    String::from_utf8(text).map_err(ImportError::new)
}

/// Reads a file of lines, each of which is a row.
pub fn read_lines(
    path: &Path,
    name: &str,
    progress: &Progress,
    mut on_line: impl FnMut(Position, &str) -> ImportResult<()>,
) -> ImportResult<()> {
    let (file, mut offset) = open_text(path, name)?;
    progress.advance(offset);
    let (mut reader, mut line) = (BufReader::new(file), Vec::new());
    for number in 1.. {
        line.clear();
        let length = (&mut reader).take(MAX_ROW + 1).read_until(b'\n', &mut line);
        let length = length.map_err(|error| ImportError::at(name, number, error))? as u64;
        if length > MAX_ROW {
            return Err(ImportError::at(name, number, too_long()));
        }
        if length == 0 {
            break;
        }
        progress.advance(length);
        let text =
            std::str::from_utf8(&line).map_err(|_| ImportError::at(name, number, "it is not UTF-8"))?;
        if !text.trim().is_empty() {
            if has_nul(text) {
                return Err(ImportError::at(name, number, NUL));
            }
            let indentation = (text.len() - text.trim_start().len()) as u64;
            on_line(Position { line: number, offset: offset + indentation }, text.trim())?;
        }
        offset += length;
    }
    Ok(())
}

/// Opens a file of an archive.
pub fn open(path: &Path, name: &str) -> ImportResult<File> {
    File::open(path).map_err(|error| ImportError::in_file(name, error))
}

/// Opens a file of text behind its byte order mark. Returns the length of the mark, too.
fn open_text(path: &Path, name: &str) -> ImportResult<(File, u64)> {
    let mut file = open(path, name)?;
    let mut start = Vec::new();
    (&mut file).take(3).read_to_end(&mut start).map_err(|error| ImportError::in_file(name, error))?;
    let length = match Charset::of_mark(&start) {
        None => 0,
        Some((charset, length)) if charset.is_utf_8() => length as u64,
        Some((charset, _)) => {
            return Err(ImportError::in_file(name, format!("the charset is {charset}, and must be UTF-8")));
        }
    };
    file.seek(SeekFrom::Start(length)).map_err(|error| ImportError::in_file(name, error))?;
    Ok((file, length))
}

fn too_long() -> String {
    format!("a row is longer than {} MiB", MAX_ROW >> 20)
}

/// The bytes that the current row may still have, and the first error of a row.
#[derive(Clone, Default)]
struct Rows {
    left: Rc<Cell<u64>>,
    error: Rc<RefCell<Option<ImportError>>>,
}

impl Rows {
    /// Passes a row on, and keeps its error.
    fn pass_on<E: Error>(&self, table: &str, text: &str, on_row: &mut OnRow<'_>) -> Result<(), E> {
        let done = if has_nul(text) { Err(ImportError::new(NUL)) } else { on_row(table, text) };
        done.map_err(|error| {
            let message = error.to_string();
            self.error.replace(Some(if table.is_empty() {
                error
            } else {
                ImportError::new(format!("{table}: {error}"))
            }));
            E::custom(message)
        })
    }
}

/// A reader that fails when a row is too long.
struct Limited<'a> {
    file: File,
    rows: Rows,
    progress: &'a Progress,
}

impl Read for Limited<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.file.read(buffer)?;
        let left = self.rows.left.get();
        if (count as u64) > left {
            return Err(std::io::Error::other(too_long()));
        }
        self.rows.left.set(left - count as u64);
        self.progress.advance(count as u64);
        Ok(count)
    }
}

fn read<S: for<'de> DeserializeSeed<'de, Value = ()>>(
    path: &Path,
    name: &str,
    progress: &Progress,
    seed: impl FnOnce(Rows) -> S,
) -> ImportResult<()> {
    let rows = Rows::default();
    rows.left.set(MAX_ROW);
    let (file, mark) = open_text(path, name)?;
    progress.advance(mark);
    let reader = BufReader::with_capacity(1 << 16, Limited { file, rows: rows.clone(), progress });
    let mut deserializer = serde_json::Deserializer::from_reader(reader);
    let read = seed(rows.clone()).deserialize(&mut deserializer).and_then(|()| deserializer.end());
    read.map_err(|error| {
        let line = error.line().max(1);
        let text = error.to_string();
        let what = text.rsplit_once(" at line ").map_or(text.as_str(), |(what, _)| what);
        match rows.error.take() {
            Some(of_row) => ImportError::at(name, line, of_row),
            None => ImportError::at(name, line, what),
        }
    })
}

struct TablesVisitor<'a, 'b> {
    rows: Rows,
    wanted: &'a dyn Fn(&str) -> bool,
    on_row: &'a mut OnRow<'b>,
}

impl<'de> DeserializeSeed<'de> for TablesVisitor<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for TablesVisitor<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of tables")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut known = std::collections::HashSet::new();
        while let Some(table) = map.next_key::<String>()? {
            if !known.insert(table.clone()) {
                return Err(A::Error::custom(format!("the table {table} is there twice")));
            }
            self.rows.left.set(MAX_ROW);
            if !["zerver_", "analytics_"].iter().any(|prefix| table.starts_with(prefix)) {
                // Not a table, such as `import_source`.
                let value = map.next_value::<Box<RawValue>>()?;
                if (self.wanted)(&table) {
                    self.rows.pass_on(&table, value.get(), self.on_row)?;
                }
                continue;
            }
            let on_row = (self.wanted)(&table).then_some(&mut *self.on_row);
            map.next_value_seed(RowsSeed { rows: self.rows.clone(), table: &table, on_row })?;
        }
        Ok(())
    }
}

struct RowsSeed<'a, 'b> {
    rows: Rows,
    table: &'a str,
    on_row: Option<&'a mut OnRow<'b>>,
}

impl<'de> DeserializeSeed<'de> for RowsSeed<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_option(self)
    }
}

impl<'de> Visitor<'de> for RowsSeed<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of rows")
    }

    fn visit_none<E: Error>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let Some(on_row) = self.on_row else {
            while list.next_element::<IgnoredAny>()?.is_some() {
                self.rows.left.set(MAX_ROW);
            }
            return Ok(());
        };
        while let Some(row) = list.next_element::<Box<RawValue>>()? {
            self.rows.left.set(MAX_ROW);
            self.rows.pass_on(self.table, row.get(), on_row)?;
        }
        Ok(())
    }
}

/// True if a JSON text has an escaped NUL character.
fn has_nul(text: &str) -> bool {
    text.match_indices("\\u0000").any(|(at, _)| {
        let backslashes = text[..at].bytes().rev().take_while(|byte| *byte == b'\\').count();
        backslashes % 2 == 0
    })
}

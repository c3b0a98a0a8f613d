//! Tables of an archive as JSON, written row by row, and rows made of the results of statements.

use super::error::Result;
use crate::domain::files::names::{is_path_id, is_short};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Params, Row};
use serde::Serialize;
use serde_json::ser::{CharEscape, CompactFormatter, Formatter, Serializer};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::io::{self, Write};

/// The organization's id in archives. All paths of files begin with it, as they do here.
pub const REALM: i64 = 1;

/// The numbers of rows by table.
pub type Counts = BTreeMap<&'static str, u64>;

/// A row of a table: members by column.
pub type Record = Map<String, Value>;

/// An object of tables that is being written.
pub struct Tables<'w> {
    out: &'w mut dyn Write,
    counts: Counts,
}

impl<'w> Tables<'w> {
    /// Begins the object.
    pub fn begin(out: &'w mut dyn Write) -> Result<Self> {
        out.write_all(b"{")?;
        Ok(Self { out, counts: Counts::new() })
    }

    /// Writes a table.
    pub fn table(
        &mut self,
        name: &'static str,
        write: impl FnOnce(&mut Rows<'_>) -> Result<()>,
    ) -> Result<()> {
        let separator = if self.counts.is_empty() { "" } else { "," };
        write!(self.out, "{separator}\n\"{name}\": [")?;
        let mut rows = Rows { out: &mut *self.out, count: 0 };
        write(&mut rows)?;
        let count = rows.count;
        self.out.write_all(b"]")?;
        self.counts.insert(name, count);
        Ok(())
    }

    /// Writes the results of a statement as a table; see [`Rows::select`].
    pub fn select(
        &mut self,
        name: &'static str,
        connection: &Connection,
        statement: &str,
        edit: impl FnMut(&mut Record) -> Result<bool>,
    ) -> Result<()> {
        self.table(name, |rows| rows.select(connection, statement, [], edit))
    }

    /// Ends the object.
    pub fn end(self) -> Result<Counts> {
        self.out.write_all(b"\n}\n")?;
        Ok(self.counts)
    }
}

/// The rows of a table that is being written.
pub struct Rows<'w> {
    out: &'w mut dyn Write,
    count: u64,
}

impl Rows<'_> {
    /// The number of the next row, from 1: the id of rows that have none in the database.
    pub fn next_id(&self) -> u64 {
        self.count + 1
    }

    /// Writes a row.
    pub fn push(&mut self, row: &impl Serialize) -> Result<()> {
        self.out.write_all(if self.count == 0 { b"\n" } else { b",\n" })?;
        write_row(&mut *self.out, row)?;
        self.count += 1;
        Ok(())
    }

    /// Writes the results of a statement as rows. A column that ends with `?` is a boolean, one that ends with `@` a time, and
    /// the names of columns are those of the table. `edit` completes a row and returns whether it is written. A row without an
    /// `id` gets a running number.
    pub fn select(
        &mut self,
        connection: &Connection,
        statement: &str,
        params: impl Params,
        mut edit: impl FnMut(&mut Record) -> Result<bool>,
    ) -> Result<()> {
        let mut statement = connection.prepare_cached(statement)?;
        let names: Vec<String> = statement.column_names().into_iter().map(str::to_owned).collect();
        let mut results = statement.query(params)?;
        while let Some(result) = results.next()? {
            let mut row = record(&names, result)?;
            if edit(&mut row)? {
                if !row.contains_key("id") {
                    row.insert("id".to_owned(), self.next_id().into());
                }
                self.push(&row)?;
            }
        }
        Ok(())
    }
}

/// Writes a row as JSON.
pub fn write_row(out: impl Write, row: &impl Serialize) -> Result<()> {
    Ok(row.serialize(&mut Serializer::with_formatter(out, WithoutNul))?)
}

/// Compact JSON with replacement characters for NUL, which the database of the published server refuses in texts: one in an
/// alert word would end the import of the whole archive.
struct WithoutNul;

impl Formatter for WithoutNul {
    fn write_char_escape<W: ?Sized + Write>(&mut self, out: &mut W, escape: CharEscape) -> io::Result<()> {
        match escape {
            CharEscape::AsciiControl(0) => out.write_all("\u{fffd}".as_bytes()),
            other => CompactFormatter.write_char_escape(out, other),
        }
    }
}

/// Reads the results of a statement, with the same names of columns as for [`Rows::select`].
pub fn records(connection: &Connection, statement: &str, params: impl Params) -> Result<Vec<Value>> {
    let mut statement = connection.prepare(statement)?;
    let names: Vec<String> = statement.column_names().into_iter().map(str::to_owned).collect();
    let mut results = statement.query(params)?;
    let mut records = Vec::new();
    while let Some(result) = results.next()? {
        records.push(Value::Object(record(&names, result)?));
    }
    Ok(records)
}

/// Reads a result of a statement.
fn record(names: &[String], row: &Row<'_>) -> Result<Record> {
    let mut record = Record::with_capacity(names.len() + 1);
    for (index, name) in names.iter().enumerate() {
        let value = match row.get_ref(index)? {
            ValueRef::Null => Value::Null,
            ValueRef::Integer(number) if name.ends_with('?') => (number != 0).into(),
            ValueRef::Integer(number) if name.ends_with('@') => time(number),
            ValueRef::Integer(number) => number.into(),
            ValueRef::Real(number) => number.into(),
            ValueRef::Text(_) | ValueRef::Blob(_) => {
                row.get_ref(index)?.as_str().map_err(rusqlite::Error::from)?.into()
            }
        };
        record.insert(name.trim_end_matches(['?', '@']).to_owned(), value);
    }
    Ok(record)
}

/// A time on the wire: seconds as a floating-point number.
#[expect(clippy::cast_precision_loss, reason = "exact for 285 million years")]
pub fn time(seconds: i64) -> Value {
    (seconds as f64).into()
}

/// The id in a column of a row.
pub fn id_in(row: &Record, column: &str) -> i64 {
    row.get(column).and_then(Value::as_i64).unwrap_or_default()
}

/// The name of the image of a custom emoji in the archive.
pub fn emoji_file_name(id: i64, file: &str) -> String {
    // A backup from elsewhere can have any path here.
    if is_path_id(file) && is_short(file) { file.to_owned() } else { format!("{id}.png") }
}

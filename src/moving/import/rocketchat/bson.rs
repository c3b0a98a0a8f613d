//! BSON files, as `mongodump` writes them: documents one after the other.

use crate::moving::import::error::{ImportError, ImportResult};
use crate::moving::import::json::open;
use crate::types::hex;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Number, Value};
use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::Path;

/// The largest document: databases do not store larger ones.
const MAX_DOCUMENT: u32 = 17 << 20;

/// The deepest nesting.
const MAX_DEPTH: u32 = 100;

/// Reads the documents of a file, with their offsets. Binary data are base64 texts, times milliseconds.
pub fn read_all(
    path: &Path,
    name: &str,
    mut on_document: impl FnMut(u64, Value) -> ImportResult<()>,
) -> ImportResult<()> {
    let mut reader = BufReader::new(open(path, name)?);
    let (mut offset, mut number) = (0, 1);
    while let Some((length, document)) =
        read(&mut reader).map_err(|error| ImportError::at(name, number, error))?
    {
        on_document(offset, document).map_err(|error| ImportError::at(name, number, error))?;
        offset += length;
        number += 1;
    }
    Ok(())
}

/// Reads the document at an offset again.
pub fn read_at(file: &mut File, offset: u64) -> ImportResult<Value> {
    file.seek(SeekFrom::Start(offset))?;
    let document = read(&mut BufReader::new(file))?;
    document.map(|(_, document)| document).ok_or_else(cut)
}

fn cut() -> ImportError {
    ImportError::new("a document is cut")
}

/// Reads a document with its length; `None` at the end.
fn read(reader: &mut impl Read) -> ImportResult<Option<(u64, Value)>> {
    let mut head = Vec::new();
    reader.by_ref().take(4).read_to_end(&mut head)?;
    if head.is_empty() {
        return Ok(None);
    }
    let head: [u8; 4] = head.try_into().map_err(|_| cut())?;
    let length = u32::from_le_bytes(head);
    if !(5..=MAX_DOCUMENT).contains(&length) {
        return Err(ImportError::new(format!("{length} is no length of a document")));
    }
    let mut bytes = Vec::new();
    reader.by_ref().take(u64::from(length) - 4).read_to_end(&mut bytes)?;
    if bytes.len() as u64 + 4 != u64::from(length) {
        return Err(cut());
    }
    let mut cursor = Cursor { bytes: &bytes };
    let document = cursor.members(0)?;
    Ok(Some((u64::from(length), Value::Object(document))))
}

struct Cursor<'a> {
    bytes: &'a [u8],
}

impl<'a> Cursor<'a> {
    fn take(&mut self, count: usize) -> ImportResult<&'a [u8]> {
        let (taken, rest) = self.bytes.split_at_checked(count).ok_or_else(cut)?;
        self.bytes = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> ImportResult<[u8; N]> {
        self.take(N)?.try_into().map_err(|_| cut())
    }

    fn length(&mut self) -> ImportResult<usize> {
        usize::try_from(i32::from_le_bytes(self.array()?)).map_err(|_| cut())
    }

    fn name(&mut self) -> ImportResult<String> {
        let end = self.bytes.iter().position(|byte| *byte == 0).ok_or_else(cut)?;
        let name = String::from_utf8_lossy(self.take(end)?).into_owned();
        self.take(1)?;
        Ok(name)
    }

    fn text(&mut self) -> ImportResult<String> {
        let length = self.length()?;
        let bytes = self.take(length)?;
        let text = String::from_utf8_lossy(bytes.split_last().ok_or_else(cut)?.1).into_owned();
        if text.contains('\0') { Err(ImportError::new("a text has a NUL character")) } else { Ok(text) }
    }

    fn members(&mut self, depth: u32) -> ImportResult<Map<String, Value>> {
        if depth > MAX_DEPTH {
            return Err(ImportError::new("a document is nested too deeply"));
        }
        let mut members = Map::new();
        loop {
            let [kind] = self.array()?;
            if kind == 0 {
                return Ok(members);
            }
            let name = self.name()?;
            let value = self.value(kind, depth)?;
            members.insert(name, value);
        }
    }

    fn value(&mut self, kind: u8, depth: u32) -> ImportResult<Value> {
        Ok(match kind {
            0x01 => Number::from_f64(f64::from_le_bytes(self.array()?)).map_or(Value::Null, Value::Number),
            0x02 | 0x0d | 0x0e => self.text()?.into(),
            0x03 | 0x04 => {
                self.take(4)?;
                let members = self.members(depth + 1)?;
                if kind == 0x04 {
                    members.into_iter().map(|(_, value)| value).collect()
                } else {
                    members.into()
                }
            }
            0x05 => {
                let length = self.length()?;
                self.take(1)?;
                STANDARD.encode(self.take(length)?).into()
            }
            0x06 | 0x0a | 0x7f | 0xff => Value::Null,
            0x07 => hex(self.take(12)?).into(),
            0x08 => (self.take(1)? != [0]).into(),
            0x09 | 0x12 => i64::from_le_bytes(self.array()?).into(),
            0x0b => format!("{}{}", self.name()?, self.name()?).into(),
            0x10 => i32::from_le_bytes(self.array()?).into(),
            0x11 => u64::from_le_bytes(self.array()?).into(),
            0x13 => {
                self.take(16)?;
                Value::Null
            }
            other => return Err(ImportError::new(format!("{other} is no type of a value"))),
        })
    }
}

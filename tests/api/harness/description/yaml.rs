//! The part of YAML in which `docs/openapi.yaml` is written: mappings and lists by indentation, and everything short as
//! JSON in one line.

use serde_json::{Map, Value};
use std::fmt::Write;
use std::sync::OnceLock;

/// Values whose JSON is not longer than this stand in one line.
const MAX_LINE: usize = 110;

/// Writes a mapping.
pub fn write(mapping: &Map<String, Value>) -> String {
    let mut out = String::new();
    write_mapping(&mut out, mapping, 0);
    out
}

fn write_mapping(out: &mut String, mapping: &Map<String, Value>, indent: usize) {
    for (name, value) in mapping {
        let is_plain = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/' || c == '$')
            && name.chars().all(|c| c.is_ascii_alphanumeric() || "/_-{}$".contains(c));
        let name = if is_plain { name.clone() } else { Value::from(name.as_str()).to_string() };
        write!(out, "{:indent$}{name}:", "").unwrap();
        write_value(out, value, indent);
    }
}

/// Writes the part after a colon or a dash at an indentation.
fn write_value(out: &mut String, value: &Value, indent: usize) {
    let line = value.to_string();
    match value {
        Value::Object(mapping) if line.len() + indent > MAX_LINE && !mapping.is_empty() => {
            out.push('\n');
            write_mapping(out, mapping, indent + 2);
        }
        Value::Array(items) if line.len() + indent > MAX_LINE && items.iter().all(Value::is_object) => {
            out.push('\n');
            for item in items {
                write!(out, "{:indent$}  -", "").unwrap();
                write_value(out, item, indent + 2);
            }
        }
        _ => writeln!(out, " {line}").unwrap(),
    }
}

/// Parses the output of [`write()`].
pub fn read(text: &str) -> Value {
    let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
    let mut at = 0;
    read_block(&lines, &mut at, 0)
}

/// A member of a mapping, read when it is asked for: of a long description a test needs little.
pub struct Member {
    rest: &'static str,
    lines: &'static [&'static str],
    indent: usize,
    value: OnceLock<Value>,
}

impl Member {
    pub fn value(&self) -> &Value {
        self.value.get_or_init(|| read_value(self.rest, self.lines, &mut 0, self.indent))
    }

    /// The members of the mapping that it is.
    pub fn members(&self) -> Vec<(&'static str, Self)> {
        members(self.lines, self.indent)
    }
}

/// The members of a mapping whose lines have an indentation. Names are not unquoted.
pub fn members(lines: &'static [&'static str], indent: usize) -> Vec<(&'static str, Member)> {
    let is_first = |line: &&str| line.as_bytes().get(indent).is_some_and(|byte| *byte != b' ');
    let mut starts: Vec<usize> = (0..lines.len()).filter(|at| is_first(&lines[*at])).collect();
    starts.push(lines.len());
    let member = |range: &[usize]| {
        let (name, rest) = lines[range[0]][indent..].split_once(':').expect("a name and a colon");
        let lines = &lines[range[0] + 1..range[1]];
        (name, Member { rest, lines, indent: indent + 2, value: OnceLock::new() })
    };
    starts.windows(2).map(member).collect()
}

fn indent_of(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

/// Reads the mapping or list whose lines have an indentation.
fn read_block(lines: &[&str], at: &mut usize, indent: usize) -> Value {
    let mut mapping = Map::new();
    let mut items = Vec::new();
    while let Some(line) = lines.get(*at).filter(|line| indent_of(line) == indent) {
        *at += 1;
        if let Some(rest) = line[indent..].strip_prefix('-') {
            items.push(read_value(rest, lines, at, indent + 2));
            continue;
        }
        let (name, rest) = if line[indent..].starts_with('"') {
            let (name, rest) = line[indent..].split_once("\":").expect("a name and a colon");
            (serde_json::from_str(&format!("{name}\"")).expect("a name in JSON"), rest)
        } else {
            let (name, rest) = line[indent..].split_once(':').expect("a name and a colon");
            (name.to_owned(), rest)
        };
        let value = read_value(rest, lines, at, indent + 2);
        mapping.insert(name, value);
    }
    if items.is_empty() { Value::Object(mapping) } else { Value::Array(items) }
}

fn read_value(rest: &str, lines: &[&str], at: &mut usize, indent: usize) -> Value {
    if rest.is_empty() {
        return read_block(lines, at, indent);
    }
    // Not `from_str`, which would be compiled here, without optimization.
    rest.trim_start().parse().unwrap_or_else(|error| panic!("{rest}: {error}"))
}

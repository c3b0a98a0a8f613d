//! The tables of the format: their columns, types, references and unique sets, read from `columns.txt`.

use super::archive::Archive;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug, Default)]
struct Table {
    is_required: bool,
    unique: Vec<(bool, Vec<String>)>,
    columns: BTreeMap<String, Column>,
}

#[derive(Debug, Default)]
struct Column {
    kind: String,
    max: Option<usize>,
    is_nullable: bool,
    is_needed: bool,
    reference: Option<String>,
    choices: Vec<String>,
}

/// Columns that may name one of the server's own bots.
const OF_BOTS_TOO: &[(&str, &str)] = &[
    ("zerver_attachment", "owner"),
    ("zerver_message", "sender"),
    ("zerver_reaction", "user_profile"),
    ("zerver_realmauditlog", "acting_user"),
    ("zerver_realmauditlog", "modified_user"),
    ("zerver_userprofile", "bot_owner"),
    ("zerver_userprofile_mirrordummy", "bot_owner"),
];

fn read() -> BTreeMap<String, Table> {
    let mut tables: BTreeMap<String, Table> = BTreeMap::new();
    let mut current = String::new();
    for line in include_str!("columns.txt").lines().filter(|line| !line.starts_with('#')) {
        let words: Vec<&str> = line.split_whitespace().collect();
        if !line.starts_with(' ') {
            let mut table = Table { is_required: words.contains(&"required"), ..Table::default() };
            for word in &words {
                if let Some((kind, names)) = word.trim_end_matches(')').split_once('(') {
                    table.unique.push((kind == "unique~", names.split(',').map(str::to_owned).collect()));
                }
            }
            words[0].clone_into(&mut current);
            tables.insert(current.clone(), table);
            continue;
        }
        let mut column = Column { kind: words[1].to_owned(), ..Column::default() };
        for (index, word) in words.iter().enumerate().skip(2) {
            match *word {
                "null" => column.is_nullable = true,
                "need" => column.is_needed = true,
                "->" => column.reference = Some(words[index + 1].to_owned()),
                word => {
                    column.max = word.strip_prefix("max=").map(|max| max.parse().unwrap()).or(column.max);
                    if let Some(choices) = word.strip_prefix("in=") {
                        column.choices = choices.split('|').map(str::to_owned).collect();
                    }
                }
            }
        }
        tables.get_mut(&current).unwrap().columns.insert(words[0].to_owned(), column);
    }
    tables
}

impl Column {
    fn allows(&self, value: &Value) -> bool {
        if value.is_null() {
            return self.is_nullable;
        }
        let number = value.as_i64();
        let fits =
            |bounds: std::ops::RangeInclusive<i64>| number.is_some_and(|number| bounds.contains(&number));
        let is_kind = match self.kind.as_str() {
            "int" => fits(i64::from(i32::MIN)..=i64::from(i32::MAX)),
            "uint" => fits(0..=i64::from(i32::MAX)),
            "uint16" => fits(0..=32_767),
            "ref" => fits(1..=i64::from(i32::MAX)),
            "bool" => value.is_boolean(),
            // A floating-point number, as Python reads it.
            "time" => value.is_f64(),
            "string" => value.as_str().is_some_and(|text| {
                !text.contains('\0') && self.max.is_none_or(|max| text.chars().count() <= max)
            }),
            "refs" => value.as_array().is_some_and(|ids| ids.iter().all(Value::is_i64)),
            "json" => true,
            kind => panic!("type {kind}"),
        };
        let word = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        is_kind && (self.choices.is_empty() || self.choices.contains(&word))
    }
}

/// Checks every table, column, reference and unique set. Returns what is wrong.
pub fn check(archive: &Archive) -> Vec<String> {
    let schema = read();
    let mut wrong = Vec::new();
    for (name, table) in &schema {
        if table.is_required && !archive.tables.contains_key(name) {
            wrong.push(format!("{name} is missing"));
        }
    }
    let mut ids: BTreeMap<&str, BTreeSet<i64>> = BTreeMap::new();
    for (name, rows) in &archive.tables {
        ids.insert(name, rows.iter().filter_map(|row| row["id"].as_i64()).collect());
    }
    let bots = ids.get("zerver_userprofile_crossrealm").cloned().unwrap_or_default();
    let dummies = ids.get("zerver_userprofile_mirrordummy").cloned().unwrap_or_default();
    ids.entry("zerver_userprofile").or_default().extend(dummies);
    for (name, rows) in &archive.tables {
        let described = if name == "zerver_userprofile_mirrordummy" { "zerver_userprofile" } else { name };
        let Some(table) = schema.get(described) else {
            wrong.push(format!("{name} is not a table of the format"));
            continue;
        };
        let mut previous = 0;
        for row in rows {
            let row_of = |problem: String| format!("{name}: {problem}: {row}");
            let id = row["id"].as_i64().unwrap_or(0);
            if id <= previous {
                wrong.push(row_of("its id does not ascend".to_owned()));
            }
            previous = id;
            for (column, value) in row.as_object().unwrap() {
                match table.columns.get(column) {
                    None => wrong.push(row_of(format!("{column} is unknown"))),
                    Some(known) if !known.allows(value) => {
                        wrong.push(row_of(format!("{column} is no {known:?}")));
                    }
                    Some(Column { reference: Some(to), .. }) => {
                        let list = std::slice::from_ref(value);
                        let all = value.as_array().map_or(list, Vec::as_slice);
                        let may_be_bot = OF_BOTS_TOO.contains(&(name, column));
                        for id in all.iter().filter_map(Value::as_i64) {
                            let is_known = ids.get(to.as_str()).is_some_and(|ids| ids.contains(&id));
                            let is_bot = may_be_bot && bots.contains(&id);
                            let is_of_bot =
                                name == "zerver_message" && column == "recipient" && is_bots(archive, id);
                            if !is_known && !is_bot && !is_of_bot {
                                wrong.push(row_of(format!("{column} {id} is not in {to}")));
                            }
                        }
                    }
                    Some(_) => {}
                }
            }
            for (column, known) in &table.columns {
                if known.is_needed && row.get(column).is_none() {
                    wrong.push(row_of(format!("{column} is missing")));
                }
            }
        }
        for (folds, columns) in &table.unique {
            let mut seen = BTreeSet::new();
            for row in rows {
                let key = columns.iter().map(|column| row[column].to_string()).collect::<Vec<_>>().join("|");
                if !seen.insert(if *folds { key.to_lowercase() } else { key }) {
                    wrong.push(format!("{name}: {columns:?} twice: {row}"));
                }
            }
        }
    }
    wrong
}

/// True if a recipient is that of one of the server's own bots.
fn is_bots(archive: &Archive, recipient: i64) -> bool {
    archive.table("zerver_userprofile_crossrealm").iter().any(|bot| bot["recipient_id"] == recipient)
}

//! An archive, read into memory for tests.

use flate2::read::GzDecoder;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::Read;

/// The contents of an archive.
#[derive(Debug)]
pub struct Archive {
    /// The only folder.
    pub folder: String,
    /// Files by their path in the folder.
    pub files: BTreeMap<String, Vec<u8>>,
    /// The tables of all JSON files; those of messages are joined.
    pub tables: BTreeMap<String, Vec<Value>>,
}

impl Archive {
    /// Reads a compressed tar file.
    pub fn read(bytes: &[u8]) -> Self {
        let (mut files, mut folders) = (BTreeMap::new(), Vec::new());
        for entry in tar::Archive::new(GzDecoder::new(bytes)).entries().unwrap() {
            let mut entry = entry.unwrap();
            let path = entry.path().unwrap().to_str().unwrap().to_owned();
            let (folder, path) = path.split_once('/').unwrap();
            folders.push(folder.to_owned());
            let mut content = Vec::new();
            entry.read_to_end(&mut content).unwrap();
            assert!(files.insert(path.to_owned(), content).is_none(), "{path} twice");
        }
        folders.dedup();
        assert_eq!(folders.len(), 1, "one folder: {folders:?}");
        let mut tables: BTreeMap<String, Vec<Value>> = BTreeMap::new();
        for (path, content) in &files {
            let is_tables =
                path == "realm.json" || path == "attachment.json" || path.starts_with("messages-");
            if !is_tables {
                continue;
            }
            let Value::Object(object) = serde_json::from_slice(content).unwrap() else { panic!("{path}") };
            for (table, rows) in object {
                let Value::Array(rows) = rows else { panic!("{path}: {table}") };
                tables.entry(table).or_default().extend(rows);
            }
        }
        Self { folder: folders.remove(0), files, tables }
    }

    /// The rows of a table.
    pub fn table(&self, name: &str) -> &[Value] {
        self.tables.get(name).map_or(&[], Vec::as_slice)
    }

    pub fn row(&self, table: &str, id: i64) -> &Value {
        self.table(table).iter().find(|row| row["id"] == id).unwrap_or_else(|| panic!("{table} {id}"))
    }

    /// A file that is JSON.
    pub fn json(&self, path: &str) -> Value {
        serde_json::from_slice(self.files.get(path).unwrap_or_else(|| panic!("{path}"))).unwrap()
    }

    /// Accounts and placeholders.
    pub fn people(&self) -> impl Iterator<Item = &Value> {
        self.table("zerver_userprofile").iter().chain(self.table("zerver_userprofile_mirrordummy"))
    }
}

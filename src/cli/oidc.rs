//! The tables `[[oidc]]` of the configuration file: providers of OpenID Connect. They have no flags, since each has several
//! values.

use super::serve_options::read_secret;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use teamchat::oidc::Provider;
use teamchat::types::nearest_name;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

const ID: &str = "id";
const NAME: &str = "name";
const ISSUER: &str = "issuer";
const CLIENT_ID: &str = "client-id";
const CLIENT_SECRET: &str = "client-secret";
const CLIENT_SECRET_FILE: &str = "client-secret-file";
const AUTO_CREATE: &str = "auto-create";

/// The keys of a table.
const KEYS: [&str; 7] = [ID, NAME, ISSUER, CLIENT_ID, CLIENT_SECRET, CLIENT_SECRET_FILE, AUTO_CREATE];

pub struct Table {
    /// Its first line.
    pub line: usize,
    /// The values of the table.
    pub provider: Provider,
}

impl Table {
    /// The values as they may be shown.
    pub fn shown(&self) -> Value {
        let Provider { id, name, issuer, client_id, auto_create, .. } = &self.provider;
        json!({ ID: id, NAME: name, ISSUER: issuer, CLIENT_ID: client_id, CLIENT_SECRET: "(hidden)", AUTO_CREATE: auto_create })
    }
}

/// Mistakes with their lines.
type Mistakes = Vec<(usize, String)>;

/// Reads the tables. `line` is that of their name, `line_at` the line of a byte.
pub fn read(
    value: &Spanned<DeValue<'_>>,
    line: usize,
    line_at: &dyn Fn(usize) -> usize,
) -> Result<Vec<Table>, Mistakes> {
    let DeValue::Array(list) = value.get_ref() else {
        return Err(vec![(
            line,
            "'oidc' must be a list of tables: write [[oidc]] above each table".to_owned(),
        )]);
    };
    let mut tables: Vec<Table> = Vec::new();
    let mut mistakes = Mistakes::new();
    for item in list {
        let line = line_at(item.span().start);
        let DeValue::Table(table) = item.get_ref() else {
            mistakes
                .push((line, "'oidc' must be a list of tables: write [[oidc]] above each table".to_owned()));
            continue;
        };
        match read_table(table, line, line_at) {
            Ok(provider) if tables.iter().any(|other| other.provider.id == provider.id) => {
                mistakes.push((line, format!("there are two providers with the id '{}'", provider.id)));
            }
            Ok(provider) => tables.push(Table { line, provider }),
            Err(found) => mistakes.extend(found),
        }
    }
    if mistakes.is_empty() { Ok(tables) } else { Err(mistakes) }
}

fn read_table(
    table: &DeTable<'_>,
    line: usize,
    line_at: &dyn Fn(usize) -> usize,
) -> Result<Provider, Mistakes> {
    let mut texts: BTreeMap<&str, String> = BTreeMap::new();
    let mut auto_create = false;
    let mut mistakes = Mistakes::new();
    for (key, value) in table {
        let line = line_at(key.span().start);
        let name: &str = key.get_ref();
        let Some(known) = KEYS.into_iter().find(|known| *known == name) else {
            mistakes.push((line, unknown(name)));
            continue;
        };
        let read = match (known, value.get_ref()) {
            (AUTO_CREATE, DeValue::Boolean(value)) => {
                auto_create = *value;
                continue;
            }
            (AUTO_CREATE, _) => Err(format!("'{AUTO_CREATE}' must be true or false, without quotes")),
            (_, DeValue::String(text)) => checked(known, text),
            _ => Err(format!("'{known}' must be a string")),
        };
        match read {
            Ok(text) => {
                let known = if known == CLIENT_SECRET_FILE { CLIENT_SECRET } else { known };
                if texts.insert(known, text).is_some() {
                    let both = format!("'{CLIENT_SECRET}' and '{CLIENT_SECRET_FILE}' exclude each other");
                    mistakes.push((line, both));
                }
            }
            Err(mistake) => mistakes.push((line, mistake)),
        }
    }
    // A key with a mistake is there.
    let is_there = |name: &str| table.keys().any(|key| key.get_ref() == name);
    for name in [ID, ISSUER, CLIENT_ID].into_iter().filter(|name| !is_there(name)) {
        mistakes.push((line, format!("'oidc' needs '{name}'")));
    }
    if !is_there(CLIENT_SECRET) && !is_there(CLIENT_SECRET_FILE) {
        mistakes.push((line, format!("'oidc' needs '{CLIENT_SECRET}' or '{CLIENT_SECRET_FILE}'")));
    }
    if !mistakes.is_empty() {
        return Err(mistakes);
    }
    let mut take = |name: &str| texts.remove(name).unwrap_or_default();
    let (id, issuer) = (take(ID), take(ISSUER));
    let (client_id, client_secret) = (take(CLIENT_ID), take(CLIENT_SECRET));
    let name = texts.remove(NAME).unwrap_or_else(|| id.clone());
    Ok(Provider { id, name, issuer, client_id, client_secret, auto_create })
}

/// Checks the text of a key. That of a file is its first line.
fn checked(key: &str, text: &str) -> Result<String, String> {
    match key {
        ID => Provider::check_id(text)?,
        NAME => Provider::check_name(text)?,
        ISSUER => Provider::check_issuer(text)?,
        CLIENT_SECRET_FILE => return read_secret(Path::new(text)),
        _ if text.is_empty() => return Err(format!("'{key}' is empty")),
        _ => {}
    }
    Ok(text.to_owned())
}

/// The error for a key that tables do not have.
fn unknown(key: &str) -> String {
    match nearest_name(key, KEYS) {
        Some(nearest) => format!("'oidc' has no key '{key}'; the nearest name is '{nearest}'"),
        None => format!("'oidc' has no key '{key}'; its keys are {}", KEYS.join(", ")),
    }
}

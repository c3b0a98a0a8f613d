//! Names of client programs, with the ids that the archive gives them.

use super::error::Result;
use super::tables::Tables;
use crate::types::ClientId;
use rusqlite::Connection;
use serde_json::json;
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The longest name that the published server stores, in characters.
const MAX_LENGTH: usize = 30;

/// The client of rows without one in the database.
pub const WEB_CLIENT: &str = "website";

/// The clients of an archive: only those that rows refer to. Names that are equal after shortening share an id.
pub struct Clients {
    of_database: HashMap<ClientId, i64>,
    by_name: RefCell<BTreeMap<String, i64>>,
    next: Cell<i64>,
    used: RefCell<BTreeSet<i64>>,
}

impl Clients {
    /// Loads the names.
    pub fn load(connection: &Connection) -> Result<Self> {
        let mut clients = Self {
            of_database: HashMap::new(),
            by_name: RefCell::default(),
            next: Cell::new(1),
            used: RefCell::default(),
        };
        let mut statement = connection.prepare("SELECT id, name FROM client ORDER BY id")?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let id = clients.id_of(&row.get::<_, String>(1)?);
            clients.of_database.insert(row.get(0)?, id);
        }
        Ok(clients)
    }

    /// The id of a name. A new name gets the next id.
    fn id_of(&self, name: &str) -> i64 {
        let short: String = name.chars().take(MAX_LENGTH).collect();
        *self.by_name.borrow_mut().entry(short).or_insert_with(|| {
            let id = self.next.get();
            self.next.set(id + 1);
            id
        })
    }

    /// The id for a row with a client of the database.
    pub fn get(&self, id: ClientId) -> i64 {
        let id = self.of_database.get(&id).copied().unwrap_or_else(|| self.id_of(WEB_CLIENT));
        self.used.borrow_mut().insert(id);
        id
    }

    /// The id for a row with the name of a client.
    pub fn named(&self, name: &str) -> i64 {
        let id = self.id_of(name);
        self.used.borrow_mut().insert(id);
        id
    }

    /// Writes the clients that rows refer to.
    pub fn write(&self, tables: &mut Tables<'_>) -> Result<()> {
        tables.table("zerver_client", |rows| {
            let used = self.used.borrow();
            let mut clients: Vec<(i64, String)> =
                self.by_name.borrow().iter().map(|(name, id)| (*id, name.clone())).collect();
            clients.sort_unstable();
            for (id, name) in clients.iter().filter(|(id, _)| used.contains(id)) {
                rows.push(&json!({"id": id, "name": name}))?;
            }
            Ok(())
        })
    }
}

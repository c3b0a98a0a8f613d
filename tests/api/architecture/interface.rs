//! `docs/interface.md` says of each endpoint and each event whether the server has it.
//!
//! `.ci/bless` adds new routes and events and removes old ones. Unsupported ones and their reasons are written by hand.

use crate::harness::generated::{BLESS, assert_generated, is_blessing};
use regex::Regex;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use teamchat::api::events::EVENTS;
use teamchat::api::routes;
use teamchat::http::Route;

const FILE: &str = "docs/interface.md";

fn file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(FILE)
}

/// The order of the rows of a path.
const METHODS: [&str; 5] = ["GET", "POST", "PUT", "PATCH", "DELETE"];

/// The page: the text before each table, its rows, and the end.
struct Page {
    below: Table,
    outside: Table,
    events: Table,
}

struct Table {
    /// The text up to and including the head of the table.
    before: String,
    rows: Vec<Row>,
}

/// A row: the subject (`GET` and a path, or an event), its state, and the note.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Row {
    name: Vec<String>,
    is_served: String,
    note: String,
}

impl Page {
    fn read() -> Self {
        let page = std::fs::read_to_string(file()).unwrap();
        let (below, rest) = page.split_at(page.find("\nThe pages").unwrap());
        let (outside, events) = rest.split_at(rest.find("\n## Events").unwrap());
        Self { below: Table::read(below), outside: Table::read(outside), events: Table::read(events) }
    }

    fn text(&self) -> String {
        [&self.below, &self.outside, &self.events].map(Table::text).concat()
    }
}

impl Table {
    fn read(text: &str) -> Self {
        let is_row = |line: &&str| line.starts_with("| ") && line.contains('`');
        let before: Vec<&str> = text.lines().take_while(|line| !is_row(line)).collect();
        let rows = text.lines().filter(is_row).map(|line| {
            let mut cells: Vec<String> =
                line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect();
            let note = cells.pop().unwrap();
            let is_served = cells.pop().unwrap();
            Row {
                name: cells.iter().map(|cell| cell.trim_matches('`').to_owned()).collect(),
                is_served,
                note,
            }
        });
        Self { before: before.join("\n") + "\n", rows: rows.collect() }
    }

    fn text(&self) -> String {
        let rows = self.rows.iter().map(|row| {
            let last = row.name.len() - 1;
            let method = if last > 0 { format!("{} | ", row.name[0]) } else { String::new() };
            let note = if row.note.is_empty() { String::new() } else { format!(" {}", row.note) };
            format!("| {method}`{}` | {} |{note} |\n", row.name[last], row.is_served)
        });
        self.before.clone() + &rows.collect::<String>()
    }

    /// The routes and events that the page lists as supported.
    fn served(&self) -> BTreeSet<Vec<String>> {
        let mut served = BTreeSet::new();
        for row in &self.rows {
            match row.is_served.as_str() {
                "yes" => assert!(served.insert(row.name.clone()), "{FILE} has {} twice", row.name.join(" ")),
                "answers" | "no" => assert!(!row.note.is_empty(), "{} has a reason", row.name.join(" ")),
                other => panic!("{} is served: {other}", row.name.join(" ")),
            }
            if row.is_served == "answers" {
                served.insert(row.name.clone());
            }
        }
        served
    }

    /// Replaces the table by the current routes or events.
    fn update(&mut self, known: &BTreeSet<Vec<String>>) {
        self.rows.retain(|row| row.is_served == "no" || known.contains(&row.name));
        for row in self.rows.iter_mut().filter(|row| row.is_served == "no" && known.contains(&row.name)) {
            (row.is_served, row.note) = ("yes".to_owned(), String::new());
        }
        for name in known {
            if !self.rows.iter().any(|row| row.name == *name) {
                let row = Row { name: name.clone(), is_served: "yes".to_owned(), note: String::new() };
                self.rows.push(row);
            }
        }
        self.rows.sort_by_key(|row| {
            let method = METHODS.iter().position(|method| *method == row.name[0]);
            (row.name.last().cloned(), method)
        });
    }
}

/// Names of rows, one a line: `GET /users`.
fn lines(names: &[&Vec<String>]) -> String {
    let names: Vec<String> = names.iter().map(|name| name.join(" ")).collect();
    format!("\n  {}", names.join("\n  "))
}

/// Methods and paths, below `/api/v1` or outside of it.
fn known_routes(outside: bool) -> BTreeSet<Vec<String>> {
    let is_wanted = |route: &&Route| route.outside == outside;
    let name = |route: &Route| vec![route.method.to_string(), route.path.to_owned()];
    routes().iter().filter(is_wanted).map(name).collect()
}

#[test]
fn the_page_of_the_interface_has_every_route_and_event_and_no_other() {
    let mut page = Page::read();
    let events: BTreeSet<Vec<String>> =
        EVENTS.kinds().iter().map(|kind| vec![kind.event_type.to_owned()]).collect();
    let known = [known_routes(false), known_routes(true), events];
    if is_blessing() {
        for (table, known) in [&mut page.below, &mut page.outside, &mut page.events].into_iter().zip(&known) {
            table.update(known);
        }
        assert_generated(FILE, &page.text());
    }
    for (table, known) in [&page.below, &page.outside, &page.events].into_iter().zip(&known) {
        let served = table.served();
        let missing: Vec<_> = known.difference(&served).collect();
        let unknown: Vec<_> = served.difference(known).collect();
        assert!(
            missing.is_empty() && unknown.is_empty(),
            "{FILE} lacks:{}\nand has what the server does not have:{}\n{BLESS}",
            lines(&missing),
            lines(&unknown)
        );
    }
}

#[test]
fn interface_page_has_no_open_decisions() {
    let open = Regex::new("(?i)not yet|todo|tbd").unwrap();
    let page = std::fs::read_to_string(file()).unwrap();
    assert_eq!(open.find(&page).map(|found| found.as_str()), None);
}

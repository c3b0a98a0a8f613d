//! Every route, in one snapshot for each resource.

use super::snapshots::assert_written;
use std::collections::BTreeMap;
use std::fmt::Write;
use teamchat::api::RESOURCES;
use teamchat::http::{BODY_LIMIT, Route};

#[test]
fn routes() {
    let mut snapshots = BTreeMap::new();
    for slice in RESOURCES {
        let mut routes = (slice.routes)();
        routes.sort_by_key(|route| (route.full_path(), route.method.to_string()));
        let lines: Vec<String> = routes.iter().map(line).collect();
        if !lines.is_empty() {
            snapshots.insert(slice.name.to_owned(), lines.join("\n"));
        }
    }
    assert_written("routes", &snapshots);
}

fn line(route: &Route) -> String {
    let mut line = format!("{:6} {:60} {}", route.method.as_str(), route.full_path(), route.access);
    if route.for_webhooks {
        line.push_str(", incoming webhooks");
    }
    if route.body_limit != BODY_LIMIT {
        write!(line, ", bodies up to {} bytes", route.body_limit).unwrap();
    }
    line
}

//! Every type of event that the source emits is one that the model client of the harness understands, so that the state
//! before and the events can be held against the state after.

use super::source::files_below;
use std::collections::BTreeSet;
use teamchat::api::events::EVENTS;

/// Events about the server rather than the state: heartbeats, and a new version.
const WITHOUT_STATE: [&str; 2] = ["heartbeat", "restart"];

#[test]
fn the_model_client_understands_every_event() {
    let types: BTreeSet<&str> = EVENTS.kinds().iter().map(|kind| kind.event_type).collect();
    assert!(types.len() > 40, "events are found: {types:?}");
    let tests = files_below("tests");
    let model = tests.iter().find(|file| file.path == "api/harness/model/mod.rs").unwrap();
    let understood: BTreeSet<String> = model
        .literals()
        .into_iter()
        .map(|literal| literal.split('/').next().unwrap_or_default().to_owned())
        .collect();
    let unknown: Vec<_> =
        types.iter().filter(|name| !WITHOUT_STATE.contains(name) && !understood.contains(**name)).collect();
    assert!(unknown.is_empty(), "tests/api/harness/model does not know what these mean: {unknown:?}");
}

//! Every kind of follow-up jobs has a name of its own and is listed in a resource, so that a start continues it after a crash.

use super::source::files_below;
use std::collections::BTreeSet;

#[test]
fn every_kind_of_follow_up_jobs_is_continued() {
    let files = files_below("src");
    let after = |text: &str| -> Vec<String> {
        let program = files.iter().filter(|file| !file.is_test());
        program.flat_map(|file| file.text.split(text).skip(1).map(str::to_owned)).collect()
    };
    let until = |text: &str, end: char| text.split(end).next().unwrap_or_default().to_owned();
    let kinds = after("impl FollowUp for ");
    assert!(kinds.len() > 5, "kinds are found");
    let types: BTreeSet<_> = kinds.iter().map(|kind| until(kind, ' ')).collect();
    let listed: BTreeSet<_> = after("FollowUpKind::of::<").iter().map(|kind| until(kind, '>')).collect();
    assert_eq!(types, listed);
    let names: BTreeSet<_> = kinds.iter().filter_map(|kind| kind.split('"').nth(1)).collect();
    assert_eq!(names.len(), kinds.len(), "{names:?}");
}

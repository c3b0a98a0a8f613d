//! The lists of people and conversations. An organization with several workspaces has lists of its own, and others in the folder
//! of each workspace.

use super::model::SlackUser;
use crate::moving::import::error::{ImportError, ImportResult};
use crate::moving::import::json;
use crate::moving::import::progress::Progress;
use crate::moving::import::unpack::Archive;
use serde::de::DeserializeOwned;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

/// The people of an organization with several workspaces, and of a workspace.
const ORGANIZATION: &str = "org_users.json";
const WORKSPACE: &str = "users.json";

/// The folder with the workspaces of an organization.
const WORKSPACES: &str = "teams";

/// The lists that a workspace has.
const LISTS: [&str; 5] = ["channels.json", "groups.json", "mpims.json", "dms.json", WORKSPACE];

/// Reads a list. A missing file has no rows.
pub fn read<T: DeserializeOwned>(archive: &Archive, name: &str, progress: &Progress) -> ImportResult<Vec<T>> {
    let mut rows = Vec::new();
    if let Some(path) = archive.find(name)? {
        json::read_list(&path, name, progress, &mut |_, text| {
            rows.push(json::parse(text)?);
            Ok(())
        })?;
    }
    Ok(rows)
}

/// The folders of the workspaces of an organization. The export of one workspace has none.
pub fn workspaces(archive: &Archive) -> ImportResult<Vec<String>> {
    let mut folders = Vec::new();
    for name in archive.entries(WORKSPACES)?.0 {
        let folder = format!("{WORKSPACES}/{name}");
        // The folder may also be that of a channel.
        if archive.entries(&folder)?.1.iter().any(|file| LISTS.contains(&file.as_str())) {
            folders.push(folder);
        }
    }
    Ok(folders)
}

/// True for the export of an organization with several workspaces.
pub fn is_of_organization(archive: &Archive) -> ImportResult<bool> {
    Ok(archive.find(ORGANIZATION)?.is_some())
}

/// Reads the people of an organization or a workspace, and then those who are only in the lists of `workspaces`.
pub fn people(archive: &Archive, workspaces: &[String], progress: &Progress) -> ImportResult<Vec<SlackUser>> {
    let is_organization = is_of_organization(archive)?;
    let lists = [ORGANIZATION, WORKSPACE].into_iter().map(str::to_owned);
    let lists = lists.chain(workspaces.iter().map(|folder| format!("{folder}/{WORKSPACE}")));
    let (mut people, mut known): (Vec<SlackUser>, HashMap<String, usize>) = (Vec::new(), HashMap::new());
    for list in lists {
        let mut in_list = HashSet::new();
        for mut user in read::<SlackUser>(archive, &list, progress)? {
            if !in_list.insert(user.id.clone()) {
                return Err(ImportError::in_file(&list, format!("the user {} is there twice", user.id)));
            }
            if is_organization {
                // Owners of a workspace do not own the others.
                user.take_rights_in_organization(list == ORGANIZATION);
            }
            match known.entry(user.id.clone()) {
                Entry::Vacant(entry) => {
                    entry.insert(people.len());
                    people.push(user);
                }
                // Slack refuses a guest of one workspace as a member of another.
                Entry::Occupied(entry) => {
                    people[*entry.get()].is_restricted |= user.is_restricted || user.is_ultra_restricted;
                }
            }
        }
    }
    Ok(people)
}

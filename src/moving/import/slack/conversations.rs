//! Conversations: channels and direct conversations, with the folders of their messages.
//!
//! An organization with several workspaces has conversations of its own, at the top of the archive, and those of each workspace.

use super::model::SlackChannel;
use super::text::to_markdown;
use super::{Conversation, Slack, is_day, lists};
use crate::moving::import::error::{ImportError, ImportResult};
use crate::moving::import::lines::model::{ChannelLine, Date, Line};
use crate::moving::import::lines::names::ChannelNames;
use crate::moving::import::progress::Progress;
use crate::types::{fold, whole_seconds};
use std::collections::{HashMap, HashSet};
use std::path::Path;
use unicode_normalization::UnicodeNormalization;

/// The most folders that the report names.
const MAX_NAMED: usize = 20;

/// The list of direct conversations, whose folders have their ids as names.
const DIRECT: &str = "dms.json";

/// The file with the public or the private channels.
fn channels_file(private: bool) -> &'static str {
    if private { "groups.json" } else { "channels.json" }
}

/// The folders with lists: the top of the archive, whose path is empty, and the workspaces.
fn places(workspaces: &[String]) -> impl Iterator<Item = &str> {
    std::iter::once("").chain(workspaces.iter().map(String::as_str))
}

/// The path of a file or folder of a workspace, which is empty for the top of the archive.
fn path_in(workspace: &str, name: &str) -> String {
    if workspace.is_empty() { name.to_owned() } else { format!("{workspace}/{name}") }
}

/// A conversation of a list.
struct Listed<'w> {
    row: SlackChannel,
    /// The folder of the first workspace that has it.
    workspace: &'w str,
    /// The folders of its messages. None if the list has no usable name.
    folders: Vec<String>,
}

impl Listed<'_> {
    /// Adds the members and the folder that another workspace has of the conversation.
    fn join(&mut self, row: SlackChannel, folder: Option<String>) {
        let known: HashSet<String> = self.row.members.iter().cloned().collect();
        self.row.members.extend(row.members.into_iter().filter(|member| !known.contains(member)));
        self.folders.extend(folder);
    }
}

impl Slack<'_> {
    /// Adds channels, and returns all conversations with their folders.
    pub(super) fn add_channels(
        &mut self,
        workspaces: &[String],
        progress: &Progress,
    ) -> ImportResult<Vec<Conversation>> {
        if workspaces.is_empty() && self.archive.find("channels.json")?.is_none() {
            return Err(ImportError::in_file("channels.json", "the archive does not have this file"));
        }
        let mut channels: Vec<(Listed<'_>, bool)> = Vec::new();
        for private in [false, true] {
            let listed = self.listed(channels_file(private), workspaces, progress)?;
            channels.extend(listed.into_iter().map(|channel| (channel, private)));
        }
        let (mut taken, mut folders) = (ChannelNames::default(), HashSet::new());
        // One channel may be public in a workspace and private in another: two channels here.
        let mut names = Vec::new();
        for (Listed { row, workspace, .. }, private) in &channels {
            if row.name.trim().is_empty() || !folders.insert((*workspace, fold(&row.name))) {
                let what = format!("the channel '{}' has no name, or is there twice", row.name);
                return Err(ImportError::in_file(&path_in(workspace, channels_file(*private)), what));
            }
            let of_several =
                workspace.rsplit('/').next().filter(|name| !name.is_empty() && workspaces.len() > 1);
            let name = match of_several {
                Some(workspace) => taken.make(&format!("{workspace}: {}", row.name)),
                None => taken.make(&row.name),
            };
            self.names.channels.insert(row.id.clone(), name.clone());
            names.push(name);
        }
        let mut conversations = Vec::new();
        for ((Listed { row, workspace, folders }, private), name) in channels.into_iter().zip(names) {
            let file = path_in(workspace, channels_file(private));
            let line = ChannelLine {
                name: name.clone(),
                description: to_markdown(&row.purpose.value.replace('\n', " "), &self.names),
                private,
                shared_history: !private,
                archived: row.is_archived,
                default: matches!(row.name.as_str(), "general" | "random") && !row.is_archived && !private,
                created: whole_seconds(row.created).map(Date),
                creator: row.creator.filter(|creator| self.importer.has_user(creator)),
                subscribers: self.accounts(&row.members)?,
            };
            self.importer.add(Line::Channel(line)).map_err(|error| ImportError::in_file(&file, error))?;
            conversations.push(Conversation { folders, target: Ok(name) });
        }
        for file in ["mpims.json", DIRECT] {
            for Listed { row, folders, .. } in self.listed(file, workspaces, progress)? {
                let people = self.accounts(&row.members)?;
                conversations.push(Conversation { folders, target: Err(people) });
            }
        }
        Ok(conversations)
    }

    /// Reads the lists of a name: that at the top of the archive, and those of workspaces.
    fn listed<'w>(
        &self,
        file: &str,
        workspaces: &'w [String],
        progress: &Progress,
    ) -> ImportResult<Vec<Listed<'w>>> {
        let mut all: Vec<Listed<'w>> = Vec::new();
        let mut known: HashMap<String, usize> = HashMap::new();
        for workspace in places(workspaces) {
            for row in lists::read::<SlackChannel>(self.archive, &path_in(workspace, file), progress)? {
                let name = if file == DIRECT || row.name.is_empty() { &row.id } else { &row.name };
                let folder = Path::new(name).file_name().map(|_| path_in(workspace, name));
                // Workspaces share conversations, and each may have a part of the messages.
                let first = known.get(&row.id).copied();
                match first.filter(|first| all[*first].workspace != workspace) {
                    Some(first) => all[first].join(row, folder),
                    None => {
                        known.insert(row.id.clone(), all.len());
                        all.push(Listed { row, workspace, folders: folder.into_iter().collect() });
                    }
                }
            }
        }
        Ok(all)
    }

    /// True if a folder has files with messages.
    fn has_messages(&self, folder: &str) -> ImportResult<bool> {
        Ok(self.archive.entries(folder)?.1.iter().any(|file| is_day(file)))
    }

    /// Reports the folders with messages of conversations that no list names.
    pub(super) fn leave_out_others(
        &mut self,
        workspaces: &[String],
        conversations: &[Conversation],
    ) -> ImportResult<()> {
        let folders = conversations.iter().flat_map(|conversation| &conversation.folders);
        let known: HashSet<String> = folders.map(|folder| folder.nfc().collect()).collect();
        let mut others = Vec::new();
        for workspace in places(workspaces) {
            for name in self.archive.entries(workspace)?.0 {
                let folder = path_in(workspace, &name);
                if !known.contains(&folder.nfc().collect::<String>()) && self.has_messages(&folder)? {
                    others.push(folder);
                }
            }
        }
        let count = others.len() as u64;
        if others.len() > MAX_NAMED {
            others.truncate(MAX_NAMED);
            others.push("and others".to_owned());
        }
        let why = format!("no list of the archive names their conversations: {}", others.join(", "));
        self.importer.leave_out("folders of messages", count, &why);
        Ok(())
    }
}

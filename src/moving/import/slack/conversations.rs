//! Conversations: channels and direct conversations, with the folders of their messages.

use super::model::SlackChannel;
use super::text::to_markdown;
use super::{Conversation, Slack, is_day, list};
use crate::moving::import::error::{ImportError, ImportResult};
use crate::moving::import::lines::model::{ChannelLine, Date, Line};
use crate::moving::import::lines::names::ChannelNames;
use crate::moving::import::progress::Progress;
use crate::types::{fold, whole_seconds};
use std::collections::HashSet;
use unicode_normalization::UnicodeNormalization;

/// The most folders that the report names.
const MAX_NAMED: usize = 20;

/// The file with the public or the private channels.
fn channels_file(private: bool) -> &'static str {
    if private { "groups.json" } else { "channels.json" }
}

impl Slack<'_> {
    /// Adds channels, and returns all conversations with their folders.
    pub(super) fn add_channels(&mut self, progress: &Progress) -> ImportResult<Vec<Conversation>> {
        let mut conversations = Vec::new();
        if self.archive.find("channels.json")?.is_none() {
            return Err(ImportError::in_file("channels.json", "the archive does not have this file"));
        }
        let mut channels: Vec<(SlackChannel, bool)> = Vec::new();
        for private in [false, true] {
            let rows: Vec<SlackChannel> = list(self.archive, channels_file(private), progress)?;
            channels.extend(rows.into_iter().map(|channel| (channel, private)));
        }
        let (mut taken, mut folders) = (ChannelNames::default(), HashSet::new());
        for (channel, private) in &channels {
            if channel.name.trim().is_empty() || !folders.insert(fold(&channel.name)) {
                let what = format!("the channel '{}' has no name, or is there twice", channel.name);
                return Err(ImportError::in_file(channels_file(*private), what));
            }
            self.names.channels.insert(channel.id.clone(), taken.make(&channel.name));
        }
        for (channel, private) in channels {
            let file = channels_file(private);
            let name = self.names.channels.get(&channel.id).cloned().unwrap_or_default();
            let line = ChannelLine {
                name: name.clone(),
                description: to_markdown(&channel.purpose.value.replace('\n', " "), &self.names),
                private,
                shared_history: !private,
                archived: channel.is_archived,
                default: matches!(channel.name.as_str(), "general" | "random")
                    && !channel.is_archived
                    && !private,
                created: whole_seconds(channel.created).map(Date),
                creator: channel.creator.filter(|creator| self.importer.has_user(creator)),
                subscribers: self.accounts(&channel.members)?,
            };
            self.importer.add(Line::Channel(line)).map_err(|error| ImportError::in_file(file, error))?;
            conversations.push(Conversation { folder: channel.name, target: Ok(name) });
        }
        for (file, by_id) in [("mpims.json", false), ("dms.json", true)] {
            for row in list::<SlackChannel>(self.archive, file, progress)? {
                let people = self.accounts(&row.members)?;
                let folder = if by_id || row.name.is_empty() { row.id } else { row.name };
                conversations.push(Conversation { folder, target: Err(people) });
            }
        }
        Ok(conversations)
    }

    /// Reports the folders with messages of conversations that no list names.
    pub(super) fn leave_out_others(&mut self, conversations: &[Conversation]) -> ImportResult<()> {
        let known: HashSet<String> =
            conversations.iter().map(|conversation| conversation.folder.nfc().collect()).collect();
        let mut others = Vec::new();
        for folder in self.archive.entries("")?.0 {
            if !known.contains(&folder.nfc().collect::<String>())
                && self.archive.entries(&folder)?.1.iter().any(|file| is_day(file))
            {
                others.push(folder);
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

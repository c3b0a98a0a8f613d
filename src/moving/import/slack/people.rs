//! Accounts: people of the workspace, strangers in its messages, and programs.

use super::model::{SlackMessage, SlackProfile, SlackUser};
use super::{AVATARS, SLACKBOT, Slack};
use crate::moving::import::error::{ImportError, ImportResult};
use crate::moving::import::lines::model::{Line, UserLine};
use crate::moving::import::lines::names;
use std::collections::HashMap;

impl Slack<'_> {
    /// Adds the accounts of the workspace. People with one address share an account.
    pub(super) fn add_people(
        &mut self,
        users: Vec<SlackUser>,
        emails: &HashMap<String, String>,
    ) -> ImportResult<()> {
        let mut by_email: HashMap<String, String> = HashMap::new();
        let mut users = users;
        // The primary owner has the first id. Accounts with one address become the one that is active.
        users.sort_by_key(|user| (!user.is_primary_owner, user.deleted));
        for user in users {
            let given = emails.get(&user.id.to_lowercase()).or_else(|| emails.get(&user.name.to_lowercase()));
            let email = given.cloned().or_else(|| user.profile.email.clone());
            let email = email.filter(|email| !user.is_bot && email.contains('@'));
            if let Some(email) = &email {
                if let Some(first) = by_email.get(&email.to_lowercase()) {
                    self.aliases.insert(user.id.clone(), first.clone());
                    let name = self.names.people.get(first).cloned().unwrap_or_default();
                    self.names.people.insert(user.id, name);
                    self.importer.leave_out(
                        "accounts",
                        1,
                        "another account has their email address; the two became one account",
                    );
                    continue;
                }
                by_email.insert(email.to_lowercase(), user.id.clone());
            }
            self.add_person(user, email)?;
        }
        for (id, name) in &mut self.names.people {
            if let Some(mention) = self.importer.mention_of(self.aliases.get(id).unwrap_or(id)) {
                *name = mention;
            }
        }
        Ok(())
    }

    fn add_person(&mut self, user: SlackUser, email: Option<String>) -> ImportResult<()> {
        let (login, id) = (Some(user.name.as_str()), Some(user.id.as_str()));
        let names = [user.real_name.as_deref(), user.profile.real_name.as_deref(), login, id];
        let name = names::person_or_unnamed(names.into_iter().flatten());
        self.names.people.insert(user.id.clone(), name.clone());
        let avatar = match (self.saved(AVATARS, &user.id)?, user.profile.image()) {
            (Some(path), _) => Some(path),
            (None, Some(url)) => self.fetch("avatars", url)?,
            (None, None) => None,
        };
        let role = if user.is_restricted || user.is_ultra_restricted {
            "guest"
        } else if user.is_owner || user.is_primary_owner {
            "owner"
        } else if user.is_admin {
            "administrator"
        } else {
            "member"
        };
        let is_bot = user.is_bot || user.id == SLACKBOT;
        // Several bots may have one name. The others get an address with their id.
        let of_bot = format!("{}-bot@imported.invalid", user.name.to_lowercase().replace(' ', "-"));
        let of_bot = Some(of_bot).filter(|address| is_bot && self.bot_addresses.insert(address.clone()));
        let line = UserLine {
            id: user.id,
            email: email.or(of_bot),
            full_name: name,
            role: Some(role.to_owned()),
            active: !user.deleted,
            bot: is_bot,
            avatar,
            timezone: user.tz.filter(|zone| zone.contains('/')).unwrap_or_default(),
            ..UserLine::default()
        };
        self.importer.add(Line::User(line)).map_err(|error| ImportError::in_file("users.json", error))
    }

    /// The account of an id: that of the person with the same address, or a deactivated one for a stranger, named as in
    /// `profile`.
    pub(super) fn account(&mut self, id: &str, profile: Option<&SlackProfile>) -> ImportResult<String> {
        if let Some(first) = self.aliases.get(id) {
            return Ok(first.clone());
        }
        if !self.importer.has_user(id) {
            // The API refuses those who are gone.
            let known = self.api.as_ref().map(|api| api.person(id)).transpose()?.flatten();
            let known = known.as_ref();
            let candidates = [
                known.and_then(|user| user.profile.real_name.as_deref()),
                known.map(|user| user.name.as_str()),
                profile.and_then(|profile| profile.real_name.as_deref()),
            ];
            let name = names::find_person(candidates.into_iter().flatten());
            let name = name.unwrap_or_else(|| {
                self.importer.leave_out("names", 1, "these people are in messages, but not in users.json");
                names::person(&format!("Slack user {id}"))
            });
            self.names.people.insert(id.to_owned(), name.clone());
            self.importer.add(Line::User(UserLine {
                id: id.to_owned(),
                email: Some(format!("{}@imported.invalid", id.to_lowercase())),
                full_name: name,
                active: false,
                ..UserLine::default()
            }))?;
        }
        Ok(id.to_owned())
    }

    /// The accounts of several ids.
    pub(super) fn accounts(&mut self, ids: &[String]) -> ImportResult<Vec<String>> {
        ids.iter().map(|id| self.account(id, None)).collect()
    }

    /// The account that sent a message; programs without an account get a bot.
    pub(super) fn sender(&mut self, message: &SlackMessage) -> ImportResult<Option<String>> {
        let of_file = message.file.as_ref().or(message.files.first()).and_then(|file| file.user.as_deref());
        let of_comment = message.comment.get("user").and_then(|user| user.as_str());
        if let Some(user) = message.user.as_deref().or(of_comment).or(of_file).filter(|user| *user != "U00") {
            return Ok(Some(self.account(user, message.user_profile.as_ref())?));
        }
        let Some(program) = message.bot_id.as_deref().or(message.username.as_deref()) else {
            return Ok(None);
        };
        let id = format!("program {program}");
        if self.programs.insert(id.clone()) {
            let known = self.api.as_ref().zip(message.bot_id.as_deref());
            let known = known.map(|(api, bot)| api.bot(bot)).transpose()?.flatten();
            let bot = known.as_ref().or(message.bot_profile.as_ref());
            let candidates = [message.username.as_deref(), bot.map(|bot| bot.name.as_str())];
            let name = names::find_person(candidates.into_iter().flatten());
            let name = name.unwrap_or_else(|| names::person(&format!("Slack program {program}")));
            let avatar = match bot.and_then(|bot| bot.icons.image_72.as_deref()) {
                Some(url) => self.fetch("avatars", url)?,
                None => None,
            };
            let address: String =
                program.to_lowercase().chars().filter(char::is_ascii_alphanumeric).collect();
            self.importer.add(Line::User(UserLine {
                id: id.clone(),
                email: Some(format!("{address}-{}-bot@imported.invalid", self.programs.len())),
                full_name: name,
                active: false,
                bot: true,
                avatar,
                ..UserLine::default()
            }))?;
        }
        Ok(Some(id))
    }
}

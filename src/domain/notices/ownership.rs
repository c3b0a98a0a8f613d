//! Notices to users about changes that others made to their accounts and bots.

use crate::domain::notices::{budget, mention};
use crate::domain::rows::user::UserRow;
use crate::domain::{notices, user_settings};
use crate::error::ApiResult;
use crate::store::Tx;
use crate::types::{Language, Role, UserId};
use serde::{Deserialize, Serialize};
use teamchat_markdown::{Composition, Words};

/// The user who changes an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Actor {
    /// A user of the organization.
    User(UserId),
    /// The operator of the server, by a command.
    Operator,
}

impl Actor {
    /// True if the change is one of the user's own, which is not reported.
    fn is(self, user_id: UserId) -> bool {
        self == Self::User(user_id)
    }

    fn words(self, tx: &Tx<'_>, language: Language) -> ApiResult<Words> {
        match self {
            Self::User(user_id) => notices::name_of_user(tx, user_id),
            Self::Operator => Ok(Words::new(language.t("The operator of this server"))),
        }
    }
}

/// Notifies an active person that another user changed their role. `user` has the previous role.
pub fn role_changed(tx: &mut Tx<'_>, user: &UserRow, to: Role, by: Actor) -> ApiResult<()> {
    let language = user_settings::language_of(tx, user.user_id)?;
    let role = |role| Words::default().strong(Words::new(shown(language, role)));
    let text = language.t("{by} changed your role from {old} to {new}.");
    let parameters = [("by", by.words(tx, language)?), ("old", role(user.role)), ("new", role(to))];
    let mut content = Words::filled(text, &parameters);
    if to == Role::Owner {
        content = content.words(language.between_sentences()).words(language.t(
            "From now on, only owners can read the keys of your bots. Administrators may know the earlier keys: \
             regenerate them if in doubt.",
        ));
    }
    tell(tx, user, by, content)
}

/// Notifies a person that their account was reactivated.
pub fn reactivated(tx: &mut Tx<'_>, user: &UserRow, by: Actor) -> ApiResult<()> {
    let language = user_settings::language_of(tx, user.user_id)?;
    let text =
        language.t("{by} reactivated your account. Earlier sessions and API keys do not work any more.");
    tell(tx, user, by, Words::filled(text, &[("by", by.words(tx, language)?)]))
}

/// Effects of a handover on the bot, besides its new key.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts")]
pub struct Handover {
    /// It was removed from groups and permissions.
    pub left_groups: bool,
    /// It was unsubscribed from private channels.
    pub left_channels: bool,
    /// The URL that messages were posted to was removed.
    pub lost_url: bool,
    /// The scheduled messages of the bot were cancelled.
    pub has_stopped_messages: bool,
}

/// Notifies the new owner of a bot that another user gave it to them.
pub fn bot_given(
    tx: &mut Tx<'_>,
    owner: &UserRow,
    bot: &UserRow,
    handover: Handover,
    by: Actor,
) -> ApiResult<()> {
    let language = user_settings::language_of(tx, owner.user_id)?;
    let text = language.t(
        "{by} gave you the bot {bot}. It has a new API key, which its previous owner does not know. Programs that \
         use the bot need the new key.",
    );
    let mut content = Words::filled(text, &[("by", by.words(tx, language)?), ("bot", mention(bot))]);
    let effects = [
        (
            handover.left_channels,
            language.t("The bot was unsubscribed from private channels that you are not subscribed to."),
        ),
        (
            handover.left_groups,
            language.t("The bot was removed from groups and permissions that you are not in."),
        ),
        (handover.lost_url, language.t("The bot posts no messages until you set its URL.")),
        (handover.has_stopped_messages, language.t("The scheduled messages of the bot were cancelled.")),
    ];
    for (_, text) in effects.into_iter().filter(|(happened, _)| *happened) {
        content = content.words(language.between_sentences()).words(text);
    }
    tell(tx, owner, by, content)
}

/// Notifies the former owner of a bot that another user gave it away.
pub fn bot_taken(
    tx: &mut Tx<'_>,
    former: &UserRow,
    bot: &UserRow,
    owner: &UserRow,
    by: Actor,
) -> ApiResult<()> {
    let language = user_settings::language_of(tx, former.user_id)?;
    let text = language.t("{by} gave your bot {bot} to {owner}. Its previous API key no longer works.");
    let parameters = [("by", by.words(tx, language)?), ("bot", mention(bot)), ("owner", mention(owner))];
    tell(tx, former, by, Words::filled(text, &parameters))
}

/// Notifies the owner of a bot that another user regenerated its API key.
pub fn bot_key_regenerated(tx: &mut Tx<'_>, owner: &UserRow, bot: &UserRow, by: Actor) -> ApiResult<()> {
    let language = user_settings::language_of(tx, owner.user_id)?;
    let text = language
        .t("{by} regenerated the API key of your bot {bot}. Programs that use the bot need the new one.");
    tell(tx, owner, by, Words::filled(text, &[("by", by.words(tx, language)?), ("bot", mention(bot))]))
}

/// Notifies the owner of a bot that another user reactivated it.
pub fn bot_reactivated(tx: &mut Tx<'_>, owner: &UserRow, bot: &UserRow, by: Actor) -> ApiResult<()> {
    let language = user_settings::language_of(tx, owner.user_id)?;
    let text = language.t("{by} reactivated your bot {bot}. It has a new API key.");
    tell(tx, owner, by, Words::filled(text, &[("by", by.words(tx, language)?), ("bot", mention(bot))]))
}

/// The name of a role, as clients show it.
fn shown(language: Language, role: Role) -> &'static str {
    match role {
        Role::Owner => language.t("Owner"),
        Role::Administrator => language.t("Administrator"),
        Role::Moderator => language.t("Moderator"),
        Role::Member => language.t("Member"),
        Role::Guest => language.t("Guest"),
    }
}

fn tell(tx: &mut Tx<'_>, user: &UserRow, by: Actor, content: Words) -> ApiResult<()> {
    if by.is(user.user_id) || user.is_bot() || !user.is_active {
        return Ok(());
    }
    let address = notices::direct_address(tx, user.user_id)?;
    let content = Composition::from(content);
    match by {
        Actor::User(by) => budget::send_caused(tx, by, address, content),
        Actor::Operator => notices::send_as_notification_bot(tx, address, content).map(|_| ()),
    }
}

//! Notices to people about their own accounts and bots: what somebody else changed about them.

use crate::domain::access::user_rows::UserRow;
use crate::domain::notices;
use crate::http::ApiResult;
use crate::markdown::{Composition, Words};
use crate::store::Tx;
use crate::types::{Role, UserId};

/// Who changes an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Actor {
    /// A user of the organization.
    User(UserId),
    /// The operator of the server, by a command.
    Operator,
}

impl Actor {
    /// Whether the change is one of the user's own, which is no news to them.
    fn is(self, user_id: UserId) -> bool {
        self == Self::User(user_id)
    }

    fn words(self, tx: &Tx<'_>) -> ApiResult<Words> {
        match self {
            Self::User(user_id) => notices::name_of_user(tx, user_id),
            Self::Operator => Ok(Words::new("The operator of this server")),
        }
    }
}

/// Tells an active person that somebody else gave them another role. `user` has the role of before.
pub fn role_changed(tx: &mut Tx<'_>, user: &UserRow, to: Role, by: Actor) -> ApiResult<()> {
    let mut content = by
        .words(tx)?
        .words(" changed your role from ")
        .strong(Words::new(shown(user.role)))
        .words(" to ")
        .strong(Words::new(shown(to)))
        .words(".");
    if to == Role::Owner {
        content = content.words(
            " From now on only owners can read the keys of your bots. Administrators may know those of before: \
             replace them if in doubt.",
        );
    }
    tell(tx, user, by, content)
}

/// Tells a person that their account was reactivated.
pub fn reactivated(tx: &mut Tx<'_>, user: &UserRow, by: Actor) -> ApiResult<()> {
    let content =
        by.words(tx)?.words(" reactivated your account. Its sessions and API keys of before have ended.");
    tell(tx, user, by, content)
}

/// What happened to a bot when it got another owner, beside its new key.
#[derive(Clone, Copy, Debug, Default)]
pub struct Handover {
    /// It was unsubscribed from private channels.
    pub left_channels: bool,
    /// The URL that messages were posted to was removed.
    pub lost_url: bool,
    /// Its scheduled messages were stopped.
    pub has_stopped_messages: bool,
}

/// Tells the new owner of a bot that somebody else gave it to them.
pub fn bot_given(
    tx: &mut Tx<'_>,
    owner: &UserRow,
    bot: &UserRow,
    handover: Handover,
    by: Actor,
) -> ApiResult<()> {
    let mut content = by.words(tx)?.words(" gave you the bot ").append(name(bot)).words(
        ". It has a new API key, which whoever had it before does not know; programs that use the bot need it.",
    );
    if handover.left_channels {
        content = content.words(" It was unsubscribed from private channels that you are not subscribed to.");
    }
    if handover.lost_url {
        content = content.words(" It posts messages nowhere until you set its URL.");
    }
    if handover.has_stopped_messages {
        content = content.words(" Its scheduled messages were stopped.");
    }
    tell(tx, owner, by, content)
}

/// Tells the former owner of a bot that somebody else gave it away.
pub fn bot_taken(
    tx: &mut Tx<'_>,
    former: &UserRow,
    bot: &UserRow,
    owner: &UserRow,
    by: Actor,
) -> ApiResult<()> {
    let content = by
        .words(tx)?
        .words(" gave your bot ")
        .append(name(bot))
        .words(" to ")
        .append(name(owner))
        .words(". Its API key of before does not work any more.");
    tell(tx, former, by, content)
}

/// Tells the owner of a bot that somebody else reactivated it.
pub fn bot_reactivated(tx: &mut Tx<'_>, owner: &UserRow, bot: &UserRow, by: Actor) -> ApiResult<()> {
    let content =
        by.words(tx)?.words(" reactivated your bot ").append(name(bot)).words(". It has a new API key.");
    tell(tx, owner, by, content)
}

fn name(user: &UserRow) -> Words {
    Words::default().user(user.user_id.0, &user.full_name)
}

/// The name of a role, as clients show it.
fn shown(role: Role) -> &'static str {
    match role {
        Role::Owner => "Owner",
        Role::Administrator => "Administrator",
        Role::Moderator => "Moderator",
        Role::Member => "Member",
        Role::Guest => "Guest",
    }
}

fn tell(tx: &mut Tx<'_>, user: &UserRow, by: Actor, content: Words) -> ApiResult<()> {
    if by.is(user.user_id) || user.is_bot() || !user.is_active {
        return Ok(());
    }
    let address = notices::direct_address(tx, user.user_id)?;
    notices::send_as_notification_bot(tx, address, Composition::from(content)).map(|_| ())
}

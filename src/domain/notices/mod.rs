//! The system bots, and the notices that they send.
//!
//! A notice is a message that is created in the job of the reported change, so that either both happen or neither. Its
//! text is a tree ([`Composition`]), in which names and texts of users are data. Markdown of users (a description) is
//! quoted as it was rendered for its author. So the job renders nothing.

pub mod bots;
pub mod budget;
pub mod channels;
pub mod operation;
pub mod ownership;
pub mod security;
pub mod welcome;

use crate::auth::{Caller, Ctx};
use crate::domain::messages::create::{OutgoingMessage, store_and_emit};
use crate::domain::messages::destination::Destination;
use crate::domain::realm::user_ids;
use crate::domain::rendering::render_for;
use crate::domain::rows::user::UserRow;
use crate::domain::users::names;
use crate::domain::{access, rows, users};
use crate::error::{ApiError, ApiResult};
use crate::store::Tx;
use crate::types::{BotType, MessageId, Role, UserId};
use rusqlite::Connection;
use teamchat_markdown::{Composition, Rendered, Words};

/// The email of the bot that sends notices of moves, new channels and the like. Clients recognize it by this email.
pub const NOTIFICATION_BOT: &str = "notification-bot@zulip.com";

/// The email of the bot that is the sender of messages that arrived by email.
pub const EMAIL_GATEWAY: &str = "emailgateway@zulip.com";

/// The email of the bot that greets new users.
const WELCOME_BOT: &str = "welcome-bot@zulip.com";

/// Emails and names of all system bots (`cross_realm_bots` of `POST /register`).
const SYSTEM_BOTS: [(&str, &str); 3] = [
    (NOTIFICATION_BOT, names::SYSTEM_BOTS[0]),
    (EMAIL_GATEWAY, names::SYSTEM_BOTS[1]),
    (WELCOME_BOT, names::SYSTEM_BOTS[2]),
];

/// The client name of notices.
const CLIENT: &str = "Internal";

/// Number of users in a notice for whom the guests who can access them are looked up. A permission may name hundreds; further
/// names are hidden from guests.
const MAX_LOOKED_UP: usize = 20;

/// Inserts the system bots that do not exist yet.
pub fn set_up(tx: &mut Tx<'_>) -> ApiResult<()> {
    for (email, full_name) in SYSTEM_BOTS {
        if users::by_delivery_email(tx, email)?.is_none() {
            users::insert(
                tx,
                &users::NewUserRow {
                    email,
                    full_name,
                    role: Role::Member,
                    // The published type of system bots.
                    bot_type: Some(BotType::Generic),
                    bot_owner_id: None,
                    is_system_bot: true,
                    password_hash: None,
                    date_joined: tx.now(),
                },
            )?;
        }
    }
    Ok(())
}

/// Sends a message of the notification bot. Permissions are not checked.
pub fn send_as_notification_bot(
    tx: &mut Tx<'_>,
    address: Destination,
    content: Composition,
) -> ApiResult<MessageId> {
    send_and_read(tx, address, content, Vec::new())
}

/// Like [`send_as_notification_bot`], but the message is read already for the users `read_by`, such as the one who made
/// the change. It does not name users whom some receivers cannot access.
pub fn send_and_read(
    tx: &mut Tx<'_>,
    address: Destination,
    mut content: Composition,
    read_by: Vec<UserId>,
) -> ApiResult<MessageId> {
    hide_names(tx, &address, &mut content)?;
    let (content, rendered) = content.finish();
    let bot = bot(tx)?;
    let sent = store_and_emit(tx, bot, &OutgoingMessage { read_by, ..draft(address, content, rendered) })?;
    Ok(sent.id)
}

/// Replaces the names of users whom some receivers of a notice, guests, cannot access. All guests and visitors read web-public
/// channels.
fn hide_names(tx: &Tx<'_>, address: &Destination, content: &mut Composition) -> ApiResult<()> {
    if !access::users::is_restricted(tx)? {
        return Ok(());
    }
    let (receivers, is_web_public) = match address {
        Destination::Channel(stream, _) => {
            (rows::channel::subscribers(tx, stream.stream_id)?, stream.is_web_public)
        }
        Destination::Direct(user_ids) => {
            (user_ids.iter().filter_map(|user_id| user_id.bit()).collect(), false)
        }
    };
    let guests = &receivers & user_ids::guest_ids(tx)?;
    if guests.is_empty() && !is_web_public {
        return Ok(());
    }
    let mut looked_up = 0;
    content.hide_names(access::users::UNKNOWN_USER, |user_id| {
        let user = rows::user::by_id(tx, UserId(user_id))?;
        let Some(user) = user.filter(|user| !user.is_bot()) else { return Ok(false) };
        // Guests access the other receivers.
        let is_receiver = user.is_active && user.user_id.is_in(&receivers);
        if is_web_public || is_receiver {
            return Ok(is_web_public);
        }
        looked_up += 1;
        Ok(looked_up > MAX_LOOKED_UP || !access::users::without_access(tx, &user, &guests)?.is_empty())
    })
}

/// Sends a direct message of the Welcome Bot to a user: Markdown and its rendering. There is no mail about it.
pub fn send_as_welcome_bot(
    tx: &mut Tx<'_>,
    user_id: UserId,
    (content, rendered): (String, Rendered),
) -> ApiResult<MessageId> {
    let bot = bot_with(tx, WELCOME_BOT)?;
    let mut user_ids = vec![bot, user_id];
    user_ids.sort_unstable();
    let draft = draft(Destination::Direct(user_ids), content, rendered);
    Ok(store_and_emit(tx, bot, &OutgoingMessage { is_quiet: true, ..draft })?.id)
}

/// The destination of direct messages of the notification bot to a user.
pub fn direct_address(connection: &Connection, user_id: UserId) -> ApiResult<Destination> {
    let mut user_ids = vec![bot(connection)?, user_id];
    user_ids.sort_unstable();
    Ok(Destination::Direct(user_ids))
}

/// A message of the notification bot that is rendered on a snapshot, with the access of its reader.
pub struct BotMessage {
    bot: UserId,
    draft: OutgoingMessage,
}

impl BotMessage {
    /// A message that is built as a tree.
    pub fn composed(connection: &Connection, address: Destination, content: Composition) -> ApiResult<Self> {
        let (content, rendered) = content.finish();
        Ok(Self { bot: bot(connection)?, draft: draft(address, content, rendered) })
    }

    /// Renders a message.
    pub fn new(ctx: Ctx<'_>, origin: &str, address: Destination, content: String) -> ApiResult<Self> {
        let rendered = render_for(ctx, origin, &content)?;
        Ok(Self { bot: bot(&ctx)?, draft: draft(address, content, rendered) })
    }

    /// The same message to another destination.
    #[must_use]
    pub fn to(mut self, destination: Destination) -> Self {
        self.draft.destination = destination;
        self
    }

    pub fn destination(&self) -> &Destination {
        &self.draft.destination
    }

    /// Sends the message. Permissions are not checked.
    pub fn send(&self, tx: &mut Tx<'_>) -> ApiResult<()> {
        store_and_emit(tx, self.bot, &self.draft).map(|_| ())
    }
}

fn bot(connection: &Connection) -> ApiResult<UserId> {
    bot_with(connection, NOTIFICATION_BOT)
}

fn bot_with(connection: &Connection, email: &str) -> ApiResult<UserId> {
    let bot = users::by_delivery_email(connection, email)?;
    bot.map(|bot| bot.user_id)
        .ok_or_else(|| ApiError::internal(format_args!("the organization has no bot {email}")))
}

fn draft(address: Destination, content: String, rendered: Rendered) -> OutgoingMessage {
    OutgoingMessage::new(address, content, rendered, CLIENT.to_owned())
}

/// A silent mention of the caller, for notices.
pub fn name_of(tx: &Tx<'_>, caller: &Caller) -> ApiResult<Words> {
    name_of_user(tx, caller.user_id)
}

/// A silent mention of a user, for notices.
pub fn name_of_user(connection: &Connection, user_id: UserId) -> ApiResult<Words> {
    Ok(mention(&rows::user::existing(connection, user_id)?))
}

/// A silent mention of a user who is loaded, for notices.
pub fn mention(user: &UserRow) -> Words {
    Words::default().user(user.user_id.0, &user.full_name)
}

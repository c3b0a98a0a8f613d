//! Sending a mail as a message: to a channel, or as the answer to a message.

use crate::app::App;
use crate::auth::{Caller, Ctx};
use crate::domain::files::references;
use crate::domain::mail_addresses::parts::Parts;
use crate::domain::mail_addresses::{MailTarget, count_use, find};
use crate::domain::mail_in::mime::{Mail, MailKind};
use crate::domain::mail_in::{check_may_send_as, content, gateway, subject};
use crate::domain::messages::create::{OutgoingMessage, send, store_and_emit};
use crate::domain::messages::destination::{self, Destination, check_may_post, check_topic, read_topic};
use crate::domain::messages::rules::mentions;
use crate::domain::messages::viewer::MessageViewer;
use crate::domain::rendering::{on_snapshot, render_for};
use crate::domain::rows::channel::TopicsPolicy;
use crate::domain::uploads::UploadLimits;
use crate::domain::{access, files, messages, notices, rows, uploads, user_settings};
use crate::error::{ApiError, ApiResult, ok_unless_refused};
use crate::store::Tx;
use crate::types::{Author, MailPattern, MessageId, Origin, StreamId, Topic, UserId};
use rusqlite::Connection;
use std::sync::Arc;
use teamchat_markdown::{Words, link_text, silenced};

/// The client name of messages that arrived by mail.
const CLIENT: &str = "Internal";

/// A recipient of a mail: an address that belongs to someone.
#[derive(Clone, Debug)]
pub struct Recipient {
    parts: Parts,
    target: MailTarget,
}

impl Recipient {
    /// Finds the owner of an address. `None` if there is none, or if their account or the organization is deactivated.
    pub fn find(connection: &Connection, pattern: &MailPattern, address: &str) -> ApiResult<Option<Self>> {
        let Some(part) = pattern.part_of(address) else { return Ok(None) };
        let parts = Parts::of(part);
        let Some(target) = find(connection, &parts)? else { return Ok(None) };
        let person = match target {
            MailTarget::Channel { asker_id, .. } => asker_id,
            MailTarget::Reply { user_id, .. } => user_id,
        };
        let caller = ok_unless_refused(rows::user::caller(connection, person))?;
        Ok(caller.map(|_| Self { parts, target }))
    }

    /// Fails if the address has ended since it was found: a session can last for half an hour after that. Called by the job that
    /// sends the message.
    fn check(&self, connection: &Connection) -> ApiResult<()> {
        if find(connection, &self.parts)? == Some(self.target) {
            return Ok(());
        }
        Err(ApiError::bad_request("There is no such address"))
    }

    /// True if mails of this kind are taken. Answers of programs are not, nor are mails of this server: they would go in
    /// circles. Channels take mails of programs and mailing lists.
    fn takes(&self, kind: MailKind) -> bool {
        match kind {
            MailKind::Personal => true,
            MailKind::Automatic => matches!(self.target, MailTarget::Channel { .. }),
            MailKind::AutomaticReply | MailKind::OfThisServer => false,
        }
    }
}

/// Sends a mail as a message. One that may not be sent is dropped: the senders of mails are often forged, and a note to them
/// would reach strangers. Fails if it may be sent later: with 429, or with 500 and above.
pub async fn deliver(app: &Arc<App>, mail: &Arc<Mail>, recipient: &Recipient) -> ApiResult<()> {
    if !recipient.takes(mail.kind) {
        tracing::info!(kind = ?mail.kind, "a mail was dropped: a program sent it");
        return Ok(());
    }
    let sent = match recipient.target {
        MailTarget::Channel { stream_id, asker_id, sender_id } => {
            app.rate_limiter.count_mail(asker_id, &app.clock)?;
            let to = ToChannel { stream_id, asker_id, sender_id };
            to_channel(app, mail, recipient, to).await
        }
        MailTarget::Reply { user_id, message_id } => reply(app, mail, recipient, user_id, message_id).await,
    };
    match sent {
        Err(error) if !error.is_transient() => {
            tracing::info!(%error, "a mail was dropped: its message may not be sent");
            Ok(())
        }
        sent => sent,
    }
}

/// The address of a channel.
#[derive(Clone, Copy)]
#[expect(clippy::struct_field_names, reason = "all are ids")]
struct ToChannel {
    stream_id: StreamId,
    asker_id: UserId,
    sender_id: UserId,
}

/// The sender of a message, and the user whose permissions it needs: for the gateway's bot, the one who asked for the address.
#[derive(Clone)]
struct Sender {
    caller: Caller,
    poster: Caller,
}

impl ToChannel {
    fn sender(self, connection: &Connection) -> ApiResult<Sender> {
        let asker = rows::user::caller(connection, self.asker_id)?;
        if self.sender_id == gateway(connection)? {
            return Ok(Sender { caller: rows::user::caller(connection, self.sender_id)?, poster: asker });
        }
        check_may_send_as(connection, &asker, self.sender_id)?;
        Sender::own(connection, self.sender_id)
    }

    /// The destination of a mail with this subject. In a channel without topics it is the only one.
    fn destination(self, ctx: Ctx<'_>, subject: &str) -> ApiResult<Destination> {
        let stream = rows::channel::by_id(&ctx, self.stream_id)?
            .ok_or_else(|| access::channels::no_channel_with_id(self.stream_id.0))?;
        check_may_post(ctx, &stream)?;
        let topic = if stream.topics_policy == TopicsPolicy::EmptyTopicOnly {
            Topic::stored(String::new())
        } else {
            read_topic(&subject::topic(subject))?
        };
        check_topic(&ctx, &stream, &topic)?;
        Ok(Destination::Channel(Box::new(stream), topic))
    }
}

impl Sender {
    fn own(connection: &Connection, user_id: UserId) -> ApiResult<Self> {
        let caller = rows::user::caller(connection, user_id)?;
        Ok(Self { poster: caller.clone(), caller })
    }

    fn reload(&mut self, tx: &mut Tx<'_>) -> ApiResult<()> {
        self.caller.reload(tx)?;
        self.poster.reload(tx)?;
        tx.set_origin(Origin { author: Author::User(self.poster.user_id), address: None });
        Ok(())
    }

    /// Sends a message, with all checks of other messages.
    fn send(&self, tx: &mut Tx<'_>, mut message: OutgoingMessage) -> ApiResult<()> {
        if self.poster.user_id == self.caller.user_id {
            return send(tx, &self.caller, message).map(|_| ());
        }
        destination::recheck(tx.ctx(&self.poster), &mut message.destination)?;
        let topic = message.destination.topic();
        message.participants = mentions::check(tx.ctx(&self.poster), topic, &message.rendered)?;
        let sent = store_and_emit(tx, self.caller.user_id, &message)?;
        // The files count for a person from then on. The bot is not one, and its share would be that of all addresses.
        references::hand_over(tx, sent.id, self.caller.user_id, self.poster.user_id)
    }
}

async fn to_channel(app: &Arc<App>, mail: &Arc<Mail>, recipient: &Recipient, to: ToChannel) -> ApiResult<()> {
    let now = app.clock.seconds();
    let (sender, destination) = app
        .readers
        .read(|snapshot| {
            let sender = to.sender(snapshot)?;
            let destination = to.destination(Ctx::new(snapshot, &sender.poster, now), &mail.subject)?;
            Ok::<_, ApiError>((sender, destination))
        })
        .await?;
    let mut files = SavedFiles::default();
    let sent = async {
        files.save(app, mail, &sender).await?;
        let message = prepare(app, mail, &recipient.parts, &sender, destination, &files.links).await?;
        let recipient = recipient.clone();
        let job = move |tx: &mut Tx<'_>| -> ApiResult<()> {
            recipient.check(tx)?;
            let mut sender = to.sender(tx)?;
            sender.reload(tx)?;
            let channel = message.destination.clone();
            sender.send(tx, message)?;
            if let Destination::Channel(stream, _) = channel {
                notices::bots::channel_without_subscribers(tx, &sender.caller, &stream)?;
            }
            Ok(())
        };
        app.writer.run(job).await
    }
    .await;
    files.delete_unlinked(app).await;
    sent
}

async fn reply(
    app: &Arc<App>,
    mail: &Arc<Mail>,
    recipient: &Recipient,
    user_id: UserId,
    message_id: MessageId,
) -> ApiResult<()> {
    let sender = app.readers.read(|snapshot| Sender::own(snapshot, user_id)).await?;
    if app.options.rate_limit {
        app.rate_limiter.count_action(&sender.caller, &app.clock).check()?;
    }
    let now = app.clock.seconds();
    let found = app.readers.read(|snapshot| {
        let ctx = Ctx::new(snapshot, &sender.caller, now);
        let destination = conversation(ctx, message_id)?;
        let checked = check_conversation(ctx, destination.clone(), message_id);
        Ok::<_, ApiError>((destination, checked))
    });
    let (destination, checked) = found.await?;
    let sent = match checked {
        Ok(()) => send_reply(app, mail, recipient, sender, (destination.clone(), message_id)).await,
        Err(error) => Err(error),
    };
    match sent {
        Err(error) if !error.is_transient() => {
            report(app, user_id, destination, error.msg().to_owned()).await?;
            Err(error)
        }
        sent => sent,
    }
}

async fn send_reply(
    app: &Arc<App>,
    mail: &Arc<Mail>,
    recipient: &Recipient,
    mut sender: Sender,
    (destination, message_id): (Destination, MessageId),
) -> ApiResult<()> {
    let mut files = SavedFiles::default();
    let sent = async {
        files.save(app, mail, &sender).await?;
        let mut message = prepare(app, mail, &recipient.parts, &sender, destination, &files.links).await?;
        message.read_by_sender = true;
        let recipient = recipient.clone();
        let job = move |tx: &mut Tx<'_>| -> ApiResult<()> {
            recipient.check(tx)?;
            sender.reload(tx)?;
            check_readable(tx.ctx(&sender.caller), message_id)?;
            // The message may have moved since.
            message.destination = conversation(tx.ctx(&sender.caller), message_id)?;
            count_use(tx, &recipient.parts)?;
            sender.send(tx, message)
        };
        app.writer.run(job).await
    }
    .await;
    files.delete_unlinked(app).await;
    sent
}

/// The conversation that a message is in now.
fn conversation(ctx: Ctx<'_>, message_id: MessageId) -> ApiResult<Destination> {
    let gone = || ApiError::bad_request("Invalid message(s)");
    let recipient_id = access::messages::recipient_of(&ctx, message_id)?.ok_or_else(gone)?;
    let Some(stream_id) = access::messages::stream_of(&ctx, recipient_id)? else {
        let user_ids = access::messages::direct_user_ids(&ctx, recipient_id)?.unwrap_or_default();
        // Those who got the mail are participants.
        return if user_ids.contains(&ctx.caller.user_id) {
            Ok(Destination::Direct(user_ids))
        } else {
            Err(gone())
        };
    };
    let stream = rows::channel::by_id(&ctx, stream_id)?.ok_or_else(gone)?;
    let topic = Topic::stored(messages::subject_of(&ctx, message_id)?);
    Ok(Destination::Channel(Box::new(stream), topic))
}

fn check_conversation(ctx: Ctx<'_>, mut destination: Destination, message_id: MessageId) -> ApiResult<()> {
    destination::recheck(ctx, &mut destination)?;
    check_readable(ctx, message_id)
}

/// Checks that the author of an answer may still read the message: someone may have moved it to another conversation since.
fn check_readable(ctx: Ctx<'_>, message_id: MessageId) -> ApiResult<()> {
    MessageViewer::new(ctx).find(message_id).map(|_| ())
}

/// Notifies a user that their answer was not sent. A channel that they cannot see is not named.
async fn report(app: &App, user_id: UserId, destination: Destination, reason: String) -> ApiResult<()> {
    let job = move |tx: &mut Tx<'_>| -> ApiResult<()> {
        let user = rows::user::caller(tx, user_id)?;
        let language = user_settings::language_of(tx, user_id)?;
        let reason = ("error", Words::default().text(&reason));
        let channel = match &destination {
            Destination::Channel(stream, _)
                if access::channels::has_metadata_access(tx.ctx(&user), stream)? =>
            {
                Some(Words::default().channel(stream.stream_id.0, &stream.name))
            }
            _ => None,
        };
        let words = match channel {
            Some(channel) => {
                let text = language
                    .t("Error sending message to channel {channel} via message notification email reply: {error}");
                Words::filled(text, &[("channel", channel), reason])
            }
            None => {
                let text = language.t("Error sending message via message notification email reply: {error}");
                Words::filled(text, &[reason])
            }
        };
        let address = notices::direct_address(tx, user_id)?;
        notices::send_as_notification_bot(tx, address, words.into()).map(|_| ())
    };
    app.writer.run(job).await
}

/// Renders the message of a mail, with links to its files.
async fn prepare(
    app: &Arc<App>,
    mail: &Arc<Mail>,
    parts: &Parts,
    sender: &Sender,
    destination: Destination,
    links: &[String],
) -> ApiResult<OutgoingMessage> {
    let owner = sender.poster.quota_owner();
    let (read, options, links) = (Arc::clone(mail), parts.options, links.to_vec());
    let converted = app.pools.rendering.run(Some(owner), move || content::markdown(&read, options, &links));
    let text = messages::rules::content(&converted.await?)?;
    let (sender, now) = (sender.clone(), app.clock.seconds());
    let origin = origin(app);
    let rendering = text.clone();
    on_snapshot(app, Some(owner), &[&rendering], move |snapshot| {
        // What the sender may not see is not linked: for the gateway's bot, strangers write the text.
        let ctx = Ctx::new(snapshot, &sender.caller, now);
        let mut text = text;
        let mut rendered = render_for(ctx, &origin, &text)?;
        // Mentions that need a permission become silent: that the message arrives is worth more.
        let poster = Ctx::new(snapshot, &sender.poster, now);
        if ok_unless_refused(mentions::check(poster, destination.topic(), &rendered))?.is_none() {
            text = messages::rules::content(&silenced(&text))?;
            rendered = render_for(ctx, &origin, &text)?;
        }
        Ok(OutgoingMessage::new(destination, text, rendered, CLIENT.to_owned()))
    })
    .await
}

/// The files of a mail, before its message is sent.
#[derive(Default)]
struct SavedFiles {
    /// Links to them. A file that is refused has the reason in place of the link.
    links: Vec<String>,
    /// The ids of those that were saved.
    ids: Vec<i64>,
}

impl SavedFiles {
    /// Saves the files as uploads of the sender, within the limits of the poster.
    async fn save(&mut self, app: &Arc<App>, mail: &Mail, sender: &Sender) -> ApiResult<()> {
        let limits = UploadLimits::of(&app.options, &sender.poster);
        for file in &mail.attachments {
            let named = (file.name.as_str(), file.content_type.as_deref());
            let link = match uploads::save(app, &sender.caller, limits, named, file.content.clone()).await {
                Ok(row) => {
                    self.ids.push(row.id);
                    let name = link_text(&row.name);
                    let name = if name.trim().is_empty() { "file" } else { &name };
                    format!("[{name}](/user_uploads/{})", row.path_id)
                }
                Err(error) if !error.is_transient() => {
                    tracing::info!(%error, "a file of a mail was not kept");
                    format!("({})", error.msg())
                }
                Err(error) => return Err(error),
            };
            self.links.push(link);
        }
        Ok(())
    }

    /// Deletes the files to which no message links: it was not sent, or has no room for their links. Those of the gateway's
    /// bot would count for no person.
    async fn delete_unlinked(self, app: &App) {
        if self.ids.is_empty() {
            return;
        }
        let delete = move |tx: &mut Tx<'_>| -> ApiResult<()> {
            for id in self.ids {
                if !files::is_claimed(tx, id)?
                    && let Some(file) = files::by_id(tx, id)?
                {
                    references::delete(tx, &file)?;
                }
            }
            Ok(())
        };
        if let Err(error) = app.writer.run(delete).await {
            tracing::warn!(%error, "files of a mail to which no message links were not deleted");
        }
    }
}

/// The address of the server, for links.
fn origin(app: &App) -> String {
    let domain = app.options.mail_pattern.as_ref().map_or("localhost", MailPattern::domain);
    app.options.public_url.clone().unwrap_or_else(|| format!("http://{domain}"))
}

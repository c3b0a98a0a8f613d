//! `POST /invites` and `POST /invites/{invite_id}/resend`: invitations by email.
//!
//! By mail, each person gets an email, and a reminder two days before the end. Without a mail server, the notification
//! bot sends each link to the user who passes it on: to the inviter if they are an administrator. Links of other inviters go to
//! the administrators, who may create accounts anyway: with the link to an invented address, an inviter could create a second
//! account.

use crate::api::invites::new;
use crate::api::invites::new::InviteParams;
use crate::app::App;
use crate::domain::allowed_domains::check_may_join;
use crate::domain::audit::{Action, Entry};
use crate::domain::groups::permission::RealmGroup;
use crate::domain::invites::record::InviteRow;
use crate::domain::limits::MAX_EMAILS_PER_REQUEST;
use crate::domain::notices;
use crate::domain::notices::budget::{self, UsedUp};
use crate::domain::notices::{direct_address, send_as_notification_bot};
use crate::domain::realm::user_ids;
use crate::domain::users::{emails, names};
use crate::domain::{invites, mail, user_settings, users};
use crate::http::{ApiError, ApiResult, Call, Caller, Params2, Reply, User};
use crate::store::Tx;
use crate::types::{SECONDS_PER_DAY, StreamId, UserId, random_key};
use rusqlite::Connection;
use serde::Deserialize;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::sync::Arc;
use teamchat_markdown::{Composition, Words};

/// Maximum number of links in a message of the notification bot, which bounds its length.
const LINKS_PER_MESSAGE: usize = 40;

/// Maximum number of administrators who receive links of other users' invitations: those with the oldest accounts.
const MAX_ADMINISTRATORS_TOLD: usize = 20;

/// Parameters of `POST /invites` beyond [`InviteParams`].
#[derive(Deserialize)]
pub struct SendParams {
    /// Up to 100 emails, separated by commas or line breaks. `Ada <ada@example.com>` is accepted too.
    invitee_emails: String,
    /// The ids of the channels to which the new users are subscribed, at most 500. They must be default channels or
    /// ones to which the caller may subscribe others.
    stream_ids: Vec<StreamId>,
    /// True, the default, to notify the inviter when an invited person joins.
    #[serde(default = "crate::types::default_true")]
    notify_referrer_on_join: bool,
}

/// `POST /invites`: invites people by email. If some have accounts already, the others are invited and the response is
/// the error `INVITATION_FAILED`, which lists the skipped emails.
pub async fn send_invites(
    call: Call<User>,
    Params2(params, send): Params2<InviteParams, SendParams>,
) -> ApiResult<Reply> {
    let (app, origin) = (Arc::clone(&call.app), link_origin(&call));
    let emails = parse_emails(&send.invitee_emails);
    let skipped = call
        .write(move |tx, caller| {
            let permission = RealmGroup::CanInviteUsers;
            invites::rules::check_can_invite(tx.ctx(caller), permission, params.invite_as)?;
            invite_all(tx, &app, caller, &params, &send, &emails, &origin)
        })
        .await?;
    if skipped.is_empty() {
        return Ok(Reply::ok());
    }
    let msg = "Some of those addresses are already using Zulip, so we didn't send them an invitation. We did send \
               invitations to everyone else!";
    Err(invitation_failed(msg, skipped, true))
}

/// Invites the people without an account and returns the others.
fn invite_all(
    tx: &mut Tx<'_>,
    app: &App,
    caller: &Caller,
    params: &InviteParams,
    send: &SendParams,
    emails: &[String],
    origin: &str,
) -> ApiResult<Vec<Skipped>> {
    if emails.is_empty() {
        return Err(ApiError::bad_request("You must specify at least one email address."));
    }
    if emails.len() > MAX_EMAILS_PER_REQUEST {
        let msg = format!("Too many email addresses (limit: {MAX_EMAILS_PER_REQUEST})");
        return Err(ApiError::bad_request(msg));
    }
    let invitation = new::new_invite(tx.ctx(caller), params, &send.stream_ids, emails.len())?;
    let CheckedEmails { new, invalid, skipped } = check_emails(tx, caller, emails)?;
    if !invalid.is_empty() {
        let msg = "Some emails did not validate, so we didn't send any invitations.";
        return Err(invitation_failed(msg, invalid.into_iter().chain(skipped).collect(), false));
    }
    if new.is_empty() {
        return Err(invitation_failed("We weren't able to invite anyone.", skipped, false));
    }
    let mut invites = Vec::new();
    for email in new {
        let mut invite = InviteRow {
            key: Some(random_key()),
            email: Some(email),
            notify_referrer_on_join: send.notify_referrer_on_join,
            ..invitation.clone()
        };
        invite.invite_id = invites::insert(tx, &invite)?;
        invites.push(invite);
    }
    deliver(tx, app, caller, &invites, origin)?.map_err(too_many_today)?;
    invites::events::changed(tx, Some(caller.user_id))?;
    Ok(skipped)
}

/// A person who was not invited: the email, the reason, and whether there is a deactivated account.
type Skipped = (String, &'static str, bool);

/// The emails of a request by outcome.
struct CheckedEmails {
    new: Vec<String>,
    /// Malformed, or of a domain that may not join.
    invalid: Vec<Skipped>,
    /// Of people with an account.
    skipped: Vec<Skipped>,
}

/// Sorts emails by outcome. An account whose email the caller may not see is treated as unknown: its link does not
/// work, and explains this to the invited person.
fn check_emails(connection: &Connection, caller: &Caller, emails: &[String]) -> ApiResult<CheckedEmails> {
    let mut checked = CheckedEmails { new: Vec::new(), invalid: Vec::new(), skipped: Vec::new() };
    for email in emails {
        if !names::is_new_email(email) {
            checked.invalid.push((email.clone(), "Invalid address.", false));
            continue;
        }
        if let Err(refusal) = check_may_join(connection, email)? {
            checked.invalid.push((email.clone(), refusal.reason(), false));
            continue;
        }
        if emails::is_reserved(connection, email)? {
            checked.skipped.push((email.clone(), "Already has an account.", false));
            continue;
        }
        match users::by_delivery_email(connection, email)?.filter(|user| user.shows_email_to(caller)) {
            None => checked.new.push(email.clone()),
            Some(user) if user.is_active => {
                checked.skipped.push((email.clone(), "Already has an account.", false));
            }
            Some(_) => checked.skipped.push((email.clone(), "Account has been deactivated.", true)),
        }
    }
    Ok(checked)
}

/// Returns the emails in a text, without duplicates, up to the first that is one too many.
fn parse_emails(text: &str) -> Vec<String> {
    let parts = text.split([',', '\n']).map(|part| {
        let inside = part.split_once('<').and_then(|(_, rest)| rest.rsplit_once('>'));
        inside.map_or(part, |(email, _)| email)
    });
    emails::distinct(parts, MAX_EMAILS_PER_REQUEST)
}

/// Returns the error 400 `INVITATION_FAILED`.
fn invitation_failed(
    msg: impl Into<Cow<'static, str>>,
    errors: Vec<Skipped>,
    sent_invitations: bool,
) -> ApiError {
    let errors: Vec<Value> = errors.into_iter().map(|error| json!(error)).collect();
    ApiError::new(400, "INVITATION_FAILED", msg)
        .with("errors", errors)
        .with("sent_invitations", sent_invitations)
        .with("license_limit_reached", false)
        .with("daily_limit_reached", false)
}

/// The error for an inviter from whom the administrators got many links today.
fn too_many_today(used_up: UsedUp) -> ApiError {
    let msg = format!(
        "To protect users, Zulip limits the number of invitations you can send in one day. Because you have reached \
         the limit, no invitations were sent. {}",
        used_up.wait()
    );
    invitation_failed(msg, Vec::new(), false).with("daily_limit_reached", true)
}

/// Sends the links of invitations: by mail to the people themselves, or else by the notification bot. Nothing is sent if the
/// caller has sent too many today, or one of the people has got too many.
fn deliver(
    tx: &mut Tx<'_>,
    app: &App,
    caller: &Caller,
    invites: &[InviteRow],
    origin: &str,
) -> ApiResult<Result<(), UsedUp>> {
    if !mail::is_on(tx)? {
        return send_links(tx, caller, invites, origin);
    }
    for invite in invites {
        let email = invite.email.as_deref().unwrap_or_default();
        if !caller.role.is_administrator()
            && app.rate_limiter.count_invitation(caller.user_id, email, &app.clock).is_err()
        {
            return Ok(Err(UsedUp { seconds: SECONDS_PER_DAY }));
        }
        invites::letters::send(tx, invite)?;
    }
    Ok(Ok(()))
}

/// The base of invitation links. Other people get the links of members, so without `--public-url` these have no host: the
/// host that a request names may be another site, to which the link would give the invitation.
fn link_origin(call: &Call<User>) -> String {
    if call.caller.role.is_administrator() || call.app.options.public_url.is_some() {
        call.info.origin.clone()
    } else {
        String::new()
    }
}

/// Sends invitation links as direct messages of the notification bot: to the caller if they are an administrator, and
/// otherwise to the administrators, with a notice to the caller. Administrators who got too many from the caller today do
/// not get them. Nothing is sent if that is true of all.
fn send_links(
    tx: &mut Tx<'_>,
    caller: &Caller,
    invites: &[InviteRow],
    origin: &str,
) -> ApiResult<Result<(), UsedUp>> {
    let email = |invite: &InviteRow| Words::default().code(invite.email.as_deref().unwrap_or_default());
    let link =
        |invite: &InviteRow| email(invite).words(": ").address(&invite.link(origin).unwrap_or_default());
    let links: Vec<Words> = invites.iter().map(link).collect();
    let language = user_settings::language_of(tx, caller.user_id)?;
    if caller.role.is_administrator() {
        let intro = Words::new(language.t(
            "This server does not send email. Please give each of these people their own invitation link:",
        ));
        return send_lists(tx, caller.user_id, &intro, &links).map(Ok);
    }
    let name = notices::name_of(tx, caller)?;
    let (mut is_sent, mut refusal) = (false, None);
    for administrator in user_ids::administrator_ids(tx)?.iter().take(MAX_ADMINISTRATORS_TOLD) {
        let administrator = UserId(administrator.into());
        let text = user_settings::language_of(tx, administrator)?.t(
            "{name} invites these people. This server does not send email: if you agree, please give each of them their \
             own invitation link:",
        );
        let intro = Words::filled(text, &[("name", name.clone())]);
        let address = direct_address(tx, administrator)?;
        let send = |tx: &mut Tx<'_>| send_lists(tx, administrator, &intro, &links);
        match budget::send_within(tx, caller.user_id, &address, send)? {
            Ok(()) => is_sent = true,
            Err(used_up) => refusal = Some(used_up),
        }
    }
    if let Some(used_up) = refusal.filter(|_| !is_sent) {
        return Ok(Err(used_up));
    }
    let intro = Words::new(language.t(
        "This server does not send email. The administrators have the invitation links of these people, and one of them \
         passes the links on:",
    ));
    let emails: Vec<Words> = invites.iter().map(email).collect();
    send_lists(tx, caller.user_id, &intro, &emails).map(Ok)
}

/// Sends lists of at most [`LINKS_PER_MESSAGE`] items to a user, as direct messages of the notification bot.
fn send_lists(tx: &mut Tx<'_>, to: UserId, intro: &Words, items: &[Words]) -> ApiResult<()> {
    for chunk in items.chunks(LINKS_PER_MESSAGE) {
        let content = Composition::from(intro.clone()).list(chunk.to_vec());
        let address = direct_address(tx, to)?;
        send_as_notification_bot(tx, address, content)?;
    }
    Ok(())
}

/// Parameters of `POST /invites/{invite_id}/resend`.
#[derive(Deserialize)]
pub struct ResendParams {
    /// The id of an email invitation.
    invite_id: i64,
}

/// `POST /invites/{invite_id}/resend`: sends a new link by email. If the server sends no email, the caller receives the
/// link if they are an administrator, and otherwise the administrators receive it. The old link stops working. The
/// expiry does not change.
pub async fn resend_email_invite(call: Call<User>, params: ResendParams) -> ApiResult<Reply> {
    let (app, origin) = (Arc::clone(&call.app), link_origin(&call));
    call.write(move |tx, caller| {
        let mut invite = new::find_email_invite(tx, caller, params.invite_id)?;
        // The link would not work.
        if !invite.is_usable(tx.now()) {
            return Err(ApiError::bad_request("No such invitation"));
        }
        check_not_resent(tx, caller, &invite)?;
        let key = random_key();
        invites::set_key(tx, invite.invite_id, &key, tx.now())?;
        tx.audit(Entry::new(Action::InvitationSent, &invite))?;
        invite.key = Some(key);
        deliver(tx, &app, caller, &[invite], &origin)?.map_err(|used_up| {
            ApiError::bad_request(format!("You have sent too many invitations. {}", used_up.wait()))
        })?;
        Ok(Reply::ok())
    })
    .await
}

/// Refuses to send the link of an invitation again to the administrators within a day. An administrator who requests it is
/// the only one who receives it.
fn check_not_resent(tx: &Tx<'_>, caller: &Caller, invite: &InviteRow) -> ApiResult<()> {
    let since = invite.resent.map_or(i64::MAX, |resent| tx.now() - resent);
    if caller.role.is_administrator() || !(0..SECONDS_PER_DAY).contains(&since) {
        return Ok(());
    }
    let wait = UsedUp { seconds: SECONDS_PER_DAY - since }.wait();
    Err(ApiError::bad_request(format!("This invitation has been sent again within a day. {wait}")))
}

#[cfg(test)]
mod tests {
    use crate::api::invites::send::parse_emails;

    #[test]
    fn emails_are_parsed_from_pasted_text() {
        let cases: [(&str, &[&str]); 6] = [
            ("", &[]),
            (" ,\n, ", &[]),
            ("a@example.com", &["a@example.com"]),
            (
                " a@example.com,b@example.com\nc@example.com\r\n",
                &["a@example.com", "b@example.com", "c@example.com"],
            ),
            ("Ada <a@example.com>, A@EXAMPLE.COM", &["a@example.com"]),
            ("no address", &["no address"]),
        ];
        for (text, expected) in cases {
            assert_eq!(parse_emails(text), expected, "{text:?}");
        }
    }
}

//! Emails of invitations, where this server sends mail.

use crate::domain::invites::record::InviteRow;
use crate::domain::invites::sql;
use crate::domain::mail::{Body, Kind, Letter, outbox};
use crate::domain::{mail, realm, rows};
use crate::error::ApiResult;
use crate::store::Tx;
use crate::types::{Language, SECONDS_PER_DAY, fill};

/// The reminder is sent this long before the invitation ends, in seconds, if it lives at least twice as long.
const REMINDER_BEFORE: i64 = 2 * SECONDS_PER_DAY;

/// Sends the email of an invitation whose key is known, and plans its reminder, in the language of the organization. Emails with
/// an earlier key are withdrawn. All of them are deleted with the invitation.
pub fn send(tx: &mut Tx<'_>, invite: &InviteRow) -> ApiResult<()> {
    let Some(setup) = mail::setup(tx)? else { return Ok(()) };
    let (Some(email), Some(link)) = (&invite.email, invite.link(&setup.url)) else { return Ok(()) };
    outbox::withdraw_of_invite(tx, invite.invite_id)?;
    let organization: String = realm::settings::NAME.get(tx)?;
    let inviter = match invite.invited_by_user_id {
        Some(user_id) => rows::user::by_id(tx, user_id)?,
        None => None,
    };
    let Some(inviter) = inviter else { return Ok(()) };
    sql::set_mailed(tx, invite.invite_id)?;
    let address = &inviter.delivery_email;
    let (name, inviter) = if may_become_link(&inviter.full_name) {
        (address, address.clone())
    } else {
        (&inviter.full_name, format!("{} ({address})", inviter.full_name))
    };
    let language = realm::common_language(tx)?;
    let names =
        [("inviter", inviter.as_str()), ("name", name.as_str()), ("organization", organization.as_str())];
    let text = fill(language.t("{inviter} has invited you to join {organization}, a team chat."), &names);
    let end = invite.expiry_date;
    let letter = |kind, subject, text: &str| {
        let body = Body::new()
            .paragraph(text)
            .button(language.t("Create account"), &link)
            .small(language.t("If you do not know the sender, you can ignore this email."));
        let letter = Letter::to_address(kind, email, language, fill(subject, &names), body);
        let letter = letter.of_invite(invite.invite_id);
        match end {
            Some(end) => letter.expires(end),
            None => letter,
        }
    };
    let subject = language.t("{name} has invited you to join {organization}");
    mail::queue(tx, letter(Kind::Invitation, subject, &text))?;
    let Some(end) = end.filter(|end| end - tx.now() >= 2 * REMINDER_BEFORE) else { return Ok(()) };
    let subject = language.t("Reminder: Join {name} at {organization}");
    let last = language.t("The invitation expires in two days. This is the last reminder.");
    let text = [text.as_str(), last].join(language.between_sentences());
    mail::queue(tx, letter(Kind::InvitationReminder, subject, &text).not_before(end - REMINDER_BEFORE))
}

/// True if mail programs may show a part of a name as a link, because it has a scheme or a domain. In an email of this server it
/// would lead strangers to where its owner wants.
fn may_become_link(name: &str) -> bool {
    let is_domain = |(index, dot): (usize, &str)| {
        let (before, after) = (&name[..index], &name[index + dot.len()..]);
        before.ends_with(char::is_alphanumeric)
            && after.chars().take_while(|character| character.is_alphanumeric()).count() > 1
    };
    name.contains("://") || name.match_indices(['.', '\u{3002}', '\u{ff0e}', '\u{ff61}']).any(is_domain)
}

/// Sends the link with which a person signs up who was not invited by name.
pub fn confirm_sign_up(tx: &mut Tx<'_>, invite: &InviteRow, language: Language) -> ApiResult<()> {
    let Some(setup) = mail::setup(tx)? else { return Ok(()) };
    let (Some(email), Some(key)) = (&invite.email, &invite.key) else { return Ok(()) };
    sql::set_mailed(tx, invite.invite_id)?;
    let organization: String = realm::settings::NAME.get(tx)?;
    let host = setup.host();
    let names = [("organization", organization.as_str()), ("host", host.as_str())];
    let advice = [
        language.t("If you did not request this, you can ignore this email."),
        language.t("No account is created unless the link is used."),
    ];
    let body = Body::new()
        .paragraph(&fill(language.t("You asked to create an account in {organization} at {host}."), &names))
        .button(language.t("Create account"), &format!("{}/accounts/do_confirm/{key}", setup.url))
        .paragraph(language.t("The link expires after a day."))
        .small(&advice.join(language.between_sentences()));
    let subject = fill(language.t("Activate your account in {organization}"), &names);
    let letter = Letter::to_address(Kind::ConfirmSignUp, email, language, subject, body);
    let letter = letter.of_invite(invite.invite_id);
    mail::queue(
        tx,
        match invite.expiry_date {
            Some(end) => letter.expires(end),
            None => letter,
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_domains_may_become_links() {
        for name in
            ["Win at evil.example/now", "http://evil", "www.evil.example", "evil。example", "Ada (x.io)"]
        {
            assert!(may_become_link(name), "{name}");
        }
        for name in
            ["Ada", "J.R.R. Tolkien", "Dr. Ada Lovelace", "Ada...", "Ada: Boss", "Zoë <b>", "v1.2", "."]
        {
            assert!(!may_become_link(name), "{name}");
        }
    }
}

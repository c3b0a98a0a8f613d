//! What a newcomer fills in, and what may be wrong with it.

use crate::domain::domains::may_join;
use crate::domain::invites::record::InviteRow;
use crate::domain::users::{names, passwords, sql as users};
use crate::http::{ApiError, ApiResult};
use rusqlite::Connection;
use serde::Deserialize;

/// The longest name of an organization, in characters.
const MAX_ORGANIZATION_LENGTH: usize = 40;

/// The fields of the page.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct SignupForm {
    /// The secret part of the link.
    pub key: String,
    /// The same as the cookie, if the page was ours.
    pub token: String,
    /// The organization's name. Only the first owner is asked for it.
    pub organization: String,
    /// The name that others will see.
    pub full_name: String,
    /// The email to log in with. A link for one person has it already.
    pub email: String,
    /// The password.
    pub password: String,
}

/// What is wrong, beside the field that it is about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldErrors {
    /// About the whole.
    pub page: Option<String>,
    /// About the organization's name.
    pub organization: Option<String>,
    /// About the name.
    pub full_name: Option<String>,
    /// About the email.
    pub email: Option<String>,
    /// About the password.
    pub password: Option<String>,
}

impl FieldErrors {
    /// Whether nothing is wrong.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Whether a link is the one by which the first owner comes.
pub fn is_for_owner(invite: &InviteRow) -> bool {
    invite.invited_by_user_id.is_none()
}

impl SignupForm {
    /// The email of the person: that of the link, if it has one.
    pub fn email_for<'a>(&'a self, invite: &'a InviteRow) -> &'a str {
        invite.email.as_deref().unwrap_or(self.email.trim())
    }

    /// Checks the fields.
    pub fn check(&self, connection: &Connection, invite: &InviteRow) -> ApiResult<FieldErrors> {
        let mut errors = FieldErrors::default();
        if is_for_owner(invite) {
            errors.organization = match self.organization.trim().chars().count() {
                0 => Some("Please enter a name for your organization.".to_owned()),
                1..=MAX_ORGANIZATION_LENGTH => None,
                _ => Some(format!("The name has at most {MAX_ORGANIZATION_LENGTH} characters.")),
            };
        }
        let named =
            names::full_name(&self.full_name).and_then(|name| names::check_unique(connection, &name, None));
        errors.full_name = match self.full_name.trim() {
            "" => Some("Please enter your name.".to_owned()),
            _ => refusal(named)?,
        };
        let email = self.email_for(invite);
        if !names::is_email(email) {
            errors.email = Some("Please enter your email address.".to_owned());
        } else if users::by_delivery_email(connection, email)?.is_some() {
            errors.email = Some("There is an account with this email address already.".to_owned());
        } else if let Err(refusal) = may_join(connection, email)? {
            errors.email = Some(refusal.of_new_user(email));
        }
        let (min, max) = (passwords::MIN_LENGTH, passwords::MAX_LENGTH);
        if !(min..=max).contains(&self.password.chars().count()) {
            errors.password = Some(format!("A password has {min} to {max} characters."));
        }
        Ok(errors)
    }
}

/// The words of a refusal; other errors stay errors.
fn refusal(checked: ApiResult<()>) -> ApiResult<Option<String>> {
    match checked {
        Ok(()) => Ok(None),
        Err(error) if error.status() == 400 => Ok(Some(error.msg().to_owned())),
        Err(error) => Err::<_, ApiError>(error),
    }
}

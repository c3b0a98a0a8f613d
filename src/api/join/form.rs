//! The sign-up form and its checks.

use crate::domain::allowed_domains::check_may_join;
use crate::domain::invites::record::InviteRow;
use crate::domain::users::{emails, names, passwords};
use crate::http::{ApiError, ApiResult};
use crate::types::{Language, fill, find_forbidden_in_name};
use rusqlite::Connection;
use serde::Deserialize;

/// The maximum length of the organization's name, in characters.
const MAX_ORGANIZATION_LENGTH: usize = 40;

/// The fields of the sign-up page.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct SignupForm {
    /// The secret part of the link.
    pub key: String,
    /// The token of the form, which has to match the cookie.
    pub token: String,
    /// The organization's name, set by the first owner and ignored otherwise.
    pub organization: String,
    /// The display name, at most 100 characters.
    pub full_name: String,
    /// The email to log in with. Ignored if the invitation has one.
    pub email: String,
    /// The password, 6 to 100 characters. Ignored where people do not log in with passwords.
    pub password: String,
}

/// Error messages, by field.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldErrors {
    /// The error of the form as a whole.
    pub page: Option<String>,
    /// The error of the organization's name.
    pub organization: Option<String>,
    /// The error of the display name.
    pub full_name: Option<String>,
    /// The error of the email.
    pub email: Option<String>,
    /// The error of the password.
    pub password: Option<String>,
}

impl FieldErrors {
    /// True if there are no errors.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl SignupForm {
    /// Returns the email of the invitation, or else that of the form.
    pub fn email_for<'a>(&'a self, invite: &'a InviteRow) -> &'a str {
        invite.email.as_deref().unwrap_or(self.email.trim())
    }

    /// Checks the fields and returns their errors. The password is checked where people log in with passwords.
    pub fn check(
        &self,
        connection: &Connection,
        invite: &InviteRow,
        has_passwords: bool,
        language: Language,
    ) -> ApiResult<FieldErrors> {
        let mut errors = FieldErrors::default();
        if invite.is_for_owner() {
            let name = self.organization.trim();
            errors.organization = match name.chars().count() {
                _ if find_forbidden_in_name(name).is_some() => {
                    Some(language.t("The name has characters that cannot be shown.").to_owned())
                }
                0 => Some(language.t("Please enter a name for your organization.").to_owned()),
                1..=MAX_ORGANIZATION_LENGTH => None,
                _ => Some(fill(
                    language.t("The name has at most {count} characters."),
                    &[("count", &MAX_ORGANIZATION_LENGTH.to_string())],
                )),
            };
        }
        let checked = names::check_full_name(&self.full_name)
            .and_then(|name| names::check_available(connection, &name, None));
        errors.full_name = match self.full_name.trim() {
            "" => Some(language.t("Please enter your name.").to_owned()),
            _ => error_message(checked)?.map(|msg| shown(language, &msg)),
        };
        let email = self.email_for(invite);
        if !names::is_new_email(email) {
            errors.email = Some(language.t("Please enter your email address.").to_owned());
        } else if emails::is_taken(connection, email)? {
            errors.email =
                Some(language.t("There is an account with this email address already.").to_owned());
        } else if let Err(refusal) = check_may_join(connection, email)? {
            errors.email = Some(refusal.reason_for_new_user(language, email));
        }
        if has_passwords {
            errors.password = password_error(&self.password, language);
        }
        Ok(errors)
    }
}

/// Returns the error of a new password.
pub fn password_error(password: &str, language: Language) -> Option<String> {
    let (min, max) = (passwords::MIN_LENGTH.to_string(), passwords::MAX_LENGTH.to_string());
    let text = language.t("A password has {min} to {max} characters.");
    (!passwords::has_allowed_length(password)).then(|| fill(text, &[("min", &min), ("max", &max)]))
}

/// An error of a name in the language of the page: those of the interface are English.
fn shown(language: Language, msg: &str) -> String {
    let text = match msg {
        "Name too long!" => language.t("Name too long!"),
        "Name too short!" => language.t("Name too short!"),
        "Invalid characters in name!" => language.t("Invalid characters in name!"),
        "Invalid format!" => language.t("Invalid format!"),
        "Name is already in use!" => language.t("Name is already in use!"),
        "Unique names required in this organization." => {
            language.t("Unique names required in this organization.")
        }
        other => other,
    };
    text.to_owned()
}

/// Returns the message of an error with status 400. Other errors stay errors.
fn error_message(checked: ApiResult<()>) -> ApiResult<Option<String>> {
    match checked {
        Ok(()) => Ok(None),
        Err(error) if error.status() == 400 => Ok(Some(error.msg().to_owned())),
        Err(error) => Err::<_, ApiError>(error),
    }
}

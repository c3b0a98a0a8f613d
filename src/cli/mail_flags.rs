//! Flags of `serve` for mail that it sends and receives.

use super::serve_options::parse_authorities;
use super::test_flags::UsageError;
use clap::Args;
use teamchat::app::MailOptions;
use teamchat::server::ListenAddress;
use teamchat::smtp::{MailServer, is_address, public_name};
use teamchat::types::MailPattern;

#[derive(Args)]
#[command(next_help_heading = "Mail")]
pub struct MailFlags {
    /// The mail server for outgoing email: invitations, new passwords, missed messages and others. docs/mail.md lists them.
    /// smtp://NAME:PASSWORD@HOST:PORT uses STARTTLS if the mail server offers it, and never sends the password without TLS.
    /// ?tls=required makes STARTTLS mandatory, ?tls=none disables TLS. smtps://... uses TLS from the start. Requires
    /// --mail-from. Without this flag, the server sends no email. To keep the password out of the list of processes, put the
    /// URL into a file and name it with TEAMCHAT_SMTP_URL_FILE or the key smtp-url-file.
    #[arg(long, env = "TEAMCHAT_SMTP_URL", value_name = "URL", hide_env_values = true)]
    smtp_url: Option<String>,
    /// The sender address of outgoing email, for example chat@example.com. The mail server must accept it.
    #[arg(long, env = "TEAMCHAT_MAIL_FROM", value_name = "ADDRESS")]
    mail_from: Option<String>,
    /// A file with CA certificates, in PEM, if the certificate of the mail server is not publicly trusted.
    #[arg(long = "smtp-ca", env = "TEAMCHAT_SMTP_CA", value_name = "FILE", value_parser = parse_authorities)]
    smtp_authorities: Option<String>,
}

impl MailFlags {
    /// Checks the flags; `None` if this server sends no mail. Links in emails begin with `url`. The URL of the mail server is not
    /// checked by clap, whose errors would show the password.
    pub fn options(&self, url: &str) -> Result<Option<MailOptions>, UsageError> {
        let (smtp_url, sender) = match (&self.smtp_url, &self.mail_from) {
            (Some(smtp_url), Some(sender)) => (smtp_url, sender.trim()),
            (Some(_), None) => {
                return Err(UsageError(
                    "--smtp-url requires --mail-from, the sender address of outgoing email".to_owned(),
                ));
            }
            (None, Some(_)) => {
                return Err(UsageError("--mail-from requires --smtp-url, the mail server".to_owned()));
            }
            (None, None) if self.smtp_authorities.is_some() => {
                return Err(UsageError("--smtp-ca requires --smtp-url, the mail server".to_owned()));
            }
            (None, None) => return Ok(None),
        };
        let server: MailServer =
            smtp_url.parse().map_err(|error| UsageError(format!("--smtp-url: {error}")))?;
        if !is_address(sender) {
            let text =
                format!("--mail-from: '{sender}' is not an email address; write it like chat@example.com");
            return Err(UsageError(text));
        }
        let url = url.trim_end_matches('/').to_owned();
        let (authorities, client_name) = (self.smtp_authorities.clone(), public_name(&url));
        let server = MailServer { authorities, client_name, ..server };
        Ok(Some(MailOptions { server, sender: sender.to_owned(), url }))
    }
}

// Flags for mail that the server receives.
#[derive(Args)]
pub struct MailInFlags {
    /// The address on which to receive email to channels and replies to notifications, by SMTP or LMTP: for example
    /// 127.0.0.1:9925 or unix:PATH. Your mail server delivers to it. Requires --mail-pattern. Off by default.
    #[arg(long, env = "TEAMCHAT_MAIL_LISTEN", value_name = "ADDR:PORT", requires = "mail_pattern")]
    pub mail_listen: Option<ListenAddress>,
    /// The pattern of email addresses that deliver to this server, with %s in place of the variable part: for example
    /// %s@mail.example.com or chat+%s@example.com. Requires --mail-listen.
    #[arg(long, env = "TEAMCHAT_MAIL_PATTERN", value_name = "PATTERN", requires = "mail_listen")]
    pub mail_pattern: Option<MailPattern>,
}

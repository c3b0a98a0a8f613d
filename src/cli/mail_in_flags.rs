//! Flags for mail that the server receives.

use clap::Args;
use teamchat::server::ListenAddress;
use teamchat::types::MailPattern;

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

//! Flags for mail that the server receives.

use clap::Args;
use teamchat::server::ListenAddress;
use teamchat::types::MailPattern;

#[derive(Args)]
pub struct MailInFlags {
    /// Receive mail for channels, and answers to mails about messages, by SMTP or LMTP from the mail server that delivers it:
    /// 127.0.0.1:9925, or unix:PATH. Needs --mail-pattern. Off by default.
    #[arg(long, env = "TEAMCHAT_MAIL_LISTEN", value_name = "ADDR:PORT", requires = "mail_pattern")]
    pub mail_listen: Option<ListenAddress>,
    /// The addresses at which the server receives mail, with %s in place of the part that differs: %s@mail.example.com, or
    /// chat+%s@example.com. Needs --mail-listen.
    #[arg(long, env = "TEAMCHAT_MAIL_PATTERN", value_name = "PATTERN", requires = "mail_listen")]
    pub mail_pattern: Option<MailPattern>,
}

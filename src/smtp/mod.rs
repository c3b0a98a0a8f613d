//! Mail to a mail server, by SMTP (RFC 5321).
//!
//! - `server`: the mail server, as `--smtp-url` names it;
//! - `message`: an email with its headers, in which no text of users can add another one;
//! - `connection`: handing emails over, with limits on time and on what the mail server sends.

mod connection;
mod limited;
mod message;
mod server;

pub use self::connection::{Connection, Refusal, RefusalKind};
pub use self::message::{Message, is_address};
pub use self::server::{MailServer, Protection, public_name};

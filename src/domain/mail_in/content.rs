//! The text of a mail's message.

use crate::domain::limits::MAX_MESSAGE_LENGTH;
use crate::domain::mail_addresses::parts::MailOptions;
use crate::domain::mail_in::html::to_markdown;
use crate::domain::mail_in::mime::Mail;
use crate::domain::mail_in::quotes::{
    begin_of_forwarded_mail, begin_of_other_mail, without_footer, without_quote_of_outlook, without_quotes,
};
use crate::domain::mail_in::subject::is_forwarded;
use crate::domain::messages::markup::shortened;
use teamchat_markdown::{close_fences, silenced};

/// The text of a message of a mail that has none.
const NO_TEXT: &str = "(No email body)";

/// The part of a plain text that is read, in bytes. A message has less, and what is cut of it is at the end.
const MAX_TEXT: usize = 200_000;

/// The Markdown of a mail: its sender if the address asks for it, the text, and links to its files. It is cut so that the
/// links remain.
pub fn markdown(mail: &Mail, options: MailOptions, links: &[String]) -> String {
    let text = own_text(mail, options);
    let text = if text.trim().is_empty() { NO_TEXT } else { text.trim_end() };
    let before = if options.show_sender && !mail.from.is_empty() {
        format!("From: {}\n", silenced(&mail.from))
    } else {
        String::new()
    };
    let after = if links.is_empty() { String::new() } else { format!("\n\n{}", links.join("\n")) };
    let length = |text: &str| text.chars().count();
    let mut room = MAX_MESSAGE_LENGTH.saturating_sub(length(&before) + length(&after));
    loop {
        // Files are not shown inside of a block of code that the mail does not close.
        let cut = shortened(text, room);
        let closed = if links.is_empty() { cut } else { close_fences(&cut) };
        let message = format!("{before}{closed}{after}");
        match length(&message).checked_sub(MAX_MESSAGE_LENGTH) {
            Some(excess) if excess > 0 && room > 0 => room = room.saturating_sub(excess),
            _ => return message,
        }
    }
}

fn own_text(mail: &Mail, options: MailOptions) -> String {
    let keeps_quotes = options.include_quotes || is_forwarded(&mail.subject);
    let is_there = |text: &String| !text.trim().is_empty();
    let without_footer = |text| if options.include_footer { text } else { without_footer(text) };
    let plain = || {
        let text = mail.text.as_ref().filter(|text| is_there(text))?;
        let text = &text[..text.floor_char_boundary(MAX_TEXT)];
        // Mutt and others write the signature below the quoted mail.
        Some(if keeps_quotes || begin_of_forwarded_mail(text).is_some() {
            text.to_owned()
        } else {
            without_quotes(without_footer(text))
        })
    };
    let html = || {
        let html = mail.html.as_ref()?;
        let whole = to_markdown(html, true);
        let own = (!keeps_quotes).then(|| to_markdown(html, false));
        let text = match own.filter(|own| !has_forwarded_mail(&whole, own)) {
            Some(own) => without_quote_of_outlook(&own),
            None => whole,
        };
        Some(text).filter(is_there)
    };
    let text = if options.prefer_html { html().or_else(plain) } else { plain().or_else(html) };
    let text = text.unwrap_or_default();
    // A footer before another mail is that of the sender, and ends where the other mail begins.
    let (own, other) = text.split_at(begin_of_other_mail(&text, keeps_quotes).unwrap_or_default());
    let kept = without_footer(own);
    let separator = if kept.is_empty() || kept.len() == own.len() { "" } else { "\n\n" };
    format!("{kept}{separator}{}", without_footer(other))
}

/// True if a forwarded mail is in the own text of a mail, or is the first thing that it quotes. Others are in a quoted mail, even if
/// nothing in a known language introduces it.
fn has_forwarded_mail(whole: &str, own: &str) -> bool {
    let shared = whole.bytes().zip(own.bytes()).take_while(|(one, other)| one == other).count();
    begin_of_forwarded_mail(whole).is_some_and(|at| {
        whole.as_bytes().get(shared..at).is_none_or(|between| between.trim_ascii().is_empty())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mail(text: Option<&str>, html: Option<&str>) -> Mail {
        Mail {
            from: "Ada @**all** <ada@example.com>".to_owned(),
            text: text.map(str::to_owned),
            html: html.map(str::to_owned),
            ..Mail::default()
        }
    }

    #[test]
    fn options_choose_what_is_shown() {
        let none = MailOptions::default();
        let both = mail(Some("text\n> old\n"), Some("<b>html</b>"));
        let quotes = MailOptions { include_quotes: true, ..none };
        let footer = MailOptions { include_footer: true, ..none };
        for (mail, options, expected) in [
            (&both, none, "text"),
            (&both, quotes, "text\n> old"),
            (&both, MailOptions { prefer_html: true, ..none }, "**html**"),
            (&both, MailOptions { show_sender: true, ..none }, "From: Ada @_**all** <ada@example.com>\ntext"),
            (&mail(Some(" \n"), Some("<p>html</p>")), none, "html"),
            (&mail(Some("text"), None), MailOptions { prefer_html: true, ..none }, "text"),
            (&mail(Some("text\n--\nfoot"), None), none, "text"),
            (
                &mail(Some("text\n\nOn Sun 29 Nov, Ada wrote:\n> old\n> -- \n> Ada\n\n-- \nBob"), None),
                none,
                "text",
            ),
            (&mail(Some("text\n-- \nBob\n\n-----Original Message-----\nold\n-- \nAda"), None), none, "text"),
            (&mail(Some("text\n--\nfoot"), None), footer, "text\n--\nfoot"),
            (&mail(None, None), none, "(No email body)"),
            (&mail(Some("--\nonly a footer"), None), none, "(No email body)"),
        ] {
            assert_eq!(markdown(mail, options, &[]), expected);
        }
        let forwarded = Mail { subject: "Fwd: x".to_owned(), ..both };
        assert_eq!(markdown(&forwarded, none, &[]), "text\n> old");
        // K-9 writes the signature before it.
        let text = Some("see\n\n-- \nBob\n\n-------- Original Message --------\nFrom: Ada\n\nold");
        let shown = "see\n\n-------- Original Message --------\nFrom: Ada\n\nold";
        let forwarded = Mail { text: text.map(str::to_owned), ..forwarded };
        assert_eq!(markdown(&forwarded, none, &[]), shown);
        assert_eq!(markdown(&mail(text, None), quotes, &[]), shown);
        assert_eq!(markdown(&mail(text, None), none, &[]), "see");
        // Its sender may have changed the subject.
        let text = "see\n\n---------- Forwarded message ---------\nFrom: Ada <a@example.com>\nDate: Monday\n\nold\n> older";
        assert_eq!(markdown(&mail(Some(text), None), none, &[]), text);
        // Gmail writes the signature before it.
        let signed = text.replace("see\n", "see\n\n-- \nBob\n");
        assert_eq!(markdown(&mail(Some(&signed), None), none, &[]), text);
        assert_eq!(markdown(&mail(Some(&signed), None), footer, &[]), signed);
        let [signed, text] = [signed.as_str(), text].map(|text| text.trim_start_matches("see\n\n"));
        assert_eq!(markdown(&mail(Some(signed), None), none, &[]), text);
        let html = "see<div class=\"gmail_quote\"><div>---------- Forwarded message ---------<br>From: Ada<br>Date: Monday</div>old</div>";
        let shown = "see\n---------- Forwarded message ---------\nFrom: Ada\nDate: Monday\nold";
        assert_eq!(markdown(&mail(None, Some(html)), none, &[]), shown);
        // A reply to a forwarded mail, in a language that is not known.
        let html = "ответ<div class=\"moz-cite-prefix\">29.11.2026 7:59, Ада пишет:</div><blockquote type=\"cite\">---- Forwarded message ----<br>old</blockquote>";
        assert_eq!(markdown(&mail(None, Some(html)), none, &[]), "ответ");
    }

    #[test]
    fn links_remain_below_long_texts() {
        let links = ["[a](/user_uploads/1/a)".to_owned()];
        let long = mail(Some(&"é".repeat(20_000)), None);
        let text = markdown(&long, MailOptions::default(), &links);
        assert_eq!(text.chars().count(), MAX_MESSAGE_LENGTH);
        assert!(text.ends_with("[message truncated]\n\n[a](/user_uploads/1/a)"));
        let open = mail(Some("```\ncode"), None);
        let text = markdown(&open, MailOptions::default(), &links);
        assert_eq!(text, "```\ncode\n```\n\n[a](/user_uploads/1/a)");
        let open = mail(Some(&format!("```\n{}", "x".repeat(20_000))), None);
        assert!(markdown(&open, MailOptions::default(), &links).chars().count() <= MAX_MESSAGE_LENGTH);
    }
}

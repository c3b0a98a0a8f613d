//! The own text of a mail: without the text that it quotes, and without a footer.

use crate::types::pattern;
use regex::Regex;
use std::sync::LazyLock;

/// Lines that mail programs write before a quoted mail, which reaches to the end.
static QUOTE_HEADS: LazyLock<Regex> = LazyLock::new(|| {
    let words = "original message|original appointment|ursprüngliche (nachricht|mail)|message d'origine|message original\
                 |mensaje original|mensagem original|messaggio originale|oorspronkelijk bericht|oryginalna wiadomość\
                 |ursprungligt meddelande|oprindelig meddelelse|opprinnelig melding|reply message";
    // Zoho writes the attribution between hyphens.
    pattern(&format!(r"(?i)^\s*(-{{2,}}\s*({words}|on\s.{{4,300}}\swrote)\s*-{{2,}}|_{{20,}})\s*$"))
});

/// Lines that mail programs write before a forwarded mail, which is the reason for the mail.
static FORWARD_HEADS: LazyLock<Regex> = LazyLock::new(|| {
    let between_hyphens = "forwarded message|weitergeleitete nachricht|message transféré|mensaje reenviado\
                           |mensagem encaminhada|messaggio inoltrato|doorgestuurd bericht";
    let of_apple = "begin forwarded message|anfang der weitergeleiteten nachricht|début du message (réexpédié|transféré)\
                    |inicio del mensaje reenviado|início da mensagem (re)?encaminhada|inizio messaggio inoltrato\
                    |begin doorgestuurd bericht|początek przekazywanej wiadomości";
    pattern(&format!(r"(?i)^\s*(-{{2,}}\s*({between_hyphens})\s*-{{2,}}|>?\s*({of_apple})\s?:)\s*$"))
});

/// Lines that name the sender and the time of a quoted mail, in the languages of many mail programs.
static ATTRIBUTIONS: LazyLock<Regex> = LazyLock::new(|| {
    let patterns = [
        r"On\s.{4,300}\swrote\s?:",
        r"Am\s.{4,300}\sschrieb.{0,200}:",
        r"Le\s.{4,300}\sa écrit\s?:",
        r"El\s.{4,300}\sescribió\s?:",
        r"Em\s.{4,300}\sescreveu\s?:",
        r"Il\s.{4,300}\sha scritto\s?:",
        r"Op\s.{4,300}\s(schreef|geschreven|verzond).{0,200}:",
        r"(Den|På)\s.{4,300}\sskrev.{0,200}:",
        r"Dne\s.{4,300}\snapsal.{0,20}:",
        r"W dniu\s.{4,300}\s(napisał|pisze).{0,100}:",
        r".{4,300}\s(のメール|写道)\s?[:：]",
    ];
    pattern(&format!(r"^({})\s*$", patterns.join("|")))
});

/// A time of day.
static CLOCK: LazyLock<Regex> = LazyLock::new(|| pattern(r"[0-9][:.][0-9]{2}"));

/// The first lines of the header that Outlook writes before a quoted mail.
static SENDERS: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"^\s*\*{0,2}(From|Von|De|Da|Van|Od|Från|Fra|差出人|发件人)\s?[:：]\*{0,2}\s\S")
});
static TIMES: LazyLock<Regex> = LazyLock::new(|| {
    let words = "Sent|Date|Gesendet|Datum|Envoyé|Enviad[ao]( em| el)?|Fecha|Data|Inviato|Verzonden|Wysłan[eo]|Skickat\
                 |Sendt|Dato|送信日時|发送时间";
    pattern(&format!(r"^\s*\*{{0,2}}({words})\s?[:：]"))
});

/// The most lines of an attribution: mail programs break long ones.
const MAX_ATTRIBUTION: usize = 3;

fn is_quoted(line: &str) -> bool {
    line.trim_start().starts_with('>')
}

/// The byte at which a forwarded mail begins; `None` if there is none, or a quoted mail before it.
pub fn begin_of_forwarded_mail(text: &str) -> Option<usize> {
    begin_of_other_mail(text, false)
}

/// The byte at which a forwarded mail begins, or also a quoted one. The first of both decides.
pub fn begin_of_other_mail(text: &str, is_quote_meant: bool) -> Option<usize> {
    let lines: Vec<&str> = text.lines().collect();
    let is_forward = |number: usize| FORWARD_HEADS.is_match(lines[number]);
    let is_quote = |number: usize| {
        let (line, rest) = (lines[number], &lines[number..]);
        // A line alone may be a part of the text.
        is_quoted(line)
            || QUOTE_HEADS.is_match(line) && !line.contains("____")
            || has_header(rest)
            || attribution(rest).is_some()
    };
    let first = (0..lines.len()).find(|&number| is_forward(number) || is_quote(number));
    let number = first.filter(|&number| is_quote_meant || is_forward(number))?;
    Some(text.split_inclusive('\n').take(number).map(str::len).sum())
}

/// Cuts a quoted mail at the end of a text. Answers among the lines of a quoted mail are kept together with them.
pub fn without_quotes(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    // Where the last quoted line ends, and the last other one. What follows both is not marked as a quote by the program.
    let last = |quoted: bool| {
        let is_last = |line: &&str| !line.trim().is_empty() && is_quoted(line) == quoted;
        lines.iter().rposition(is_last).map_or(0, |at| at + 1)
    };
    let (quotes_end, texts_end) = (last(true), last(false));
    let mut end = lines.len();
    for (number, line) in lines.iter().enumerate() {
        let next = lines.get(number + 1..).unwrap_or_default();
        if QUOTE_HEADS.is_match(line) && (!line.contains("____") || has_header(next))
            || has_header(&lines[number..])
        {
            end = number;
            break;
        }
        if let Some((length, is_known)) = attribution(&lines[number..])
            && let after = number + length
            && (is_known && after >= quotes_end || (texts_end..quotes_end).contains(&after))
        {
            end = number;
            break;
        }
    }
    // A quote that nothing introduces.
    while end > 0 && (is_quoted(lines[end - 1]) || lines[end - 1].trim().is_empty()) {
        end -= 1;
    }
    let own = lines[..end].join("\n");
    // A mail that is nothing but a quote has it as its text.
    if own.trim().is_empty() { text.trim_end().to_owned() } else { own }
}

/// True for the header that Outlook writes before a quoted mail, and for that of GMX, in which the time comes first.
fn has_header(lines: &[&str]) -> bool {
    let Some((first, rest)) = lines.split_first() else { return false };
    if SENDERS.is_match(first) {
        return rest.iter().take(3).any(|line| TIMES.is_match(line));
    }
    let is_sender = |line: &&str| line.contains('@') && SENDERS.is_match(line);
    TIMES.is_match(first) && rest.first().is_some_and(is_sender)
}

/// Cuts a quoted mail at the header that Outlook writes before it.
pub fn without_quote_of_outlook(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    match (1..lines.len()).find(|number| has_header(&lines[*number..])) {
        Some(end) => lines[..end].join("\n"),
        None => text.to_owned(),
    }
}

/// The number of lines at the beginning that name the sender and the time of a quoted mail, and whether their language is known.
/// In others, they have a time and an address in angle brackets. Emacs and others write no time.
fn attribution(lines: &[&str]) -> Option<(usize, bool)> {
    let first = lines.first().filter(|line| !line.trim().is_empty() && line.len() < 400)?;
    let mut joined = first.trim_start().to_owned();
    for length in 1..=MAX_ATTRIBUTION {
        if joined.trim_end().ends_with([':', '：']) {
            // There is a time in it.
            let is_dated = joined.contains(|c: char| c.is_ascii_digit());
            let is_known = is_dated && ATTRIBUTIONS.is_match(&joined);
            let is_undated = [" writes:", " wrote:"].iter().any(|end| joined.trim_end().ends_with(end));
            let is_other =
                first.contains('<') && (is_undated || CLOCK.is_match(&joined)) && joined.contains('@');
            return (is_known || is_other).then_some((length, is_known));
        }
        let more = lines.get(length).filter(|line| line.len() < 400 && !line.trim().is_empty())?;
        joined = format!("{joined} {}", more.trim());
    }
    None
}

/// Cuts a footer, which follows a line with two hyphens. A text with several such lines is kept: they are no footers.
pub fn without_footer(text: &str) -> &str {
    let mut found = None;
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        if line.trim() == "--" {
            if found.is_some() {
                return text;
            }
            found = Some(start);
        }
        start += line.len();
    }
    found.map_or(text, |at| text[..at].trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_at_the_end_are_cut() {
        for (text, own) in [
            ("new\n\nOn Mon, 21 Sep 2026 at 10:00, Ada <ada@example.com> wrote:\n> old\n> older\n", "new"),
            (
                "new\n\nOn Mon, 21 Sep 2026 at 10:00, Ada Lovelace\n<ada@example.com> wrote:\n\n> old\n\n",
                "new",
            ),
            ("new\n\nOn Mon, 21 Sep 2026, Ada wrote:\n\nold without marks\n", "new"),
            ("neu\n\nAm 21.09.2026 um 10:00 schrieb Ada:\n> alt", "neu"),
            ("new\n\n-----Original Message-----\nFrom: Ada\nold", "new"),
            ("new\n\n________________________________\nFrom: Ada <a@example.com>\nSent: Monday\nold", "new"),
            ("new\n\nFrom: Ada <a@example.com>\nDate: Monday\nTo: Bob\n\nold", "new"),
            ("new\n> old\n>> older", "new"),
            // Gmail in languages that it writes in other ways, and in languages that are not known.
            ("nowe\n\nniedz., 29 lis 2026 o 07:59 Ada <ada@example.com>\nnapisał(a):\n\n> stare", "nowe"),
            ("返事\n\n2026年11月29日(日) 7:59 Ada <ada@example.com>:\n\n> 前", "返事"),
            ("答复\n\nAda <ada@example.com> 于2026年11月29日周日 07:59写道：\n\n> 旧", "答复"),
            (
                "Svar\n\nDen sön 29 nov. 2026 kl 07:59 skrev Ada Lovelace <\nada@example.com>:\n\n> gammal",
                "Svar",
            ),
            ("new\n\nAda Lovelace <ada@example.com> writes:\n\n> old", "new"),
            ("new\n\nSent from Samsung Mobile <ada@example.com> wrote:\n\n> old", "new"),
            (
                "novo\n\nAda Lovelace <ada@example.com> escreveu no dia\nsegunda, 27/07/2020 à(s) 18:30:\n>\n> velho",
                "novo",
            ),
            // Thunderbird and Zoho.
            ("nové\n\nDne 21. 12. 21 v 13:18 Ada napsal(a):\n> staré", "nové"),
            ("nytt\n\nDen 2026-11-29 kl. 07:59, skrev Ada:\n> gammalt", "nytt"),
            (
                "new\n\n\n---- On Sun, 29 Nov 2026 07:59:00 +0100 Ada <ada@example.com> wrote ----\n\n > old",
                "new",
            ),
            (
                "nieuw\n\nOp 29 nov 2026 om 07:59 heeft Ada <ada@example.com> het volgende geschreven:\n\noud",
                "nieuw",
            ),
            // Outlook.
            (
                "novo\n\nDe: Ada <a@example.com>\nEnviada em: domingo, 29 de novembro\nPara: Bob\n\nvelho",
                "novo",
            ),
            (
                "nytt\n\nFrån: Ada <a@example.com>\nSkickat: den 29 november 2026\nTill: Bob\n\ngammalt",
                "nytt",
            ),
            // GMX and Zimbra.
            (
                "neu\n\nGesendet: Sonntag, 29. November 2026 um 07:59 Uhr\nVon: \"Ada\" <ada@example.com>\nAn: Bob\n\nalt",
                "neu",
            ),
            ("neu\n\n----- Ursprüngliche Mail -----\nVon: Ada\n\nalt", "neu"),
            ("nyt\n\n-----Oprindelig meddelelse-----\nFra: Ada\n\ngammelt", "nyt"),
            ("nyt\n\nFra: Ada <a@example.com>\nSendt: 29. november 2026\nTil: Bob\n\ngammelt", "nyt"),
            ("nowe\n\nOd: Ada <a@example.com>\nWysłane: niedziela\nDo: Bob\n\nstare", "nowe"),
            // Nothing is cut.
            ("On Monday I wrote:\nwe met", "On Monday I wrote:\nwe met"),
            ("> question\n\nanswer", "> question\n\nanswer"),
            (
                "On Mon, 21 Sep 2026, Ada wrote:\n> one\nyes\n> two\nno",
                "On Mon, 21 Sep 2026, Ada wrote:\n> one\nyes\n> two\nno",
            ),
            ("From: here to there", "From: here to there"),
            ("Date: Monday\nFrom: 10:00\nTo: 12:00", "Date: Monday\nFrom: 10:00\nTo: 12:00"),
            (
                "Ada <ada@example.com> wants these at 10:00:\none\ntwo",
                "Ada <ada@example.com> wants these at 10:00:\none\ntwo",
            ),
            ("above\n____________________________\nbelow", "above\n____________________________\nbelow"),
            ("> only a quote", "> only a quote"),
            ("", ""),
        ] {
            assert_eq!(without_quotes(text), own, "{text:?}");
        }
    }

    #[test]
    fn forwarded_mails_are_recognized_before_quotes() {
        for (text, expected) in [
            ("see\n\n---------- Forwarded message ---------\nFrom: Ada <a@example.com>\nDate: Monday", true),
            ("-------- Weitergeleitete Nachricht --------\nBetreff: x", true),
            ("vois\n\n---------- Message transféré ---------\nDe : Ada <a@example.com>\nDate : lundi", true),
            ("see\n\n> Begin forwarded message:\n> \n> From: Ada", true),
            ("vois\n\nDébut du message réexpédié :\n\nDe: Ada", true),
            ("new\n\n> On 29 Nov 2026, at 07:59, Ada wrote:\n> \n> Begin forwarded message:\n> old", false),
            ("new\n\nOn Mon 21, Ada wrote:\n\n---- Forwarded message ----\nold", false),
            ("new\n\n-----Original Message-----\n\n---- Forwarded message ----\nold", false),
            ("new\n\nFrom: Ada\nSent: Monday\n\n---- Forwarded message ----\nold", false),
            ("new\n____________________\n---- Forwarded message ----\nold", true),
            ("new\n> ---- Forwarded message ----\n> old", false),
            ("", false),
        ] {
            assert_eq!(begin_of_forwarded_mail(text).is_some(), expected, "{text:?}");
        }
    }

    #[test]
    fn headers_of_outlook_are_cut_in_markdown() {
        for (text, own) in [
            ("new\n\n**From:** Ada <a@example.com>\n**Sent:** Monday\n**To:** Bob\n\nold", "new\n"),
            ("new\n\n**From:** here to there\n> quote", "new\n\n**From:** here to there\n> quote"),
            ("**From:** Ada\n**Sent:** Monday\n\nold", "**From:** Ada\n**Sent:** Monday\n\nold"),
        ] {
            assert_eq!(without_quote_of_outlook(text), own, "{text:?}");
        }
    }

    #[test]
    fn one_footer_is_cut() {
        for (text, own) in [
            ("text\n-- \nAda\n", "text"),
            ("text\n--\nAda", "text"),
            ("text\n--\nmore\n--\nAda", "text\n--\nmore\n--\nAda"),
            ("text --\nmore", "text --\nmore"),
            ("---\nx", "---\nx"),
        ] {
            assert_eq!(without_footer(text), own, "{text:?}");
        }
    }

    #[test]
    fn long_texts_are_read_in_little_time() {
        let text = format!("new\n{}", "On Mon ".repeat(50_000));
        assert_eq!(without_quotes(&text).trim_end(), text.trim_end());
        for line in [
            "On Mon, 21 Sep 2026\n",
            "On Mon 1, Ada wrote:\n",
            " 1 1 1 写道:\n",
            &format!("{}1:\n", " ".repeat(50)),
        ] {
            let lines = line.repeat(20_000) + "> quoted\nand not";
            assert_eq!(without_quotes(&lines).lines().count(), 20_002, "{line}");
            assert_eq!(begin_of_forwarded_mail(&lines), None);
        }
    }
}

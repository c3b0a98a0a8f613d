//! A file of lines. It is read twice: first all but its messages, then each message from its place, by time.

use crate::moving::import::error::{ImportError, ImportResult};
use crate::moving::import::json;
use crate::moving::import::json::Position;
use crate::moving::import::lines::Importer;
use crate::moving::import::lines::model::{Date, Line, MessageLine};
use crate::moving::import::links::OldAddress;
use crate::moving::import::progress::Progress;
use crate::moving::import::report::Report;
use crate::moving::import::target::Target;
use crate::moving::import::unpack::Archive;
use teamchat_markdown::emoji;

/// The files by which an archive is known.
pub const MARKS: &[&str] = &["messages.jsonl"];

/// Imports an archive of lines.
pub fn import(
    target: &mut Target,
    archive: &Archive,
    addresses: OldAddress,
    progress: &Progress,
    report: &mut Report,
) -> ImportResult<()> {
    let name = archive.given_file().unwrap_or(MARKS[0]);
    let path = archive.file(name)?;
    progress.expect(2 * path.metadata()?.len());
    let mut importer = Importer::new(target, archive, addresses, report, "import")?;
    let mut places: Vec<Place> = Vec::new();
    json::read_lines(&path, name, progress, |position, text| {
        let mut add = || match json::parse::<Line>(text)? {
            Line::Message(message) => {
                check_place(&message)?;
                places.push(Place { time: message.date, position, length: text.len() as u32 });
                Ok(())
            }
            Line::Emoji(emoji) if !is_emoji_name(&emoji.name) => {
                let what =
                    format!("a name of an emoji has letters, digits, `_`, `-` and `+`: '{}'", emoji.name);
                Err(ImportError::new(what))
            }
            line => importer.add(line),
        };
        add().map_err(|error| ImportError::at(name, position.line, error))
    })?;
    // Those of one second stay in their order.
    places.sort_by_key(|place| place.time);
    let mut file = json::open(&path, name)?;
    for Place { position, length, .. } in places {
        let text = json::read_at(&mut file, position.offset, length as usize)?;
        progress.advance(length.into());
        let added = json::parse(&text).and_then(|line| importer.add(line));
        added.map_err(|error| ImportError::at(name, position.line, error))?;
    }
    importer.finish()
}

/// A message that is read again when its turn has come.
struct Place {
    time: Date,
    position: Position,
    /// The length in bytes.
    length: u32,
}

/// True if `:name:` can be an emoji.
fn is_emoji_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(emoji::is_name_character)
}

/// Fails for a message that has neither a channel nor receivers, or both.
fn check_place(message: &MessageLine) -> ImportResult<()> {
    if message.channel.is_some() == message.to.is_empty() {
        return Ok(());
    }
    Err(ImportError::new("a message has either a channel, or receivers in `to`"))
}

//! Sonarr and Radarr: series and films that are found, imported, renamed and deleted.

use super::git::configured;
use super::payload::{Options, Payload, Post, PostsResult, Refusal};
use super::text::{label, line, link, sentence, start};

/// The types of Sonarr's events.
pub const SONARR_EVENTS: &[&str] = &[
    "Grab",
    "Download",
    "ImportComplete",
    "Rename",
    "SeriesAdd",
    "SeriesDelete",
    "EpisodeFileDelete",
    "Health",
    "HealthRestored",
    "ApplicationUpdate",
    "ManualInteractionRequired",
    "Test",
];

/// The types of Radarr's events.
pub const RADARR_EVENTS: &[&str] = &[
    "Grab",
    "Download",
    "Rename",
    "MovieAdded",
    "MovieDelete",
    "MovieFileDelete",
    "Health",
    "HealthRestored",
    "ApplicationUpdate",
    "ManualInteractionRequired",
    "Test",
];

/// The most episodes, or reasons of a failed import, that one message names.
const MAX_NAMED: usize = 10;

/// Creates the message of a delivery of Sonarr.
pub fn sonarr(payload: Payload<'_>, _options: &Options<'_>) -> PostsResult {
    let event = payload.text("/eventType")?;
    if let Some((topic, content)) = of_program("Sonarr", event, payload)? {
        return Ok(vec![Post::new(topic, content, event)]);
    }
    if !SONARR_EVENTS.contains(&event) {
        return Err(Refusal::Unsupported(event.to_owned()));
    }
    if event == "ManualInteractionRequired" {
        let title = payload.find_text("/series/title");
        let subject = title.and_then(|title| episodes(payload, &label(title)));
        let topic = title.unwrap_or("Sonarr - Manual import");
        return Ok(vec![Post::new(topic, manual_import(payload, subject), event)]);
    }
    let series = payload.text("/series/title")?;
    let title = label(series);
    let episodes = |other: &str| episodes(payload, &title).unwrap_or_else(|| format!("{other} {title} has"));
    let content = match event {
        "Rename" => format!("{title} episodes have been renamed."),
        "SeriesAdd" => format!("{title} has been added."),
        "SeriesDelete" => format!("{title} has been deleted."),
        "Grab" => format!("{} been grabbed{}.", episodes("A release of"), quality(payload)),
        "EpisodeFileDelete" if payload.find_text("/deleteReason") == Some("upgrade") => {
            format!("{} been deleted due to quality upgrade.", episodes("A file of"))
        }
        "EpisodeFileDelete" => format!("{} been deleted.", episodes("A file of")),
        _ if payload.is_true("/isUpgrade") => {
            let old = payload.find_text("/deletedFiles/0/quality");
            let new = payload.find_text("/episodeFile/quality");
            let new = new.or(payload.find_text("/episodeFiles/0/quality"));
            format!("{} been upgraded{}.", episodes("A file of"), from_to(old, new))
        }
        _ => format!("{} been imported.", episodes("A file of")),
    };
    Ok(vec![Post::new(series, content, event)])
}

/// The episodes of an event with the verb after them: `Series - 1x02 - Title has`. `None` if it names none, as the deletion
/// of a file without episodes.
fn episodes(payload: Payload<'_>, title: &str) -> Option<String> {
    let count = payload.find_list("/episodes").count();
    let names: Vec<String> =
        payload.find_list("/episodes").take(MAX_NAMED).map(episode).filter(|name| !name.is_empty()).collect();
    match names.as_slice() {
        [] => None,
        [only] => Some(format!("{title} - {only} has")),
        several => {
            let more = if count > several.len() {
                format!(" and {} more", count - several.len())
            } else {
                String::new()
            };
            Some(format!("{title} - {}{more} have", several.join(", ")))
        }
    }
}

/// The number and the title of an episode.
fn episode(episode: Payload<'_>) -> String {
    let number = match (episode.integer("/seasonNumber"), episode.integer("/episodeNumber")) {
        (Ok(season), Ok(number)) => format!("{season}x{number}"),
        _ => String::new(),
    };
    let parts = [number, episode.find_text("/title").map(label).unwrap_or_default()];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" - ")
}

/// A download that has to be imported by hand, and the reasons. Without a subject (`The movie Title has`), the program did not
/// recognize what it contains.
fn manual_import(payload: Payload<'_>, subject: Option<String>) -> String {
    let subject = subject.unwrap_or_else(|| match payload.find_text("/downloadInfo/title") {
        Some(name) => format!("The download {} has", label(name)),
        None => "A download has".to_owned(),
    });
    let reasons: Vec<String> = payload
        .find_list("/downloadStatusMessages")
        .take(MAX_NAMED)
        .map(reason)
        .filter(|reason| !reason.is_empty())
        .collect();
    match reasons.as_slice() {
        [] => format!("{subject} to be imported by hand."),
        reasons => format!("{subject} to be imported by hand:\n* {}", reasons.join("\n* ")),
    }
}

/// A status message of a download: the file or the download, and what is wrong with it.
fn reason(status: Payload<'_>) -> String {
    let messages = status.find_list("/messages").take(MAX_NAMED).filter_map(Payload::as_text).map(label);
    let messages: Vec<String> = messages.filter(|message| !message.is_empty()).collect();
    let parts = [status.find_text("/title").map(label).unwrap_or_default(), messages.join(", ")];
    start(&parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(": "))
}

/// The quality of a release, in brackets.
fn quality(payload: Payload<'_>) -> String {
    payload.find_text("/release/quality").map(|quality| format!(" ({})", label(quality))).unwrap_or_default()
}

fn from_to(old: Option<&str>, new: Option<&str>) -> String {
    match (old, new) {
        (Some(old), Some(new)) => format!(" from {} to {}", label(old), label(new)),
        (None, Some(new)) => format!(" to {}", label(new)),
        _ => String::new(),
    }
}

/// Creates the message of a delivery of Radarr.
pub fn radarr(payload: Payload<'_>, _options: &Options<'_>) -> PostsResult {
    let event = payload.text("/eventType")?;
    if let Some((topic, content)) = of_program("Radarr", event, payload)? {
        return Ok(vec![Post::new(topic, content, event)]);
    }
    if !RADARR_EVENTS.contains(&event) {
        return Err(Refusal::Unsupported(event.to_owned()));
    }
    if event == "ManualInteractionRequired" {
        let title = payload.find_text("/movie/title");
        let subject = title.map(|title| format!("The movie {} has", label(title)));
        let topic = title.unwrap_or("Radarr - Manual import");
        return Ok(vec![Post::new(topic, manual_import(payload, subject), event)]);
    }
    let movie = payload.text("/movie/title")?;
    let title = label(movie);
    let content = match event {
        "Grab" => format!("The movie {title} has been grabbed{}.", quality(payload)),
        "Download" if payload.is_true("/isUpgrade") => {
            let (old, new) =
                (payload.find_text("/deletedFiles/0/quality"), payload.find_text("/movieFile/quality"));
            format!("The movie {title} has been upgraded{}.", from_to(old, new))
        }
        "Download" => format!("The movie {title} has been imported."),
        "Rename" => format!("The movie {title} has been renamed."),
        "MovieAdded" => format!("The movie {title} has been added."),
        "MovieDelete" => {
            let files = if payload.is_true("/deletedFiles") { "also" } else { "not" };
            format!("The movie {title} was deleted; its files were {files} deleted.")
        }
        _ => format!("A file of the movie {title} has been deleted."),
    };
    Ok(vec![Post::new(movie, content, event)])
}

/// Events about the program itself: topic and text.
fn of_program(name: &str, event: &str, payload: Payload<'_>) -> Result<Option<(String, String)>, Refusal> {
    Ok(Some(match event {
        "Test" => (format!("{name} - Test"), configured(name, None)),
        "Health" | "HealthRestored" => {
            let level = payload.text("/level")?;
            let icon = match (event, level) {
                ("HealthRestored", _) => ":check: Restored: ",
                (_, "error") => ":cross_mark: ",
                _ => ":warning: ",
            };
            let message = line(payload.text("/message")?);
            let message = match payload.find_text("/wikiUrl") {
                Some(url) => link(&message, url),
                None => message,
            };
            (format!("Health {level}"), sentence(format!("{icon}{message}")))
        }
        "ApplicationUpdate" => {
            let (old, new) = (payload.text("/previousVersion")?, payload.text("/newVersion")?);
            let content = format!("{name} was updated from {} to {}.", label(old), label(new));
            (format!("{name} - Application update"), content)
        }
        _ => return Ok(None),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn long_lists_of_episodes_are_truncated() {
        let episode = json!({"seasonNumber": 1, "episodeNumber": 2, "title": "T"});
        let payload = json!({"episodes": vec![episode; MAX_NAMED + 4]});
        let text = episodes(Payload(&payload), "S").unwrap();
        assert_eq!(text.matches("1x2 - T").count(), MAX_NAMED);
        assert!(text.ends_with("1x2 - T and 4 more have"), "{text}");
    }
}

//! Sonarr and Radarr: series and films that are found, imported, renamed and deleted.

use super::git::configured;
use super::payload::{Options, Payload, Post, Posts, Refusal};
use super::text::{label, line, link, sentence};

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

/// The most episodes that one message names.
const MAX_NAMED: usize = 10;

/// Creates the message of a delivery of Sonarr.
pub fn sonarr(payload: Payload<'_>, _options: &Options<'_>) -> Posts {
    let event = payload.text("/eventType")?;
    if let Some((topic, content)) = of_program("Sonarr", event, payload)? {
        return Ok(vec![Post::new(topic, content, event)]);
    }
    if !SONARR_EVENTS.contains(&event) {
        return Err(Refusal::Unsupported(event.to_owned()));
    }
    let series = payload.text("/series/title")?;
    let title = label(series);
    let content = match event {
        "Rename" => format!("{title} episodes have been renamed."),
        "SeriesAdd" => format!("{title} has been added."),
        "SeriesDelete" => format!("{title} has been deleted."),
        _ => {
            let episodes = episodes(payload, &title)?;
            match event {
                "Grab" => format!("{episodes} been grabbed{}.", quality("", payload, "/release/quality")),
                "Download" | "ImportComplete" if payload.is_true("/isUpgrade") => {
                    let (old, new) = (
                        payload.find_text("/deletedFiles/0/quality"),
                        payload
                            .find_text("/episodeFile/quality")
                            .or(payload.find_text("/episodeFiles/0/quality")),
                    );
                    format!("{episodes} been upgraded{}.", from_to(old, new))
                }
                "Download" | "ImportComplete" => format!("{episodes} been imported."),
                "EpisodeFileDelete" if payload.find_text("/deleteReason") == Some("upgrade") => {
                    format!("{episodes} been deleted due to quality upgrade.")
                }
                "EpisodeFileDelete" => format!("{episodes} been deleted."),
                _ => format!("{episodes} to be imported by hand."),
            }
        }
    };
    Ok(vec![Post::new(series, content, event)])
}

/// The episodes of an event with the verb after them: `Series - 1x02 - Title has`.
fn episodes(payload: Payload<'_>, title: &str) -> Result<String, Refusal> {
    let all = payload.list("/episodes")?;
    let count = all.len();
    let names = all.take(MAX_NAMED).map(|episode| {
        let (season, number) = (episode.integer("/seasonNumber")?, episode.integer("/episodeNumber")?);
        Ok(format!("{season}x{number} - {}", label(episode.find_text("/title").unwrap_or_default())))
    });
    let names: Vec<String> = names.collect::<Result<_, Refusal>>()?;
    match names.as_slice() {
        [] => Ok(format!("{title} has")),
        [only] => Ok(format!("{title} - {only} has")),
        several => {
            let more = if count > several.len() {
                format!(" and {} more", count - several.len())
            } else {
                String::new()
            };
            Ok(format!("{title} - {}{more} have", several.join(", ")))
        }
    }
}

fn quality(before: &str, payload: Payload<'_>, path: &str) -> String {
    payload.find_text(path).map(|quality| format!("{before} ({})", label(quality))).unwrap_or_default()
}

fn from_to(old: Option<&str>, new: Option<&str>) -> String {
    match (old, new) {
        (Some(old), Some(new)) => format!(" from {} to {}", label(old), label(new)),
        (None, Some(new)) => format!(" to {}", label(new)),
        _ => String::new(),
    }
}

/// Creates the message of a delivery of Radarr.
pub fn radarr(payload: Payload<'_>, _options: &Options<'_>) -> Posts {
    let event = payload.text("/eventType")?;
    if let Some((topic, content)) = of_program("Radarr", event, payload)? {
        return Ok(vec![Post::new(topic, content, event)]);
    }
    if !RADARR_EVENTS.contains(&event) {
        return Err(Refusal::Unsupported(event.to_owned()));
    }
    let movie = payload.text("/movie/title")?;
    let title = label(movie);
    let content = match event {
        "Grab" => format!("The movie {title} has been grabbed{}.", quality("", payload, "/release/quality")),
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
        "MovieFileDelete" => format!("A file of the movie {title} has been deleted."),
        _ => format!("The movie {title} has to be imported by hand."),
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

//! Lists of sessions and API keys.

use super::common::Style;
use std::io::Write;
use teamchat::domain::keys::KeyRecord;
use teamchat::domain::logins::sessions::SessionRecord;
use teamchat::types::timestamp;

pub fn list_sessions(out: &mut dyn Write, style: Style, sessions: &[SessionRecord]) -> std::io::Result<()> {
    if sessions.is_empty() {
        return writeln!(out, "No sessions.");
    }
    let head = format!("{:>5}  {:20}  {:20}  {:15}  BROWSER", "ID", "SINCE", "LAST USED", "FROM");
    writeln!(out, "{}", style.dim(&head))?;
    for session in sessions {
        let time = |seconds| timestamp(seconds).to_string();
        let (since, used) = (time(session.date_created), time(session.last_used));
        let SessionRecord { id, address, client, .. } = session;
        writeln!(out, "{id:>5}  {since:20}  {used:20}  {address:15}  {client}")?;
    }
    Ok(())
}

pub fn list_keys(out: &mut dyn Write, style: Style, keys: &[KeyRecord]) -> std::io::Result<()> {
    if keys.is_empty() {
        return writeln!(out, "No keys.");
    }
    writeln!(out, "{}", style.dim(&format!("{:>5}  {:20}  {:20}  FOR", "ID", "MADE", "LAST USED")))?;
    for key in keys {
        let time = |seconds| timestamp(seconds).to_string();
        let (made, used) = (time(key.date_created), key.last_used.map_or_else(|| "never".to_owned(), time));
        writeln!(out, "{:>5}  {made:20}  {used:20}  {}", key.id, key.client)?;
    }
    Ok(())
}

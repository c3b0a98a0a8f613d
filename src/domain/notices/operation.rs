//! Notices about the operation of the server, to the owners: backups, mail, and space that runs out; and to people: their quota of
//! uploads. Each is sent once, and again when it is over or becomes worse.

use crate::domain::realm::user_ids;
use crate::domain::{mail, notices, user_settings};
use crate::error::ApiResult;
use crate::store::{ExecuteCached, Tx, counter};
use crate::types::{Language, UserId};
use rusqlite::Connection;
use teamchat_markdown::{Composition, Words};

/// Space that runs out.
#[derive(Clone, Copy, Debug)]
pub enum Subject {
    /// The disk of the database.
    Disk,
    UploadQuota,
}

/// Space that is in use.
#[derive(Clone, Copy, Debug)]
pub struct Usage {
    /// The share in use, in percent.
    pub percent: i64,
    /// MiB that are left.
    pub free_mib: u64,
}

impl Usage {
    fn parameters(self) -> [(&'static str, Words); 2] {
        let free = i64::try_from(self.free_mib).unwrap_or(i64::MAX);
        [("percent", Words::default().number(self.percent)), ("free", Words::default().number(free))]
    }
}

/// Rows of `counter` with the level that owners, or the person, know of, which is 0 if all is well.
const BACKUP: &str = "told_backup";
const DISK: &str = "told_disk";
const MAIL: &str = "told_mail";
const UPLOAD_QUOTA: &str = "told_upload_quota";
const QUOTA_OF_PERSON: &str = "told_upload_quota_of_";

/// Levels of [`BACKUP`]; [`MAIL`] has the first.
const FAILED: i64 = 1;
const OVERDUE: i64 = 2;
const REFUSED: i64 = 3;

/// Returns the level that is known.
fn known_level(connection: &Connection, name: &str) -> rusqlite::Result<i64> {
    Ok(counter::load(connection, name)?.unwrap_or(0))
}

/// Notes the level that is known now. Returns true if it was another one.
fn change_level(tx: &Tx<'_>, name: &str, level: i64) -> rusqlite::Result<bool> {
    if known_level(tx, name)? == level {
        return Ok(false);
    }
    counter::set(tx, name, level)?;
    Ok(true)
}

/// True if the last scheduled backup failed.
pub fn is_backup_failing(connection: &Connection) -> ApiResult<bool> {
    Ok(known_level(connection, BACKUP)? == FAILED)
}

/// Notifies the owners that a backup failed, unless they know.
pub fn backup_failed(tx: &mut Tx<'_>, error: &str) -> ApiResult<()> {
    if !change_level(tx, BACKUP, FAILED)? {
        return Ok(());
    }
    mail::letters::backup_failed(tx, error)?;
    tell_owners(tx, |language| {
        let text = mail::letters::text_of_failed_backup(language);
        Words::filled(text, &[("error", Words::default().code(error))])
    })
}

/// Warns the owners that no backup was made for a long time, unless they know.
pub fn backup_overdue(tx: &mut Tx<'_>) -> ApiResult<()> {
    if !change_level(tx, BACKUP, OVERDUE)? {
        return Ok(());
    }
    tell_owners(tx, |language| {
        Words::new(language.t(
            "The backup of this server is overdue. You will receive a message when one succeeds. Until then, new data \
             is not backed up.",
        ))
    })
}

/// Warns the owners that a restore refuses the backups, unless they know.
pub fn backup_refused(tx: &mut Tx<'_>, difference: &str) -> ApiResult<()> {
    if !change_level(tx, BACKUP, REFUSED)? {
        return Ok(());
    }
    tell_owners(tx, |language| {
        let text = language.t(
            "The backup of this server cannot be restored: {error}. The operator can stop the server and correct the \
             schema of the database with SQLite. You will receive a message when a backup succeeds again.",
        );
        Words::filled(text, &[("error", Words::default().code(difference))])
    })
}

/// Notifies the owners that backups succeed again, if they know of a failure.
pub fn backup_succeeded(tx: &mut Tx<'_>) -> ApiResult<()> {
    if !change_level(tx, BACKUP, 0)? {
        return Ok(());
    }
    tell_owners(tx, |language| Words::new(language.t("The backup of this server succeeded again.")))
}

/// True if the owners know that mail fails.
pub fn is_mail_failing(connection: &Connection) -> ApiResult<bool> {
    Ok(known_level(connection, MAIL)? == FAILED)
}

/// Notifies the owners that no mail could be sent for some time, unless they know.
pub fn mail_failed(tx: &mut Tx<'_>, error: &str) -> ApiResult<()> {
    if !change_level(tx, MAIL, FAILED)? {
        return Ok(());
    }
    tell_owners(tx, |language| {
        let text = language.t(
            "This server has not been able to send email for some time: {error}. It will try again, and send you a \
             message when it succeeds.",
        );
        Words::filled(text, &[("error", Words::default().code(error))])
    })
}

/// Notifies the owners that mail is sent again, if they know of the failure.
pub fn mail_succeeded(tx: &mut Tx<'_>) -> ApiResult<()> {
    if !change_level(tx, MAIL, 0)? {
        return Ok(());
    }
    tell_owners(tx, |language| Words::new(language.t("This server sends email again.")))
}

/// The level of space that is almost used up, and how far the share has to fall below a level before it is forgotten, in
/// percent.
const ALMOST_FULL: i64 = 95;
const HYSTERESIS: i64 = 3;

/// Returns the level of a share in percent, if owners are warned from `warning` on and know of `known`.
fn level_of(percent: i64, warning: i64, known: i64) -> i64 {
    let levels = [warning, warning.max(ALMOST_FULL)];
    let reached = levels.into_iter().rfind(|level| percent >= *level).unwrap_or(0);
    if reached < known && percent + HYSTERESIS >= known { known } else { reached }
}

/// Returns the share in percent from which on a warning that was sent still holds.
pub fn still_known_from(warning: i64) -> i64 {
    warning - HYSTERESIS
}

/// Warns the owners of the space in use, when it reaches `warning` percent and when it is almost full.
pub fn space_used(tx: &mut Tx<'_>, subject: Subject, warning: i64, usage: Usage) -> ApiResult<()> {
    let counter = match subject {
        Subject::Disk => DISK,
        Subject::UploadQuota => UPLOAD_QUOTA,
    };
    let known = known_level(tx, counter)?;
    let level = level_of(usage.percent, warning, known);
    if !change_level(tx, counter, level)? || level < known {
        return Ok(());
    }
    let parameters = usage.parameters();
    tell_owners(tx, |language| {
        let text = match subject {
            Subject::Disk => language.t(
                "The disk of this server is {percent} % full; {free} MiB are left. When it is full, no messages can be \
                 sent. The operator can free space on it.",
            ),
            Subject::UploadQuota => language.t(
                "Uploaded files take {percent} % of their quota; {free} MiB are left. When it is used up, uploads \
                 are refused. Old files can be deleted in the settings, or the operator can raise the quota.",
            ),
        };
        Words::filled(text, &parameters)
    })
}

/// Warns a person of the use of their own quota, when it reaches `warning` percent and when it is almost full.
pub fn own_quota_used(tx: &mut Tx<'_>, user_id: UserId, warning: i64, usage: Usage) -> ApiResult<()> {
    let counter = format!("{QUOTA_OF_PERSON}{user_id}");
    let known = known_level(tx, &counter)?;
    let level = level_of(usage.percent, warning, known);
    if !change_level(tx, &counter, level)? || level < known {
        return Ok(());
    }
    let language = user_settings::language_of(tx, user_id)?;
    let text = language.t(
        "Your uploaded files, with those of your bots, take {percent} % of your quota; {free} MiB are left. When it is used up, \
         you cannot upload. You can delete old files in the settings.",
    );
    let address = notices::direct_address(tx, user_id)?;
    notices::send_as_notification_bot(tx, address, Words::filled(text, &usage.parameters()).into())
        .map(|_| ())
}

/// Forgets the warnings of all other people, whose quotas are no longer almost full.
pub fn forget_quotas_except(tx: &Tx<'_>, people: impl Iterator<Item = UserId>) -> ApiResult<()> {
    let kept: Vec<String> = people.map(|user_id| format!("{QUOTA_OF_PERSON}{user_id}")).collect();
    tx.execute_cached(
        "DELETE FROM counter
         WHERE name BETWEEN ?1 AND ?1 || ':' AND name NOT IN (SELECT value FROM json_each(?2))",
        (QUOTA_OF_PERSON, serde_json::to_string(&kept)?),
    )?;
    Ok(())
}

/// Sends each owner a direct message in their language.
fn tell_owners(tx: &mut Tx<'_>, words: impl Fn(Language) -> Words) -> ApiResult<()> {
    let owners = user_ids::owner_ids(tx)? - user_ids::bot_ids(tx)?;
    for owner in owners {
        let owner = UserId(i64::from(owner));
        let address = notices::direct_address(tx, owner)?;
        let content: Composition = words(user_settings::language_of(tx, owner)?).into();
        notices::send_as_notification_bot(tx, address, content)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::domain::notices::operation::*;

    #[test]
    fn levels_are_left_only_when_the_share_is_clearly_below() {
        for (percent, known, level) in [
            (79, 0, 0),
            (80, 0, 80),
            (94, 0, 80),
            (95, 80, 95),
            (100, 0, 95),
            (92, 95, 95),
            (91, 95, 80),
            (78, 80, 80),
            (76, 80, 0),
            (10, 95, 0),
        ] {
            assert_eq!(level_of(percent, 80, known), level, "{percent} after {known}");
        }
        assert_eq!(level_of(99, 98, 0), 98);
    }
}

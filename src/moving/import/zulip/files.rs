//! Avatars, emoji, images of the organization, and uploads.

use crate::domain::files::names::is_path_id;
use crate::domain::images::realm::RealmImage;
use crate::moving::import::error::{ImportError, ImportResult};
use crate::moving::import::files::{
    NewEmoji, NewFile, Uploads, insert_avatar, insert_emoji, insert_realm_image,
};
use crate::moving::import::json;
use crate::moving::import::progress::Progress;
use crate::moving::import::report::Report;
use crate::moving::import::target::Target;
use crate::moving::import::unpack::Archive;
use crate::moving::import::zulip::organization::{Organization, REALM};
use crate::moving::import::zulip::tables::{Attachment, FileRecord};
use std::cell::Cell;
use std::collections::{BTreeMap, HashMap, HashSet};

/// Inserts all of them.
pub fn insert(
    target: &mut Target,
    archive: &Archive,
    organization: &mut Organization,
    progress: &Progress,
    report: &mut Report,
) -> ImportResult<()> {
    insert_avatars(target, archive, organization, progress, report)?;
    insert_all_emoji(target, archive, organization, progress, report).map_err(|error| error.or_in(REALM))?;
    insert_realm_images(target, archive, progress, report)?;
    insert_uploads(target, archive, organization, progress, report)
}

/// Reads the records of a folder, with the paths of the files. A missing folder has none.
fn records(
    archive: &Archive,
    folder: &str,
    progress: &Progress,
    mut on_record: impl FnMut(FileRecord) -> ImportResult<()>,
) -> ImportResult<()> {
    let name = format!("{folder}/records.json");
    let Some(path) = archive.find(&name)? else { return Ok(()) };
    json::read_list(&path, &name, progress, &mut |_, text| on_record(json::parse(text)?))
}

/// Keeps the path of a record: the original, or else the first one.
fn keep<K: Ord>(paths: &mut BTreeMap<K, String>, key: K, path: String, is_original: bool) {
    if is_original || !paths.contains_key(&key) {
        paths.insert(key, path);
    }
}

fn insert_avatars(
    target: &mut Target,
    archive: &Archive,
    organization: &Organization,
    progress: &Progress,
    report: &mut Report,
) -> ImportResult<()> {
    // The file as it was uploaded, or else the usual size.
    let mut paths: BTreeMap<u32, String> = BTreeMap::new();
    records(archive, "avatars", progress, |record| {
        let Some(user) = record.user_profile_id.map(|id| id.0) else { return Ok(()) };
        let is_original = record.path.ends_with(".original");
        let is_medium = record.path.contains("-medium");
        if !organization.user_ids.contains(&user) {
            return Err(ImportError::new(format!("there is no person {user}")));
        }
        if is_original || !is_medium {
            keep(&mut paths, user, record.path, is_original);
        }
        Ok(())
    })?;
    let versions: HashMap<u32, i64> =
        organization.people.iter().map(|person| (person.user_id, person.avatar_version)).collect();
    for (user, path) in paths.iter().filter(|(user, _)| organization.avatars.contains(user)) {
        let file = archive.file(&format!("avatars/{path}"))?;
        let version = versions.get(user).copied().unwrap_or(1);
        report.add_image("avatars", insert_avatar(target, *user, version, &file)?);
    }
    Ok(())
}

fn insert_all_emoji(
    target: &mut Target,
    archive: &Archive,
    organization: &mut Organization,
    progress: &Progress,
    report: &mut Report,
) -> ImportResult<()> {
    let mut paths: BTreeMap<String, String> = BTreeMap::new();
    records(archive, "emoji", progress, |record| {
        let is_original = record.path.ends_with(".original");
        if let Some(name) = record.file_name {
            keep(&mut paths, name, record.path, is_original);
        }
        Ok(())
    })?;
    let (mut active, mut names) = (HashSet::new(), HashSet::new());
    for emoji in std::mem::take(&mut organization.emoji) {
        if !emoji.deactivated && !active.insert(emoji.name.clone()) {
            let what = format!("zerver_realmemoji: the emoji {} is there twice", emoji.name);
            return Err(ImportError::in_file(REALM, what));
        }
        let path = emoji.file_name.as_ref().and_then(|name| paths.get(name));
        let file = path.map(|path| archive.file(&format!("emoji/{path}"))).transpose()?;
        let new = NewEmoji {
            id: Some(emoji.id.0),
            name: emoji.name,
            author: emoji
                .author
                .map(|author| author.0)
                .filter(|author| organization.user_ids.contains(author)),
            deactivated: emoji.deactivated,
            // The ending is that of the stored image.
            file: emoji
                .file_name
                .filter(|name| names.insert(name.rsplit_once('.').map(|(stem, _)| stem.to_owned()))),
        };
        let is_stored = match file {
            Some(file) => insert_emoji(target, new, &file)?,
            None => false,
        };
        if is_stored {
            organization.emoji_codes.insert(emoji.id.to_string());
        }
        report.add_image("emoji", is_stored);
    }
    Ok(())
}

fn insert_realm_images(
    target: &mut Target,
    archive: &Archive,
    progress: &Progress,
    report: &mut Report,
) -> ImportResult<()> {
    let mut paths: BTreeMap<&str, String> = BTreeMap::new();
    records(archive, "realm_icons", progress, |record| {
        let name = record.path.rsplit('/').next().unwrap_or_default();
        for kind in ["icon", "logo", "night_logo"] {
            let is_original = name == format!("{kind}.original");
            if is_original || name == format!("{kind}.png") {
                keep(&mut paths, kind, record.path.clone(), is_original);
            }
        }
        Ok(())
    })?;
    for kind in [RealmImage::Icon, RealmImage::Logo, RealmImage::NightLogo] {
        let Some(path) = paths.get(kind.name()) else { continue };
        let file = archive.file(&format!("realm_icons/{path}"))?;
        report.add_image("images of the organization", insert_realm_image(target, kind, &file)?);
    }
    Ok(())
}

fn insert_uploads(
    target: &mut Target,
    archive: &Archive,
    organization: &mut Organization,
    progress: &Progress,
    report: &mut Report,
) -> ImportResult<()> {
    const FILE: &str = "attachment.json";
    let mut places: HashMap<String, String> = HashMap::new();
    let mut records_without_rows: HashSet<String> = HashSet::new();
    records(archive, "uploads", progress, |record| {
        let address = record.s3_path.unwrap_or_else(|| record.path.clone());
        records_without_rows.insert(address.clone());
        if address != record.path {
            places.insert(address, record.path);
        }
        Ok(())
    })?;
    let (mut ids, mut uploads, mut count) = (HashSet::new(), Uploads::default(), 0);
    let is_there = Cell::new(false);
    let wanted = |table: &str| {
        let is_wanted = table == "zerver_attachment";
        is_there.set(is_there.get() || is_wanted);
        is_wanted
    };
    json::read_tables(&archive.file(FILE)?, FILE, progress, &wanted, &mut |_, text| {
        let row: Attachment = json::parse(text)?;
        if !ids.insert(row.id.0) {
            return Err(ImportError::new(format!("the file {} is there twice", row.id)));
        }
        // Files of mails to channels are of a bot of the server.
        let is_of_bot = organization.system_bots.values().any(|bot| *bot == row.owner.0);
        if !is_of_bot && !organization.user_ids.contains(&row.owner.0) {
            return Err(ImportError::new(format!("there is no person {}", row.owner)));
        }
        if !records_without_rows.remove(&row.path_id) {
            return Err(ImportError::new(format!("uploads/records.json has no {}", row.path_id)));
        }
        let place = places.get(&row.path_id).unwrap_or(&row.path_id);
        let path = archive.file(&format!("uploads/{place}"))?;
        // Readable exports write the file to this path. The records may have it elsewhere in the archive.
        if !is_path_id(&row.path_id) {
            return Err(ImportError::new(format!("{} is no path of a file", row.path_id)));
        }
        organization.attachments.extend(row.messages.iter().map(|message| (message.0, row.id.0)));
        let scheduled = row.scheduled_messages.iter().map(|message| (message.0, row.id.0));
        organization.scheduled_attachments.extend(scheduled);
        count += 1;
        let file = NewFile {
            id: Some(row.id.0),
            owner: row.owner.0,
            path_id: row.path_id,
            name: row.file_name,
            content_type: row.content_type,
            create_time: row.create_time.0,
            path,
        };
        uploads.add(target, file)
    })?;
    if !is_there.get() {
        return Err(ImportError::in_file(FILE, "the table zerver_attachment is missing"));
    }
    uploads.flush(target)?;
    organization.attachments.sort_unstable();
    report.attachments = count;
    let without_rows = records_without_rows.len() as u64;
    report.leave_out("files", without_rows, "nothing in the archive refers to them");
    Ok(())
}

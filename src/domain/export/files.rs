//! Uploaded files, avatars, custom emoji, and the organization's images.

use super::archive::Archive;
use super::error::Result;
use super::messages::Exported;
use super::organization::MAX_SMALL;
use super::report::LeftOut;
use super::scope::{Scope, digest};
use super::tables::REALM;
use super::tables::{Rows, Tables, emoji_file_name, id_in, time};
use crate::domain::files::blobs::{BlobReader, STORED_SIZE};
use crate::domain::files::names::{is_path_id, is_short, short_name};
use crate::domain::images::public;
use crate::domain::images::realm::RealmImage;
use crate::domain::{emoji, realm};
use crate::types::UserId;
use rusqlite::Connection;
use serde_json::{Value, json};
use std::io::Write;

/// The greatest size of a file that the published release stores. Larger files have all their bytes, and this size.
const MAX_SIZE: i32 = i32::MAX;

/// An uploaded file that messages of the archive link to.
struct Upload {
    owner: UserId,
    path_id: String,
    /// Its path below the folder of uploads: the path id, unless that is too long for file systems.
    path: String,
    size: u64,
    create_time: i64,
    content_id: i64,
}

/// Writes the files and their lists. Returns the number of uploaded files, and of those that are left out.
pub fn write<W: Write>(
    archive: &mut Archive<W>,
    connection: &Connection,
    scope: &Scope,
    exported: &Exported,
) -> Result<(u64, LeftOut)> {
    let counts = archive.add_written("attachment.json", |out| {
        let mut tables = Tables::begin(out)?;
        tables.table("zerver_attachment", |rows| attachments(rows, connection, exported))?;
        tables.end()
    })?;
    let count = uploads(archive, connection, scope, exported)?;
    avatars(archive, connection, scope)?;
    custom_emoji(archive, connection)?;
    realm_images(archive, connection)?;
    let outside = LeftOut { what: "uploaded files", count, why: "their paths lead out of the archive" };
    Ok((counts.get("zerver_attachment").copied().unwrap_or(0), outside))
}

/// Messages, or scheduled messages, that link to a file and are in the archive.
fn links(connection: &Connection, statement: &str, id: i64, keep: impl Fn(i64) -> bool) -> Result<Vec<i64>> {
    let mut statement = connection.prepare_cached(statement)?;
    let mut rows = statement.query([id])?;
    let mut ids = Vec::new();
    while let Some(row) = rows.next()? {
        let id = row.get(0)?;
        if keep(id) {
            ids.push(id);
        }
    }
    Ok(ids)
}

/// The messages and the scheduled messages of the archive that link to a file.
fn linking(connection: &Connection, exported: &Exported, id: i64) -> Result<(Vec<i64>, Vec<i64>)> {
    let messages = links(
        connection,
        "SELECT message_id FROM attachment_message WHERE attachment_id = ?1 ORDER BY message_id",
        id,
        |message| exported.has(message),
    )?;
    let scheduled = links(
        connection,
        "SELECT scheduled_message_id FROM attachment_scheduled_message
         WHERE attachment_id = ?1 ORDER BY scheduled_message_id",
        id,
        |message| exported.has_scheduled(message),
    )?;
    Ok((messages, scheduled))
}

fn attachments(rows: &mut Rows<'_>, connection: &Connection, exported: &Exported) -> Result<()> {
    rows.select(
        connection,
        &format!(
            "SELECT id, 1 AS realm, user_id AS owner, path_id, name AS file_name, min({STORED_SIZE}, {MAX_SIZE}) AS size,
                 content_type, create_time AS \"create_time@\", NULL AS is_realm_public, NULL AS is_web_public
             FROM attachment ORDER BY id"
        ),
        [],
        |row| {
            let (messages, scheduled) = linking(connection, exported, id_in(row, "id"))?;
            let is_exported = !messages.is_empty() || !scheduled.is_empty();
            row.insert("messages".to_owned(), messages.into());
            row.insert("scheduled_messages".to_owned(), scheduled.into());
            Ok(is_exported && row["path_id"].as_str().is_some_and(is_path_id))
        },
    )
}

/// The uploaded files of the archive, by id. Returns the number of those that are left out, because their paths lead out of it.
fn for_each_upload(
    connection: &Connection,
    exported: &Exported,
    mut each: impl FnMut(Upload) -> Result<()>,
) -> Result<u64> {
    let mut outside = 0;
    let mut statement = connection.prepare(&format!(
        "SELECT id, user_id, path_id, {STORED_SIZE}, create_time, content_id FROM attachment ORDER BY id"
    ))?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let id = row.get(0)?;
        let (messages, scheduled) = linking(connection, exported, id)?;
        if messages.is_empty() && scheduled.is_empty() {
            continue;
        }
        let path_id: String = row.get(2)?;
        if !is_path_id(&path_id) {
            outside += 1;
            continue;
        }
        let renamed = || format!("{REALM}/{}", short_name(id, &path_id));
        each(Upload {
            owner: row.get(1)?,
            path: if is_short(&path_id) { path_id.clone() } else { renamed() },
            path_id,
            size: row.get::<_, i64>(3)?.unsigned_abs(),
            create_time: row.get(4)?,
            content_id: row.get(5)?,
        })?;
    }
    Ok(outside)
}

/// Writes the uploaded files. Returns the number of those that are left out.
fn uploads<W: Write>(
    archive: &mut Archive<W>,
    connection: &Connection,
    scope: &Scope,
    exported: &Exported,
) -> Result<u64> {
    archive.add_written("uploads/records.json", |out| {
        let mut list = List::begin(out)?;
        for_each_upload(connection, exported, |upload| {
            let mut record = record(scope, upload.owner, &upload.path, upload.size, upload.create_time);
            record["s3_path"] = upload.path_id.into();
            list.push(&record)
        })?;
        list.end()
    })?;
    for_each_upload(connection, exported, |upload| {
        let content = BlobReader::new(connection, upload.content_id);
        archive.add(&format!("uploads/{}", upload.path), upload.size, content)
    })
}

/// The record of a file of a user.
fn record(scope: &Scope, owner: UserId, path: &str, size: u64, modified: i64) -> Value {
    let of_person = scope.people.get(&owner).map(|person| &person.emails.1);
    let email = of_person.or_else(|| scope.system_bots.get(&owner).map(|bot| &bot.delivery_email));
    json!({
        "realm_id": REALM,
        "user_profile_id": owner,
        "user_profile_email": email,
        "path": path,
        "s3_path": path,
        "size": size,
        "last_modified": time(modified),
        "content_type": null,
    })
}

/// A list of records that is being written.
struct List<'w> {
    out: &'w mut dyn Write,
    is_empty: bool,
}

impl<'w> List<'w> {
    fn begin(out: &'w mut dyn Write) -> Result<Self> {
        out.write_all(b"[")?;
        Ok(Self { out, is_empty: true })
    }

    fn push(&mut self, record: &Value) -> Result<()> {
        self.out.write_all(if self.is_empty { b"\n" } else { b",\n" })?;
        self.is_empty = false;
        Ok(serde_json::to_writer(&mut *self.out, record)?)
    }

    fn end(self) -> Result<()> {
        Ok(self.out.write_all(b"]\n")?)
    }
}

/// Writes files that are small, and their list.
fn small_files<W: Write>(
    archive: &mut Archive<W>,
    folder: &str,
    files: impl Iterator<Item = Result<Option<(Value, Vec<u8>)>>>,
) -> Result<()> {
    let mut records = Vec::new();
    for file in files {
        let Some((record, content)) = file? else { continue };
        let path = record["path"].as_str().unwrap_or_default();
        archive.add_bytes(&format!("{folder}/{path}"), &content)?;
        records.push(record);
    }
    records.sort_by(|one, other| one["path"].as_str().cmp(&other["path"].as_str()));
    archive.add_bytes(&format!("{folder}/records.json"), &serde_json::to_vec(&records)?)
}

/// Uploaded avatars. The images are stored only as they were scaled, so the larger one is the original.
fn avatars<W: Write>(archive: &mut Archive<W>, connection: &Connection, scope: &Scope) -> Result<()> {
    let salt = realm::uuid(connection)?;
    let people = scope.people.iter().filter(|(_, person)| person.row.avatar.key.is_some());
    let files = people.flat_map(|(user_id, person)| {
        let version = person.row.avatar.version.min(MAX_SMALL);
        let name = digest(&[&user_id.to_string(), &version.to_string(), &salt], 40);
        [(".png", ""), ("-medium.png", "-medium"), (".original", "-medium")].map(|(ending, size)| {
            let Some((_, content)) = public::load(connection, &person.row.avatar.path(size))? else {
                return Ok(None);
            };
            let path = format!("{REALM}/{name}{ending}");
            let mut record = record(scope, *user_id, &path, content.len() as u64, person.row.date_joined);
            record["avatar_version"] = version.into();
            Ok(Some((record, content)))
        })
    });
    small_files(archive, "avatars", files)
}

fn custom_emoji<W: Write>(archive: &mut Archive<W>, connection: &Connection) -> Result<()> {
    let all = emoji::all(connection)?;
    let files = all.iter().flat_map(|emoji| {
        ["", ".original"].map(|ending| {
            let Some((_, content)) = public::load(connection, &emoji::image_path(&emoji.file))? else {
                return Ok(None);
            };
            let name = emoji_file_name(emoji.id, &emoji.file);
            let path = format!("{REALM}/emoji/images/{name}{ending}");
            let record = json!({
                "realm_id": REALM,
                "author": emoji.author_id,
                "path": path,
                "s3_path": path,
                "file_name": name,
                "name": emoji.name,
                "deactivated": emoji.deactivated,
            });
            Ok(Some((record, content)))
        })
    });
    small_files(archive, "emoji", files)
}

fn realm_images<W: Write>(archive: &mut Archive<W>, connection: &Connection) -> Result<()> {
    let settings = realm::settings::all(connection)?;
    let images = [RealmImage::Icon, RealmImage::Logo, RealmImage::NightLogo];
    let uploaded = images.into_iter().filter(|image| settings.value(&image.source()) == "U");
    let files = uploaded.flat_map(|image| {
        ["png", "original"].map(|ending| {
            let Some((_, content)) = public::load(connection, &image.path())? else { return Ok(None) };
            let path = format!("{REALM}/{}.{ending}", image.name());
            Ok(Some((json!({"realm_id": REALM, "path": path, "s3_path": path}), content)))
        })
    });
    small_files(archive, "realm_icons", files)
}

//! Patterns, profiles, and messages that are sent later.

use crate::domain::profile_fields::external_accounts::USERNAME;
use crate::domain::profile_fields::field::{FieldType, is_url};
use crate::domain::rendering::render_description_again;
use crate::domain::{access, files};
use crate::error::ok_unless_refused;
use crate::moving::import::descriptions;
use crate::moving::import::error::{ImportError, ImportResult};
use crate::moving::import::links::OldAddress;
use crate::moving::import::message::Renderer;
use crate::moving::import::report::Report;
use crate::moving::import::rows;
use crate::moving::import::target::Target;
use crate::moving::import::zulip::organization::{Organization, Place, REALM};
use crate::moving::import::zulip::tables::{ProfileFieldRow, ProfileValue, ScheduledMessage};
use crate::store::{ExecuteCached, Tx};
use crate::types::{MessageId, UserId, distinct};
use serde_json::Value;
use std::collections::{HashMap, HashSet};
use teamchat_markdown::Linkifier;

/// Inserts linkifiers, playgrounds, domains, descriptions and profiles.
pub fn insert_before_messages(
    target: &mut Target,
    organization: &mut Organization,
    addresses: &OldAddress,
    report: &mut Report,
) -> ImportResult<()> {
    insert_patterns(target, organization, report)?;
    let renderer = Renderer::of(organization, addresses);
    if let Some(reader) = &organization.reader {
        descriptions::insert_all(target, reader, &renderer, &organization.descriptions)?;
    }
    insert_profiles(target, organization, renderer, report)
}

/// Linkifiers, playgrounds and domains.
fn insert_patterns(
    target: &mut Target,
    organization: &mut Organization,
    report: &mut Report,
) -> ImportResult<()> {
    let mut rows = std::mem::take(&mut organization.linkifiers);
    let all = rows.len();
    let mut known = HashSet::new();
    rows.retain(|row| {
        Linkifier::compile(&row.pattern, &row.url_template).is_ok() && known.insert(row.pattern.clone())
    });
    report.leave_out(
        "linkifiers",
        (all - rows.len()) as u64,
        "their patterns or templates are not valid here, or are there twice",
    );
    rows.sort_by_key(|row| (row.order, row.id));
    report.add("linkifiers", rows.len());
    let mut playgrounds = std::mem::take(&mut organization.playgrounds);
    let all = playgrounds.len();
    for row in playgrounds.iter_mut().filter(|row| row.url_template.is_empty()) {
        row.url_template = format!("{}{{code}}", row.url_prefix.replace('{', "%7B").replace('}', "%7D"));
    }
    // Clients open these addresses.
    playgrounds
        .retain(|row| ["https://", "http://"].iter().any(|scheme| row.url_template.starts_with(scheme)));
    let left_out = (all - playgrounds.len()) as u64;
    report.leave_out("code playgrounds", left_out, NO_ADDRESSES);
    report.add("code playgrounds", playgrounds.len());
    let domains = std::mem::take(&mut organization.domains);
    report.add("domains", domains.len());
    target.run(move |tx| {
        for (position, row) in rows.iter().enumerate() {
            tx.execute_cached(
                "INSERT INTO linkifier (id, position, pattern, url_template) VALUES (?1, ?2, ?3, ?4)",
                (row.id.0, position as i64 + 1, &row.pattern, &row.url_template),
            )?;
        }
        for row in playgrounds {
            tx.execute_cached(
                "INSERT OR IGNORE INTO code_playground (id, name, pygments_language, url_template)
                 VALUES (?1, ?2, ?3, ?4)",
                (row.id.0, row.name, row.pygments_language, row.url_template),
            )?;
        }
        for row in domains {
            tx.execute_cached(
                "INSERT OR IGNORE INTO realm_domain (domain, allow_subdomains) VALUES (?1, ?2)",
                (row.domain.to_lowercase(), row.allow_subdomains),
            )?;
        }
        Ok(())
    })
}

/// The reason for which links are left out.
const NO_ADDRESSES: &str = "their links are not http or https addresses";

/// Profile fields and their values.
fn insert_profiles(
    target: &mut Target,
    organization: &mut Organization,
    renderer: Renderer,
    report: &mut Report,
) -> ImportResult<()> {
    let mut fields = std::mem::take(&mut organization.fields);
    let mut values = std::mem::take(&mut organization.values);
    let types: HashMap<u32, i64> = fields.iter().map(|field| (field.id.0, field.field_type)).collect();
    if let Some(value) = values.iter().find(|value| !types.contains_key(&value.field.0)) {
        let what = format!("zerver_customprofilefieldvalue: there is no field {}", value.field);
        return Err(ImportError::in_file(REALM, what));
    }
    let owners = values.iter().map(|value| value.user_profile);
    organization.check_people("zerver_customprofilefieldvalue", owners)?;
    // Clients open these addresses.
    let (all_fields, all_values) = (fields.len(), values.len());
    fields.retain(has_web_address);
    let kept: HashSet<u32> = fields.iter().map(|field| field.id.0).collect();
    values.retain(|value| {
        let is_link = types.get(&value.field.0) == Some(&FieldType::Url.code());
        kept.contains(&value.field.0) && (!is_link || is_url(&value.value))
    });
    report.leave_out("profile fields", (all_fields - fields.len()) as u64, NO_ADDRESSES);
    report.leave_out("values of profile fields", (all_values - values.len()) as u64, NO_ADDRESSES);
    report.add("profile fields", fields.len());
    report.add("values of profile fields", values.len());
    target.run(move |tx| {
        for field in &fields {
            insert_field(tx, field)?;
        }
        for value in &values {
            let caller = renderer.callers.get(&value.user_profile.0);
            let is_text = matches!(types.get(&value.field.0), Some(1 | 2));
            let earlier = value.rendered_value.as_deref().and_then(|html| renderer.references(html));
            let render =
                |caller| render_description_again(tx.ctx(caller), "", earlier.as_ref(), &value.value);
            // A text that is too much to render is shown as it is written.
            let html = match caller.filter(|_| is_text) {
                Some(caller) => ok_unless_refused(render(caller))?,
                None => None,
            };
            insert_value(tx, value, html.as_deref())?;
        }
        Ok(())
    })
}

/// False for an external account whose pattern is no address.
fn has_web_address(field: &ProfileFieldRow) -> bool {
    let data: Value = serde_json::from_str(&field.field_data).unwrap_or_default();
    let pattern = data.get("url_pattern").and_then(Value::as_str);
    pattern.is_none_or(|pattern| is_url(&pattern.replace(USERNAME, "username")))
}

fn insert_field(tx: &Tx<'_>, field: &ProfileFieldRow) -> rusqlite::Result<()> {
    tx.execute_cached(
        "INSERT INTO profile_field (id, name, type, hint, field_data, position, required, editable_by_user,
             display_in_profile_summary)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        (
            field.id.0,
            rows::allowed_name(&field.name, field.id.0.into()).as_ref(),
            field.field_type,
            &field.hint,
            &field.field_data,
            field.order,
            field.required,
            field.editable_by_user,
            field.display_in_profile_summary,
        ),
    )
}

fn insert_value(tx: &Tx<'_>, value: &ProfileValue, html: Option<&str>) -> rusqlite::Result<()> {
    tx.execute_cached(
        "INSERT OR IGNORE INTO profile_value (user_id, field_id, value, rendered_value)
         VALUES (?1, ?2, ?3, ?4)",
        (value.user_profile.0, value.field.0, &value.value, html),
    )
}

/// Inserts scheduled messages and reminders, and reports tables without a place here.
pub fn insert_after_messages(
    target: &mut Target,
    organization: &mut Organization,
    addresses: &mut OldAddress,
    report: &mut Report,
) -> ImportResult<()> {
    let ignored = std::mem::take(&mut organization.ignored);
    for (table, count) in ignored {
        report.leave_out(&table, count, "this server does not support the data of this table");
    }
    report.leave_out(
        "entries of the audit log",
        std::mem::take(&mut organization.other_audit),
        "the history of settings and accounts is not imported; the history of subscriptions is",
    );
    let mut scheduled = std::mem::take(&mut organization.scheduled);
    scheduled.retain(|row| !row.delivered);
    organization.check_people("zerver_scheduledmessage", scheduled.iter().map(|row| row.sender))?;
    let renderer = Renderer::of(organization, addresses);
    let attachments = std::mem::take(&mut organization.scheduled_attachments);
    let clients = std::mem::take(&mut organization.clients);
    let mut rows = Vec::with_capacity(scheduled.len());
    for mut row in scheduled {
        row.content = addresses.rewrite(&row.content).unwrap_or(row.content);
        let place = place_of(organization, &row)?;
        rows.push((row, place));
    }
    let all = rows.len();
    let mut lost = HashSet::new();
    for (row, _) in rows.iter().filter(|(row, _)| row.delivery_type == 2) {
        let message = row.reminder_target_message_id.map(|id| MessageId::from(id.0));
        let of = |id| target.read(|snapshot| Ok(access::messages::recipient_of(snapshot, id)?));
        if message.map(of).transpose()?.flatten().is_none() {
            lost.insert(row.id);
        }
    }
    rows.retain(|(row, _)| !lost.contains(&row.id));
    report.leave_out("reminders", (all - rows.len()) as u64, "their messages are not in the archive");
    let reminders = rows.iter().filter(|(row, _)| row.delivery_type == 2).count();
    report.add("reminders", reminders);
    report.add("scheduled messages", rows.len() - reminders);
    target.run(move |tx| {
        let mut ids = HashSet::new();
        for (row, place) in &rows {
            let caller = renderer.callers.get(&row.sender.0);
            let caller = caller.ok_or_else(|| ImportError::new("a sender was not imported"))?;
            let earlier = row.rendered_content.as_deref().and_then(|html| renderer.references(html));
            let html = renderer.text(tx.ctx(caller), earlier.as_ref(), &row.content)?.html;
            let client = row.sending_client.and_then(|client| clients.get(&client.0));
            let client = client.map_or("website", String::as_str);
            insert_scheduled(tx, row, place, client, &renderer.origin, &html)?;
            ids.insert(row.id.0);
        }
        for (message, attachment) in attachments.iter().filter(|(message, _)| ids.contains(message)) {
            files::claim_for_scheduled(tx, (*attachment).into(), (*message).into())?;
        }
        Ok(())
    })
}

/// The target of a scheduled message: a channel, or all people of a direct conversation.
enum ScheduledPlace {
    Channel(u32),
    Direct(Vec<UserId>),
}

fn place_of(organization: &Organization, row: &ScheduledMessage) -> ImportResult<ScheduledPlace> {
    let missing = || {
        let what = format!("zerver_scheduledmessage: there is no recipient {}", row.recipient);
        ImportError::in_file(REALM, what)
    };
    Ok(match organization.recipients.get(&row.recipient.0).ok_or_else(missing)? {
        Place::Channel(stream) => ScheduledPlace::Channel(*stream),
        Place::Person(user) => ScheduledPlace::Direct(distinct(vec![*user, UserId::from(row.sender.0)])),
        Place::Group(_) => {
            let own = organization.group_recipients.get(&row.recipient.0);
            let people = organization.conversations.iter().find(|(_, id)| Some(*id) == own);
            ScheduledPlace::Direct(people.map(|(people, _)| people.clone()).ok_or_else(missing)?)
        }
    })
}

fn insert_scheduled(
    tx: &Tx<'_>,
    row: &ScheduledMessage,
    place: &ScheduledPlace,
    client: &str,
    origin: &str,
    html: &str,
) -> ImportResult<()> {
    if row.delivery_type == 2 {
        let Some(message) = row.reminder_target_message_id else { return Ok(()) };
        tx.execute_cached(
            "INSERT INTO reminder (reminder_id, user_id, message_id, note, content, rendered_content,
                 scheduled_delivery_timestamp, origin, failed)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
            (
                row.id.0,
                row.sender.0,
                message.0,
                row.reminder_note.as_deref().unwrap_or_default(),
                &row.content,
                html,
                row.scheduled_timestamp.0,
                origin,
                row.failed,
            ),
        )?;
        return Ok(());
    }
    let (stream, people) = match place {
        ScheduledPlace::Channel(stream) => (Some(*stream), None),
        ScheduledPlace::Direct(people) => {
            (None, Some(serde_json::to_string(people).map_err(ImportError::new)?))
        }
    };
    tx.execute_cached(
        "INSERT INTO scheduled_message (scheduled_message_id, sender_id, stream_id, user_ids, topic, content,
             rendered_content, scheduled_delivery_timestamp, client, read_by_sender, origin, failed)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
        (
            row.id.0,
            row.sender.0,
            stream,
            people,
            if stream.is_some() { row.subject.as_str() } else { "" },
            &row.content,
            html,
            row.scheduled_timestamp.0,
            client,
            row.read_by_sender,
            origin,
            row.failed,
        ),
    )?;
    Ok(())
}

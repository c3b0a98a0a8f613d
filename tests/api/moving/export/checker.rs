//! A checker of archives, written from the description of the format: what the published importer refuses, and what it takes
//! but makes an organization of that does not work.

use super::archive::Archive;
use super::schema;
use crate::harness::SYSTEM_GROUPS;
use regex::Regex;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::sync::LazyLock;

/// Fails with everything that is wrong about an archive.
pub fn assert_sound(archive: &Archive) {
    let wrong = problems(archive);
    let shown: Vec<&String> = wrong.iter().take(30).collect();
    assert!(wrong.is_empty(), "{} problems:\n{shown:#?}", wrong.len());
}

/// Returns everything that is wrong about an archive.
pub fn problems(archive: &Archive) -> Vec<String> {
    let mut wrong = schema::check(archive);
    for check in [
        files,
        organization,
        people,
        groups,
        recipients,
        messages,
        edit_history,
        attachments,
        images,
        emoji_names,
    ] {
        check(archive, &mut wrong);
    }
    wrong
}

fn id(row: &Value, column: &str) -> i64 {
    row[column].as_i64().unwrap_or_else(|| panic!("{column} of {row}"))
}

fn by_id<'a>(archive: &'a Archive, table: &str) -> BTreeMap<i64, &'a Value> {
    archive.table(table).iter().map(|row| (id(row, "id"), row)).collect()
}

fn files(archive: &Archive, wrong: &mut Vec<String>) {
    for path in [
        "migration_status.json",
        "realm.json",
        "attachment.json",
        "avatars/records.json",
        "uploads/records.json",
    ] {
        if !archive.files.contains_key(path) {
            wrong.push(format!("{path} is missing"));
        }
    }
    let status = archive.json("migration_status.json");
    if status["zulip_version"] != "10.2" || !status["migrations_by_app"]["zerver"].is_array() {
        wrong.push("migration_status.json is not of release 10.2".to_owned());
    }
    let numbered: Vec<&String> = archive.files.keys().filter(|path| path.starts_with("messages-")).collect();
    for (index, path) in numbered.iter().enumerate() {
        if **path != format!("messages-{:06}.json", index + 1) {
            wrong.push(format!("{path} is number {}", index + 1));
        }
        if archive.json(path)["zerver_message"].as_array().unwrap().len() > 1000 {
            wrong.push(format!("{path} has more than 1000 messages"));
        }
    }
    for folder in ["uploads", "avatars", "emoji", "realm_icons"] {
        let list = format!("{folder}/records.json");
        if !archive.files.contains_key(&list) {
            continue;
        }
        let mut paths = BTreeSet::from([list.clone()]);
        for record in archive.json(&list).as_array().unwrap() {
            let path = record["path"].as_str().unwrap();
            let key = record["s3_path"].as_str().unwrap();
            // File systems allow 255 bytes for a name.
            let is_renamed = key.split('/').any(|name| name.len() > 240);
            let has_long_name = path.split('/').any(|name| name.len() > 240);
            if (key != path) != is_renamed || has_long_name || record["realm_id"] != 1 {
                wrong.push(format!("{list}: {record}"));
            }
            let file = format!("{folder}/{path}");
            match archive.files.get(&file) {
                None => wrong.push(format!("{file} is missing")),
                Some(content) => {
                    if record.get("size").is_some_and(|size| *size != content.len()) {
                        wrong.push(format!("{file} has {} bytes: {record}", content.len()));
                    }
                }
            }
            if !paths.insert(file) {
                wrong.push(format!("{path} twice"));
            }
        }
        let stray = archive.files.keys().filter(|path| path.starts_with(&format!("{folder}/")));
        wrong.extend(stray.filter(|path| !paths.contains(*path)).map(|path| format!("{path} has no record")));
    }
}

fn organization(archive: &Archive, wrong: &mut Vec<String>) {
    let [realm] = archive.table("zerver_realm") else {
        wrong.push("there is not one organization".to_owned());
        return;
    };
    for column in [
        "push_notifications_enabled_end_timestamp",
        "scheduled_deletion_date",
        "demo_organization_scheduled_deletion_date",
    ] {
        if !realm[column].is_null() {
            wrong.push(format!("{column} is not null"));
        }
    }
    let names: BTreeMap<i64, &Value> = archive
        .table("zerver_namedusergroup")
        .iter()
        .map(|group| (id(group, "id"), &group["name"]))
        .collect();
    let holder = |column: &str| names.get(&id(realm, column)).and_then(|name| name.as_str()).unwrap_or("");
    for (column, allowed) in [
        ("can_access_all_users_group", &["role:everyone", "role:members"][..]),
        (
            "can_create_web_public_channel_group",
            &["role:moderators", "role:administrators", "role:owners", "role:nobody"],
        ),
    ] {
        if !allowed.contains(&holder(column)) {
            wrong.push(format!("{column} is {}", holder(column)));
        }
    }
    for column in ["can_manage_all_groups", "can_manage_billing_group"] {
        if holder(column) == "role:nobody" {
            wrong.push(format!("{column} is nobody"));
        }
    }
    let log = archive.table("zerver_realmauditlog");
    if !log.iter().any(|event| event["event_type"] == 206) {
        wrong.push("no export is in the audit log".to_owned());
    }
    if archive.table("zerver_realmauthenticationmethod").is_empty() {
        wrong.push("there is no way to log in".to_owned());
    }
    if !archive.people().any(|person| person["role"] == 100) {
        wrong.push("there is no owner".to_owned());
    }
    let used: BTreeSet<i64> = [
        "zerver_message:sending_client",
        "zerver_scheduledmessage:sending_client",
        "zerver_userstatus:client",
    ]
    .iter()
    .filter_map(|place| place.split_once(':'))
    .flat_map(|(table, column)| archive.table(table).iter().map(move |row| id(row, column)))
    .collect();
    let clients: BTreeSet<i64> = by_id(archive, "zerver_client").into_keys().collect();
    if used != clients {
        wrong.push(format!("clients are {clients:?}, used are {used:?}"));
    }
}

/// True for an address that Django's validator accepts. Domains of other alphabets count in their ASCII form.
fn is_address(text: &str) -> bool {
    static LOCAL: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(?i)^[-!#$%&'*+/=?^_`{}|~0-9A-Z]+(\.[-!#$%&'*+/=?^_`{}|~0-9A-Z]+)*$").unwrap()
    });
    static DOMAIN: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(?i)^(?:[A-Z0-9](?:[A-Z0-9-]{0,61}[A-Z0-9])?\.)+[A-Z0-9-]{1,62}[A-Z0-9]$").unwrap()
    });
    let Some((local, domain)) = text.rsplit_once('@') else { return false };
    let ascii = url::Host::parse(domain).map_or_else(|_| domain.to_owned(), |host| host.to_string());
    LOCAL.is_match(local) && (domain == "localhost" || DOMAIN.is_match(&ascii))
}

fn people(archive: &Archive, wrong: &mut Vec<String>) {
    for person in archive.people() {
        for column in ["email", "delivery_email"] {
            if !is_address(person[column].as_str().unwrap()) {
                wrong.push(format!("{column} is no address: {person}"));
            }
        }
        for secret in ["password", "api_key", "uuid"] {
            if person.get(secret).is_some() {
                wrong.push(format!("{secret} is exported: {person}"));
            }
        }
        if person["is_bot"] == person["bot_type"].is_null() {
            wrong.push(format!("the type of a bot: {person}"));
        }
    }
    let dummies = archive.table("zerver_userprofile_mirrordummy");
    for (rows, is_dummy) in [(archive.table("zerver_userprofile"), false), (dummies, true)] {
        let mixed = rows.iter().filter(|row| row["is_mirror_dummy"] != is_dummy);
        wrong.extend(mixed.map(|row| format!("in the wrong table: {row}")));
        let active = rows.iter().filter(|row| is_dummy && row["is_active"] == true);
        wrong.extend(active.map(|row| format!("an active placeholder: {row}")));
    }
    for bot in archive.table("zerver_userprofile_crossrealm") {
        let known = ["notification-bot@zulip.com", "welcome-bot@zulip.com", "emailgateway@zulip.com"];
        if !known.contains(&bot["email"].as_str().unwrap()) {
            wrong.push(format!("an unknown bot: {bot}"));
        }
    }
    let newest = archive.table("zerver_userpresence").iter().map(|row| id(row, "last_update_id")).max();
    if archive.table("zerver_presencesequence").first().map(|row| id(row, "last_update_id"))
        != newest.or(Some(0))
    {
        wrong.push("the newest presence is not that of the sequence".to_owned());
    }
}

fn groups(archive: &Archive, wrong: &mut Vec<String>) {
    let named = archive.table("zerver_namedusergroup");
    let id_of = |name: &str| named.iter().find(|group| group["name"] == name).map(|group| id(group, "id"));
    let nobody = id_of("role:nobody");
    let mut members: BTreeMap<i64, BTreeSet<i64>> = BTreeMap::new();
    for row in archive.table("zerver_usergroupmembership") {
        members.entry(id(row, "user_group")).or_default().insert(id(row, "user_profile"));
    }
    let inclusions: BTreeSet<(i64, i64)> = archive
        .table("zerver_groupgroupmembership")
        .iter()
        .map(|row| (id(row, "supergroup"), id(row, "subgroup")))
        .collect();
    for (index, name) in SYSTEM_GROUPS.iter().enumerate() {
        let Some(group) = named.iter().find(|group| group["name"] == **name) else {
            wrong.push(format!("{name} is missing"));
            continue;
        };
        let settings = group.as_object().unwrap().iter().filter(|(column, _)| column.starts_with("can_"));
        let is_plain =
            group["is_system_group"] == true && group["creator"].is_null() && group["date_created"].is_null();
        if !is_plain
            || settings.clone().count() != 6
            || settings.clone().any(|(_, group)| group.as_i64() != nobody)
        {
            wrong.push(format!("a system group: {group}"));
        }
        let own = id(group, "id");
        let included: Vec<i64> =
            inclusions.iter().filter(|(group, _)| *group == own).map(|(_, sub)| *sub).collect();
        let expected: Vec<i64> =
            if index < 2 { Vec::new() } else { id_of(SYSTEM_GROUPS[index - 1]).into_iter().collect() };
        if included != expected {
            wrong.push(format!("{name} includes {included:?}, not {expected:?}"));
        }
        let role = match *name {
            "role:owners" => 100,
            "role:administrators" => 200,
            "role:moderators" => 300,
            "role:members" => 400,
            "role:everyone" => 600,
            _ => 0,
        };
        let holders: BTreeSet<i64> =
            archive.people().filter(|person| person["role"] == role).map(|person| id(person, "id")).collect();
        let own_members = members.get(&own).cloned().unwrap_or_default();
        let is_right = if *name == "role:fullmembers" {
            id_of("role:members")
                .and_then(|group| members.get(&group))
                .is_some_and(|all| own_members.is_subset(all))
                || own_members.is_empty()
        } else {
            own_members == holders
        };
        if !is_right {
            wrong.push(format!("{name} has {own_members:?}, not {holders:?}"));
        }
    }
    for group in named.iter().filter(|group| group["is_system_group"] == false) {
        let name = group["name"].as_str().unwrap();
        if ["@", "role:", "user:", "stream:", "channel:"].iter().any(|start| name.starts_with(start)) {
            wrong.push(format!("the name of a group: {name}"));
        }
    }
    let mut uses: BTreeMap<i64, usize> = BTreeMap::new();
    for table in ["zerver_realm", "zerver_stream", "zerver_namedusergroup"] {
        for row in archive.table(table) {
            let holders = row.as_object().unwrap().iter();
            let holders =
                holders.filter(|(column, _)| column.ends_with("_group") || column.starts_with("can_"));
            for holder in holders.filter_map(|(_, holder)| holder.as_i64()) {
                *uses.entry(holder).or_default() += 1;
            }
        }
    }
    let all: BTreeSet<i64> = by_id(archive, "zerver_usergroup").into_keys().collect();
    for group in named {
        if group["usergroup_ptr"] != group["id"] || !all.contains(&id(group, "id")) {
            wrong.push(format!("a group without its other row: {group}"));
        }
    }
    for group in all.iter().filter(|group| !named.iter().any(|named| named["id"] == **group)) {
        if uses.get(group) != Some(&1) {
            wrong.push(format!("the anonymous group {group} has {:?} uses", uses.get(group)));
        }
    }
}

fn recipients(archive: &Archive, wrong: &mut Vec<String>) {
    let kinds: BTreeMap<(i64, i64), i64> = archive
        .table("zerver_recipient")
        .iter()
        .map(|row| ((id(row, "type"), id(row, "type_id")), id(row, "id")))
        .collect();
    let subscribed: BTreeSet<(i64, i64)> = archive
        .table("zerver_subscription")
        .iter()
        .map(|row| (id(row, "user_profile"), id(row, "recipient")))
        .collect();
    let mut expected = BTreeSet::new();
    for person in archive.people() {
        let user = id(person, "id");
        expected.insert((1, user));
        let own = kinds.get(&(1, user)).copied().unwrap_or(0);
        if !subscribed.contains(&(user, own)) || person["recipient"] != own {
            wrong.push(format!("{user} has no recipient and subscription of their own"));
        }
        if subscribed.iter().any(|(other, recipient)| *recipient == own && *other != user) {
            wrong.push(format!("others are subscribed to {user}"));
        }
    }
    expected.extend(archive.table("zerver_stream").iter().map(|stream| (2, id(stream, "id"))));
    for group in archive.table("zerver_huddle") {
        let own = id(group, "id");
        expected.insert((3, own));
        let recipient = kinds.get(&(3, own)).copied().unwrap_or(0);
        let members: Vec<i64> =
            subscribed.iter().filter(|(_, other)| *other == recipient).map(|(user, _)| *user).collect();
        let text = members.iter().map(i64::to_string).collect::<Vec<_>>().join(",");
        let digest = ring::digest::digest(&ring::digest::SHA1_FOR_LEGACY_USE_ONLY, text.as_bytes());
        let hash = hex(digest.as_ref());
        if group["group_size"] != members.len() || group["huddle_hash"] != hash || members.len() < 3 {
            wrong.push(format!("a group of {members:?}: {group}"));
        }
    }
    let found: BTreeSet<(i64, i64)> = kinds.keys().copied().collect();
    if found != expected {
        wrong.push(format!(
            "recipients without their object, or the reverse: {:?}",
            found.symmetric_difference(&expected)
        ));
    }
    for topic in archive.table("zerver_usertopic") {
        if kinds.get(&(2, id(topic, "stream"))) != Some(&id(topic, "recipient")) {
            wrong.push(format!("the recipient of a topic: {topic}"));
        }
    }
}

fn messages(archive: &Archive, wrong: &mut Vec<String>) {
    let kinds: BTreeMap<i64, i64> =
        archive.table("zerver_recipient").iter().map(|row| (id(row, "id"), id(row, "type"))).collect();
    let accounts = by_id(archive, "zerver_userprofile");
    let mut known: BTreeMap<i64, &Value> = BTreeMap::new();
    let mut last = 0.0;
    for message in archive.table("zerver_message") {
        let sent = message["date_sent"].as_f64().unwrap();
        if sent < last {
            wrong.push(format!("dates descend: {message}"));
        }
        last = sent;
        let is_channel = kinds.get(&id(message, "recipient")) == Some(&2);
        if message["is_channel_message"] != is_channel || (!is_channel && message["subject"] != "") {
            wrong.push(format!("a direct message or not: {message}"));
        }
        known.insert(id(message, "id"), message);
    }
    let mut reached = BTreeSet::new();
    let files = archive.files.iter().filter(|(path, _)| path.starts_with("messages-"));
    for (path, content) in files {
        let file: Value = serde_json::from_slice(content).unwrap();
        reached.extend(file["zerver_message"].as_array().unwrap().iter().map(|message| id(message, "id")));
        for row in file["zerver_usermessage"].as_array().unwrap() {
            if !reached.contains(&id(row, "message")) {
                wrong.push(format!("{path} has a row before its message: {row}"));
            }
        }
    }
    for row in archive.table("zerver_usermessage") {
        let Some(message) = known.get(&id(row, "message")) else { continue };
        let flags = id(row, "flags_mask");
        if (flags & 2048 != 0) != (message["is_channel_message"] == false) {
            wrong.push(format!("the flag of direct messages: {row}"));
        }
        if flags & (128 | 256) != 0 || flags >= 8192 {
            wrong.push(format!("unknown flags: {row}"));
        }
        if !accounts.contains_key(&id(row, "user_profile")) {
            wrong.push(format!("a placeholder received a message: {row}"));
        }
    }
}

fn edit_history(archive: &Archive, wrong: &mut Vec<String>) {
    let mut users: BTreeSet<i64> = archive.people().map(|person| id(person, "id")).collect();
    users.extend(archive.table("zerver_userprofile_crossrealm").iter().map(|bot| id(bot, "id")));
    for message in archive.table("zerver_message") {
        let Some(text) = message["edit_history"].as_str() else { continue };
        let edits: Vec<Value> = serde_json::from_str(text).unwrap();
        let mut newest = None;
        for edit in &edits {
            let known = edit["user_id"].as_i64().is_some_and(|user| users.contains(&user));
            let has_html = edit.get("prev_content").is_none() || edit["prev_rendered_content"].is_string();
            let time = edit["timestamp"].as_i64();
            let descends = newest.is_none_or(|newest| time <= newest);
            if !known || !has_html || time.is_none() || !descends {
                wrong.push(format!("an edit: {edit} of {}", message["id"]));
            }
            newest = Some(time);
        }
        if edits.is_empty() || message["last_edit_time"].is_null() {
            wrong.push(format!("no edits, or no time of them: {message}"));
        }
    }
}

fn attachments(archive: &Archive, wrong: &mut Vec<String>) {
    let records = archive.json("uploads/records.json");
    let paths: BTreeSet<&str> =
        records.as_array().unwrap().iter().map(|record| record["s3_path"].as_str().unwrap()).collect();
    let rows = archive.table("zerver_attachment");
    let listed: BTreeSet<&str> = rows.iter().map(|row| row["path_id"].as_str().unwrap()).collect();
    if paths != listed {
        wrong.push(format!("files and their rows: {:?}", paths.symmetric_difference(&listed)));
    }
    let messages = by_id(archive, "zerver_message");
    for row in rows {
        let linking = row["messages"].as_array().unwrap();
        if linking.is_empty() && row["scheduled_messages"].as_array().unwrap().is_empty() {
            wrong.push(format!("a file without a message: {row}"));
        }
        for message in linking {
            if messages[&message.as_i64().unwrap()]["has_attachment"] != true {
                wrong.push(format!("has_attachment of {message}"));
            }
        }
    }
}

fn images(archive: &Archive, wrong: &mut Vec<String>) {
    let records = archive.json("avatars/records.json");
    let mut found: BTreeMap<i64, usize> = BTreeMap::new();
    for record in records.as_array().unwrap() {
        let user = id(record, "user_profile_id");
        *found.entry(user).or_default() += 1;
        let person = archive.people().find(|person| person["id"] == user).unwrap();
        if person["avatar_source"] != "U" || person["avatar_version"] != record["avatar_version"] {
            wrong.push(format!("an avatar: {record}"));
        }
    }
    for person in archive.people().filter(|person| person["avatar_source"] == "U") {
        if found.get(&id(person, "id")) != Some(&3) {
            wrong.push(format!("three images of {person}"));
        }
    }
    for emoji in archive.table("zerver_realmemoji") {
        for ending in ["", ".original"] {
            let path = format!("emoji/1/emoji/images/{}{ending}", emoji["file_name"].as_str().unwrap());
            if !archive.files.contains_key(&path) {
                wrong.push(format!("{path} is missing"));
            }
        }
    }
    let realm = &archive.table("zerver_realm")[0];
    for name in ["icon", "logo", "night_logo"] {
        let is_there = archive.files.contains_key(&format!("realm_icons/1/{name}.original"));
        if is_there != (realm[format!("{name}_source")] == "U") {
            wrong.push(name.to_string());
        }
    }
}

/// Active emoji have different names. Reactions and statuses with custom emoji name one that exists.
fn emoji_names(archive: &Archive, wrong: &mut Vec<String>) {
    let names: BTreeMap<String, &Value> = archive
        .table("zerver_realmemoji")
        .iter()
        .map(|emoji| (emoji["id"].to_string(), &emoji["name"]))
        .collect();
    let mut active = BTreeSet::new();
    for emoji in archive.table("zerver_realmemoji").iter().filter(|emoji| emoji["deactivated"] == false) {
        if !active.insert(emoji["name"].as_str().unwrap()) {
            wrong.push(format!("two active emoji have the name: {emoji}"));
        }
    }
    for table in ["zerver_reaction", "zerver_userstatus"] {
        for row in archive.table(table).iter().filter(|row| row["reaction_type"] == "realm_emoji") {
            if names.get(row["emoji_code"].as_str().unwrap()) != Some(&&row["emoji_name"]) {
                wrong.push(format!("{table}: {row}"));
            }
        }
    }
}

/// Changes a table and returns what the checker finds, for a test of the checker. The table is as before afterwards.
pub fn broken(table: &str, archive: &mut Archive, change: impl FnOnce(&mut Vec<Value>)) -> Vec<String> {
    let before = archive.tables.get(table).cloned().unwrap_or_default();
    let rows = archive.tables.entry(table.to_owned()).or_default();
    change(rows);
    let found = problems(archive);
    archive.tables.insert(table.to_owned(), before);
    found
}

/// Bytes in hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut hex, byte| {
        write!(hex, "{byte:02x}").unwrap();
        hex
    })
}

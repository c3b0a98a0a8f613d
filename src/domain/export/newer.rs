//! Settings and permissions that the published release does not know.

use super::error::Result;
use super::groups::{CHANNEL_PERMISSIONS, Groups};
use super::organization::{NEWER_PERMISSIONS, NEWER_REALM_SETTINGS};
use super::report::LeftOut;
use super::scope::published_settings;
use super::tables::Record;
use crate::domain::groups::owner::Owner;
use crate::domain::groups::permission::{RealmGroup, StreamSetting};
use crate::domain::realm;
use crate::domain::user_settings::table::PROPERTIES;
use rusqlite::Connection;
use serde_json::Value;

/// Counts those that differ from the defaults.
pub fn left_out(connection: &Connection) -> Result<[LeftOut; 3]> {
    let policies: i64 =
        connection.query_row("SELECT count(*) FROM stream WHERE topics_policy <> 'inherit'", [], |row| {
            row.get(0)
        })?;
    let settings = settings_of_people(connection)? + settings_of_realm(connection)?;
    let why = "the published release does not know them";
    Ok([
        LeftOut { what: "permissions", count: permissions(connection)?, why },
        LeftOut { what: "policies of topics for channels", count: policies.unsigned_abs(), why },
        LeftOut { what: "settings", count: settings, why },
    ])
}

fn permissions(connection: &Connection) -> Result<u64> {
    let groups = Groups::load(connection)?;
    let changed = groups.holders().filter(|(owner, setting, holder)| {
        let default = match owner {
            Owner::Realm => RealmGroup::named(setting)
                .filter(|permission| NEWER_PERMISSIONS.contains(permission))
                .map(RealmGroup::default_group),
            Owner::Stream(_) => StreamSetting::named(setting)
                .filter(|permission| !CHANNEL_PERMISSIONS.contains(permission))
                .map(StreamSetting::default_group),
            Owner::Group(_) => None,
        };
        default.is_some_and(|default| default.id() != *holder)
    });
    Ok(changed.count() as u64)
}

fn settings_of_people(connection: &Connection) -> Result<u64> {
    let mut statement = connection.prepare("SELECT property, value FROM user_setting")?;
    let mut rows = statement.query([])?;
    let mut count = 0;
    while let Some(row) = rows.next()? {
        let (name, value): (String, String) = (row.get(0)?, row.get(1)?);
        let value: Value = serde_json::from_str(&value)?;
        let known = PROPERTIES.iter().find(|property| property.name == name);
        if known.is_none_or(|property| property.default_value() == value) {
            continue;
        }
        let own: Record = [(name, value)].into_iter().collect();
        count += u64::from(published_settings(own.clone()) != own);
    }
    Ok(count)
}

fn settings_of_realm(connection: &Connection) -> Result<u64> {
    let settings = realm::settings::all(connection)?;
    let newer =
        realm::settings::PROPERTIES.iter().filter(|property| NEWER_REALM_SETTINGS.contains(&property.name));
    let changed = newer.filter(|property| *settings.value(property.name) != property.default_value());
    Ok(changed.count() as u64)
}

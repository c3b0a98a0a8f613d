//! Schemas that are generated from tables of the source instead of its types: settings and permissions.

use super::members::Members;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use teamchat::api::setting_params;
use teamchat::domain::groups::permission::{Permission, RealmGroup, StreamSetting, UserGroupSetting};
use teamchat::domain::{realm, user_settings};
use teamchat::types::{Effect, Kind, Property, SettingTable};

/// The schema of a setting's values.
pub fn schema_of_setting(property: &Property) -> Value {
    let mut schema = match property.kind {
        Kind::Bool(_) => json!({"type": "boolean"}),
        Kind::Number { .. } | Kind::Days | Kind::Channel => json!({"type": "integer"}),
        Kind::LimitSeconds(_) => json!({"type": ["integer", "null"]}),
        Kind::Text { .. } | Kind::Name { .. } | Kind::Language(_) => json!({"type": "string"}),
        Kind::Url { .. } => json!({"type": ["string", "null"]}),
        Kind::NumberOf(numbers, _) => json!({"type": "integer", "enum": numbers}),
        Kind::WordOf(words, _) => json!({"type": "string", "enum": words}),
    };
    let effect = described_effect(property.effect);
    let (about, default) = (property.about, property.default_value());
    schema["description"] = format!("{about}{effect} Default: {default}.").into();
    schema
}

/// The sentence about a setting without an effect, which follows its text.
pub fn described_effect(effect: Effect) -> String {
    match effect {
        Effect::Nowhere(why) => format!(" No effect on this server: {why}."),
        Effect::Server | Effect::Clients => String::new(),
    }
}

/// The settings of a table that are parameters.
pub fn settable(table: &str) -> Vec<(&'static str, Value)> {
    let rows: Vec<&Property> = match table {
        "RealmTable" => setting_params::settable::<realm::settings::RealmTable>().collect(),
        "Defaults" => setting_params::settable::<user_settings::table::Defaults>().collect(),
        "UserTable" => setting_params::settable::<user_settings::table::UserTable>().collect(),
        _ => panic!("{table} has no parameters"),
    };
    let schema = |row: &Property| {
        let mut schema = schema_of_setting(row);
        if matches!(row.kind, Kind::LimitSeconds(_) | Kind::Days) {
            schema["type"] = json!(["integer", "string"]);
        }
        schema
    };
    rows.into_iter().map(|row| (row.name, schema(row))).collect()
}

/// The permissions of a table.
pub fn permissions(table: &str) -> Option<Vec<Permission>> {
    match table {
        "RealmGroup" => Some(RealmGroup::ALL.map(RealmGroup::permission).into()),
        "StreamSetting" => Some(StreamSetting::ALL.map(StreamSetting::permission).into()),
        "UserGroupSetting" => Some(UserGroupSetting::ALL.map(UserGroupSetting::permission).into()),
        _ => None,
    }
}

/// Schemas of the settings of a table, one for each kind of values.
pub fn forms_of_settings(table: &str) -> Vec<Members> {
    match table {
        "RealmTable" => forms_of_table::<realm::settings::RealmTable>(),
        "Defaults" => forms_of_table::<user_settings::table::Defaults>(),
        "UserTable" => forms_of_table::<user_settings::table::UserTable>(),
        "DisplayTable" => forms_of_table::<user_settings::table::DisplayTable>(),
        "NotificationTable" => forms_of_table::<user_settings::table::NotificationTable>(),
        _ => panic!("{table} is no table of settings"),
    }
}

fn forms_of_table<T: SettingTable>() -> Vec<Members> {
    let mut kinds: Vec<(Value, BTreeSet<&str>)> = Vec::new();
    for property in T::rows() {
        let mut schema = schema_of_setting(property);
        schema["description"] = "Its new value.".into();
        match kinds.iter_mut().find(|(known, _)| *known == schema) {
            Some((_, names)) => drop(names.insert(property.name)),
            None => kinds.push((schema, BTreeSet::from([property.name]))),
        }
    }
    let form = |(schema, names): (Value, BTreeSet<&str>)| {
        let [name, value] = T::MEMBERS;
        let mut form = Members::default();
        let choices = json!({"type": "string", "enum": names, "description": "The name of the setting."});
        form.add(name, choices, true);
        form.add(value, schema, true);
        form
    };
    kinds.into_iter().map(form).collect()
}

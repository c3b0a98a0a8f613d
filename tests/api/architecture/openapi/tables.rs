//! What follows from tables of the source rather than from its types: settings and permissions.

use super::types::Members;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use teamchat::domain::groups::channel_settings::StreamSetting;
use teamchat::domain::groups::permission::UserGroupSetting;
use teamchat::domain::groups::realm_settings::RealmGroup;
use teamchat::domain::realm::settings as realm_settings;
use teamchat::domain::user_settings::table as user_settings;
use teamchat::types::{Kind, Property, SettingTable};

/// The schema of a setting's values.
pub fn schema_of_setting(property: &Property) -> Value {
    let mut schema = match property.kind {
        Kind::Bool(_) => json!({"type": "boolean"}),
        Kind::Number(_) => json!({"type": "integer"}),
        Kind::NumberOrNull(_) => json!({"type": ["integer", "null"]}),
        Kind::Text(_) => json!({"type": "string"}),
        Kind::TextOrNull(_) => json!({"type": ["string", "null"]}),
        Kind::NumberOf(numbers, _) => json!({"type": "integer", "enum": numbers}),
        Kind::WordOf(words, _) => json!({"type": "string", "enum": words}),
    };
    schema["description"] = format!("{} Default: {}.", property.about, property.default_value()).into();
    schema
}

/// The names of the permissions of an enum.
pub fn permissions(name: &str) -> Option<Vec<&'static str>> {
    match name {
        "RealmGroup" => Some(RealmGroup::ALL.map(RealmGroup::name).into()),
        "StreamSetting" => Some(StreamSetting::ALL.map(StreamSetting::name).into()),
        "UserGroupSetting" => Some(UserGroupSetting::ALL.map(UserGroupSetting::name).into()),
        _ => None,
    }
}

/// The members that tell of a setting of a table, in a form for each kind of values.
pub fn forms_of_settings(table: &str) -> Vec<Members> {
    match table {
        "RealmTable" => forms_of_table::<realm_settings::RealmTable>(),
        "Defaults" => forms_of_table::<user_settings::Defaults>(),
        "UserTable" => forms_of_table::<user_settings::UserTable>(),
        "DisplayTable" => forms_of_table::<user_settings::DisplayTable>(),
        "NotificationTable" => forms_of_table::<user_settings::NotificationTable>(),
        _ => panic!("{table} is no table of settings"),
    }
}

fn forms_of_table<T: SettingTable>() -> Vec<Members> {
    let timezone = std::slice::from_ref(user_settings::TIMEZONE);
    let all = [realm_settings::PROPERTIES, user_settings::PROPERTIES, timezone].concat();
    let mut kinds: Vec<(Value, BTreeSet<&str>)> = Vec::new();
    for property in all.iter().filter_map(|property| T::property(property.name)) {
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

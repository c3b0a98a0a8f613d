//! Profile fields: those of the workspace, whose names are not in an export, and those that all workspaces have.

use super::model::SlackUser;
use serde_json::Value;
use std::collections::HashMap;

/// A field, with the ids of people and their values.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Field {
    /// The name here.
    pub name: String,
    /// The values that are not empty.
    pub values: Vec<(String, String)>,
}

/// The fields that people have, in the order in which they occur.
pub fn fields(users: &[SlackUser]) -> Vec<Field> {
    let (mut fields, mut places): (Vec<Field>, HashMap<String, usize>) = (Vec::new(), HashMap::new());
    let mut numbers: HashMap<&str, usize> = HashMap::new();
    for user in users {
        let mut values: Vec<(String, &str)> = Vec::new();
        let own = user.profile.fields.as_object();
        for (key, field) in own.into_iter().flatten() {
            let Some(text) = field.get("value").and_then(Value::as_str).filter(|text| !text.is_empty())
            else {
                continue;
            };
            let next = numbers.len() + 1;
            let number = *numbers.entry(key).or_insert(next);
            values.push((format!("Slack custom field {number}"), text));
        }
        for (name, text) in [("phone", &user.profile.phone), ("skype", &user.profile.skype)] {
            values.extend(text.as_deref().map(|text| (name.to_owned(), text)));
        }
        for (name, text) in values.into_iter().filter(|(_, text)| !text.trim().is_empty()) {
            let place = *places.entry(name).or_insert_with_key(|name| {
                fields.push(Field { name: name.clone(), values: Vec::new() });
                fields.len() - 1
            });
            fields[place].values.push((user.id.clone(), text.to_owned()));
        }
    }
    fields
}

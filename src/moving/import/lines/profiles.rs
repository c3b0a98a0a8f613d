//! Profile fields of other products.

use crate::domain::profile_fields;
use crate::domain::profile_fields::field::{FieldType, ProfileField};
use crate::domain::rendering::render_description_again;
use crate::error::ok_unless_refused;
use crate::moving::import::error::ImportResult;
use crate::moving::import::lines::Importer;

/// The length up to which all values of a field are short texts, in characters.
const MAX_SHORT_LENGTH: usize = 50;

impl Importer<'_> {
    /// Adds a profile field of texts, with the values of users: their ids in lines, and the texts.
    pub fn add_profile_field(&mut self, name: &str, values: &[(String, String)]) -> ImportResult<()> {
        self.flush_people()?;
        let is_long = values.iter().any(|(_, text)| text.chars().count() > MAX_SHORT_LENGTH);
        let field = ProfileField {
            id: 0,
            name: name.to_owned(),
            r#type: if is_long { FieldType::LongText } else { FieldType::ShortText },
            hint: String::new(),
            field_data: String::new(),
            order: 0,
            required: false,
            editable_by_user: true,
            display_in_profile_summary: false,
        };
        let mut of_users = Vec::with_capacity(values.len());
        for (id, text) in values {
            let user = self.user(id)?;
            of_users.push((user, self.renderer.callers.get(&user).cloned(), text.clone()));
        }
        self.report.add("profile fields", 1);
        self.report.add("values of profile fields", of_users.len());
        self.target.run(move |tx| {
            let field = profile_fields::insert(tx, &field)?;
            for (user, caller, text) in &of_users {
                // A text that is too much to render is shown as it is written.
                let html = match caller {
                    Some(caller) => {
                        ok_unless_refused(render_description_again(tx.ctx(caller), "", None, text))?
                    }
                    None => None,
                };
                profile_fields::set_value(tx, (*user).into(), field, text, html.as_deref())?;
            }
            Ok(())
        })
    }
}

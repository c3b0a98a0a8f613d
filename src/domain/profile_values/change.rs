//! Setting and deleting a user's values of custom profile fields.

use crate::app::App;
use crate::auth::{Caller, Ctx};
use crate::domain::limits::MAX_PROFILE_VALUES_PER_REQUEST;
use crate::domain::profile_fields::field::{FieldType, ProfileField};
pub use crate::domain::profile_values::rules::NewValue;
use crate::domain::profile_values::{events, rules};
use crate::domain::rendering::{TimeLimit, on_snapshot, render_description};
use crate::domain::{limits, profile_fields};
use crate::error::{ApiError, ApiResult, ok_unless_refused};
use crate::store::{FollowUp, Tx};
use crate::types::UserId;
use rusqlite::Connection;
use serde::{Deserialize, Serialize};

/// A new value of a custom profile field.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct ValueChange {
    /// The id of the field.
    pub id: i64,
    /// The new value: a string, at most 50 characters for short text and 500 for long text; a list of user ids for
    /// people; null to delete it.
    pub value: NewValue,
}

/// Changes of values, with the HTML of those that are rendered.
#[derive(Debug, Default)]
pub struct RenderedChanges(Vec<(ValueChange, Option<String>)>);

/// Renders new values on a snapshot. Fails as [`set`] does.
pub async fn render(app: &App, caller: &Caller, changes: Vec<ValueChange>) -> ApiResult<RenderedChanges> {
    check_number(changes.len())?;
    let (caller, now) = (caller.clone(), app.clock.seconds());
    let texts: Vec<String> = changes
        .iter()
        .filter_map(|change| match &change.value {
            NewValue::Text(text) => Some(text.clone()),
            NewValue::Null | NewValue::UserIds(_) => None,
        })
        .collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    on_snapshot(app, Some(caller.quota_owner()), &texts, move |snapshot| {
        render_all(Ctx::new(snapshot, &caller, now), changes)
    })
    .await
}

/// Renders new values. Fails as [`set`] does.
pub fn render_all(ctx: Ctx<'_>, changes: Vec<ValueChange>) -> ApiResult<RenderedChanges> {
    let limit = TimeLimit::start();
    let render = |change: ValueChange| {
        limit.check()?;
        let field = load_editable(&ctx, ctx.caller, change.id)?;
        let value = rules::check(&ctx, ctx.caller, &field, &change.value)?;
        let value = value.filter(|_| field.r#type.is_rendered());
        let html = value.map(|value| render_description(ctx, "", &value)).transpose()?;
        Ok((change, html))
    };
    Ok(RenderedChanges(changes.into_iter().map(render).collect::<ApiResult<_>>()?))
}

/// Sets a user's values, all or none, and emits each that differs. Of a field that comes twice the last value counts. The
/// caller is the user or an administrator.
///
/// Fails with 400 for an unknown field (`Field id 7 not found.`), for a field that the caller may not change, and for a
/// value that does not fit the field's type.
pub fn set(tx: &mut Tx<'_>, caller: &Caller, user_id: UserId, changes: RenderedChanges) -> ApiResult<()> {
    let mut checked = Vec::with_capacity(changes.0.len());
    for (change, html) in changes.0 {
        let field = load_editable(tx, caller, change.id)?;
        let value = rules::check(tx, caller, &field, &change.value)?;
        checked.retain(|(other, _): &(ProfileField, _)| other.id != field.id);
        checked.push((field, value.map(|value| (value, html))));
    }
    for (field, value) in checked {
        store(tx, user_id, &field, value)?;
    }
    Ok(())
}

/// Deletes a user's values and emits the changes. Fields without a value are skipped.
pub fn delete(tx: &mut Tx<'_>, caller: &Caller, user_id: UserId, field_ids: &[i64]) -> ApiResult<()> {
    check_number(field_ids.len())?;
    for id in field_ids {
        let field = load_editable(tx, caller, *id)?;
        store(tx, user_id, &field, None)?;
    }
    Ok(())
}

/// Deletes all values of a user, also of fields that only administrators edit, and returns their number.
pub fn delete_all(tx: &mut Tx<'_>, user_id: UserId) -> ApiResult<usize> {
    let fields: Vec<i64> = tx
        .prepare_cached("SELECT field_id FROM profile_value WHERE user_id = ?1 ORDER BY field_id")?
        .query_map([user_id], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    for id in &fields {
        let field = profile_fields::load(tx, *id)?;
        store(tx, user_id, &field, None)?;
    }
    Ok(fields.len())
}

/// Number of values that one step of a job looks at.
const VALUES_PER_STEP: i64 = 50;

/// A list of which options were removed: the values that are no option of it any more are deleted. If many people have a value,
/// follow-up jobs look at the others. Values that are options again by then stay.
#[derive(Serialize, Deserialize)]
pub struct RemovedOptions {
    field_id: i64,
    /// The last user whose value was looked at.
    after: UserId,
}

impl RemovedOptions {
    /// All values of a field.
    pub fn of(field_id: i64) -> Self {
        Self { field_id, after: UserId(0) }
    }
}

impl FollowUp for RemovedOptions {
    const NAME: &'static str = "removed_options";

    fn run(mut self, tx: &mut Tx<'_>) -> ApiResult<()> {
        let field = ok_unless_refused(profile_fields::load(tx, self.field_id))?;
        let Some(field) = field.filter(|field| field.r#type == FieldType::Select) else { return Ok(()) };
        let options = field.data();
        let mut budget = tx.budget(Self::NAME);
        while budget.next_step() {
            let values = profile_fields::list_values(tx, field.id, self.after, VALUES_PER_STEP)?;
            let Some((last, _)) = values.last() else { return Ok(()) };
            self.after = *last;
            let removed = values.into_iter().filter(|(_, value)| !options.contains_key(value));
            let removed: Vec<UserId> = removed.map(|(user_id, _)| user_id).collect();
            for user_id in &removed {
                profile_fields::delete_value(tx, *user_id, field.id)?;
            }
            events::emit_values_deleted(tx, field.id, &removed)?;
        }
        tx.then(self)?;
        Ok(())
    }
}

/// Checks the number of values in a request.
fn check_number(count: usize) -> ApiResult<()> {
    limits::check("profile fields in one request", count, MAX_PROFILE_VALUES_PER_REQUEST)
}

/// Loads a field whose value the caller may change.
fn load_editable(connection: &Connection, caller: &Caller, id: i64) -> ApiResult<ProfileField> {
    let field = profile_fields::load(connection, id)?;
    if !field.editable_by_user && !caller.role.is_administrator() {
        return Err(ApiError::bad_request(
            "You are not allowed to change this field. Contact an administrator to update it.",
        ));
    }
    Ok(field)
}

fn store(
    tx: &mut Tx<'_>,
    user_id: UserId,
    field: &ProfileField,
    value: Option<(String, Option<String>)>,
) -> ApiResult<()> {
    if profile_fields::load_value(tx, user_id, field.id)?.as_ref() == value.as_ref().map(|(value, _)| value) {
        return Ok(());
    }
    let Some((value, rendered_value)) = value else {
        profile_fields::delete_value(tx, user_id, field.id)?;
        return events::emit_value_changed(tx, user_id, field.id, None, None);
    };
    profile_fields::set_value(tx, user_id, field.id, &value, rendered_value.as_deref())?;
    events::emit_value_changed(tx, user_id, field.id, Some(&value), rendered_value.as_deref())
}

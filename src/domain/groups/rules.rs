//! Permissions to change groups, and rules for their names.

use crate::auth::Ctx;
use crate::domain::groups::membership::Membership;
use crate::domain::groups::permission::RealmGroup;
use crate::domain::groups::permission::UserGroupSetting;
use crate::domain::groups::setting::Owner;
use crate::domain::groups::sql::GroupRow;
use crate::domain::groups::{realm_settings, setting, sql};
use crate::domain::look_alikes;
use crate::domain::look_alikes::Named;
use crate::error::{ApiError, ApiResult};
use crate::types::{GroupId, find_forbidden_in_name};
use rusqlite::Connection;

/// The longest name, in characters.
const MAX_NAME_LENGTH: usize = 100;

/// Prefixes of mentions and searches, which names must not begin with.
const RESERVED_PREFIXES: [&str; 5] = ["@", "role:", "user:", "stream:", "channel:"];

/// Characters that end a mention of a group or are markup in it.
const FORBIDDEN_IN_NAMES: [char; 3] = ['*', '`', '\\'];

/// Checks a name as a client sends it, and returns it without surrounding white space, which no mention could have.
pub fn check_name(text: &str) -> ApiResult<String> {
    let name = text.trim();
    if name.is_empty() {
        return Err(ApiError::bad_request("User group name can't be empty!"));
    }
    if name.chars().count() > MAX_NAME_LENGTH {
        return Err(ApiError::bad_request(format!(
            "User group name cannot exceed {MAX_NAME_LENGTH} characters."
        )));
    }
    let markup = name.chars().position(|character| FORBIDDEN_IN_NAMES.contains(&character));
    if let Some(index) = [find_forbidden_in_name(name), markup].into_iter().flatten().min() {
        let position = index + 1;
        return Err(ApiError::bad_request(format!(
            "Invalid character in user group name, at position {position}."
        )));
    }
    match RESERVED_PREFIXES.into_iter().find(|prefix| name.starts_with(prefix)) {
        None => Ok(name.to_owned()),
        Some(prefix) => Err(ApiError::bad_request(format!("User group name cannot start with '{prefix}'."))),
    }
}

/// Refuses a name that another group has, in use or not, or one that looks like it.
pub fn check_unique(connection: &Connection, name: &str, own: Option<GroupId>) -> ApiResult<()> {
    let mut is_taken = sql::with_name(connection, name)?.is_some_and(|other| Some(other) != own);
    for id in look_alikes::list(connection, Named::UserGroup, name)? {
        let other = sql::group(connection, GroupId(id))?.filter(|other| Some(other.id) != own);
        is_taken |= other.is_some_and(|other| look_alikes::is_confusable(name, &other.name));
    }
    if is_taken {
        return Err(ApiError::bad_request(format!("User group '{name}' already exists.")));
    }
    Ok(())
}

/// A group that clients may ask about.
pub fn find(connection: &Connection, group: GroupId) -> ApiResult<GroupRow> {
    sql::group(connection, group)?.ok_or_else(|| ApiError::bad_request("Invalid user group"))
}

/// A group that is in use.
pub fn find_active(connection: &Connection, group: GroupId) -> ApiResult<GroupRow> {
    let row = find(connection, group)?;
    if row.deactivated { Err(setting::is_deactivated()) } else { Ok(row) }
}

/// Permissions of a user on groups. Their memberships are loaded once.
pub struct Manager<'a> {
    ctx: Ctx<'a>,
    membership: Membership,
}

impl<'a> Manager<'a> {
    /// The caller of a context.
    pub fn new(ctx: Ctx<'a>) -> ApiResult<Self> {
        Ok(Self { ctx, membership: Membership::of(&ctx, ctx.caller.user_id, ctx.now)? })
    }

    /// Checks that the user has one of these permissions in a group. Users who may manage all groups, or this one, have
    /// all of them. System groups cannot be changed.
    pub fn require(&self, group: &GroupRow, settings: &[UserGroupSetting]) -> ApiResult<()> {
        if group.is_system_group {
            return Err(ApiError::insufficient_permission());
        }
        let permission = RealmGroup::CanManageAllGroups;
        if realm_settings::is_held(&self.ctx, self.ctx.caller, &self.membership, permission)? {
            return Ok(());
        }
        for setting in [UserGroupSetting::CanManage].iter().chain(settings) {
            if self.has(group, *setting)? {
                return Ok(());
            }
        }
        Err(ApiError::insufficient_permission())
    }

    /// True if the user has a permission of a group. A guest does not have one that may not be given to everyone.
    fn has(&self, group: &GroupRow, setting: UserGroupSetting) -> ApiResult<bool> {
        if self.ctx.caller.is_guest() && !setting.permission().allow_everyone_group {
            return Ok(false);
        }
        let default = setting.default_group(group.is_system_group);
        let holder = setting::group_of(&self.ctx, Owner::Group(group.id.0), setting.name(), default)?;
        Ok(self.membership.contains(holder))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_checked_as_published() {
        let long = "é".repeat(101);
        let spaced = format!("  {} ", &long[2..]);
        let cases = [
            ("crew", Ok("crew")),
            (" the crew\t", Ok("the crew")),
            (&long[2..], Ok(&long[2..])),
            (&spaced, Ok(&long[2..])),
            ("", Err("User group name can't be empty!")),
            (" \t", Err("User group name can't be empty!")),
            (&long, Err("User group name cannot exceed 100 characters.")),
            ("a\n# b", Err("Invalid character in user group name, at position 2.")),
            ("@crew", Err("User group name cannot start with '@'.")),
            ("role:crew", Err("User group name cannot start with 'role:'.")),
            ("user:crew", Err("User group name cannot start with 'user:'.")),
            ("stream:crew", Err("User group name cannot start with 'stream:'.")),
            ("channel:crew", Err("User group name cannot start with 'channel:'.")),
            (" @crew", Err("User group name cannot start with '@'.")),
            ("the role:crew", Ok("the role:crew")),
        ];
        for (name, expected) in cases {
            let checked = check_name(name);
            let checked = checked.as_ref().map(String::as_str).map_err(ApiError::msg);
            assert_eq!(checked, expected, "{name:?}");
        }
    }
}

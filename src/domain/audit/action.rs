//! The kinds of entries.

/// Defines the actions: each with its name, and its text in the program's log and in `docs/monitoring.md`.
macro_rules! actions {
    ($($variant:ident $name:literal $text:literal,)*) => {
        /// A kind of entry of the audit log.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Action {
            $(#[doc = $text] $variant,)*
        }

        impl Action {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The name, as stored and shown.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// A sentence for people.
            pub fn text(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }
        }
    };
}

actions! {
    Login "login" "a login",
    LoginFailed "login_failed" "a login failed",
    AccountLocked "account_locked" "an account was locked by wrong passwords",
    AccountUnlocked "account_unlocked" "an account was unlocked",
    SessionEnded "session_ended" "a session was ended",
    IdentityLinked "identity_linked" "an account was linked to a person at a provider",
    KeyCreated "key_created" "an API key was created",
    KeyRevoked "key_revoked" "an API key was revoked",
    PasswordSet "password_set" "a password was set",
    PasswordDeleted "password_deleted" "a password was deleted",
    PasswordLinkCreated "password_link_created" "a link to set a new password was created",
    AccountCreated "account_created" "an account was created",
    AccountDeactivated "account_deactivated" "an account was deactivated",
    AccountReactivated "account_reactivated" "an account was reactivated",
    AccountDeleted "account_deleted" "an account was deleted",
    AccountPurged "account_purged" "the content of an account was deleted",
    RoleChanged "role_changed" "a role was changed",
    NameChanged "name_changed" "the name of an account was changed",
    EmailChanged "email_changed" "the email of an account was changed",
    ProfileChanged "profile_changed" "the profile of an account was changed by another user",
    BotOwnerChanged "bot_owner_changed" "a bot got another owner",
    BotChanged "bot_changed" "a bot was changed",
    InvitationCreated "invitation_created" "an invitation was created",
    InvitationSent "invitation_sent" "an invitation was sent again, with a new link",
    InvitationRevoked "invitation_revoked" "an invitation was revoked",
    InvitationAccepted "invitation_accepted" "an invitation was accepted",
    SettingChanged "setting_changed" "a setting of the organization was changed",
    PermissionChanged "permission_changed" "a permission was changed",
    DefaultChanged "default_changed" "a default setting of new users was changed",
    OrganizationDeactivated "organization_deactivated" "the organization was deactivated",
    OrganizationReactivated "organization_reactivated" "the organization was reactivated",
    OrganizationExported "organization_exported" "an export of the organization was requested",
    OrganizationImported "organization_imported" "the organization was imported",
    AccountExported "account_exported" "the data of an account was exported",
    BackupCreated "backup_created" "a backup was made",
    BackupRestored "backup_restored" "a backup was restored",
    DatabaseRepaired "database_repaired" "the database was repaired",
    DatabaseCompacted "database_compacted" "the database file was compacted",
    GroupCreated "group_created" "a group was created",
    GroupChanged "group_changed" "a group was changed",
    GroupDeactivated "group_deactivated" "a group was deactivated",
    GroupReactivated "group_reactivated" "a group was reactivated",
    MembersChanged "members_changed" "the members of a group were changed",
    ChannelCreated "channel_created" "a channel was created",
    ChannelChanged "channel_changed" "a channel was changed",
    ChannelArchived "channel_archived" "a channel was archived",
    ChannelRestored "channel_restored" "a channel was restored",
    SubscribersChanged "subscribers_changed" "the subscribers of a channel were changed by another user",
    MessageDeleted "message_deleted" "a message of another user was deleted",
    TopicDeleted "topic_deleted" "messages of a topic were deleted",
    FileDeleted "file_deleted" "a file of another user was deleted",
    ItemCreated "item_created" "an emoji, linkifier, profile field or similar item was created",
    ItemChanged "item_changed" "an emoji, linkifier, profile field or similar item was changed",
    ItemDeleted "item_deleted" "an emoji, linkifier, profile field or similar item was deleted",
}

#[cfg(test)]
mod tests {
    use super::Action;

    #[test]
    fn names_of_actions_are_unique() {
        let mut names: Vec<&str> = Action::ALL.iter().map(|action| action.name()).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}

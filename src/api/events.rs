//! The list of all events. An event that is missing here cannot be emitted: that does not compile.

use crate::api::alert_words::AlertWordsChanged;
use crate::api::channel_folders::{FolderAdded, FolderUpdated, FoldersReordered};
use crate::api::code_playgrounds::PlaygroundsChanged;
use crate::api::domains::{DomainChanged, DomainRemoved};
use crate::api::drafts::{DraftRemoved, DraftsAdded};
use crate::api::exports::ExportsChanged;
use crate::api::linkifiers::LinkifiersChanged;
use crate::api::muted_users::MutedUsersChanged;
use crate::api::navigation_views::{ViewAdded, ViewChanged, ViewRemoved};
use crate::api::onboarding_steps::StepsChanged;
use crate::api::queues::heartbeat::Heartbeat;
use crate::api::reactions::ReactionChanged;
use crate::api::saved_snippets::{SnippetChanged, SnippetRemoved};
use crate::api::scheduled_messages::record::{
    ScheduledMessageAdded, ScheduledMessageChanged, ScheduledMessageRemoved,
};
use crate::api::submessages::add::SubmessageAdded;
use crate::api::typing::{Typing, TypingEdit};
use crate::domain::bots::events::{BotAdded, BotDeleted, BotUpdated};
use crate::domain::channels::default_groups::GroupsChanged;
use crate::domain::channels::events::{
    DefaultStreams, PeersChanged, StreamCreated, StreamDeleted, StreamUpdated,
};
use crate::domain::drafts::DraftChanged;
use crate::domain::emoji::events::EmojiChanged;
use crate::domain::files::record::{AttachmentChanged, AttachmentRemoved};
use crate::domain::groups::events::{GroupAdded, GroupUpdated, MembersChanged, SubgroupsChanged};
use crate::domain::groups::realm_settings::RealmPermissionUpdated;
use crate::domain::invites::events::InvitesChanged;
use crate::domain::messages::events::{FlagsChanged, MessageEdited, MessageSent, MessagesDeleted};
use crate::domain::messages::reminders::record::{ReminderAdded, ReminderRemoved};
use crate::domain::presence::PresenceChanged;
use crate::domain::profile_values::events::FieldsChanged;
use crate::domain::realm::events::{RealmDeactivated, RealmUpdated, RealmUpdatedDict, Restarted};
use crate::domain::subscriptions::events::{SubscriptionUpdated, SubscriptionsAdded, SubscriptionsRemoved};
use crate::domain::user_settings::events::{
    DefaultUpdated, DisplaySettingUpdated, ExportConsent, NotificationSettingUpdated, SettingUpdated,
};
use crate::domain::user_status::StatusChanged;
use crate::domain::user_topics::events::{MutedTopicsChanged, UserTopicChanged};
use crate::domain::users::events::{UserAdded, UserRemoved, UserUpdated};
use crate::events::register_events;

register_events! {
    /// All events. Rows of the log are read by it.
    pub static EVENTS = [
        AlertWordsChanged,
        AttachmentChanged,
        AttachmentRemoved,
        BotAdded,
        BotDeleted,
        BotUpdated,
        DefaultStreams,
        DefaultUpdated,
        DisplaySettingUpdated,
        DomainChanged,
        DomainRemoved,
        DraftChanged,
        DraftRemoved,
        DraftsAdded,
        EmojiChanged,
        ExportConsent,
        ExportsChanged,
        FieldsChanged,
        FlagsChanged,
        FolderAdded,
        FolderUpdated,
        FoldersReordered,
        GroupAdded,
        GroupUpdated,
        GroupsChanged,
        Heartbeat,
        InvitesChanged,
        LinkifiersChanged,
        MembersChanged,
        MessageEdited,
        MessageSent,
        MessagesDeleted,
        MutedTopicsChanged,
        MutedUsersChanged,
        NotificationSettingUpdated,
        PeersChanged,
        PlaygroundsChanged,
        PresenceChanged,
        ReactionChanged,
        RealmDeactivated,
        RealmPermissionUpdated,
        RealmUpdated,
        RealmUpdatedDict,
        Restarted,
        ReminderAdded,
        ReminderRemoved,
        ScheduledMessageAdded,
        ScheduledMessageChanged,
        ScheduledMessageRemoved,
        SettingUpdated,
        SnippetChanged,
        SnippetRemoved,
        StatusChanged,
        StepsChanged,
        StreamCreated,
        StreamDeleted,
        StreamUpdated,
        SubgroupsChanged,
        SubmessageAdded,
        SubscriptionUpdated,
        SubscriptionsAdded,
        SubscriptionsRemoved,
        Typing,
        TypingEdit,
        UserAdded,
        UserRemoved,
        UserTopicChanged,
        UserUpdated,
        ViewAdded,
        ViewChanged,
        ViewRemoved,
    ];
}

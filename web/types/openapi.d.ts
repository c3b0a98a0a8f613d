/** Written from `docs/openapi.yaml` by `node tests/web/types.js`. */

/** What operations answer, by method and path. */
export interface Replies {
  POST: {
    "/bots": CreatedBot;
    "/channel_folders/create": CreatedFolder;
    "/channels/create": CreatedChannel;
    "/drafts": CreatedDrafts;
    "/export/realm": StartedExport;
    "/invites/multiuse": InviteLink;
    "/messages": SendReply;
    "/messages/flags": UpdatedFlags;
    "/messages/flags/narrow": FlagsForNarrow;
    "/messages/render": RenderedMessage;
    "/realm/domains": NewDomain;
    "/realm/filters": AddedLinkifier;
    "/realm/playgrounds": AddedPlayground;
    "/realm/profile_fields": CreatedField;
    "/realm/test_welcome_bot_custom_message": TestMessage;
    "/register": State;
    "/reminders": CreatedReminder;
    "/saved_snippets": CreatedSnippet;
    "/scheduled_messages": CreatedScheduledMessage;
    "/user_groups/create": CreatedGroup;
    "/users": CreateUserCreatedUser;
    "/users/me/alert_words": AlertWordsAlertWords;
    "/users/me/presence": UpdateReply;
    "/users/me/subscriptions": SubscribeReply;
    [path: `/bots/${number}/api_key/regenerate`]: BotApiKey;
    [path: `/streams/${number}/delete_topic`]: DeletedTopic;
    [path: `/users/${number}/password_reset`]: ResetLink;
  };
  GET: {
    "/attachments": Attachments;
    "/audit_log": AuditLog;
    "/events": EventPage;
    "/export/realm": Exports;
    "/export/realm/consents": Consents;
    "/invites": Invites;
    "/messages": MessagePage;
    "/users/me/api_keys": ApiKeys;
    "/users/me/web_push": WebPushState;
    [path: `/bots/${number}/api_key`]: BotApiKey;
    [path: `/messages/${number}/history`]: HistoryHistory;
    [path: `/messages/${number}/read_receipts`]: ReadReceipts;
    [path: `/messages/${number}`]: OneMessage;
    [path: `/streams/${number}/email_address`]: EmailAddress;
    [path: `/streams/${number}/members`]: SubscriberIds;
    [path: `/users/me/${number}/topics`]: Topics;
  };
  PATCH: {
    "/realm": Record<string, unknown>;
    [path: `/bots/${number}`]: UpdatedBot;
    [path: `/messages/${number}`]: EditedMessage;
  };
  DELETE: {
    "/users/me/alert_words": AlertWordsAlertWords;
    "/users/me/avatar": OwnAvatar;
    "/users/me/subscriptions": UnsubscribeResult;
  };
}

export type AddedLinkifier = {
  id: number;
};

export type AddedPlayground = {
  id: number;
};

export type AlertWordsAlertWords = {
  alert_words: string[];
};

export type ApiKeys = {
  api_keys: KeyRecord[];
  current_api_key_id: number | null;
  sessions: SessionRecord[];
  current_session_id: number | null;
};

export type AttachmentRecord = {
  id: number;
  name: string;
  path_id: string;
  size: number;
  create_time: number;
  messages: LinkingMessage[];
};

export type Attachments = {
  attachments: AttachmentRecord[];
  upload_space_used: number;
};

export type AuditLog = {
  entries: AuditRecord[];
};

export type AuditRecord = {
  id: number;
  time: number;
  actor: string;
  actor_id: number | null;
  action: string;
  subject: string;
  subject_type: string;
  subject_id: number | null;
  address: string | null;
  before: unknown;
  after: unknown;
  times: number;
};

export type AuthenticationMethod = {
  enabled: boolean;
  available: boolean;
};

export type AuthenticationMethods = {
  Email: AuthenticationMethod;
  "OpenID Connect"?: AuthenticationMethod;
};

export type Billing = {
  has_pending_sponsorship_request: boolean;
};

export type BotApiKey = {
  api_key: string;
};

export type BotRecord = {
  email: string;
  user_id: number;
  full_name: string;
  bot_type: number | null;
  is_active: boolean;
  api_key?: string;
  default_sending_stream: string | null;
  default_events_register_stream: string | null;
  default_all_public_streams: boolean;
  avatar_url: string;
  owner_id: number | null;
  services: ServiceRecord[];
};

export type ChangedBot = {
  user_id: number;
  api_key: string;
} | {
  user_id: number;
  avatar_url: string;
} | {
  user_id: number;
  default_all_public_streams: boolean;
} | ({
  user_id: number;
  default_events_register_stream: string | null;
}) | ({
  user_id: number;
  default_sending_stream: string | null;
}) | {
  user_id: number;
  full_name: string;
} | {
  user_id: number;
  is_active: boolean;
} | ({
  user_id: number;
  owner_id: number | null;
}) | {
  user_id: number;
  services: ServiceRecord[];
};

export type ChangedField = {
  id: number;
  value: string | null;
  rendered_value?: string;
};

export type ChangedParts = {
  name?: string;
  is_pinned?: boolean;
};

export type ChangedPerson = {
  user_id: number;
  full_name: string;
} | {
  user_id: number;
  role: number;
} | {
  user_id: number;
  avatar_url: string;
  avatar_source: string;
  avatar_url_medium: string;
  avatar_version: number;
} | {
  user_id: number;
  email: string;
  timezone: string;
} | {
  user_id: number;
  bot_owner_id: number;
} | {
  user_id: number;
  new_email: string;
} | {
  user_id: number;
  custom_profile_field: ChangedField;
} | {
  user_id: number;
  is_active: boolean;
} | ({
  user_id: number;
  delivery_email: string | null;
});

export type ChannelFolder = {
  id: number;
  name: string;
  description: string;
  rendered_description: string;
  date_created: number;
  creator_id: number | null;
  order: number;
  is_archived: boolean;
};

export type ChannelRecord = {
  stream_id: number;
  name: string;
  is_archived: boolean;
  description: string;
  rendered_description: string;
  date_created: number;
  creator_id: number | null;
  invite_only: boolean;
  is_web_public: boolean;
  stream_post_policy: number;
  is_announcement_only: boolean;
  message_retention_days: number | null;
  history_public_to_subscribers: boolean;
  topics_policy: "inherit" | "allow_empty_topic" | "disable_empty_topic" | "empty_topic_only";
  first_message_id: number | null;
  folder_id: number | null;
  is_recently_active: boolean;
  can_add_subscribers_group: GroupSetting;
  can_administer_channel_group: GroupSetting;
  can_delete_any_message_group: GroupSetting;
  can_delete_own_message_group: GroupSetting;
  can_move_messages_out_of_channel_group: GroupSetting;
  can_move_messages_within_channel_group: GroupSetting;
  can_remove_subscribers_group: GroupSetting;
  can_resolve_topics_group: GroupSetting;
  can_send_message_group: GroupSetting;
  can_subscribe_group: GroupSetting;
  subscriber_count: number;
  stream_weekly_traffic: number | null;
  is_default?: boolean;
};

export type Choice = {
  name: string;
  id: number;
};

export type Consent = {
  user_id: number;
  consented: boolean;
};

export type Consents = {
  export_consents: Consent[];
};

export type CreateUserCreatedUser = {
  user_id: number;
};

export type CreatedBot = {
  user_id: number;
  username?: string;
  full_name?: string;
  api_key?: string;
  avatar_url: string;
  default_sending_stream: string | null;
  default_events_register_stream: string | null;
  default_all_public_streams: boolean;
};

export type CreatedChannel = {
  id: number;
};

export type CreatedDrafts = {
  ids: number[];
};

export type CreatedField = {
  id: number;
};

export type CreatedFolder = {
  channel_folder_id: number;
};

export type CreatedGroup = {
  group_id: number;
};

export type CreatedReminder = {
  reminder_id: number;
};

export type CreatedScheduledMessage = {
  scheduled_message_id: number;
};

export type CreatedSnippet = {
  saved_snippet_id: number;
};

export type DefaultGroupsGroupRecord = {
  name: string;
  id: number;
  description: string;
  streams: number[];
};

export type DeletedBot = {
  user_id: number;
};

export type DeletedStream = {
  stream_id: number;
};

export type DeletedTopic = {
  complete: boolean;
};

export type DirectGroup = {
  direct_members: number[];
  direct_subgroups: number[];
};

export type DisplayRecipient = string | Participant[];

export type Draft = {
  id: number;
  type: "" | "stream" | "private";
  to: number[];
  topic: string;
  content: string;
  timestamp: number;
};

export type EditPlace = {
  channel_id: number;
  topic: string;
  type: "channel";
} | {
  user_ids: number[];
  type: "direct";
};

export type EditRecord = {
  user_id: number | null;
  timestamp: number;
  prev_content?: string;
  prev_rendered_content?: string;
  prev_topic?: string;
  topic?: string;
  prev_stream?: number;
  stream?: number;
};

export type EditedMessage = {
  detached_uploads: AttachmentRecord[];
};

export type EmailAddress = {
  email: string;
};

export type EmojiRecord = {
  id: string;
  name: string;
  source_url: string;
  still_url: string | null;
  deactivated: boolean;
  author_id: number | null;
};

export type EmojisetChoice = {
  key: string;
  text: string;
};

export type Event = EventAlertWordsChanged | EventAttachmentChanged | EventAttachmentRemoved | EventBotAdded | EventBotDeleted | EventBotUpdated | EventDefaultStreams | EventDefaultUpdated | EventDisplaySettingUpdated | EventDomainChanged | EventDomainRemoved | EventDraftChanged | EventDraftRemoved | EventDraftsAdded | EventEmojiChanged | EventExportConsent | EventExportsChanged | EventFieldsChanged | EventFlagsChanged | EventFolderAdded | EventFolderUpdated | EventFoldersReordered | EventGroupAdded | EventGroupUpdated | EventGroupUpdatedGroupRemoved | EventGroupsChanged | EventHeartbeat | EventInvitesChanged | EventLinkifiersChanged | EventMembersChanged | EventMessageEdited | EventMessageSentNewMessage | EventMessagesDeleted | EventMutedTopicsChanged | EventMutedUsersChanged | EventNotificationSettingUpdated | EventPeersChanged | EventPlaygroundsChanged | EventPresenceChanged | EventPresenceChangedModernPresences | EventReactionChanged | EventRealmDeactivated | EventRealmPermissionUpdated | EventRealmUpdated | EventRealmUpdatedDict | EventReminderAdded | EventReminderRemoved | EventRestarted | EventScheduledMessageAdded | EventScheduledMessageChanged | EventScheduledMessageRemoved | EventSettingUpdated | EventSnippetChanged | EventSnippetRemoved | EventStatusChanged | EventStepsChanged | EventStreamCreated | EventStreamDeleted | EventStreamUpdated | EventSubgroupsChanged | EventSubmessageAdded | EventSubscriptionUpdated | EventSubscriptionsAdded | EventSubscriptionsRemoved | EventTyping | EventTypingEdit | EventUserAdded | EventUserRemoved | EventUserTopicChanged | EventUserUpdated | EventViewAdded | EventViewChanged | EventViewRemoved;

export type EventAlertWordsChanged = {
  alert_words: string[];
  type: "alert_words";
  id: number;
};

export type EventAttachmentChanged = {
  op: string;
  attachment: AttachmentRecord;
  upload_space_used: number;
  type: "attachment";
  id: number;
};

export type EventAttachmentRemoved = {
  attachment: RemovedAttachment;
  upload_space_used: number;
  type: "attachment";
  op: "remove";
  id: number;
};

export type EventBotAdded = {
  bot: BotRecord;
  type: "realm_bot";
  op: "add";
  id: number;
};

export type EventBotDeleted = {
  bot: DeletedBot;
  type: "realm_bot";
  op: "delete";
  id: number;
};

export type EventBotUpdated = {
  bot: ChangedBot;
  type: "realm_bot";
  op: "update";
  id: number;
};

export type EventDefaultStreams = {
  default_streams: number[];
  type: "default_streams";
  id: number;
};

export type EventDefaultUpdated = ({
  property: "color_scheme" | "demote_inactive_streams" | "realm_name_in_email_notifications_policy" | "user_list_style" | "web_mark_read_on_scroll_policy" | "web_stream_unreads_count_display_policy";
  value: 1 | 2 | 3;
  type: "realm_user_settings_defaults";
  op: "update";
  id: number;
}) | ({
  property: "automatically_follow_topics_where_mentioned" | "display_emoji_reaction_users" | "enable_desktop_notifications" | "enable_digest_emails" | "enable_drafts_synchronization" | "enable_followed_topic_audible_notifications" | "enable_followed_topic_desktop_notifications" | "enable_followed_topic_email_notifications" | "enable_followed_topic_push_notifications" | "enable_followed_topic_wildcard_mentions_notify" | "enable_offline_email_notifications" | "enable_offline_push_notifications" | "enable_online_push_notifications" | "enable_sounds" | "enable_stream_audible_notifications" | "enable_stream_desktop_notifications" | "enable_stream_email_notifications" | "enable_stream_push_notifications" | "enter_sends" | "fluid_layout_width" | "hide_ai_features" | "high_contrast_mode" | "left_side_userlist" | "message_content_in_email_notifications" | "pm_content_in_desktop_notifications" | "presence_enabled" | "receives_typing_notifications" | "send_private_typing_notifications" | "send_read_receipts" | "send_stream_typing_notifications" | "starred_message_counts" | "translate_emoticons" | "twenty_four_hour_time" | "web_escape_navigates_to_home_view" | "web_left_sidebar_show_channel_folders" | "web_left_sidebar_unreads_count_summary" | "web_navigate_to_sent_message" | "web_suggest_update_timezone" | "wildcard_mentions_notify";
  value: boolean;
  type: "realm_user_settings_defaults";
  op: "update";
  id: number;
}) | ({
  property: "emojiset";
  value: "google" | "google-blob" | "twitter" | "text";
  type: "realm_user_settings_defaults";
  op: "update";
  id: number;
}) | ({
  property: "resolved_topic_notice_auto_read_policy";
  value: "always" | "except_followed" | "never";
  type: "realm_user_settings_defaults";
  op: "update";
  id: number;
}) | ({
  property: "web_animate_image_previews";
  value: "always" | "on_hover" | "never";
  type: "realm_user_settings_defaults";
  op: "update";
  id: number;
}) | ({
  property: "automatically_follow_topics_policy" | "automatically_unmute_topics_in_muted_streams_policy" | "desktop_icon_count_display" | "web_channel_default_view";
  value: 1 | 2 | 3 | 4;
  type: "realm_user_settings_defaults";
  op: "update";
  id: number;
}) | ({
  property: "email_notifications_batching_period_seconds" | "web_font_size_px" | "web_line_height_percent";
  value: number;
  type: "realm_user_settings_defaults";
  op: "update";
  id: number;
}) | ({
  property: "web_home_view";
  value: "recent_topics" | "inbox" | "all_messages";
  type: "realm_user_settings_defaults";
  op: "update";
  id: number;
}) | ({
  property: "notification_sound";
  value: "ding" | "none" | "zulip";
  type: "realm_user_settings_defaults";
  op: "update";
  id: number;
}) | ({
  property: "email_address_visibility";
  value: 1 | 2 | 3 | 4 | 5;
  type: "realm_user_settings_defaults";
  op: "update";
  id: number;
});

export type EventDisplaySettingUpdated = ({
  user: string;
  setting_name: "color_scheme" | "demote_inactive_streams";
  setting: 1 | 2 | 3;
  language_name?: string;
  type: "update_display_settings";
  id: number;
}) | ({
  user: string;
  setting_name: "default_language" | "timezone";
  setting: string;
  language_name?: string;
  type: "update_display_settings";
  id: number;
}) | ({
  user: string;
  setting_name: "emojiset";
  setting: "google" | "google-blob" | "twitter" | "text";
  language_name?: string;
  type: "update_display_settings";
  id: number;
}) | ({
  user: string;
  setting_name: "enable_drafts_synchronization" | "enter_sends" | "fluid_layout_width" | "high_contrast_mode" | "left_side_userlist" | "receives_typing_notifications" | "starred_message_counts" | "translate_emoticons" | "twenty_four_hour_time";
  setting: boolean;
  language_name?: string;
  type: "update_display_settings";
  id: number;
}) | ({
  user: string;
  setting_name: "web_home_view";
  setting: "recent_topics" | "inbox" | "all_messages";
  language_name?: string;
  type: "update_display_settings";
  id: number;
});

export type EventDomainChanged = {
  op: string;
  realm_domain: RealmDomain;
  type: "realm_domains";
  id: number;
};

export type EventDomainRemoved = {
  domain: string;
  type: "realm_domains";
  op: "remove";
  id: number;
};

export type EventDraftChanged = {
  draft: Draft;
  type: "drafts";
  op: "update";
  id: number;
};

export type EventDraftRemoved = {
  draft_id: number;
  type: "drafts";
  op: "remove";
  id: number;
};

export type EventDraftsAdded = {
  drafts: Draft[];
  type: "drafts";
  op: "add";
  id: number;
};

export type EventEmojiChanged = {
  realm_emoji: Record<string, EmojiRecord>;
  type: "realm_emoji";
  op: "update";
  id: number;
};

export type EventExportConsent = {
  user_id: number;
  consented: boolean;
  type: "realm_export_consent";
  id: number;
};

export type EventExportsChanged = {
  exports: ExportRecord[];
  type: "realm_export";
  id: number;
};

export type EventFieldsChanged = {
  fields: ProfileField[];
  type: "custom_profile_fields";
  id: number;
};

export type EventFlagsChanged = {
  op: string;
  operation: string;
  flag: string;
  messages: number[];
  all: boolean;
  message_details?: Record<string, UnreadDetail>;
  type: "update_message_flags";
  id: number;
};

export type EventFolderAdded = {
  channel_folder: ChannelFolder;
  type: "channel_folder";
  op: "add";
  id: number;
};

export type EventFolderUpdated = {
  channel_folder_id: number;
  data: FolderChange;
  type: "channel_folder";
  op: "update";
  id: number;
};

export type EventFoldersReordered = {
  order: number[];
  type: "channel_folder";
  op: "reorder";
  id: number;
};

export type EventGroupAdded = {
  group: GroupsGroupRecord;
  type: "user_group";
  op: "add";
  id: number;
};

export type EventGroupUpdated = {
  group_id: number;
  data: GroupChange;
  type: "user_group";
  op: "update";
  id: number;
};

export type EventGroupUpdatedGroupRemoved = {
  group_id: number;
  type: "user_group";
  op: "remove";
  id: number;
};

export type EventGroupsChanged = {
  default_stream_groups: DefaultGroupsGroupRecord[];
  type: "default_stream_groups";
  id: number;
};

export type EventHeartbeat = {
  type: "heartbeat";
  id: number;
};

export type EventInvitesChanged = {
  type: "invites_changed";
  id: number;
};

export type EventLinkifiersChanged = {
  realm_linkifiers: LinkifierRecord[];
  type: "realm_linkifiers";
  id: number;
};

export type EventMembersChanged = {
  op: string;
  group_id: number;
  user_ids: number[];
  type: "user_group";
  id: number;
};

export type EventMessageEdited = {
  user_id: number | null;
  rendering_only: boolean;
  message_id: number;
  message_ids: number[];
  edit_timestamp: number;
  stream_id?: number;
  stream_name?: string;
  new_stream_id?: number;
  propagate_mode?: "change_one" | "change_later" | "change_all";
  orig_subject?: string;
  subject?: string;
  topic_links?: TopicLink[];
  orig_content?: string;
  orig_rendered_content?: string;
  content?: string;
  rendered_content?: string;
  is_me_message?: boolean;
  flags: string[];
  type: "update_message";
  id: number;
};

export type EventMessageSentNewMessage = {
  message: MessageRecord;
  flags: string[];
  local_message_id?: string;
  type: "message";
  id: number;
};

export type EventMessagesDeleted = {
  message_ids?: number[];
  message_id?: number;
  message_type: "stream" | "private";
  stream_id?: number;
  topic?: string;
  type: "delete_message";
  id: number;
};

export type EventMutedTopicsChanged = {
  muted_topics: [string, string, number][];
  type: "muted_topics";
  id: number;
};

export type EventMutedUsersChanged = {
  muted_users: MutedUser[];
  type: "muted_users";
  id: number;
};

export type EventNotificationSettingUpdated = ({
  user: string;
  notification_name: "desktop_icon_count_display";
  setting: 1 | 2 | 3 | 4;
  type: "update_global_notifications";
  id: number;
}) | {
  user: string;
  notification_name: "email_notifications_batching_period_seconds";
  setting: number;
  type: "update_global_notifications";
  id: number;
} | ({
  user: string;
  notification_name: "enable_desktop_notifications" | "enable_digest_emails" | "enable_login_emails" | "enable_marketing_emails" | "enable_offline_email_notifications" | "enable_offline_push_notifications" | "enable_online_push_notifications" | "enable_sounds" | "enable_stream_audible_notifications" | "enable_stream_desktop_notifications" | "enable_stream_email_notifications" | "enable_stream_push_notifications" | "message_content_in_email_notifications" | "pm_content_in_desktop_notifications" | "presence_enabled" | "wildcard_mentions_notify";
  setting: boolean;
  type: "update_global_notifications";
  id: number;
}) | ({
  user: string;
  notification_name: "notification_sound";
  setting: "ding" | "none" | "zulip";
  type: "update_global_notifications";
  id: number;
}) | ({
  user: string;
  notification_name: "realm_name_in_email_notifications_policy";
  setting: 1 | 2 | 3;
  type: "update_global_notifications";
  id: number;
});

export type EventPage = {
  events: Event[];
  queue_id: string;
};

export type EventPeersChanged = {
  op: string;
  stream_ids: number[];
  user_ids: number[];
  type: "subscription";
  id: number;
};

export type EventPlaygroundsChanged = {
  realm_playgrounds: Playground[];
  type: "realm_playgrounds";
  id: number;
};

export type EventPresenceChanged = {
  user_id: number;
  email: string;
  server_timestamp: number;
  presence: LegacyPresence;
  type: "presence";
  id: number;
};

export type EventPresenceChangedModernPresences = {
  presences: Record<string, ModernPresence>;
  type: "presence";
  id: number;
};

export type EventReactionChanged = {
  op: string;
  message_id: number;
  emoji_name: string;
  emoji_code: string;
  reaction_type: string;
  user_id: number;
  user: ReactingUser;
  type: "reaction";
  id: number;
};

export type EventRealmDeactivated = {
  realm_id: number;
  type: "realm";
  op: "deactivated";
  id: number;
};

export type EventRealmPermissionUpdated = {
  data: {
    can_access_all_users_group?: GroupSetting;
    can_add_custom_emoji_group?: GroupSetting;
    can_add_subscribers_group?: GroupSetting;
    can_create_bots_group?: GroupSetting;
    can_create_groups?: GroupSetting;
    can_create_private_channel_group?: GroupSetting;
    can_create_public_channel_group?: GroupSetting;
    can_create_web_public_channel_group?: GroupSetting;
    can_create_write_only_bots_group?: GroupSetting;
    can_delete_any_message_group?: GroupSetting;
    can_delete_own_message_group?: GroupSetting;
    can_invite_users_group?: GroupSetting;
    can_manage_all_groups?: GroupSetting;
    can_manage_billing_group?: GroupSetting;
    can_mention_many_users_group?: GroupSetting;
    can_move_messages_between_channels_group?: GroupSetting;
    can_move_messages_between_topics_group?: GroupSetting;
    can_resolve_topics_group?: GroupSetting;
    can_set_delete_message_policy_group?: GroupSetting;
    can_set_topics_policy_group?: GroupSetting;
    can_summarize_topics_group?: GroupSetting;
    create_multiuse_invite_group?: GroupSetting;
    direct_message_initiator_group?: GroupSetting;
    direct_message_permission_group?: GroupSetting;
  };
  property: "default";
  type: "realm";
  op: "update_dict";
  id: number;
};

export type EventRealmUpdated = ({
  property: "allow_message_editing" | "avatar_changes_disabled" | "digest_emails_enabled" | "disallow_disposable_email_addresses" | "email_changes_disabled" | "emails_restricted_to_domains" | "enable_guest_user_dm_warning" | "enable_guest_user_indicator" | "enable_read_receipts" | "enable_spectator_access" | "inline_image_preview" | "inline_url_embed_preview" | "invite_required" | "message_content_allowed_in_email_notifications" | "name_changes_disabled" | "password_auth_enabled" | "presence_disabled" | "require_e2ee_push_notifications" | "require_unique_names" | "send_welcome_emails" | "want_advertise_in_communities_directory";
  value: boolean;
  type: "realm";
  op: "update";
  id: number;
}) | ({
  property: "default_code_block_language" | "default_language" | "description" | "name" | "rendered_description" | "welcome_message_custom_text";
  value: string;
  type: "realm";
  op: "update";
  id: number;
}) | ({
  property: "digest_weekday";
  value: 0 | 1 | 2 | 3 | 4 | 5 | 6;
  type: "realm";
  op: "update";
  id: number;
}) | ({
  property: "giphy_rating";
  value: 0 | 1 | 2 | 3 | 4 | 5;
  type: "realm";
  op: "update";
  id: number;
}) | ({
  property: "icon_source";
  value: "G" | "U";
  type: "realm";
  op: "update";
  id: number;
}) | ({
  property: "icon_version" | "logo_version" | "message_retention_days" | "moderation_request_channel_id" | "new_stream_announcements_stream_id" | "night_logo_version" | "signup_announcements_stream_id" | "waiting_period_threshold" | "zulip_update_announcements_stream_id";
  value: number;
  type: "realm";
  op: "update";
  id: number;
}) | ({
  property: "jitsi_server_url";
  value: string | null;
  type: "realm";
  op: "update";
  id: number;
}) | ({
  property: "logo_source" | "night_logo_source";
  value: "D" | "U";
  type: "realm";
  op: "update";
  id: number;
}) | ({
  property: "message_content_delete_limit_seconds" | "message_content_edit_limit_seconds" | "move_messages_between_streams_limit_seconds" | "move_messages_within_stream_limit_seconds";
  value: number | null;
  type: "realm";
  op: "update";
  id: number;
}) | ({
  property: "message_edit_history_visibility_policy";
  value: "all" | "moves" | "none";
  type: "realm";
  op: "update";
  id: number;
}) | ({
  property: "org_type";
  value: 0 | 10 | 20 | 30 | 35 | 40 | 50 | 60 | 70 | 80 | 90 | 100 | 1000;
  type: "realm";
  op: "update";
  id: number;
}) | ({
  property: "topics_policy";
  value: "allow_empty_topic" | "disable_empty_topic";
  type: "realm";
  op: "update";
  id: number;
}) | ({
  property: "video_chat_provider";
  value: 0 | 1;
  type: "realm";
  op: "update";
  id: number;
});

export type EventRealmUpdatedDict = ({
  data: {
    allow_message_editing: boolean;
  } | ({
    message_content_edit_limit_seconds: number | null;
  }) | {
    topics_policy: string;
    mandatory_topics: boolean;
  };
  property: "default";
  type: "realm";
  op: "update_dict";
  id: number;
}) | {
  data: {
    icon_url: string;
    icon_source: string;
  };
  property: "icon";
  type: "realm";
  op: "update_dict";
  id: number;
} | {
  data: {
    logo_url: string;
    logo_source: string;
  };
  property: "logo";
  type: "realm";
  op: "update_dict";
  id: number;
} | {
  data: {
    night_logo_url: string;
    night_logo_source: string;
  };
  property: "night_logo";
  type: "realm";
  op: "update_dict";
  id: number;
};

export type EventReminderAdded = {
  reminders: ReminderRecord[];
  type: "reminders";
  op: "add";
  id: number;
};

export type EventReminderRemoved = {
  reminder_id: number;
  type: "reminders";
  op: "remove";
  id: number;
};

export type EventRestarted = {
  zulip_version: string;
  zulip_merge_base: string;
  zulip_feature_level: number;
  server_generation: number;
  type: "restart";
  id: number;
};

export type EventScheduledMessageAdded = {
  scheduled_messages: ScheduledMessageRecord[];
  type: "scheduled_messages";
  op: "add";
  id: number;
};

export type EventScheduledMessageChanged = {
  scheduled_message: ScheduledMessageRecord;
  type: "scheduled_messages";
  op: "update";
  id: number;
};

export type EventScheduledMessageRemoved = {
  scheduled_message_id: number;
  type: "scheduled_messages";
  op: "remove";
  id: number;
};

export type EventSettingUpdated = ({
  property: "color_scheme" | "demote_inactive_streams" | "realm_name_in_email_notifications_policy" | "user_list_style" | "web_mark_read_on_scroll_policy" | "web_stream_unreads_count_display_policy";
  value: 1 | 2 | 3;
  language_name?: string;
  type: "user_settings";
  op: "update";
  id: number;
}) | ({
  property: "default_language" | "timezone";
  value: string;
  language_name?: string;
  type: "user_settings";
  op: "update";
  id: number;
}) | ({
  property: "allow_private_data_export" | "automatically_follow_topics_where_mentioned" | "display_emoji_reaction_users" | "enable_desktop_notifications" | "enable_digest_emails" | "enable_drafts_synchronization" | "enable_followed_topic_audible_notifications" | "enable_followed_topic_desktop_notifications" | "enable_followed_topic_email_notifications" | "enable_followed_topic_push_notifications" | "enable_followed_topic_wildcard_mentions_notify" | "enable_login_emails" | "enable_marketing_emails" | "enable_offline_email_notifications" | "enable_offline_push_notifications" | "enable_online_push_notifications" | "enable_sounds" | "enable_stream_audible_notifications" | "enable_stream_desktop_notifications" | "enable_stream_email_notifications" | "enable_stream_push_notifications" | "enter_sends" | "fluid_layout_width" | "hide_ai_features" | "high_contrast_mode" | "left_side_userlist" | "message_content_in_email_notifications" | "pm_content_in_desktop_notifications" | "presence_enabled" | "receives_typing_notifications" | "send_private_typing_notifications" | "send_read_receipts" | "send_stream_typing_notifications" | "starred_message_counts" | "translate_emoticons" | "twenty_four_hour_time" | "web_escape_navigates_to_home_view" | "web_left_sidebar_show_channel_folders" | "web_left_sidebar_unreads_count_summary" | "web_navigate_to_sent_message" | "web_suggest_update_timezone" | "wildcard_mentions_notify";
  value: boolean;
  language_name?: string;
  type: "user_settings";
  op: "update";
  id: number;
}) | ({
  property: "emojiset";
  value: "google" | "google-blob" | "twitter" | "text";
  language_name?: string;
  type: "user_settings";
  op: "update";
  id: number;
}) | ({
  property: "resolved_topic_notice_auto_read_policy";
  value: "always" | "except_followed" | "never";
  language_name?: string;
  type: "user_settings";
  op: "update";
  id: number;
}) | ({
  property: "web_animate_image_previews";
  value: "always" | "on_hover" | "never";
  language_name?: string;
  type: "user_settings";
  op: "update";
  id: number;
}) | ({
  property: "automatically_follow_topics_policy" | "automatically_unmute_topics_in_muted_streams_policy" | "desktop_icon_count_display" | "web_channel_default_view";
  value: 1 | 2 | 3 | 4;
  language_name?: string;
  type: "user_settings";
  op: "update";
  id: number;
}) | ({
  property: "email_notifications_batching_period_seconds" | "web_font_size_px" | "web_line_height_percent";
  value: number;
  language_name?: string;
  type: "user_settings";
  op: "update";
  id: number;
}) | ({
  property: "web_home_view";
  value: "recent_topics" | "inbox" | "all_messages";
  language_name?: string;
  type: "user_settings";
  op: "update";
  id: number;
}) | ({
  property: "notification_sound";
  value: "ding" | "none" | "zulip";
  language_name?: string;
  type: "user_settings";
  op: "update";
  id: number;
}) | ({
  property: "email_address_visibility";
  value: 1 | 2 | 3 | 4 | 5;
  language_name?: string;
  type: "user_settings";
  op: "update";
  id: number;
});

export type EventSnippetChanged = {
  op: string;
  saved_snippet: SavedSnippet;
  type: "saved_snippets";
  id: number;
};

export type EventSnippetRemoved = {
  saved_snippet_id: number;
  type: "saved_snippets";
  op: "remove";
  id: number;
};

export type EventStatusChanged = {
  user_id: number;
  away?: boolean;
  status_text?: string;
  emoji_name?: string;
  emoji_code?: string;
  reaction_type?: string;
  type: "user_status";
  id: number;
};

export type EventStepsChanged = {
  onboarding_steps: OnboardingStep[];
  type: "onboarding_steps";
  id: number;
};

export type EventStreamCreated = {
  streams: ChannelRecord[];
  type: "stream";
  op: "create";
  id: number;
};

export type EventStreamDeleted = {
  streams: DeletedStream[];
  stream_ids: number[];
  type: "stream";
  op: "delete";
  id: number;
};

export type EventStreamUpdated = {
  stream_id: number;
  name: string;
  value: string;
  rendered_description: string;
  property: "description";
  type: "stream";
  op: "update";
  id: number;
} | ({
  stream_id: number;
  name: string;
  value: number | null;
  property: "first_message_id";
  type: "stream";
  op: "update";
  id: number;
}) | ({
  stream_id: number;
  name: string;
  value: number | null;
  property: "folder_id";
  type: "stream";
  op: "update";
  id: number;
}) | {
  stream_id: number;
  name: string;
  value: boolean;
  history_public_to_subscribers: boolean;
  is_web_public: boolean;
  property: "invite_only";
  type: "stream";
  op: "update";
  id: number;
} | {
  stream_id: number;
  name: string;
  value: boolean;
  property: "is_announcement_only";
  type: "stream";
  op: "update";
  id: number;
} | {
  stream_id: number;
  name: string;
  value: boolean;
  property: "is_archived";
  type: "stream";
  op: "update";
  id: number;
} | {
  stream_id: number;
  name: string;
  value: boolean;
  property: "is_recently_active";
  type: "stream";
  op: "update";
  id: number;
} | ({
  stream_id: number;
  name: string;
  value: number | null;
  property: "message_retention_days";
  type: "stream";
  op: "update";
  id: number;
}) | {
  stream_id: number;
  name: string;
  value: string;
  property: "name";
  type: "stream";
  op: "update";
  id: number;
} | {
  stream_id: number;
  name: string;
  value: number;
  property: "stream_post_policy";
  type: "stream";
  op: "update";
  id: number;
} | ({
  stream_id: number;
  name: string;
  value: "inherit" | "allow_empty_topic" | "disable_empty_topic" | "empty_topic_only";
  property: "topics_policy";
  type: "stream";
  op: "update";
  id: number;
}) | ({
  stream_id: number;
  name: string;
  property: "can_add_subscribers_group" | "can_administer_channel_group" | "can_delete_any_message_group" | "can_delete_own_message_group" | "can_move_messages_out_of_channel_group" | "can_move_messages_within_channel_group" | "can_remove_subscribers_group" | "can_resolve_topics_group" | "can_send_message_group" | "can_subscribe_group";
  value: GroupSetting;
  type: "stream";
  op: "update";
  id: number;
});

export type EventSubgroupsChanged = {
  op: string;
  group_id: number;
  direct_subgroup_ids: number[];
  type: "user_group";
  id: number;
};

export type EventSubmessageAdded = {
  msg_type: string;
  message_id: number;
  submessage_id: number;
  sender_id: number;
  content: string;
  type: "submessage";
  id: number;
};

export type EventSubscriptionUpdated = {
  stream_id: number;
  property: string;
  value: SubscriptionValue;
  type: "subscription";
  op: "update";
  id: number;
};

export type EventSubscriptionsAdded = {
  subscriptions: SubscriptionsSubscriptionRecord[];
  type: "subscription";
  op: "add";
  id: number;
};

export type EventSubscriptionsRemoved = {
  subscriptions: RemovedSubscription[];
  type: "subscription";
  op: "remove";
  id: number;
};

export type EventTyping = ({
  op: "start" | "stop";
  sender: TypingPerson;
  stream_id: number;
  topic: string;
  message_type: "stream";
  type: "typing";
  id: number;
}) | ({
  op: "start" | "stop";
  sender: TypingPerson;
  recipients: TypingPerson[];
  message_type: "direct";
  type: "typing";
  id: number;
});

export type EventTypingEdit = {
  op: "start" | "stop";
  sender_id: number;
  message_id: number;
  recipient: EditPlace;
  type: "typing_edit_message";
  id: number;
};

export type EventUserAdded = {
  person: UserRecord;
  type: "realm_user";
  op: "add";
  id: number;
};

export type EventUserRemoved = {
  person: Removed;
  type: "realm_user";
  op: "remove";
  id: number;
};

export type EventUserTopicChanged = {
  stream_id: number;
  topic_name: string;
  last_updated: number;
  visibility_policy: number;
  type: "user_topic";
  id: number;
};

export type EventUserUpdated = {
  person: ChangedPerson;
  type: "realm_user";
  op: "update";
  id: number;
};

export type EventViewAdded = {
  navigation_view: NavigationView;
  type: "navigation_view";
  op: "add";
  id: number;
};

export type EventViewChanged = {
  fragment: string;
  data: ChangedParts;
  type: "navigation_view";
  op: "update";
  id: number;
};

export type EventViewRemoved = {
  fragment: string;
  type: "navigation_view";
  op: "remove";
  id: number;
};

export type ExportRecord = {
  id: number;
  acting_user_id: number;
  export_time: number;
  deleted_timestamp: number | null;
  failed_timestamp: number | null;
  export_url: string | null;
  pending: boolean;
  export_type: number;
};

export type Exports = {
  exports: ExportRecord[];
};

export type ExternalAccount = {
  text: string;
  name: string;
  hint: string;
  url_pattern: string;
};

export type FieldTypeRecord = {
  id: number;
  name: string;
};

export type FlagsForNarrow = {
  processed_count: number;
  updated_count: number;
  first_processed_id: number | null;
  last_processed_id: number | null;
  found_oldest: boolean;
  found_newest: boolean;
  ignored_because_not_subscribed_channels?: number[];
};

export type FolderChange = {
  name: string;
} | {
  is_archived: boolean;
} | {
  description: string;
  rendered_description: string;
};

export type GiphyRatings = {
  disabled: Choice;
  y: Choice;
  g: Choice;
  pg: Choice;
  "pg-13": Choice;
  r: Choice;
};

export type GroupChange = {
  name: string;
} | {
  description: string;
} | {
  deactivated: boolean;
} | {
  can_add_members_group?: GroupSetting;
  can_join_group?: GroupSetting;
  can_leave_group?: GroupSetting;
  can_manage_group?: GroupSetting;
  can_mention_group?: GroupSetting;
  can_remove_members_group?: GroupSetting;
};

export type GroupSetting = number | DirectGroup;

export type GroupsGroupRecord = {
  id: number;
  name: string;
  description: string;
  members: number[];
  direct_subgroup_ids: number[];
  is_system_group: boolean;
  creator_id: number | null;
  date_created: number | null;
  deactivated: boolean;
  can_add_members_group: GroupSetting;
  can_join_group: GroupSetting;
  can_leave_group: GroupSetting;
  can_manage_group: GroupSetting;
  can_mention_group: GroupSetting;
  can_remove_members_group: GroupSetting;
};

export type HistoryHistory = {
  message_history: HistorySnapshot[];
};

export type HistorySnapshot = {
  topic: string;
  content: string;
  rendered_content: string;
  timestamp: number;
  user_id: number | null;
  prev_topic?: string;
  stream?: number;
  prev_stream?: number;
  prev_content?: string;
  prev_rendered_content?: string;
  content_html_diff?: string;
};

export type IntegrationRecord = {
  name: string;
  display_name: string;
  all_event_types: string[] | null;
  config_options: never[];
  url_options: UrlOption[];
};

export type InviteLink = {
  invite_link: string;
};

export type InviteRecord = {
  id: number;
  invited_by_user_id: number | null;
  invited: number;
  expiry_date: number | null;
  invited_as: number;
  is_multiuse: boolean;
  notify_referrer_on_join: boolean;
  email?: string;
  link_url?: string;
};

export type Invites = {
  invites: InviteRecord[];
};

export type KeyRecord = {
  id: number;
  client: string;
  date_created: number;
  last_used: number | null;
};

export type LegacyPresence = {
  aggregated?: LegacyStatus;
  website: LegacyStatus;
};

export type LegacyStatus = {
  client: string;
  status: string;
  timestamp: number;
  pushable?: boolean;
};

export type LinkifierRecord = {
  pattern: string;
  url_template: string;
  id: number;
};

export type LinkingMessage = {
  id: number;
  date_sent: number;
};

export type MessagePage = {
  anchor?: number;
  found_anchor: boolean;
  found_oldest: boolean;
  found_newest: boolean;
  history_limited: boolean;
  messages: MessageRecord[];
};

export type MessageRecord = {
  id: number;
  content?: string;
  content_type: string;
  timestamp: number;
  client: string;
  subject: string;
  topic_links: TopicLink[];
  is_me_message: boolean;
  reactions: MessagesReaction[];
  submessages: Submessage[];
  edit_history?: EditRecord[];
  last_edit_timestamp?: number;
  last_moved_timestamp?: number;
  flags?: string[];
  match_content?: string;
  match_subject?: string;
  sender_id: number;
  sender_full_name: string;
  sender_email: string;
  sender_realm_str: string;
  avatar_url: string;
  recipient_id: number;
  display_recipient: DisplayRecipient;
  type: "stream" | "private";
  stream_id?: number;
};

export type MessagesReaction = {
  emoji_name: string;
  emoji_code: string;
  reaction_type: string;
  user_id: number;
};

export type ModernPresence = {
  active_timestamp: number;
  idle_timestamp: number;
};

export type MutedUser = {
  id: number;
  timestamp: number;
};

export type NavigationView = {
  fragment: string;
  is_pinned: boolean;
  name: string | null;
};

export type NewDomain = {
  new_domain: [number, string];
};

export type OnboardingStep = {
  type: string;
  name: string;
};

export type OneMessage = {
  raw_content: string;
  message: MessageRecord;
};

export type OwnAvatar = {
  avatar_url: string;
};

export type Participant = {
  id: number;
  email: string;
  full_name: string;
  is_mirror_dummy: boolean;
};

export type PermissionPermission = {
  require_system_group: boolean;
  allow_internet_group: boolean;
  allow_nobody_group: boolean;
  allow_everyone_group: boolean;
  default_group_name: string;
  default_for_system_groups: string | null;
  allowed_system_groups: string[];
};

export type PermissionSettings = {
  realm: Record<string, PermissionPermission>;
  stream: Record<string, PermissionPermission>;
  group: Record<string, PermissionPermission>;
};

export type Playground = {
  id: number;
  name: string;
  pygments_language: string;
  url_template: string;
};

export type PresenceList = {
  presences: Record<string, PresenceRecord>;
  server_timestamp: number;
  presence_last_update_id: number;
};

export type PresenceRecord = ModernPresence | LegacyPresence;

export type ProfileField = {
  id: number;
  name: string;
  type: number;
  hint: string;
  field_data: string;
  order: number;
  required: boolean;
  editable_by_user: boolean;
  display_in_profile_summary?: boolean;
};

export type ReactingUser = {
  user_id: number;
  email: string;
  full_name: string;
};

export type ReadReceipts = {
  user_ids: number[];
};

export type RealmDomain = {
  domain: string;
  allow_subdomains: boolean;
};

export type RecentConversation = {
  max_message_id: number;
  user_ids: number[];
};

export type ReminderRecord = {
  reminder_id: number;
  type: "stream" | "private";
  to: number[];
  content: string;
  rendered_content: string;
  scheduled_delivery_timestamp: number;
  failed: boolean;
  reminder_target_message_id: number;
};

export type Removed = {
  user_id: number;
  full_name: string;
};

export type RemovedAttachment = {
  id: number;
};

export type RemovedSubscription = {
  stream_id: number;
  name: string;
};

export type RenderedMessage = {
  rendered: string;
};

export type ResetLink = {
  password_reset_link: string;
  expiry_date: number;
};

export type SavedSnippet = {
  id: number;
  title: string;
  content: string;
  date_created: number;
};

export type ScheduledMessageRecord = {
  scheduled_message_id: number;
  type: "stream" | "private";
  to: To;
  topic?: string;
  content: string;
  rendered_content: string;
  scheduled_delivery_timestamp: number;
  failed: boolean;
};

export type SendReply = {
  id: number;
  automatic_new_visibility_policy?: number;
};

export type ServiceRecord = {
  base_url: string;
  interface: number;
  token: string;
};

export type SessionRecord = {
  id: number;
  client: string;
  address: string;
  date_created: number;
  last_used: number;
};

export type StartedExport = {
  id: number;
};

export type State = {
  alert_words?: string[];
  realm_bots?: BotRecord[];
  realm_embedded_bots?: never[];
  channel_folders?: ChannelFolder[];
  streams?: ChannelRecord[];
  realm_default_streams?: number[];
  realm_playgrounds?: Playground[];
  realm_default_stream_groups?: DefaultGroupsGroupRecord[];
  realm_domains?: RealmDomain[];
  drafts?: Draft[];
  realm_emoji?: Record<string, EmojiRecord>;
  realm_user_groups?: GroupsGroupRecord[];
  realm_incoming_webhook_bots?: IntegrationRecord[];
  realm_linkifiers?: LinkifierRecord[];
  realm_filters?: never[];
  max_message_id?: number;
  unread_msgs?: UnreadMessages;
  starred_messages?: number[];
  recent_private_conversations?: RecentConversation[];
  muted_users?: MutedUser[];
  navigation_views?: NavigationView[];
  push_devices?: Record<string, unknown>;
  onboarding_steps?: OnboardingStep[];
  navigation_tour_video_url?: string | null;
  presences?: Record<string, PresenceRecord>;
  server_timestamp?: number;
  presence_last_update_id?: number;
  custom_profile_fields?: ProfileField[];
  custom_profile_field_types?: Record<string, FieldTypeRecord>;
  last_event_id: number;
  queue_id?: string | null;
  idle_queue_timeout_secs?: number | null;
  zulip_version: string;
  zulip_feature_level: number;
  zulip_merge_base: string;
  svc_version: string;
  svc_feature_level: number;
  svc_merge_base: string;
  realm_create_public_stream_policy?: number;
  realm_create_private_stream_policy?: number;
  realm_create_web_public_stream_policy?: number;
  realm_wildcard_mention_policy?: number;
  realm_url?: string;
  realm_uri?: string;
  realm_bot_domain?: string;
  realm_date_created?: number;
  realm_icon_url?: string;
  realm_logo_url?: string;
  realm_night_logo_url?: string;
  realm_email_auth_enabled?: boolean;
  realm_authentication_methods?: AuthenticationMethods;
  realm_allow_edit_history?: boolean;
  realm_mandatory_topics?: boolean;
  realm_empty_topic_display_name?: string;
  jitsi_server_url?: string | null;
  can_create_public_streams?: boolean;
  can_create_private_streams?: boolean;
  can_create_streams?: boolean;
  can_create_web_public_streams?: boolean;
  can_subscribe_other_users?: boolean;
  can_invite_others_to_realm?: boolean;
  reminders?: ReminderRecord[];
  saved_snippets?: SavedSnippet[];
  scheduled_messages?: ScheduledMessageRecord[];
  max_message_length?: number;
  max_topic_length?: number;
  max_stream_name_length?: number;
  max_stream_description_length?: number;
  max_channel_folder_name_length?: number;
  max_channel_folder_description_length?: number;
  max_reminder_note_length?: number;
  max_bulk_new_subscription_messages?: number;
  max_avatar_file_size_mib?: number;
  max_icon_file_size_mib?: number;
  max_logo_file_size_mib?: number;
  max_file_upload_size_mib?: number;
  password_min_length?: number;
  password_max_length?: number;
  password_min_guesses?: number;
  server_presence_ping_interval_seconds?: number;
  server_presence_offline_threshold_seconds?: number;
  server_typing_started_expiry_period_milliseconds?: number;
  server_typing_stopped_wait_period_milliseconds?: number;
  server_typing_started_wait_period_milliseconds?: number;
  event_queue_longpoll_timeout_seconds?: number;
  server_generation?: number;
  realm_plan_type?: number;
  server_inline_image_preview?: boolean;
  server_inline_url_embed_preview?: boolean;
  zulip_plan_is_not_limited?: boolean;
  settings_send_digest_emails?: boolean;
  realm_push_notifications_enabled?: boolean;
  realm_push_notifications_enabled_end_timestamp?: number | null;
  server_web_public_streams_enabled?: boolean;
  server_can_summarize_topics?: boolean;
  server_avatar_changes_disabled?: boolean;
  server_name_changes_disabled?: boolean;
  server_needs_upgrade?: boolean;
  development_environment?: boolean;
  realm_is_zephyr_mirror_realm?: boolean;
  server_emoji_data_url?: string;
  server_supported_permission_settings?: PermissionSettings;
  server_thumbnail_formats?: ThumbnailFormat[];
  server_jitsi_server_url?: string | null;
  server_min_deactivated_realm_deletion_days?: number | null;
  server_max_deactivated_realm_deletion_days?: number | null;
  realm_upload_quota_mib?: number | null;
  upgrade_text_for_wide_organization_logo?: string;
  realm_default_external_accounts?: Record<string, ExternalAccount>;
  realm_available_video_chat_providers?: VideoChatProviders;
  giphy_rating_options?: GiphyRatings;
  realm_billing?: Billing;
  has_zoom_token?: boolean;
  giphy_api_key?: string;
  stop_words?: string[];
  subscriptions?: SubscriptionsSubscriptionRecord[];
  unsubscribed?: SubscriptionsSubscriptionRecord[];
  never_subscribed?: SubscriptionsSubscriptionRecord[];
  timezone?: string;
  emojiset_choices?: EmojisetChoice[];
  available_notification_sounds?: string[];
  user_status?: Record<string, StatusRecord>;
  user_topics?: UserTopicChanged[];
  muted_topics?: [string, string, number][];
  realm_users?: UserRecord[];
  realm_non_active_users?: UserRecord[];
  cross_realm_bots?: UserRecord[];
  user_id?: number;
  email?: string;
  delivery_email?: string;
  full_name?: string;
  avatar_source?: string;
  avatar_url?: string;
  avatar_url_medium?: string;
  is_owner?: boolean;
  is_admin?: boolean;
  is_moderator?: boolean;
  is_guest?: boolean;
  realm_allow_message_editing?: boolean;
  realm_avatar_changes_disabled?: boolean;
  realm_default_code_block_language?: string;
  realm_default_language?: string;
  realm_description?: string;
  realm_digest_emails_enabled?: boolean;
  realm_digest_weekday?: 0 | 1 | 2 | 3 | 4 | 5 | 6;
  realm_disallow_disposable_email_addresses?: boolean;
  realm_email_changes_disabled?: boolean;
  realm_emails_restricted_to_domains?: boolean;
  realm_enable_guest_user_dm_warning?: boolean;
  realm_enable_guest_user_indicator?: boolean;
  realm_enable_read_receipts?: boolean;
  realm_enable_spectator_access?: boolean;
  realm_giphy_rating?: 0 | 1 | 2 | 3 | 4 | 5;
  realm_icon_source?: "G" | "U";
  realm_inline_image_preview?: boolean;
  realm_inline_url_embed_preview?: boolean;
  realm_invite_required?: boolean;
  realm_jitsi_server_url?: string | null;
  realm_logo_source?: "D" | "U";
  realm_message_content_allowed_in_email_notifications?: boolean;
  realm_message_content_delete_limit_seconds?: number | null;
  realm_message_content_edit_limit_seconds?: number | null;
  realm_message_edit_history_visibility_policy?: "all" | "moves" | "none";
  realm_message_retention_days?: number;
  realm_moderation_request_channel_id?: number;
  realm_move_messages_between_streams_limit_seconds?: number | null;
  realm_move_messages_within_stream_limit_seconds?: number | null;
  realm_name?: string;
  realm_name_changes_disabled?: boolean;
  realm_new_stream_announcements_stream_id?: number;
  realm_night_logo_source?: "D" | "U";
  realm_org_type?: 0 | 10 | 20 | 30 | 35 | 40 | 50 | 60 | 70 | 80 | 90 | 100 | 1000;
  realm_password_auth_enabled?: boolean;
  realm_presence_disabled?: boolean;
  realm_require_e2ee_push_notifications?: boolean;
  realm_require_unique_names?: boolean;
  realm_send_welcome_emails?: boolean;
  realm_signup_announcements_stream_id?: number;
  realm_topics_policy?: "allow_empty_topic" | "disable_empty_topic";
  realm_video_chat_provider?: 0 | 1;
  realm_waiting_period_threshold?: number;
  realm_want_advertise_in_communities_directory?: boolean;
  realm_welcome_message_custom_text?: string;
  realm_zulip_update_announcements_stream_id?: number;
  realm_can_access_all_users_group?: GroupSetting;
  realm_can_add_custom_emoji_group?: GroupSetting;
  realm_can_add_subscribers_group?: GroupSetting;
  realm_can_create_bots_group?: GroupSetting;
  realm_can_create_groups?: GroupSetting;
  realm_can_create_private_channel_group?: GroupSetting;
  realm_can_create_public_channel_group?: GroupSetting;
  realm_can_create_web_public_channel_group?: GroupSetting;
  realm_can_create_write_only_bots_group?: GroupSetting;
  realm_can_delete_any_message_group?: GroupSetting;
  realm_can_delete_own_message_group?: GroupSetting;
  realm_can_invite_users_group?: GroupSetting;
  realm_can_manage_all_groups?: GroupSetting;
  realm_can_manage_billing_group?: GroupSetting;
  realm_can_mention_many_users_group?: GroupSetting;
  realm_can_move_messages_between_channels_group?: GroupSetting;
  realm_can_move_messages_between_topics_group?: GroupSetting;
  realm_can_resolve_topics_group?: GroupSetting;
  realm_can_set_delete_message_policy_group?: GroupSetting;
  realm_can_set_topics_policy_group?: GroupSetting;
  realm_can_summarize_topics_group?: GroupSetting;
  realm_create_multiuse_invite_group?: GroupSetting;
  realm_direct_message_initiator_group?: GroupSetting;
  realm_direct_message_permission_group?: GroupSetting;
  color_scheme?: 1 | 2 | 3;
  default_language?: string;
  demote_inactive_streams?: 1 | 2 | 3;
  emojiset?: "google" | "google-blob" | "twitter" | "text";
  enable_drafts_synchronization?: boolean;
  enter_sends?: boolean;
  fluid_layout_width?: boolean;
  high_contrast_mode?: boolean;
  left_side_userlist?: boolean;
  starred_message_counts?: boolean;
  translate_emoticons?: boolean;
  twenty_four_hour_time?: boolean;
  web_home_view?: "recent_topics" | "inbox" | "all_messages";
  desktop_icon_count_display?: 1 | 2 | 3 | 4;
  email_notifications_batching_period_seconds?: number;
  enable_desktop_notifications?: boolean;
  enable_digest_emails?: boolean;
  enable_login_emails?: boolean;
  enable_marketing_emails?: boolean;
  enable_offline_email_notifications?: boolean;
  enable_offline_push_notifications?: boolean;
  enable_online_push_notifications?: boolean;
  enable_sounds?: boolean;
  enable_stream_audible_notifications?: boolean;
  enable_stream_desktop_notifications?: boolean;
  enable_stream_email_notifications?: boolean;
  enable_stream_push_notifications?: boolean;
  message_content_in_email_notifications?: boolean;
  notification_sound?: "ding" | "none" | "zulip";
  pm_content_in_desktop_notifications?: boolean;
  realm_name_in_email_notifications_policy?: 1 | 2 | 3;
  wildcard_mentions_notify?: boolean;
  presence_enabled?: boolean;
  receives_typing_notifications?: boolean;
  user_settings?: UserSettings;
  realm_user_settings_defaults?: UserSettings;
};

export type StatusRecord = {
  away?: boolean;
  status_text?: string;
  emoji_name?: string;
  emoji_code?: string;
  reaction_type?: string;
};

export type Submessage = {
  id: number;
  message_id: number;
  sender_id: number;
  msg_type: string;
  content: string;
};

export type SubscribeReply = {
  subscribed: Record<string, string[]>;
  already_subscribed: Record<string, string[]>;
  unauthorized?: string[];
  new_subscription_messages_sent?: boolean;
};

export type SubscriberIds = {
  subscribers: number[];
};

export type SubscriptionValue = string | boolean;

export type SubscriptionsSubscriptionRecord = {
  stream_id: number;
  name: string;
  is_archived: boolean;
  description: string;
  rendered_description: string;
  date_created: number;
  creator_id: number | null;
  invite_only: boolean;
  is_web_public: boolean;
  stream_post_policy: number;
  is_announcement_only: boolean;
  message_retention_days: number | null;
  history_public_to_subscribers: boolean;
  topics_policy: "inherit" | "allow_empty_topic" | "disable_empty_topic" | "empty_topic_only";
  first_message_id: number | null;
  folder_id: number | null;
  is_recently_active: boolean;
  can_add_subscribers_group: GroupSetting;
  can_administer_channel_group: GroupSetting;
  can_delete_any_message_group: GroupSetting;
  can_delete_own_message_group: GroupSetting;
  can_move_messages_out_of_channel_group: GroupSetting;
  can_move_messages_within_channel_group: GroupSetting;
  can_remove_subscribers_group: GroupSetting;
  can_resolve_topics_group: GroupSetting;
  can_send_message_group: GroupSetting;
  can_subscribe_group: GroupSetting;
  subscriber_count: number;
  stream_weekly_traffic: number | null;
  is_default?: boolean;
  color?: string;
  is_muted?: boolean;
  in_home_view?: boolean;
  pin_to_top?: boolean;
  desktop_notifications?: boolean | null;
  audible_notifications?: boolean | null;
  push_notifications?: boolean | null;
  email_notifications?: boolean | null;
  wildcard_mentions_notify?: boolean | null;
  subscribers?: number[];
  partial_subscribers?: number[];
};

export type TestMessage = {
  message_id: number;
};

export type ThumbnailFormat = {
  name: string;
  max_width: number;
  max_height: number;
  format: string;
  animated: boolean;
};

export type To = number | number[];

export type TopicEntry = {
  name: string;
  max_id: number;
};

export type TopicLink = {
  text: string;
  url: string;
};

export type Topics = {
  topics: TopicEntry[];
};

export type TypingPerson = {
  user_id: number;
  email: string;
};

export type UnreadDetail = {
  stream_id: number;
  topic: string;
  unmuted_stream_msg: boolean;
  type: "stream";
  mentioned?: boolean;
} | {
  user_ids: number[];
  type: "private";
  mentioned?: boolean;
};

export type UnreadDirect = {
  other_user_id: number;
  sender_id: number;
  unread_message_ids: number[];
};

export type UnreadGroup = {
  user_ids_string: string;
  unread_message_ids: number[];
};

export type UnreadMessages = {
  count: number;
  pms: UnreadDirect[];
  streams: UnreadTopic[];
  huddles: UnreadGroup[];
  mentions: number[];
  old_unreads_missing: boolean;
};

export type UnreadTopic = {
  stream_id: number;
  topic: string;
  unread_message_ids: number[];
};

export type UnsubscribeResult = {
  removed: string[];
  not_removed: string[];
};

export type UpdateReply = Record<string, never> | PresenceList;

export type UpdatedBot = {
  full_name: string;
  avatar_url: string;
  service_interface: number;
  service_payload_url: string | null;
  config_data: unknown;
  default_sending_stream: string | null;
  default_events_register_stream: string | null;
  default_all_public_streams: boolean;
  bot_owner?: string;
};

export type UpdatedFlags = {
  messages: number[];
  ignored_because_not_subscribed_channels?: number[];
};

export type UrlOption = {
  key: string;
  label: string;
  validator: string;
};

export type UserRecord = {
  user_id: number;
  delivery_email: string | null;
  email: string;
  full_name: string;
  date_joined: string;
  is_active?: boolean;
  is_owner: boolean;
  is_admin: boolean;
  is_guest: boolean;
  is_bot: boolean;
  is_system_bot?: boolean;
  bot_type?: number;
  bot_owner_id?: number | null;
  role: number;
  timezone: string;
  avatar_url: string;
  avatar_version: number;
  profile_data?: Record<string, unknown>;
};

export type UserSettings = {
  color_scheme: 1 | 2 | 3;
  default_language: string;
  demote_inactive_streams: 1 | 2 | 3;
  display_emoji_reaction_users: boolean;
  emojiset: "google" | "google-blob" | "twitter" | "text";
  enable_drafts_synchronization: boolean;
  enter_sends: boolean;
  fluid_layout_width: boolean;
  hide_ai_features: boolean;
  high_contrast_mode: boolean;
  left_side_userlist: boolean;
  resolved_topic_notice_auto_read_policy: "always" | "except_followed" | "never";
  starred_message_counts: boolean;
  translate_emoticons: boolean;
  twenty_four_hour_time: boolean;
  user_list_style: 1 | 2 | 3;
  web_animate_image_previews: "always" | "on_hover" | "never";
  web_channel_default_view: 1 | 2 | 3 | 4;
  web_escape_navigates_to_home_view: boolean;
  web_font_size_px: number;
  web_home_view: "recent_topics" | "inbox" | "all_messages";
  web_left_sidebar_show_channel_folders: boolean;
  web_left_sidebar_unreads_count_summary: boolean;
  web_line_height_percent: number;
  web_mark_read_on_scroll_policy: 1 | 2 | 3;
  web_navigate_to_sent_message: boolean;
  web_stream_unreads_count_display_policy: 1 | 2 | 3;
  web_suggest_update_timezone: boolean;
  automatically_follow_topics_policy: 1 | 2 | 3 | 4;
  automatically_follow_topics_where_mentioned: boolean;
  automatically_unmute_topics_in_muted_streams_policy: 1 | 2 | 3 | 4;
  desktop_icon_count_display: 1 | 2 | 3 | 4;
  email_notifications_batching_period_seconds: number;
  enable_desktop_notifications: boolean;
  enable_digest_emails: boolean;
  enable_followed_topic_audible_notifications: boolean;
  enable_followed_topic_desktop_notifications: boolean;
  enable_followed_topic_email_notifications: boolean;
  enable_followed_topic_push_notifications: boolean;
  enable_followed_topic_wildcard_mentions_notify: boolean;
  enable_login_emails: boolean;
  enable_marketing_emails: boolean;
  enable_offline_email_notifications: boolean;
  enable_offline_push_notifications: boolean;
  enable_online_push_notifications: boolean;
  enable_sounds: boolean;
  enable_stream_audible_notifications: boolean;
  enable_stream_desktop_notifications: boolean;
  enable_stream_email_notifications: boolean;
  enable_stream_push_notifications: boolean;
  message_content_in_email_notifications: boolean;
  notification_sound: "ding" | "none" | "zulip";
  pm_content_in_desktop_notifications: boolean;
  realm_name_in_email_notifications_policy: 1 | 2 | 3;
  wildcard_mentions_notify: boolean;
  allow_private_data_export: boolean;
  email_address_visibility: 1 | 2 | 3 | 4 | 5;
  presence_enabled: boolean;
  receives_typing_notifications: boolean;
  send_private_typing_notifications: boolean;
  send_read_receipts: boolean;
  send_stream_typing_notifications: boolean;
  available_notification_sounds: string[];
  emojiset_choices: EmojisetChoice[];
  timezone?: string;
};

export type UserTopicChanged = {
  stream_id: number;
  topic_name: string;
  last_updated: number;
  visibility_policy: number;
};

export type VideoChatProviders = {
  disabled: Choice;
  jitsi_meet: Choice;
};

export type WebPushState = {
  public_key: string | null;
  subscription: WebPushSubscriptionRecord | null;
};

export type WebPushSubscriptionRecord = {
  endpoint: string;
  shows_content: boolean;
};

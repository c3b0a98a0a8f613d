import type * as openapi from "./openapi.js";
/** Objects of the interface, as far as the client reads them. Members that are not named here are `any`. */

export interface User {
  user_id: number;
  full_name: string;
  email: string;
  delivery_email?: string | null;
  avatar_url: string | null;
  avatar_version?: number;
  role: number;
  is_bot: boolean;
  is_active?: boolean;
  is_system_bot?: boolean;
  bot_owner_id?: number | null;
  timezone?: string;
  date_joined?: string;
  profile_data?: Record<string, { value: string; rendered_value?: string }>;
  [member: string]: any;
}

export interface Channel {
  stream_id: number;
  name: string;
  description: string;
  rendered_description: string;
  invite_only: boolean;
  is_web_public: boolean;
  is_archived: boolean;
  folder_id?: number | null;
  creator_id?: number | null;
  date_created?: number;
  /** Whether the own user is subscribed. The members below are those of the subscription. */
  subscribed: boolean;
  color: string;
  pin_to_top: boolean;
  is_muted: boolean;
  desktop_notifications?: boolean | null;
  audible_notifications?: boolean | null;
  wildcard_mentions_notify?: boolean | null;
  [member: string]: any;
}

/** A message, whose content and flags the client always asks for. */
export type Message = openapi.MessageRecord &
  Required<Pick<openapi.MessageRecord, "content" | "flags">> & {
    /** Whether it is about to be deleted, and hidden. */
    isLeaving?: boolean;
    /** Counts the changes in the store, so that outdated rows are recognized. */
    rev: number;
  };

/** A pair of operator and operand of a narrow. */
export interface Term {
  operator: string;
  operand: string | number | number[];
  negated?: boolean;
}

export type Draft = openapi.Draft;
export type UserGroup = openapi.GroupsGroupRecord;

export interface Event {
  id: number;
  type: string;
  op?: string;
  [member: string]: any;
}

/** Members of the state that the client always asks for, and that every reply has. */
type Given = "queue_id" | "user_id" | "realm_name" | "user_settings" | "realm_user_settings_defaults" | "server_emoji_data_url";

/** The reply to `POST /register`, and lists that are fetched later. */
export type State = openapi.State & Required<Pick<openapi.State, Given>> & { realm_exports?: openapi.ExportRecord[]; realm_export_consents?: openapi.Consent[] };

export type UserSettings = openapi.UserSettings;

/** The groups that a permission may name. */
export type PermissionRules = openapi.PermissionPermission;

export type Method = "GET" | "POST" | "PATCH" | "DELETE";

/** The response of an operation; only its success if it has no other members. */
export type Reply<M extends Method, Path extends string> = Path extends keyof openapi.Replies[M] ? openapi.Replies[M][Path] : { result: "success" };

export type AuditEntry = openapi.AuditRecord;
export type Bot = openapi.BotRecord;
export type Export = openapi.ExportRecord;
export type Folder = openapi.ChannelFolder;
export type Invite = openapi.InviteRecord;
export type Linkifier = openapi.LinkifierRecord;
export type ProfileField = openapi.ProfileField;
export type Reminder = openapi.ReminderRecord;
export type ScheduledMessage = openapi.ScheduledMessageRecord;
export type Snippet = openapi.SavedSnippet;
export type Status = openapi.StatusRecord;
export type Integration = openapi.IntegrationRecord;
export type FlagsForNarrow = openapi.FlagsForNarrow;

/** Fetched messages. `isEarly`: they may be older than the state, so that events about them are missed. */
export type Messages = Omit<openapi.MessagePage, "messages"> & { messages: Message[]; isEarly?: boolean };

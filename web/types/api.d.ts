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

export interface Reaction {
  emoji_name: string;
  emoji_code: string;
  reaction_type: string;
  user_id: number;
}

export interface Submessage {
  id: number;
  message_id: number;
  sender_id: number;
  msg_type: string;
  content: string;
}

export interface Recipient {
  id: number;
  full_name: string;
  email: string;
}

export interface Message {
  id: number;
  sender_id: number;
  sender_full_name: string;
  avatar_url: string | null;
  type: "stream" | "private";
  stream_id?: number;
  subject: string;
  display_recipient: string | Recipient[];
  content: string;
  timestamp: number;
  flags: string[];
  reactions: Reaction[];
  submessages: Submessage[];
  is_me_message?: boolean;
  last_edit_timestamp?: number;
  last_moved_timestamp?: number;
  client?: string;
  match_content?: string;
  match_subject?: string;
  /** Counts the changes here, so that a row knows whether it is up to date. */
  rev: number;
  [member: string]: any;
}

/** A pair of operator and operand of a narrow. */
export interface Term {
  operator: string;
  operand: string | number | number[];
  negated?: boolean;
}

export interface Draft {
  id: number;
  type: "stream" | "private" | "";
  to: number[];
  topic: string;
  content: string;
  timestamp: number;
}

export interface UserGroup {
  id: number;
  name: string;
  description: string;
  members: number[];
  direct_subgroup_ids: number[];
  is_system_group: boolean;
  deactivated?: boolean;
  [member: string]: any;
}

export interface Event {
  id: number;
  type: string;
  op?: string;
  [member: string]: any;
}

/** The reply to `POST /register`. */
export type State = Record<string, any>;

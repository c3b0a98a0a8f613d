//! The contents of requests to the bouncer: what it passes on to the phones of Apple and of Google.

use crate::api::web_push::payload::{
    Conversation, Description, MAX_TEXT_LENGTH, names, text_without_content,
};
use crate::auth::Ctx;
use crate::domain::access::users::{UNKNOWN_AVATAR_URL, unknown_email};
use crate::domain::notifications::deciding::Notifiable;
use crate::domain::{files, messages, realm, user_settings};
use crate::error::ApiResult;
use roaring::RoaringBitmap;
use serde_json::{Value, json};

/// Members of all notifications: the organization and the user.
pub struct Organization {
    base: Value,
    origin: String,
}

impl Organization {
    /// Loads it for the caller. `origin` is the address of this server for their apps.
    pub fn load(ctx: Ctx<'_>, origin: &str) -> ApiResult<Self> {
        let host = origin.split_once("://").map_or(origin, |(_, host)| host);
        let base = json!({
            "server": host,
            "realm_id": files::realm_id(&ctx)?,
            "realm_uri": origin,
            "realm_url": origin,
            "realm_name": realm::settings::NAME.get(&ctx)?,
            "user_id": ctx.caller.user_id,
        });
        Ok(Self { base, origin: origin.to_owned() })
    }

    /// Its members.
    pub fn base(&self) -> &Value {
        &self.base
    }

    /// The members with others.
    fn with(&self, more: Value) -> Value {
        let mut value = self.base.clone();
        if let (Some(all), Value::Object(more)) = (value.as_object_mut(), more) {
            all.extend(more);
        }
        value
    }
}

/// The notification of a message, for the caller and in their language. It has no text if the organization says so.
pub fn message_payload(ctx: Ctx<'_>, organization: &Organization, notified: &Notifiable) -> ApiResult<Value> {
    let language = user_settings::language_of(&ctx, ctx.caller.user_id)?;
    let description = Description::of(ctx, language, notified)?;
    let message = &notified.message;
    let shows_content = realm::settings::MESSAGE_CONTENT_ALLOWED_IN_EMAIL_NOTIFICATIONS.get(&ctx)?
        && !realm::settings::REQUIRE_E2EE_PUSH_NOTIFICATIONS.get(&ctx)?;
    let content = if shows_content { description.text } else { text_without_content(language).to_owned() };
    let email = if description.is_sender_known {
        message.sender_email.clone()
    } else {
        unknown_email(message.sender_id)
    };
    let mut common = json!({
        "sender_id": message.sender_id,
        "sender_email": email,
        "time": message.timestamp,
    });
    if let Some((id, name)) = &description.group {
        common["mentioned_user_group_id"] = json!(id);
        common["mentioned_user_group_name"] = json!(name);
    }
    let title = match &description.conversation {
        Conversation::Topic { stream_id, name, topic } => {
            common["recipient_type"] = "stream".into();
            common["stream"] = json!(name);
            common["stream_id"] = json!(stream_id);
            common["topic"] = json!(topic);
            format!("#{name} > {topic}")
        }
        Conversation::Direct(people) => {
            common["recipient_type"] = "private".into();
            if people.len() > 2 {
                common["pm_users"] = messages::joined(people).into();
                names(ctx, people)?
            } else {
                description.sender.clone()
            }
        }
    };
    let avatar = match description.avatar {
        Some(path) if path.starts_with('/') => format!("{}{path}", organization.origin),
        Some(url) => url,
        None => format!("{}{UNKNOWN_AVATAR_URL}", organization.origin),
    };
    let common = organization.with(common);
    let (mut apple, mut google) = (common.clone(), common);
    apple["message_ids"] = json!([message.id]);
    google["event"] = "message".into();
    google["zulip_message_id"] = json!(message.id);
    google["content_truncated"] =
        (content.chars().count() >= MAX_TEXT_LENGTH && content.ends_with('…')).into();
    google["content"] = json!(content);
    google["sender_full_name"] = json!(description.sender);
    google["sender_avatar_url"] = json!(avatar);
    Ok(json!({
        "apns_payload": {
            "alert": { "title": title, "subtitle": description.lead, "body": content },
            "sound": "default",
            "badge": 0,
            "custom": { "zulip": apple },
        },
        "gcm_payload": google,
        "gcm_options": { "priority": "high" },
    }))
}

/// Takes back the notifications of messages; there is one at least.
pub fn remove_payload(organization: &Organization, message_ids: &RoaringBitmap) -> Value {
    let ids: Vec<String> = message_ids.iter().map(|id| id.to_string()).collect();
    let remove = organization.with(json!({ "event": "remove", "zulip_message_ids": ids.join(",") }));
    let mut google = remove.clone();
    google["zulip_message_id"] = json!(message_ids.min());
    json!({
        "apns_payload": { "badge": 0, "custom": { "zulip": remove } },
        "gcm_payload": google,
        "gcm_options": { "priority": "normal" },
    })
}

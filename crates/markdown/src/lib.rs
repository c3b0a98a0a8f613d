//! Message text to the HTML that clients know.
//!
//! The dialect is the published server's: Markdown with mentions, links to channels and topics, emoji, quotes,
//! spoilers, formulas and global times. Clients parse the HTML into widgets, so it must be identical to the published
//! one; `cases.json` defines it. Rendering is pure: it asks a [`Directory`] about the organization, and fetches
//! nothing.
//!
//! [`render()`] runs these passes:
//! 1. `plain_text` takes text without markup directly to HTML.
//! 2. `fences` splits lines at ```` ``` ```` and `~~~`: code, quotes, spoilers, formulas.
//! 3. `blocks` parses the lines between them: lists, quotes, indented code, `tables`, and, by the `markdown` crate, the
//!    `leaf_blocks`.
//! 4. `inline` parses the text of a block by rules, each of which replaces its matches by `placeholders`: `mentions`,
//!    `math`, `channel_links`, `times`, `links`, `autolinks`, `linkifiers`, `emphasis`, `inline_emoji`.
//! 5. `code_blocks` renders code, which `highlight` splits into tokens.
//! 6. `previews` adds pictures and videos after the links to them.
//! 7. `html` serializes the tree. Nothing else writes tags.
//!
//! Each pass takes linear time, or nearly so, and nesting has a limit, so no text can exhaust time or stack. Formulas have
//! limits of their own (`typeset`).
//!
//! Texts that the server writes itself are not Markdown with names of users in it, but trees: [`Composition`].
//!
//! Each module imports only those before it in this order: `typeset`, `url`, `html`, `emoji`, `autolinks`, `linkifiers`,
//! `directory`, `context`, `placeholders`, `mentions`, `math`, `channel_links`, `times`, `links`, `emphasis`,
//! `inline_emoji`, `inline`, `fences`, `tables`, `leaf_blocks`, `blocks`, `highlight`, `code_blocks`, `previews`,
//! `plain_text`, `render`, `compose`, `nested_lists`, `slack_text`.

mod autolinks;
mod blocks;
mod channel_links;
mod code_blocks;
mod compose;
mod context;
mod directory;
pub mod emoji;
mod emphasis;
mod fences;
mod highlight;
mod html;
mod inline;
mod inline_emoji;
mod leaf_blocks;
mod linkifiers;
mod links;
mod math;
mod mentions;
mod nested_lists;
mod placeholders;
mod plain_text;
mod previews;
mod render;
mod slack_text;
mod tables;
#[cfg(test)]
mod tests;
mod times;
mod typeset;
mod url;

pub use channel_links::{encode_fragment, message_url, topic_url};
pub use compose::{Composition, Words, fits_into_a_link, link_text, silenced, unused_fence};
pub use directory::{
    CustomEmoji, Directory, LinkedChannel, MentionedGroup, MentionedUser, NoDirectory, UploadedFile,
    UserQuery,
};
pub use fences::{OpenFences, close_fences, without_controls, without_spoilers};
pub use linkifiers::{
    ALWAYS_FIT, Linkifier, LinkifierError, TopicLink, fit_together, has_harmless_scheme, topic_links,
    url_template_variables,
};
pub use links::{link_label, link_target};
pub use nested_lists::{FlatList, nested_lists};
pub use render::{Rendered, is_cheap, render, render_plain};
pub use slack_text::{SlackText, decode_slack_entities, styled_slack_text};
pub use times::global_time;

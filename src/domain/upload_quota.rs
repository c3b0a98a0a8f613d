//! Quotas of uploads: of the organization, and of each person with their bots. Files count for both. Pictures of accounts and
//! custom emoji count for their person, and are refused too while either quota is used up, as are the organization's icon
//! and logos.

use crate::app::Options;
use crate::domain::files;
use crate::domain::limits::{self, MAX_FILE_UPLOAD_SIZE_MIB, UPLOAD_SHARE_OF_GUEST, UPLOAD_SHARE_OF_MEMBER};
use crate::error::{ApiError, ApiResult};
use crate::types::{Role, UserId};
use rusqlite::Connection;

const MIB: u64 = 1 << 20;

/// The share of a quota in use, in percent, from which on it is almost full: `status` and `doctor` say so, and notices to owners
/// and to people.
pub const ALMOST_FULL: i64 = 80;

/// Uploads of the accounts in `account (user_id, person)`, as `upload (person, size)`. Paths of images are those of
/// `domain::images::avatar` and `domain::emoji`.
const UPLOADS: &str = "upload (person, size) AS (
    SELECT person, size FROM account CROSS JOIN attachment USING (user_id)
    UNION ALL
    SELECT person, octet_length(content) FROM account CROSS JOIN user USING (user_id)
    CROSS JOIN public_image ON path IN (printf('%016x.png', avatar_key), printf('%016x-medium.png', avatar_key))
    WHERE avatar_key IS NOT NULL
    UNION ALL
    SELECT person, octet_length(content) FROM account CROSS JOIN realm_emoji ON author_id = account.user_id
    CROSS JOIN public_image
    ON path IN ('emoji/images/' || file, 'emoji/images/still/' || replace(file, '.gif', '.png')))";

/// The quotas that the operator has set.
#[derive(Clone, Copy, Debug, Default)]
pub struct UploadQuota {
    all: Option<u64>,
    person: Option<u64>,
    largest_file: u64,
}

/// Bytes in use.
#[derive(Clone, Copy, Debug)]
pub struct Usage {
    /// By all files.
    pub all: u64,
    /// By the files and pictures of one person with their bots.
    pub own: u64,
    /// The person's role.
    pub role: Role,
}

/// Bytes in use by a person with their bots, and how many they may use.
#[derive(Clone, Copy, Debug)]
pub struct PersonUsage {
    pub user_id: UserId,
    /// Bytes in use.
    pub used: u64,
    /// The quota, which is not 0.
    pub quota: u64,
}

impl PersonUsage {
    /// The share in use, in percent.
    pub fn percent(&self) -> i64 {
        percent(self.used, self.quota)
    }
}

/// The share of a quota that is in use, in percent. The quota is not 0.
pub fn percent(used: u64, quota: u64) -> i64 {
    i64::try_from(used.saturating_mul(100) / quota).unwrap_or(i64::MAX)
}

impl UploadQuota {
    /// The quotas of a server.
    pub fn of(options: &Options) -> Self {
        let bytes = |mib: u64| mib.saturating_mul(MIB);
        Self {
            all: options.upload_quota_mib.map(bytes),
            person: options.upload_quota_per_person_mib.map(bytes),
            largest_file: bytes(options.max_file_upload_size_mib.unwrap_or(MAX_FILE_UPLOAD_SIZE_MIB)),
        }
    }

    /// True if there is a quota.
    pub fn is_limited(&self) -> bool {
        self.all.is_some() || self.person.is_some()
    }

    /// The quota of the organization in bytes; `None` if there is none, or nothing may be uploaded.
    pub fn of_all(&self) -> Option<u64> {
        self.all.filter(|all| *all > 0)
    }

    /// Number of bytes that one person may use: what the operator set, or else a share by role.
    fn of_person(&self, role: Role) -> Option<u64> {
        let of_role = |all: u64| {
            let share = match role {
                Role::Owner | Role::Administrator => all,
                Role::Moderator | Role::Member => all / UPLOAD_SHARE_OF_MEMBER,
                Role::Guest => all / UPLOAD_SHARE_OF_GUEST,
            };
            share.max(self.largest_file.min(all))
        };
        self.person.or_else(|| self.all.map(of_role))
    }

    /// Checks that a further upload of this size is within the quotas.
    pub fn check(&self, used: Usage, size: u64) -> ApiResult<()> {
        let is_exceeded =
            |used: u64, quota: Option<u64>| quota.is_some_and(|quota| used.saturating_add(size) > quota);
        let refuse = |msg: &'static str| Err(ApiError::new(400, "REALM_UPLOAD_QUOTA", msg));
        if is_exceeded(used.all, self.all) {
            return refuse("Upload would exceed your organization's upload quota.");
        }
        if is_exceeded(used.own, self.of_person(used.role)) {
            return refuse("Upload would exceed your share of your organization's upload quota.");
        }
        Ok(())
    }

    /// Checks the quotas after this job has stored a picture of a user or bot, with this number of bytes.
    pub fn check_stored(&self, connection: &Connection, user_id: UserId, size: usize) -> ApiResult<()> {
        if !self.is_limited() {
            return Ok(());
        }
        let used = Usage::load(connection, limits::quota_owner(connection, user_id)?)?;
        // The person's uploads have the picture already.
        self.check(Usage { all: used.all.saturating_add(size as u64), ..used }, 0)
    }

    /// The active people who use this share of their quota or more, in percent, unless theirs is that of the organization.
    pub fn people_above(&self, connection: &Connection, share: i64) -> rusqlite::Result<Vec<PersonUsage>> {
        if !self.is_limited() {
            return Ok(Vec::new());
        }
        let statement = format!(
            "WITH account (user_id, person) AS MATERIALIZED (
                 SELECT user.user_id, coalesce(created_by, user.user_id) FROM user LEFT JOIN bot USING (user_id)),
             {UPLOADS}
             SELECT person, role, sum(size) FROM upload CROSS JOIN user ON user_id = person
             WHERE is_active AND bot_type IS NULL GROUP BY person"
        );
        let mut statement = connection.prepare_cached(&statement)?;
        let mut rows = statement.query(())?;
        let mut above = Vec::new();
        while let Some(row) = rows.next()? {
            let quota =
                self.of_person(row.get(1)?).filter(|own| *own > 0 && self.all.is_none_or(|all| *own < all));
            let Some(quota) = quota else { continue };
            let usage =
                PersonUsage { user_id: row.get(0)?, used: row.get::<_, i64>(2)?.unsigned_abs(), quota };
            if usage.percent() >= share {
                above.push(usage);
            }
        }
        Ok(above)
    }
}

impl Usage {
    /// Loads what a person and all use. Reads the sizes of all uploads of the person.
    pub fn load(connection: &Connection, person: UserId) -> rusqlite::Result<Self> {
        let statement = format!(
            "WITH account (user_id, person) AS (
                 SELECT ?1, ?1 UNION ALL SELECT user_id, ?1 FROM bot WHERE created_by = ?1),
             {UPLOADS}
             SELECT (SELECT coalesce(sum(size), 0) FROM upload), role FROM user WHERE user_id = ?1"
        );
        let (own, role): (i64, Role) =
            connection.prepare_cached(&statement)?.query_row([person], |row| row.try_into())?;
        Ok(Self { all: files::space_used(connection)?, own: own.unsigned_abs(), role })
    }
}

//! The database file as the system sees it: its real path, its owner, its lock, and whether it is still there.

use super::{OpenError, StoreError};
use std::ffi::OsStr;
use std::fs::{File, Metadata, OpenOptions, TryLockError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Endings of the files that SQLite and this program create beside the database.
const COMPANIONS: [&str; 4] = ["", "-wal", "-shm", ".lock"];

/// Identity of a file when it was opened.
#[derive(Clone, Debug)]
pub struct FileIdentity {
    path: PathBuf,
    #[cfg(unix)]
    device_and_inode: (u64, u64),
    /// True if the file is unlinked on purpose.
    is_unlinked: bool,
}

impl FileIdentity {
    fn of(path: &Path, metadata: &Metadata) -> Self {
        Self {
            path: path.to_owned(),
            #[cfg(unix)]
            device_and_inode: {
                use std::os::unix::fs::MetadataExt;
                (metadata.dev(), metadata.ino())
            },
            is_unlinked: false,
        }
    }

    /// Takes note that the file is unlinked while it is open, so that its path leads nowhere.
    pub(super) fn set_unlinked(&mut self) {
        self.is_unlinked = true;
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Checks that the path still leads to the same file. Data written to a deleted or replaced file would be lost with
    /// the process.
    pub fn check(&self) -> Result<(), StoreError> {
        if self.is_unlinked {
            return Ok(());
        }
        match std::fs::metadata(&self.path) {
            Ok(metadata) if Self::of(&self.path, &metadata).is_same(self) => Ok(()),
            Err(error) if !matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(()),
            _ => Err(StoreError::Replaced(self.path.clone())),
        }
    }

    #[cfg(unix)]
    fn is_same(&self, other: &Self) -> bool {
        self.device_and_inode == other.device_and_inode
    }

    #[cfg(not(unix))]
    fn is_same(&self, _other: &Self) -> bool {
        true
    }
}

/// An open database file, locked against other processes.
///
/// It is opened before SQLite opens it and closed after: SQLite's own locks are POSIX locks, which a process loses when
/// it closes any descriptor of the file.
#[derive(Debug)]
pub struct LockedFile {
    pub identity: FileIdentity,
    /// True if the file was created by this call.
    pub is_new: bool,
    /// The descriptor that holds the lock.
    pub file: File,
}

/// Returns the path without symbolic links, so that all names of a file lead to one lock. The file may be missing, its
/// directory may not. Hard links cannot be resolved, so a file with several names is refused.
pub fn real_path(path: &Path) -> Result<PathBuf, OpenError> {
    let refuse = |why: &str| OpenError::Unsuitable { path: path.to_owned(), why: why.to_owned() };
    let text = path.as_os_str().to_string_lossy();
    if text == ":memory:" || text.is_empty() || text.starts_with("file:") {
        return Err(refuse("it is not the path of a file; `serve --ephemeral` runs without a file"));
    }
    match std::fs::canonicalize(path) {
        Ok(real) => return Ok(real),
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => return Err(unwritable(path, &error.to_string())),
    }
    if path.is_symlink() {
        return Err(refuse("it is a symbolic link to a file that does not exist"));
    }
    let name = path.file_name().ok_or_else(|| refuse("it does not end with the name of a file"))?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder =
        std::fs::canonicalize(folder.unwrap_or(Path::new("."))).map_err(|error| match error.kind() {
            ErrorKind::NotFound => refuse("its directory does not exist"),
            _ => unwritable(path, &format!("its directory: {error}")),
        })?;
    Ok(folder.join(name))
}

/// Checks that a path leads to a file with content, for commands that do not create a database.
pub fn check_exists(path: &Path) -> Result<(), OpenError> {
    let Ok(metadata) = std::fs::metadata(real_path(path)?) else {
        return Err(OpenError::Missing { path: path.to_owned() });
    };
    if !metadata.is_file() {
        return Err(irregular(path));
    }
    // SQLite writes the first page of a database before its log.
    if metadata.len() == 0 { Err(OpenError::Empty { path: path.to_owned() }) } else { Ok(()) }
}

/// Error of a path that leads to a directory or a device.
fn irregular(path: &Path) -> OpenError {
    OpenError::Unsuitable { path: path.to_owned(), why: "it is not a regular file".to_owned() }
}

/// Removes the files of a database, of which any may be missing.
pub fn remove_files(path: &Path) -> std::io::Result<()> {
    for ending in COMPANIONS {
        match std::fs::remove_file(beside(path, ending)) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

/// Opens and locks a database file, creating it if it is missing. Only its owner can read a new one; SQLite gives the
/// `-wal` and `-shm` files the same mode and owner.
pub fn open_locked(path: &Path) -> Result<LockedFile, OpenError> {
    let failed = |error: std::io::Error| match error.kind() {
        ErrorKind::IsADirectory => irregular(path),
        _ => unwritable(path, &error.to_string()),
    };
    let (file, is_new) = open_or_create(path).map_err(failed)?;
    let metadata = file.metadata().map_err(failed)?;
    if !metadata.is_file() {
        return Err(irregular(path));
    }
    if is_new {
        adopt_owner_of_folder(path, &file);
    } else {
        check_names(path, &metadata)?;
    }
    lock_inode(path, &file)?;
    Ok(LockedFile { identity: FileIdentity::of(path, &metadata), is_new, file })
}

/// Opens a private file, and creates it if it is missing. Returns true if it was missing.
pub fn open_or_create(path: &Path) -> std::io::Result<(File, bool)> {
    match private_file().create_new(true).open(path) {
        Ok(file) => Ok((file, true)),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok((private_file().open(path)?, false)),
        Err(error) => Err(error),
    }
}

/// Locks the file itself: in two containers, one file may have two paths. These locks are apart from those of SQLite on
/// Linux only.
#[cfg(target_os = "linux")]
fn lock_inode(path: &Path, file: &File) -> Result<(), OpenError> {
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => {
            Err(OpenError::InUse { path: path.to_owned(), process: "unknown".to_owned() })
        }
        // A file system without locks has the lock file.
        Ok(()) | Err(TryLockError::Error(_)) => Ok(()),
    }
}

#[cfg(not(target_os = "linux"))]
fn lock_inode(_path: &Path, _file: &File) -> Result<(), OpenError> {
    Ok(())
}

/// Refuses a file with several names.
fn check_names(path: &Path, metadata: &Metadata) -> Result<(), OpenError> {
    if has_several_names(metadata) {
        let why = "it has several names (hard links), and SQLite writes other files beside one of these names; copy it to a \
                   file with one name";
        return Err(OpenError::Unsuitable { path: path.to_owned(), why: why.to_owned() });
    }
    Ok(())
}

/// True if a file has hard links.
#[cfg(unix)]
pub fn has_several_names(metadata: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    metadata.nlink() > 1
}

#[cfg(not(unix))]
pub fn has_several_names(_metadata: &Metadata) -> bool {
    false
}

/// Removes the permissions of other users, which restored copies often have.
#[cfg(unix)]
pub fn make_private(path: &Path, file: &File) {
    use std::os::unix::fs::PermissionsExt;
    let Ok(mut permissions) = file.metadata().map(|metadata| metadata.permissions()) else { return };
    let mode = permissions.mode() & 0o777;
    if mode == mode & 0o770 {
        return;
    }
    permissions.set_mode(mode & 0o770);
    match file.set_permissions(permissions) {
        Ok(()) => {
            tracing::warn!(path = %path.display(), "all users of this machine could read the database; now only its owner and group can");
        }
        Err(error) => {
            tracing::warn!(path = %path.display(), %error, "all users of this machine can read the database");
        }
    }
}

#[cfg(not(unix))]
pub fn make_private(_path: &Path, _file: &File) {}

/// Gives a new file to the owner of its directory. Only root can: otherwise, a server prepared as root would leave
/// files that the server's user cannot open.
pub fn adopt_owner_of_folder(path: &Path, file: &File) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt, fchown};
        let (Some(Ok(folder)), Ok(own)) = (path.parent().map(std::fs::metadata), file.metadata()) else {
            return;
        };
        if own.uid() != folder.uid() {
            // Only root can change the owner, and only root needs to.
            let _refused = fchown(file, Some(folder.uid()), Some(folder.gid()));
        }
    }
    #[cfg(not(unix))]
    let _unused = (path, file);
}

/// Returns options that open a file for reading and writing and, if they create it, let only its owner read it. A symbolic link
/// is not followed: the account of a server owns the folder of its files, and root, who runs commands there, may not be led to
/// create, empty or give away a file elsewhere.
pub fn private_file() -> OpenOptions {
    let mut options = File::options();
    options.read(true).write(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600).custom_flags(rustix::fs::OFlags::NOFOLLOW.bits().cast_signed());
    }
    options
}

/// Creates a private file in place of one of that name. If that was a link, what it leads to stays as it is.
pub fn create_private(path: &Path) -> std::io::Result<File> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    private_file().create_new(true).open(path)
}

/// Returns the path with something appended to its name.
pub fn beside(path: &Path, ending: impl AsRef<OsStr>) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

/// True if there are changes in the log beside a database that are not in its file.
pub fn has_log(path: &Path) -> bool {
    let log = real_path(path).map(|path| beside(&path, "-wal"));
    log.is_ok_and(|log| std::fs::metadata(log).is_ok_and(|log| log.len() > 0))
}

/// Gives a complete file its name. Fails if there is one of that name.
pub fn name_finished(path: &Path, name: &Path) -> std::io::Result<()> {
    match rename_to_new(path, name) {
        Err(error) if matches!(error.kind(), ErrorKind::Unsupported | ErrorKind::InvalidInput) => {}
        done => return done,
    }
    match std::fs::hard_link(path, name) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Err(error),
        // A file system without hard links.
        Err(_) if name.symlink_metadata().is_ok() => Err(ErrorKind::AlreadyExists.into()),
        Err(_) => std::fs::rename(path, name),
        Ok(()) => std::fs::remove_file(path),
    }
}

/// Renames a file to a name that must be new, in one step. A process that is killed leaves no second name, with which
/// [`check_names`] would refuse the file. Fails with `Unsupported` or `InvalidInput` where the system cannot.
#[cfg(target_os = "linux")]
fn rename_to_new(path: &Path, name: &Path) -> std::io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    Ok(renameat_with(CWD, path, CWD, name, RenameFlags::NOREPLACE)?)
}

#[cfg(not(target_os = "linux"))]
fn rename_to_new(_path: &Path, _name: &Path) -> std::io::Result<()> {
    Err(ErrorKind::Unsupported.into())
}

/// Error of a file that cannot be written. Names a file beside it that belongs to another user, the most common reason, or that
/// its owner may not write.
pub fn unwritable(path: &Path, why: &str) -> OpenError {
    let why = match foreign_owner(path).or_else(|| read_only(path)) {
        Some(hint) => format!("{why} ({hint})"),
        None => why.to_owned(),
    };
    OpenError::ReadOnly { path: path.to_owned(), why }
}

#[cfg(unix)]
fn foreign_owner(path: &Path) -> Option<String> {
    use std::os::unix::fs::MetadataExt;
    let own = rustix::process::geteuid().as_raw();
    COMPANIONS.iter().map(|ending| beside(path, ending)).find_map(|file| {
        let owner = std::fs::metadata(&file).ok()?.uid();
        (owner != own).then(|| {
            format!(
                "{} belongs to user {owner}, and this process runs as user {own}: start it as that user, or change the \
                 owner of the file with chown",
                file.display()
            )
        })
    })
}

#[cfg(unix)]
fn read_only(path: &Path) -> Option<String> {
    use rustix::fs::{Access, access};
    use std::os::unix::fs::MetadataExt;
    let files = COMPANIONS.iter().map(|ending| beside(path, ending)).filter(|file| file.exists());
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let mut places = files.chain([folder.unwrap_or(Path::new(".")).to_owned()]);
    let found = places.find(|place| place.exists() && access(place.as_path(), Access::WRITE_OK).is_err())?;
    let own = rustix::process::geteuid().as_raw();
    let owner = std::fs::metadata(&found).ok()?.uid();
    let found = found.display();
    Some(if own == owner || own == 0 {
        format!(
            "{found} is read-only: `chmod u+w {found}` changes that, unless its disk is mounted read-only"
        )
    } else {
        // Files of other users are named before.
        format!(
            "the folder {found} belongs to user {owner}, and this process runs as user {own}: choose a folder of this user, or \
             change the owner of the folder with chown"
        )
    })
}

#[cfg(not(unix))]
fn foreign_owner(_path: &Path) -> Option<String> {
    None
}

#[cfg(not(unix))]
fn read_only(_path: &Path) -> Option<String> {
    None
}

/// File systems on other machines by their magic numbers (statfs(2)).
#[cfg(target_os = "linux")]
const NETWORK_FILE_SYSTEMS: [(i64, &str); 6] = [
    (0x6969, "NFS"),
    (0x517B, "SMB"),
    (0xFF53_4D42, "SMB"),
    (0xFE53_4D42, "SMB"),
    (0x0102_1997, "9p"),
    (0x00C3_6400, "Ceph"),
];

/// Returns the magic number of the file system of a path; `None` if it is unknown.
#[cfg(target_os = "linux")]
pub fn kind_of_file_system(path: &Path) -> Option<i64> {
    let found = rustix::fs::statfs(path).ok()?;
    // The type differs between architectures.
    #[allow(clippy::unnecessary_cast, reason = "needed on others")]
    let kind = (found.f_type as i64) & 0xFFFF_FFFF;
    Some(kind)
}

/// Returns the name of a file system on another machine by its magic number; `None` for one of this machine.
#[cfg(target_os = "linux")]
pub fn network_name(kind: i64) -> Option<&'static str> {
    NETWORK_FILE_SYSTEMS.iter().find(|(magic, _)| *magic == kind).map(|(_, name)| *name)
}

/// Returns the name of the file system of a path, if it is on another machine. Its locks are not reliable, and a database on it can be
/// damaged.
pub fn network_file_system(path: &Path) -> Option<&'static str> {
    #[cfg(target_os = "linux")]
    {
        kind_of_file_system(path).and_then(network_name)
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _unused = path;
        None
    }
}

/// Returns the number of bytes that the file system of a path has left for this user; `None` if it is unknown.
pub fn free_space(path: &Path) -> Option<u64> {
    disk_usage(path).map(|(free, _)| free)
}

/// Returns the number of bytes that the file system of a path has left for this user, and its size; `None` if they are
/// unknown.
pub fn disk_usage(path: &Path) -> Option<(u64, u64)> {
    #[cfg(unix)]
    {
        let found = rustix::fs::statvfs(path).ok()?;
        let bytes = |blocks: u64| blocks.saturating_mul(found.f_frsize);
        Some((bytes(found.f_bavail), bytes(found.f_blocks)))
    }
    #[cfg(not(unix))]
    {
        let _unused = path;
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn file_systems_of_other_machines_have_names() {
        for (kind, expected) in [(0x6969, Some("NFS")), (0xFF53_4D42, Some("SMB")), (0xEF53, None)] {
            assert_eq!(network_name(kind), expected, "{kind:x}");
        }
        // The file system of processes.
        assert_eq!(kind_of_file_system(Path::new("/proc")), Some(0x9FA0));
        assert_eq!(kind_of_file_system(Path::new("/no-such-folder")), None);
        assert_eq!(network_file_system(Path::new("/proc")), None);
    }

    #[test]
    fn a_finished_file_has_one_name() {
        let place = tempfile::tempdir().unwrap();
        let (first, name) = (place.path().join("part"), place.path().join("out"));
        std::fs::write(&first, "new").unwrap();
        std::fs::write(&name, "old").unwrap();
        assert_eq!(name_finished(&first, &name).unwrap_err().kind(), ErrorKind::AlreadyExists);
        assert_eq!(std::fs::read(&name).unwrap(), b"old");
        std::fs::remove_file(&name).unwrap();
        name_finished(&first, &name).unwrap();
        assert_eq!(std::fs::read(&name).unwrap(), b"new");
        assert!(!first.exists());
    }
}

//! The files of an archive: a folder as it is, also by one of its files, or a packed archive that is unpacked beside the new
//! database.

use crate::moving::import::error::{ImportError, ImportResult};
use flate2::read::MultiGzDecoder;
use std::cell::Cell;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;
use unicode_normalization::UnicodeNormalization;

/// The size that any archive may have when it is unpacked, and how many times larger than packed a larger one may be.
/// Archives of messages are packed to a tenth or less, bombs to a thousandth.
const ALWAYS_ALLOWED: u64 = 128 << 20;
const MAX_RATIO: u64 = 200;

/// The most files in an archive.
const MAX_FILES: usize = 2_000_000;

/// The most bytes before a file of a tar archive: headers, and long names and attributes, which are read into memory.
const MAX_HEADERS: u64 = 1 << 20;

/// The error of files for which the disk is too small.
pub const NO_SPACE: &str = "the disk has no space for the files of the archive";

/// The files of an archive.
#[derive(Debug)]
pub struct Archive {
    root: PathBuf,
    /// The name of the file that was given instead of the folder.
    given: Option<String>,
    /// A folder for files that are extracted from others. It may not exist yet.
    scratch: PathBuf,
    scratch_files: Cell<u64>,
}

/// The beginning of the paths of extracted files.
const SCRATCH: &str = "extracted:";

impl Archive {
    /// Opens a folder, or that of a `.json`, `.jsonl` or `.bson` file, or unpacks a `.tar.gz`, `.tar` or `.zip` file to
    /// `unpacked`, which must not exist. `marks` are files at the top of such archives: if none of them is there, they are
    /// looked for in the only folder. `space` is the number of bytes that the unpacked files may take; `None` if it is unknown.
    pub fn open(path: &Path, unpacked: &Path, marks: &[&str], space: Option<u64>) -> ImportResult<Self> {
        let shown = path.display().to_string();
        let metadata = std::fs::metadata(path).map_err(|error| ImportError::in_file(&shown, error))?;
        let (root, given) = if metadata.is_dir() {
            (path.to_owned(), None)
        } else if let Some((folder, name)) = folder_of(path) {
            (folder, Some(name))
        } else {
            unpack(path, &shown, Budget::of(metadata.len(), space), unpacked)?;
            (unpacked.to_owned(), None)
        };
        let scratch = unpacked.with_file_name("extracted");
        let archive = Self { root, given, scratch, scratch_files: Cell::default() };
        Ok(match archive.only_folder(marks)? {
            Some(folder) => Self { root: archive.root.join(folder), ..archive },
            None => archive,
        })
    }

    /// The name of the file that was given instead of the folder, if one was.
    pub fn given_file(&self) -> Option<&str> {
        self.given.as_deref()
    }

    /// Creates a file for content that is extracted from another file. Returns its path as that of a file of the archive.
    pub fn new_scratch_file(&self) -> ImportResult<(String, File)> {
        std::fs::create_dir_all(&self.scratch)?;
        let number = self.scratch_files.get() + 1;
        self.scratch_files.set(number);
        let file = File::create_new(self.scratch.join(number.to_string()))?;
        Ok((format!("{SCRATCH}{number}"), file))
    }

    /// True for what is hidden in the folder of the file that was given, such as keys in a home folder: it is not of the archive.
    fn is_foreign(&self, name: &OsStr) -> bool {
        self.given
            .as_ref()
            .is_some_and(|given| name != given.as_str() && name.as_encoded_bytes().starts_with(b"."))
    }

    fn only_folder(&self, marks: &[&str]) -> ImportResult<Option<String>> {
        if self.given.is_some() || marks.iter().any(|mark| self.root.join(mark).exists()) {
            return Ok(None);
        }
        let (folders, _) = self.entries("")?;
        Ok(match folders.as_slice() {
            [only] => Some(only.clone()),
            _ => None,
        })
    }

    /// The names of the folders and of the files in a folder, each sorted. A missing folder is empty.
    pub fn entries(&self, folder: &str) -> ImportResult<(Vec<String>, Vec<String>)> {
        let (mut folders, mut files) = (Vec::new(), Vec::new());
        let Some(path) = self.resolve(folder)?.filter(|path| path.is_dir()) else {
            return Ok((folders, files));
        };
        for entry in std::fs::read_dir(path).map_err(|error| ImportError::in_file(folder, error))? {
            let entry = entry?;
            let name = entry.file_name().into_string();
            let Ok(name) = name else {
                return Err(ImportError::in_file(folder, "a name of a file is not UTF-8"));
            };
            let kind = entry.file_type()?;
            if kind.is_dir() {
                folders.push(name);
            } else if kind.is_file() {
                files.push(name);
            } else {
                return Err(ImportError::in_file(&format!("{folder}/{name}"), "it is a link or a device"));
            }
        }
        folders.sort_unstable();
        files.sort_unstable();
        Ok((folders, files))
    }

    /// The path of a file. Fails if the name leads out of the archive, over a link, or to nothing.
    pub fn file(&self, name: &str) -> ImportResult<PathBuf> {
        match self.find(name)? {
            Some(path) => Ok(path),
            None => Err(ImportError::in_file(name, "the archive does not have this file")),
        }
    }

    /// The same; `None` if the archive does not have the file.
    pub fn find(&self, name: &str) -> ImportResult<Option<PathBuf>> {
        Ok(self.resolve(name)?.filter(|path| path.is_file()))
    }

    /// The path of something in the archive, if it is there.
    fn resolve(&self, name: &str) -> ImportResult<Option<PathBuf>> {
        if let Some(number) = name.strip_prefix(SCRATCH).and_then(|number| number.parse::<u64>().ok()) {
            return Ok(Some(self.scratch.join(number.to_string())));
        }
        let mut path = self.root.clone();
        for component in Path::new(name).components() {
            match component {
                Component::CurDir => continue,
                Component::Normal(part) if path == self.root && self.is_foreign(part) => {
                    return Err(ImportError::in_file(name, "it is hidden beside the archive"));
                }
                Component::Normal(part) => path = entry_of(&path, part),
                _ => return Err(ImportError::in_file(name, "the path leads out of the archive")),
            }
            match std::fs::symlink_metadata(&path) {
                Ok(metadata) if metadata.is_symlink() => {
                    return Err(ImportError::in_file(name, "it is a link"));
                }
                Ok(_) => {}
                Err(error)
                    if matches!(
                        error.kind(),
                        ErrorKind::NotFound | ErrorKind::NotADirectory | ErrorKind::InvalidFilename
                    ) =>
                {
                    return Ok(None);
                }
                Err(error) => return Err(ImportError::in_file(name, error)),
            }
        }
        Ok(Some(path))
    }
}

/// The path of a file or folder in a folder. Programs may have written its name with other, equivalent characters: those of macOS
/// store `ü` as `u` with a mark.
fn entry_of(folder: &Path, name: &OsStr) -> PathBuf {
    let path = folder.join(name);
    let Some(text) = name.to_str().filter(|text| !text.is_ascii() && path.symlink_metadata().is_err()) else {
        return path;
    };
    let forms: [String; 2] = [text.nfc().collect(), text.nfd().collect()];
    let mut paths = forms.iter().map(|form| folder.join(form));
    paths.find(|path| path.symlink_metadata().is_ok()).unwrap_or(path)
}

/// The folder and the name of a file that is not packed.
fn folder_of(path: &Path) -> Option<(PathBuf, String)> {
    let path = path.canonicalize().ok()?;
    let ending = path.extension().and_then(|ending| ending.to_str());
    if !matches!(ending, Some("json" | "jsonl" | "bson")) {
        return None;
    }
    Some((path.parent()?.to_owned(), path.file_name()?.to_str()?.to_owned()))
}

/// The bytes and files that may still be unpacked.
struct Budget {
    bytes: u64,
    files: usize,
    /// The error of an archive with more bytes.
    too_large: &'static str,
}

impl Budget {
    /// The budget of an archive with this number of packed bytes.
    fn of(packed: u64, space: Option<u64>) -> Self {
        let largest = ALWAYS_ALLOWED.max(packed.saturating_mul(MAX_RATIO));
        let (bytes, too_large) = match space {
            Some(space) if space < largest => (space, NO_SPACE),
            _ => (largest, "the unpacked archive is far larger than archives of messages are"),
        };
        Self { bytes, files: MAX_FILES, too_large }
    }
}

fn unpack(path: &Path, shown: &str, mut budget: Budget, to: &Path) -> ImportResult<()> {
    let mut file = File::open(path).map_err(|error| ImportError::in_file(shown, error))?;
    let mut magic = [0; 4];
    let length = file.read(&mut magic).map_err(|error| ImportError::in_file(shown, error))?;
    std::fs::create_dir(to)?;
    let file = File::open(path).map_err(|error| ImportError::in_file(shown, error))?;
    match &magic[..length] {
        [0x1f, 0x8b, ..] => unpack_tar(MultiGzDecoder::new(file), shown, to, &mut budget),
        [b'P', b'K', ..] => unpack_zip(file, shown, to, &mut budget),
        _ if path.extension().is_some_and(|ending| ending == "tar") => {
            unpack_tar(file, shown, to, &mut budget)
        }
        _ => Err(ImportError::in_file(shown, "it is neither a folder nor a .tar.gz, .tar or .zip file")),
    }
}

/// A reader that fails when a tar archive has more bytes before a file than headers have.
struct Headers<R> {
    read: R,
    /// The bytes that the headers may still have; `None` while a file is read.
    left: Rc<Cell<Option<u64>>>,
}

impl<R: Read> Read for Headers<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.read.read(buffer)?;
        if let Some(left) = self.left.get() {
            let Some(left) = left.checked_sub(count as u64) else {
                let what = format!("names or attributes of a file have more than {} MiB", MAX_HEADERS >> 20);
                return Err(std::io::Error::other(what));
            };
            self.left.set(Some(left));
        }
        Ok(count)
    }
}

fn unpack_tar(read: impl Read, shown: &str, to: &Path, budget: &mut Budget) -> ImportResult<()> {
    let broken = |error: std::io::Error| ImportError::in_file(shown, error);
    let left = Rc::new(Cell::new(Some(MAX_HEADERS)));
    let mut tar = tar::Archive::new(Headers { read, left: Rc::clone(&left) });
    for entry in tar.entries().map_err(broken)? {
        let mut entry = entry.map_err(broken)?;
        left.set(None);
        let name = String::from_utf8(entry.path_bytes().into_owned());
        let name = name.map_err(|_| ImportError::in_file(shown, "a name of a file is not UTF-8"))?;
        let kind = entry.header().entry_type();
        if !kind.is_pax_global_extensions() {
            if !kind.is_file() && !kind.is_dir() {
                return Err(ImportError::in_file(&name, "it is a link or a device"));
            }
            put(&mut entry, &name, kind.is_dir(), to, budget)?;
        }
        // The rest of what is not kept.
        std::io::copy(&mut entry, &mut std::io::sink()).map_err(broken)?;
        left.set(Some(MAX_HEADERS));
    }
    Ok(())
}

fn unpack_zip(file: File, shown: &str, to: &Path, budget: &mut Budget) -> ImportResult<()> {
    let mut zip = zip::ZipArchive::new(file).map_err(|error| ImportError::in_file(shown, error))?;
    for index in 0..zip.len() {
        let mut entry = zip.by_index(index).map_err(|error| ImportError::in_file(shown, error))?;
        // Names are UTF-8 even where the archive does not say so.
        let name = String::from_utf8(entry.name_raw().to_vec());
        let name = name.map_err(|_| ImportError::in_file(shown, "a name of a file is not UTF-8"))?;
        // Some programs for Windows write backslashes between folders, which the format forbids.
        let name = if name.contains('/') { name } else { name.replace('\\', "/") };
        if entry.is_symlink() {
            return Err(ImportError::in_file(&name, "it is a link"));
        }
        let is_folder = entry.is_dir();
        put(&mut entry, &name, is_folder, to, budget)?;
    }
    Ok(())
}

/// The folder that macOS adds to archives.
const OF_MACOS: &str = "__MACOSX/";

/// Writes a file or makes a folder.
fn put(
    content: &mut impl Read,
    name: &str,
    is_folder: bool,
    to: &Path,
    budget: &mut Budget,
) -> ImportResult<()> {
    if name.starts_with(OF_MACOS) {
        return Ok(());
    }
    let mut path = to.to_owned();
    for component in Path::new(name).components() {
        match component {
            Component::CurDir => {}
            Component::Normal(part) => path.push(part),
            _ => return Err(ImportError::in_file(name, "the path leads out of the archive")),
        }
    }
    budget.files = budget
        .files
        .checked_sub(1)
        .ok_or_else(|| ImportError::new(format!("the archive has more than {MAX_FILES} files")))?;
    let failed = |error: std::io::Error| ImportError::in_file(name, error);
    if is_folder {
        return std::fs::create_dir_all(&path).map_err(failed);
    }
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(failed)?;
    }
    let mut file = match File::create_new(&path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            return Err(ImportError::in_file(name, "the archive has this file twice"));
        }
        made => made.map_err(failed)?,
    };
    let written = std::io::copy(&mut content.take(budget.bytes + 1), &mut file).map_err(failed)?;
    file.flush().map_err(failed)?;
    budget.bytes =
        budget.bytes.checked_sub(written).ok_or_else(|| ImportError::in_file(name, budget.too_large))?;
    Ok(())
}

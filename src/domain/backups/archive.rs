//! The format of a backup: zstd, and around it age if there are recipients.

use crate::domain::backups::BackupError;
use age::{DecryptError, Decryptor, Encryptor, x25519};
use std::fmt::Display;
use std::io::{Read, Write};
use std::path::Path;
use std::str::FromStr;

/// Compression level: a higher one takes twice the time for a twentieth of the size.
const LEVEL: i32 = 3;

/// The first bytes of each format.
const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];
const AGE: &[u8] = b"age-encryption.org/";
const ARMORED_AGE: &[u8] = b"-----BEGIN AGE";
pub(super) const SQLITE: &[u8] = b"SQLite format 3\0";

/// Bytes that are read, written and hashed at once.
pub(super) const PIECE: usize = 1 << 20;

/// The public keys that a backup is encrypted to. Without one it is not encrypted.
#[derive(Clone, Default)]
pub struct Recipients(Vec<x25519::Recipient>);

impl std::fmt::Debug for Recipients {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_list().entries(self.0.iter().map(ToString::to_string)).finish()
    }
}

impl Recipients {
    /// Reads public keys as `age-keygen` prints them (`age1...`).
    pub fn parse<'k>(keys: impl IntoIterator<Item = &'k str>) -> Result<Self, BackupError> {
        keys.into_iter()
            .map(|key| parse_key(key, "a public key, which begins with age1"))
            .collect::<Result<_, _>>()
            .map(Self)
    }

    /// True if backups are not encrypted.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// The private keys with which a backup is decrypted.
#[derive(Default)]
pub struct Identities(Vec<x25519::Identity>);

impl Identities {
    /// Reads the text of a file of `age-keygen`: a key a line, and comments.
    pub fn parse(text: &str) -> Result<Self, BackupError> {
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        lines
            .map(|line| parse_key(line, "an identity, which begins with AGE-SECRET-KEY-1"))
            .collect::<Result<_, _>>()
            .map(Self)
    }

    /// True if there is no key.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Does not repeat the key, which may be private.
fn parse_key<K: FromStr<Err: Display>>(text: &str, what: &str) -> Result<K, BackupError> {
    text.parse().map_err(|error| BackupError::Key(format!("this is not {what} ({error})")))
}

enum Encryption<W: Write> {
    None(W),
    Age(age::stream::StreamWriter<W>),
}

impl<W: Write> Write for Encryption<W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        match self {
            Self::None(inner) => inner.write(bytes),
            Self::Age(inner) => inner.write(bytes),
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        match self {
            Self::None(inner) => inner.flush(),
            Self::Age(inner) => inner.flush(),
        }
    }
}

/// Compresses and encrypts what is written to it.
pub(super) struct ArchiveWriter<W: Write>(zstd::Encoder<'static, Encryption<W>>);

impl<W: Write> ArchiveWriter<W> {
    /// `length` is the number of bytes that will be written.
    pub(super) fn new(out: W, recipients: &Recipients, length: u64) -> std::io::Result<Self> {
        let encrypted = if recipients.is_empty() {
            Encryption::None(out)
        } else {
            let keys = recipients.0.iter().map(|key| key as &dyn age::Recipient);
            let encryptor = Encryptor::with_recipients(keys).map_err(std::io::Error::other)?;
            Encryption::Age(encryptor.wrap_output(out)?)
        };
        let mut compressed = zstd::Encoder::new(encrypted, LEVEL)?;
        compressed.include_checksum(true)?;
        compressed.set_pledged_src_size(Some(length))?;
        Ok(Self(compressed))
    }

    pub(super) fn finish(self) -> std::io::Result<W> {
        match self.0.finish()? {
            Encryption::None(out) => Ok(out),
            Encryption::Age(stream) => stream.finish(),
        }
    }
}

impl<W: Write> Write for ArchiveWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.0.flush()
    }
}

/// Decrypts and decompresses a backup. A plain SQLite file is returned as it is. `path` is for errors.
pub(super) fn read<'r>(
    input: impl Read + 'r,
    path: &Path,
    identities: &Identities,
) -> Result<Box<dyn Read + 'r>, BackupError> {
    let (start, input) = peek(input, path)?;
    let (start, input) = if start.starts_with(AGE) {
        let keys = identities.0.iter().map(|key| key as &dyn age::Identity);
        let decryptor = Decryptor::new(input).map_err(|error| BackupError::damaged(path, error))?;
        if decryptor.is_scrypt() {
            return Err(encrypted_otherwise("with a passphrase"));
        }
        if identities.is_empty() {
            let msg = "the backup is encrypted; name the file of its private key with --identity";
            return Err(BackupError::Key(msg.to_owned()));
        }
        let decrypted = decryptor.decrypt(keys).map_err(|error| match error {
            DecryptError::NoMatchingKeys => {
                BackupError::Key("the backup is encrypted to another key than this identity's".to_owned())
            }
            error => BackupError::damaged(path, error),
        })?;
        peek(decrypted, path)?
    } else {
        (start, input)
    };
    if start.starts_with(ZSTD) {
        let decoder = zstd::Decoder::new(input).map_err(|error| BackupError::damaged(path, error))?;
        return Ok(Box::new(decoder));
    }
    if start.starts_with(SQLITE) {
        return Ok(input);
    }
    if start.starts_with(ARMORED_AGE) {
        return Err(encrypted_otherwise("as text"));
    }
    let why = if start.is_empty() {
        "it is empty"
    } else {
        "it is neither a backup of teamchat nor an SQLite file"
    };
    Err(BackupError::damaged(path, why))
}

/// Reads to the end, and calls `take` with each piece. `unread` makes the error of a read that fails.
pub(super) fn read_pieces(
    mut input: impl Read,
    unread: impl Fn(std::io::Error) -> BackupError,
    mut take: impl FnMut(&[u8]) -> Result<(), BackupError>,
) -> Result<(), BackupError> {
    let mut piece = vec![0; PIECE];
    loop {
        match input.read(&mut piece).map_err(&unread)? {
            0 => return Ok(()),
            read => take(&piece[..read])?,
        }
    }
}

/// The refusal of a backup that the program `age` has encrypted in a way that this one does not read.
fn encrypted_otherwise(how: &str) -> BackupError {
    let remedy = "decrypt it with `age --decrypt`, and restore the result";
    BackupError::Key(format!("the backup is encrypted {how}; {remedy}"))
}

/// Returns the first bytes, and the input with them.
fn peek<'r, R: Read + 'r>(mut input: R, path: &Path) -> Result<(Vec<u8>, Box<dyn Read + 'r>), BackupError> {
    let mut start = Vec::new();
    let length = AGE.len() as u64;
    (&mut input).take(length).read_to_end(&mut start).map_err(|error| BackupError::damaged(path, error))?;
    Ok((start.clone(), Box::new(std::io::Cursor::new(start).chain(input))))
}

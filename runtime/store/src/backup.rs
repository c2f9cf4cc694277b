//! Backups: the content of a store at one revision as one stream of bytes.
//!
#![doc = include_str!("../BACKUP.md")]

mod block;
mod encoder;
mod reader;

pub use self::encoder::BackupEncoder;
pub use self::reader::{BackupError, BackupReader};
use crate::Revision;

/// The description at the start of a backup.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BackupHeader {
    /// The revision whose state the backup is.
    pub revision: Revision,
    /// The time at which it was taken, in milliseconds since 1970.
    pub at: u64,
    /// The name of the program whose store it is; only this program knows all kinds in it.
    pub program: String,
    /// Number of objects.
    pub objects: u64,
    /// Bytes of all objects and their keys.
    pub bytes: u64,
    /// True if an object is encrypted.
    pub has_encrypted: bool,
}

impl BackupHeader {
    /// The version of the format.
    fn version(&self) -> u32 {
        match self.has_encrypted {
            true => block::ENCRYPTED,
            false => block::PLAIN,
        }
    }

    fn encode(&self) -> String {
        let Self {
            revision,
            at,
            program,
            objects,
            bytes,
            has_encrypted: _,
        } = self;
        let program = program.replace('\n', " ");
        format!("revision {revision}\nat {at}\nprogram {program}\nobjects {objects}\nbytes {bytes}\n")
    }

    fn decode(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        let mut value = |name: &str| lines.next()?.strip_prefix(name)?.strip_prefix(' ');
        Some(Self {
            revision: value("revision")?.parse().ok()?,
            at: value("at")?.parse().ok()?,
            program: value("program")?.to_owned(),
            objects: value("objects")?.parse().ok()?,
            bytes: value("bytes")?.parse().ok()?,
            has_encrypted: false,
        })
    }
}

#[cfg(test)]
mod tests;

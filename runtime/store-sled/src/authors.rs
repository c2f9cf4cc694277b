//! The file that tells which program has written the states of a collection.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use planesmith_store::Revision;
use planesmith_store::log::{Author, LogError};

use crate::checksummed::{self, Checksummed, Content};
use crate::disk::Disk;
use crate::errors::failed;

const NAME: &str = "authors";
const NEW: &str = "authors.new";
const FORMAT: Checksummed = Checksummed {
    format: "planesmith-authors ",
    version: "1",
    earlier: &[],
};

/// The authors of the states under prefixes.
///
/// The file is removed when it is read, and written when authors are set: a program that does not know it, or knows no author,
/// leaves none behind.
#[derive(Debug)]
pub(crate) struct Authors {
    folder: PathBuf,
    disk: Disk,
    /// The authors that the file named.
    found: BTreeMap<Box<str>, Author>,
    /// The authors that were set since.
    set: BTreeMap<Box<str>, Author>,
}

impl Authors {
    /// Reads and removes the file in `folder`. A file that is damaged, or of another version, tells nothing.
    pub(crate) fn take(folder: &Path, disk: &Disk) -> Result<Self, LogError> {
        let path = folder.join(NAME);
        let text = checksummed::read(&path)?;
        let found = text.as_deref().and_then(decode).unwrap_or_default();
        if text.is_some() {
            std::fs::remove_file(&path).map_err(failed("remove", &path))?;
            // Durable before a write of this program is.
            disk.sync_folder(folder)?;
        }
        Ok(Self {
            folder: folder.to_owned(),
            disk: disk.clone(),
            found,
            set: BTreeMap::new(),
        })
    }

    /// The author that the file named for the states under `prefix`.
    pub(crate) fn of(&self, prefix: &str) -> Option<Author> {
        self.found.get(prefix).copied()
    }

    /// Sets the author of the states under `prefix`, durably. Authors that were found and not set again are not written.
    pub(crate) fn set(&mut self, prefix: &str, author: Author) -> Result<(), LogError> {
        self.set.insert(prefix.into(), author);
        let lines = self
            .set
            .iter()
            .map(|(prefix, Author { program, after })| format!("author {program:016x} {after} {prefix}\n"));
        let text = FORMAT.encode(FORMAT.version, &lines.collect::<String>());
        let new = self.folder.join(NEW);
        checksummed::write(&new, &text, &self.disk)?;
        std::fs::rename(&new, self.folder.join(NAME)).map_err(failed("rename", &new))?;
        self.disk.sync_folder(&self.folder)
    }
}

fn decode(text: &str) -> Option<BTreeMap<Box<str>, Author>> {
    let Content::Lines(_, lines) = FORMAT.decode(text) else {
        return None;
    };
    lines.map(author).collect()
}

fn author(line: &str) -> Option<(Box<str>, Author)> {
    let mut parts = line.strip_prefix("author ")?.splitn(3, ' ');
    let program = u64::from_str_radix(parts.next()?, 16).ok()?;
    let after = Revision(parts.next()?.parse().ok()?);
    Some((parts.next()?.into(), Author { program, after }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn author(program: u64, after: u64) -> Author {
        let after = Revision(after);
        Author { program, after }
    }

    #[test]
    fn authors_are_read_once_and_last_only_if_they_are_set_again() {
        let folder = tempfile::tempdir().unwrap();
        let take = || Authors::take(folder.path(), &Disk::default()).unwrap();
        let mut authors = take();
        assert_eq!(authors.of("/a/"), None);
        authors.set("/a/", author(7, 0)).unwrap();
        authors.set("/b c/", author(u64::MAX, 812)).unwrap();

        let mut authors = take();
        assert_eq!(authors.of("/a/"), Some(author(7, 0)));
        assert_eq!(authors.of("/b c/"), Some(author(u64::MAX, 812)));
        assert_eq!(authors.of("/b"), None);
        assert!(!folder.path().join(NAME).exists());
        authors.set("/a/", author(8, 3)).unwrap();

        let authors = take();
        assert_eq!((authors.of("/a/"), authors.of("/b c/")), (Some(author(8, 3)), None));
        assert_eq!(take().of("/a/"), None);
    }

    #[test]
    fn a_damaged_file_tells_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let take = || Authors::take(folder.path(), &Disk::default()).unwrap();
        take().set("/a/", author(7, 1)).unwrap();
        let whole = std::fs::read_to_string(folder.path().join(NAME)).unwrap();
        for text in [
            whole.replace('7', "8"),
            whole[..whole.len() - 1].to_owned(),
            "\0".to_owned(),
            String::new(),
        ] {
            std::fs::write(folder.path().join(NAME), text).unwrap();
            assert_eq!(take().of("/a/"), None);
        }
    }
}

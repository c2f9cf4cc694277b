//! The file that tells which program has written the states of a collection.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use planesmith_store::Revision;
use planesmith_store::log::{Author, LogError};

use crate::checksummed::{self, Checksummed, Content};
use crate::disk::Disk;
use crate::errors::failed;
use crate::random;

const NAME: &str = "authors";
const NEW: &str = "authors.new";
const FORMAT: Checksummed = Checksummed {
    format: "planesmith-authors ",
    version: "2",
    earlier: &[],
};

/// The authors of the states under prefixes.
///
/// The file says who wrote the states of a store up to the moment in which another program writes one. Two rules keep it true. A
/// program that knows the file removes the lines that it did not write, durably, before its first state. And the file has a key that
/// each program that knows it keeps in the mark: a program that does not know it leaves a mark without the key, and the file tells
/// nothing from then on.
#[derive(Debug)]
pub(crate) struct Authors {
    folder: PathBuf,
    disk: Disk,
    key: u64,
    /// The authors that the file named.
    found: BTreeMap<Box<str>, Author>,
    /// The authors that were set since.
    set: BTreeMap<Box<str>, Author>,
    /// True while the file may have lines of an earlier program.
    has_found: bool,
}

impl Authors {
    /// Reads the file in `folder`. A file that has another key than the mark, that is damaged, or of another version, tells nothing.
    pub(crate) fn read(folder: &Path, disk: &Disk, key_in_mark: u64) -> Result<Self, LogError> {
        let text = checksummed::read(&folder.join(NAME))?;
        let found = text.as_deref().and_then(decode);
        let found = found.filter(|(key, _)| *key == key_in_mark && key_in_mark != 0);
        Ok(Self {
            folder: folder.to_owned(),
            disk: disk.clone(),
            key: match key_in_mark {
                0 => random::number().max(1),
                known => known,
            },
            found: found.map(|(_, found)| found).unwrap_or_default(),
            set: BTreeMap::new(),
            has_found: text.is_some(),
        })
    }

    /// The key of the file, which the mark has to have before a state is written.
    pub(crate) fn key(&self) -> u64 {
        self.key
    }

    /// The author that the file named for the states under `prefix`.
    pub(crate) fn of(&self, prefix: &str) -> Option<Author> {
        self.found.get(prefix).copied()
    }

    /// Sets the author of the states under `prefix`, durably.
    pub(crate) fn set(&mut self, prefix: &str, author: Author) -> Result<(), LogError> {
        self.set.insert(prefix.into(), author);
        self.write()
    }

    /// Removes the authors that were found and not set again, durably: a state is about to be written.
    pub(crate) fn forget_found(&mut self) -> Result<(), LogError> {
        if !self.has_found {
            return Ok(());
        }
        self.has_found = false;
        let written = match self.set.is_empty() {
            true => self.remove(),
            // A full disk may have no space for the new file.
            false => self.write().or_else(|_| self.remove()),
        };
        self.has_found = written.is_err();
        written
    }

    fn write(&self) -> Result<(), LogError> {
        let mut lines = self.set.clone();
        if self.has_found {
            let found = self.found.iter().map(|(prefix, author)| (prefix.clone(), *author));
            found.for_each(|(prefix, author)| _ = lines.entry(prefix).or_insert(author));
        }
        let lines = lines
            .iter()
            .map(|(prefix, Author { program, after })| format!("author {program:016x} {after} {prefix}\n"));
        let text = format!("key {:016x}\n{}", self.key, lines.collect::<String>());
        let new = self.folder.join(NEW);
        checksummed::write(&new, &FORMAT.encode(FORMAT.version, &text), &self.disk)?;
        std::fs::rename(&new, self.folder.join(NAME)).map_err(failed("rename", &new))?;
        self.disk.sync_folder(&self.folder)
    }

    fn remove(&self) -> Result<(), LogError> {
        let path = self.folder.join(NAME);
        std::fs::remove_file(&path).map_err(failed("remove", &path))?;
        self.disk.sync_folder(&self.folder)
    }
}

/// The key of the file, and the authors by prefix.
fn decode(text: &str) -> Option<(u64, BTreeMap<Box<str>, Author>)> {
    let Content::Lines(_, mut lines) = FORMAT.decode(text) else {
        return None;
    };
    let key = u64::from_str_radix(lines.next()?.strip_prefix("key ")?, 16).ok()?;
    Some((key, lines.map(author).collect::<Option<_>>()?))
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
    fn authors_last_until_a_state_is_written_unless_they_are_set_again() {
        let folder = tempfile::tempdir().unwrap();
        let read = |key| Authors::read(folder.path(), &Disk::default(), key).unwrap();
        let mut authors = read(0);
        let key = authors.key();
        assert_eq!(authors.of("/a/"), None);
        authors.set("/a/", author(7, 0)).unwrap();
        authors.set("/b c/", author(u64::MAX, 812)).unwrap();
        authors.forget_found().unwrap();

        assert_eq!(read(key).of("/b"), None);
        let mut authors = read(key);
        assert_eq!(authors.of("/a/"), Some(author(7, 0)));
        authors.set("/a/", author(8, 3)).unwrap();

        let mut authors = read(key);
        assert_eq!(authors.of("/a/"), Some(author(8, 3)));
        assert_eq!(authors.of("/b c/"), Some(author(u64::MAX, 812)));
        authors.set("/a/", author(8, 4)).unwrap();
        authors.forget_found().unwrap();
        assert_eq!(
            authors.of("/b c/"),
            Some(author(u64::MAX, 812)),
            "its states are not written yet"
        );

        let mut authors = read(key);
        assert_eq!((authors.of("/a/"), authors.of("/b c/")), (Some(author(8, 4)), None));
        authors.forget_found().unwrap();
        assert!(!folder.path().join(NAME).exists());
        assert_eq!(read(key).of("/a/"), None);
    }

    #[test]
    fn a_file_with_another_key_than_the_mark_tells_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let read = |key| Authors::read(folder.path(), &Disk::default(), key).unwrap();
        let mut authors = read(0);
        authors.set("/a/", author(7, 1)).unwrap();
        for other in [0, authors.key() ^ 1] {
            let mut later = read(other);
            assert_eq!(later.of("/a/"), None);
            assert_ne!(later.key(), authors.key());
            assert_ne!(later.key(), 0);
            later.set("/b/", author(8, 1)).unwrap();
            let set = read(later.key());
            assert_eq!((set.of("/a/"), set.of("/b/")), (None, Some(author(8, 1))));
            authors.set("/a/", author(7, 1)).unwrap();
        }
    }

    #[test]
    fn a_damaged_file_tells_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let mut authors = Authors::read(folder.path(), &Disk::default(), 0x1234).unwrap();
        authors.set("/a/", author(0x77, 1)).unwrap();
        let whole = std::fs::read_to_string(folder.path().join(NAME)).unwrap();
        for text in [
            whole.replace("77", "87"),
            whole[..whole.len() - 1].to_owned(),
            "\0".to_owned(),
            String::new(),
        ] {
            std::fs::write(folder.path().join(NAME), text).unwrap();
            let mut authors = Authors::read(folder.path(), &Disk::default(), 0x1234).unwrap();
            assert_eq!(authors.of("/a/"), None);
            authors.forget_found().unwrap();
            assert!(!folder.path().join(NAME).exists());
        }
    }
}

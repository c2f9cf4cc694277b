//! The files in the journal's folder.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use planesmith_store::Revision;
use planesmith_store::log::LogError;

use crate::disk::Disk;
use crate::errors::failed;
use crate::frame::{BadHeader, FileHeader, HEADER, Version};

/// The name of a file without a number.
const SPARE_NAME: &str = "spare.new";

/// The folder of the journal. Creating the next file needs no further descriptor.
#[derive(Debug)]
pub(super) struct Files {
    path: PathBuf,
    folder: File,
    disk: Disk,
    /// The next file, opened ahead: writes continue when descriptors run out.
    spare: Option<File>,
    /// True if a file that was given up may have its name again after a loss of power.
    has_unconfirmed_file: bool,
}

/// A file of the journal, by its name and its header.
#[derive(Clone, Copy, Debug)]
pub(super) struct JournalFile {
    pub(super) number: u64,
    pub(super) header: Result<FileHeader, BadHeader>,
    /// The number of a file that is missing before this one.
    pub(super) missing: Option<u64>,
}

pub(super) fn path_of(folder: &Path, number: u64) -> PathBuf {
    folder.join(format!("{number:010}.journal"))
}

impl Files {
    pub(super) fn open(path: PathBuf, disk: Disk) -> Result<Self, LogError> {
        let folder = File::open(&path).map_err(failed("open", &path))?;
        Ok(Self {
            path,
            folder,
            disk,
            spare: None,
            has_unconfirmed_file: false,
        })
    }

    pub(super) fn path(&self, number: u64) -> PathBuf {
        path_of(&self.path, number)
    }

    /// True if a later start may find a file whose creation [`Files::create`] reported as failed.
    pub(super) fn has_unconfirmed_file(&self) -> bool {
        self.has_unconfirmed_file
    }

    /// Makes sure that no later start finds a file that was given up: it would say that nothing counts that the file before it got
    /// since.
    pub(super) fn confirm(&mut self) -> Result<(), LogError> {
        match self.has_unconfirmed_file {
            true => self.sync(),
            false => Ok(()),
        }
    }

    /// Makes the names in the folder durable.
    pub(super) fn sync(&mut self) -> Result<(), LogError> {
        let synced = self.disk.sync_all(&self.folder, &self.path);
        self.has_unconfirmed_file &= synced.is_err();
        // Also for lack of space: the names on the disk are unknown then, so this error does not pass by itself.
        synced.map_err(|source| LogError::Io {
            context: format!("cannot sync {}", self.path.display()),
            source,
        })
    }

    /// Creates the file `number` with `content`. Both are durable when this returns; on an error there is no such file,
    /// unless [`Files::has_unconfirmed_file`].
    pub(super) fn create(&mut self, number: u64, content: &[u8]) -> Result<File, LogError> {
        let (spare, path) = (self.path.join(SPARE_NAME), self.path(number));
        let file = match self.spare.take() {
            Some(file) => file,
            None => create_new(&spare).map_err(failed("create", &path))?,
        };
        let written = self
            .disk
            .write_at(&file, &path, content, 0)
            .and_then(|()| self.disk.sync_all(&file, &path));
        let written = written.map_err(failed("write", &path));
        // The name comes last: a file with a name has all of its content.
        let renamed = written.and_then(|()| std::fs::rename(&spare, &path).map_err(failed("rename", &spare)));
        self.has_unconfirmed_file |= renamed.is_ok();
        let made = renamed.and_then(|()| self.sync());
        if made.is_err() {
            // Its pages may differ from the disk, so the next attempt needs another file.
            let _ = std::fs::remove_file(&spare);
            let _ = std::fs::remove_file(&path);
        }
        made.map(|()| file)
    }

    /// Opens the file that [`Files::create`] will use next, if that is possible now.
    pub(super) fn prepare(&mut self) {
        if self.spare.is_none() {
            let spare = create_new(&self.path.join(SPARE_NAME));
            self.spare = spare
                .inspect_err(|error| tracing::debug!(%error, "no spare file for the journal"))
                .ok();
        }
    }

    /// Removes the file `number`, if it exists.
    pub(super) fn remove(&self, number: u64) -> Result<(), LogError> {
        let path = self.path(number);
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(failed("remove", &path)(error)),
            Ok(()) | Err(_) => Ok(()),
        }
    }

    /// The files by their numbers.
    pub(super) fn list(&self) -> Result<Vec<JournalFile>, LogError> {
        let mut numbers = Vec::new();
        for file in std::fs::read_dir(&self.path).map_err(failed("read", &self.path))? {
            let name = file.map_err(failed("read", &self.path))?.file_name();
            let number = name
                .to_str()
                .and_then(|name| name.strip_suffix(".journal")?.parse::<u64>().ok());
            numbers.extend(number);
        }
        numbers.sort_unstable();
        let listed = numbers.into_iter().map(|number| {
            Ok(JournalFile {
                number,
                header: self.header(number)?,
                missing: None,
            })
        });
        listed.collect()
    }

    fn header(&self, number: u64) -> Result<Result<FileHeader, BadHeader>, LogError> {
        let path = self.path(number);
        let mut bytes = Vec::new();
        let file = File::open(&path).map_err(failed("open", &path))?;
        let read = file.take(HEADER as u64).read_to_end(&mut bytes);
        read.map_err(failed("read", &path))?;
        Ok(FileHeader::decode(&bytes))
    }
}

/// Creates an empty file that only this user may read, in place of an existing one.
fn create_new(path: &Path) -> std::io::Result<File> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => {}
    }
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true).mode(0o600).open(path)
}

/// The files that count, oldest first, and the numbers of obsolete ones: the state has all of their writes, or a later
/// file has replaced them.
pub(super) fn link(files: Vec<JournalFile>, settled: Revision) -> (Vec<JournalFile>, Vec<u64>) {
    let mut links: Vec<JournalFile> = Vec::new();
    let mut obsolete = Vec::new();
    // The file that has to precede the last one in `links`; 0: none.
    let mut expected = u64::MAX;
    let mut is_settled = false;
    for file in files.into_iter().rev() {
        if is_settled || file.number > expected {
            obsolete.push(file.number);
            continue;
        }
        if let Some(next) = links.last_mut()
            && file.number < expected
        {
            next.missing = Some(expected);
        }
        expected = file.number.saturating_sub(1);
        if let Ok(header) = file.header
            && header.version == Version::Two
        {
            expected = header.follows.file;
            is_settled = header.follows.last <= settled;
        }
        links.push(file);
    }
    if let Some(oldest) = links.last_mut()
        && oldest.header.is_ok_and(|header| header.version == Version::Two)
        && !is_settled
    {
        oldest.missing = Some(expected);
    }
    links.reverse();
    (links, obsolete)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::Follows;

    fn file(number: u64, before: u64, last: u64) -> JournalFile {
        let follows = Follows {
            file: before,
            end: 100,
            last: Revision(last),
            start: Revision(last),
        };
        JournalFile {
            number,
            header: Ok(FileHeader::new(number, 1, follows)),
            missing: None,
        }
    }

    fn linked(files: &[JournalFile], settled: u64) -> (Vec<(u64, Option<u64>)>, Vec<u64>) {
        let (links, obsolete) = link(files.to_vec(), Revision(settled));
        let links = links.iter().map(|link| (link.number, link.missing)).collect();
        (links, obsolete)
    }

    #[test]
    fn files_are_linked_by_what_they_follow() {
        let files = [file(1, 0, 0), file(2, 1, 10), file(3, 2, 20)];
        assert_eq!(linked(&files, 0), (vec![(1, None), (2, None), (3, None)], vec![]));
        assert_eq!(linked(&files[1..], 10), (vec![(2, None), (3, None)], vec![]));
        assert_eq!(linked(&files[1..], 9), (vec![(2, Some(1)), (3, None)], vec![]));
        assert_eq!(
            linked(&[files[0], files[2]], 19),
            (vec![(1, None), (3, Some(2))], vec![]),
        );
    }

    #[test]
    fn files_that_are_settled_or_replaced_do_not_count() {
        let files = [file(1, 0, 0), file(2, 1, 10), file(3, 2, 20)];
        assert_eq!(linked(&files, 10), (vec![(2, None), (3, None)], vec![1]));
        // The removal of the second file was durable before that of the first.
        assert_eq!(linked(&[files[0], files[2]], 20), (vec![(3, None)], vec![1]));
        // No byte of the second file counted when the third was created.
        let replaced = [file(1, 0, 0), file(2, 1, 10), file(3, 1, 10)];
        assert_eq!(linked(&replaced, 0), (vec![(1, None), (3, None)], vec![2]));
    }
}

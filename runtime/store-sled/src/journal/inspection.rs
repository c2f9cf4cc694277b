//! All that can be read of a journal, whatever is damaged.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use planesmith_store::Revision;
use planesmith_store::log::{LogError, Record};

use super::content::read_bytes;
use super::files::{Files, JournalFile, link};
use super::found::Found;
use super::loss::unseen;
use super::mark::Mark;
use crate::errors::is_of_another_version;
use crate::format::Format;
use crate::frame::{self, FileHeader, Frame, Version};

/// The files of a journal, as they are on the disk.
#[derive(Debug, Default)]
pub(crate) struct JournalInspection {
    /// The files that count, with their bytes.
    pub(crate) files: Vec<(PathBuf, u64)>,
    /// The damage that a start would refuse, with the file.
    pub(crate) damages: Vec<(PathBuf, String)>,
    /// Writes in broken frames, as far as their revisions and keys are legible.
    pub(crate) broken: Vec<(Revision, Arc<str>)>,
    /// The newest revision that is known to have been acknowledged, legible or not.
    pub(crate) durable: Revision,
    /// A revision that no client has seen.
    pub(crate) unseen: Revision,
}

/// The folder of a journal that is only read.
pub(crate) struct JournalFolder<'a> {
    /// The folder of the store.
    pub(crate) root: &'a Path,
    pub(crate) format: Format,
    /// Files up to this revision are not needed; zero if that is not known.
    pub(crate) settled: Revision,
}

impl JournalFolder<'_> {
    /// Reads all files. Passes every write in a whole frame to `visit`, also of frames behind damage.
    ///
    /// # Errors
    ///
    /// The operating system refuses, or the journal is of a newer version.
    pub(crate) fn inspect(&self, mut visit: impl FnMut(Record)) -> Result<JournalInspection, LogError> {
        let folder = self.root.join("journal");
        let mut inspection = JournalInspection::default();
        let mark = Mark::read(self.root)?;
        inspection.durable = mark.map_or(self.settled, |mark| mark.last.max(self.settled));
        if !folder.is_dir() {
            inspection.damages.push((folder, "it is missing".to_owned()));
            inspection.unseen = unseen(inspection.durable, &[]);
            return Ok(inspection);
        }
        let files = Files::open(folder, crate::disk::Disk::default())?;
        let torn = self.find_damage(&files, &mut inspection)?;
        let (links, obsolete) = link(files.list()?, self.settled);
        let counting = match inspection.damages.is_empty() {
            true => links,
            // The links may lead through a damaged file.
            false => files
                .list()?
                .into_iter()
                .filter(|file| !obsolete.contains(&file.number))
                .collect(),
        };
        for (position, file) in counting.iter().enumerate() {
            let path = files.path(file.number);
            let bytes = read_bytes(&path)?;
            inspection.files.push((path.clone(), bytes.len() as u64));
            let Ok(header) = file.header else { continue };
            let end = counting.get(position + 1).and_then(|next| end_in(next, file.number));
            let bytes = bytes.slice(..end.unwrap_or(bytes.len()).min(bytes.len()));
            let broken = read_frames(&bytes, &header, &mut |record| {
                inspection.durable = inspection.durable.max(record.revision);
                visit(record);
            });
            if torn.as_deref() != Some(&*path) {
                inspection.broken.extend(broken);
            }
        }
        let newest = inspection.broken.iter().map(|(revision, _)| *revision).max();
        inspection.durable = newest.unwrap_or_default().max(inspection.durable);
        inspection.unseen = unseen(inspection.durable, &[]);
        Ok(inspection)
    }

    /// Records what a start would refuse. Returns the file that ends with a frame that was never acknowledged.
    fn find_damage(&self, files: &Files, inspection: &mut JournalInspection) -> Result<Option<PathBuf>, LogError> {
        match Found::find(self.root, self.format, self.settled, files, |_| ()) {
            Ok(found) => {
                let damages = found.damages.into_iter();
                inspection
                    .damages
                    .extend(damages.map(|damage| (damage.path, damage.what)));
                Ok(found.last.filter(|last| last.is_torn).map(|last| last.path))
            }
            Err(error) if is_of_another_version(&error) => Err(error),
            Err(LogError::Unreadable(text)) => {
                inspection.damages.push((self.root.join("journal"), text));
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }
}

/// The end of the frames of the file `number`, if `next` follows it.
fn end_in(next: &JournalFile, number: u64) -> Option<usize> {
    let header = next.header.ok().filter(|header| header.version == Version::Two)?;
    (header.follows.file == number).then(|| usize::try_from(header.follows.end).unwrap_or(usize::MAX))
}

/// Passes the writes of all whole frames to `visit`. Returns those of broken frames, as far as they are legible.
fn read_frames(bytes: &Bytes, header: &FileHeader, visit: &mut dyn FnMut(Record)) -> Vec<(Revision, Arc<str>)> {
    let mut broken = Vec::new();
    let mut rest = bytes.slice(header.length().min(bytes.len())..);
    loop {
        match frame::decode(&rest, header) {
            Frame::Whole(whole) => {
                whole.batch.records.into_iter().for_each(&mut *visit);
                rest = rest.slice(whole.length..);
            }
            Frame::End => return broken,
            Frame::Broken => {
                let next = frame::find_whole(&rest, header).map(|(start, _)| start);
                let part = rest.slice(..next.unwrap_or(rest.len()));
                let writes = frame::legible(&part, header);
                broken.extend(writes.into_iter().map(|record| (record.revision, record.key)));
                let Some(next) = next else { return broken };
                rest = rest.slice(next..);
            }
        }
    }
}

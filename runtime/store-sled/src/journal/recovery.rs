//! Opening the journal: the content that is found becomes durable before it is passed on.

use std::path::Path;

use planesmith_store::Revision;
use planesmith_store::log::{Batch, LogError};

use super::files::Files;
use super::found::{Found, LastFile};
use super::loss;
use super::mark::{Mark, MarkFile};
use super::rescue::encode_file;
use super::segment::{Segment, block, secure};
use super::{Journal, Sealed};
use crate::disk::Disk;
use crate::format::{FolderFormat, Format};
use crate::frame::{FileHeader, Follows, Version};
use crate::random;
use crate::space::Space;

/// The parameters for opening the journal of a store.
#[derive(Debug)]
pub(crate) struct Recovery<'a> {
    /// The folder of the store.
    pub(crate) root: &'a Path,
    pub(crate) disk: Disk,
    pub(crate) space: Space,
    /// The revision of the state; the journal continues after it.
    pub(crate) settled: Revision,
    pub(crate) format: FolderFormat,
    /// Bytes after which a new file starts.
    pub(crate) file_size: u64,
    /// The key of the file `authors`.
    pub(crate) authors: u64,
    /// Gives up damaged writes, instead of refusing to open.
    pub(crate) accepts_loss: bool,
}

impl Recovery<'_> {
    /// Opens the journal. Batches that are not in the settled state go to `visit`. They are durable by then, and
    /// obsolete files are removed.
    pub(crate) fn open(self, visit: impl FnMut(Batch)) -> Result<Journal, LogError> {
        let mut files = Files::open(self.root.join("journal"), self.disk.clone())?;
        let mut found = Found::find(self.root, self.format.current(), self.settled, &files, visit)?;
        let durable = found.mark.map_or(Revision::ZERO, |mark| mark.last);
        if let (Some(damage), false) = (found.damages.first(), self.accepts_loss) {
            return Err(damage.refusal(found.revisions.last(), durable));
        }
        if let Some(last) = &found.last {
            self.secure(last, found.mark)?;
        }
        files.sync()?;
        let active = self.continue_in(&mut files, &mut found)?;
        for number in found.obsolete {
            files.remove(number)?;
        }
        let position = active.position();
        let mark = Mark {
            file: active.header().number,
            end: position.end,
            last: position.last,
            closed: false,
            authors: self.authors,
        };
        if found.mark.is_none() {
            mark.create(self.root, &self.disk)?;
        }
        let mark_file = MarkFile::open(self.root, self.disk.clone(), self.authors)?;
        mark_file.store(mark)?;
        if self.format.current() == Format::One {
            self.format.raise(Format::Three)?;
        }
        files.prepare();
        Ok(Journal {
            files,
            disk: self.disk,
            space: self.space,
            mark: mark_file,
            sealed: found.sealed,
            active,
            file_size: self.file_size,
            largest_file: self.file_size,
            floor: found.revisions.floor,
            is_untrusted: false,
            read_only: None,
            buffer: Vec::new(),
        })
    }

    /// Makes frames durable that may only be in memory after a crash.
    fn secure(&self, last: &LastFile, mark: Option<Mark>) -> Result<(), LogError> {
        let end = last.position.end;
        let from = match mark {
            Some(mark) if mark.file == last.header.number && mark.closed => end,
            Some(mark) if mark.file == last.header.number => block(mark.end).min(end),
            Some(_) | None => 0,
        };
        let clear = last.is_torn;
        secure(&last.path, &last.bytes, from..end, clear, &self.disk)
    }

    /// The file that the next write goes to.
    fn continue_in(&self, files: &mut Files, found: &mut Found) -> Result<Segment, LogError> {
        let last = found.last.take();
        let is_lossy = !found.damages.is_empty();
        let mut follows = Follows {
            last: found.revisions.last(),
            start: found.revisions.last(),
            ..Follows::default()
        };
        if let Some(LastFile {
            path, header, position, ..
        }) = &last
        {
            if header.version == Version::Two && !is_lossy {
                return Segment::reopen(path, self.disk.clone(), *header, *position);
            }
            (follows.file, follows.end) = (header.number, position.end);
        } else if let Some(sealed) = found.sealed.back().filter(|_| is_lossy) {
            (follows.file, follows.end) = (sealed.number, sealed.bytes);
        }
        if is_lossy {
            let durable = found.mark.map_or(Revision::ZERO, |mark| mark.last);
            follows.start = loss::unseen(follows.last.max(durable), &found.damages);
            loss::report(follows.last, follows.start, &found.damages);
            let damaged = last.as_ref().map(|last| &*last.path);
            let aside = loss::quarantine(self.root, files, damaged, &found.lost, &self.disk)?;
            tracing::error!(folder = %aside.display(), "the damaged files were moved aside");
            found.revisions.floor = follows.start;
        }
        if let Some(LastFile { header, position, .. }) = last {
            found.sealed.push_back(Sealed {
                number: header.number,
                last: position.last.max(self.settled),
                bytes: position.end,
            });
        }
        let header = FileHeader::new(found.newest + 1, random::number(), follows);
        let (content, position) = encode_file(&header, &[]);
        let file = files.create(header.number, &content)?;
        Ok(Segment::new(
            file,
            files.path(header.number),
            self.disk.clone(),
            header,
            position,
        ))
    }
}

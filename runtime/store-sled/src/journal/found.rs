//! The files of a journal as they are found at a start, up to the first damage.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use planesmith_store::Revision;
use planesmith_store::log::{Batch, LogError};

use super::Sealed;
use super::content::{Content, Extent, PlacedFrame, Tail, read_bytes};
use super::files::{Files, JournalFile, link};
use super::loss::{self, Damage};
use super::mark::Mark;
use super::segment::{Position, position_behind};
use crate::errors::{damaged, unknown_format};
use crate::format::Format;
use crate::frame::{BadHeader, FileHeader, VERSION, Version};

/// The files, as far as they can be read.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) mark: Option<Mark>,
    pub(super) revisions: Revisions,
    /// Numbers of obsolete files.
    pub(super) obsolete: Vec<u64>,
    /// The files before the last one.
    pub(super) sealed: VecDeque<Sealed>,
    pub(super) last: Option<LastFile>,
    pub(super) damages: Vec<Damage>,
    /// Numbers of files that do not count, because of damage in them or before them.
    pub(super) lost: Vec<u64>,
    /// The largest number of a known file; the next file gets a larger one.
    pub(super) newest: u64,
}

/// The newest file that counts at least in part.
#[derive(Debug)]
pub(super) struct LastFile {
    pub(super) path: PathBuf,
    pub(super) header: FileHeader,
    pub(super) bytes: Bytes,
    pub(super) position: Position,
    /// True if an incomplete frame is behind the position.
    pub(super) is_torn: bool,
}

/// Finds missing frames: each frame names the last write before it.
#[derive(Debug)]
pub(super) struct Revisions {
    last: Option<Revision>,
    settled: Revision,
    /// Changes after this revision are complete.
    pub(super) floor: Revision,
}

impl Revisions {
    /// The last revision that was found, or that the state includes.
    pub(super) fn last(&self) -> Revision {
        self.last.unwrap_or(self.settled).max(self.settled)
    }

    /// True if no write is missing between the last frame and one that follows `previous`.
    fn follows(&self, previous: Revision) -> bool {
        // The state may include the first files already, if their removal was interrupted.
        self.last == Some(previous) || (self.last.is_none_or(|last| last < previous) && previous <= self.settled)
    }

    fn gap(&self, previous: Revision) -> String {
        format!(
            "it continues after revision {previous}, but {} is the last known",
            self.last()
        )
    }
}

impl Found {
    /// Reads all files that count, up to the first damage.
    pub(super) fn find(
        root: &Path,
        format: Format,
        settled: Revision,
        files: &Files,
        mut visit: impl FnMut(Batch),
    ) -> Result<Self, LogError> {
        let mut listed = files.list()?;
        let mut found = Self {
            mark: None,
            revisions: Revisions {
                last: None,
                settled,
                floor: Revision::ZERO,
            },
            obsolete: Vec::new(),
            sealed: VecDeque::new(),
            last: None,
            damages: Vec::new(),
            lost: Vec::new(),
            newest: listed.last().map_or(0, |file| file.number),
        };
        match format {
            Format::One => found.drop_unfinished(files, &mut listed)?,
            Format::Two | Format::Three | Format::Four => {
                found.mark = Mark::read(root)?;
                if found.mark.is_none() {
                    let path = Mark::path(root);
                    found
                        .damages
                        .push(Damage::of_file(&path, "it is missing, cut off or changed"));
                }
            }
        }
        found.newest = found.newest.max(found.mark.map_or(0, |mark| mark.file));
        let (links, obsolete) = link(listed, settled);
        found.obsolete.extend(obsolete);
        for (position, file) in links.iter().enumerate() {
            let next = links.get(position + 1);
            if found.damages.iter().any(|damage| damage.path != Mark::path(root)) {
                found.give_up(files, file)?;
            } else {
                found.read(files, file, next, &mut visit)?;
            }
        }
        found.check_newest(files, links.last())?;
        Ok(found)
    }

    /// Ignores an empty last file, which version 1 was creating when its process ended.
    fn drop_unfinished(&mut self, files: &Files, listed: &mut Vec<JournalFile>) -> Result<(), LogError> {
        let Some(last) = listed.last().filter(|last| last.header == Err(BadHeader::Empty)) else {
            return Ok(());
        };
        if read_bytes(&files.path(last.number))?.iter().all(|byte| *byte == 0) {
            self.obsolete.push(last.number);
            listed.pop();
        }
        Ok(())
    }

    /// Reads one file, and passes on its content.
    fn read(
        &mut self,
        files: &Files,
        file: &JournalFile,
        next: Option<&JournalFile>,
        visit: &mut impl FnMut(Batch),
    ) -> Result<(), LogError> {
        let path = files.path(file.number);
        let header = match self.check_header(file, &path)? {
            Ok(header) => header,
            Err(what) => {
                self.damages.push(Damage::of_file(&path, &what));
                return self.give_up(files, file);
            }
        };
        let start = header.follows.start;
        if header.version == Version::Two && start > header.follows.last && start > self.revisions.settled {
            // Writes were given up here.
            self.revisions.last = Some(start);
            self.revisions.floor = start;
        }
        let bytes = read_bytes(&path)?;
        let start = self.revisions.last();
        let mut content = Content::parse(&path, &bytes, &header, self.extent(&header, next));
        self.check_frames(&path, &header, &mut content);
        let position = position_behind(&header, start, &content.frames);
        if self.revisions.last() > self.revisions.settled {
            content.frames.into_iter().for_each(|frame| visit(frame.batch));
        }
        let is_torn = matches!(content.tail, Tail::Torn);
        match content.tail {
            Tail::Damaged(damage) => self.damages.push(damage),
            Tail::Clean if next.is_some() => {
                self.seal(&header, position);
                return Ok(());
            }
            Tail::Clean | Tail::Torn => {}
        }
        self.last = Some(LastFile {
            path,
            header,
            bytes,
            position,
            is_torn,
        });
        Ok(())
    }

    /// Records a file that another one follows.
    fn seal(&mut self, header: &FileHeader, position: Position) {
        if self.revisions.last() > self.revisions.settled {
            self.sealed.push_back(Sealed {
                number: header.number,
                last: position.last.max(self.revisions.settled),
                bytes: position.end,
            });
        } else {
            self.obsolete.push(header.number);
        }
    }

    /// The header of `file`, or the problem with it or with its position.
    fn check_header(&self, file: &JournalFile, path: &Path) -> Result<Result<FileHeader, String>, LogError> {
        let header = match file.header {
            Ok(header) => header,
            Err(BadHeader::Version(version)) => {
                return Err(unknown_format(path, &version.to_string(), &VERSION.to_string()));
            }
            Err(BadHeader::Empty) => return Ok(Err("its header at byte 0 is zeros".to_owned())),
            Err(BadHeader::Damaged) => {
                return Ok(Err("it does not start like a journal at byte 0".to_owned()));
            }
        };
        if header.number != file.number {
            return Ok(Err(format!("its header names file {}", header.number)));
        }
        let previous = header.follows.last;
        let follows = header.version == Version::One || self.revisions.follows(previous);
        if follows && file.missing.is_none() {
            return Ok(Ok(header));
        }
        let what = match file.missing {
            Some(missing) => format!("the file {missing:010}.journal before it is missing"),
            None => self.revisions.gap(previous),
        };
        if self.last.is_none() && self.sealed.is_empty() {
            // Not the end of the journal is missing, but the start that it continues from.
            return Err(damaged(path, &what));
        }
        Ok(Err(what))
    }

    fn extent(&self, header: &FileHeader, next: Option<&JournalFile>) -> Extent {
        let number = header.number;
        match next.map(|next| next.header) {
            Some(Ok(next)) if next.version == Version::One => return Extent::Whole,
            Some(Ok(next)) if next.follows.file == number => return Extent::Exactly(next.follows.end),
            Some(_) => return Extent::Unknown,
            None => {}
        }
        match self.mark {
            Some(mark) if mark.file > number => Extent::Unknown,
            Some(mark) if mark.file == number => Extent::AtLeast {
                durable: mark.end,
                closed: mark.closed,
            },
            Some(_) | None => Extent::AtLeast {
                durable: 0,
                closed: false,
            },
        }
    }

    /// Checks that each frame follows the one before. Cuts `content` off where one is missing.
    fn check_frames(&mut self, path: &Path, header: &FileHeader, content: &mut Content) {
        for position in 0..content.frames.len() {
            let PlacedFrame { previous, .. } = content.frames[position];
            if !self.revisions.follows(previous) {
                let mut damage = Damage::of_file(path, &self.revisions.gap(previous));
                let records = content.frames.drain(position..).flat_map(|frame| frame.batch.records);
                damage.writes.extend(records.map(Into::into));
                content.end = content.frames.last().map_or(header.length() as u64, |frame| frame.end);
                content.tail = Tail::Damaged(damage);
                return;
            }
            self.revisions.last = Some(content.frames[position].last());
        }
    }

    /// Records a file that does not count, because its header or an earlier file is damaged.
    fn give_up(&mut self, files: &Files, file: &JournalFile) -> Result<(), LogError> {
        self.lost.push(file.number);
        let path = files.path(file.number);
        if let (Ok(header), Some(damage)) = (file.header, self.damages.last_mut()) {
            let bytes = read_bytes(&path)?;
            let behind = bytes.slice(header.length().min(bytes.len())..);
            damage.writes.extend(loss::writes_behind(&behind, &header));
        }
        Ok(())
    }

    /// Detects that the newest file or the newest frames are missing.
    fn check_newest(&mut self, files: &Files, newest: Option<&JournalFile>) -> Result<(), LogError> {
        let known = newest.map_or(0, |file| file.number);
        if newest.is_none() && self.mark.is_none() && self.revisions.settled > Revision::ZERO {
            let folder = files.path(1);
            return Err(damaged(
                folder.parent().unwrap_or(&folder),
                "the newest file is missing",
            ));
        }
        let Some(mark) = self.mark else {
            return Ok(());
        };
        if mark.file > known {
            self.damages
                .push(Damage::of_file(&files.path(mark.file), "it is missing"));
        } else if self.damages.is_empty() && mark.last > self.revisions.last() {
            let what = format!(
                "it ends with revision {}, of at least {}",
                self.revisions.last(),
                mark.last
            );
            self.damages.push(Damage::of_file(&files.path(known), &what));
        }
        Ok(())
    }
}

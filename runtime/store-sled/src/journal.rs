//! The checksummed files that answers wait for.

mod segment;

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use planesmith_store::Revision;
use planesmith_store::log::{Batch, LogError, Record};

use self::segment::Segment;
use crate::disk::Disk;
use crate::folder::{damaged, failed, salt};
use crate::frame;
use crate::space::Space;

/// Bytes after which a new file starts. The smaller the files, the sooner their space comes back;
/// each costs two more syncs.
const FILE_SIZE: u64 = 8 << 20;

/// The journal of one folder: full files, oldest first, and the one that grows.
#[derive(Debug)]
pub(crate) struct Journal {
    folder: PathBuf,
    disk: Disk,
    space: Space,
    sealed: VecDeque<Sealed>,
    active: Segment,
    last: Revision,
    /// Keeps its memory from append to append.
    buffer: Vec<u8>,
}

/// A full file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sealed {
    number: u64,
    /// The last write in it.
    pub(crate) last: Revision,
    pub(crate) bytes: u64,
}

impl Journal {
    /// Reads the files in `folder`, which go on after the state at `settled`. The batches that are
    /// not in that state go to `visit`; files that are in it as a whole are removed.
    pub(crate) fn open(
        folder: &Path,
        disk: Disk,
        space: Space,
        settled: Revision,
        mut visit: impl FnMut(Batch),
    ) -> Result<Self, LogError> {
        let mut numbers = numbers(folder)?;
        let mut last_content = None;
        // A file that was being created when the program ended holds nothing.
        if let Some(newest) = numbers.last().copied() {
            let path = segment::path(folder, newest);
            last_content = segment::read(&path, newest, true)?;
            if last_content.is_none() {
                std::fs::remove_file(&path).map_err(failed("remove", &path))?;
                numbers.pop();
            }
        }
        let mut sealed = VecDeque::new();
        let mut chain = Chain { last: None, settled };
        let mut active = None;
        for (position, number) in numbers.iter().copied().enumerate() {
            let path = segment::path(folder, number);
            let is_last = position + 1 == numbers.len();
            let content = match last_content.take_if(|_| is_last) {
                Some(content) => Some(content),
                None => segment::read(&path, number, is_last)?,
            };
            let content = content.ok_or_else(|| damaged(&path, "it is empty"))?;
            chain.check(&path, &content.frames)?;
            let needed = chain.last() > settled;
            if needed {
                content.frames.into_iter().for_each(|(batch, _)| visit(batch));
            }
            if is_last {
                active = Some(Segment::reopen(&path, content.header, content.end, &disk)?);
            } else if needed {
                sealed.push_back(Sealed {
                    number,
                    last: chain.last().max(settled),
                    bytes: content.end,
                });
            } else {
                std::fs::remove_file(&path).map_err(failed("remove", &path))?;
            }
        }
        let active = match active {
            Some(active) => active,
            None if settled == Revision::ZERO => Segment::create(folder, 1, salt(), &disk)?,
            None => return Err(damaged(folder, "the newest file is missing")),
        };
        let folder = folder.to_owned();
        Ok(Self {
            folder,
            disk,
            space,
            sealed,
            active,
            last: chain.last().max(settled),
            buffer: Vec::new(),
        })
    }

    /// The last durable write.
    pub(crate) fn last(&self) -> Revision {
        self.last
    }

    /// Bytes in all files.
    pub(crate) fn size(&self) -> u64 {
        self.sealed.iter().map(|sealed| sealed.bytes).sum::<u64>() + self.active.end()
    }

    /// Writes `batch` and makes it durable. On an error nothing of it counts.
    pub(crate) fn append(&mut self, batch: &Batch) -> Result<(), LogError> {
        let Some(last) = batch.records.last() else {
            return Ok(());
        };
        let header = self.active.header();
        self.buffer.clear();
        frame::encode(batch, self.last, header.salt, &mut self.buffer);
        let fresh = self.active.end() == frame::HEADER as u64;
        if !fresh && self.active.end() + self.buffer.len() as u64 > FILE_SIZE {
            self.roll()?;
            let salt = self.active.header().salt;
            self.buffer.clear();
            frame::encode(batch, self.last, salt, &mut self.buffer);
        }
        let growth = self.active.growth(self.buffer.len());
        if growth > 0 {
            self.space.check_for_writing(growth)?;
        }
        self.active.append(&self.buffer)?;
        self.last = last.revision;
        // One huge batch does not keep its memory forever.
        self.buffer.shrink_to(1 << 20);
        Ok(())
    }

    /// The full files that are behind `floor` as a whole, oldest first.
    pub(crate) fn behind(&self, floor: Revision) -> Vec<Sealed> {
        self.sealed
            .iter()
            .copied()
            .take_while(|sealed| sealed.last <= floor)
            .collect()
    }

    /// Takes note that the file of `sealed` was removed.
    pub(crate) fn forget(&mut self, sealed: Sealed) {
        self.sealed.retain(|known| *known != sealed);
    }

    /// Gives back what was written ahead.
    pub(crate) fn close(&mut self) -> Result<(), LogError> {
        self.active.seal()
    }

    fn roll(&mut self) -> Result<(), LogError> {
        self.active.seal()?;
        let number = self.active.header().number;
        let next = Segment::create(&self.folder, number + 1, salt(), &self.disk)?;
        self.sealed.push_back(Sealed {
            number,
            last: self.last,
            bytes: self.active.end(),
        });
        self.active = next;
        Ok(())
    }
}

/// The writes of a full file, in their order.
pub(crate) fn read_sealed(folder: &Path, sealed: Sealed) -> Result<Vec<Record>, LogError> {
    let path = segment::path(folder, sealed.number);
    let content = segment::read(&path, sealed.number, false)?;
    let content = content.ok_or_else(|| damaged(&path, "it is empty"))?;
    Ok(content
        .frames
        .into_iter()
        .flat_map(|(batch, _)| batch.records)
        .collect())
}

/// Removes a full file. Without the journal, as this may take a while.
pub(crate) fn remove_sealed(folder: &Path, sealed: Sealed) -> Result<(), LogError> {
    let path = segment::path(folder, sealed.number);
    std::fs::remove_file(&path).map_err(failed("remove", &path))
}

/// Finds missing frames: each names the last write before it.
struct Chain {
    last: Option<Revision>,
    settled: Revision,
}

impl Chain {
    fn last(&self) -> Revision {
        self.last.unwrap_or(self.settled)
    }

    fn check(&mut self, path: &Path, frames: &[(Batch, Revision)]) -> Result<(), LogError> {
        for (batch, previous) in frames {
            // The first files may be in the state already, when removing them was interrupted.
            let follows = self.last.map_or(*previous <= self.settled, |last| *previous == last);
            if !follows {
                let (found, expected) = (previous, self.last());
                let what = format!("it goes on after revision {found}, but {expected} is the last known");
                return Err(damaged(path, &what));
            }
            self.last = Some(batch.records.last().map_or(*previous, |record| record.revision));
        }
        Ok(())
    }
}

/// The numbers of the journal files, without a gap.
fn numbers(folder: &Path) -> Result<Vec<u64>, LogError> {
    let mut numbers = Vec::new();
    for file in std::fs::read_dir(folder).map_err(failed("read", folder))? {
        let name = file.map_err(failed("read", folder))?.file_name();
        let number = name
            .to_str()
            .and_then(|name| name.strip_suffix(".journal")?.parse::<u64>().ok());
        numbers.extend(number);
    }
    numbers.sort_unstable();
    match numbers.windows(2).find(|pair| pair[0] + 1 != pair[1]) {
        None => Ok(numbers),
        Some(pair) => Err(damaged(
            folder,
            &format!("the file {:010}.journal is missing", pair[0] + 1),
        )),
    }
}

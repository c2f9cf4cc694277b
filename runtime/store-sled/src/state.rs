//! The state of every key before the journal: files that are written once and never changed.

use std::fs::File;
use std::io::{BufReader, Read, Write};
use std::path::{Path, PathBuf};

use bytes::Bytes;
use planesmith_store::Revision;
use planesmith_store::log::{Batch, LogError, Record};

use crate::folder::{damaged, failed, salt, sync_folder, unknown_format};
use crate::frame::{self, BadHeader, FRAME_HEADER, FileHeader, Frame, HEADER, Kind};

/// Bytes of records per frame, about.
const FRAME: usize = 128 << 10;

/// Bytes that are written before they are synced, so that the last sync, and what waits behind it
/// in the file system, is short.
const SYNC: usize = 4 << 20;

/// The newest state in a folder.
#[derive(Clone, Debug)]
pub(crate) struct State {
    folder: PathBuf,
    /// `None` when nothing was settled yet.
    newest: Option<(Revision, u64)>,
}

fn path(folder: &Path, through: Revision) -> PathBuf {
    folder.join(format!("{through:020}.state"))
}

impl State {
    /// Finds the newest state; removes unfinished and older ones.
    pub(crate) fn open(folder: &Path) -> Result<Self, LogError> {
        let mut state = Self {
            folder: folder.to_owned(),
            newest: None,
        };
        let mut found = Vec::new();
        for file in std::fs::read_dir(folder).map_err(failed("read", folder))? {
            let file = file.map_err(failed("read", folder))?;
            let name = file.file_name();
            let name = name.to_str().unwrap_or_default();
            if let Some(through) = name.strip_suffix(".state").and_then(|name| name.parse().ok()) {
                let size = file.metadata().map_err(failed("read", &file.path()))?.len();
                found.push((Revision(through), size));
            } else if name.ends_with(".new") {
                remove(&file.path())?;
            }
        }
        found.sort_unstable();
        state.newest = found.pop();
        for (older, _) in found {
            remove(&path(folder, older))?;
        }
        Ok(state)
    }

    /// The last write that the state includes.
    pub(crate) fn through(&self) -> Revision {
        self.newest.map_or(Revision::ZERO, |(through, _)| through)
    }

    /// Bytes on disk.
    pub(crate) fn size(&self) -> u64 {
        self.newest.map_or(0, |(_, size)| size)
    }

    /// Reads the state; `None` when there is none.
    pub(crate) fn reader(&self) -> Result<Option<Reader>, LogError> {
        self.newest
            .map(|(through, _)| Reader::open(path(&self.folder, through), through))
            .transpose()
    }

    /// Starts the state that will replace this one.
    pub(crate) fn writer(&self, through: Revision) -> Result<Writer, LogError> {
        Writer::create(&self.folder, through)
    }

    /// Puts the finished state of `writer` in the place of this one.
    pub(crate) fn replace(&mut self, writer: Writer) -> Result<(), LogError> {
        let older = self.newest;
        let newest = writer.finish(&self.folder)?;
        self.newest = Some(newest);
        match older {
            Some((older, _)) if older != newest.0 => remove(&path(&self.folder, older)),
            Some(_) | None => Ok(()),
        }
    }
}

fn remove(path: &Path) -> Result<(), LogError> {
    std::fs::remove_file(path).map_err(failed("remove", path))
}

/// Reads a state from its start to its end.
#[derive(Debug)]
pub(crate) struct Reader {
    file: BufReader<File>,
    path: PathBuf,
    salt: u64,
    read: u64,
}

impl Reader {
    fn open(path: PathBuf, through: Revision) -> Result<Self, LogError> {
        let mut file = BufReader::new(File::open(&path).map_err(failed("open", &path))?);
        let mut header = [0; HEADER];
        file.read_exact(&mut header)
            .map_err(|_| damaged(&path, "it is cut off"))?;
        match FileHeader::decode(Kind::State, &header) {
            Ok(header) if header.number == through.0 => Ok(Self {
                file,
                path,
                salt: header.salt,
                read: 0,
            }),
            Err(BadHeader::Version(version)) => Err(unknown_format(&path, &version.to_string())),
            Ok(_) | Err(BadHeader::Empty | BadHeader::Damaged) => {
                Err(damaged(&path, "it does not start like the state that it should be"))
            }
        }
    }

    /// The next states; `None` at the end.
    pub(crate) fn next(&mut self) -> Result<Option<Vec<Record>>, LogError> {
        let broken = |path: &Path| damaged(path, "it is cut off, or changed");
        let mut header = [0; FRAME_HEADER];
        self.file.read_exact(&mut header).map_err(|_| broken(&self.path))?;
        let mut frame = header.to_vec();
        let body = (frame::length_of(&header) - FRAME_HEADER) as u64;
        let read = self.file.by_ref().take(body).read_to_end(&mut frame);
        read.map_err(failed("read", &self.path))?;
        let Frame::Whole { batch, previous, .. } = frame::decode(&Bytes::from(frame), self.salt) else {
            return Err(broken(&self.path));
        };
        if previous.0 != self.read {
            return Err(damaged(&self.path, "a part is missing"));
        }
        self.read += batch.records.len() as u64;
        Ok((!batch.records.is_empty()).then_some(batch.records))
    }
}

/// Writes a state. Nobody sees it before it is finished; dropped before, it leaves nothing.
#[derive(Debug)]
pub(crate) struct Writer {
    file: File,
    path: PathBuf,
    through: Revision,
    salt: u64,
    records: Vec<Record>,
    /// Bytes of `records`.
    pending: usize,
    written: u64,
    unsynced: usize,
    size: u64,
    finished: bool,
}

impl Writer {
    fn create(folder: &Path, through: Revision) -> Result<Self, LogError> {
        let path = folder.join(format!("{through:020}.new"));
        let file = crate::folder::create_file(&path)?;
        let salt = salt();
        let mut writer = Self {
            file,
            path,
            through,
            salt,
            records: Vec::new(),
            pending: 0,
            written: 0,
            unsynced: 0,
            size: 0,
            finished: false,
        };
        writer.write(
            &FileHeader {
                kind: Kind::State,
                number: through.0,
                salt,
            }
            .encode(),
        )?;
        Ok(writer)
    }

    /// Adds the state of one more key.
    pub(crate) fn push(&mut self, record: Record) -> Result<(), LogError> {
        self.pending += record.bytes.len() + record.key.len();
        self.records.push(record);
        if self.pending >= FRAME {
            self.write_frame()
        } else {
            Ok(())
        }
    }

    /// Makes the state durable under its final name.
    fn finish(mut self, folder: &Path) -> Result<(Revision, u64), LogError> {
        if !self.records.is_empty() {
            self.write_frame()?;
        }
        // A frame without records is the end.
        self.write_frame()?;
        self.file.sync_all().map_err(failed("sync", &self.path))?;
        let path = path(folder, self.through);
        std::fs::rename(&self.path, &path).map_err(failed("rename", &self.path))?;
        self.finished = true;
        sync_folder(folder)?;
        Ok((self.through, self.size))
    }

    fn write_frame(&mut self) -> Result<(), LogError> {
        let batch = Batch {
            at: 0,
            records: std::mem::take(&mut self.records),
        };
        let mut bytes = Vec::with_capacity(self.pending + FRAME_HEADER + 32 * batch.records.len());
        frame::encode(&batch, Revision(self.written), self.salt, &mut bytes);
        self.written += batch.records.len() as u64;
        self.pending = 0;
        self.write(&bytes)
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), LogError> {
        self.file.write_all(bytes).map_err(failed("write", &self.path))?;
        self.size += bytes.len() as u64;
        self.unsynced += bytes.len();
        if self.unsynced >= SYNC {
            self.unsynced = 0;
            self.file.sync_data().map_err(failed("sync", &self.path))?;
        }
        Ok(())
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        if !self.finished {
            // Otherwise the next start removes it.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

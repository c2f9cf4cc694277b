//! Journal files become part of the state, a step at a time.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use planesmith_store::Revision;
use planesmith_store::log::{Change, LogError, Record};

use crate::journal::{self, Sealed};
use crate::space::Space;
use crate::state::{Reader, State, Writer};

/// A new state in the making: the old one, and some journal files on top.
///
/// The files are read twice: first for the last write of every key, then for the objects of those
/// writes. So it takes the memory of their keys and of one file.
#[derive(Debug)]
pub(crate) struct Merge {
    journal: PathBuf,
    files: Vec<Sealed>,
    /// The last write of each key in the files.
    last: HashMap<Arc<str>, Last>,
    stage: Stage,
}

#[derive(Clone, Copy, Debug)]
struct Last {
    revision: Revision,
    /// Bytes of the key's new state; 0 when it is gone.
    bytes: u64,
}

#[derive(Debug)]
enum Stage {
    /// Finding out which writes count; the next file.
    Indexing(usize),
    /// Taking over what the files did not change.
    Copying(Reader, Writer),
    /// Taking over what they did change; the next file.
    Adding(usize, Writer),
}

/// What a step led to.
pub(crate) enum Step {
    /// There is more to do.
    More(Merge),
    /// The new state is complete, and may replace the old one.
    Complete(Writer, Vec<Sealed>),
}

impl Merge {
    /// Starts with `files` of the journal in the folder `journal`, oldest first, at least one.
    pub(crate) fn new(journal: &Path, files: Vec<Sealed>) -> Self {
        Self {
            journal: journal.to_owned(),
            files,
            last: HashMap::new(),
            stage: Stage::Indexing(0),
        }
    }

    /// Does a little. On an error the merge is gone, and nothing changed.
    pub(crate) fn step(mut self, state: &State, space: &Space) -> Result<Step, LogError> {
        self.stage = match self.stage {
            Stage::Indexing(number) => match self.files.get(number).copied() {
                Some(file) => {
                    self.index(file)?;
                    Stage::Indexing(number + 1)
                }
                None => self.start(state, space)?,
            },
            Stage::Copying(mut reader, mut writer) => match reader.next()? {
                Some(records) => {
                    for record in records {
                        if !self.last.contains_key(&record.key) {
                            writer.push(record)?;
                        }
                    }
                    Stage::Copying(reader, writer)
                }
                None => Stage::Adding(0, writer),
            },
            Stage::Adding(number, mut writer) => {
                let Some(file) = self.files.get(number).copied() else {
                    return Ok(Step::Complete(writer, self.files));
                };
                for record in journal::read_sealed(&self.journal, file)? {
                    let last = self.last.get(&record.key);
                    let counts = last.is_some_and(|last| last.revision == record.revision);
                    if counts && record.change != Change::Delete {
                        writer.push(record)?;
                    }
                }
                Stage::Adding(number + 1, writer)
            }
        };
        Ok(Step::More(self))
    }

    fn index(&mut self, file: Sealed) -> Result<(), LogError> {
        for Record {
            revision,
            key,
            change,
            bytes,
            ..
        } in journal::read_sealed(&self.journal, file)?
        {
            let bytes = match change {
                Change::Put { .. } => (bytes.len() + key.len() + 64) as u64,
                Change::Delete => 0,
            };
            self.last.insert(key, Last { revision, bytes });
        }
        Ok(())
    }

    /// Starts writing, if there is space for the whole new state beside the old one.
    fn start(&self, state: &State, space: &Space) -> Result<Stage, LogError> {
        let added: u64 = self.last.values().map(|last| last.bytes).sum();
        space.check_for_settling(state.size() + added)?;
        let through = self.files.last().map_or(Revision::ZERO, |file| file.last);
        let writer = state.writer(through)?;
        Ok(match state.reader()? {
            Some(reader) => Stage::Copying(reader, writer),
            None => Stage::Adding(0, writer),
        })
    }
}

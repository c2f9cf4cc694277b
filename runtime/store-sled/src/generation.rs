//! The state of every key before the journal: sled databases that are written once and never
//! changed.

mod database;
mod manifest;

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use planesmith_store::Revision;
use planesmith_store::log::{LogError, Record};

use self::database::Builder;
use self::manifest::{Listed, Manifest};
use crate::disk::Disk;
use crate::folder::{damaged, failed, salt};
use crate::space::Space;
use crate::worker::{Pulse, other};

/// The generation that counts, in a folder of them.
#[derive(Clone, Debug)]
pub(crate) struct Generations {
    folder: PathBuf,
    disk: Disk,
    /// `None` when nothing was settled yet.
    newest: Option<Generation>,
}

/// A complete generation.
#[derive(Clone, Debug)]
pub(crate) struct Generation {
    path: PathBuf,
    manifest: Manifest,
}

impl Generations {
    /// Finds the newest generation; removes unfinished and older ones.
    pub(crate) fn open(folder: &Path, disk: Disk) -> Result<Self, LogError> {
        let mut found = Vec::new();
        for path in entries(folder)? {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            if let Ok(through) = name.parse::<u64>() {
                found.push((through, path));
            } else if is_scratch(name) {
                remove_tree(&path)?;
            }
        }
        found.sort_unstable();
        let newest = found
            .pop()
            .map(|(through, path)| Generation::find(path, Revision(through)));
        let newest = newest.transpose()?;
        for (_, older) in found {
            remove_tree(&older)?;
        }
        Ok(Self {
            folder: folder.to_owned(),
            disk,
            newest,
        })
    }

    /// The newest generation.
    pub(crate) fn newest(&self) -> Option<&Generation> {
        self.newest.as_ref()
    }

    /// The last write that the newest generation includes.
    pub(crate) fn through(&self) -> Revision {
        let newest = self.newest.as_ref();
        newest.map_or(Revision::ZERO, |newest| newest.manifest.summary.through)
    }

    /// Bytes of the records in the newest generation.
    pub(crate) fn bytes(&self) -> u64 {
        self.newest.as_ref().map_or(0, |newest| newest.manifest.summary.bytes)
    }

    /// Bytes on disk.
    pub(crate) fn size(&self) -> u64 {
        self.newest.as_ref().map_or(0, |newest| newest.manifest.size())
    }

    /// The syncs of the store.
    pub(crate) fn disk(&self) -> &Disk {
        &self.disk
    }

    /// Starts the generation that will replace the newest.
    pub(crate) fn make(&self, through: Revision) -> Result<Scratch, LogError> {
        Scratch::create(&self.folder, through, "new")
    }

    /// Puts `made` in the place of the newest generation. On an error the newest stays what it is.
    pub(crate) fn publish(&mut self, made: Made) -> Result<(), LogError> {
        let through = made.manifest.summary.through;
        let path = self.folder.join(format!("{through:020}"));
        if path.exists() {
            // What an attempt left that could not be made durable.
            remove_tree(&path)?;
        }
        std::fs::rename(&made.scratch.path, &path).map_err(failed("rename", &made.scratch.path))?;
        self.disk.sync_folder(&self.folder)?;
        let newest = Generation {
            path,
            manifest: made.manifest,
        };
        match self.newest.replace(newest) {
            Some(older) => remove_tree(&older.path),
            None => Ok(()),
        }
    }
}

impl Generation {
    fn find(path: PathBuf, through: Revision) -> Result<Self, LogError> {
        let manifest = Manifest::read(&path)?;
        if manifest.summary.through != through {
            let what = format!("it says that it is the state at revision {}", manifest.summary.through);
            return Err(damaged(&path, &what));
        }
        Ok(Self { path, manifest })
    }

    /// Hands over all records, in the order of their revisions. They are right if this succeeds.
    ///
    /// sled changes the files of a database that it opens, so it gets a copy.
    pub(crate) fn read(
        &self,
        pulse: &Pulse,
        visit: impl FnMut(Record) -> Result<(), LogError>,
    ) -> Result<(), LogError> {
        let scratch = self.copy(pulse)?;
        let read = database::read(&scratch.path, &self.manifest.summary, pulse, visit);
        // The copy is gone when somebody reads about it.
        read.map_err(|error| match error {
            LogError::Unreadable(_) => damaged(&self.path, "sled does not find in it what was written"),
            error => error,
        })
    }

    /// A copy beside the generation, or, when the disk is full, in the folder for such files.
    fn copy(&self, pulse: &Pulse) -> Result<Scratch, LogError> {
        let through = self.manifest.summary.through;
        let beside = self.path.parent().unwrap_or(&self.path);
        let copy = |folder: &Path| {
            let scratch = Scratch::create(folder, through, "read")?;
            Space::of(&scratch.path)?.check_for_settling(self.manifest.size() + database::OPENING)?;
            for file in &self.manifest.files {
                file.copy(&self.path, &scratch.path, pulse)?;
            }
            Ok(scratch)
        };
        match copy(beside) {
            Err(LogError::Full) => copy(&std::env::temp_dir()),
            other => other,
        }
    }
}

/// A folder that is removed when dropped, or at the next start.
#[derive(Debug)]
pub(crate) struct Scratch {
    path: PathBuf,
    through: Revision,
}

impl Scratch {
    fn create(folder: &Path, through: Revision, purpose: &str) -> Result<Self, LogError> {
        // Nobody else has the name, not even a thread that an earlier attempt left hanging.
        let path = folder.join(format!("{through:020}.{:016x}.{purpose}", salt()));
        // What is stored includes secrets.
        let created = DirBuilder::new().mode(0o700).create(&path);
        created.map_err(failed("create", &path))?;
        Ok(Self { path, through })
    }

    /// Starts the database in it.
    pub(crate) fn build(&self) -> Result<Building<'_>, LogError> {
        Ok(Building {
            builder: Builder::create(&self.path)?,
        })
    }

    /// Makes what was built durable, and reads it as the next start will.
    pub(crate) fn finish(self, built: &Built, disk: &Disk, pulse: &Pulse) -> Result<Made, LogError> {
        let mut files = Vec::new();
        for path in entries(&self.path)? {
            pulse.beat()?;
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            if path.is_dir() {
                // sled's folder for values that it does not sync, which are not there.
                if !entries(&path)?.is_empty() {
                    return Err(other("sled put values elsewhere"));
                }
                std::fs::remove_dir(&path).map_err(failed("remove", &path))?;
            } else {
                disk.sync_file(&path)?;
                files.push(Listed::measure(&self.path, name, pulse)?);
            }
        }
        files.sort_by(|one, two| one.name.cmp(&two.name));
        let manifest = Manifest {
            summary: built.0,
            files,
        };
        manifest.write(&self.path, disk)?;
        disk.sync_folder(&self.path)?;
        let generation = Generation::find(self.path.clone(), self.through)?;
        generation.read(pulse, |_| Ok(()))?;
        Ok(Made {
            scratch: self,
            manifest,
        })
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // Renamed into place it is not there any more; otherwise the next start removes it.
        let _ = remove_tree(&self.path);
    }
}

/// A database that is being written.
pub(crate) struct Building<'a> {
    builder: Builder<'a>,
}

/// What was written into a closed database.
pub(crate) struct Built(database::Summary);

impl Building<'_> {
    /// Adds a record, which has to be newer than those before.
    pub(crate) fn push(&mut self, record: &Record) -> Result<(), LogError> {
        self.builder.push(record)
    }

    /// Closes the database, which is the state at `through`.
    pub(crate) fn finish(self, through: Revision) -> Result<Built, LogError> {
        self.builder.finish(through).map(Built)
    }
}

/// A generation that is complete, durable and verified, but not in its place.
#[derive(Debug)]
pub(crate) struct Made {
    scratch: Scratch,
    manifest: Manifest,
}

fn is_scratch(name: &str) -> bool {
    let purpose = name.rsplit_once('.').map(|(_, purpose)| purpose);
    matches!(purpose, Some("new" | "read"))
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>, LogError> {
    let entries = std::fs::read_dir(folder).map_err(failed("read", folder))?;
    entries
        .map(|entry| Ok(entry.map_err(failed("read", folder))?.path()))
        .collect()
}

/// Removes a file, or a folder and what is in it.
fn remove_tree(path: &Path) -> Result<(), LogError> {
    let removed = if path.is_dir() {
        for entry in entries(path)? {
            remove_tree(&entry)?;
        }
        std::fs::remove_dir(path)
    } else {
        std::fs::remove_file(path)
    };
    removed.map_err(failed("remove", path))
}

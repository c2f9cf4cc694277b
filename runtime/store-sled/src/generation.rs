//! A generation: a sled database that is written once and never changed, with its checksums.

mod database;
mod first_format;
mod manifest;
mod places;
mod records;
mod summary;

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use planesmith_store::Revision;
use planesmith_store::log::{LogError, Record};

use self::database::Builder;
use self::manifest::{Manifest, ManifestFile};
use self::places::WrittenBlock;
use self::records::RecordReader;
use self::summary::Summary;
use crate::disk::Disk;
use crate::errors::{damaged, failed};
use crate::file_system::{entries, remove_tree};
use crate::random;
use crate::space::Space;
use crate::worker::{Pulse, other};

/// Maximum size on disk of a generation with so many bytes of records.
pub(crate) fn size_for(records: u64) -> u64 {
    database::size_for(records)
}

/// Maximum bytes by which a generation with `records` more bytes of records is larger on disk.
pub(crate) fn growth_for(records: u64) -> u64 {
    database::growth_for(records)
}

/// The file of sled with all values.
const DATABASE: &str = "db";

/// A complete generation.
#[derive(Clone, Debug)]
pub(crate) struct Generation {
    path: PathBuf,
    manifest: Manifest,
    /// The number of times that it was read.
    #[cfg(test)]
    pub(crate) reads: std::sync::Arc<std::sync::atomic::AtomicU32>,
}

impl Generation {
    fn new(path: PathBuf, manifest: Manifest) -> Self {
        Self {
            path,
            manifest,
            #[cfg(test)]
            reads: std::sync::Arc::default(),
        }
    }

    /// Opens the generation in the folder `path`.
    pub(crate) fn find(path: PathBuf) -> Result<Self, LogError> {
        let manifest = Manifest::read(&path)?;
        Ok(Self::new(path, manifest))
    }

    /// Opens the generation in the folder `path`, which has the first format and the state at `through`.
    pub(crate) fn find_at(path: PathBuf, through: Revision) -> Result<Self, LogError> {
        let found = Self::find(path)?;
        if found.through() != through {
            let what = format!("its manifest names revision {}", found.through());
            return Err(damaged(&found.path, &what));
        }
        Ok(found)
    }

    /// The name of its folder.
    pub(crate) fn name(&self) -> String {
        let name = self.path.file_name().unwrap_or_default();
        name.to_string_lossy().into_owned()
    }

    /// CRC-32 of its manifest.
    pub(crate) fn checksum(&self) -> u32 {
        self.manifest.checksum()
    }

    /// The last write that a generation of the first format includes; zero for others.
    pub(crate) fn through(&self) -> Revision {
        self.manifest.summary.through
    }

    /// Number of its records.
    pub(crate) fn keys(&self) -> u64 {
        self.manifest.summary.keys
    }

    /// Bytes of its records.
    pub(crate) fn bytes(&self) -> u64 {
        self.manifest.summary.bytes
    }

    /// Bytes on disk.
    pub(crate) fn size(&self) -> u64 {
        self.manifest.size()
    }

    /// Bytes that have to be free for [`Self::read`].
    pub(crate) fn size_of_copy(&self) -> u64 {
        match self.manifest.places.is_empty() {
            true => self.size() + COPY_OVERHEAD,
            false => 0,
        }
    }

    /// Passes on all records, which are valid if this succeeds.
    pub(crate) fn read(
        &self,
        space: &Space,
        pulse: &Pulse,
        visit: impl FnMut(Record) -> Result<(), LogError>,
    ) -> Result<(), LogError> {
        #[cfg(test)]
        self.reads.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        match self.manifest.places.is_empty() {
            true => self.read_by_sled(space, pulse, visit),
            false => self.read_in_place(pulse, visit),
        }
    }

    /// Reads the blocks from sled's file, at their places.
    fn read_in_place(
        &self,
        pulse: &Pulse,
        mut visit: impl FnMut(Record) -> Result<(), LogError>,
    ) -> Result<(), LogError> {
        let mut records = RecordReader::new(&self.path);
        for file in &self.manifest.files {
            pulse.beat()?;
            let bytes = file.read(&self.path)?;
            if file.name != DATABASE {
                continue;
            }
            for place in &self.manifest.places {
                pulse.beat()?;
                records.push(place.of(&bytes, &self.path)?, &mut visit)?;
            }
        }
        match records.finish() == Some(self.manifest.summary) {
            true => Ok(()),
            false => Err(damaged(&self.path, "its records are not those that its summary lists")),
        }
    }

    /// sled changes the files of a database that it opens, so it gets a copy beside the generation.
    fn read_by_sled(
        &self,
        space: &Space,
        pulse: &Pulse,
        visit: impl FnMut(Record) -> Result<(), LogError>,
    ) -> Result<(), LogError> {
        let beside = self.path.parent().unwrap_or(&self.path);
        space.claim(self.size_of_copy())?;
        let scratch = Scratch::create(beside, "read")?;
        for file in &self.manifest.files {
            file.copy(&self.path, &scratch.path, pulse)?;
        }
        let summary = &self.manifest.summary;
        let read = match self.manifest.is_first_format {
            true => first_format::read(&scratch.path, summary, pulse, visit),
            false => database::read(&scratch.path, summary, pulse, visit),
        };
        // The copy is removed before the error can be read.
        read.map_err(|error| match error {
            LogError::Unreadable(_) => damaged(&self.path, "sled does not read what was written to it"),
            error => error,
        })
    }
}

/// Passes on the records of a damaged generation in the folder `path` until sled or a record cannot be read. Each may be wrong.
pub(crate) fn salvage(
    path: &Path,
    space: &Space,
    pulse: &Pulse,
    visit: &mut dyn FnMut(Record) -> Result<(), LogError>,
) -> Result<(), LogError> {
    let files = entries(path)?;
    let bytes = files
        .iter()
        .filter_map(|file| Some(file.metadata().ok()?.len()))
        .sum::<u64>();
    space.claim(bytes + COPY_OVERHEAD)?;
    let scratch = Scratch::create(path.parent().unwrap_or(path), "read")?;
    for file in files.iter().filter(|file| file.is_file()) {
        pulse.beat()?;
        let name = file.file_name().unwrap_or_default();
        std::fs::copy(file, scratch.path.join(name)).map_err(failed("copy", file))?;
    }
    database::read(&scratch.path, &Summary::default(), pulse, visit)
}

/// Maximum bytes that sled writes when it opens a copy.
pub(crate) const COPY_OVERHEAD: u64 = 512 << 10;

/// A folder that is removed when dropped, or at the next start.
#[derive(Debug)]
pub(crate) struct Scratch {
    path: PathBuf,
}

impl Scratch {
    fn create(folder: &Path, purpose: &str) -> Result<Self, LogError> {
        // The name is unique, even among threads that an earlier attempt left hanging.
        let path = folder.join(format!("{:016x}.{purpose}", random::number()));
        // Stored objects include secrets.
        let created = DirBuilder::new().mode(0o700).create(&path);
        created.map_err(failed("create", &path))?;
        Ok(Self { path })
    }

    /// True for names of such folders.
    pub(crate) fn is_name(name: &str) -> bool {
        let purpose = name.rsplit_once('.').map(|(_, purpose)| purpose);
        matches!(purpose, Some("new" | "read"))
    }

    /// Creates a folder for a generation that is being written.
    pub(crate) fn for_generation(folder: &Path) -> Result<Self, LogError> {
        Self::create(folder, "new")
    }

    /// Creates a folder for the sorted records of a generation.
    pub(crate) fn for_sorting(folder: &Path) -> Result<Self, LogError> {
        Self::create(folder, "new")
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Starts the database in the folder.
    pub(crate) fn build(&self) -> Result<Building<'_>, LogError> {
        Ok(Building {
            builder: Builder::create(&self.path)?,
        })
    }

    /// Makes the built database durable, and reads it as the next start will.
    pub(crate) fn finish(
        self,
        built: &Built,
        disk: &Disk,
        space: &Space,
        pulse: &Pulse,
    ) -> Result<UnpublishedGeneration, LogError> {
        let (mut files, mut places) = (Vec::new(), None);
        for path in entries(&self.path)? {
            pulse.beat()?;
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            if path.is_dir() {
                // sled's folder for values that it does not sync, of which there are none.
                if !entries(&path)?.is_empty() {
                    return Err(other("sled wrote values to files of their own"));
                }
                std::fs::remove_dir(&path).map_err(failed("remove", &path))?;
            } else {
                disk.sync_file(&path)?;
                let bytes = std::fs::read(&path).map_err(failed("read", &path))?;
                files.push(ManifestFile::new(name, &bytes));
                if name == DATABASE {
                    places = places::find_all(&bytes, &built.blocks);
                }
            }
        }
        files.sort_unstable_by(|one, two| one.name.cmp(&two.name));
        let mut manifest = Manifest {
            is_first_format: false,
            summary: built.summary,
            files,
            // Without them sled reads the generation.
            places: places.unwrap_or_default(),
        };
        if let Err(error) = self.verify(&manifest, disk, space, pulse) {
            if manifest.places.is_empty() {
                return Err(error);
            }
            // Other bytes may have the checksum of a block.
            manifest.places.clear();
            self.verify(&manifest, disk, space, pulse)?;
        }
        Ok(UnpublishedGeneration {
            scratch: self,
            manifest,
        })
    }

    /// Writes the manifest, and reads the generation as the next start will.
    fn verify(&self, manifest: &Manifest, disk: &Disk, space: &Space, pulse: &Pulse) -> Result<(), LogError> {
        manifest.write(&self.path, disk)?;
        disk.sync_folder(&self.path)?;
        let generation = Generation::find(self.path.clone())?;
        generation.read(space, pulse, |_| Ok(()))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // Does not exist after a rename; otherwise the next start removes it.
        let _ = remove_tree(&self.path);
    }
}

/// A database that is being written.
pub(crate) struct Building<'a> {
    builder: Builder<'a>,
}

/// The content of a closed database.
pub(crate) struct Built {
    summary: Summary,
    blocks: Vec<WrittenBlock>,
}

impl Building<'_> {
    /// Adds a record.
    pub(crate) fn push(&mut self, record: &Record) -> Result<(), LogError> {
        self.builder.push(record)
    }

    /// Bytes of the records so far.
    pub(crate) fn bytes(&self) -> u64 {
        self.builder.bytes()
    }

    /// Closes the database.
    pub(crate) fn finish(self) -> Result<Built, LogError> {
        let (summary, blocks) = self.builder.finish()?;
        Ok(Built { summary, blocks })
    }
}

/// A generation that is complete, durable and verified, but not in place.
#[derive(Debug)]
pub(crate) struct UnpublishedGeneration {
    scratch: Scratch,
    manifest: Manifest,
}

impl UnpublishedGeneration {
    /// Renames the generation to a unique name in `folder`, which is durable when this returns.
    pub(crate) fn publish(self, folder: &Path, through: Revision, disk: &Disk) -> Result<Generation, LogError> {
        let path = folder.join(format!("{through:020}-{:016x}", random::number()));
        std::fs::rename(&self.scratch.path, &path).map_err(failed("rename", &self.scratch.path))?;
        disk.sync_folder(folder)?;
        Ok(Generation::new(path, self.manifest))
    }
}

#[cfg(test)]
pub(crate) mod tests;

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
        let mut files = Vec::new();
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
                files.push(ManifestFile::measure(&self.path, name, pulse)?);
            }
        }
        files.sort_by(|one, two| one.name.cmp(&two.name));
        let database = self.path.join(DATABASE);
        let database = std::fs::read(&database).map_err(failed("read", &database))?;
        let mut manifest = Manifest {
            is_first_format: false,
            summary: built.summary,
            files,
            // Without them sled reads the generation.
            places: places::find_all(&database, &built.blocks).unwrap_or_default(),
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
pub(crate) mod tests {
    use std::path::Path;
    use std::sync::Arc;

    use planesmith_store::Revision;
    use planesmith_store::log::Record;

    use bytes::Bytes;
    use planesmith_store::log::Change;

    use super::manifest::{Manifest, ManifestFile};
    use super::{Generation, Scratch, first_format};
    use crate::disk::Disk;
    use crate::file_system::entries;
    use crate::space::{DiskSize, FileSystem, Meter, Space};
    use crate::worker::Pulse;

    /// A disk without space.
    #[derive(Debug)]
    struct Full;

    impl Meter for Full {
        fn measure(&self, _folder: &Path) -> std::io::Result<DiskSize> {
            Ok(DiskSize {
                total: 1 << 20,
                free: 0,
            })
        }
    }

    /// Writes a generation of `records` into `folder`.
    fn write(folder: &Path, records: &[Record]) -> Generation {
        let scratch = Scratch::for_generation(folder).unwrap();
        let mut building = scratch.build().unwrap();
        records.iter().for_each(|record| building.push(record).unwrap());
        let built = building.finish().unwrap();
        let (disk, space) = (
            Disk::default(),
            Space::measured_by(folder, Arc::new(FileSystem)).unwrap(),
        );
        let finished = scratch.finish(&built, &disk, &space, &Pulse::default()).unwrap();
        finished.publish(folder, Revision(7), &disk).unwrap()
    }

    fn read(folder: &Path, generation: &Generation) -> Vec<Record> {
        let mut found = Vec::new();
        let visit = |record| {
            found.push(record);
            Ok(())
        };
        let space = Space::measured_by(folder, Arc::new(FileSystem)).unwrap();
        generation.read(&space, &Pulse::default(), visit).unwrap();
        found
    }

    #[test]
    fn blocks_are_read_from_the_file_of_sled_and_by_sled_itself_where_an_earlier_program_wrote() {
        let record = |number: u64| Record {
            revision: Revision(number),
            key: format!("/things/{number}").into(),
            change: Change::Put { expires: 0 },
            // Longer than a block, some of them.
            bytes: match number.is_multiple_of(50) {
                true => Bytes::from(vec![b'x'; 90_000]),
                false => Bytes::from(number.to_string().repeat(300)),
            },
            gap: None,
        };
        let records: Vec<_> = (1..500).map(record).collect();
        let folder = tempfile::tempdir().unwrap();
        let generation = write(folder.path(), &records);
        assert!(generation.manifest.places.len() > 10);
        assert_eq!(generation.size_of_copy(), 0, "nothing is copied");
        assert!(read(folder.path(), &generation) == records);

        let manifest = Manifest {
            places: Vec::new(),
            ..generation.manifest.clone()
        };
        std::fs::remove_file(generation.path.join("manifest")).unwrap();
        manifest.write(&generation.path, &Disk::default()).unwrap();
        let earlier = Generation::find(generation.path.clone()).unwrap();
        assert!(earlier.size_of_copy() > earlier.size());
        assert!(read(folder.path(), &earlier) == records);

        let full = Space::measured_by(folder.path(), Arc::new(Full)).unwrap();
        let refused = earlier.read(&full, &Pulse::default(), |_| Ok(())).unwrap_err();
        let refused = refused.to_string();
        let expected = format!("cannot settle or read what is in {}: ", folder.path().display());
        assert!(refused.starts_with(&expected), "{refused}");
        assert!(
            refused.ends_with(" bytes of free space are needed, 0 are there"),
            "{refused}"
        );
        generation.read(&full, &Pulse::default(), |_| Ok(())).unwrap();
    }

    #[test]
    fn a_place_that_is_wrong_is_damage() {
        let record = Record {
            revision: Revision(1),
            key: "/things/1".into(),
            change: Change::Put { expires: 0 },
            bytes: Bytes::from_static(b"object"),
            gap: None,
        };
        let folder = tempfile::tempdir().unwrap();
        let generation = write(folder.path(), &[record]);
        let space = Space::measured_by(folder.path(), Arc::new(FileSystem)).unwrap();
        for moved in [1, 1 << 40, u64::MAX / 2] {
            let mut wrong = generation.clone();
            wrong.manifest.places[0].offset += moved;
            let refused = wrong.read(&space, &Pulse::default(), |_| Ok(())).unwrap_err();
            assert!(refused.to_string().contains("is damaged: "), "{refused}");
        }
    }

    /// Writes a generation of the first format into `folder`.
    pub(crate) fn write_first_format(folder: &Path, records: &[Record], through: Revision) {
        let path = folder.join(format!("{through:020}"));
        std::fs::create_dir_all(&path).unwrap();
        let summary = first_format::write(&path, records, through);
        std::fs::remove_dir(path.join("blobs")).unwrap();
        let pulse = Pulse::default();
        let files = entries(&path).unwrap();
        let names = files.iter().map(|file| file.file_name().unwrap().to_str().unwrap());
        let manifest = Manifest {
            is_first_format: true,
            summary,
            files: names
                .map(|name| ManifestFile::measure(&path, name, &pulse).unwrap())
                .collect(),
            places: Vec::new(),
        };
        manifest.write(&path, &Disk::default()).unwrap();
    }
}

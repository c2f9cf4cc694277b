//! Generations that are written and read.

use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use planesmith_store::Revision;
use planesmith_store::log::{Change, Record};

use super::manifest::{Manifest, ManifestFile};
use super::places::WrittenBlock;
use super::{Built, DATABASE, Generation, Scratch, first_format};
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
    write_with(folder, records, |_, _| {})
}

/// The same, after `change` has seen the file of sled and what was built.
fn write_with(folder: &Path, records: &[Record], change: impl FnOnce(&[u8], &mut Built)) -> Generation {
    let scratch = Scratch::for_generation(folder).unwrap();
    let mut building = scratch.build().unwrap();
    records.iter().for_each(|record| building.push(record).unwrap());
    let mut built = building.finish().unwrap();
    change(&std::fs::read(scratch.path().join(DATABASE)).unwrap(), &mut built);
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

/// A record of a small object.
fn small() -> Record {
    Record {
        revision: Revision(1),
        key: "/things/1".into(),
        change: Change::Put { expires: 0 },
        bytes: Bytes::from_static(b"object"),
        gap: None,
    }
}

#[test]
fn other_bytes_that_look_like_a_block_are_no_place() {
    let folder = tempfile::tempdir().unwrap();
    let mistake = |file: &[u8], built: &mut Built| built.blocks = vec![WrittenBlock::new(&file[..64])];
    let generation = write_with(folder.path(), &[small()], mistake);
    assert_eq!(generation.manifest.places, [], "sled reads it");
    assert!(read(folder.path(), &generation) == [small()]);
}

#[test]
fn a_place_that_is_wrong_is_damage() {
    let folder = tempfile::tempdir().unwrap();
    let generation = write(folder.path(), &[small()]);
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
    let files = entries(&path).unwrap();
    let names = files.iter().map(|file| file.file_name().unwrap().to_str().unwrap());
    let manifest = Manifest {
        is_first_format: true,
        summary,
        files: names
            .map(|name| ManifestFile::new(name, &std::fs::read(path.join(name)).unwrap()))
            .collect(),
        places: Vec::new(),
    };
    manifest.write(&path, &Disk::default()).unwrap();
}

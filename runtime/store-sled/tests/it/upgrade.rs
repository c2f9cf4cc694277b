//! A folder that format 1 wrote, which has neither a mark nor links between its files, and one that gets encrypted objects.

use std::path::Path;
use std::sync::Arc;

use planesmith_store::log::{Batch, Change, Loader, Log as _, Record};
use planesmith_store::{ListQuery, NoIndex, Revision, Storage, StorageOptions};
use planesmith_store_sled::SledLog;

use crate::damage::refusal;

/// The last file of a store that was closed: five objects in five frames.
const JOURNAL: &[u8] = include_bytes!("../data/format-1.journal");
const PREFIX: &str = "/registry/configmaps/";

fn write(folder: &Path, journal: &[u8]) {
    std::fs::create_dir_all(folder.join("journal")).unwrap();
    std::fs::create_dir_all(folder.join("state")).unwrap();
    std::fs::write(folder.join("format"), "planesmith-store 1\n").unwrap();
    std::fs::write(folder.join("journal/0000000001.journal"), journal).unwrap();
}

fn check(folder: &Path, objects: usize) {
    let storage = Storage::open(SledLog::open(folder).unwrap(), &StorageOptions::default()).unwrap();
    let things = storage.collection(PREFIX, Arc::new(NoIndex));
    assert_eq!(things.list(&ListQuery::all(PREFIX)).unwrap().entries.len(), objects);
    assert_eq!(storage.revision(), Revision(objects as u64));
}

#[test]
fn a_folder_of_format_1_is_upgraded_when_it_is_opened() {
    let ahead = [JOURNAL, &[0; 4096]].concat();
    // The last frame starts at byte 6016 and has 1496 bytes.
    let torn = [&JOURNAL[..7000], &[0; 4096]].concat();
    for (journal, objects) in [(JOURNAL, 5), (&ahead, 5), (&torn, 4), (&JOURNAL[..7000], 4)] {
        let temporary = tempfile::tempdir().unwrap();
        write(temporary.path(), journal);
        // The file that it was creating is empty.
        std::fs::write(temporary.path().join("journal/0000000002.journal"), [0; 32]).unwrap();
        for _ in 0..2 {
            check(temporary.path(), objects);
            let format = std::fs::read_to_string(temporary.path().join("format")).unwrap();
            assert_eq!(format, "planesmith-store 3\n");
        }
    }
}

#[test]
fn damage_of_format_1_is_refused() {
    let temporary = tempfile::tempdir().unwrap();
    let mut changed = JOURNAL.to_vec();
    changed[7000] ^= 1;
    write(temporary.path(), &changed);
    let refusal = refusal(temporary.path());
    let expected = "the frame at byte 6016 is broken; the writes after revision 4 are affected, up to revision 5 at least, \
        readable are 5 of /registry/configmaps/default/single-000004;";
    assert!(refusal.contains(expected), "{refusal}");
    let format = std::fs::read_to_string(temporary.path().join("format")).unwrap();
    assert_eq!(format, "planesmith-store 1\n", "it is left as it was");
}

struct Ignored;

impl Loader for Ignored {
    fn state(&mut self, _record: Record) {}

    fn batch(&mut self, _batch: Batch) {}
}

#[test]
fn a_folder_is_upgraded_before_it_has_an_encrypted_object() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path();
    for (revision, bytes, version) in [
        (1, &b"{}"[..], 3),
        (2, b"k8s:enc:aesgcm:v1:one:sealed", 4),
        (3, b"{}", 4),
    ] {
        let log = SledLog::open(folder).unwrap();
        log.load(&mut Ignored).unwrap();
        let record = Record {
            revision: Revision(revision),
            key: format!("{PREFIX}{revision}").into(),
            change: Change::Put { expires: 0 },
            bytes: bytes.into(),
            gap: None,
        };
        let records = vec![record];
        log.append(&Batch { at: 1, records }).unwrap();
        log.close().unwrap();
        let format = std::fs::read_to_string(folder.join("format")).unwrap();
        assert_eq!(format, format!("planesmith-store {version}\n"));
    }
    check(folder, 3);
}

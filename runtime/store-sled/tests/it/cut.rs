//! What a crash leaves of the last journal file: any part of what was not synced yet.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use planesmith_store::conformance::{THINGS, delete, set, show};
use planesmith_store::{Collection, Expect, ListQuery, Revision, StorageOptions};

use crate::open;

fn shown(things: &Collection) -> Vec<String> {
    things
        .list(&ListQuery::all(THINGS))
        .unwrap()
        .entries
        .iter()
        .map(|entry| show(entry))
        .collect()
}

/// A store, and after each write the synced length of its journal and its state.
async fn written(folder: &Path) -> Vec<(u64, Vec<String>)> {
    let (storage, things) = open(folder, &StorageOptions::default());
    let mut points = vec![(storage.stats().disk_bytes, Vec::new())];
    for number in 0..12 {
        let name = format!("n{}", number % 5);
        if number % 4 == 3 {
            delete(&things, &name, Expect::Any).await.ok();
        } else {
            set(&things, &name, &format!("w{number}")).await;
        }
        points.push((storage.stats().disk_bytes, shown(&things)));
    }
    // Not closed: what was written ahead is still there, as after a crash.
    std::mem::forget(storage);
    points
}

/// A copy of the store in `folder`, with its journal changed by `change`.
fn copy(folder: &Path, change: impl FnOnce(&File)) -> (tempfile::TempDir, PathBuf) {
    let temporary = tempfile::tempdir().unwrap();
    let copy = temporary.path().join("store");
    copy_folder(folder, &copy);
    let journal = copy.join("journal/0000000001.journal");
    change(&OpenOptions::new().write(true).open(journal).unwrap());
    (temporary, copy)
}

pub(crate) fn copy_folder(from: &Path, to: &Path) {
    std::fs::create_dir(to).unwrap();
    for file in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(file.file_name());
        if file.file_type().unwrap().is_dir() {
            copy_folder(&file.path(), &target);
        } else {
            std::fs::copy(file.path(), target).unwrap();
        }
    }
}

#[tokio::test]
async fn whatever_is_left_of_the_unsynced_tail_the_synced_writes_are_there() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path().join("store");
    let points = written(&folder).await;
    for pair in points.windows(2) {
        let [(synced, state), (next, _)] = pair else {
            unreachable!("windows of two")
        };
        let cuts = [*synced, synced + 1, synced + 16, (synced + next) / 2, next - 1];
        for cut in cuts.into_iter().filter(|cut| (synced..next).contains(&cut)) {
            type Damage = fn(&File, u64);
            let damages: [Damage; 3] = [
                |file, cut| file.set_len(cut).unwrap(),
                |file, cut| file.write_all_at(&vec![0; 4096], cut).unwrap(),
                |file, cut| {
                    file.set_len(cut).unwrap();
                    file.write_all_at(&[0xa5; 700], cut).unwrap();
                },
            ];
            for damage in damages {
                // Damage goes to the end, so that nothing whole follows.
                let (_temporary, copy) = copy(&folder, |file| {
                    file.set_len(*next).unwrap();
                    damage(file, cut);
                });
                let (storage, things) = open(&copy, &StorageOptions::default());
                assert_eq!(&shown(&things), state, "cut at {cut}, synced up to {synced}");
                // Life goes on, on top of the rest.
                let revision = set(&things, "new", "one").await.revision();
                storage.close().await;
                drop((storage, things));
                let (storage, things) = open(&copy, &StorageOptions::default());
                assert_eq!(storage.revision(), revision);
                assert!(shown(&things).contains(&format!("new=one@{revision}")));
            }
        }
    }
}

#[tokio::test]
async fn a_crash_while_a_journal_file_is_made_leaves_nothing() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path().join("store");
    let points = written(&folder).await;
    for content in [Vec::new(), vec![0; 10], vec![0; 4096]] {
        let (_temporary, copy) = copy(&folder, |_| {});
        std::fs::write(copy.join("journal/0000000002.journal"), content).unwrap();
        let (storage, things) = open(&copy, &StorageOptions::default());
        assert_eq!(Some(&shown(&things)), points.last().map(|(_, state)| state));
        assert!(storage.revision() > Revision::ZERO);
    }
}

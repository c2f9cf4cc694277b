//! Acknowledged writes that cannot be read: the store reports them instead of ignoring them.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::Path;

use planesmith_store::conformance::{THINGS, WordIndex, key, put, set};
use planesmith_store::{Expect, Revision, Storage, StorageOptions, WatchFrom};
use planesmith_store_sled::SledLog;

use crate::cut::{Point, copy, copy_folder, rendered, written, zero};
use crate::damage::refusal;
use crate::open;

fn journal(folder: &Path) -> File {
    let path = folder.join("journal/0000000001.journal");
    OpenOptions::new().read(true).write(true).open(path).unwrap()
}

fn flip(file: &File, at: u64) {
    let mut byte = [0];
    file.read_exact_at(&mut byte, at).unwrap();
    file.write_all_at(&[byte[0] ^ 1], at).unwrap();
}

/// Checks the error of a store in which the writes after `readable` up to `newest` are lost.
fn check_refusal(folder: &Path, readable: u64, newest: u64, what: &str) -> String {
    let refusal = refusal(folder);
    let concerned = format!("the writes after revision {readable} are affected, up to revision {newest} at least");
    assert!(refusal.contains("0000000001.journal is damaged: "), "{what}: {refusal}");
    assert!(refusal.contains(&concerned), "{what}: {refusal}");
    refusal
}

/// A store of ten writes that was closed in order, and start and end of its last frame.
async fn closed(folder: &Path) -> (u64, u64) {
    let (storage, things) = open(folder, &StorageOptions::default());
    for number in 0..9 {
        set(&things, &format!("n{number}"), "one").await;
    }
    let start = storage.stats().disk_bytes;
    set(&things, "last", &"x".repeat(1000)).await;
    let end = storage.stats().disk_bytes;
    storage.close().await;
    (start, end)
}

#[tokio::test]
async fn a_change_anywhere_in_the_last_frame_is_damage_after_an_orderly_close() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path().join("store");
    let (start, end) = closed(&folder).await;
    let file = journal(&folder);
    for at in (start..end).step_by(17).chain([end - 1]) {
        flip(&file, at);
        let refusal = check_refusal(&folder, 9, 10, &format!("byte {at}"));
        assert!(
            refusal.contains(&format!("the frame at byte {start} is broken")),
            "{refusal}"
        );
        flip(&file, at);
    }
    flip(&file, start + 300);
    assert!(refusal(&folder).contains("readable are 10 of /registry/things/last; "));
    zero(&file, start, end);
    let refusal = check_refusal(&folder, 9, 10, "zeros");
    assert!(refusal.contains(&format!(
        "zeros from byte {start} on, where frames went on up to byte {end}"
    )));
}

#[tokio::test]
async fn a_short_or_missing_last_file_and_a_zeroed_header_are_damage() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path().join("store");
    let (start, end) = closed(&folder).await;
    let original = temporary.path().join("original");
    copy_folder(&folder, &original);
    let path = folder.join("journal/0000000001.journal");
    type Damage<'a> = (u64, &'a dyn Fn(&File), &'a str);
    let damages: [Damage<'_>; 6] = [
        (9, &|file| file.set_len(end - 1).unwrap(), "the frame at byte"),
        (9, &|file| file.set_len(start).unwrap(), "it ends at byte"),
        (0, &|file| file.set_len(64).unwrap(), "it ends at byte 64, of at least"),
        (0, &|file| file.set_len(0).unwrap(), "its header at byte 0 is zeros"),
        (0, &|file| zero(file, 0, 64), "its header at byte 0 is zeros"),
        (0, &|_| std::fs::remove_file(&path).unwrap(), "it is missing"),
    ];
    for (readable, damage, what) in damages {
        damage(&journal(&folder));
        let refusal = check_refusal(&folder, readable, 10, what);
        assert!(refusal.contains(what), "{refusal}");
        std::fs::remove_dir_all(&folder).unwrap();
        copy_folder(&original, &folder);
    }
    for content in [None, Some(vec![]), Some(vec![0; 64])] {
        let mark = folder.join("mark");
        std::fs::remove_file(&mark).unwrap();
        content
            .into_iter()
            .for_each(|content| std::fs::write(&mark, content).unwrap());
        let expected = "mark is damaged: it is missing, cut off or changed; the writes after revision 10 are affected;";
        assert!(refusal(&folder).contains(expected), "{}", refusal(&folder));
        std::fs::write(&mark, std::fs::read(original.join("mark")).unwrap()).unwrap();
    }
    let (_storage, things) = open(&folder, &StorageOptions::default());
    assert_eq!(rendered(&things).len(), 10);
}

#[tokio::test]
async fn acknowledged_frames_are_not_torn_after_a_kill() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path().join("store");
    let points = written(&folder).await;
    let now = points.last().unwrap();
    let newest = points.len() as u64 - 2;
    for (number, pair) in points
        .windows(2)
        .enumerate()
        .filter(|(_, pair)| pair[0].end < pair[1].end)
    {
        let [Point { end: start, .. }, Point { end, .. }] = pair else {
            unreachable!("windows of two")
        };
        let (_temporary, copy) = copy(&folder, now, |file| zero(file, *start, now.end));
        let refusal = refusal(&copy);
        assert!(
            refusal.contains(&format!("zeros from byte {start} on")),
            "write {number}: {refusal}"
        );
        let (_temporary, copy) = self::copy(&folder, now, |file| zero(file, *start, *end));
        assert!(self::refusal(&copy).contains(&format!(" at byte {start} is broken")) || *end == now.end);
        assert!(self::refusal(&copy).contains(&format!("up to revision {newest} at least")));
    }
}

#[tokio::test]
async fn a_changed_frame_is_not_torn_when_the_mark_is_old() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path().join("store");
    let points = written(&folder).await;
    let [.., before, last] = &points[..] else {
        unreachable!("there are many")
    };
    let (_temporary, copy) = copy(&folder, &points[0], |file| flip(file, last.end - 20));
    assert!(refusal(&copy).contains(&format!("the frame at byte {} is broken", before.end)));
    let (_temporary, copy) = self::copy(&folder, &points[0], |file| file.set_len(last.end - 20).unwrap());
    assert!(refusal(&copy).contains(&format!("it has {} bytes, of at least", last.end - 20)));
}

#[tokio::test]
async fn accepted_losses_are_put_aside_and_their_revisions_are_not_used_again() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path().join("store");
    let (start, _) = closed(&folder).await;
    flip(&journal(&folder), start + 300);
    let damaged = std::fs::read(folder.join("journal/0000000001.journal")).unwrap();
    let log = SledLog::open(&folder).unwrap().accepting_loss(true);
    let storage = Storage::open(log, &StorageOptions::default()).unwrap();
    let things = storage.collection(THINGS, std::sync::Arc::new(WordIndex));
    assert_eq!(rendered(&things).len(), 9);
    let revision = storage.revision();
    assert!(revision > Revision(1_000_000_000));
    let next = set(&things, "next", "one").await.revision();
    assert_eq!(next, Revision(revision.0 + 1));
    drop((storage, things));

    let lost: Vec<_> = std::fs::read_dir(folder.join("lost")).unwrap().collect();
    let lost = lost[0].as_ref().unwrap().path().join("0000000001.journal");
    assert_eq!(std::fs::read(lost).unwrap(), damaged);
    // The store opens without the flag from now on, and no watch resumes among the lost revisions.
    for _ in 0..2 {
        let (storage, things) = open(&folder, &StorageOptions::default());
        assert_eq!((storage.revision(), rendered(&things).len()), (next, 10));
        for seen in [Revision(9), Revision(10)] {
            assert!(things.watch(THINGS, WatchFrom::After(seen)).is_err(), "after {seen}");
        }
        assert!(things.watch(THINGS, WatchFrom::After(revision)).is_ok());
        storage.close().await;
    }
}

#[tokio::test]
async fn every_damage_can_be_accepted() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path().join("store");
    let log = SledLog::open(&folder).unwrap().rolling_at(4096);
    let storage = Storage::open(log, &StorageOptions::default()).unwrap();
    let things = storage.collection(THINGS, std::sync::Arc::new(WordIndex));
    for number in 0..12 {
        set(&things, &format!("n{number}"), &"x".repeat(1000)).await;
    }
    storage.close().await;
    drop((storage, things));
    let file = |number: u64| format!("journal/{number:010}.journal");
    type Damage<'a> = (usize, &'a dyn Fn(&Path));
    let damages: [Damage<'_>; 7] = [
        (3, &|copy| {
            flip(
                &OpenOptions::new()
                    .read(true)
                    .write(true)
                    .open(copy.join(file(2)))
                    .unwrap(),
                500,
            )
        }),
        (0, &|copy| {
            zero(&OpenOptions::new().write(true).open(copy.join(file(1))).unwrap(), 0, 64)
        }),
        (3, &|copy| std::fs::remove_file(copy.join(file(2))).unwrap()),
        (9, &|copy| std::fs::remove_file(copy.join(file(4))).unwrap()),
        (9, &|copy| std::fs::write(copy.join(file(4)), []).unwrap()),
        (12, &|copy| std::fs::remove_file(copy.join("mark")).unwrap()),
        (0, &|copy| {
            (1..=4).for_each(|number| std::fs::remove_file(copy.join(file(number))).unwrap())
        }),
    ];
    for (number, (left, damage)) in damages.into_iter().enumerate() {
        let copy = temporary.path().join(format!("copy{number}"));
        copy_folder(&folder, &copy);
        damage(&copy);
        refusal(&copy);
        let log = SledLog::open(&copy).unwrap().accepting_loss(true);
        let storage = Storage::open(log, &StorageOptions::default()).unwrap();
        let things = storage.collection(THINGS, std::sync::Arc::new(WordIndex));
        assert_eq!(rendered(&things).len(), left, "damage {number}");
        let next = put(&things, "next", "one", Expect::Any).await.unwrap().revision();
        assert!(next > Revision(1_000_000_000), "damage {number}");
        drop((storage, things));
        let (storage, things) = open(&copy, &StorageOptions::default());
        assert_eq!(
            (storage.revision(), rendered(&things).len()),
            (next, left + 1),
            "damage {number}"
        );
        assert!(things.get(&key("next")).is_some());
    }
}

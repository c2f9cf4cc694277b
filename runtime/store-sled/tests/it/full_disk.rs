//! A file system without space: a measured one, and real ones.

mod measured;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use planesmith_store::conformance::{key, put, set};
use planesmith_store::{Collection, Expect, StorageOptions, WriteError};

use crate::open;

/// A small file system in a file or in memory; unmounted when dropped.
struct Mount {
    folder: tempfile::TempDir,
}

impl Mount {
    fn path(&self) -> PathBuf {
        self.folder.path().join("mounted")
    }

    /// `None` if this process may not mount.
    fn new(mount: impl FnOnce(&Path, &Path) -> bool) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("mounted");
        std::fs::create_dir(&path).unwrap();
        mount(&path, &folder.path().join("image")).then_some(Self { folder })
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        run(Command::new("umount").arg(self.path()));
    }
}

fn run(command: &mut Command) -> bool {
    command.output().is_ok_and(|output| output.status.success())
}

#[tokio::test]
async fn a_full_tmpfs_refuses_and_recovers() {
    let mount = Mount::new(|path, _| {
        run(Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=64m", "tmpfs"])
            .arg(path))
    });
    match mount {
        Some(mount) => fill_and_recover(&mount.path()).await,
        None => println!("skipped: mounting a tmpfs is not permitted here"),
    }
}

#[tokio::test]
async fn a_full_ext4_refuses_and_recovers() {
    let mount = Mount::new(|path, image| {
        let file = std::fs::File::create(image);
        file.is_ok_and(|file| file.set_len(80 << 20).is_ok())
            && run(Command::new("mkfs.ext4").arg("-q").arg(image))
            && run(Command::new("mount").args(["-o", "loop"]).arg(image).arg(path))
    });
    match mount {
        Some(mount) => fill_and_recover(&mount.path()).await,
        None => println!("skipped: making and mounting an ext4 image is not possible here"),
    }
}

async fn fill_and_recover(disk: &Path) {
    let folder = disk.join("store");
    let (storage, things) = open(&folder, &StorageOptions::default());
    set(&things, "first", "one").await;
    // Takes nearly all space; the store gets the rest.
    let ballast = disk.join("ballast");
    take_space(&ballast, 24 << 20);

    let mut answered = write_until_full(&things, 0).await;
    let revision = storage.revision();
    // Refused repeatedly, and never visible.
    for number in 0..20 {
        let refused = put(&things, &format!("refused{number}"), &"x".repeat(300_000), Expect::Any).await;
        assert!(matches!(refused, Err(WriteError::Full)), "{refused:?}");
    }
    // History cannot be settled now, which does no harm.
    storage.compact(revision);
    assert!(things.get(&key("refused0")).is_none());
    assert!(things.get(&key("first")).is_some());

    std::fs::remove_file(&ballast).unwrap();
    let recovered = set(&things, "recovered", "one").await;
    assert!(recovered.revision() > revision);
    answered.extend(["first".to_owned(), "recovered".to_owned()]);

    // Once more, and then the process ends while the disk is full.
    take_space(&ballast, 128 << 20);
    answered.extend(write_until_full(&things, 1000).await);
    let revision = storage.revision();
    storage.close().await;
    drop((storage, things));
    std::fs::remove_file(&ballast).unwrap();
    let (storage, things) = open(&folder, &StorageOptions::default());
    assert_eq!(storage.revision(), revision);
    for name in &answered {
        assert!(things.get(&key(name)).is_some(), "{name} was answered");
    }
    assert_eq!(things.stats().entries, answered.len(), "nothing refused came back");
    set(&things, "last", "one").await;
}

/// Fills a file with up to `bytes`, or until there is no more space.
fn take_space(path: &Path, bytes: usize) {
    use std::io::Write;
    let mut file = std::fs::File::create(path).unwrap();
    let block = [1; 1 << 16];
    for _ in 0..bytes / block.len() {
        if file.write_all(&block).is_err() {
            break;
        }
    }
    file.sync_all().ok();
}

/// Returns the names of the writes that were accepted before the first refusal.
async fn write_until_full(things: &Arc<Collection>, first: usize) -> Vec<String> {
    let mut names = Vec::new();
    for number in first..first + 1000 {
        let name = format!("n{number}");
        match put(things, &name, &"x".repeat(100_000), Expect::Any).await {
            Ok(_) => names.push(name),
            Err(WriteError::Full) => return names,
            Err(other) => panic!("{other}"),
        }
    }
    panic!("the disk is not as small as it should be");
}

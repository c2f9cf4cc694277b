//! A process that has no file descriptors left.

use std::fs::File;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use planesmith_store::conformance::{THINGS, WordIndex, set};
use planesmith_store::{Storage, StorageOptions};
use planesmith_store_sled::SledLog;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// The environment variable of the child: the folder.
const CHILD: &str = "PLANESMITH_DESCRIPTORS_CHILD";

#[test]
fn writes_go_on_without_descriptors() {
    let temporary = tempfile::tempdir().unwrap();
    // The limit applies to a process, and other tests run in this one.
    let child = Command::new(std::env::current_exe().unwrap())
        .args([
            "descriptors::child_writes_without_descriptors",
            "--exact",
            "--nocapture",
        ])
        .env(CHILD, temporary.path().join("store"))
        .output()
        .unwrap();
    assert!(child.status.success(), "{}", String::from_utf8_lossy(&child.stderr));
}

/// Not a test of its own: the child that [`writes_go_on_without_descriptors`] runs.
#[test]
fn child_writes_without_descriptors() {
    let Ok(folder) = std::env::var(CHILD) else {
        return;
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let files = || std::fs::read_dir(Path::new(&folder).join("journal")).unwrap();
        let names = || {
            files()
                .filter(|file| file.as_ref().unwrap().path().extension() == Some("journal".as_ref()))
                .count()
        };
        let (storage, things) = open(&folder);
        let limit = getrlimit(Resource::Nofile);
        setrlimit(
            Resource::Nofile,
            Rlimit {
                current: Some(64),
                ..limit
            },
        )
        .unwrap();
        let mut taken = Vec::new();
        while let Ok(file) = File::open("/dev/null") {
            taken.push(file);
        }
        for number in 0..24 {
            set(&things, &format!("n{number}"), &"x".repeat(10_000)).await;
        }
        storage.health().unwrap();
        drop(taken);
        assert_eq!(names(), 4, "each file was open before there was a need for it");
        storage.close().await;
        drop((storage, things));
        let (_storage, things) = open(&folder);
        assert_eq!(things.stats().entries, 24);
    });
}

fn open(folder: &str) -> (Storage, Arc<planesmith_store::Collection>) {
    let log = SledLog::open(folder).unwrap().rolling_at(64 << 10);
    let storage = Storage::open(log, &StorageOptions::default()).unwrap();
    let things = storage.collection(THINGS, Arc::new(WordIndex));
    (storage, things)
}

//! A full disk: writes are refused, no data is lost, and the server recovers once there is space.

use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use http::Method;
use planesmith_e2e::skip::skip;
use planesmith_e2e::{Binary, Connection, Home};

use crate::objects::{CONFIG_MAPS, config_map, path, value};

/// The time limit for the server to detect free space.
const HEALED_WITHIN: Duration = Duration::from_secs(5);

/// A file system of 32 MiB, unmounted when dropped.
struct SmallDisk(PathBuf);

impl SmallDisk {
    /// Mounts the disk at `folder`; requires root.
    fn mount(folder: &Path) -> Result<Self, String> {
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", "size=32m", "tmpfs"]).arg(folder);
        let output = mount.output().map_err(|error| error.to_string())?;
        if output.status.success() {
            Ok(Self(folder.to_owned()))
        } else {
            Err(String::from_utf8_lossy(&output.stderr).trim().to_owned())
        }
    }

    /// Fills the remaining space with one file.
    fn fill(&self) {
        let mut file = File::create(self.filler()).unwrap();
        for size in [1 << 20, 1 << 12, 1] {
            let block = vec![b'x'; size];
            while file.write_all(&block).is_ok() {}
        }
    }

    fn free(&self) {
        std::fs::remove_file(self.filler()).unwrap();
    }

    fn filler(&self) -> PathBuf {
        self.0.join("filler")
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // Lazily, because a server left running by a failed test still has open files there.
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

async fn create(connection: &Connection, name: &str) -> u16 {
    let body = config_map(name, &format!("{name} {}", "x".repeat(2000)));
    let answer = connection.call(Method::POST, CONFIG_MAPS, body).await.unwrap();
    if answer.status.is_server_error() {
        let body = answer.json().unwrap();
        assert_eq!(
            (&body["kind"], &body["status"]),
            (&"Status".into(), &"Failure".into()),
            "{body}"
        );
    }
    answer.status.as_u16()
}

async fn assert_there(connection: &Connection, names: &[String]) {
    for name in names {
        let answer = connection.get(&path(name)).await.unwrap();
        assert_eq!(answer.status, 200, "{name}: {}", answer.excerpt());
        assert!(value(&answer.json().unwrap()).starts_with(name));
    }
}

#[tokio::test]
async fn a_full_disk_refuses_writes_and_loses_nothing() {
    let mounted = tempfile::tempdir().unwrap();
    let disk = match SmallDisk::mount(mounted.path()) {
        Ok(disk) => disk,
        Err(reason) => return skip("a full disk", &format!("mounting a small file system failed: {reason}")),
    };
    let home = Home::new().unwrap().with_data(mounted.path().join("data"));
    let binary = Binary::Planesmith.path().unwrap();
    let server = home.start(&binary, &[]).await.unwrap();
    let connection = server.connect().await.unwrap();

    let mut acknowledged = Vec::new();
    for number in 0..50 {
        let name = format!("before-{number}");
        assert_eq!(create(&connection, &name).await, 201);
        acknowledged.push(name);
    }

    disk.fill();
    // The reserved space may still take some writes; eventually, every write is refused.
    let mut refused = 0;
    for number in 0..100_000 {
        let name = format!("full-{number}");
        match create(&connection, &name).await {
            201 => acknowledged.push(name),
            status => {
                assert!((500..600).contains(&status), "a full disk answers {status}");
                refused += 1;
                if refused == 20 {
                    break;
                }
            }
        }
    }
    assert_eq!(refused, 20, "writes are acknowledged although the disk is full");
    assert_there(&connection, &acknowledged).await;

    disk.free();
    let freed = Instant::now();
    while create(&connection, "after").await != 201 {
        assert!(
            freed.elapsed() < HEALED_WITHIN,
            "still refused although there is space:\n{}",
            home.log()
        );
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    acknowledged.push("after".to_owned());
    assert_there(&connection, &acknowledged).await;

    server.kill().await.unwrap();
    let server = home.start(&binary, &[]).await.unwrap();
    assert_there(&server.connect().await.unwrap(), &acknowledged).await;
    assert!(!home.log().contains("panicked"), "{}", home.log());
}

#[tokio::test]
async fn updates_without_end_fit_a_disk_of_four_times_the_objects() {
    const OBJECTS: usize = 2000;
    const UPDATES: usize = 12_000;
    const WRITERS: usize = 16;
    let mounted = tempfile::tempdir().unwrap();
    let disk = match SmallDisk::mount(mounted.path()) {
        Ok(disk) => disk,
        Err(reason) => {
            return skip(
                "a small disk",
                &format!("mounting a small file system failed: {reason}"),
            );
        }
    };
    let home = Home::new().unwrap().with_data(mounted.path().join("data"));
    let binary = Binary::Planesmith.path().unwrap();
    let server = home.start(&binary, &[]).await.unwrap();
    // With their metadata and keys they take a quarter of 32 MiB.
    let body = |name: &str, turn: usize| config_map(name, &format!("{turn} {}", "x".repeat(3600)));
    let mut writers = tokio::task::JoinSet::new();
    for writer in 0..WRITERS {
        let connection = server.connect().await.unwrap();
        writers.spawn(async move {
            for turn in (writer..OBJECTS + UPDATES).step_by(WRITERS) {
                let name = format!("object-{}", turn % OBJECTS);
                let (method, path) = match turn < OBJECTS {
                    true => (Method::POST, CONFIG_MAPS.to_owned()),
                    false => (Method::PUT, path(&name)),
                };
                let answer = connection.call(method, &path, body(&name, turn)).await.unwrap();
                assert!(
                    answer.status.is_success(),
                    "write {turn}: {} {}",
                    answer.status,
                    answer.excerpt()
                );
            }
        });
    }
    while let Some(joined) = writers.join_next().await {
        joined.unwrap();
    }
    server.kill().await.unwrap();
    let server = home.start(&binary, &[]).await.unwrap();
    let connection = server.connect().await.unwrap();
    for number in (0..OBJECTS).step_by(37) {
        let object = connection.get_json(&path(&format!("object-{number}"))).await.unwrap();
        let last = UPDATES + number;
        assert!(value(&object).starts_with(&format!("{last} ")), "{number}: {object}");
    }
    drop((server, disk));
}

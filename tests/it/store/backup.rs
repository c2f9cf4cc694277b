//! Backups of running and stopped servers, and their restore.

use std::collections::{BTreeMap, HashMap};
use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use http::Method;
use planesmith_e2e::{Binary, Connection, Home};
use serde_json::Value;
use tokio::process::{Child, Command};
use tokio::task::JoinSet;

use super::{
    appears, backup_file, contents, create_samples, fails, fill, kubectl, newest, objects, resumed, run, start, stop,
    text,
};
use crate::objects::{CONFIG_MAPS, config_map, path, revision, value};

const WRITERS: usize = 16;

/// The acknowledged writes of one writer: key, revision and value; `None` for a deletion, whose revision is not known exactly.
type Writes = Vec<(String, u64, Option<String>)>;

/// Creates, updates and deletes its own objects until `done`.
async fn write(connection: Connection, number: usize, done: Arc<AtomicBool>) -> Writes {
    let mut writes = Vec::new();
    for round in 0_usize.. {
        if done.load(Ordering::Relaxed) {
            return writes;
        }
        let name = format!("writer-{number}-{}", round % 4);
        let there = round >= 4;
        let content = format!("{round} {}", "y".repeat(round * 37 % 900));
        let body = config_map(&name, &content);
        let answer = match there {
            false => connection.call(Method::POST, CONFIG_MAPS, body).await,
            true => connection.call(Method::PUT, &path(&name), body).await,
        };
        let answer = answer.unwrap().json().unwrap();
        writes.push((name, revision(&answer), Some(content)));
    }
    writes
}

/// The values of the config maps of writers, and their revisions.
async fn written(connection: &Connection) -> BTreeMap<String, (u64, String)> {
    let list = connection.get_json(CONFIG_MAPS).await.unwrap();
    let items = list["items"].as_array().unwrap().iter();
    let items = items.filter(|item| crate::objects::name(item).starts_with("writer-"));
    let of = |item: &Value| {
        (
            crate::objects::name(item).to_owned(),
            (revision(item), value(item).to_owned()),
        )
    };
    items.map(of).collect()
}

/// The last number in the line of `printed` that contains `before`, behind it.
fn number_behind(printed: &str, before: &str) -> u64 {
    let (_, rest) = printed
        .split_once(before)
        .unwrap_or_else(|| panic!("no {before:?} in {printed}"));
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_backup_beside_writers_is_the_state_at_one_revision() {
    let home = Home::new().unwrap();
    let binary = Binary::Planesmith.path().unwrap();
    let server = home.start(&binary, &[]).await.unwrap();
    let connection = server.connect().await.unwrap();
    fill(&connection, 500, 2000).await;
    let done = Arc::new(AtomicBool::new(false));
    let mut writers = JoinSet::new();
    for number in 0..WRITERS {
        writers.spawn(write(server.connect().await.unwrap(), number, Arc::clone(&done)));
    }
    while written(&connection).await.len() < 3 * WRITERS {
        tokio::task::yield_now().await;
    }
    let (data, file) = (text(home.data()), backup_file(&home));
    let printed = run(&binary, &["backup", text(&file), "--data-dir", data]).await;
    done.store(true, Ordering::Relaxed);
    let at = number_behind(&printed, "at revision ");
    let mut expected: BTreeMap<String, (u64, String)> = BTreeMap::new();
    let mut total = 0;
    for (name, written, content) in writers.join_all().await.into_iter().flatten() {
        total += 1;
        let known = expected.get(&name).map_or(0, |(known, _)| *known);
        if written <= at && written > known {
            expected.insert(name, (written, content.unwrap_or_default()));
        }
    }
    assert!(
        expected.len() >= 3 * WRITERS,
        "{} objects, {total} writes",
        expected.len()
    );
    let last_seen = newest(&connection).await;
    stop(server).await;

    let restored = Home::new().unwrap();
    let to = text(restored.data());
    let printed = run(&binary, &["restore", text(&file), "--data-dir", to]).await;
    let start = number_behind(&printed, "at revision ");
    assert!(start > last_seen, "{start} is beyond {last_seen}");
    let server = restored.start(&binary, &[]).await.unwrap();
    let connection = server.connect().await.unwrap();
    let shifted: BTreeMap<_, _> = expected
        .into_iter()
        .map(|(name, (revision, content))| (name, (revision + (start - at), content)))
        .collect();
    assert_eq!(written(&connection).await, shifted);
    assert!(newest(&connection).await >= start);
    for seen in [1, at / 2, at, last_seen] {
        assert_eq!(resumed(&connection, seen).await, 410, "a watch after {seen}");
    }
    assert_eq!(resumed(&connection, newest(&connection).await).await, 200);
    let made = connection
        .call(Method::POST, CONFIG_MAPS, config_map("after", "1"))
        .await
        .unwrap();
    assert!(revision(&made.expect(201).unwrap().json().unwrap()) > start);
    let names = kubectl(&restored, &["get", "configmaps", "-o", "name"]).await;
    assert_eq!(names.lines().filter(|name| name.contains("filler-")).count(), 500);
}

#[tokio::test]
async fn a_backup_of_a_stopped_server_restores_every_kind() {
    let home = Home::new().unwrap();
    let binary = Binary::Planesmith.path().unwrap();
    let server = home.start(&binary, &[]).await.unwrap();
    let connection = server.connect().await.unwrap();
    create_samples(&connection).await;
    let before = objects(&connection).await;
    let status = run(&binary, &["status", "--data-dir", text(home.data()), "-o", "json"]).await;
    let running: Value = serde_json::from_str(&status).unwrap();
    assert_eq!(
        (&running["running"], &running["alarms"]),
        (&true.into(), &serde_json::json!([]))
    );
    stop(server).await;
    let (data, file) = (text(home.data()), backup_file(&home));
    let status = run(&binary, &["status", "--data-dir", data, "-o", "json"]).await;
    let stopped: Value = serde_json::from_str(&status).unwrap();
    assert_eq!(stopped["running"], false);
    assert!(stopped["revision"].as_u64() >= running["revision"].as_u64());
    run(&binary, &["backup", text(&file), "--data-dir", data]).await;
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let refused = fails(&binary, &["backup", text(&file), "--data-dir", data], 1).await;
    assert!(refused.contains("exists already"), "{refused}");
    run(&binary, &["backup", text(&file), "--data-dir", data, "--force"]).await;

    // Into the same folder, which has objects.
    let refused = fails(&binary, &["restore", text(&file), "--data-dir", data], 1).await;
    assert!(
        refused.contains("has objects; choose another folder, or add --replace"),
        "{refused}"
    );
    let printed = run(&binary, &["restore", text(&file), "--data-dir", data, "--replace"]).await;
    assert!(printed.contains("the former store is in"), "{printed}");
    let server = home.start(&binary, &[]).await.unwrap();
    let connection = server.connect().await.unwrap();
    let after = objects(&connection).await;
    assert_eq!(contents(&after), contents(&before));
    let shifts: HashMap<u64, &String> = after
        .iter()
        .filter_map(|(path, (_, revision))| Some((revision - before.get(path)?.1, path)))
        .collect();
    assert_eq!(shifts.len(), 1, "all revisions move alike: {shifts:?}");
    stop(server).await;

    let shop = Binary::Shop.path().unwrap();
    let refused = fails(
        &shop,
        &["restore", text(&file), "--data-dir", text(&home.path().join("shop"))],
        1,
    )
    .await;
    assert!(
        refused.contains("is a backup of planesmith; restore it with that program"),
        "{refused}"
    );
    std::fs::write(&file, "apiVersion: v1\n").unwrap();
    let refused = fails(&binary, &["restore", text(&file), "--data-dir", data, "--replace"], 1).await;
    assert!(refused.contains("this is no backup of a store"), "{refused}");
}

#[tokio::test]
async fn the_paths_of_the_store_take_one_method_and_are_not_listed() {
    let home = Home::new().unwrap();
    let binary = Binary::Shop.path().unwrap();
    let server = home.start(&binary, &["--storage=memory"]).await.unwrap();
    let connection = server.connect().await.unwrap();
    for (method, path, expected) in [
        (Method::POST, "/planesmith/store/backup", 405),
        (Method::GET, "/planesmith/store/compact", 405),
        (Method::POST, "/planesmith/store/compact?revision=x", 400),
        (
            Method::POST,
            "/planesmith/store/compact?revision=18446744073709551615",
            400,
        ),
        (Method::POST, "/planesmith/store/compact", 200),
        (Method::GET, "/planesmith/store/status", 200),
    ] {
        let answer = connection.call(method.clone(), path, "").await.unwrap();
        assert_eq!(answer.status, expected, "{method} {path}: {}", answer.excerpt());
    }
    let index = connection.get_json("/").await.unwrap();
    assert!(!index.to_string().contains("/planesmith/"), "{index}");
    // A store in memory has a backup, too, with a kubeconfig from anywhere.
    let file = backup_file(&home);
    let kubeconfig = home.kubeconfig();
    let printed = run(
        &binary,
        &[
            "backup",
            text(&file),
            "--kubeconfig",
            text(&kubeconfig),
            "--server",
            &server.endpoint().url(),
        ],
    )
    .await;
    assert!(printed.contains("objects at revision"), "{printed}");
    let before = written(&connection).await.len();
    let data = home.path().join("restored");
    run(&binary, &["restore", text(&file), "--data-dir", text(&data)]).await;
    stop(server).await;
    let home = Home::new().unwrap().with_data(data);
    let server = home.start(&binary, &[]).await.unwrap();
    assert_eq!(written(&server.connect().await.unwrap()).await.len(), before);
    let printed = run(&binary, &["compact", "--data-dir", text(home.data())]).await;
    assert!(printed.contains("history begins after revision"), "{printed}");
    stop(server).await;
    let printed = run(&binary, &["compact", "--data-dir", text(home.data())]).await;
    assert!(printed.contains("history begins after revision"), "{printed}");
}

#[tokio::test]
async fn killed_and_interrupted_backups_and_restores_leave_nothing_half_done() {
    let home = Home::new().unwrap();
    let binary = Binary::Planesmith.path().unwrap();
    let server = home.start(&binary, &[]).await.unwrap();
    let connection = server.connect().await.unwrap();
    fill(&connection, 1000, 20_000).await;
    let (data, file) = (text(home.data()), backup_file(&home));
    let incomplete = home.path().join("store.backup.incomplete");
    for signal in ["-KILL", "-INT"] {
        let mut child = start(&binary, &["backup", text(&file), "--data-dir", data]);
        appears(&incomplete).await;
        send(&child, signal).await;
        let status = child.wait().await.unwrap();
        assert!(!status.success() && !file.exists(), "{signal}: {status}");
        assert_eq!(incomplete.exists(), signal == "-KILL");
        let _ = std::fs::remove_file(&incomplete);
    }
    run(&binary, &["backup", text(&file), "--data-dir", data]).await;
    stop(server).await;

    let restored = Home::new().unwrap();
    let to = text(restored.data()).to_owned();
    let incoming = restored.data().join("store.incoming");
    for signal in ["-KILL", "-INT"] {
        // The rest of the killed one would look like the work of the next.
        let _ = std::fs::remove_dir_all(incoming.join("journal"));
        let mut child = start(&binary, &["restore", text(&file), "--data-dir", &to]);
        appears(&incoming.join("journal")).await;
        send(&child, signal).await;
        let status = child.wait().await.unwrap();
        assert!(
            !status.success() && !restored.data().join("store").exists(),
            "{signal}: {status}"
        );
        assert_eq!(incoming.exists(), signal == "-KILL");
        if signal == "-KILL" {
            let refused = restored.start(&binary, &[]).await.unwrap_err().to_string();
            assert!(refused.contains("a restore was interrupted"), "{refused}");
        }
    }
    run(&binary, &["restore", text(&file), "--data-dir", &to]).await;
    assert!(!incoming.exists());
    let server = restored.start(&binary, &[]).await.unwrap();
    let list = server.connect().await.unwrap().get_json(CONFIG_MAPS).await.unwrap();
    let items = list["items"].as_array().unwrap().iter();
    assert_eq!(
        items
            .filter(|item| crate::objects::name(item).starts_with("filler-"))
            .count(),
        1000
    );
}

/// Sends `signal` to a process that may have ended.
async fn send(child: &Child, signal: &str) {
    let pid = child.id().expect("it was not awaited").to_string();
    assert!(
        Command::new("kill")
            .args([signal, &pid])
            .status()
            .await
            .unwrap()
            .success()
    );
}

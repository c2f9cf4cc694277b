//! Damaged folders: their check and their repair.

use std::fs::OpenOptions;
use std::os::unix::fs::FileExt as _;

use http::Method;
use planesmith_e2e::{Binary, Home};

use super::{fails, kubectl, newest, resumed, run, stop, text};
use crate::objects::{CONFIG_MAPS, config_map, path, value};

#[tokio::test]
async fn a_damaged_folder_is_checked_and_repaired() {
    let home = Home::new().unwrap();
    let binary = Binary::Planesmith.path().unwrap();
    let server = home.start(&binary, &[]).await.unwrap();
    let connection = server.connect().await.unwrap();
    let data = text(home.data()).to_owned();
    for (name, content) in [
        ("one", "first"),
        ("two", "second"),
        ("one", "third, which will be damaged"),
        ("three", "fourth"),
    ] {
        let body = config_map(name, content);
        let answer = match content {
            "first" | "second" | "fourth" => connection.call(Method::POST, CONFIG_MAPS, body).await,
            _ => connection.call(Method::PUT, &path(name), body).await,
        };
        assert!(answer.unwrap().status.is_success());
    }
    let seen = newest(&connection).await;
    let refused = fails(&binary, &["check", "--data-dir", &data], 1).await;
    assert!(refused.contains("is used by another process"), "{refused}");
    stop(server).await;
    let printed = run(&binary, &["check", "--data-dir", &data]).await;
    assert!(
        printed.contains("objects are legible") && !printed.contains("damaged"),
        "{printed}"
    );
    let printed = run(&binary, &["repair", "--data-dir", &data]).await;
    assert!(printed.contains("is not damaged; nothing was changed"), "{printed}");

    damage(&home, "which will be damaged");
    let server = home.start(&binary, &[]).await.unwrap_err().to_string();
    assert!(server.contains("list the damage with `store check`"), "{server}");
    let printed = fails(&binary, &["check", "--data-dir", &data], 3).await;
    for expected in [
        "0000000001.journal",
        "damaged: the frame at byte",
        "lost: /registry/configmaps/default/one at revision",
    ] {
        assert!(printed.contains(expected), "{expected} in {printed}");
    }
    let refused = fails(&binary, &["backup", "-", "--data-dir", &data], 1).await;
    assert!(refused.contains("`store repair` keeps what is legible"), "{refused}");
    let refused = fails(&binary, &["repair", "--data-dir", &data], 1).await;
    assert!(refused.contains("add --yes"), "{refused}");
    let printed = run(&binary, &["repair", "--data-dir", &data, "--yes"]).await;
    assert!(printed.contains("the former store is in"), "{printed}");
    let aside = std::fs::read_dir(home.data())
        .unwrap()
        .map(|entry| entry.unwrap().file_name());
    assert!(
        aside
            .into_iter()
            .any(|name| name.to_string_lossy().starts_with("store.damaged-"))
    );
    run(&binary, &["check", "--data-dir", &data]).await;

    let server = home.start(&binary, &[]).await.unwrap();
    let connection = server.connect().await.unwrap();
    for (name, content) in [("one", "first"), ("two", "second"), ("three", "fourth")] {
        let object = connection.get_json(&path(name)).await.unwrap();
        assert_eq!(value(&object), content);
    }
    assert!(newest(&connection).await > seen + 1_000_000_000);
    assert_eq!(resumed(&connection, seen).await, 410);
    let names = kubectl(&home, &["get", "configmap", "one", "two", "three", "-o", "name"]).await;
    assert_eq!(names.lines().count(), 3);
}

/// Changes a byte of the last place with `text` in the journal.
fn damage(home: &Home, text: &str) {
    let journal = home.data().join("store/journal/0000000001.journal");
    let bytes = std::fs::read(&journal).unwrap();
    let at = bytes.windows(text.len()).rposition(|window| window == text.as_bytes());
    let file = OpenOptions::new().write(true).open(&journal).unwrap();
    file.write_all_at(b"?", at.unwrap() as u64).unwrap();
}

//! Server start: the messages it prints, and the data it refuses to modify.

use planesmith_e2e::{Binary, Home};

#[tokio::test]
async fn a_first_start_warns_of_nothing() {
    let home = Home::new().unwrap();
    let binary = Binary::Planesmith.path().unwrap();
    let mut server = home.start(&binary, &[]).await.unwrap();
    server.terminate().await.unwrap();
    assert!(server.ended().await.unwrap().success());
    let log = server.log();
    let is_warning = |line: &&str| line.contains(" WARN ") || line.contains(" ERROR ");
    assert_eq!(log.lines().find(is_warning), None, "{log}");
}

#[tokio::test]
async fn a_store_of_a_newer_format_is_refused_and_kept() {
    let home = Home::new().unwrap();
    let binary = Binary::Planesmith.path().unwrap();
    let mut server = home.start(&binary, &[]).await.unwrap();
    server.terminate().await.unwrap();
    server.ended().await.unwrap();
    let store = home.data().join("store");
    let file = store.join("format");
    std::fs::write(&file, "planesmith-store 999\n").unwrap();
    let mut server = home.spawn(&binary, &[]).unwrap();
    assert_eq!(server.ended().await.unwrap().code(), Some(1));
    let (log, store) = (server.log(), store.display());
    let expected = format!("{store} has the store format 999, this program knows 4; ");
    let advice = "run the version of the program that wrote it, or choose another folder";
    assert!(log.contains(&format!("{expected}{advice}")), "{log}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "planesmith-store 999\n");
}

//! From a folder to etcd and back.

use http::Method;
use planesmith_e2e::{Binary, Home};

use super::etcd_member::Member;
use super::{
    DONE_WITHIN, backup_file, contents, create_samples, fails, fill, kubectl, newest, objects, resumed, run, start,
    stop, text,
};
use crate::objects::{CONFIG_MAPS, config_map, revision};

/// The number of keys below `/registry/`.
async fn keys(member: &Member) -> usize {
    let printed = member.ctl(&["get", "/registry/", "--prefix", "--keys-only"]).await;
    printed.lines().filter(|line| !line.is_empty()).count()
}

#[tokio::test]
async fn objects_move_to_etcd_and_back() {
    let Some(member) = Member::start("objects_move_to_etcd_and_back").await else {
        return;
    };
    let home = Home::new().unwrap();
    let binary = Binary::Planesmith.path().unwrap();
    let server = home.start(&binary, &[]).await.unwrap();
    let connection = server.connect().await.unwrap();
    create_samples(&connection).await;
    fill(&connection, 300, 500).await;
    let before = objects(&connection).await;
    let seen = newest(&connection).await;
    stop(server).await;

    let (folder, etcd) = (
        format!("sled:{}", home.data().display()),
        format!("etcd:{}", member.url),
    );
    let printed = run(&binary, &["copy", "--from", &folder, "--to", &etcd]).await;
    assert!(printed.contains("each was compared"), "{printed}");
    assert!(keys(&member).await > 300);
    let stored = member
        .ctl(&["get", "/registry/configmaps/default/filler-7", "--print-value-only"])
        .await;
    assert!(stored.starts_with("k8s\0"), "in protobuf, as kube-apiserver stores it");
    let lease = member.ctl(&["lease", "list"]).await;
    assert!(!lease.contains("found 0 leases"), "the event expires: {lease}");
    let refused = fails(&binary, &["copy", "--from", &folder, "--to", &etcd], 1).await;
    assert!(refused.contains("there are objects already"), "{refused}");

    let servers = format!("--etcd-servers={}", member.url);
    let server = home.start(&binary, &[&servers]).await.unwrap();
    let connection = server.connect().await.unwrap();
    assert_eq!(contents(&objects(&connection).await), contents(&before));
    assert!(newest(&connection).await > seen, "clients go on");
    assert_eq!(resumed(&connection, seen / 2).await, 410);
    let made = connection
        .call(Method::POST, CONFIG_MAPS, config_map("in-etcd", "1"))
        .await
        .unwrap();
    assert!(revision(&made.expect(201).unwrap().json().unwrap()) > seen);
    let in_etcd = objects(&connection).await;
    let services = kubectl(
        &home,
        &["get", "service", "web", "-o", "jsonpath={.spec.ports[0].nodePort}"],
    )
    .await;
    let seen = newest(&connection).await;

    // A backup of the server on etcd has the same objects.
    let file = backup_file(&home);
    run(&binary, &["backup", text(&file), "--data-dir", text(home.data())]).await;
    stop(server).await;
    let restored = Home::new().unwrap();
    run(&binary, &["restore", text(&file), "--data-dir", text(restored.data())]).await;
    let server = restored.start(&binary, &[]).await.unwrap();
    let connection = server.connect().await.unwrap();
    assert_eq!(contents(&objects(&connection).await), contents(&in_etcd));
    stop(server).await;

    let back = Home::new().unwrap();
    let folder = format!("sled:{}", back.data().display());
    run(&binary, &["copy", "--from", &etcd, "--to", &folder]).await;
    let server = back.start(&binary, &[]).await.unwrap();
    let connection = server.connect().await.unwrap();
    let found = objects(&connection).await;
    assert_eq!(contents(&found), contents(&in_etcd));
    let same = |path: &&str| found[*path].1 == in_etcd[*path].1;
    assert!(
        contents(&in_etcd).keys().all(same),
        "a folder keeps the revisions of etcd"
    );
    assert!(newest(&connection).await >= seen);
    let again = kubectl(
        &back,
        &["get", "service", "web", "-o", "jsonpath={.spec.ports[0].nodePort}"],
    )
    .await;
    assert_eq!(again, services);
}

#[tokio::test]
async fn a_killed_copy_is_not_served_and_is_repeated() {
    let Some(member) = Member::start("a_killed_copy_is_not_served_and_is_repeated").await else {
        return;
    };
    let home = Home::new().unwrap();
    let binary = Binary::Planesmith.path().unwrap();
    let server = home.start(&binary, &[]).await.unwrap();
    let connection = server.connect().await.unwrap();
    fill(&connection, 3000, 2000).await;
    stop(server).await;
    let (folder, etcd) = (
        format!("sled:{}", home.data().display()),
        format!("etcd:{}", member.url),
    );
    let mut child = start(&binary, &["copy", "--from", &folder, "--to", &etcd]);
    let mark = || member.ctl(&["get", "planesmith/transfer", "--prefix", "--keys-only"]);
    let begun = async {
        while mark().await.is_empty() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(DONE_WITHIN, begun).await.expect("the copy begins");
    child.kill().await.unwrap();
    assert!(
        mark().await.contains("planesmith/transfer/registry"),
        "killed in the middle"
    );

    let servers = format!("--etcd-servers={}", member.url);
    let refused = home.start(&binary, &[&servers]).await.unwrap_err().to_string();
    assert!(refused.contains("or was interrupted; repeat it"), "{refused}");
    run(&binary, &["copy", "--from", &folder, "--to", &etcd]).await;
    let server = home.start(&binary, &[&servers]).await.unwrap();
    let list = server.connect().await.unwrap().get_json(CONFIG_MAPS).await.unwrap();
    let items = list["items"].as_array().unwrap().iter();
    assert_eq!(
        items
            .filter(|item| crate::objects::name(item).starts_with("filler-"))
            .count(),
        3000
    );
}

#[tokio::test]
async fn a_cluster_whose_revisions_are_too_small_is_refused() {
    let Some(member) = Member::start("a_cluster_whose_revisions_are_too_small_is_refused").await else {
        return;
    };
    let home = Home::new().unwrap();
    let binary = Binary::Shop.path().unwrap();
    let server = home.start(&binary, &[]).await.unwrap();
    stop(server).await;
    let etcd = format!("etcd:{}", member.url);
    let refused = fails(
        &binary,
        &[
            "copy",
            "--from",
            &format!("sled:{}", home.data().display()),
            "--to",
            &etcd,
        ],
        1,
    )
    .await;
    assert!(
        refused.contains("there are no stores \"etcd\"; expected sled:DATA_DIR"),
        "{refused}"
    );

    let binary = Binary::Planesmith.path().unwrap();
    let home = Home::new().unwrap();
    let server = home.start(&binary, &[]).await.unwrap();
    stop(server).await;
    let file = backup_file(&home);
    run(&binary, &["backup", text(&file), "--data-dir", text(home.data())]).await;
    let refused = fails(&binary, &["restore", text(&file), "--to", &etcd], 1).await;
    assert!(
        refused.contains("would not notice changes") && refused.contains("--bump-revision="),
        "{refused}"
    );
    assert_eq!(keys(&member).await, 0);
    run(
        &binary,
        &["restore", text(&file), "--to", &etcd, "--accept-older-revisions"],
    )
    .await;
    assert!(keys(&member).await > 10);
}

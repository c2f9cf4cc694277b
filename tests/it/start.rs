//! Server start: the flags it accepts, the messages it prints, and the data it refuses to modify.

use planesmith_e2e::{Binary, Home};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

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

/// The flags of upstream's `hack/make-rules/test-cmd.sh`, without addresses and files.
const KUBECTL_SUITE: [&str; 9] = [
    "--authorization-mode=RBAC,AlwaysAllow",
    "--feature-gates=",
    "--enable-admission-plugins=LimitRanger,ResourceQuota",
    "--disable-admission-plugins=ServiceAccount,MutatingAdmissionWebhook,StorageObjectInUseProtection",
    "--runtime-config=api/v1",
    "--service-account-lookup=true",
    "--service-account-issuer=https://kubernetes.default.svc",
    "--storage-media-type=",
    "--service-cluster-ip-range=10.0.0.0/24",
];

#[tokio::test]
async fn a_server_starts_with_the_flags_of_upstreams_kubectl_suite() {
    let home = Home::new().unwrap();
    let binary = Binary::Planesmith.path().unwrap();
    // The suite takes the second word of the printed version, and adds a suffix.
    let printed = std::process::Command::new(&binary).arg("--version").output().unwrap();
    let printed = String::from_utf8(printed.stdout).unwrap();
    let version = printed.split_whitespace().nth(1).unwrap();
    let custom = format!("--version={version}-custom");
    let mut flags = KUBECTL_SUITE.to_vec();
    flags.push(&custom);
    let server = home.start(&binary, &flags).await.unwrap();
    let connection = server.connect().await.unwrap();
    let reported = connection.get_json("/version").await.unwrap();
    assert_eq!(reported["gitVersion"], format!("{version}-custom"));
    server.kill().await.unwrap();
}

#[tokio::test]
async fn a_server_with_flags_of_an_operator_has_a_socket_for_troubleshooting() {
    let home = Home::new().unwrap();
    let binary = Binary::Planesmith.path().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (socket, egress) = (folder.path().join("debug.sock"), folder.path().join("egress.yaml"));
    let selections = ["controlplane", "etcd", "cluster"]
        .map(|name| format!("- {{name: {name}, connection: {{proxyProtocol: Direct}}}}\n"))
        .concat();
    let kind = "apiVersion: apiserver.k8s.io/v1beta1\nkind: EgressSelectorConfiguration\negressSelections:\n";
    std::fs::write(&egress, format!("{kind}{selections}")).unwrap();
    let flags = [
        format!("--debug-socket-path={}", socket.display()),
        format!("--egress-selector-config-file={}", egress.display()),
        "--peer-advertise-ip=192.0.2.1".to_owned(),
        "--peer-advertise-port=6443".to_owned(),
        "--max-connection-bytes-per-sec=0".to_owned(),
        "--log-json-split-stream=false".to_owned(),
    ];
    let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
    let server = home.start(&binary, &flags).await.unwrap();
    let mut stream = tokio::net::UnixStream::connect(&socket).await.unwrap();
    let path = "/debug/api_priority_and_fairness/dump_priority_levels";
    let request = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut page = String::new();
    stream.read_to_string(&mut page).await.unwrap();
    assert!(
        page.starts_with("HTTP/1.1 200") && page.contains("PriorityLevelName"),
        "{page}"
    );
    server.kill().await.unwrap();
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

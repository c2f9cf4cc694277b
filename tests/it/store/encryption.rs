//! Stored objects are encrypted.

mod plugin;
mod recorded;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::Method;
use planesmith_e2e::{Binary, Connection, Home};
use serde_json::{Value, json};

use super::{DONE_WITHIN, backup_file, fails, run, stop, text};

const SECRETS: &str = "/api/v1/namespaces/default/secrets";
/// The content of secrets; it appears nowhere else.
const CLEAR: &str = "seven-green-herons";

const ONE: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
const TWO: &str = "AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyA=";

/// Writes a configuration whose providers encrypt secrets. Returns the flag with it.
fn configure(home: &Home, providers: &[String]) -> String {
    let file = home.path().join("encryption.yaml");
    let content = format!(
        "apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\nresources:\n- resources: [secrets]\n  providers: [{}]\n",
        providers.join(", ")
    );
    // Renamed, so that nobody reads half of it.
    let next = home.path().join("encryption.next");
    fs::write(&next, content).unwrap();
    fs::rename(&next, &file).unwrap();
    format!("--encryption-provider-config={}", file.display())
}

fn key(kind: &str, name: &str, secret: &str) -> String {
    format!("{{{kind}: {{keys: [{{name: {name}, secret: {secret}}}]}}}}")
}

fn identity() -> String {
    "{identity: {}}".to_owned()
}

fn secret(name: &str) -> String {
    json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}, "stringData": {"password": CLEAR}})
        .to_string()
}

async fn create(connection: &Connection, name: &str) {
    let made = connection.call(Method::POST, SECRETS, secret(name)).await.unwrap();
    made.expect(201).unwrap();
}

/// Writes a secret again without a change.
async fn touch(connection: &Connection, name: &str) -> Value {
    let path = format!("{SECRETS}/{name}");
    let same = connection.get_json(&path).await.unwrap();
    let answer = connection.call(Method::PUT, &path, same.to_string()).await.unwrap();
    answer.expect(200).unwrap().json().unwrap()
}

async fn is_read(connection: &Connection, name: &str) -> bool {
    let answer = connection.get(&format!("{SECRETS}/{name}")).await.unwrap();
    answer.status == 200 && answer.json().unwrap()["data"]["password"] == in_base64(CLEAR)
}

fn in_base64(text: &str) -> String {
    STANDARD.encode(text)
}

/// Waits until `holds` returns true.
async fn wait_for<F: Future<Output = bool>>(what: &str, holds: impl Fn() -> F) {
    let waiting = async {
        while !holds().await {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    let done = tokio::time::timeout(DONE_WITHIN, waiting).await;
    done.unwrap_or_else(|_| panic!("{what} does not happen"));
}

/// The files below `folder` with the content of a secret in clear, in any encoding of the server.
fn files_in_clear(folder: &Path) -> Vec<PathBuf> {
    let encoded = in_base64(CLEAR);
    let texts = [CLEAR.as_bytes(), encoded.as_bytes()];
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if has_text(&fs::read(&path).unwrap_or_default(), &texts) {
                found.push(path);
            }
        }
    }
    found
}

fn has_text(bytes: &[u8], texts: &[&[u8]]) -> bool {
    texts
        .iter()
        .any(|text| bytes.windows(text.len()).any(|window| window == *text))
}

#[tokio::test]
async fn no_file_has_a_secret_in_clear_and_wrong_keys_lose_nothing() {
    let home = Home::new().unwrap();
    let binary = Binary::Planesmith.path().unwrap();
    let one = key("aescbc", "one", ONE);
    let flag = configure(&home, &[one.clone(), identity()]);
    let server = home.start(&binary, &[&flag]).await.unwrap();
    let connection = server.connect().await.unwrap();
    for name in ["first", "second", "deleted"] {
        create(&connection, name).await;
    }
    touch(&connection, "second").await;
    let gone = connection
        .call(Method::DELETE, &format!("{SECRETS}/deleted"), "")
        .await
        .unwrap();
    gone.expect(200).unwrap();
    assert!(is_read(&connection, "first").await);
    let file = backup_file(&home);
    run(&binary, &["backup", text(&file), "--data-dir", text(home.data())]).await;
    stop(server).await;
    assert_eq!(files_in_clear(home.data()), Vec::<PathBuf>::new());
    assert!(!has_text(&fs::read(&file).unwrap(), &[in_base64(CLEAR).as_bytes()]));

    // Another key of another name, and none at all.
    let other = configure(&home, &[key("aescbc", "two", TWO), identity()]);
    for (flags, reason) in [
        (vec![&*other], "no matching key was found"),
        (vec![], "is not configured"),
    ] {
        let server = home.start(&binary, &flags).await.unwrap();
        let connection = server.connect().await.unwrap();
        let answer = connection.get(&format!("{SECRETS}/first")).await.unwrap();
        let message = answer.expect(500).unwrap().json().unwrap()["message"].to_string();
        assert!(
            message.contains("unable to transform key") && message.contains(reason),
            "{message}"
        );
        connection.get(SECRETS).await.unwrap().expect(500).unwrap();
        let update = connection
            .call(Method::PUT, &format!("{SECRETS}/first"), secret("first"))
            .await
            .unwrap();
        update.expect(500).unwrap();
        connection
            .get("/api/v1/namespaces/default/configmaps")
            .await
            .unwrap()
            .expect(200)
            .unwrap();
        let log = server.log();
        assert!(
            log.contains("/registry/secrets/default/first") && log.contains("cannot be decrypted"),
            "{log}"
        );
        stop(server).await;
    }
    let flag = configure(&home, &[key("secretbox", "new", TWO), one]);
    let server = home.start(&binary, &[&flag]).await.unwrap();
    let connection = server.connect().await.unwrap();
    assert!(is_read(&connection, "first").await && is_read(&connection, "second").await);
    stop(server).await;

    // A backup is read with its keys.
    let restored = Home::new().unwrap();
    run(&binary, &["restore", text(&file), "--data-dir", text(restored.data())]).await;
    assert_eq!(files_in_clear(restored.data()), Vec::<PathBuf>::new());
    let server = restored.start(&binary, &[&flag]).await.unwrap();
    let connection = server.connect().await.unwrap();
    assert!(is_read(&connection, "first").await && is_read(&connection, "second").await);
    stop(server).await;
}

#[tokio::test]
async fn stored_objects_are_encrypted_by_their_next_write_or_by_the_command() {
    let home = Home::new().unwrap();
    let binary = Binary::Planesmith.path().unwrap();
    let data = text(home.data()).to_owned();
    let server = home.start(&binary, &[]).await.unwrap();
    let connection = server.connect().await.unwrap();
    for number in 0..10 {
        create(&connection, &format!("secret-{number}")).await;
    }
    stop(server).await;
    assert!(!files_in_clear(home.data()).is_empty());

    let flag = configure(&home, &[key("aesgcm", "one", ONE), identity()]);
    let server = home.start(&binary, &[&flag]).await.unwrap();
    let connection = server.connect().await.unwrap();
    let before = connection.get_json(&format!("{SECRETS}/secret-0")).await.unwrap();
    let touched = touch(&connection, "secret-0").await;
    assert_ne!(
        touched["metadata"]["resourceVersion"],
        before["metadata"]["resourceVersion"]
    );
    let again = touch(&connection, "secret-0").await;
    assert_eq!(
        again["metadata"]["resourceVersion"],
        touched["metadata"]["resourceVersion"]
    );
    let printed = run(&binary, &["reencrypt", "--data-dir", &data]).await;
    assert!(printed.contains("objects were written anew"), "{printed}");
    let printed = run(&binary, &["reencrypt", "--data-dir", &data]).await;
    assert!(printed.contains(": 0 objects were written anew"), "{printed}");
    run(&binary, &["compact", "--data-dir", &data]).await;
    assert!(is_read(&connection, "secret-7").await);
    stop(server).await;
    assert_eq!(files_in_clear(home.data()), Vec::<PathBuf>::new());

    // Back to plain values, while the server is stopped.
    let printed = fails(&binary, &["reencrypt", "--data-dir", &data], 1).await;
    assert!(printed.contains("add --encryption-provider-config"), "{printed}");
    let flag = configure(&home, &[identity(), key("aesgcm", "one", ONE)]);
    run(&binary, &["reencrypt", "--data-dir", &data, &flag]).await;
    let server = home.start(&binary, &[]).await.unwrap();
    let connection = server.connect().await.unwrap();
    for number in 0..10 {
        assert!(is_read(&connection, &format!("secret-{number}")).await);
    }
    stop(server).await;
}

#[tokio::test]
async fn a_changed_configuration_is_used_without_a_restart() {
    let home = Home::new().unwrap();
    let binary = Binary::Planesmith.path().unwrap();
    let (one, two) = (key("aesgcm", "one", ONE), key("aesgcm", "two", TWO));
    let flag = configure(&home, &[one.clone(), identity()]);
    let flags = [&*flag, "--encryption-provider-config-automatic-reload"];
    let server = home.start(&binary, &flags).await.unwrap();
    let connection = server.connect().await.unwrap();
    create(&connection, "first").await;
    let reloads = |status: &'static str| {
        let connection = &connection;
        async move {
            let metrics = connection.get("/metrics").await.unwrap();
            let metrics = String::from_utf8_lossy(&metrics.body).into_owned();
            let name = "apiserver_encryption_config_controller_automatic_reloads_total{apiserver_id_hash=\"sha256:";
            let count = format!("status=\"{status}\"}} 1");
            metrics
                .lines()
                .any(|line| line.starts_with(name) && line.ends_with(&count))
        }
    };
    configure(&home, &["{}".to_owned()]);
    wait_for("a failed reload", || reloads("failure")).await;
    assert!(is_read(&connection, "first").await);
    configure(&home, &[two.clone(), one]);
    wait_for("a reload", || reloads("success")).await;
    // Written with the new key.
    wait_for("the rewriting", || async {
        let before = connection.get_json(&format!("{SECRETS}/first")).await.unwrap();
        touch(&connection, "first").await["metadata"]["resourceVersion"] != before["metadata"]["resourceVersion"]
    })
    .await;
    stop(server).await;
    let flag = configure(&home, &[two]);
    let server = home.start(&binary, &[&flag]).await.unwrap();
    let connection = server.connect().await.unwrap();
    assert!(is_read(&connection, "first").await);
    stop(server).await;
}

#[tokio::test]
async fn a_wrong_configuration_is_an_error_at_the_start() {
    let home = Home::new().unwrap();
    let binary = Binary::Planesmith.path().unwrap();
    let flag = configure(&home, &[key("secretbox", "short", "AAAA")]);
    let mut server = home.spawn(&binary, &[&flag]).unwrap();
    assert!(!server.ended().await.unwrap().success());
    let log = home.log();
    assert!(
        log.contains("secret is not of the expected length, got 3, expected one of [32]"),
        "{log}"
    );
}

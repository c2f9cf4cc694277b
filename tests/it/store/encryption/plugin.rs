//! Keys of a plugin, which is killed and restarted while the server runs.

use http::Method;
use planesmith_e2e::{Binary, Connection, Home};
use planesmith_encryption::testing::Plugin;

use super::{SECRETS, configure, create, files_in_clear, identity, is_read, secret, touch, wait_for};
use crate::store::{run, stop, text};

fn kms(endpoint: &str) -> String {
    format!("{{kms: {{apiVersion: v2, name: plugin, endpoint: '{endpoint}', timeout: 1s}}}}")
}

async fn is_healthy(connection: &Connection) -> bool {
    connection.get("/readyz/kms-providers").await.unwrap().status == 200
}

#[tokio::test]
async fn a_plugin_may_end_and_come_back() {
    let home = Home::new().unwrap();
    let binary = Binary::Planesmith.path().unwrap();
    let socket = home.path().join("kms.sock");
    let plugin = Plugin::start(&socket, "first");
    let flag = configure(&home, &[kms(&plugin.endpoint()), identity()]);
    let server = home.start(&binary, &[&flag]).await.unwrap();
    let connection = server.connect().await.unwrap();
    create(&connection, "first").await;
    assert!(is_healthy(&connection).await);

    drop(plugin);
    wait_for("the failure", || async { !is_healthy(&connection).await }).await;
    assert!(is_read(&connection, "first").await);
    // The key was confirmed a moment ago.
    create(&connection, "second").await;
    stop(server).await;
    assert!(files_in_clear(home.data()).is_empty());

    // It runs, but is not ready.
    let mut server = home.spawn(&binary, &[&flag]).unwrap();
    let connection = server.listening().await.unwrap();
    wait_for("an answer", || async {
        connection.get(SECRETS).await.unwrap().status == 500
    })
    .await;
    let refused = connection.call(Method::POST, SECRETS, secret("third")).await.unwrap();
    let refused = refused.expect(500).unwrap().json().unwrap()["message"].to_string();
    assert!(refused.contains("the KMS provider plugin has no key"), "{refused}");

    let plugin = Plugin::start(&socket, "first");
    wait_for("the return", || async {
        is_healthy(&connection).await && is_read(&connection, "first").await && is_read(&connection, "second").await
    })
    .await;
    create(&connection, "third").await;

    plugin.rotate("second");
    let data = text(home.data()).to_owned();
    wait_for("the rotation", || async {
        // Asked at most every 20 seconds while all is well.
        let _ = is_healthy(&connection).await;
        let before = connection.get_json(&format!("{SECRETS}/first")).await.unwrap();
        touch(&connection, "first").await["metadata"]["resourceVersion"] != before["metadata"]["resourceVersion"]
    })
    .await;
    let printed = run(&binary, &["reencrypt", "--data-dir", &data]).await;
    assert!(!printed.contains(": 0 objects"), "{printed}");
    assert!(is_read(&connection, "second").await && is_read(&connection, "third").await);
    server.terminate().await.unwrap();
    assert!(server.ended().await.unwrap().success());
}

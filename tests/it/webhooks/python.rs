//! A webhook in Python, which is killed and started again.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use http::Method;
use planesmith_e2e::skip::skip;
use rcgen::{CertifiedKey, generate_simple_self_signed};
use serde_json::json;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};

use super::{MAPS, MUTATING, Setting, map};
use crate::base64::encoded;

/// A running webhook. It is killed when dropped.
struct Webhook {
    process: Child,
    port: u16,
}

impl Webhook {
    /// Starts the webhook on `port`, 0 for any; `None` without Python.
    async fn start(folder: &Path, port: u16) -> Option<Self> {
        let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("clients/python/webhook.py");
        let mut command = Command::new("python3");
        command
            .arg(program)
            .arg(folder.join("cert.pem"))
            .arg(folder.join("key.pem"));
        command.arg(port.to_string()).stdout(Stdio::piped()).kill_on_drop(true);
        let mut process = command.spawn().ok()?;
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let port = lines.next_line().await.unwrap().expect("the webhook listens");
        let port = port.parse().unwrap();
        Some(Self { process, port })
    }
}

#[tokio::test]
async fn a_webhook_in_python_is_killed_and_started_again() {
    let folder = tempfile::tempdir().unwrap();
    let CertifiedKey { cert, signing_key } = generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    fs::write(folder.path().join("cert.pem"), cert.pem()).unwrap();
    fs::write(folder.path().join("key.pem"), signing_key.serialize_pem()).unwrap();
    let folder: PathBuf = folder.path().to_owned().join("");
    let Some(mut webhook) = Webhook::start(&folder, 0).await else {
        return skip("webhook in Python", "there is no python3");
    };
    let setting = Setting::new().await;
    let url = format!("https://127.0.0.1:{}/label", webhook.port);
    let client = json!({"url": url, "caBundle": encoded(cert.pem().as_bytes())});
    let config = json!({"name": "python.example.com", "clientConfig": client});
    setting.configure(MUTATING, "python", &[config]).await;
    let made = setting.send(Method::POST, MAPS, &map("a"), 201).await;
    assert_eq!(made["metadata"]["labels"], json!({"by": "python"}));
    let refused = setting.refused("refused", 403).await;
    let why = r#"admission webhook "python.example.com" denied the request: that name is taken by a joke"#;
    assert_eq!(refused["message"], why);
    webhook.process.kill().await.unwrap();
    setting.refused("b", 500).await;
    let webhook = Webhook::start(&folder, webhook.port).await.unwrap();
    let made = setting.send(Method::POST, MAPS, &map("c"), 201).await;
    assert_eq!(made["metadata"]["labels"], json!({"by": "python"}));
    drop(webhook);
}

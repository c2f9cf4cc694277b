//! A real etcd with one member.

use std::fs::File;
use std::net::TcpListener;
use std::process::Stdio;
use std::time::Duration;

use planesmith_e2e::skip::skip;
use tempfile::TempDir;
use tokio::io::AsyncWriteExt as _;
use tokio::process::{Child, Command};

use super::DONE_WITHIN;

/// Attempts to start with other ports, because somebody else took one.
const ATTEMPTS: usize = 5;

/// A member in a folder of its own. It is killed when dropped.
pub(super) struct Member {
    pub(super) url: String,
    _child: Child,
    _folder: TempDir,
}

impl Member {
    /// Starts a member without content, and waits until it answers. `None` without etcd, if that is on purpose
    /// (`PLANESMITH_WITHOUT_ETCD=1`).
    pub(super) async fn start(test: &str) -> Option<Self> {
        if std::env::var_os("PLANESMITH_WITHOUT_ETCD").is_some_and(|value| value == "1") {
            skip(test, "PLANESMITH_WITHOUT_ETCD is set");
            return None;
        }
        for _ in 0..ATTEMPTS {
            if let Some(member) = Self::spawn().await {
                return Some(member);
            }
        }
        panic!("etcd does not start; install the package etcd-server, or set PLANESMITH_WITHOUT_ETCD=1");
    }

    async fn spawn() -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let ports = [0; 2].map(|_| TcpListener::bind("127.0.0.1:0").unwrap());
        let [peer, client] = ports.map(|port| format!("http://{}", port.local_addr().unwrap()));
        let log = File::create(folder.path().join("log")).unwrap();
        let mut command = Command::new("etcd");
        command.args(["--name=m", "--logger=zap", "--initial-cluster-state=new"]);
        command.arg(format!("--data-dir={}", folder.path().join("data").display()));
        command.args([
            format!("--listen-peer-urls={peer}"),
            format!("--initial-advertise-peer-urls={peer}"),
        ]);
        command.args([
            format!("--listen-client-urls={client}"),
            format!("--advertise-client-urls={client}"),
        ]);
        command.arg(format!("--initial-cluster=m={peer}"));
        command
            .stdin(Stdio::null())
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .kill_on_drop(true);
        let mut child = command.spawn().ok()?;
        let answers = async {
            while etcdctl(&client, &["endpoint", "health"]).await.is_none() {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        tokio::select! {
            answered = tokio::time::timeout(DONE_WITHIN, answers) => answered.ok()?,
            _ = child.wait() => return None,
        }
        Some(Self {
            url: client,
            _child: child,
            _folder: folder,
        })
    }

    /// Stores a value, which may be binary.
    pub(super) async fn put(&self, key: &str, value: &[u8]) {
        let mut command = Command::new("etcdctl");
        command
            .env("ETCDCTL_API", "3")
            .arg(format!("--endpoints={}", self.url))
            .args(["put", key]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        input.write_all(value).await.unwrap();
        drop(input);
        assert!(child.wait().await.unwrap().success(), "{key}");
    }

    /// Reads a value, which may be binary.
    pub(super) async fn get(&self, key: &str) -> Vec<u8> {
        let mut command = Command::new("etcdctl");
        command
            .env("ETCDCTL_API", "3")
            .arg(format!("--endpoints={}", self.url))
            .args(["get", key, "--print-value-only"]);
        let output = command.output().await.unwrap();
        assert!(output.status.success(), "{key}");
        output.stdout
    }

    /// Runs etcdctl, and returns what it printed.
    pub(super) async fn ctl(&self, arguments: &[&str]) -> String {
        let printed = etcdctl(&self.url, arguments).await;
        printed.unwrap_or_else(|| panic!("etcdctl {arguments:?} failed"))
    }
}

async fn etcdctl(url: &str, arguments: &[&str]) -> Option<String> {
    let mut command = Command::new("etcdctl");
    command
        .env("ETCDCTL_API", "3")
        .arg(format!("--endpoints={url}"))
        .args(arguments)
        .stdin(Stdio::null());
    let output = command.output().await.unwrap_or_else(|error| {
        panic!("etcdctl: {error}; install the package etcd-client, or set PLANESMITH_WITHOUT_ETCD=1")
    });
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    output.status.success().then_some(printed)
}

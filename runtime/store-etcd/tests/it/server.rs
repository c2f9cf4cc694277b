//! etcd servers for tests.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use planesmith_store::backend::Backend as _;
use planesmith_store_etcd::{Config, ConnectError, Etcd};
use rustls::ClientConfig;
use tempfile::TempDir;

/// Attempts to start with other ports, because another process took one.
const ATTEMPTS: usize = 5;

/// True if the tests of this crate are skipped on purpose.
pub(crate) fn is_skipped() -> bool {
    let skipped = std::env::var_os("PLANESMITH_WITHOUT_ETCD").is_some_and(|value| value == "1");
    if skipped {
        eprintln!("SKIPPED: PLANESMITH_WITHOUT_ETCD is set, so nothing was tested with etcd");
    }
    skipped
}

/// One member of a cluster. Dropping it kills the server.
pub(crate) struct Member {
    child: Child,
    url: String,
    arguments: Vec<String>,
    log: PathBuf,
}

impl Member {
    fn start(arguments: Vec<String>, url: String, log: PathBuf) -> Self {
        Self {
            child: spawn(&arguments, &log),
            url,
            arguments,
            log,
        }
    }

    /// Kills the server without an orderly close.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Starts a killed server again.
    pub(crate) fn restart(&mut self) {
        self.child = spawn(&self.arguments, &self.log);
    }

    /// Lets the server do nothing, or go on: its connections stay open.
    pub(crate) fn pause(&self, paused: bool) {
        let signal = if paused { "-STOP" } else { "-CONT" };
        let pid = self.child.id().to_string();
        let status = Command::new("kill").args([signal, &pid]).status().unwrap();
        assert!(status.success());
    }
}

fn spawn(arguments: &[String], log: &Path) -> Child {
    let output = File::options().create(true).append(true).open(log).unwrap();
    let mut command = Command::new("etcd");
    command.args(arguments).stdin(Stdio::null());
    command.stdout(output.try_clone().unwrap()).stderr(output);
    let started = command.spawn();
    started.expect("etcd starts; install the package etcd-server, or set PLANESMITH_WITHOUT_ETCD=1")
}

impl Drop for Member {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A cluster in a folder of its own.
pub(crate) struct Cluster {
    pub(crate) members: Vec<Member>,
    tls: Option<Arc<ClientConfig>>,
    _folder: TempDir,
}

impl Cluster {
    /// Starts `count` members without content, and waits until they answer.
    pub(crate) async fn start(count: usize) -> Self {
        Self::start_with(count, &[], None).await
    }

    /// Starts `count` members with more `flags`; `tls` is that of their clients, if it is needed.
    pub(crate) async fn start_with(count: usize, flags: &[(&str, &str)], tls: Option<Arc<ClientConfig>>) -> Self {
        for _ in 0..ATTEMPTS {
            let mut cluster = Self::spawn(count, flags, tls.clone());
            let connected = Etcd::connect(&cluster.config()).await;
            match connected {
                Ok(_) => return cluster,
                Err(ConnectError::Unreachable(_)) if cluster.has_exited() => {}
                Err(error) => panic!("{error}\n{}", cluster.log()),
            }
        }
        panic!("etcd did not start");
    }

    fn spawn(count: usize, flags: &[(&str, &str)], tls: Option<Arc<ClientConfig>>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let ports = free_ports(2 * count);
        let peers: Vec<_> = (0..count)
            .map(|number| format!("m{number}=http://127.0.0.1:{}", ports[number]))
            .collect();
        let member = |number: usize| {
            let (peer, client) = (ports[number], ports[count + number]);
            let scheme = if tls.is_some() { "https" } else { "http" };
            let (peer, client) = (
                format!("http://127.0.0.1:{peer}"),
                format!("{scheme}://127.0.0.1:{client}"),
            );
            let name = format!("m{number}");
            let data = folder.path().join(&name).display().to_string();
            let arguments = [
                ("name", &*name),
                ("data-dir", &data),
                ("listen-peer-urls", &peer),
                ("initial-advertise-peer-urls", &peer),
                ("listen-client-urls", &client),
                ("advertise-client-urls", &client),
                ("initial-cluster", &peers.join(",")),
                ("initial-cluster-state", "new"),
                ("max-txn-ops", "1000"),
                ("max-request-bytes", "4194304"),
                ("heartbeat-interval", if count == 1 { "10" } else { "50" }),
                ("election-timeout", if count == 1 { "100" } else { "500" }),
                ("logger", "zap"),
            ];
            let arguments = arguments.iter().chain(flags);
            let arguments = arguments.map(|(flag, value)| format!("--{flag}={value}")).collect();
            Member::start(arguments, client, folder.path().join(format!("{name}.log")))
        };
        let members = (0..count).map(member).collect();
        Self {
            members,
            tls,
            _folder: folder,
        }
    }

    /// The settings of a client of all members.
    pub(crate) fn config(&self) -> Config {
        Config {
            endpoints: self.members.iter().map(|member| member.url.clone()).collect(),
            tls: self.tls.clone(),
            compaction_interval: Duration::ZERO,
            connect_timeout: Duration::from_secs(30),
            ..Config::default()
        }
    }

    /// Waits until the member `number` takes part again.
    pub(crate) async fn joined(&self, number: usize) {
        let config = Config {
            endpoints: vec![self.members[number].url.clone()],
            ..self.config()
        };
        let etcd = Etcd::connect(&config).await.unwrap();
        for _ in 0..ATTEMPTS {
            if etcd.health().await.is_ok() {
                return;
            }
        }
        panic!("the member does not join again\n{}", self.log());
    }

    /// Asks the first member over HTTP, without the client under test. Returns the answer's JSON.
    pub(crate) fn post(&self, path: &str, json: &str) -> String {
        let address = self.members[0].url.trim_start_matches("http://");
        let mut stream = TcpStream::connect(address).unwrap();
        let length = json.len();
        let head =
            format!("POST {path} HTTP/1.1\r\nHost: etcd\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n");
        stream.write_all(format!("{head}{json}").as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    /// The texts that the members logged.
    pub(crate) fn log(&self) -> String {
        let logs = self
            .members
            .iter()
            .map(|member| std::fs::read_to_string(&member.log).unwrap_or_default());
        logs.collect::<Vec<_>>().join("\n")
    }

    fn has_exited(&mut self) -> bool {
        let mut children = self.members.iter_mut().map(|member| &mut member.child);
        children.any(|child| child.try_wait().is_ok_and(|status| status.is_some()))
    }
}

fn free_ports(count: usize) -> Vec<u16> {
    let listeners: Vec<_> = (0..count).map(|_| TcpListener::bind("127.0.0.1:0").unwrap()).collect();
    listeners
        .iter()
        .map(|listener| listener.local_addr().unwrap().port())
        .collect()
}

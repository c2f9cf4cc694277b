//! The servers, which reach etcd and their clients through proxies.

use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use planesmith_e2e::server::ADMIN_TOKEN;
use planesmith_e2e::{Connection, Endpoint, Home, Server};
use planesmith_torture::cluster::{Cluster, Mode, Proxy};

/// Two servers on one etcd.
#[derive(Debug)]
pub(super) struct Servers<'c> {
    pub(super) cluster: &'c Cluster,
    binary: PathBuf,
    all: [Replica; 2],
}

/// One server.
#[derive(Debug)]
struct Replica {
    home: Home,
    flags: Vec<String>,
    /// `None` while it is killed.
    process: Option<Server>,
    /// In front of the members of etcd.
    to_etcd: Vec<Proxy>,
    /// In front of the server.
    from_clients: Proxy,
}

impl Replica {
    async fn new(binary: &Path, cluster: &Cluster) -> Result<Self> {
        let mut to_etcd = Vec::new();
        for member in cluster.client_addresses() {
            to_etcd.push(Proxy::start(member).await?);
        }
        let members: Vec<_> = to_etcd
            .iter()
            .map(|proxy| format!("http://{}", proxy.address()))
            .collect();
        let address = free_address()?;
        let mut replica = Self {
            home: Home::new()?.with_port(address.port()),
            flags: vec![
                format!("--etcd-servers={}", members.join(",")),
                // Nothing forgets history.
                "--etcd-compaction-interval=0s".to_owned(),
            ],
            process: None,
            to_etcd,
            from_clients: Proxy::start(address).await?,
        };
        replica.start(binary).await?;
        Ok(replica)
    }

    async fn start(&mut self, binary: &Path) -> Result<()> {
        let flags: Vec<&str> = self.flags.iter().map(String::as_str).collect();
        self.process = Some(self.home.start(binary, &flags).await?);
        Ok(())
    }

    fn endpoint(&self) -> Endpoint {
        let url = format!("https://{}", self.from_clients.address());
        Endpoint::new(&url, ADMIN_TOKEN, None).expect("the address of a proxy makes a URL")
    }
}

impl<'c> Servers<'c> {
    pub(super) async fn start(binary: &Path, cluster: &'c Cluster) -> Result<Self> {
        let all = [
            Replica::new(binary, cluster).await?,
            Replica::new(binary, cluster).await?,
        ];
        let binary = binary.to_owned();
        Ok(Self { cluster, binary, all })
    }

    pub(super) fn endpoints(&self) -> [Endpoint; 2] {
        [self.all[0].endpoint(), self.all[1].endpoint()]
    }

    pub(super) async fn connect(&self, server: usize) -> Result<Connection> {
        Connection::open(&self.all[server].endpoint()).await
    }

    pub(super) async fn kill(&mut self, server: usize) -> Result<()> {
        let process = self.all[server]
            .process
            .take()
            .context("the server is killed already")?;
        process.kill().await
    }

    pub(super) async fn restart(&mut self, server: usize) -> Result<()> {
        let binary = self.binary.clone();
        self.all[server].start(&binary).await
    }

    /// Stops a server, or lets it continue.
    pub(super) fn stop(&self, server: usize, stopped: bool) -> Result<()> {
        let process = self.all[server].process.as_ref().context("the server is killed")?;
        let signal = if stopped { "-STOP" } else { "-CONT" };
        let status = Command::new("kill")
            .args([signal, &process.pid().to_string()])
            .status()?;
        ensure!(status.success(), "kill {signal}: {status}");
        Ok(())
    }

    /// Changes what reaches etcd from a server.
    pub(super) fn link_etcd(&self, server: usize, mode: Mode) {
        self.all[server].to_etcd.iter().for_each(|proxy| proxy.set(mode));
    }

    /// Changes what reaches a server from its clients.
    pub(super) fn link_clients(&self, server: usize, mode: Mode) {
        self.all[server].from_clients.set(mode);
    }

    /// Checks that no server panicked.
    pub(super) fn check_logs(&self) -> Result<()> {
        for replica in &self.all {
            let log = replica.home.log();
            ensure!(!log.contains("panicked"), "{log}");
        }
        Ok(())
    }
}

/// An address on which nothing listens, outside of the ports that the operating system gives to connections.
fn free_address() -> Result<SocketAddr> {
    let ports = std::iter::repeat_with(|| fastrand::u16(10_000..32_000)).take(100);
    let bound = ports
        .filter_map(|port| TcpListener::bind(("127.0.0.1", port)).ok())
        .next();
    Ok(bound.context("a free port is needed")?.local_addr()?)
}

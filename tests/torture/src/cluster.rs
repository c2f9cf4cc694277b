//! Members of etcd that can be killed, stopped and cut off.

mod proxy;

use std::fs::File;
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

pub use self::proxy::{Mode, Proxy};
use crate::temporary;

/// The number of members: one may fail.
pub const MEMBERS: usize = 3;

/// Ports that the operating system does not give to outgoing connections.
const PORTS: std::ops::Range<u16> = 10_000..32_000;

/// Maximum time until a member takes part again, and until it tells whether it does.
const REJOINED_WITHIN: Duration = Duration::from_secs(60);
const ANSWERED_WITHIN: Duration = Duration::from_secs(3);

/// Milliseconds between heartbeats, and without one until an election.
const HEARTBEAT_INTERVAL: &str = "50";
const ELECTION_TIMEOUT: &str = "500";

/// A running cluster on loopback addresses. Clients and members reach each member through proxies.
#[derive(Debug)]
pub struct Cluster {
    folder: TempDir,
    members: Vec<Member>,
    /// Runs the proxies.
    runtime: tokio::runtime::Runtime,
}

#[derive(Debug)]
struct Member {
    name: String,
    /// The addresses on which it listens.
    client: SocketAddr,
    peer: SocketAddr,
    /// The proxies in front of them.
    client_proxy: Proxy,
    peer_proxy: Proxy,
    process: Mutex<Option<Child>>,
}

impl Cluster {
    /// Starts the members, without waiting for their first election.
    ///
    /// # Errors
    ///
    /// etcd is not installed, or does not start.
    pub fn start() -> Result<Self> {
        let folder = temporary::folder()?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()?;
        let members = (0..MEMBERS).map(|number| Member::new(number, &runtime));
        let members: Vec<_> = members.collect::<Result<_>>()?;
        let cluster = Self {
            folder,
            members,
            runtime,
        };
        for number in 0..MEMBERS {
            cluster.run(number)?;
        }
        Ok(cluster)
    }

    /// The URLs for clients.
    #[must_use]
    pub fn endpoints(&self) -> Vec<String> {
        let addresses = self.client_addresses().into_iter();
        addresses.map(|address| format!("http://{address}")).collect()
    }

    /// The addresses of the proxies for clients.
    #[must_use]
    pub fn client_addresses(&self) -> Vec<SocketAddr> {
        self.members
            .iter()
            .map(|member| member.client_proxy.address())
            .collect()
    }

    /// Starts a member on the data that it left.
    ///
    /// # Errors
    ///
    /// etcd does not start.
    pub fn run(&self, number: usize) -> Result<()> {
        let member = &self.members[number];
        let peer = |member: &Member| format!("{}=http://{}", member.name, member.peer_proxy.address());
        let all: Vec<_> = self.members.iter().map(peer).collect();
        let log = File::create(self.log(number))?;
        let process = Command::new("etcd")
            .args(["--name", &member.name, "--data-dir"])
            .arg(self.folder.path().join(&member.name))
            .args(["--listen-client-urls", &format!("http://{}", member.client)])
            .args([
                "--advertise-client-urls",
                &format!("http://{}", member.client_proxy.address()),
            ])
            .args(["--listen-peer-urls", &format!("http://{}", member.peer)])
            .args([
                "--initial-advertise-peer-urls",
                &format!("http://{}", member.peer_proxy.address()),
            ])
            .args(["--initial-cluster", &all.join(",")])
            .args(["--initial-cluster-state", "new"])
            .args([
                "--heartbeat-interval",
                HEARTBEAT_INTERVAL,
                "--election-timeout",
                ELECTION_TIMEOUT,
            ])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .context("etcd is needed; install etcd-server")?;
        *member.process() = Some(process);
        Ok(())
    }

    /// Checks that all members run.
    ///
    /// # Errors
    ///
    /// A member has ended by itself.
    pub fn check(&self) -> Result<()> {
        for (number, member) in self.members.iter().enumerate() {
            let mut process = member.process();
            let ended = process.as_mut().map(|process| process.try_wait()).transpose()?;
            if let Some(Some(status)) = ended {
                let log = std::fs::read_to_string(self.log(number)).unwrap_or_default();
                let last: Vec<_> = log.lines().rev().take(3).collect();
                bail!("etcd ended with {status}: {}", last.join("; "));
            }
        }
        Ok(())
    }

    /// Waits until a member takes part again: it knows the leader, and has what the others have written. Until then another
    /// failure would leave no majority.
    ///
    /// # Errors
    ///
    /// That takes too long.
    pub async fn rejoined(&self, number: usize) -> Result<()> {
        let Member { name, client, .. } = &self.members[number];
        let rejoined = async {
            while !is_healthy(*client).await {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        let rejoined = tokio::time::timeout(REJOINED_WITHIN, rejoined).await;
        rejoined.with_context(|| format!("the member {name} does not take part again within {REJOINED_WITHIN:?}"))
    }

    fn log(&self, number: usize) -> PathBuf {
        self.folder.path().join(format!("{}.log", self.members[number].name))
    }

    /// Kills a member, as a crash does.
    ///
    /// # Errors
    ///
    /// The process cannot be killed.
    pub fn kill(&self, number: usize) -> Result<()> {
        self.members[number].kill()
    }

    /// Stops a member, or lets it continue.
    ///
    /// # Errors
    ///
    /// The signal cannot be sent.
    pub fn stop(&self, number: usize, stopped: bool) -> Result<()> {
        let signal = if stopped { Signal::STOP } else { Signal::CONT };
        if let Some(process) = &*self.members[number].process() {
            kill_process(Pid::from_child(process), signal)?;
        }
        Ok(())
    }

    /// Changes what reaches a member from clients.
    pub fn link_clients(&self, number: usize, mode: Mode) {
        self.members[number].client_proxy.set(mode);
    }

    /// Changes what reaches a member from the others.
    pub fn link_peers(&self, number: usize, mode: Mode) {
        self.members[number].peer_proxy.set(mode);
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        for member in &self.members {
            // A process that is not there any more is what is wanted.
            let _ = member.kill();
        }
        // Dropping the runtime ends the proxies.
        let _ = &self.runtime;
    }
}

impl Member {
    fn new(number: usize, runtime: &tokio::runtime::Runtime) -> Result<Self> {
        let (client, peer) = (free_address()?, free_address()?);
        Ok(Self {
            name: format!("m{number}"),
            client,
            peer,
            client_proxy: runtime.block_on(Proxy::start(client))?,
            peer_proxy: runtime.block_on(Proxy::start(peer))?,
            process: Mutex::default(),
        })
    }

    fn kill(&self) -> Result<()> {
        if let Some(mut process) = self.process().take() {
            process.kill()?;
            process.wait()?;
        }
        Ok(())
    }

    fn process(&self) -> MutexGuard<'_, Option<Child>> {
        self.process.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// True if the member at `address` says that it performs requests, for which it needs a majority.
async fn is_healthy(address: SocketAddr) -> bool {
    let asking = async {
        let mut stream = TcpStream::connect(address).await?;
        let request = "GET /health HTTP/1.1\r\nHost: etcd\r\nConnection: close\r\n\r\n";
        stream.write_all(request.as_bytes()).await?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await?;
        std::io::Result::Ok(answer.contains("\"health\":\"true\""))
    };
    let asked = tokio::time::timeout(ANSWERED_WITHIN, asking).await;
    asked.is_ok_and(|answer| answer.unwrap_or(false))
}

/// An address on which nothing listens, and that no connection gets as its own while a member is down.
fn free_address() -> Result<SocketAddr> {
    let ports = std::iter::repeat_with(|| fastrand::u16(PORTS)).take(100);
    let bound = ports
        .filter_map(|port| TcpListener::bind(("127.0.0.1", port)).ok())
        .next();
    Ok(bound.context("a free port is needed")?.local_addr()?)
}

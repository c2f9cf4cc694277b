//! A measured server: started here or already running.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use http::Method;
use planesmith_e2e::{Connection, Endpoint, Home, Server};

use super::etcd::Etcd;
use super::objects::{self, Sample};
use super::process::Processes;

/// The timeout for serving a new definition.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The place where a started server keeps its objects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Storage {
    /// The embedded store in its data folder.
    #[default]
    Sled,
    /// An etcd of one member on the same disk, which each server gets for itself.
    Etcd,
}

/// The command that starts a server.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    pub(crate) path: PathBuf,
    pub(crate) flags: Vec<String>,
    /// The parent of its data folder; the file system determines the cost of a durable write.
    pub(crate) folder: PathBuf,
    pub(crate) storage: Storage,
}

impl Program {
    /// The server of this workspace.
    pub(crate) fn ours(path: PathBuf, folder: &Path, storage: Storage) -> Self {
        let flags = vec!["--authorization-mode=AlwaysAllow".to_owned()];
        Self {
            path,
            flags,
            folder: folder.to_owned(),
            storage,
        }
    }

    /// The minimal server that sends the same bytes.
    pub(crate) fn limit(folder: &Path) -> Result<Self> {
        let flags = vec!["bench-limit-server".to_owned()];
        Ok(Self {
            path: std::env::current_exe()?,
            flags,
            folder: folder.to_owned(),
            storage: Storage::Sled,
        })
    }

    /// Starts the server on an empty folder; returns it with the time until it was ready.
    pub(crate) async fn start(&self) -> Result<(Subject, Duration)> {
        let etcd = match self.storage {
            Storage::Sled => None,
            Storage::Etcd => Some(Etcd::start(&self.folder).await?),
        };
        self.start_on(Home::within(&self.folder)?, etcd).await
    }

    async fn start_on(&self, home: Home, etcd: Option<Etcd>) -> Result<(Subject, Duration)> {
        let servers = etcd.as_ref().map(|etcd| format!("--etcd-servers={}", etcd.url()));
        let flags: Vec<_> = self.flags.iter().chain(&servers).map(String::as_str).collect();
        let mut server = home.spawn(&self.path, &flags)?;
        let taken = server.ready().await?;
        let subject = Subject {
            endpoint: server.endpoint().clone(),
            processes: Processes::new([server.pid()].into_iter().chain(etcd.as_ref().map(Etcd::pid)).collect()),
            running: Some(Running { server, home, etcd }),
        };
        Ok((subject, taken))
    }
}

/// A measured server.
#[derive(Debug)]
pub(crate) struct Subject {
    pub(crate) endpoint: Endpoint,
    pub(crate) processes: Processes,
    running: Option<Running>,
}

/// A started server. Dropping it stops the server and then removes its folder.
#[derive(Debug)]
struct Running {
    server: Server,
    home: Home,
    etcd: Option<Etcd>,
}

impl Subject {
    /// A running server that consists of the processes `pids`.
    pub(crate) fn running(endpoint: Endpoint, pids: Vec<u32>) -> Self {
        Self {
            endpoint,
            processes: Processes::new(pids),
            running: None,
        }
    }

    /// The etcd of the server, if it has one of its own.
    pub(crate) fn etcd(&self) -> Option<&Etcd> {
        self.running.as_ref()?.etcd.as_ref()
    }

    /// Kills the server, and starts it again on its data with `program`. Returns it with the time until it was ready.
    pub(crate) async fn restarted(self, program: &Program) -> Result<(Self, Duration)> {
        let running = self
            .running
            .context("only a server that was started here is restarted")?;
        running.server.kill().await?;
        program.start_on(running.home, running.etcd).await
    }

    /// Creates the namespaces and the definition of the load; objects from an earlier run are retained.
    pub(crate) async fn prepare(&self) -> Result<()> {
        let connection = Connection::open(&self.endpoint).await?;
        for namespace in [
            objects::READ_NAMESPACE,
            objects::WRITTEN_NAMESPACE,
            objects::WATCHED_NAMESPACE,
        ] {
            let body = objects::namespace(namespace);
            create(&connection, "/api/v1/namespaces", body).await?;
            // Pods are refused until their account exists; servers that do not create it automatically get one here.
            let accounts = format!("/api/v1/namespaces/{namespace}/serviceaccounts");
            create(&connection, &accounts, objects::service_account()).await?;
        }
        let definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
        create(&connection, definitions, objects::definition()).await?;
        let served = Sample::Gadget.collection(objects::READ_NAMESPACE);
        let started = Instant::now();
        while connection.get(&served).await?.status != 200 {
            ensure!(started.elapsed() < TIMEOUT, "{served} is not served");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        Ok(())
    }

    /// Deletes all objects of a kind in `namespace`.
    pub(crate) async fn clear(&self, sample: Sample, namespace: &str) -> Result<()> {
        let connection = Connection::open(&self.endpoint).await?;
        connection
            .call(Method::DELETE, &sample.collection(namespace), "")
            .await?
            .expect(200)?;
        Ok(())
    }
}

/// Creates an object unless it already exists.
async fn create(connection: &Connection, path: &str, body: Vec<u8>) -> Result<()> {
    let answer = connection.call(Method::POST, path, body).await?;
    if answer.status != 409 {
        answer.expect(201)?;
    }
    Ok(())
}

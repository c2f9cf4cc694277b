//! A measured server: started here or already running.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use http::Method;
use planesmith_e2e::{Connection, Endpoint, Home, Server};

use super::objects::{self, Sample};
use super::process::Processes;

/// The timeout for serving a new definition.
const PATIENCE: Duration = Duration::from_secs(10);

/// The command that starts a server.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    pub(crate) path: PathBuf,
    pub(crate) flags: Vec<String>,
    /// The parent of its data folder; the file system determines the cost of a durable write.
    pub(crate) folder: PathBuf,
}

impl Program {
    /// The server of this workspace.
    pub(crate) fn ours(path: PathBuf, folder: &Path) -> Self {
        let flags = vec!["--authorization-mode=AlwaysAllow".to_owned()];
        Self {
            path,
            flags,
            folder: folder.to_owned(),
        }
    }

    /// The minimal server that sends the same bytes.
    pub(crate) fn limit(folder: &Path) -> Result<Self> {
        let flags = vec!["bench-limit-server".to_owned()];
        Ok(Self {
            path: std::env::current_exe()?,
            flags,
            folder: folder.to_owned(),
        })
    }

    /// Starts the server on an empty folder; returns it with the time until it was ready.
    pub(crate) async fn start(&self) -> Result<(Subject, Duration)> {
        let home = Home::within(&self.folder)?;
        let flags: Vec<_> = self.flags.iter().map(String::as_str).collect();
        let mut server = home.spawn(&self.path, &flags)?;
        let taken = server.ready().await?;
        let subject = Subject {
            endpoint: server.endpoint().clone(),
            processes: Processes::new(vec![server.pid()]),
            _running: Some((server, home)),
        };
        Ok((subject, taken))
    }
}

/// A measured server.
#[derive(Debug)]
pub(crate) struct Subject {
    pub(crate) endpoint: Endpoint,
    pub(crate) processes: Processes,
    /// Stops the server and then removes its folder when dropped.
    _running: Option<(Server, Home)>,
}

impl Subject {
    /// A running server that consists of the processes `pids`.
    pub(crate) fn running(endpoint: Endpoint, pids: Vec<u32>) -> Self {
        Self {
            endpoint,
            processes: Processes::new(pids),
            _running: None,
        }
    }

    /// Creates the namespaces and the definition of the load; objects from an earlier run are retained.
    pub(crate) async fn prepare(&self) -> Result<()> {
        let connection = Connection::open(&self.endpoint).await?;
        for namespace in [objects::READ, objects::WRITTEN, objects::WATCHED] {
            let body = objects::namespace(namespace);
            create(&connection, "/api/v1/namespaces", body).await?;
            // Pods are refused until their account exists; servers that do not create it automatically get one here.
            let accounts = format!("/api/v1/namespaces/{namespace}/serviceaccounts");
            create(&connection, &accounts, objects::service_account()).await?;
        }
        let definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
        create(&connection, definitions, objects::definition()).await?;
        let served = Sample::Gadget.collection(objects::READ);
        let started = Instant::now();
        while connection.get(&served).await?.status != 200 {
            ensure!(started.elapsed() < PATIENCE, "{served} is not served");
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

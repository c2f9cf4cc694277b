//! A server that is measured: one started here, or one that runs already.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Result;
use http::Method;
use planesmith_e2e::{Connection, Endpoint, Home, Server};

use super::objects;
use super::process::Processes;

/// How to start a server.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    pub(crate) path: PathBuf,
    pub(crate) flags: Vec<String>,
    /// Where its data goes; the file system there decides what a durable write costs.
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

    /// The bare server that sends the same bytes.
    pub(crate) fn limit(folder: &Path) -> Result<Self> {
        let flags = vec!["bench-limit-server".to_owned()];
        Ok(Self {
            path: std::env::current_exe()?,
            flags,
            folder: folder.to_owned(),
        })
    }

    /// Starts it on an empty folder; returns it with the time it took to be ready.
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

/// A server being measured.
#[derive(Debug)]
pub(crate) struct Subject {
    pub(crate) endpoint: Endpoint,
    pub(crate) processes: Processes,
    /// Ends the server, and then removes its folder, when dropped.
    _running: Option<(Server, Home)>,
}

impl Subject {
    /// A server that runs already, made of the processes `pids`.
    pub(crate) fn running(endpoint: Endpoint, pids: Vec<u32>) -> Self {
        Self {
            endpoint,
            processes: Processes::new(pids),
            _running: None,
        }
    }

    /// Creates the namespaces of the load; what is left there from an earlier run stays.
    pub(crate) async fn prepare(&self) -> Result<()> {
        let connection = Connection::open(&self.endpoint).await?;
        for namespace in [objects::READ, objects::WRITTEN, objects::WATCHED] {
            let body = objects::namespace(namespace);
            let answer = connection.call(Method::POST, "/api/v1/namespaces", body).await?;
            if answer.status != 409 {
                answer.expect(201)?;
            }
        }
        Ok(())
    }

    /// Removes every config map of `namespace`.
    pub(crate) async fn clear(&self, namespace: &str) -> Result<()> {
        let connection = Connection::open(&self.endpoint).await?;
        connection
            .call(Method::DELETE, &objects::collection(namespace), "")
            .await?
            .expect(200)?;
        Ok(())
    }
}

//! A connected store.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use planesmith_store::Revision;
use planesmith_store::backend::{BackendError, Refusal};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::client::Client;
use crate::config::{Config, ConfigError};
use crate::keys::Keys;
use crate::leases::Leases;
use crate::members::Members;
use crate::monitor::Report;
use crate::{compactor, monitor, transaction};

/// The reason that there is no connection.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConnectError {
    /// A setting cannot be used.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// No member answered in time.
    #[error("no etcd member answers: {0}")]
    Unreachable(BackendError),
}

/// A store in etcd. Dropping it closes it.
pub struct Etcd {
    pub(crate) client: Arc<Client>,
    pub(crate) keys: Keys,
    pub(crate) leases: Leases,
    pub(crate) report: Report,
    /// Sent to when feeds should tell their progress.
    pub(crate) progress: watch::Sender<()>,
    tasks: Mutex<Vec<JoinHandle<()>>>,
}

impl Etcd {
    /// Connects to a member, and begins to watch over the connection and to take part in compactions. Call it on a
    /// tokio runtime that lives as long as the store.
    ///
    /// # Errors
    ///
    /// See [`ConnectError`].
    pub async fn connect(config: &Config) -> Result<Self, ConnectError> {
        let members = Members::new(config.uris()?, config);
        let client = Arc::new(Client { members });
        let report = Report::default();
        let end = tokio::time::Instant::now() + config.connect_timeout;
        let mut pause = std::time::Duration::from_millis(50);
        let first = loop {
            match monitor::check(&client, &report).await {
                Ok(status) => break status,
                Err(failure) if tokio::time::Instant::now() + pause >= end => {
                    return Err(ConnectError::Unreachable(failure.into()));
                }
                Err(_) => tokio::time::sleep(pause).await,
            }
            pause = (2 * pause).min(std::time::Duration::from_secs(1));
        };
        let mut tasks = vec![tokio::spawn(monitor::run(Arc::clone(&client), report.clone(), first))];
        if !config.compaction_interval.is_zero() {
            let compacting = compactor::run(Arc::clone(&client), config.compaction_interval);
            tasks.push(tokio::spawn(compacting));
        }
        Ok(Self {
            client,
            keys: Keys::new(&config.prefix),
            leases: Leases::new(config.lease_reuse, config.lease_objects),
            report,
            progress: watch::Sender::new(()),
            tasks: Mutex::new(tasks),
        })
    }

    /// Writes several keys with one revision, whatever their states; `None` deletes. A member accepts 128 keys unless it
    /// is configured differently (`--max-txn-ops`).
    ///
    /// # Errors
    ///
    /// See [`Refusal`]; nothing was written unless it is [`Refusal::OutcomeUnknown`].
    pub async fn write_all(&self, changes: Vec<(Arc<str>, Option<Bytes>)>) -> Result<Revision, Refusal> {
        transaction::write_all(&self.client, &self.keys, changes).await
    }

    /// Ends the tasks.
    pub(crate) fn stop(&self) {
        // A panic cannot interrupt a change half way.
        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        tasks.drain(..).for_each(|task| task.abort());
    }
}

impl Drop for Etcd {
    fn drop(&mut self) {
        self.stop();
    }
}

impl fmt::Debug for Etcd {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Etcd")
            .field("member", &self.client.members.link().uri)
            .field("keys", &self.keys)
            .finish_non_exhaustive()
    }
}

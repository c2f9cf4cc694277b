//! Follows the configuration file while the server runs.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};
use std::{fs, io};

use planesmith_access::authentication::Anonymous;
use planesmith_server::metrics::JwtMetrics;

use crate::configuration::AuthenticationConfiguration;
use crate::issuer::Issuer;
use crate::issuers::Issuers;
use crate::validation::Validation;

/// The time between two looks at the time of the file.
const LOOK: Duration = Duration::from_secs(1);
/// The longest time between two reads of the file, whose time may not change.
const READ: Duration = Duration::from_secs(60);
/// The longest time that new issuers have to become ready.
const PATIENCE: Duration = Duration::from_secs(60);
/// The time between two checks of new issuers.
const CHECK: Duration = Duration::from_millis(100);

/// Replaces the issuers when the file changes.
pub(crate) struct Reload {
    pub(crate) path: PathBuf,
    pub(crate) validation: Validation,
    pub(crate) issuers: Arc<Issuers>,
    pub(crate) metrics: Arc<JwtMetrics>,
    /// The requests without credentials that the first file serves; it cannot change.
    pub(crate) anonymous: Option<Anonymous>,
    /// The content that was read last, whether it could be used or not.
    pub(crate) content: Vec<u8>,
}

impl Reload {
    /// Follows the file for as long as it is polled.
    pub(crate) async fn run(mut self) {
        let mut changed = self.modified().await;
        let mut read = Instant::now();
        loop {
            tokio::time::sleep(LOOK).await;
            let now = self.modified().await;
            if now == changed && read.elapsed() < READ {
                continue;
            }
            (changed, read) = (now, Instant::now());
            self.read_again().await;
        }
    }

    async fn modified(&self) -> Option<SystemTime> {
        let path = self.path.clone();
        on_another_thread(move || path.metadata()?.modified()).await.ok()
    }

    async fn read_again(&mut self) {
        let file = self.path.display().to_string();
        let path = self.path.clone();
        let content = match on_another_thread(move || fs::read(path)).await {
            Ok(content) => content,
            Err(error) => {
                self.metrics.reloaded(None);
                tracing::error!(file, %error, "the authentication configuration cannot be read; the previous one remains in use");
                return;
            }
        };
        if content == self.content {
            return;
        }
        self.content = content;
        match self.replace().await {
            Ok(()) => {
                self.metrics.reloaded(Some(self.content.as_slice()));
                tracing::info!(file, "the authentication configuration is reloaded");
            }
            Err(error) => {
                self.metrics.reloaded(None);
                tracing::error!(
                    file,
                    error,
                    "the changed authentication configuration cannot be used; the previous one remains in use"
                );
            }
        }
    }

    /// Uses the content if its issuers become ready in time.
    async fn replace(&self) -> Result<(), String> {
        let configuration = AuthenticationConfiguration::parse(&self.content)?;
        if configuration.anonymous() != self.anonymous {
            return Err("changes to anonymous need a restart of the server".to_owned());
        }
        let issuers = self.validation.issuers(&configuration, &self.metrics)?;
        let begin = Instant::now();
        while let Some(issuer) = issuers.iter().find(|issuer| !issuer.is_ready()) {
            if begin.elapsed() > PATIENCE {
                return Err(format!("the issuer {} cannot be discovered", issuer.url()));
            }
            tokio::time::sleep(CHECK).await;
        }
        let is_removed = |old: &Arc<Issuer>| issuers.iter().all(|new| new.url() != old.url());
        for issuer in self.issuers.load().iter().filter(|old| is_removed(old)) {
            self.metrics.forget(issuer.url());
        }
        self.issuers.store(Arc::new(issuers));
        Ok(())
    }
}

/// Reads a file on a thread that may block: a disk may be slow.
async fn on_another_thread<T: Send + 'static>(read: impl FnOnce() -> io::Result<T> + Send + 'static) -> io::Result<T> {
    tokio::task::spawn_blocking(read).await.map_err(io::Error::other)?
}

//! Follows the configuration file while the server runs.

use std::sync::Arc;
use std::time::{Duration, Instant};

use planesmith_access::authentication::Anonymous;
use planesmith_control_plane::followed_file::FollowedFile;
use planesmith_server::metrics::JwtMetrics;

use crate::configuration::AuthenticationConfiguration;
use crate::issuer::Issuer;
use crate::issuers::Issuers;
use crate::validation::Validation;

/// The longest time that new issuers have to become ready.
const READY_TIMEOUT: Duration = Duration::from_secs(60);
/// The time between two checks of new issuers.
const CHECK_INTERVAL: Duration = Duration::from_millis(100);

/// Replaces the issuers when the file changes.
pub(crate) struct Reload {
    pub(crate) file: FollowedFile,
    pub(crate) validation: Validation,
    pub(crate) issuers: Arc<Issuers>,
    pub(crate) metrics: Arc<JwtMetrics>,
    /// The requests without credentials that the first file serves; it cannot change.
    pub(crate) anonymous: Option<Anonymous>,
}

impl Reload {
    /// Follows the file for as long as it is polled.
    pub(crate) async fn run(mut self) {
        let configuration = Arc::clone(&self.metrics);
        let configuration = configuration.configuration();
        loop {
            let reloaded = self.next().await;
            let file = self.file.path().display();
            match reloaded {
                Ok(()) => {
                    configuration.reloaded(Some(self.file.content()));
                    tracing::info!(%file, "the authentication configuration is reloaded");
                }
                Err(error) => {
                    configuration.reloaded(None);
                    tracing::error!(
                        %file,
                        error,
                        "the changed authentication configuration cannot be used; the previous one remains in use"
                    );
                }
            }
        }
    }

    /// Waits for another content, and uses it if its issuers become ready in time.
    async fn next(&mut self) -> Result<(), String> {
        let content = self.file.changed().await.map_err(|error| error.to_string())?;
        self.replace(&content).await?;
        self.file.accept(content);
        Ok(())
    }

    async fn replace(&self, content: &[u8]) -> Result<(), String> {
        let configuration = AuthenticationConfiguration::parse(content)?;
        if configuration.anonymous() != self.anonymous {
            return Err("changes to anonymous need a restart of the server".to_owned());
        }
        let issuers = self.validation.issuers(&configuration, &self.metrics)?;
        let begin = Instant::now();
        while let Some(issuer) = issuers.iter().find(|issuer| !issuer.is_ready()) {
            if begin.elapsed() > READY_TIMEOUT {
                return Err(format!("the issuer {} cannot be discovered", issuer.url()));
            }
            tokio::time::sleep(CHECK_INTERVAL).await;
        }
        let is_removed = |old: &Arc<Issuer>| issuers.iter().all(|new| new.url() != old.url());
        for issuer in self.issuers.load().iter().filter(|old| is_removed(old)) {
            self.metrics.forget(issuer.url());
        }
        self.issuers.store(Arc::new(issuers));
        Ok(())
    }
}

//! Follows the configuration file while the server runs.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Error, Result, bail};
use planesmith_access::authentication::Anonymous;
use planesmith_control_plane::followed_file::FollowedFile;
use planesmith_control_plane::reloadable::{self, Reloadable};
use planesmith_server::metrics::JwtMetrics;

use crate::configuration::AuthenticationConfiguration;
use crate::issuer::Issuer;
use crate::issuers::Issuers;
use crate::validation::Validation;

/// The longest time that new issuers have to become ready.
const READY_TIMEOUT: Duration = Duration::from_secs(60);
/// The time between two checks of new issuers.
const CHECK_INTERVAL: Duration = Duration::from_millis(100);

/// The issuers of a file.
pub(crate) struct ReloadableIssuers {
    pub(crate) validation: Validation,
    pub(crate) issuers: Arc<Issuers>,
    pub(crate) metrics: Arc<JwtMetrics>,
    /// The requests without credentials that the first file serves; it cannot change.
    pub(crate) anonymous: Option<Anonymous>,
}

impl ReloadableIssuers {
    /// Follows `file` for as long as it is polled.
    pub(crate) async fn follow(self, file: FollowedFile) {
        let metrics = Arc::clone(&self.metrics);
        reloadable::follow(file, self, metrics.configuration()).await;
    }
}

impl Reloadable for ReloadableIssuers {
    const SUBJECT: &'static str = "authentication";

    /// Waits until the issuers of `content` are ready.
    async fn replace(&mut self, content: &[u8]) -> Result<bool> {
        let configuration = AuthenticationConfiguration::parse(content).map_err(Error::msg)?;
        if configuration.anonymous() != self.anonymous {
            bail!("changes to anonymous need a restart of the server");
        }
        let issuers = self.validation.issuers(&configuration, &self.metrics);
        let issuers = issuers.map_err(Error::msg)?;
        let begin = Instant::now();
        while let Some(issuer) = issuers.iter().find(|issuer| !issuer.is_ready()) {
            if begin.elapsed() > READY_TIMEOUT {
                bail!("the issuer {} cannot be discovered", issuer.url());
            }
            tokio::time::sleep(CHECK_INTERVAL).await;
        }
        let is_removed = |old: &Arc<Issuer>| issuers.iter().all(|new| new.url() != old.url());
        for issuer in self.issuers.load().iter().filter(|old| is_removed(old)) {
            self.metrics.forget(issuer.url());
        }
        self.issuers.store(Arc::new(issuers));
        Ok(true)
    }
}

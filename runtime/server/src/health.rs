//! `/healthz`, `/livez`, `/readyz`: health, liveness and readiness of the server.

mod endpoint;
mod reports;

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use futures_util::future::BoxFuture;

pub(crate) use endpoint::Endpoint;
pub(crate) use reports::SHUTDOWN;

type Probe = Box<dyn Fn() -> BoxFuture<'static, Result<(), String>> + Send + Sync>;

/// One health check.
pub struct HealthCheck {
    name: Cow<'static, str>,
    endpoints: Endpoints,
    is_public: bool,
    probe: Probe,
}

/// The endpoints that include a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Endpoints {
    /// All endpoints.
    All,
    /// `/readyz` only: for conditions that end by themselves, so that a restart would not help.
    Ready,
}

impl HealthCheck {
    /// Returns a check that answers at once. The reason of a failure goes to the log and to users that may request
    /// single checks.
    pub fn new<P>(name: impl Into<Cow<'static, str>>, probe: P) -> Self
    where
        P: Fn() -> Result<(), String> + Send + Sync + 'static,
    {
        Self::waiting(name, move || {
            let result = probe();
            async { result }
        })
    }

    /// Returns an asynchronous check, which bounds its own duration.
    pub fn waiting<P, F>(name: impl Into<Cow<'static, str>>, probe: P) -> Self
    where
        P: Fn() -> F + Send + Sync + 'static,
        F: Future<Output = Result<(), String>> + Send + 'static,
    {
        Self {
            name: name.into(),
            endpoints: Endpoints::All,
            is_public: false,
            probe: Box::new(move || Box::pin(probe())),
        }
    }

    /// The same check at `/readyz` only.
    #[must_use]
    pub fn only_ready(mut self) -> Self {
        self.endpoints = Endpoints::Ready;
        self
    }

    /// The same check with public reasons: verbose answers include them, while those of other checks are withheld.
    #[must_use]
    pub fn with_public_reason(mut self) -> Self {
        self.is_public = true;
        self
    }

    /// Name in lists and paths, e.g. `ping`.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The endpoints that include the check.
    #[must_use]
    pub fn endpoints(&self) -> Endpoints {
        self.endpoints
    }

    /// Returns a check that passes until `start`, and is `check` from then on.
    pub(crate) fn delayed(check: Arc<Self>, start: Instant) -> Self {
        Self {
            name: check.name.clone(),
            endpoints: check.endpoints,
            is_public: check.is_public,
            probe: Box::new(move || {
                let check = Arc::clone(&check);
                Box::pin(async move {
                    match Instant::now() < start {
                        true => Ok(()),
                        false => check.run().await,
                    }
                })
            }),
        }
    }

    async fn run(&self) -> Result<(), String> {
        (self.probe)().await
    }
}

impl fmt::Debug for HealthCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HealthCheck")
            .field("name", &self.name)
            .field("endpoints", &self.endpoints)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;

//! `/healthz`, `/livez`, `/readyz`: is the server well, need it be restarted, should it get requests.

mod endpoint;
mod reports;

use std::borrow::Cow;
use std::fmt;

use futures_util::future::BoxFuture;

pub(crate) use endpoint::Endpoint;

type Look = Box<dyn Fn() -> BoxFuture<'static, Result<(), String>> + Send + Sync>;

/// One thing that must be well.
pub struct HealthCheck {
    name: Cow<'static, str>,
    endpoints: Endpoints,
    is_told: bool,
    look: Look,
}

/// Where a check counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Endpoints {
    /// Everywhere.
    All,
    /// At `/readyz` only: what passes by itself, so that a restart would not help.
    Ready,
}

impl HealthCheck {
    /// A check that answers at once. The reason of a failure is for the log and for those who may see single checks.
    pub fn new<L>(name: impl Into<Cow<'static, str>>, look: L) -> Self
    where
        L: Fn() -> Result<(), String> + Send + Sync + 'static,
    {
        Self::waiting(name, move || {
            let result = look();
            async { result }
        })
    }

    /// A check that must wait for its answer; it bounds the time itself.
    pub fn waiting<L, F>(name: impl Into<Cow<'static, str>>, look: L) -> Self
    where
        L: Fn() -> F + Send + Sync + 'static,
        F: Future<Output = Result<(), String>> + Send + 'static,
    {
        Self {
            name: name.into(),
            endpoints: Endpoints::All,
            is_told: false,
            look: Box::new(move || Box::pin(look())),
        }
    }

    /// The same check at `/readyz` only.
    #[must_use]
    pub fn only_ready(mut self) -> Self {
        self.endpoints = Endpoints::Ready;
        self
    }

    /// The same check, whose reasons are fit for everyone: verbose answers show them, where other checks' are withheld.
    #[must_use]
    pub fn with_told_reason(mut self) -> Self {
        self.is_told = true;
        self
    }

    /// Name in lists and paths, e.g. `ping`.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Where the check counts.
    #[must_use]
    pub fn endpoints(&self) -> Endpoints {
        self.endpoints
    }

    async fn look(&self) -> Result<(), String> {
        (self.look)().await
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

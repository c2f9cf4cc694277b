//! A chain of authorizers that follows its file.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Result, bail};
use arc_swap::ArcSwap;
use planesmith_access::authorization::{Attributes, AuthorizationOutcome, Authorizer, Rules, Union};
use planesmith_access::user::UserInfo;
use planesmith_control_plane::followed_file::FollowedFile;
use planesmith_control_plane::options::AuthorizationMode;
use planesmith_control_plane::outbound::Outbound;
use planesmith_control_plane::reloadable::{self, Reloadable};
use planesmith_server::metrics::{AuthorizerMetrics, ConfigurationMetrics};
use planesmith_server::own_task::OwnTask;

use crate::chain::{LocalAuthorizers, chain};
use crate::configuration::{AuthorizationConfiguration, CheckedAuthorizer};

/// A chain of authorizers by a file.
#[derive(Debug)]
pub(crate) struct ConfiguredChain {
    current: Arc<ArcSwap<Union>>,
    _reload: OwnTask<()>,
}

/// Everything that the chains of a file are made of.
pub(crate) struct ReloadableChain {
    /// The configuration in use.
    configuration: AuthorizationConfiguration,
    /// The modes that the file may name.
    modes: Vec<AuthorizationMode>,
    local: LocalAuthorizers,
    /// The modes that must stay in the file: all of the first one but webhooks.
    required: BTreeSet<AuthorizationMode>,
    metrics: AuthorizerMetrics,
    outbound: Outbound,
    current: Arc<ArcSwap<Union>>,
}

/// Returns the modes of the authorizers that no reload may remove.
fn local_modes(authorizers: &[CheckedAuthorizer]) -> BTreeSet<AuthorizationMode> {
    let modes = authorizers.iter().map(|authorizer| authorizer.mode);
    modes.filter(|mode| *mode != AuthorizationMode::WEBHOOK).collect()
}

impl ReloadableChain {
    /// Reads the file, which may name `modes`. `of_mode` creates the authorizers that it does not configure.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or its content is not valid.
    pub(crate) fn open(
        path: &Path,
        modes: &[AuthorizationMode],
        of_mode: impl Fn(AuthorizationMode) -> Result<Arc<dyn Authorizer>>,
        (metrics, outbound): (&AuthorizerMetrics, &Outbound),
    ) -> Result<(FollowedFile, Self)> {
        let file = FollowedFile::open(path)?;
        let configuration = AuthorizationConfiguration::parse(file.content())?;
        let authorizers = configuration.check(modes)?;
        let required = local_modes(&authorizers);
        let local = required.iter().map(|mode| Ok((*mode, of_mode(*mode)?)));
        let local = local.collect::<Result<LocalAuthorizers>>()?;
        let current = chain(authorizers, &local, metrics, outbound)?;
        let chain = Self {
            configuration,
            modes: modes.to_vec(),
            local,
            required,
            metrics: metrics.clone(),
            outbound: outbound.clone(),
            current: Arc::new(ArcSwap::from_pointee(current)),
        };
        Ok((file, chain))
    }

    /// The modes that do not change while the server runs.
    pub(crate) fn modes(&self) -> Vec<AuthorizationMode> {
        self.required.iter().copied().collect()
    }

    /// Begins to follow `file`.
    pub(crate) fn start(self, file: FollowedFile, reloads: ConfigurationMetrics) -> ConfiguredChain {
        reloads.loaded(file.content());
        ConfiguredChain {
            current: Arc::clone(&self.current),
            _reload: OwnTask::run(async move { reloadable::follow(file, self, &reloads).await }),
        }
    }
}

impl Reloadable for ReloadableChain {
    const SUBJECT: &'static str = "authorization";

    async fn replace(&mut self, content: &[u8]) -> Result<bool> {
        let configuration = AuthorizationConfiguration::parse(content)?;
        let authorizers = configuration.check(&self.modes)?;
        let present = local_modes(&authorizers);
        let missing: Vec<&str> = self.required.difference(&present).map(|mode| mode.as_str()).collect();
        if !missing.is_empty() {
            bail!("missing required types: [{}]", missing.join(" "));
        }
        if configuration == self.configuration {
            return Ok(false);
        }
        let chain = chain(authorizers, &self.local, &self.metrics, &self.outbound)?;
        self.current.store(Arc::new(chain));
        self.configuration = configuration;
        Ok(true)
    }
}

impl Authorizer for ConfiguredChain {
    fn authorize(&self, attributes: &Attributes<'_>) -> AuthorizationOutcome {
        self.current.load().authorize(attributes)
    }

    fn rules(&self, user: &UserInfo, namespace: &str) -> Rules {
        self.current.load().rules(user, namespace)
    }

    fn explanation(&self, attributes: &Attributes<'_>) -> Option<String> {
        self.current.load().explanation(attributes)
    }
}

#[cfg(test)]
mod tests;

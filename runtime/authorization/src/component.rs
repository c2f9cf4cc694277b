//! The contribution of this crate to a server.

use anyhow::{Context as _, Result};
use clap::{ArgMatches, Args as _, Command, FromArgMatches as _};
use planesmith_access::authorization::Authorizer;
use planesmith_control_plane::Component;
use planesmith_control_plane::component::{AuthorizerInitializer, AuthorizerOfMode, ConfiguredAuthorizer};
use planesmith_control_plane::options::AuthorizationMode;
use planesmith_server::metrics::ConfigurationMetrics;

use crate::chain::webhook;
use crate::options::AuthorizationOptions;
use crate::reload::ReloadableChain;

/// The component of a program whose authorizers files can configure.
pub const COMPONENT: &dyn Component = &AuthorizationComponent;

#[derive(Clone, Copy, Debug)]
struct AuthorizationComponent;

impl Component for AuthorizationComponent {
    fn flags(&self, command: Command) -> Command {
        AuthorizationOptions::augment_args(command)
    }

    fn check_flags(&self, matches: &ArgMatches) -> Result<(), String> {
        let options = AuthorizationOptions::from_arg_matches(matches).map_err(|error| error.to_string())?;
        options.check(matches)
    }

    fn authorization_modes(&self) -> &'static [AuthorizationMode] {
        &[AuthorizationMode::WEBHOOK]
    }

    fn authorizer(
        &self,
        mode: AuthorizationMode,
        initializer: &AuthorizerInitializer<'_>,
    ) -> Result<Option<Box<dyn Authorizer>>> {
        let options = AuthorizationOptions::from_arg_matches(&initializer.options.matches)?;
        let Some(kubeconfig) = &options.authorization_webhook_config_file else {
            return Ok(None);
        };
        if mode != AuthorizationMode::WEBHOOK {
            return Ok(None);
        }
        let name = mode.as_str().to_lowercase();
        let metrics = initializer.metrics.authorizers();
        let webhook = webhook(
            &name,
            kubeconfig,
            options.review_settings(),
            Vec::new(),
            (metrics, initializer.outbound),
        );
        Ok(Some(Box::new(webhook.context("--authorization-webhook-config-file")?)))
    }

    fn configured_authorizer(
        &self,
        initializer: &AuthorizerInitializer<'_>,
        of_mode: &AuthorizerOfMode<'_>,
    ) -> Result<Option<ConfiguredAuthorizer>> {
        let options = AuthorizationOptions::from_arg_matches(&initializer.options.matches)?;
        let Some(path) = &options.authorization_config else {
            return Ok(None);
        };
        let metrics = initializer.metrics;
        let (file, chain) = ReloadableChain::open(
            path,
            initializer.modes,
            of_mode,
            (metrics.authorizers(), initializer.outbound),
        )
        .with_context(|| format!("--authorization-config {}", path.display()))?;
        let modes = chain.modes();
        let reloads = ConfigurationMetrics::register(metrics, "authorization", initializer.server_name);
        Ok(Some(ConfiguredAuthorizer {
            authorizer: Box::new(chain.start(file, reloads)),
            modes,
        }))
    }
}

#[cfg(test)]
mod tests {
    use planesmith_control_plane::options::Options;

    use super::*;

    fn check(flags: &[&str]) -> Result<(), String> {
        let command = COMPONENT.flags(Options::augment_args(Command::new("server")));
        let matches = command.try_get_matches_from(std::iter::once(&"server").chain(flags));
        COMPONENT.check_flags(&matches.map_err(|error| error.to_string())?)
    }

    #[test]
    fn a_file_replaces_the_flags_of_modes_and_webhooks() {
        let file = "--authorization-config=/dev/null";
        assert_eq!(check(&[]), Ok(()));
        assert_eq!(check(&[file]), Ok(()));
        for flag in [
            "--authorization-mode=RBAC",
            "--authorization-webhook-config-file=/dev/null",
            "--authorization-webhook-version=v1",
            "--authorization-webhook-cache-authorized-ttl=1m",
            "--authorization-webhook-cache-unauthorized-ttl=1m",
        ] {
            let problem = check(&[file, flag]).unwrap_err();
            assert!(
                problem.starts_with("--authorization-config replaces --authorization-"),
                "{problem}"
            );
        }
        assert!(check(&["--authorization-config=/does/not/exist"]).is_err());
    }

    #[test]
    fn a_webhook_needs_its_mode_and_its_file() {
        let file = "--authorization-webhook-config-file=/dev/null";
        assert_eq!(check(&["--authorization-mode=RBAC,Webhook", file]), Ok(()));
        assert!(check(&["--authorization-mode=Webhook"]).is_err());
        assert!(check(&["--authorization-mode=RBAC", file]).is_err());
    }
}

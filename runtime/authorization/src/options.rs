//! The flags of authorizers that files configure.

use std::path::PathBuf;
use std::time::Duration;

use clap::parser::ValueSource;
use clap::{ArgMatches, Args};
use planesmith_control_plane::access_reviews::{FailurePolicy, ReviewSettings, ReviewVersion};
use planesmith_control_plane::options::{AuthorizationMode, check_readable, parse_go_duration};

/// The longest time that the webhook of the flags may take to answer; kube-apiserver's.
const TIMEOUT: Duration = Duration::from_secs(30);

/// The flags that --authorization-config replaces, by their names in the command line.
const REPLACED: [&str; 5] = [
    "authorization_mode",
    "authorization_webhook_config_file",
    "authorization_webhook_version",
    "authorization_webhook_cache_authorized_ttl",
    "authorization_webhook_cache_unauthorized_ttl",
];

/// The flags of authorizers that files configure.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Authentication and authorization")]
pub(crate) struct AuthorizationOptions {
    /// File that configures the authorizers (an AuthorizationConfiguration), in place of --authorization-mode and
    /// --authorization-webhook-*. Changes take effect without a restart.
    #[arg(long, value_name = "FILE")]
    pub(crate) authorization_config: Option<PathBuf>,

    /// Kubeconfig of the webhook for the authorization mode Webhook: the server at the URL of its cluster answers
    /// SubjectAccessReviews.
    #[arg(long, value_name = "FILE")]
    pub(crate) authorization_webhook_config_file: Option<PathBuf>,

    /// Version of the SubjectAccessReviews that the webhook receives.
    #[arg(long, value_enum, default_value = "v1beta1", value_name = "VERSION")]
    authorization_webhook_version: ReviewVersion,

    /// Time for which permissions of the webhook are cached; 0s disables the cache.
    #[arg(long, default_value = "5m0s", value_parser = parse_go_duration, value_name = "DURATION")]
    authorization_webhook_cache_authorized_ttl: Duration,

    /// Time for which refusals of the webhook are cached; 0s disables the cache.
    #[arg(long, default_value = "30s", value_parser = parse_go_duration, value_name = "DURATION")]
    authorization_webhook_cache_unauthorized_ttl: Duration,
}

impl AuthorizationOptions {
    /// Checks the flags together with the authorization modes.
    ///
    /// # Errors
    ///
    /// The flag, its value and the expected one.
    pub(crate) fn check(&self, matches: &ArgMatches) -> Result<(), String> {
        for (flag, file) in [
            ("--authorization-config", &self.authorization_config),
            (
                "--authorization-webhook-config-file",
                &self.authorization_webhook_config_file,
            ),
        ] {
            if let Some(file) = file {
                check_readable(flag, file)?;
            }
        }
        if self.authorization_config.is_some() {
            let is_given = |flag: &&&str| matches.value_source(flag) == Some(ValueSource::CommandLine);
            return match REPLACED.iter().find(is_given) {
                None => Ok(()),
                Some(flag) => {
                    let flag = flag.replace('_', "-");
                    Err(format!(
                        "--authorization-config replaces --{flag}; give only one of them"
                    ))
                }
            };
        }
        let modes = matches.get_many::<AuthorizationMode>("authorization_mode");
        let is_mode = modes
            .into_iter()
            .flatten()
            .any(|mode| *mode == AuthorizationMode::WEBHOOK);
        match (is_mode, &self.authorization_webhook_config_file) {
            (true, None) => {
                Err("--authorization-mode has Webhook, which needs --authorization-webhook-config-file".to_owned())
            }
            (false, Some(_)) => {
                Err("--authorization-webhook-config-file needs Webhook in --authorization-mode".to_owned())
            }
            _ => Ok(()),
        }
    }

    /// Returns the settings of the webhook.
    pub(crate) fn review_settings(&self) -> ReviewSettings {
        ReviewSettings {
            version: self.authorization_webhook_version,
            authorized_ttl: self.authorization_webhook_cache_authorized_ttl,
            unauthorized_ttl: self.authorization_webhook_cache_unauthorized_ttl,
            timeout: TIMEOUT,
            failure_policy: FailurePolicy::NoOpinion,
        }
    }
}

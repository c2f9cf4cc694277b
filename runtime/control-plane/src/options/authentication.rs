//! Flags about the credentials of clients.

use std::path::PathBuf;
use std::time::Duration;

use clap::{ArgAction, Args, ValueEnum};

use super::parse_go_duration;

/// Flags about the credentials of clients.
#[derive(Args, Clone, Debug)]
pub struct AuthenticationOptions {
    /// CSV file of bearer tokens: token,user,uid,"group1,group2".
    #[arg(long, value_name = "FILE")]
    pub token_auth_file: Option<PathBuf>,

    /// Accept bootstrap tokens: secrets of the type bootstrap.kubernetes.io/token in the namespace kube-system.
    #[arg(long, action = ArgAction::Set, num_args = 0..=1, default_missing_value = "true", default_value_t = false, value_name = "BOOL")]
    pub enable_bootstrap_token_auth: bool,

    /// Kubeconfig of a webhook that reviews bearer tokens which this server does not know (TokenReview).
    #[arg(long, value_name = "FILE")]
    pub authentication_token_webhook_config_file: Option<PathBuf>,

    /// Version of the TokenReviews that are sent to the webhook.
    #[arg(long, value_enum, default_value = "v1beta1", value_name = "VERSION")]
    pub authentication_token_webhook_version: TokenReviewVersion,

    /// Time for which answers of the webhook are cached; 0s for none.
    #[arg(long, default_value = "2m0s", value_parser = parse_go_duration, value_name = "DURATION")]
    pub authentication_token_webhook_cache_ttl: Duration,

    /// Serve requests without credentials as the user system:anonymous. Without effect while every request is allowed
    /// (AlwaysAllow), unless --authorization-kubeconfig is set. An --authentication-config may restrict it to paths.
    #[arg(long, action = ArgAction::Set, num_args = 0..=1, default_missing_value = "true", default_value_t = true, value_name = "BOOL")]
    pub anonymous_auth: bool,
}

/// A version of TokenReviews.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TokenReviewVersion {
    /// `authentication.k8s.io/v1`.
    V1,
    /// `authentication.k8s.io/v1beta1`.
    V1beta1,
}

impl TokenReviewVersion {
    /// Returns the group and version, as in objects.
    #[must_use]
    pub fn api_version(self) -> &'static str {
        match self {
            Self::V1 => "authentication.k8s.io/v1",
            Self::V1beta1 => "authentication.k8s.io/v1beta1",
        }
    }
}

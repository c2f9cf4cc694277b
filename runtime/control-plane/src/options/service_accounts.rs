//! Flags about tokens of service accounts.

use std::path::PathBuf;
use std::time::Duration;

use clap::{ArgAction, Args};

use super::parse_go_duration;

/// Flags about tokens of service accounts.
#[derive(Args, Clone, Debug)]
pub struct ServiceAccountOptions {
    /// Issuer named in service account tokens; with several, tokens of all are accepted and the first one signs.
    #[arg(long, default_value = "https://kubernetes.default.svc", value_name = "URL")]
    pub service_account_issuer: Vec<String>,

    /// Private key, PEM, that signs service account tokens [default: one that the server creates].
    #[arg(long, value_name = "FILE")]
    pub service_account_signing_key_file: Option<PathBuf>,

    /// Further keys, PEM, whose service account tokens are accepted.
    #[arg(long, value_name = "FILE")]
    pub service_account_key_file: Vec<PathBuf>,

    /// Refuse service account tokens from secrets once the secret or the account is deleted. Other tokens are always checked.
    #[arg(long, action = ArgAction::Set, num_args = 0..=1, default_missing_value = "true", default_value_t = true, value_name = "BOOL")]
    pub service_account_lookup: bool,

    /// Longest lifetime of a service account token, 1h to 2^32s; 0 is no limit.
    #[arg(long, default_value = "0s", value_parser = parse_go_duration, value_name = "DURATION")]
    pub service_account_max_token_expiration: Duration,

    /// Issue tokens that kubelets request for pods with a lifetime of a year, for programs that read the file once.
    #[arg(long, action = ArgAction::Set, num_args = 0..=1, default_missing_value = "true", default_value_t = true, value_name = "BOOL")]
    pub service_account_extend_token_expiration: bool,

    /// URL at which clients find the keys of service account tokens [default: this server].
    #[arg(long, value_name = "URL")]
    pub service_account_jwks_uri: Option<String>,

    /// Audiences that tokens must name to be accepted [default: --service-account-issuer].
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    pub api_audiences: Vec<String>,
}

impl ServiceAccountOptions {
    /// Checks the flags.
    pub(super) fn check(&self) -> Result<(), String> {
        const HOUR: Duration = Duration::from_secs(60 * 60);
        const MAX_LIFETIME: Duration = Duration::from_secs(1 << 32);
        if self.service_account_issuer.iter().any(String::is_empty) {
            return Err("--service-account-issuer is empty; expected a URL".to_owned());
        }
        let limit = self.service_account_max_token_expiration;
        if !limit.is_zero() && !(HOUR..=MAX_LIFETIME).contains(&limit) {
            return Err(format!(
                "--service-account-max-token-expiration is {}s; expected 1h to 2^32s, or 0",
                limit.as_secs()
            ));
        }
        match &self.service_account_jwks_uri {
            Some(url) if !url.starts_with("https://") => Err(format!(
                "--service-account-jwks-uri is {url}; expected a URL that starts with https://"
            )),
            _ => Ok(()),
        }
    }
}

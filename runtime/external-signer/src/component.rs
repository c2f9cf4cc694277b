//! The contribution of this crate to a server.

use std::path::PathBuf;

use anyhow::{Context as _, Result, anyhow};
use clap::{ArgMatches, Args, Command, FromArgMatches as _};
use planesmith_control_plane::Component;
use planesmith_control_plane::authentication::AuthenticationContext;
use planesmith_control_plane::service_accounts::TokenSigner;
use planesmith_server::metrics::ExternalSignerMetrics;

use crate::signer::Signer;

/// The component of a program whose tokens of service accounts an external signer can sign.
pub const COMPONENT: &dyn Component = &ExternalSignerComponent;

/// The flag of the external signer.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Service accounts")]
struct ExternalSignerOptions {
    /// Socket of a program that signs service account tokens and names the keys that verify them (ExternalJWTSigner, version 1). Not
    /// together with --service-account-signing-key-file and --service-account-key-file. Secrets get no tokens then.
    #[arg(long, value_name = "SOCKET")]
    service_account_signing_endpoint: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug)]
struct ExternalSignerComponent;

impl Component for ExternalSignerComponent {
    fn flags(&self, command: Command) -> Command {
        ExternalSignerOptions::augment_args(command)
    }

    fn check_flags(&self, matches: &ArgMatches) -> Result<(), String> {
        let options = ExternalSignerOptions::from_arg_matches(matches).map_err(|error| error.to_string())?;
        if options.service_account_signing_endpoint.is_none() {
            return Ok(());
        }
        let is_set = |id: &str| matches.try_contains_id(id).unwrap_or_default();
        if is_set("service_account_signing_key_file") {
            return Err("service-account-signing-key-file and service-account-signing-endpoint are mutually exclusive and cannot be \
                        set at the same time"
                .to_owned());
        }
        if is_set("service_account_key_file") {
            return Err("cannot set mutually exclusive flags `--service-account-key-file` and `--service-account-signing-endpoint` at \
                        the same time"
                .to_owned());
        }
        Ok(())
    }

    fn token_signer(&self, context: &AuthenticationContext<'_>) -> Result<Option<TokenSigner>> {
        let options = ExternalSignerOptions::from_arg_matches(&context.options.matches)?;
        let Some(socket) = options.service_account_signing_endpoint else {
            return Ok(None);
        };
        let metrics = ExternalSignerMetrics::register(context.metrics);
        let opened = async move { Signer::open(&socket, metrics).await };
        let opened = context.outbound.dedicated.block_on(opened);
        let opened = opened.map_err(|problem| anyhow!(problem)).flatten();
        opened.context("while setting up external-jwt-signer").map(Some)
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;
    use planesmith_control_plane::options::Options;

    use super::*;

    fn checked(flags: &[&str]) -> Result<(), String> {
        let command = COMPONENT.flags(Options::command());
        let matches = command.try_get_matches_from(["server"].iter().chain(flags));
        COMPONENT.check_flags(&matches.map_err(|error| error.to_string())?)
    }

    #[test]
    fn an_external_signer_excludes_keys_in_files() {
        let endpoint = "--service-account-signing-endpoint=/run/signer.sock";
        assert_eq!(checked(&[endpoint]), Ok(()));
        assert_eq!(checked(&["--service-account-key-file=key"]), Ok(()));
        for (flag, expected) in [
            (
                "--service-account-signing-key-file=key",
                "service-account-signing-key-file and service-account-signing-endpoint are mutually exclusive and cannot be set at the \
                 same time",
            ),
            (
                "--service-account-key-file=key",
                "cannot set mutually exclusive flags `--service-account-key-file` and `--service-account-signing-endpoint` at the same \
                 time",
            ),
        ] {
            assert_eq!(checked(&[endpoint, flag]), Err(expected.to_owned()));
        }
    }
}

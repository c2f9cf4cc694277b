//! The contribution of this crate to a server.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, Result, anyhow, bail};
use arc_swap::ArcSwap;
use clap::parser::ValueSource;
use clap::{ArgMatches, Args, Command, FromArgMatches as _};
use planesmith_control_plane::Component;
use planesmith_control_plane::authentication::{AddedAuthentication, AuthenticationContext};
use planesmith_control_plane::followed_file::FollowedFile;
use planesmith_control_plane::options::check_readable;
use planesmith_server::metrics::JwtMetrics;
use planesmith_server::own_task::OwnTask;

use crate::configuration::{
    AuthenticationConfiguration, ClaimMappings, ClaimValidationRule, IssuerConfiguration, JwtAuthenticator,
    PrefixedClaimOrExpression,
};
use crate::issuers::{Issuers, OpenIdTokens};
use crate::json_web_key::{ALGORITHMS, Algorithm};
use crate::reload::ReloadableIssuers;
use crate::validation::Validation;

/// The component of a program that accepts tokens of OpenID providers.
pub const COMPONENT: &dyn Component = &OpenIdComponent;

/// The feature by which an issuer may select how it is reached.
const EGRESS: &str = "StructuredAuthenticationConfigurationEgressSelector";
/// The feature of metrics about keys.
const KEY_METRICS: &str = "StructuredAuthenticationConfigurationJWKSMetrics";

/// The claim whose users have no prefix by default.
const EMAIL: &str = "email";

/// Flags of one issuer, or of a file with several.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Authentication and authorization")]
struct OpenIdOptions {
    /// File that configures issuers of tokens, and requests without credentials (an AuthenticationConfiguration). Changes
    /// take effect without a restart.
    #[arg(long, value_name = "FILE")]
    authentication_config: Option<PathBuf>,

    /// URL of the OpenID issuer whose tokens are accepted; only https://. Needs --oidc-client-id.
    #[arg(long, value_name = "URL")]
    oidc_issuer_url: Option<String>,

    /// Client that tokens of the issuer must be for.
    #[arg(long, value_name = "ID")]
    oidc_client_id: Option<String>,

    /// Claim with the user name. Other claims than email are prefixed with the issuer's URL, unless --oidc-username-prefix
    /// is set.
    #[arg(long, default_value = "sub", value_name = "CLAIM")]
    oidc_username_claim: String,

    /// Prefix of user names; - for none.
    #[arg(long, allow_hyphen_values = true, value_name = "PREFIX")]
    oidc_username_prefix: Option<String>,

    /// Claim with the user's groups: a text or a list of texts.
    #[arg(long, value_name = "CLAIM")]
    oidc_groups_claim: Option<String>,

    /// Prefix of groups.
    #[arg(long, allow_hyphen_values = true, value_name = "PREFIX")]
    oidc_groups_prefix: Option<String>,

    /// Algorithms of signatures that are accepted: RS256, RS384, RS512, ES256, ES384, ES512, PS256, PS384, PS512.
    #[arg(long, value_delimiter = ',', default_value = "RS256", value_name = "ALGORITHMS")]
    oidc_signing_algs: Vec<String>,

    /// Claims that tokens must have, with their values; may be repeated.
    #[arg(long, value_delimiter = ',', value_parser = parse_pair, value_name = "CLAIM=VALUE,...")]
    oidc_required_claim: Vec<(String, String)>,

    /// Authorities, PEM, of the issuer's certificate [default: those of the operating system].
    #[arg(long, value_name = "FILE")]
    oidc_ca_file: Option<PathBuf>,
}

fn parse_pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((claim, value)) if !claim.is_empty() => Ok((claim.to_owned(), value.to_owned())),
        _ => Err("expected CLAIM=VALUE".to_owned()),
    }
}

impl OpenIdOptions {
    /// True if a flag of the single issuer is set.
    fn names_issuer(&self) -> bool {
        let texts = [
            &self.oidc_issuer_url,
            &self.oidc_client_id,
            &self.oidc_username_prefix,
            &self.oidc_groups_claim,
            &self.oidc_groups_prefix,
        ];
        texts.iter().any(|text| text.is_some()) || !self.oidc_required_claim.is_empty() || self.oidc_ca_file.is_some()
    }

    fn check(&self) -> Result<(), String> {
        for (flag, file) in [
            ("--authentication-config", &self.authentication_config),
            ("--oidc-ca-file", &self.oidc_ca_file),
        ] {
            if let Some(file) = file {
                check_readable(flag, file)?;
            }
        }
        if !self.names_issuer() {
            return Ok(());
        }
        if self.authentication_config.is_some() {
            return Err(
                "--authentication-config and the --oidc- flags exclude each other; move the issuer to the file"
                    .to_owned(),
            );
        }
        let is_set = |text: &Option<String>| text.as_ref().is_some_and(|text| !text.is_empty());
        if !is_set(&self.oidc_issuer_url) || !is_set(&self.oidc_client_id) {
            return Err(
                "--oidc-issuer-url and --oidc-client-id are both needed when one of the --oidc- flags is set"
                    .to_owned(),
            );
        }
        self.algorithms().map(drop)
    }

    /// The algorithms of the flags; all that are known for a file.
    fn algorithms(&self) -> Result<Vec<Algorithm>, String> {
        if self.authentication_config.is_some() {
            return Ok(ALGORITHMS.iter().map(|(_, algorithm)| *algorithm).collect());
        }
        let named = self.oidc_signing_algs.iter().map(|name| {
            Algorithm::named(name)
                .ok_or_else(|| format!("--oidc-signing-algs has {name}; expected one of RS256 to PS512"))
        });
        named.collect()
    }

    /// Returns the configuration of the single issuer, as a file would have it.
    fn configuration(&self) -> Result<AuthenticationConfiguration> {
        let url = self.oidc_issuer_url.clone().unwrap_or_default();
        let certificate_authority = match &self.oidc_ca_file {
            None => String::new(),
            Some(file) => fs::read_to_string(file).with_context(|| format!("--oidc-ca-file {}", file.display()))?,
        };
        let prefix = match self.oidc_username_prefix.as_deref().unwrap_or_default() {
            "-" => String::new(),
            "" if self.oidc_username_claim != EMAIL => format!("{url}#"),
            prefix => prefix.to_owned(),
        };
        let groups = match &self.oidc_groups_claim {
            None => PrefixedClaimOrExpression::default(),
            Some(claim) => PrefixedClaimOrExpression {
                claim: claim.clone(),
                prefix: Some(self.oidc_groups_prefix.clone().unwrap_or_default()),
                expression: String::new(),
            },
        };
        // As in kube-apiserver, the last value of a claim counts.
        let required: BTreeMap<_, _> = self.oidc_required_claim.iter().cloned().collect();
        let rules = required.into_iter().map(|(claim, required_value)| ClaimValidationRule {
            claim,
            required_value,
            ..ClaimValidationRule::default()
        });
        let authenticator = JwtAuthenticator {
            issuer: IssuerConfiguration {
                audiences: self.oidc_client_id.iter().cloned().collect(),
                url,
                certificate_authority,
                ..IssuerConfiguration::default()
            },
            claim_validation_rules: rules.collect(),
            claim_mappings: ClaimMappings {
                username: PrefixedClaimOrExpression {
                    claim: self.oidc_username_claim.clone(),
                    prefix: Some(prefix),
                    expression: String::new(),
                },
                groups,
                ..ClaimMappings::default()
            },
            user_validation_rules: Vec::new(),
        };
        Ok(AuthenticationConfiguration {
            jwt: vec![authenticator],
            ..AuthenticationConfiguration::default()
        })
    }
}

#[derive(Clone, Copy, Debug)]
struct OpenIdComponent;

impl Component for OpenIdComponent {
    fn flags(&self, command: Command) -> Command {
        OpenIdOptions::augment_args(command)
    }

    fn check_flags(&self, matches: &ArgMatches) -> Result<(), String> {
        let options = OpenIdOptions::from_arg_matches(matches).map_err(|error| error.to_string())?;
        options.check()
    }

    fn authentication(&self, context: &AuthenticationContext<'_>) -> Result<AddedAuthentication> {
        let options = OpenIdOptions::from_arg_matches(&context.options.matches)?;
        let validation = Validation {
            disallowed: context.options.service_accounts.service_account_issuer.clone(),
            algorithms: options.algorithms().map_err(|problem| anyhow!(problem))?,
            allows_egress: context.gates.enabled(EGRESS),
            outbound: context.outbound.clone(),
            clock: Arc::clone(&context.options.clock),
        };
        match &options.authentication_config {
            Some(path) => from_file(path, validation, context),
            None if options.names_issuer() => {
                let metrics = metrics(context);
                let issuers = validation.issuers(&options.configuration()?, &metrics);
                let issuers = issuers.map_err(|problem| anyhow!("the --oidc- flags: {problem}"))?;
                Ok(added(Arc::new(ArcSwap::from_pointee(issuers)), None))
            }
            None => Ok(AddedAuthentication::default()),
        }
    }
}

fn from_file(path: &Path, validation: Validation, context: &AuthenticationContext<'_>) -> Result<AddedAuthentication> {
    let metrics = metrics(context);
    let read = || {
        let file = FollowedFile::open(path)?;
        let configuration = AuthenticationConfiguration::parse(file.content()).map_err(|problem| anyhow!(problem))?;
        let issuers = validation
            .issuers(&configuration, &metrics)
            .map_err(|problem| anyhow!(problem))?;
        anyhow::Ok((file, configuration, issuers))
    };
    let (file, configuration, issuers) =
        read().with_context(|| format!("--authentication-config {}", path.display()))?;
    let anonymous = configuration.anonymous();
    if anonymous.is_some() && context.options.matches.value_source("anonymous_auth") == Some(ValueSource::CommandLine) {
        bail!(
            "--anonymous-auth and the field anonymous of --authentication-config {} exclude each other",
            path.display()
        );
    }
    metrics.configuration().loaded(file.content());
    let issuers: Arc<Issuers> = Arc::new(ArcSwap::from_pointee(issuers));
    let reload = ReloadableIssuers {
        validation,
        issuers: Arc::clone(&issuers),
        metrics,
        anonymous: anonymous.clone(),
    };
    let mut added = added(issuers, Some(OwnTask::run(reload.follow(file))));
    added.anonymous = anonymous;
    Ok(added)
}

fn metrics(context: &AuthenticationContext<'_>) -> Arc<JwtMetrics> {
    JwtMetrics::register(context.metrics, context.server_name, context.gates.enabled(KEY_METRICS))
}

fn added(issuers: Arc<Issuers>, reload: Option<OwnTask<()>>) -> AddedAuthentication {
    AddedAuthentication {
        tokens: vec![Box::new(OpenIdTokens {
            issuers,
            _reload: reload,
        })],
        anonymous: None,
    }
}

#[cfg(test)]
mod tests {
    use clap::Command;

    use super::*;

    fn parse(flags: &[&str]) -> Result<OpenIdOptions, String> {
        let command = COMPONENT.flags(Command::new("server"));
        let matches = command.try_get_matches_from(std::iter::once(&"server").chain(flags));
        let matches = matches.map_err(|error| error.to_string())?;
        COMPONENT.check_flags(&matches)?;
        OpenIdOptions::from_arg_matches(&matches).map_err(|error| error.to_string())
    }

    fn prefix(flags: &[&str]) -> String {
        let issuer = ["--oidc-issuer-url=https://issuer", "--oidc-client-id=k"];
        let options = parse(&[&issuer[..], flags].concat()).unwrap();
        let configuration = options.configuration().unwrap();
        configuration.jwt[0].claim_mappings.username.prefix.clone().unwrap()
    }

    #[test]
    fn user_names_have_the_prefix_of_their_issuer() {
        assert_eq!(prefix(&[]), "https://issuer#");
        assert_eq!(prefix(&["--oidc-username-prefix=-"]), "");
        assert_eq!(prefix(&["--oidc-username-prefix=oidc:"]), "oidc:");
        assert_eq!(prefix(&["--oidc-username-claim=email"]), "");
        assert_eq!(
            prefix(&["--oidc-username-claim=email", "--oidc-username-prefix=m:"]),
            "m:"
        );
    }

    #[test]
    fn an_issuer_needs_a_url_and_a_client() {
        assert!(parse(&[]).is_ok());
        for flags in [
            &["--oidc-issuer-url=https://issuer"][..],
            &["--oidc-client-id=k"],
            &["--oidc-groups-claim=groups"],
            &["--oidc-required-claim=a=b"],
        ] {
            let problem = parse(flags).unwrap_err();
            assert!(problem.contains("are both needed"), "{problem}");
        }
        let issuer = ["--oidc-issuer-url=https://issuer", "--oidc-client-id=k"];
        let problem = parse(&[&issuer[..], &["--oidc-signing-algs=HS256"]].concat()).unwrap_err();
        assert!(problem.contains("--oidc-signing-algs has HS256"), "{problem}");
        let options = parse(
            &[
                &issuer[..],
                &["--oidc-required-claim=a=b,c=d=e", "--oidc-required-claim=a=f"],
            ]
            .concat(),
        );
        let rules = options.unwrap().configuration().unwrap().jwt[0]
            .claim_validation_rules
            .clone();
        let rules: Vec<String> = rules
            .iter()
            .map(|rule| format!("{}={}", rule.claim, rule.required_value))
            .collect();
        assert_eq!(rules, ["a=f", "c=d=e"]);
    }

    #[test]
    fn a_file_and_flags_exclude_each_other() {
        let file = ["--authentication-config=/dev/null"];
        assert!(parse(&file).is_ok());
        let problem = parse(&[file[0], "--oidc-issuer-url=https://issuer"]).unwrap_err();
        assert!(problem.contains("exclude each other"), "{problem}");
        assert!(parse(&["--authentication-config=/does/not/exist"]).is_err());
    }
}

//! The server's flags: kube-apiserver's names where the feature exists there, and a few of our own.

mod accepted;
mod aggregation;
mod authentication;
mod authorization;
mod controllers;
mod egress_selector;
mod go_duration;
mod history;
mod key_value;
mod log_streams;
mod metrics;
pub mod named_value;
mod requests;
mod service_accounts;
mod serving;
mod shutdown;
mod storage;
mod version;

use std::collections::BTreeMap;
use std::fs::File;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::{ArgAction, ArgMatches, Parser, ValueEnum};
use planesmith_machinery::clock::{Clock, SystemClock};

pub use self::accepted::AcceptedOptions;
pub use self::aggregation::AggregationOptions;
pub use self::authentication::{AuthenticationOptions, TokenReviewVersion};
pub use self::authorization::AuthorizationMode;
pub(crate) use self::controllers::CONTROLLERS;
pub use self::controllers::{ControllerName, Controllers};
pub use self::egress_selector::EgressSelectorOptions;
pub use self::go_duration::parse_go_duration;
pub use self::history::{HistoryOptions, HistoryOverride};
pub use self::key_value::Switches;
pub use self::log_streams::LogStreamOptions;
pub use self::metrics::{AllowedLabels, MetricsOptions};
pub use self::requests::RequestOptions;
pub use self::service_accounts::ServiceAccountOptions;
pub use self::serving::ServingOptions;
pub use self::shutdown::ShutdownOptions;
pub use self::storage::StorageKind;
pub use self::version::VersionFlag;
use crate::feature_gates::FeatureGates;
use crate::host_address;

/// The flags of a server.
#[derive(Clone, Debug, Parser)]
#[command(args_override_self = true)]
pub struct Options {
    /// Port for HTTPS; 0 takes any free one.
    #[arg(long, default_value_t = 6443, value_name = "PORT")]
    pub secure_port: u16,

    /// Address to listen on; 0.0.0.0 or :: for all.
    #[arg(long, default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST), value_name = "IP")]
    pub bind_address: IpAddr,

    /// Address that clients use to reach this server [default: the bind address; of 0.0.0.0 that of the default route].
    #[arg(long, value_name = "IP")]
    pub advertise_address: Option<IpAddr>,

    /// Folder for the certificates that the server creates [default: DATA_DIR/pki].
    #[arg(long, value_name = "DIR")]
    pub cert_dir: Option<PathBuf>,

    /// Serving certificate, PEM, with its chain; needs --tls-private-key-file.
    #[arg(long, value_name = "FILE", requires = "tls_private_key_file")]
    pub tls_cert_file: Option<PathBuf>,

    /// Key of the serving certificate, PEM; needs --tls-cert-file.
    #[arg(long, value_name = "FILE", requires = "tls_cert_file")]
    pub tls_private_key_file: Option<PathBuf>,

    /// TLS and HTTP/2.
    #[command(flatten)]
    pub serving: ServingOptions,

    /// Authorities, PEM, whose client certificates are accepted besides the server's own: the common name is the user,
    /// organizations are groups.
    #[arg(long, value_name = "FILE")]
    pub client_ca_file: Option<PathBuf>,

    /// Credentials of clients.
    #[command(flatten)]
    pub authentication: AuthenticationOptions,

    /// Origins of web pages that may send requests (CORS), as regular expressions; ^ and $ anchor them.
    #[arg(long, value_delimiter = ',', value_name = "PATTERNS")]
    pub cors_allowed_origins: Vec<String>,

    /// Directives of the header Strict-Transport-Security: max-age=N, includeSubDomains, preload [default: no header].
    #[arg(long, value_delimiter = ',', value_name = "DIRECTIVES")]
    pub strict_transport_security_directives: Vec<String>,

    /// Authorization modes, in the order in which they are consulted. Members of system:masters may do everything in any mode.
    #[arg(
        long,
        value_parser = named_value::parser(AuthorizationMode::KUBERNETES.to_vec()),
        value_delimiter = ',',
        value_name = "MODES"
    )]
    pub authorization_mode: Vec<AuthorizationMode>,

    /// File with the permissions of the authorization mode ABAC: one JSON policy per line.
    #[arg(long, value_name = "FILE")]
    pub authorization_policy_file: Option<PathBuf>,

    /// Admission plugins to enable besides those that are on by default; the order does not matter.
    #[arg(long, value_delimiter = ',', value_name = "PLUGINS")]
    pub enable_admission_plugins: Vec<String>,

    /// Admission plugins to disable although they are on by default.
    #[arg(long, value_delimiter = ',', value_name = "PLUGINS")]
    pub disable_admission_plugins: Vec<String>,

    /// Deprecated: all admission plugins to enable; others are disabled. Not together with the two flags above.
    #[arg(long, value_delimiter = ',', value_name = "PLUGINS")]
    pub admission_control: Option<Vec<String>>,

    /// File that configures admission plugins (an AdmissionConfiguration).
    #[arg(long, value_name = "FILE")]
    pub admission_control_config_file: Option<PathBuf>,

    /// Time to keep events after they were written last; 0s is for ever.
    #[arg(long, default_value = "1h0m0s", value_parser = parse_go_duration, value_name = "DURATION")]
    pub event_ttl: Duration,

    /// Tokens of service accounts.
    #[command(flatten)]
    pub service_accounts: ServiceAccountOptions,

    /// Servers behind this one, and in front of it.
    #[command(flatten)]
    pub aggregation: AggregationOptions,

    /// Connections to other servers.
    #[command(flatten)]
    pub egress_selector: EgressSelectorOptions,

    /// Group versions and resources to switch on or off: apps/v1=false, apps/v1/deployments=false, api/beta=true.
    /// Also api/all, api/ga and api/alpha. A key without a value is on. Alpha and beta versions of Kubernetes are off
    /// unless they are named. An unknown group is refused.
    #[arg(long, value_name = "KEY=BOOL,...")]
    pub runtime_config: Vec<Switches>,

    /// Features to switch on or off, by their names in Kubernetes or in this program: ClusterTrustBundle=true. AllAlpha and AllBeta stand
    /// for all of a stage. Features without an effect here are accepted and change nothing.
    #[arg(long, value_name = "NAME=BOOL,...")]
    pub feature_gates: Vec<FeatureGates>,

    /// Reading requests served at once; more are answered 429. 0 is no limit. With priority and fairness, the sum with
    /// the limit of writing requests is the number of seats of the server.
    #[arg(long, default_value_t = 400, value_name = "N")]
    pub max_requests_inflight: usize,

    /// Writing requests served at once; more are answered 429. 0 is no limit.
    #[arg(long, default_value_t = 200, value_name = "N")]
    pub max_mutating_requests_inflight: usize,

    /// Requests at once on one HTTP/2 connection; 0 is 100. Clients open further connections for more.
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub http2_max_streams_per_connection: u32,

    /// Time limit for a request until its answer is sent; watches are exempt. A client that reads too slowly is cut
    /// off.
    #[arg(long, default_value = "1m0s", value_parser = parse_go_duration, value_name = "DURATION")]
    pub request_timeout: Duration,

    /// The start and the end of the server.
    #[command(flatten)]
    pub shutdown: ShutdownOptions,

    /// The handling of requests.
    #[command(flatten)]
    pub requests: RequestOptions,

    /// Metrics.
    #[command(flatten)]
    pub metrics: MetricsOptions,

    /// Flags without an effect.
    #[command(flatten)]
    pub accepted: AcceptedOptions,

    /// Log level: 0 warnings, 2 normal operation, 4 also every request, 8 in debug builds also frames of HTTP/2.
    #[arg(short = 'v', long = "v", default_value_t = 2, value_name = "LEVEL")]
    pub verbosity: u8,

    /// Format of the log.
    #[arg(long, value_enum, default_value = "text", value_name = "FORMAT")]
    pub logging_format: LogFormat,

    /// The streams of the log.
    #[command(flatten)]
    pub log_streams: LogStreamOptions,

    /// Folder for all data of the server: objects, certificates, the admin kubeconfig.
    #[arg(long, default_value = "planesmith-data", value_name = "DIR")]
    pub data_dir: PathBuf,

    /// Store of objects.
    #[arg(long, value_parser = named_value::parser(StorageKind::GENERIC.to_vec()), default_value = "sled", value_name = "STORE")]
    pub storage: StorageKind,

    /// Start even if acknowledged writes cannot be read any more: the newest ones are dropped, listed in the log, and
    /// saved in the store's folder. Without it a damaged store does not start.
    #[arg(long, action = ArgAction::Set, num_args = 0..=1, default_missing_value = "true", default_value_t = false, value_name = "BOOL")]
    pub store_accept_data_loss: bool,

    /// The history of changes.
    #[command(flatten)]
    pub history: HistoryOptions,

    /// Embedded controllers to run: * all, NAME also this one, -NAME not this one, -* none. In a server behind another
    /// one, which collects garbage, the garbage collector is off unless it is named.
    #[arg(long, default_value = "*", allow_hyphen_values = true, value_name = "LIST")]
    pub controllers: Controllers,

    /// Print the version and exit; raw prints all its fields. With v1.36.0+SUFFIX the server starts, and reports this
    /// version at /version.
    #[arg(
        short = 'V',
        long,
        num_args = 0..=1,
        require_equals = true,
        default_value = "false",
        default_missing_value = "true",
        hide_default_value = true,
        value_name = "true|raw|VERSION"
    )]
    pub version: VersionFlag,

    /// All flags by name, with their values or defaults; for `/flagz`.
    #[arg(skip)]
    pub listed: BTreeMap<String, String>,

    /// The command line as parsed. Components read their own flags from it.
    #[arg(skip)]
    pub matches: ArgMatches,

    /// The clock of the server: it stamps objects, and decides about the validity of certificates, tokens and leases. A program
    /// that runs servers with other times than that of the operating system sets it.
    #[arg(skip = Arc::new(SystemClock) as Arc<dyn Clock>)]
    pub clock: Arc<dyn Clock>,
}

/// A format of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// Lines for people.
    Text,
    /// One JSON object per line.
    Json,
}

/// Checks that the file of a flag can be read.
///
/// # Errors
///
/// The flag, its file and the reason.
pub fn check_readable(flag: &str, file: &Path) -> Result<(), String> {
    let opened = File::open(file).map(drop);
    opened.map_err(|error| format!("{flag} is {}, which cannot be read: {error}", file.display()))
}

/// Checks of flags in combination.
impl Options {
    /// Checks the flags in combination.
    ///
    /// # Errors
    ///
    /// The flag, its value and the expected one.
    pub fn check(&self) -> Result<(), String> {
        let timeout = self.request_timeout;
        if timeout < Duration::from_secs(1) || timeout > Duration::from_secs(600) {
            return Err(format!(
                "--request-timeout is {}s; expected 1s to 10m",
                timeout.as_secs_f64()
            ));
        }
        authorization::check(&self.authorization_mode, self.authorization_policy_file.as_deref())?;
        self.service_accounts.check()?;
        self.serving.check()?;
        serving::check_origins(&self.cors_allowed_origins)?;
        serving::check_transport(&self.strict_transport_security_directives)?;
        self.metrics.check()?;
        self.accepted.check(&self.features())?;
        self.log_streams.check(&self.features())?;
        self.history.check()?;
        self.egress_selector.check()?;
        if let Some(problem) = self.features().unmet_dependencies() {
            return Err(format!("--feature-gates: {problem}"));
        }
        for (flag, file) in [
            ("--tls-cert-file", &self.tls_cert_file),
            ("--tls-private-key-file", &self.tls_private_key_file),
            ("--client-ca-file", &self.client_ca_file),
            ("--token-auth-file", &self.authentication.token_auth_file),
            ("--authorization-policy-file", &self.authorization_policy_file),
            (
                "--authentication-token-webhook-config-file",
                &self.authentication.authentication_token_webhook_config_file,
            ),
            ("--admission-control-config-file", &self.admission_control_config_file),
            ("--proxy-client-cert-file", &self.aggregation.proxy_client_cert_file),
            ("--proxy-client-key-file", &self.aggregation.proxy_client_key_file),
            (
                "--requestheader-client-ca-file",
                &self.aggregation.requestheader_client_ca_file,
            ),
            (
                "--authentication-kubeconfig",
                &self.aggregation.authentication_kubeconfig,
            ),
            ("--authorization-kubeconfig", &self.aggregation.authorization_kubeconfig),
            ("--kubeconfig", &self.aggregation.kubeconfig),
            ("--peer-ca-file", &self.accepted.peer_ca_file),
        ] {
            if let Some(file) = file {
                check_readable(flag, file)?;
            }
        }
        Ok(())
    }

    /// Returns the switches of all `--runtime-config` flags; the last one of each key wins.
    #[must_use]
    pub fn versions(&self) -> Switches {
        self.runtime_config
            .iter()
            .cloned()
            .fold(Switches::default(), Switches::and)
    }

    /// Returns the features that are on by all `--feature-gates` flags; the last one of each name wins. Those of the program's
    /// components are added by `Program::features`.
    pub(crate) fn features(&self) -> FeatureGates {
        let flags = self.feature_gates.iter().cloned();
        flags.fold(FeatureGates::default(), FeatureGates::and)
    }

    /// Returns the embedded controllers that run here: some are left to the server in front, if there is one.
    #[must_use]
    pub fn embedded_controllers(&self) -> Controllers {
        let is_behind_another = self.aggregation.core_kubeconfig().is_some();
        match is_behind_another || !self.requests.enable_garbage_collector {
            true => self.controllers.without_garbage_collector(),
            false => self.controllers.clone(),
        }
    }

    /// Returns the folder for certificates.
    #[must_use]
    pub fn cert_dir(&self) -> PathBuf {
        self.cert_dir.clone().unwrap_or_else(|| self.data_dir.join("pki"))
    }

    /// Returns the address for clients on the same machine: one that does not depend on networks or a firewall.
    #[must_use]
    pub fn local_address(&self) -> IpAddr {
        match (self.advertise_address, self.bind_address) {
            (None, IpAddr::V4(address)) if address.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
            (None, IpAddr::V6(address)) if address.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
            _ => self.client_address(),
        }
    }

    /// Returns the address that is published to clients. For a server that listens on all addresses it is that of the
    /// default route.
    #[must_use]
    pub fn client_address(&self) -> IpAddr {
        match self.advertise_address.filter(|address| !address.is_unspecified()) {
            Some(address) => address,
            None if self.bind_address.is_unspecified() => {
                host_address::of_default_route(self.bind_address).unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST))
            }
            None => self.bind_address,
        }
    }

    /// Returns the address behind the Service kubernetes: the advertised one, or else that of the default route if
    /// the server listens on all addresses or on loopback only, as in kube-apiserver. `None` for an address that
    /// endpoints cannot have, or on a machine without a network.
    #[must_use]
    pub fn endpoint_address(&self) -> Option<IpAddr> {
        let own = self.bind_address;
        let address = match self.advertise_address.filter(|address| !address.is_unspecified()) {
            Some(address) => Some(address),
            None if own.is_unspecified() || own.is_loopback() => host_address::of_default_route(own),
            None => Some(own),
        };
        address.filter(|address| !address.is_loopback())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(flags: &[&str]) -> Result<Options, String> {
        let options =
            Options::try_parse_from(std::iter::once(&"planesmith").chain(flags)).map_err(|error| error.to_string())?;
        options.check()?;
        Ok(options)
    }

    #[test]
    fn clients_get_an_address_that_they_can_use() {
        let address = |args: &[&str]| parse(args).unwrap().client_address();
        assert_eq!(address(&["--bind-address=192.0.2.7"]), IpAddr::from([192, 0, 2, 7]));
        let local = |args: &[&str]| parse(args).unwrap().local_address();
        assert!(local(&["--bind-address=0.0.0.0"]).is_loopback() && local(&["--bind-address=::"]).is_loopback());
        assert_eq!(local(&["--bind-address=192.0.2.7"]), IpAddr::from([192, 0, 2, 7]));
        for everywhere in ["--bind-address=0.0.0.0", "--bind-address=::"] {
            assert!(!address(&[everywhere]).is_unspecified());
            assert!(!address(&[everywhere, "--advertise-address=0.0.0.0"]).is_unspecified());
            let named = address(&[everywhere, "--advertise-address=192.0.2.7"]);
            assert_eq!(named, IpAddr::from([192, 0, 2, 7]));
        }
    }

    #[test]
    fn endpoints_have_an_address_that_leads_to_the_server() {
        let endpoint = |args: &[&str]| parse(args).unwrap().endpoint_address();
        let of_route = host_address::of_default_route(Ipv4Addr::UNSPECIFIED.into());
        for nowhere_else in [&[][..], &["--bind-address=0.0.0.0"], &["--bind-address=127.0.0.1"]] {
            assert_eq!(endpoint(nowhere_else), of_route, "{nowhere_else:?}");
        }
        let named = Some(IpAddr::from([192, 0, 2, 7]));
        assert_eq!(endpoint(&["--bind-address=192.0.2.7"]), named);
        assert_eq!(endpoint(&["--advertise-address=192.0.2.7"]), named);
        assert_eq!(endpoint(&["--advertise-address=127.0.0.1"]), None);
    }

    #[test]
    fn no_flags_are_a_working_configuration() {
        let options = parse(&[]).unwrap();
        assert!(options.bind_address.is_loopback());
        assert!(options.authentication.anonymous_auth);
        assert_eq!(options.request_timeout, Duration::from_secs(60));
    }

    #[test]
    fn flags_are_taken_as_kube_apiserver_takes_them() {
        let options = parse(&[
            "--secure-port=16443",
            "--authorization-mode=AlwaysDeny",
            "--anonymous-auth",
            "--controllers=-*",
            "--runtime-config=api/all=true,apps/v1=false",
            "-v=4",
        ])
        .unwrap();
        assert_eq!(options.secure_port, 16443);
        assert!(options.authentication.anonymous_auth);
        assert!(!options.controllers.enabled("namespace"));
        assert_eq!(options.versions().get("apps/v1"), Some(false));
        assert_eq!(options.verbosity, 4);
    }

    #[test]
    fn a_server_that_collects_no_garbage_has_no_collector() {
        let collects = |flags: &[&str]| {
            let options = parse(flags).unwrap();
            options.embedded_controllers().enabled("garbage-collector-controller")
        };
        assert!(collects(&[]));
        assert!(!collects(&["--enable-garbage-collector=false"]));
    }

    #[test]
    fn flags_without_an_effect_are_checked() {
        let accepted = [
            "--profiling=false",
            "--contention-profiling",
            "--watch-cache=false",
            "--watch-cache-sizes=pods#100",
            "--vmodule=a=1,b*=2",
            "--log-flush-frequency=1s",
            "--permit-address-sharing",
            "--enable-logs-handler=false",
            "--emulated-version=1.36",
            "--min-compatibility-version=kube=1.35",
            "--coordinated-leadership-retry-period=1s",
        ];
        assert!(parse(&accepted).is_ok());
        for wrong in [
            "--vmodule=a",
            "--log-flush-frequency=5",
            "--watch-cache=maybe",
            "--enable-logs-handler",
            "--emulated-version=1.35",
            "--delete-collection-workers=0",
        ] {
            assert!(parse(&[wrong]).is_err(), "{wrong}");
        }
    }

    #[test]
    fn label_values_are_allowed_by_flags_or_by_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("labels.yaml");
        std::fs::write(&file, "\"m,l\": \"a,b\"\nm,k: c\n").unwrap();
        let by_file = format!("--allow-metric-labels-manifest={}", file.display());
        let allowed = |flags: &[&str]| parse(flags).unwrap().metrics.selection().unwrap().allowed;
        let by_flags = ["--allow-metric-labels=m,l=a,b", "--allow-metric-labels=m,k=c"];
        assert_eq!(allowed(&[&*by_file]), allowed(&by_flags));
        assert!(allowed(&by_flags)["m"]["l"].contains("b"));
        let error = parse(&[&*by_file, by_flags[0]]).unwrap_err();
        assert!(error.contains("both set; expected one of them"), "{error}");
        std::fs::write(&file, "allowListMapping: {}").unwrap();
        assert!(parse(&[&*by_file]).is_err());
    }

    #[test]
    fn a_flag_that_is_repeated_adds_to_what_was_said() {
        let options = parse(&[
            "--feature-gates=ClusterTrustBundle=true,WatchList=false",
            "--runtime-config=apps/v1=false",
            "--feature-gates=WatchList=true,ClusterTrustBundleProjection=true",
            "--runtime-config=api/beta=true,apps/v1=true",
            "--secure-port=1",
            "--secure-port=2",
        ])
        .unwrap();
        let features = options.features();
        for name in ["ClusterTrustBundle", "ClusterTrustBundleProjection", "WatchList"] {
            assert!(features.enabled(name), "{name}");
        }
        let versions = options.versions();
        assert_eq!(
            (versions.get("apps/v1"), versions.get("api/beta")),
            (Some(true), Some(true))
        );
        assert_eq!(options.secure_port, 2, "a flag with one value has the last one");
    }

    #[test]
    fn wrong_values_say_what_was_expected() {
        for (flag, expected) in [
            ("--request-timeout=0s", "--request-timeout is 0s; expected 1s to 10m"),
            ("--request-timeout=soon", "expected a duration such as 30s or 1m30s"),
            (
                "--token-auth-file=/does/not/exist",
                "--token-auth-file is /does/not/exist, which cannot be read",
            ),
            (
                "--authorization-mode=Maybe",
                "[possible values: Node, RBAC, ABAC, Webhook, AlwaysAllow, AlwaysDeny]",
            ),
            (
                "--authorization-mode=RBAC,Node,RBAC",
                "--authorization-mode has RBAC more than once",
            ),
            (
                "--disabled-metrics=up,a-b",
                "--disabled-metrics has `a-b`; expected full names of metrics",
            ),
            (
                "--show-hidden-metrics-for-version=1.36",
                "--show-hidden-metrics-for-version is 1.36; expected 1.35",
            ),
            (
                "--allow-metric-labels=up=1",
                "--allow-metric-labels has `up`; expected METRIC,LABEL",
            ),
            (
                "--allow-metric-labels-manifest=/does/not/exist",
                "--allow-metric-labels-manifest is /does/not/exist: it cannot be read",
            ),
            ("--watch-cache-sizes=pods", "expected resource[.group]#size"),
            ("--feature-gates=X", "missing bool value for X"),
            ("--feature-gates=X=true", "unrecognized feature gate: X"),
            (
                "--feature-gates=ClusterTrustBundleProjection=true",
                "depends on features that are disabled: [ClusterTrustBundle]",
            ),
            ("--runtime-config=X=Y", "expected NAME=true or NAME=false"),
            ("--controllers=nonsense", "unknown controller `nonsense`"),
            ("--secure-prt=1", "--secure-port"),
        ] {
            let error = parse(&[flag]).unwrap_err();
            assert!(error.contains(expected), "{flag}: {error}");
        }
    }
}

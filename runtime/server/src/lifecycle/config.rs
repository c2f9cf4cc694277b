//! The configuration of a server.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use http::HeaderValue;
use planesmith_access::authentication::Authenticator;
use planesmith_access::authorization::Authorizer;
use planesmith_machinery::clock::{Clock, SystemClock};
use planesmith_machinery::feature::Features;
use thiserror::Error;

use super::prepared::PreparedServer;
use crate::chain::ApiServer;
use crate::discovery::{GroupDirectory, VersionPriority};
use crate::draining::RequestDrain;
use crate::filters::{
    AccessLog, AddedFilter, AssignId, AuditContext, AuditOfAnswers, AuditOfRefused, Auditing, Authentication,
    Authorization, CacheControl, Compress, Cors, CorsPatternError, Count, Deadline, Filter, FilterPlace, Filters,
    FlowControlled, GoAway, Impersonation, NotReady, PanicGuard, ReadInfo, Sending, ServedObjects, SlowRequests,
    StrictTransport, Trace, TurnAway, WarningHeaders,
};
use crate::flow_control::FlowControl;
use crate::in_flight::{Heartbeats, InFlight, InFlightLimits};
use crate::installation::Installation;
use crate::listener::ConnectionLimits;
use crate::metrics::SharedMetrics;
use crate::openapi::OpenApi;
use crate::sending::SendLimits;
use crate::trace::Tracer;
use crate::version::Version;

/// The configuration of a chain of servers as a whole.
#[derive(Clone, Debug)]
pub struct Config {
    /// Authenticates users.
    pub authenticator: Arc<dyn Authenticator>,
    /// Authorizes requests.
    pub authorizer: Arc<dyn Authorizer>,
    /// The features that determine how requests are answered. Those that determine the content of objects are in the
    /// scheme of the stores. Default: all have their defaults.
    pub features: Features,
    /// Maximum numbers of requests in flight. Without an effect if there is flow control.
    pub in_flight: InFlightLimits,
    /// Requests with a share of that limit of their own.
    pub heartbeats: Heartbeats,
    /// Maximum bytes of unsent answers.
    pub sending: SendLimits,
    /// Gives requests their seats; without it, the numbers of requests in flight are limited.
    pub flow_control: Option<Arc<dyn FlowControl>>,
    /// Time from the start of a request until the last byte of its answer is sent, and time that running requests have
    /// to finish when the server stops.
    pub request_timeout: Duration,
    /// Time during which the server still serves after the signal to stop, while `/readyz` already fails.
    pub shutdown_delay: Duration,
    /// Time from the start during which `/livez` does not fail, so that a supervisor does not restart a server that takes long to start.
    pub livez_grace: Duration,
    /// Turn new requests away with 429 while a stopping server answers those under way, instead of refusing connections.
    pub shutdown_retry_after: bool,
    /// Time over which a stopping server ends its watches, one after the other; zero ends them at once.
    pub watch_grace: Duration,
    /// Refuse requests with 503 until the server was ready once.
    pub refuse_until_ready: bool,
    /// Limits of connections.
    pub connections: ConnectionLimits,
    /// Regular expressions for origins whose pages may use the API.
    pub cors_allowed_origins: Vec<String>,
    /// Directives of the `Strict-Transport-Security` header; without any, the header is not sent.
    pub strict_transport: Vec<String>,
    /// Probability that an HTTP/2 connection is closed after a request.
    pub goaway_chance: f64,
    /// The socket with pages for troubleshooting, which only the user of this process may open; `None` for none.
    pub debug_socket: Option<PathBuf>,
    /// The content of `/version`.
    pub version: Version,
    /// The program's flags by name; `/flagz` is not served if there are none.
    pub flags: BTreeMap<String, String>,
    /// `host:port` that clients use to reach the server.
    pub public_address: String,
    /// Priorities of groups and versions in discovery; others have the priority of custom resources.
    pub priorities: Vec<VersionPriority>,
    /// Registrations of groups beside those that the chain serves.
    pub directory: GroupDirectory,
    /// The OpenAPI documents.
    pub openapi: OpenApi,
    /// The metrics of the server.
    pub metrics: SharedMetrics,
    /// Duration from which on a request is logged, with the durations of its stages.
    pub slow_request: Duration,
    /// Receives requests for a tracing system.
    pub tracer: Option<Arc<dyn Tracer>>,
    /// Records requests.
    pub audit: Option<Arc<AuditContext>>,
    /// Filters that the program adds to those of every server.
    pub added_filters: Vec<AddedFilter>,
    /// The clock, for traces and pages about the process. Default: that of the operating system.
    pub clock: Arc<dyn Clock>,
}

/// A problem of a [`Config`].
#[derive(Debug, Error)]
pub enum ConfigError {
    /// An invalid pattern for origins.
    #[error(transparent)]
    Cors(#[from] CorsPatternError),
    /// A directive that is not a valid header value.
    #[error("--strict-transport-security-directives has `{0}`; expected max-age=N, includeSubDomains or preload")]
    StrictTransport(String),
    /// A timeout that would refuse every request.
    #[error("--request-timeout is 0s; expected 1s to 10m")]
    RequestTimeout,
    /// Two hooks of the chain have the same name.
    #[error("two hooks are called {name}; each hook of a chain needs a name of its own")]
    RepeatedHook {
        /// The name.
        name: &'static str,
    },
}

/// A configuration that has been checked.
#[derive(Debug)]
pub struct CompletedConfig {
    pub(super) config: Config,
    pub(super) filters: Filters,
    pub(super) load: Load,
    pub(super) installation: Installation,
}

/// The load of a server, which filters measure.
#[derive(Clone, Debug)]
pub(super) struct Load {
    pub(super) in_flight: InFlight,
    /// The requests that the server waits for when it stops; `None` if it waits for connections.
    pub(super) drain: Option<Arc<RequestDrain>>,
    /// True once all start hooks are done.
    pub(super) was_ready: Arc<AtomicBool>,
    /// The stored objects, once the chain is assembled.
    pub(super) objects: ServedObjects,
}

impl Config {
    /// Returns the defaults of kube-apiserver.
    #[must_use]
    pub fn new(authenticator: Arc<dyn Authenticator>, authorizer: Arc<dyn Authorizer>) -> Self {
        Self {
            authenticator,
            authorizer,
            features: Features::default(),
            in_flight: InFlightLimits::default(),
            heartbeats: Heartbeats::default(),
            sending: SendLimits::default(),
            flow_control: None,
            request_timeout: Duration::from_secs(60),
            shutdown_delay: Duration::ZERO,
            livez_grace: Duration::ZERO,
            shutdown_retry_after: false,
            watch_grace: Duration::ZERO,
            refuse_until_ready: false,
            connections: ConnectionLimits::default(),
            cors_allowed_origins: Vec::new(),
            strict_transport: Vec::new(),
            goaway_chance: 0.0,
            debug_socket: None,
            version: Version::default(),
            flags: BTreeMap::new(),
            public_address: "127.0.0.1:6443".to_owned(),
            priorities: Vec::new(),
            directory: GroupDirectory::default(),
            openapi: OpenApi::default(),
            metrics: SharedMetrics::default(),
            slow_request: Duration::from_millis(500),
            tracer: None,
            audit: None,
            added_filters: Vec::new(),
            clock: Arc::new(SystemClock),
        }
    }

    /// Checks the configuration and builds the parts that depend on it.
    ///
    /// # Errors
    ///
    /// The problem, with the flag that sets the value.
    pub fn complete(self) -> Result<CompletedConfig, ConfigError> {
        if self.request_timeout.is_zero() {
            return Err(ConfigError::RequestTimeout);
        }
        let load = Load {
            in_flight: match self.flow_control {
                Some(_) => InFlight::unlimited(),
                None => InFlight::new(self.in_flight, self.heartbeats.clone()),
            },
            drain: self.shutdown_retry_after.then(RequestDrain::new),
            was_ready: Arc::default(),
            objects: ServedObjects::default(),
        };
        let filters = self.filters(&load)?;
        Ok(CompletedConfig {
            config: self,
            filters,
            load,
            installation: Installation::default(),
        })
    }

    /// The filters, in request order.
    fn filters(&self, load: &Load) -> Result<Filters, ConfigError> {
        let mut list: Vec<Arc<dyn Filter>> = vec![
            Arc::new(AssignId),
            Arc::new(AccessLog),
            Arc::new(SlowRequests {
                threshold: self.slow_request,
            }),
            Arc::new(Count::new(Arc::clone(&self.metrics))),
            Arc::new(Sending::new(self.sending)),
            Arc::new(PanicGuard),
        ];
        list.extend(self.added(FilterPlace::Arrived));
        if let Some(tracer) = &self.tracer {
            list.push(Arc::new(Trace::new(Arc::clone(tracer), Arc::clone(&self.clock))));
        }
        // Requests that cannot be parsed are answered with none of the headers of the filters below.
        list.push(Arc::new(ReadInfo));
        if let Some(drain) = &load.drain {
            list.push(Arc::new(TurnAway(Arc::clone(drain))));
        }
        list.push(Arc::new(WarningHeaders));
        if !self.cors_allowed_origins.is_empty() {
            list.push(Arc::new(Cors::new(&self.cors_allowed_origins)?));
        }
        if !self.strict_transport.is_empty() {
            let directives = self.strict_transport.join("; ");
            let header = HeaderValue::try_from(&directives).map_err(|_| ConfigError::StrictTransport(directives))?;
            list.push(Arc::new(StrictTransport::new(header)));
        }
        list.push(Arc::new(CacheControl));
        if self.goaway_chance > 0.0 {
            list.push(Arc::new(GoAway {
                chance: self.goaway_chance,
            }));
        }
        if let Some(audit) = &self.audit {
            list.push(Arc::new(AuditOfRefused(Arc::clone(audit))));
        }
        list.push(Arc::new(Deadline {
            limit: self.request_timeout,
        }));
        list.extend(self.added(FilterPlace::Parsed));
        let metrics = &self.metrics;
        list.push(Arc::new(Authentication::new(
            Arc::clone(&self.authenticator),
            Arc::clone(metrics),
        )));
        if self.refuse_until_ready {
            list.push(Arc::new(NotReady {
                was_ready: Arc::clone(&load.was_ready),
            }));
        }
        // Before every filter that sees an impersonated user.
        if let Some(audit) = &self.audit {
            list.push(Arc::new(Auditing(Arc::clone(audit))));
        }
        list.push(Arc::new(Impersonation::new(Arc::clone(&self.authorizer))));
        list.extend(self.added(FilterPlace::Authenticated));
        list.push(match &self.flow_control {
            Some(control) => Arc::new(FlowControlled::new(
                Arc::clone(control),
                load.in_flight.clone(),
                load.objects.clone(),
            )),
            None => Arc::new(load.in_flight.clone()),
        });
        list.push(Arc::new(Authorization::new(
            Arc::clone(&self.authorizer),
            Arc::clone(metrics),
        )));
        list.push(Arc::new(Compress::new(metrics.compression().clone())));
        // Sees answers before they are compressed.
        if let Some(audit) = &self.audit {
            list.push(Arc::new(AuditOfAnswers(Arc::clone(audit))));
        }
        list.extend(self.added(FilterPlace::Authorized));
        Ok(Filters::new(list))
    }

    /// The filters that the program adds at `place`.
    fn added(&self, place: FilterPlace) -> impl Iterator<Item = Arc<dyn Filter>> {
        let added = self.added_filters.iter().filter(move |added| added.place == place);
        added.map(|added| Arc::clone(&added.filter))
    }
}

impl CompletedConfig {
    /// Tracks if all paths are installed; servers that install paths later announce them here before they are prepared.
    #[must_use]
    pub fn installation(&self) -> &Installation {
        &self.installation
    }

    /// Names of the filters, in request order.
    #[must_use]
    pub fn filter_names(&self) -> Vec<&'static str> {
        self.filters.names()
    }

    /// Puts the whole chain behind the filters, with the paths that only the outermost server serves.
    ///
    /// # Errors
    ///
    /// [`ConfigError::RepeatedHook`]: two start hooks, or two stop hooks, of the chain have the same name.
    pub fn prepare(self, outermost: ApiServer) -> Result<PreparedServer, ConfigError> {
        PreparedServer::new(self, outermost)
    }
}

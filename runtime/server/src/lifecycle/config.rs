//! What can be set.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use http::HeaderValue;
use planesmith_access::authentication::Authenticator;
use planesmith_access::authorization::Authorizer;
use thiserror::Error;

use super::prepared::PreparedServer;
use crate::chain::{ApiServer, Installation};
use crate::discovery::{GroupDirectory, VersionPriority};
use crate::filters::{
    AccessLog, AssignId, Authentication, Authorization, CacheControl, Compress, Cors, CorsPatternError, Count,
    Deadline, Filter, Filters, FlowHeaders, Flows, Impersonation, InFlight, InFlightLimits, PanicGuard, ReadInfo,
    Sending, SlowRequests, StrictTransport, Trace, WarningHeaders,
};
use crate::listener::ConnectionLimits;
use crate::metrics::SharedMetrics;
use crate::openapi::OpenApi;
use crate::sending::SendLimits;
use crate::trace::Tracer;
use crate::version::Version;

/// What can be set about a chain of servers as a whole.
#[derive(Clone, Debug)]
pub struct Config {
    /// Finds out who asks.
    pub authenticator: Arc<dyn Authenticator>,
    /// Decides who may do what.
    pub authorizer: Arc<dyn Authorizer>,
    /// How many requests are served at once.
    pub in_flight: InFlightLimits,
    /// The bytes that answers on their way to clients may hold.
    pub sending: SendLimits,
    /// Tells which flow a request belongs to; answers do not say so without it.
    pub flows: Option<Arc<dyn Flows>>,
    /// Time from the start of a request until the last byte of its answer is sent, and time that running requests may go on
    /// when the server stops.
    pub request_timeout: Duration,
    /// How long the server goes on serving after the word to stop, while `/readyz` already fails.
    pub shutdown_delay: Duration,
    /// What a connection may cost.
    pub connections: ConnectionLimits,
    /// Regular expressions for origins whose pages may use the API.
    pub cors_allowed_origins: Vec<String>,
    /// Directives of the `Strict-Transport-Security` header; none without any.
    pub strict_transport: Vec<String>,
    /// What `/version` says.
    pub version: Version,
    /// With which flags the program runs, by their names; `/flagz` is not there without any.
    pub flags: BTreeMap<String, String>,
    /// `host:port` that clients use to reach the server.
    pub public_address: String,
    /// Where discovery lists groups and versions; those that are not here stand where custom resources do.
    pub priorities: Vec<VersionPriority>,
    /// What is registered about groups beside what the chain serves.
    pub directory: GroupDirectory,
    /// The documents that say what fields there are.
    pub openapi: OpenApi,
    /// Where everything is counted.
    pub metrics: SharedMetrics,
    /// Requests that take longer are logged, with where their time went.
    pub slow_request: Duration,
    /// Gets requests for a tracing system.
    pub tracer: Option<Arc<dyn Tracer>>,
}

/// What is wrong with a [`Config`].
#[derive(Debug, Error)]
pub enum ConfigError {
    /// A pattern of origins.
    #[error(transparent)]
    Cors(#[from] CorsPatternError),
    /// A directive that cannot stand in a header.
    #[error("--strict-transport-security-directives has `{0}`; expected max-age=N, includeSubDomains or preload")]
    StrictTransport(String),
    /// A timeout that would refuse every request.
    #[error("--request-timeout is 0s; expected 1s to 10m")]
    RequestTimeout,
    /// Two hooks of the chain have one name.
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
    pub(super) in_flight: InFlight,
    pub(super) installation: Installation,
}

impl Config {
    /// The defaults of kube-apiserver.
    #[must_use]
    pub fn new(authenticator: Arc<dyn Authenticator>, authorizer: Arc<dyn Authorizer>) -> Self {
        Self {
            authenticator,
            authorizer,
            in_flight: InFlightLimits::default(),
            sending: SendLimits::default(),
            flows: None,
            request_timeout: Duration::from_secs(60),
            shutdown_delay: Duration::ZERO,
            connections: ConnectionLimits::default(),
            cors_allowed_origins: Vec::new(),
            strict_transport: Vec::new(),
            version: Version::default(),
            flags: BTreeMap::new(),
            public_address: "127.0.0.1:6443".to_owned(),
            priorities: Vec::new(),
            directory: GroupDirectory::default(),
            openapi: OpenApi::default(),
            metrics: SharedMetrics::default(),
            slow_request: Duration::from_millis(500),
            tracer: None,
        }
    }

    /// Checks everything and builds what follows from it.
    ///
    /// # Errors
    ///
    /// What is wrong, with the flag that sets it.
    pub fn complete(self) -> Result<CompletedConfig, ConfigError> {
        if self.request_timeout.is_zero() {
            return Err(ConfigError::RequestTimeout);
        }
        let in_flight = InFlight::new(self.in_flight);
        let filters = self.filters(&in_flight)?;
        Ok(CompletedConfig {
            config: self,
            filters,
            in_flight,
            installation: Installation::default(),
        })
    }

    /// The filters, in request order.
    fn filters(&self, in_flight: &InFlight) -> Result<Filters, ConfigError> {
        let mut list: Vec<Box<dyn Filter>> = vec![
            Box::new(AssignId),
            Box::new(AccessLog),
            Box::new(SlowRequests {
                threshold: self.slow_request,
            }),
            Box::new(Count::new(Arc::clone(&self.metrics))),
            Box::new(Sending::new(self.sending)),
            Box::new(PanicGuard),
        ];
        if let Some(tracer) = &self.tracer {
            list.push(Box::new(Trace::new(Arc::clone(tracer))));
        }
        // What nobody can tell the meaning of is answered with none of the headers of those below.
        list.push(Box::new(ReadInfo));
        if !self.cors_allowed_origins.is_empty() {
            list.push(Box::new(Cors::new(&self.cors_allowed_origins)?));
        }
        if !self.strict_transport.is_empty() {
            let directives = self.strict_transport.join("; ");
            let header = HeaderValue::try_from(&directives).map_err(|_| ConfigError::StrictTransport(directives))?;
            list.push(Box::new(StrictTransport::new(header)));
        }
        list.push(Box::new(CacheControl));
        list.push(Box::new(Deadline {
            limit: self.request_timeout,
        }));
        let metrics = &self.metrics;
        list.push(Box::new(Authentication::new(
            Arc::clone(&self.authenticator),
            Arc::clone(metrics),
        )));
        // Audit stands here, before everything that may see an impersonated user.
        list.push(Box::new(Impersonation::new(Arc::clone(&self.authorizer))));
        if let Some(flows) = &self.flows {
            list.push(Box::new(FlowHeaders::new(Arc::clone(flows))));
        }
        list.push(Box::new(in_flight.clone()));
        list.push(Box::new(Authorization::new(
            Arc::clone(&self.authorizer),
            Arc::clone(metrics),
        )));
        list.push(Box::new(WarningHeaders));
        list.push(Box::new(Compress::default()));
        Ok(Filters::new(list))
    }
}

impl CompletedConfig {
    /// Whether every path is installed; servers that install paths later announce them here before they are prepared.
    #[must_use]
    pub fn installation(&self) -> &Installation {
        &self.installation
    }

    /// Names of the filters, in request order.
    #[must_use]
    pub fn filter_names(&self) -> Vec<&'static str> {
        self.filters.names()
    }

    /// Puts the whole chain behind the filters, with the paths that only the outermost server has.
    ///
    /// # Errors
    ///
    /// [`ConfigError::RepeatedHook`]: two start hooks, or two stop hooks, of the chain have the same name.
    pub fn prepare(self, outermost: ApiServer) -> Result<PreparedServer, ConfigError> {
        PreparedServer::new(self, outermost)
    }
}

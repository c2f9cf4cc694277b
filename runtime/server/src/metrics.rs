//! `/metrics`: the server's metrics, under the names that kube-apiserver's dashboards and alerts use.

mod access;
mod admission;
mod allocators;
mod api_services;
mod audit;
mod authorizers;
mod baseline;
mod configurations;
mod current_label;
mod egress;
mod encryption;
mod exposition;
mod external_signer;
mod flow_control;
mod flow_readings;
mod inventory;
mod jwt;
mod labels;
mod own_requests;
mod pod_security;
mod policies;
mod process;
mod queues;
mod rejection_reason;
mod requests;
mod resource;
mod selection;
mod series;
mod storage;
mod token_cache;
mod token_uses;
mod webhooks;

use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Instant, SystemTime};

use axum::response::Response;
use http::header::HeaderName;
use http::request::Parts;
use http::{Method, StatusCode};
use planesmith_access::admission::Observer;
use planesmith_access::authentication::TokenCacheObserver;
use planesmith_access::authentication::service_account::TokenUses;
use planesmith_machinery::clock::{Clock, SystemClock};
use planesmith_machinery::resource::ResourceFacts;
use planesmith_store::Storage;
use prometheus::core::Collector;
use prometheus::{
    Gauge, GaugeVec, HistogramOpts, HistogramVec, IntCounter, IntCounterVec, IntGaugeVec, Opts, Registry, TextEncoder,
};

use crate::audit::AuditMeter;
use crate::compression::{Compression, prefers_gzip};
use crate::in_flight::InFlight;
use crate::response;
use crate::version::Version;
pub(crate) use access::{AccessMetrics, AuthorizationResult, Credentials};
pub use allocators::{AllocationScope, AllocatorMetrics, AllocatorReadings, RangeReading};
pub use api_services::ApiServiceMetrics;
pub use authorizers::{
    AuthorizerMetrics, DecisionMetrics, MatchConditionMetrics, ReviewInFlight, ReviewMetrics, ReviewResult,
};
use baseline::Baseline;
pub use configurations::ConfigurationMetrics;
pub use egress::EgressMetrics;
pub(crate) use egress::{DialStage, ProxyMetrics};
pub use encryption::EncryptionMetrics;
pub use external_signer::ExternalSignerMetrics;
pub use flow_control::{FlowControlMetrics, FlowSeries};
pub use flow_readings::{
    DemandReading, Distribution, FlowReadings, KindReading, LevelReading, ProgressReading, SeatReading,
};
pub(crate) use inventory::Inventory;
pub use inventory::StoredCounts;
pub use jwt::{IssuerMetrics, JwtMetrics};
pub(crate) use labels::LabelSource;
pub use own_requests::OwnRequestMetrics;
pub use pod_security::{CheckedRequest, PodSecurityMetrics, SecurityEvaluation};
pub use policies::{Enforcement, PolicyError, PolicyMetrics};
pub use queues::{QueueMeter, Ticket};
pub use rejection_reason::RejectionReason;
pub(crate) use requests::{LongRequest, RequestMetrics, SizeOfAnswer};
pub(crate) use resource::{BodyUse, ResourceMetrics, StoreUse, WatchMetrics};
pub use selection::MetricsSelection;
pub use webhooks::{WebhookMetrics, WebhookOutcome, WebhookType};

/// The header of answers with the time at which the process started, in seconds of Unix time.
const PROCESS_START: HeaderName = HeaderName::from_static("process-start-time-unix");

/// All metrics of a chain of servers.
#[derive(Debug)]
pub struct Metrics {
    registry: Registry,
    /// The metrics at `/metrics/slis`: results of health checks.
    service_levels: Registry,
    /// The values from which both count.
    baseline: Mutex<Baseline>,
    service_levels_baseline: Mutex<Baseline>,
    requests: RequestMetrics,
    access: AccessMetrics,
    authorizers: AuthorizerMetrics,
    token_cache: Arc<token_cache::TokenCacheMetrics>,
    token_uses: Arc<token_uses::TokenUseMetrics>,
    admission: admission::AdmissionMetrics,
    webhooks: WebhookMetrics,
    policies: PolicyMetrics,
    api_services: ApiServiceMetrics,
    audit: Arc<audit::AuditMetrics>,
    resources: Arc<resource::AllResources>,
    own_requests: OwnRequestMetrics,
    failed_handshakes: IntCounter,
    features: IntGaugeVec,
    in_flight: IntGaugeVec,
    in_queue: IntGaugeVec,
    flow_control: FlowControlMetrics,
    process: process::ProcessMetrics,
    queues: queues::QueueMetrics,
    storage: storage::StorageMetrics,
    /// Metrics that [`selection`](Self::select) leaves out.
    disabled: IntCounter,
    /// The metrics that are rendered; all until it is set.
    selection: OnceLock<MetricsSelection>,
    compression: Compression,
    /// Locked while the metrics are rendered.
    showing: Mutex<()>,
    check_state: GaugeVec,
    check_runs: IntCounterVec,
    /// The clock, for times that series show.
    clock: Arc<dyn Clock>,
}

impl Default for Metrics {
    fn default() -> Self {
        Self::new(Arc::new(SystemClock))
    }
}

impl Metrics {
    /// Returns metrics without counts, of a server with `clock`.
    #[must_use]
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        let registry = Registry::new();
        let service_levels = Registry::new();
        let in_flight = gauges(
            &registry,
            "apiserver_current_inflight_requests",
            "Requests being handled now, by kind.",
            &["request_kind"],
        );
        let in_queue = gauges(
            &registry,
            "apiserver_current_inqueue_requests",
            "Requests waiting to be handled, by kind.",
            &["request_kind"],
        );
        let features = gauges(
            &registry,
            "kubernetes_feature_enabled",
            "Features that can be switched: 1 for those that are on.",
            &["name", "stage"],
        );
        let failed_handshakes = IntCounter::new(
            "apiserver_tls_handshake_errors_total",
            "Connections whose TLS handshake failed.",
        );
        let failed_handshakes = failed_handshakes.expect(VALID);
        let disabled = IntCounter::new("disabled_metrics_total", "Metrics that operators disabled.").expect(VALID);
        let check_state = GaugeVec::new(
            Opts::new(
                "kubernetes_healthcheck",
                "1 if the health check passed when it ran last, otherwise 0.",
            ),
            &["name", "type"],
        );
        let check_state = check_state.expect(VALID);
        let check_runs = IntCounterVec::new(
            Opts::new("kubernetes_healthchecks_total", "Answers of health checks."),
            &["name", "status", "type"],
        );
        let check_runs = check_runs.expect(VALID);
        let metrics = Self {
            requests: RequestMetrics::new(&registry),
            access: AccessMetrics::new(&registry),
            authorizers: AuthorizerMetrics::new(&registry),
            token_cache: token_cache::TokenCacheMetrics::new(&registry),
            token_uses: token_uses::TokenUseMetrics::new(&registry),
            admission: admission::AdmissionMetrics::new(&registry),
            webhooks: WebhookMetrics::new(&registry),
            policies: PolicyMetrics::new(&registry),
            api_services: ApiServiceMetrics::new(&registry),
            audit: audit::AuditMetrics::new(&registry),
            resources: Arc::new(resource::AllResources::new(&registry)),
            own_requests: OwnRequestMetrics::new(&registry),
            failed_handshakes,
            features,
            process: process::ProcessMetrics::new(&registry),
            queues: queues::QueueMetrics::new(&registry),
            storage: storage::StorageMetrics::new(&registry),
            disabled,
            selection: OnceLock::new(),
            compression: Compression::new(),
            showing: Mutex::default(),
            in_flight,
            in_queue,
            flow_control: FlowControlMetrics::new(&registry),
            check_state,
            check_runs,
            clock,
            registry,
            service_levels,
            baseline: Mutex::default(),
            service_levels_baseline: Mutex::default(),
        };
        metrics.register(metrics.failed_handshakes.clone());
        metrics.register(metrics.disabled.clone());
        add(&metrics.service_levels, metrics.check_state.clone());
        add(&metrics.service_levels, metrics.check_runs.clone());
        metrics
    }

    /// Renders only what `selection` selects from now on. The first selection counts.
    pub fn select(&self, selection: MetricsSelection) {
        let disabled = selection.disabled.len() as u64;
        if self.selection.set(selection).is_ok() {
            self.disabled.inc_by(disabled);
        }
    }

    /// Adds the metrics of a store.
    pub fn show_storage(&self, storage: Storage) {
        self.storage.set_storage(storage);
    }

    /// Adds the metrics of `collector`, which is of the same version of the crate `prometheus` as this one uses. A collector with names that are registered already is left out, with a warning
    /// in the log.
    pub fn register(&self, collector: impl Collector + 'static) {
        add(&self.registry, collector);
    }

    pub(crate) fn requests(&self) -> &RequestMetrics {
        &self.requests
    }

    pub(crate) fn access(&self) -> &AccessMetrics {
        &self.access
    }

    /// Records the remaining lifetime of the trusted certificate of a request, which expires at `not_after`.
    pub(crate) fn observe_certificate(&self, not_after: SystemTime) {
        self.access.certificate(not_after, self.clock.now());
    }

    /// Counts audit events.
    #[must_use]
    pub fn audit(&self) -> Arc<dyn AuditMeter> {
        Arc::clone(&self.audit) as Arc<dyn AuditMeter>
    }

    /// Metrics of single authorizers.
    #[must_use]
    pub fn authorizers(&self) -> &AuthorizerMetrics {
        &self.authorizers
    }

    /// Registers the metrics of encryption at rest in the server `name`. Call it once.
    #[must_use]
    pub fn encryption(&self, name: &str) -> Arc<EncryptionMetrics> {
        EncryptionMetrics::register(self, name)
    }

    /// Metrics of admission webhooks.
    #[must_use]
    pub fn webhooks(&self) -> &WebhookMetrics {
        &self.webhooks
    }

    /// Metrics of admission policies.
    #[must_use]
    pub fn policies(&self) -> &PolicyMetrics {
        &self.policies
    }

    /// Metrics of the requests that the server sends to itself.
    #[must_use]
    pub fn own_requests(&self) -> &OwnRequestMetrics {
        &self.own_requests
    }

    /// Metrics of flow control.
    #[must_use]
    pub fn flow_control(&self) -> &FlowControlMetrics {
        &self.flow_control
    }

    /// Metrics of unavailable APIServices.
    #[must_use]
    pub fn api_services(&self) -> &ApiServiceMetrics {
        &self.api_services
    }

    /// The meter of the queue `name`, which is the name in kube-controller-manager where that has the queue.
    #[must_use]
    pub fn queue(&self, name: &'static str) -> Arc<QueueMeter> {
        self.queues.queue(name)
    }

    /// An observer that counts lookups in the cache of tokens.
    #[must_use]
    pub fn observe_tokens(&self) -> Arc<dyn TokenCacheObserver> {
        Arc::clone(&self.token_cache) as Arc<dyn TokenCacheObserver>
    }

    /// An observer that counts tokens of service accounts.
    #[must_use]
    pub fn count_token_uses(&self) -> Arc<dyn TokenUses> {
        Arc::clone(&self.token_uses) as Arc<dyn TokenUses>
    }

    /// Ends the series of a resource that is not served any more: clients can make resources without end.
    pub fn forget_resource(&self, group: &str, resource: &str) {
        self.requests.forget(group, resource);
        self.resources.forget(group, resource);
    }

    /// The metrics of one version of a resource.
    pub(crate) fn resource(&self, facts: &ResourceFacts) -> ResourceMetrics {
        ResourceMetrics::new(&self.resources, facts)
    }

    /// An observer that counts and times the plugins `names` of an admission chain.
    pub(crate) fn observe_admission(&self, names: &[&'static str]) -> Arc<dyn Observer> {
        self.admission.of_chain(names)
    }

    /// Counts a connection whose TLS handshake failed.
    pub(crate) fn count_failed_handshake(&self) {
        self.failed_handshakes.inc();
    }

    /// Sets the metric of a feature; `stage` is `ALPHA`, `BETA` or empty.
    pub fn show_feature(&self, name: &str, stage: &str, enabled: bool) {
        self.features.with_label_values(&[name, stage]).set(i64::from(enabled));
    }

    /// Sets the metric of the build.
    pub(crate) fn show_version(&self, version: &Version) {
        let labels = [
            ("major", &version.major),
            ("minor", &version.minor),
            ("git_version", &version.git_version),
            ("git_commit", &version.git_commit),
            ("git_tree_state", &version.git_tree_state),
            ("build_date", &version.build_date),
            ("go_version", &version.go_version),
            ("compiler", &version.compiler),
            ("platform", &version.platform),
        ];
        let mut opts = Opts::new("kubernetes_build_info", "The build; always 1.");
        for (name, value) in labels {
            opts = opts.const_label(name, value);
        }
        let build = Gauge::with_opts(opts).expect(VALID);
        build.set(1.0);
        self.register(build);
        let opts = Opts::new(
            "version_info",
            "The versions that the server is compatible with; always 1.",
        )
        .const_label("component", "kube")
        .const_label("binary", format!("{}.{}", version.major, version.minor))
        .const_label(
            "emulation",
            format!("{}.{}", version.emulation_major, version.emulation_minor),
        )
        .const_label(
            "min_compat",
            format!(
                "{}.{}",
                version.min_compatibility_major, version.min_compatibility_minor
            ),
        );
        let info = Gauge::with_opts(opts).expect(VALID);
        info.set(1.0);
        self.register(info);
    }

    /// Counts one result of a health check at `/endpoint`.
    pub(crate) fn observe_check(&self, endpoint: &str, name: &str, passed: bool) {
        let status = if passed { "success" } else { "error" };
        self.check_state
            .with_label_values(&[name, endpoint])
            .set(f64::from(u8::from(passed)));
        self.check_runs.with_label_values(&[name, status, endpoint]).inc();
    }

    /// Renders the metrics as text, for programs that embed a server. Those that are read when `/metrics` is requested are as they were
    /// read last.
    #[must_use]
    pub fn text(&self) -> String {
        let text = TextEncoder::new().encode_to_string(&self.registry.gather());
        text.unwrap_or_default()
    }

    /// The answer at `/metrics`, with the state of flow control, if there is any.
    pub(crate) fn answer(&self, request: &Parts, in_flight: &InFlight, flows: Option<&FlowReadings>) -> Response {
        // Two renderings at the same time would count refreshed values twice or miss them.
        let _alone = self.showing.lock().unwrap_or_else(PoisonError::into_inner);
        let (reading, writing) = in_flight.counts();
        for (kind, count) in [("readOnly", reading), ("mutating", writing)] {
            let count = i64::try_from(count).unwrap_or(i64::MAX);
            self.in_flight.with_label_values(&[kind]).set(count);
            let waiting = flows.map_or(0, |flows| flows.waiting(kind));
            self.in_queue.with_label_values(&[kind]).set(waiting.into());
        }
        if let Some(flows) = flows {
            self.flow_control.show(flows);
        }
        self.process.refresh();
        self.queues.refresh(Instant::now());
        self.storage.refresh(&self.requests.stored());
        self.render(request, &self.registry, &self.baseline)
    }

    /// The answer at `/metrics/slis`.
    pub(crate) fn answer_service_levels(&self, request: &Parts) -> Response {
        self.render(request, &self.service_levels, &self.service_levels_baseline)
    }

    /// The compression of answers, which all of a server share.
    pub(crate) fn compression(&self) -> &Compression {
        &self.compression
    }

    /// Answers with the metrics of `registry` since the last reset, or resets them.
    fn render(&self, request: &Parts, registry: &Registry, baseline: &Mutex<Baseline>) -> Response {
        // Locked first: a reset after the values are read would have a later baseline than they.
        let mut baseline = baseline.lock().unwrap_or_else(PoisonError::into_inner);
        let mut families = registry.gather();
        if request.method == Method::DELETE {
            *baseline = Baseline::new(families);
            return response::bytes(StatusCode::OK, "text/plain; charset=utf-8", "metrics reset\n");
        }
        baseline.apply(&mut families);
        drop(baseline);
        if let Some(selection) = self.selection.get() {
            selection.apply(&mut families);
        }
        let mut response = exposition::respond(&request.headers, &families);
        if prefers_gzip(&request.headers) {
            self.compression.pack(&mut response);
        }
        response
            .headers_mut()
            .insert(PROCESS_START, self.process.start_time().into());
        response
    }
}

/// Metrics shared by all code that counts.
pub type SharedMetrics = Arc<Metrics>;

/// The reason that building a metric cannot fail.
const VALID: &str = "names and labels are constants that follow the rules";

fn gauges(registry: &Registry, name: &str, help: &str, labels: &[&str]) -> IntGaugeVec {
    let gauges = IntGaugeVec::new(Opts::new(name, help), labels).expect(VALID);
    add(registry, gauges.clone());
    gauges
}

fn counters(registry: &Registry, name: &str, help: &str, labels: &[&str]) -> IntCounterVec {
    let counters = IntCounterVec::new(Opts::new(name, help), labels).expect(VALID);
    add(registry, counters.clone());
    counters
}

fn histograms(registry: &Registry, name: &str, help: &str, buckets: &[f64], labels: &[&str]) -> HistogramVec {
    let options = HistogramOpts::new(name, help).buckets(buckets.to_vec());
    let histograms = HistogramVec::new(options, labels).expect(VALID);
    add(registry, histograms.clone());
    histograms
}

fn add(registry: &Registry, collector: impl Collector + 'static) {
    if let Err(error) = registry.register(Box::new(collector)) {
        tracing::warn!(%error, "a metric is not registered");
    }
}

#[cfg(test)]
mod tests;

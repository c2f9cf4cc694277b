//! Requests as OpenTelemetry traces, sent to a collector: `--tracing-config-file`. A program lists [`COMPONENT`] to have this flag.

mod component;

pub use component::COMPONENT;

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Context as _, Result, bail};
use http::Uri;
use hyper_util::rt::TokioIo;
use opentelemetry::trace::{
    Link, Span as _, SpanContext, SpanId, SpanKind, TraceContextExt as _, TraceFlags, TraceId, TraceState, Tracer as _,
    TracerProvider as _,
};
use opentelemetry::{Context, KeyValue};
use opentelemetry_otlp::{SpanExporter, WithExportConfig as _, WithTonicConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{Sampler, SdkTracer, SdkTracerProvider};
use planesmith_machinery::configuration_file;
use planesmith_server::proxy::{Destination, Dialer};
use planesmith_server::trace::{TraceParent, TracedRequest, Tracer};
use serde::Deserialize;
use tonic::transport::{Channel, Endpoint};

/// Versions of the file that are accepted; they have the same fields.
const VERSIONS: [&str; 3] = [
    "apiserver.config.k8s.io/v1",
    "apiserver.config.k8s.io/v1beta1",
    "apiserver.config.k8s.io/v1alpha1",
];

/// The address on which collectors listen by default.
const DEFAULT_ENDPOINT: &str = "localhost:4317";

/// Maximum time to open a connection through a proxy.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(20);

/// The longest time for exporting the last spans when the server stops.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(5);

/// A `TracingConfiguration`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
struct TracingConfiguration {
    /// `host:port` of a collector that speaks OTLP over gRPC.
    endpoint: Option<String>,
    /// The share of requests to record, per million, when clients do not decide.
    sampling_rate_per_million: Option<i32>,
}

impl TracingConfiguration {
    fn open(path: &Path) -> Result<Self> {
        let configuration: Self = configuration_file::parse(&fs::read(path)?, "TracingConfiguration", &VERSIONS)?;
        let rate = configuration.sampling_rate_per_million.unwrap_or(0);
        if !(0..=1_000_000).contains(&rate) {
            bail!("samplingRatePerMillion is {rate}; expected 0 to 1000000");
        }
        if let Some(endpoint) = &configuration.endpoint
            && !endpoint.contains(':')
        {
            bail!("endpoint is {endpoint:?}; expected HOST:PORT");
        }
        Ok(configuration)
    }

    fn url(&self) -> String {
        let endpoint = self.endpoint.as_deref().unwrap_or(DEFAULT_ENDPOINT);
        match endpoint.contains("://") {
            true => endpoint.to_owned(),
            false => format!("http://{endpoint}"),
        }
    }

    fn rate(&self) -> f64 {
        f64::from(self.sampling_rate_per_million.unwrap_or(0)) / 1e6
    }
}

/// Sends traces to a collector.
#[derive(Debug)]
struct TraceExport {
    provider: SdkTracerProvider,
    tracer: SdkTracer,
    rate: f64,
}

impl TraceExport {
    /// Reads the file, and connects to its collector if any request is to be recorded, over `dialer` if the egress selector has one.
    /// Needs a runtime.
    ///
    /// # Errors
    ///
    /// If the file is not a `TracingConfiguration`.
    fn open(path: &Path, dialer: Option<&Dialer>) -> Result<Arc<Self>> {
        let shown = path.display();
        let configuration =
            TracingConfiguration::open(path).with_context(|| format!("--tracing-config-file {shown}"))?;
        let mut exporter = SpanExporter::builder().with_tonic().with_endpoint(configuration.url());
        if let Some(dialer) = dialer {
            exporter = exporter.with_channel(channel(&configuration.url(), dialer)?);
        }
        let exporter = exporter
            .build()
            .with_context(|| format!("--tracing-config-file {shown}: endpoint {}", configuration.url()))?;
        let resource = Resource::builder_empty().with_attributes([
            KeyValue::new("service.name", "apiserver"),
            KeyValue::new("service.instance.id", uuid::Uuid::new_v4().to_string()),
        ]);
        // Spans that get here are recorded: `samples` has decided.
        let provider = SdkTracerProvider::builder()
            .with_sampler(Sampler::AlwaysOn)
            .with_resource(resource.build())
            .with_batch_exporter(exporter)
            .build();
        Ok(Arc::new(Self {
            tracer: provider.tracer("planesmith"),
            provider,
            rate: configuration.rate(),
        }))
    }
}

impl Tracer for TraceExport {
    fn samples(&self, parent: Option<&TraceParent>) -> bool {
        match parent {
            Some(parent) => parent.sampled,
            None => self.rate > 0.0 && fastrand::f64() < self.rate,
        }
    }

    fn record(&self, request: TracedRequest) {
        let parent = request.parent.as_ref().map(span_context);
        let mut builder = self
            .tracer
            .span_builder(request.name)
            .with_kind(SpanKind::Server)
            .with_start_time(request.received_at)
            .with_attributes([
                KeyValue::new("audit-id", request.id),
                KeyValue::new("http.request.method", request.method),
                KeyValue::new("http.target", request.target),
                KeyValue::new("http.response.status_code", i64::from(request.code)),
            ]);
        let mut context = Context::new();
        match parent {
            Some(parent) if request.trusted => context = context.with_remote_span_context(parent),
            Some(parent) => builder = builder.with_links(vec![Link::with_context(parent)]),
            None => {}
        }
        let span = builder.start_with_context(&self.tracer, &context);
        let context = context.with_span(span);
        for step in request.steps {
            let begin = request.received_at + step.begin;
            let child = self.tracer.span_builder(step.stage.as_str()).with_start_time(begin);
            let mut child = child.start_with_context(&self.tracer, &context);
            child.end_with_timestamp(begin + step.took);
        }
        let end = later(request.received_at, request.received, request.answered);
        context.span().end_with_timestamp(end);
    }

    fn finish(&self) {
        if let Err(error) = self.provider.shutdown_with_timeout(SHUTDOWN_TIMEOUT) {
            tracing::warn!(%error, "the last traces were not sent");
        }
    }
}

/// Returns a channel to the collector at `url` that connects over `dialer`, with its first request and again after a loss.
fn channel(url: &str, dialer: &Dialer) -> Result<Channel> {
    let endpoint = Endpoint::from_shared(url.to_owned()).with_context(|| format!("the endpoint {url}"))?;
    let dialer = dialer.clone();
    let connect = move |uri: Uri| {
        let dialer = dialer.clone();
        async move {
            let host = uri.host().unwrap_or_default().trim_matches(['[', ']']);
            let destination = Destination::unrestricted(host, uri.port_u16().unwrap_or(80));
            dialer.dial(&destination, CONNECT_TIMEOUT).await.map(TokioIo::new)
        }
    };
    Ok(endpoint.connect_with_connector_lazy(tower::service_fn(connect)))
}

fn later(at: SystemTime, from: Instant, to: Instant) -> SystemTime {
    at + to.saturating_duration_since(from)
}

fn span_context(parent: &TraceParent) -> SpanContext {
    let flags = if parent.sampled {
        TraceFlags::SAMPLED
    } else {
        TraceFlags::default()
    };
    SpanContext::new(
        TraceId::from(parent.trace),
        SpanId::from(parent.span),
        flags,
        true,
        parent.state.parse::<TraceState>().unwrap_or_default(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(text: &str) -> Result<TracingConfiguration> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tracing.yaml");
        std::fs::write(&path, text).unwrap();
        TracingConfiguration::open(&path)
    }

    #[test]
    fn files_of_kube_apiserver_are_understood() {
        let head = "apiVersion: apiserver.config.k8s.io/v1beta1\nkind: TracingConfiguration\n";
        let empty = open(head).unwrap();
        assert_eq!((empty.url().as_str(), empty.rate()), ("http://localhost:4317", 0.0));
        let full = open(&format!(
            "{head}endpoint: 10.1.2.3:4317\nsamplingRatePerMillion: 500000\n"
        ))
        .unwrap();
        assert_eq!((full.url().as_str(), full.rate()), ("http://10.1.2.3:4317", 0.5));
        for (wrong, expected) in [
            ("samplingRatePerMillion: 1000001\n", "expected 0 to 1000000"),
            ("endpoint: here\n", "expected HOST:PORT"),
            ("rate: 1\n", "strict decoding error"),
        ] {
            let error = open(&format!("{head}{wrong}")).unwrap_err();
            assert!(format!("{error:#}").contains(expected), "{error:#}");
        }
        let error = open("apiVersion: v1\nkind: Pod\n").unwrap_err();
        assert!(error.to_string().contains("expected TracingConfiguration"), "{error:#}");
    }
}

//! Metrics of tokens of OpenID providers.

use std::sync::Arc;
use std::time::Duration;

use planesmith_machinery::clock::Clock;
use planesmith_machinery::hex;
use prometheus::core::Collector;
use prometheus::proto::MetricFamily;
use prometheus::{GaugeVec, Histogram, HistogramOpts, HistogramVec, IntGaugeVec, Opts};

use super::configurations::ConfigurationMetrics;
use super::current_label::{CurrentLabel, hashed, seconds};
use super::{Metrics, VALID};

/// kube-apiserver's buckets, in seconds.
const SECONDS: [f64; 12] = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0];

/// Metrics of tokens of OpenID providers, and of their configuration.
#[derive(Debug)]
pub struct JwtMetrics {
    latency: HistogramVec,
    key_times: GaugeVec,
    key_sets: IntGaugeVec,
    configuration: ConfigurationMetrics,
    /// The label of this server.
    server: String,
    clock: Arc<dyn Clock>,
    shows_keys: bool,
}

/// Metrics of the tokens of one issuer.
#[derive(Debug)]
pub struct IssuerMetrics {
    valid: Histogram,
    invalid: Histogram,
    all: Arc<JwtMetrics>,
    issuer: String,
    /// The label of the keys that were read last.
    current: CurrentLabel,
}

impl JwtMetrics {
    /// Registers the metrics of the server `name`; those about keys only if `shows_keys`.
    #[must_use]
    pub fn register(metrics: &Metrics, name: &str, shows_keys: bool) -> Arc<Self> {
        let jwt = |rest: &str| format!("apiserver_authentication_jwt_authenticator_{rest}");
        let gauges =
            |name: String, help: &str, labels: &[&str]| GaugeVec::new(Opts::new(name, help), labels).expect(VALID);
        let infos =
            |name: String, help: &str, labels: &[&str]| IntGaugeVec::new(Opts::new(name, help), labels).expect(VALID);
        let latency = HistogramOpts::new(
            jwt("latency_seconds"),
            "Time to authenticate a token of an OpenID provider that was not cached, in seconds.",
        );
        let latency = HistogramVec::new(latency.buckets(SECONDS.to_vec()), &["result", "jwt_issuer_hash"]);
        let all = Self {
            latency: latency.expect(VALID),
            key_times: gauges(
                jwt("jwks_fetch_last_timestamp_seconds"),
                "Time at which the keys of an issuer were read last, by result.",
                &["result", "jwt_issuer_hash", "apiserver_id_hash"],
            ),
            key_sets: infos(
                jwt("jwks_fetch_last_key_set_info"),
                "The digest of the keys of an issuer that were read last.",
                &["jwt_issuer_hash", "apiserver_id_hash", "hash"],
            ),
            configuration: ConfigurationMetrics::register(metrics, "authentication", name),
            server: hashed(name.as_bytes()),
            clock: Arc::clone(&metrics.clock),
            shows_keys,
        };
        metrics.register(all.latency.clone());
        if shows_keys {
            metrics.register(all.key_times.clone());
            metrics.register(all.key_sets.clone());
        }
        Arc::new(all)
    }

    /// Returns the metrics of the issuer with this URL.
    #[must_use]
    pub fn of_issuer(self: &Arc<Self>, url: &str) -> Arc<IssuerMetrics> {
        let issuer = hashed(url.as_bytes());
        let latency = |result: &str| self.latency.with_label_values(&[result, issuer.as_str()]);
        Arc::new(IssuerMetrics {
            valid: latency("success"),
            invalid: latency("failure"),
            all: Arc::clone(self),
            issuer,
            current: CurrentLabel::default(),
        })
    }

    /// Ends the series about the keys of an issuer that is not configured any more.
    pub fn forget(&self, url: &str) {
        let issuer = hashed(url.as_bytes());
        let series = self.key_sets.collect();
        let labels = series
            .iter()
            .flat_map(MetricFamily::get_metric)
            .map(|metric| metric.get_label());
        for labels in labels {
            let value = |name: &str| {
                let found = labels.iter().find(|label| label.name() == name);
                found.map(|label| label.value()).unwrap_or_default()
            };
            if value("jwt_issuer_hash") == issuer {
                // A series that is removed already is what is wanted.
                let _ = self
                    .key_sets
                    .remove_label_values(&[&issuer, &self.server, value("hash")]);
            }
        }
    }

    /// Metrics of the configuration file.
    #[must_use]
    pub fn configuration(&self) -> &ConfigurationMetrics {
        &self.configuration
    }
}

impl IssuerMetrics {
    /// Counts a token, and the time that its authentication took.
    pub fn authenticated(&self, valid: bool, took: Duration) {
        let latency = if valid { &self.valid } else { &self.invalid };
        latency.observe(took.as_secs_f64());
    }

    /// Counts a request for the keys of the issuer; `digest` is that of the keys, `None` after a failure.
    pub fn keys_read(&self, digest: Option<&[u8]>) {
        let all = &self.all;
        if !all.shows_keys {
            return;
        }
        let result = if digest.is_some() { "success" } else { "failure" };
        all.key_times
            .with_label_values(&[result, &self.issuer, &all.server])
            .set(seconds(&*all.clock));
        if let Some(digest) = digest {
            let label = format!("sha256:{}", hex::encode(digest));
            self.current
                .replace(&all.key_sets, &[&self.issuer, &all.server], &label);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The samples whose names contain `name`, without digests.
    fn rendered(metrics: &Metrics, name: &str) -> Vec<String> {
        let text = prometheus::TextEncoder::new()
            .encode_to_string(&metrics.registry.gather())
            .unwrap();
        let lines = text
            .lines()
            .filter(|line| line.contains(name) && !line.starts_with('#'));
        lines.map(str::to_owned).collect()
    }

    #[test]
    fn one_set_of_keys_is_shown() {
        let metrics = Metrics::default();
        let jwt = JwtMetrics::register(&metrics, "apiserver-a", true);
        let issuer = jwt.of_issuer("https://issuer");
        for keys in [&[1][..], &[2], &[2]] {
            issuer.keys_read(Some(keys));
        }
        issuer.keys_read(None);
        let sets = rendered(&metrics, "last_key_set_info");
        assert!(sets.len() == 1 && sets[0].contains("hash=\"sha256:02\""), "{sets:?}");
        assert_eq!(rendered(&metrics, "jwks_fetch_last_timestamp_seconds").len(), 2);
        jwt.forget("https://issuer");
        assert!(rendered(&metrics, "last_key_set_info").is_empty());
    }
}

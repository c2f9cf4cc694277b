//! Metrics of configuration files that are followed while the server runs.

use std::sync::Arc;

use planesmith_machinery::clock::Clock;
use prometheus::{GaugeVec, IntCounterVec, IntGaugeVec, Opts};

use super::current_label::{CurrentLabel, hashed, seconds};
use super::{Metrics, VALID};

/// Counts the reloads of one configuration file.
#[derive(Debug)]
pub struct ConfigurationMetrics {
    reloads: IntCounterVec,
    reload_times: GaugeVec,
    digests: IntGaugeVec,
    /// The label of this server.
    server: String,
    clock: Arc<dyn Clock>,
    /// The label of the content in use.
    current: CurrentLabel,
}

impl ConfigurationMetrics {
    /// Registers the metrics of the file about `subject` (`authentication`, `authorization`, `encryption`) in the server `name`.
    #[must_use]
    pub fn register(metrics: &Metrics, subject: &str, name: &str) -> Self {
        let options =
            |rest: &str, help: String| Opts::new(format!("apiserver_{subject}_config_controller_{rest}"), help);
        let reloads = IntCounterVec::new(
            options(
                "automatic_reloads_total",
                format!("Reloads of the {subject} configuration, by result."),
            ),
            &["status", "apiserver_id_hash"],
        );
        let reload_times = GaugeVec::new(
            options(
                "automatic_reload_last_timestamp_seconds",
                format!("Time of the last reload of the {subject} configuration, by result."),
            ),
            &["status", "apiserver_id_hash"],
        );
        let digests = IntGaugeVec::new(
            options(
                "last_config_info",
                format!("The digest of the {subject} configuration in use."),
            ),
            &["apiserver_id_hash", "hash"],
        );
        let configuration = Self {
            reloads: reloads.expect(VALID),
            reload_times: reload_times.expect(VALID),
            digests: digests.expect(VALID),
            server: hashed(name.as_bytes()),
            clock: Arc::clone(&metrics.clock),
            current: CurrentLabel::default(),
        };
        metrics.register(configuration.reloads.clone());
        metrics.register(configuration.reload_times.clone());
        metrics.register(configuration.digests.clone());
        configuration
    }

    /// Reports the content that is used from the start.
    pub fn loaded(&self, content: &[u8]) {
        self.current.replace(&self.digests, &[&self.server], &hashed(content));
    }

    /// Counts a reload. `content` is in use from now on; `None` after a failure.
    pub fn reloaded(&self, content: Option<&[u8]>) {
        let labels = [if content.is_some() { "success" } else { "failure" }, &self.server];
        self.reloads.with_label_values(&labels).inc();
        self.reload_times.with_label_values(&labels).set(seconds(&*self.clock));
        if let Some(content) = content {
            self.loaded(content);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_configuration_is_shown() {
        let metrics = Metrics::default();
        let configuration = ConfigurationMetrics::register(&metrics, "authorization", "apiserver-a");
        configuration.loaded(b"a");
        configuration.reloaded(Some(b"b"));
        configuration.reloaded(None);
        let text = prometheus::TextEncoder::new()
            .encode_to_string(&metrics.registry.gather())
            .unwrap();
        let series = |name: &str| {
            let name = format!("apiserver_authorization_config_controller_{name}");
            text.lines().filter(|line| line.starts_with(&name)).count()
        };
        assert_eq!(series("last_config_info"), 1, "{text}");
        assert_eq!(series("automatic_reloads_total"), 2, "{text}");
        assert_eq!(series("automatic_reload_last_timestamp_seconds"), 2, "{text}");
    }
}

//! Metrics of unavailable APIServices.

use prometheus::{IntCounterVec, IntGaugeVec, Registry};

use super::{counters, gauges};

/// The metrics of APIServices, under the names of kube-apiserver's aggregator.
#[derive(Clone, Debug)]
pub struct ApiServiceMetrics {
    unavailable: IntGaugeVec,
    became_unavailable: IntCounterVec,
}

impl ApiServiceMetrics {
    pub(super) fn new(registry: &Registry) -> Self {
        Self {
            unavailable: gauges(
                registry,
                "aggregator_unavailable_apiservice",
                "1 if the APIService is unavailable, otherwise 0.",
                &["name"],
            ),
            became_unavailable: counters(
                registry,
                "aggregator_unavailable_apiservice_total",
                "How often APIServices became unavailable, by reason.",
                &["name", "reason"],
            ),
        }
    }

    /// Sets if the APIService `name` is available; if not, with the reason. `said` is its previous status.
    pub fn show(&self, name: &str, said: bool, is: Result<(), &str>) {
        self.unavailable.with_label_values(&[name]).set(i64::from(is.is_err()));
        if let (true, Err(reason)) = (said, is) {
            self.became_unavailable.with_label_values(&[name, reason]).inc();
        }
    }

    /// Removes the APIService `name`.
    pub fn forget(&self, name: &str) {
        // It may not have been set yet.
        let _ = self.unavailable.remove_label_values(&[name]);
    }
}

#[cfg(test)]
mod tests {
    use prometheus::TextEncoder;

    use super::*;

    #[test]
    fn only_the_step_to_unavailable_is_counted() {
        let registry = Registry::new();
        let metrics = ApiServiceMetrics::new(&registry);
        let rendered = || {
            let text = TextEncoder::new().encode_to_string(&registry.gather()).unwrap();
            let lines = text.lines().filter(|line| !line.starts_with('#'));
            lines.map(str::to_owned).collect::<Vec<_>>()
        };
        for (said, is) in [
            (false, Err("ServiceNotFound")),
            (true, Ok(())),
            (true, Err("MissingEndpoints")),
            (false, Err("MissingEndpoints")),
        ] {
            metrics.show("v1.a", said, is);
        }
        assert_eq!(
            rendered(),
            [
                r#"aggregator_unavailable_apiservice{name="v1.a"} 1"#,
                r#"aggregator_unavailable_apiservice_total{name="v1.a",reason="MissingEndpoints"} 1"#,
            ]
        );
        metrics.show("v1.a", false, Ok(()));
        assert_eq!(rendered()[0], r#"aggregator_unavailable_apiservice{name="v1.a"} 0"#);
        metrics.forget("v1.a");
        assert_eq!(rendered().len(), 1);
    }
}

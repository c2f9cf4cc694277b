//! Metrics of addresses and ports that are given out.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use prometheus::core::{Collector, Desc};
use prometheus::proto::MetricFamily;
use prometheus::{DEFAULT_BUCKETS, HistogramVec, IntCounterVec, IntGauge, IntGaugeVec, Opts};

use super::{Metrics, VALID, counters, histograms};

/// A way in which an address or a port is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AllocationScope {
    /// The user chose it.
    Static,
    /// The server chose it.
    Dynamic,
}

/// The addresses of one range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RangeReading {
    /// The range in the notation of CIDR.
    pub cidr: String,
    /// Number of allocated addresses.
    pub allocated: i64,
    /// Number of free addresses.
    pub available: i64,
}

/// The state of addresses and ports, read when the metrics are rendered.
pub trait AllocatorReadings: Send + Sync {
    /// The ranges of addresses in use.
    fn addresses(&self) -> Vec<RangeReading>;

    /// Numbers of allocated and of free ports.
    fn ports(&self) -> (i64, i64);
}

/// Metrics of addresses and ports that are given out.
#[derive(Debug)]
pub struct AllocatorMetrics {
    addresses: IntCounterVec,
    address_errors: IntCounterVec,
    address_seconds: HistogramVec,
    ports: IntCounterVec,
    port_errors: IntCounterVec,
}

/// Renders the readings.
struct Gauges {
    readings: Box<dyn AllocatorReadings>,
    allocated_addresses: IntGaugeVec,
    available_addresses: IntGaugeVec,
    allocated_ports: IntGauge,
    available_ports: IntGauge,
}

impl AllocationScope {
    fn name(self) -> &'static str {
        match self {
            Self::Static => "static",
            Self::Dynamic => "dynamic",
        }
    }
}

impl AllocatorMetrics {
    /// Registers the metrics, some of which show `readings`.
    #[must_use]
    pub fn register(metrics: &Metrics, readings: Box<dyn AllocatorReadings>) -> Arc<Self> {
        metrics.register(Gauges::new(readings));
        let registry = &metrics.registry;
        let addresses = |rest: &str| format!("kube_apiserver_clusterip_allocator_{rest}");
        let ports = |rest: &str| format!("kube_apiserver_nodeport_allocator_{rest}");
        let of_range = ["cidr", "scope"];
        Arc::new(Self {
            addresses: counters(
                registry,
                &addresses("allocation_total"),
                "Addresses of services that were allocated.",
                &of_range,
            ),
            address_errors: counters(
                registry,
                &addresses("allocation_errors_total"),
                "Addresses of services that could not be allocated.",
                &of_range,
            ),
            address_seconds: histograms(
                registry,
                &addresses("allocation_duration_seconds"),
                "Time to allocate an address of a service, in seconds.",
                DEFAULT_BUCKETS,
                &["cidr"],
            ),
            ports: counters(
                registry,
                &ports("allocation_total"),
                "Node ports of services that were allocated.",
                &["scope"],
            ),
            port_errors: counters(
                registry,
                &ports("allocation_errors_total"),
                "Node ports of services that could not be allocated.",
                &["scope"],
            ),
        })
    }

    /// Counts an attempt to allocate an address of a range.
    pub fn address(&self, cidr: &str, scope: AllocationScope, took: Duration, is_allocated: bool) {
        let counters = match is_allocated {
            true => &self.addresses,
            false => &self.address_errors,
        };
        counters.with_label_values(&[cidr, scope.name()]).inc();
        self.address_seconds
            .with_label_values(&[cidr])
            .observe(took.as_secs_f64());
    }

    /// Counts an attempt to allocate a port.
    pub fn port(&self, scope: AllocationScope, is_allocated: bool) {
        let counters = match is_allocated {
            true => &self.ports,
            false => &self.port_errors,
        };
        counters.with_label_values(&[scope.name()]).inc();
    }
}

impl Gauges {
    fn new(readings: Box<dyn AllocatorReadings>) -> Self {
        let of_range = |name, help| IntGaugeVec::new(Opts::new(name, help), &["cidr"]).expect(VALID);
        let gauge = |name, help| IntGauge::new(name, help).expect(VALID);
        Self {
            readings,
            allocated_addresses: of_range(
                "kube_apiserver_clusterip_allocator_allocated_ips",
                "Addresses of services that are allocated.",
            ),
            available_addresses: of_range(
                "kube_apiserver_clusterip_allocator_available_ips",
                "Addresses of services that are free.",
            ),
            allocated_ports: gauge(
                "kube_apiserver_nodeport_allocator_allocated_ports",
                "Node ports of services that are allocated.",
            ),
            available_ports: gauge(
                "kube_apiserver_nodeport_allocator_available_ports",
                "Node ports of services that are free.",
            ),
        }
    }

    fn collectors(&self) -> [&dyn Collector; 4] {
        [
            &self.allocated_addresses,
            &self.available_addresses,
            &self.allocated_ports,
            &self.available_ports,
        ]
    }
}

impl Collector for Gauges {
    fn desc(&self) -> Vec<&Desc> {
        self.collectors().into_iter().flat_map(Collector::desc).collect()
    }

    fn collect(&self) -> Vec<MetricFamily> {
        // Metrics are rendered one at a time.
        self.allocated_addresses.reset();
        self.available_addresses.reset();
        for range in self.readings.addresses() {
            let labels = [range.cidr.as_str()];
            self.allocated_addresses.with_label_values(&labels).set(range.allocated);
            self.available_addresses.with_label_values(&labels).set(range.available);
        }
        let (allocated, available) = self.readings.ports();
        self.allocated_ports.set(allocated);
        self.available_ports.set(available);
        self.collectors().into_iter().flat_map(Collector::collect).collect()
    }
}

impl fmt::Debug for Gauges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gauges").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use prometheus::TextEncoder;

    use super::*;

    struct Fixed;

    impl AllocatorReadings for Fixed {
        fn addresses(&self) -> Vec<RangeReading> {
            vec![RangeReading {
                cidr: "10.0.0.0/24".to_owned(),
                allocated: 2,
                available: 252,
            }]
        }

        fn ports(&self) -> (i64, i64) {
            (1, 2767)
        }
    }

    #[test]
    fn allocations_have_the_names_of_kube_apiserver() {
        let metrics = Metrics::default();
        let allocators = AllocatorMetrics::register(&metrics, Box::new(Fixed));
        allocators.address("10.0.0.0/24", AllocationScope::Dynamic, Duration::from_millis(1), true);
        allocators.address("10.0.0.0/24", AllocationScope::Static, Duration::from_millis(1), false);
        allocators.port(AllocationScope::Static, true);
        allocators.port(AllocationScope::Dynamic, false);
        let text = TextEncoder::new().encode_to_string(&metrics.registry.gather()).unwrap();
        for line in [
            r#"kube_apiserver_clusterip_allocator_allocated_ips{cidr="10.0.0.0/24"} 2"#,
            r#"kube_apiserver_clusterip_allocator_available_ips{cidr="10.0.0.0/24"} 252"#,
            r#"kube_apiserver_clusterip_allocator_allocation_total{cidr="10.0.0.0/24",scope="dynamic"} 1"#,
            r#"kube_apiserver_clusterip_allocator_allocation_errors_total{cidr="10.0.0.0/24",scope="static"} 1"#,
            r#"kube_apiserver_clusterip_allocator_allocation_duration_seconds_count{cidr="10.0.0.0/24"} 2"#,
            "kube_apiserver_nodeport_allocator_allocated_ports 1",
            "kube_apiserver_nodeport_allocator_available_ports 2767",
            r#"kube_apiserver_nodeport_allocator_allocation_total{scope="static"} 1"#,
            r#"kube_apiserver_nodeport_allocator_allocation_errors_total{scope="dynamic"} 1"#,
        ] {
            assert!(text.lines().any(|found| found == line), "{line} in {text}");
        }
    }
}

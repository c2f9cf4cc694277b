//! What the process costs, as the operating system sees it.

use std::fs;
use std::time::{SystemTime, UNIX_EPOCH};

use prometheus::{Gauge, Registry};

use super::{VALID, add};

/// Processor time in `/proc` is counted in hundredths of a second, on every Linux.
const TICKS_PER_SECOND: f64 = 100.0;

/// Cost of the process; refreshed when it is shown. Stays zero where there is no `/proc`.
#[derive(Debug)]
pub(super) struct ProcessMetrics {
    cpu_seconds: Gauge,
    resident_bytes: Gauge,
    virtual_bytes: Gauge,
    open_files: Gauge,
    threads: Gauge,
}

impl ProcessMetrics {
    pub(super) fn new(registry: &Registry) -> Self {
        let started = gauge(
            registry,
            "process_start_time_seconds",
            "When the process started, in seconds of Unix time.",
        );
        started.set(
            SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .map_or(0.0, |time| time.as_secs_f64()),
        );
        Self {
            cpu_seconds: gauge(
                registry,
                "process_cpu_seconds_total",
                "Processor time used, in seconds.",
            ),
            resident_bytes: gauge(registry, "process_resident_memory_bytes", "Memory in use, in bytes."),
            virtual_bytes: gauge(
                registry,
                "process_virtual_memory_bytes",
                "Address space in use, in bytes.",
            ),
            open_files: gauge(registry, "process_open_fds", "Open files and sockets."),
            threads: gauge(registry, "process_threads", "Threads of the operating system."),
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "metrics are floating point numbers")]
    pub(super) fn refresh(&self) {
        let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
        // The program's name, in parentheses, may hold spaces; fields are counted behind it.
        let fields: Vec<f64> = stat
            .rsplit_once(')')
            .map_or("", |(_, fields)| fields)
            .split_ascii_whitespace()
            .map(|field| field.parse().unwrap_or(0.0))
            .collect();
        if let Some(&[user, system]) = fields.get(11..13) {
            self.cpu_seconds.set((user + system) / TICKS_PER_SECOND);
        }
        self.threads.set(fields.get(17).copied().unwrap_or_default());
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        self.resident_bytes.set(kilobytes(&status, "VmRSS:") * 1024.0);
        self.virtual_bytes.set(kilobytes(&status, "VmSize:") * 1024.0);
        self.open_files
            .set(fs::read_dir("/proc/self/fd").map_or(0, Iterator::count) as f64);
    }
}

fn gauge(registry: &Registry, name: &str, help: &str) -> Gauge {
    let gauge = Gauge::new(name, help).expect(VALID);
    add(registry, gauge.clone());
    gauge
}

/// The number behind `name` in `/proc/self/status`.
fn kilobytes(status: &str, name: &str) -> f64 {
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok())
        .unwrap_or(0.0)
}

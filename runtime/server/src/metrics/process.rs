//! Resource usage of the process, as reported by the operating system.

use std::fs;
use std::time::UNIX_EPOCH;

use planesmith_machinery::clock::{Clock as _, SystemClock};
use prometheus::{Counter, Gauge, Registry};

use super::{VALID, add};

/// Processor time in `/proc` is in hundredths of a second, on every Linux.
const TICKS_PER_SECOND: f64 = 100.0;

/// Resource usage of the process; refreshed when it is rendered. Stays zero where there is no `/proc`.
#[derive(Debug)]
pub(super) struct ProcessMetrics {
    started: Gauge,
    cpu_seconds: Counter,
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
            // The process has started for all of its servers.
            SystemClock
                .now()
                .duration_since(UNIX_EPOCH)
                .map_or(0.0, |time| time.as_secs_f64()),
        );
        let cpu_seconds = Counter::new("process_cpu_seconds_total", "Processor time used, in seconds.");
        let cpu_seconds = cpu_seconds.expect(VALID);
        add(registry, cpu_seconds.clone());
        let limits = fs::read_to_string("/proc/self/limits").unwrap_or_default();
        let max_files = gauge(
            registry,
            "process_max_fds",
            "Files and sockets that may be open at once.",
        );
        max_files.set(limit(&limits, "Max open files"));
        let max_memory = gauge(
            registry,
            "process_virtual_memory_max_bytes",
            "Address space that may be used, in bytes.",
        );
        max_memory.set(limit(&limits, "Max address space"));
        Self {
            started,
            cpu_seconds,
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

    /// The time at which the process started, in seconds of Unix time.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the time has whole seconds far below the limits of integers"
    )]
    pub(super) fn start_time(&self) -> i64 {
        self.started.get() as i64
    }

    #[expect(clippy::cast_precision_loss, reason = "metrics are floating point numbers")]
    pub(super) fn refresh(&self) {
        let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
        // The program's name, in parentheses, may contain spaces; fields are counted behind it.
        let fields: Vec<f64> = stat
            .rsplit_once(')')
            .map_or("", |(_, fields)| fields)
            .split_ascii_whitespace()
            .map(|field| field.parse().unwrap_or(0.0))
            .collect();
        if let Some(&[user, system]) = fields.get(11..13) {
            let more = (user + system) / TICKS_PER_SECOND - self.cpu_seconds.get();
            self.cpu_seconds.inc_by(more.max(0.0));
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

/// The limit `name` in `/proc/self/limits`; no limit is rendered as the largest number.
#[expect(clippy::cast_precision_loss, reason = "metrics are floating point numbers")]
fn limit(limits: &str, name: &str) -> f64 {
    let line = limits.lines().find_map(|line| line.strip_prefix(name));
    let soft = line.and_then(|line| line.split_ascii_whitespace().next());
    match soft {
        Some("unlimited") => u64::MAX as f64,
        Some(number) => number.parse().unwrap_or(0.0),
        None => 0.0,
    }
}

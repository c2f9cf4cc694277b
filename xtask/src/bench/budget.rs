//! The measured rows with their units and budgets.

use super::subject::Storage;

/// The unit of a row's figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    /// Microseconds of server processor time per operation.
    CpuMicros,
    /// Milliseconds of server processor time per operation.
    CpuMillis,
    /// Milliseconds of elapsed time.
    Millis,
    /// Megabytes of resident memory.
    Megabytes,
    /// Percent of one core.
    Percent,
    /// Percent of the expected events that were delivered; the only unit in which more is better.
    Delivered,
    /// A multiple of the cost of a smaller operation, measured alongside.
    Times,
}

impl Unit {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::CpuMicros => "us cpu",
            Self::CpuMillis => "ms cpu",
            Self::Millis => "ms",
            Self::Megabytes => "MB",
            Self::Percent => "% of a core",
            Self::Delivered => "% delivered",
            Self::Times => "times",
        }
    }

    /// True if the figure depends on the speed of the machine, so that the budget scales with it.
    pub(crate) fn scales(self) -> bool {
        matches!(self, Self::CpuMicros | Self::CpuMillis | Self::Millis)
    }
}

use Storage::{Etcd, Sled};
use Unit::{CpuMicros, CpuMillis, Delivered, Megabytes, Millis, Percent, Times};

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    pub(crate) unit: Unit,
    /// The limit server's figure on the machine of the budgets. All durable writes cost it the same.
    pub(crate) reference: Option<f64>,
    /// The budget of the measured server on that machine.
    pub(crate) budget: f64,
    /// True if the row takes minutes: it is only measured when it is named.
    pub(crate) is_long: bool,
    /// The storage that the row is about; `None` for any.
    pub(crate) storage: Option<Storage>,
}

impl Row {
    const fn new(name: &'static str, title: &'static str, unit: Unit, budget: f64) -> Self {
        let reference = None;
        Self {
            name,
            title,
            unit,
            reference,
            budget,
            is_long: false,
            storage: None,
        }
    }

    const fn long(self) -> Self {
        Self { is_long: true, ..self }
    }

    const fn on(self, storage: Storage) -> Self {
        Self {
            storage: Some(storage),
            ..self
        }
    }

    const fn against(self, reference: f64) -> Self {
        Self {
            reference: Some(reference),
            ..self
        }
    }
}

/// All rows, in the order of measurement: rows that need an unused server come first.
pub(crate) const ROWS: &[Row] = &[
    Row::new("start", "start to ready, empty", Millis, 100.0),
    Row::new("idle-memory", "memory, idle", Megabytes, 40.0).on(Sled),
    Row::new("idle-cpu", "idle processor use", Percent, 0.1),
    Row::new("used-memory", "memory, 5,000 objects and writes", Megabytes, 80.0).on(Sled),
    Row::new("definitions-memory", "memory, 64 real definitions", Megabytes, 64.0).on(Sled),
    Row::new("definitions-install", "1,000 definitions, installed", Millis, 30_000.0),
    Row::new("definitions-many", "memory, 1,000 definitions", Megabytes, 300.0),
    Row::new(
        "definitions-churn",
        "memory, definitions, rounds 7-10 over 2-5",
        Times,
        1.05,
    )
    .long(),
    Row::new(
        "definitions-churn-memory",
        "memory after 10,000 deleted definitions",
        Megabytes,
        130.0,
    )
    .long(),
    Row::new("custom-create", "create custom object, 16 writers", CpuMicros, 150.0).on(Sled),
    Row::new("custom-objects", "memory, 100,000 custom objects", Megabytes, 500.0),
    Row::new("custom-list", "LIST 100,000 custom objects", CpuMillis, 100.0),
    Row::new("custom-watch", "watch from 0, 100,000 custom objects", CpuMillis, 300.0),
    Row::new("list-protobuf", "8,000 Pods, protobuf over JSON", Times, 2.0),
    Row::new("list-table", "8,000 Pods, Table over JSON", Times, 2.0),
    Row::new("get-beside-lists", "GET beside two heavy lists, p99", Millis, 10.0),
    Row::new(
        "get-beside-flood",
        "GET beside 2,000 lists of another user, p99, quiet = 1",
        Times,
        3.0,
    )
    .long(),
    Row::new(
        "get-beside-crowd",
        "GET beside 20,000 watches and 10,000 idle connections, p99, quiet = 1",
        Times,
        3.0,
    )
    .long(),
    Row::new(
        "get-protected",
        "GET with roles, audit, flow control, encryption, over none",
        CpuMicros,
        8.0,
    )
    .on(Sled)
    .long(),
    Row::new("create-protected", "create, the same", Times, 1.15)
        .on(Sled)
        .long(),
    Row::new("million-start", "start, 1,000,000 small objects", Millis, 3_000.0)
        .on(Sled)
        .long(),
    Row::new("million-memory", "memory over bytes, 1,000,000", Times, 1.3)
        .on(Sled)
        .long(),
    Row::new("million-memory-restarted", "the same after a restart", Times, 1.3)
        .on(Sled)
        .long(),
    Row::new("get-many", "GET, 200,000 over 3,000", Times, 1.2),
    Row::new("page-many", "page of 500, 200,000 over 3,000", Times, 1.2),
    Row::new("update-many", "update, 200,000 over 3,000", Times, 1.2),
    Row::new("memory-many", "memory over bytes, 200,000", Times, 1.3).on(Sled),
    Row::new("memory-many-restarted", "the same after a restart", Times, 1.3).on(Sled),
    Row::new("etcd-create", "16 writers over transactions", Times, 2.0).on(Etcd),
    Row::new("etcd-latency", "one writer over transactions, p50", Times, 2.0).on(Etcd),
    Row::new("create-watched", "create, 2,000 watchers over one", Times, 1.5).on(Sled),
    Row::new("commit-watched", "commit, 2,000 watchers over one", Times, 1.5).on(Sled),
    Row::new("get", "GET, 1.4 KB object", CpuMicros, 45.0).against(22.0),
    Row::new("list", "LIST 5,000 objects (7 MB)", CpuMillis, 5.0).against(3.3),
    Row::new("page", "LIST page of 500", CpuMillis, 0.6),
    Row::new("selector", "LIST by label, 312 of 5,000", CpuMillis, 0.6),
    Row::new("table", "Table of 500", CpuMillis, 1.5),
    Row::new("list-pods", "LIST 5,000 Pods (16 MB)", CpuMillis, 12.0).against(7.5),
    Row::new("create", "create, durable, 16 writers", CpuMicros, 110.0)
        .against(34.0)
        .on(Sled),
    Row::new("latency", "create, durable, one writer, p50", Millis, 1.0)
        .against(0.5)
        .on(Sled),
    Row::new("update", "update, 16 writers", CpuMicros, 130.0)
        .against(34.0)
        .on(Sled),
    Row::new("patch", "merge patch, 16 writers", CpuMicros, 150.0)
        .against(34.0)
        .on(Sled),
    Row::new("apply", "apply, 16 writers", CpuMicros, 200.0)
        .against(34.0)
        .on(Sled),
    Row::new("create-custom", "create custom resource", CpuMicros, 150.0)
        .against(34.0)
        .on(Sled),
    Row::new("create-pod", "create Pod", CpuMicros, 200.0)
        .against(34.0)
        .on(Sled),
    Row::new("watch", "watch, per event, 200 watchers", CpuMicros, 4.0),
    Row::new("watch-p99", "watch, event latency p99", Millis, 3.0),
    Row::new("fan-out", "2,000 watchers, 100 rapid events", Delivered, 100.0),
    Row::new("burst", "2,000 watchers, per event", CpuMicros, 4.0),
    Row::new("fan-out-5000", "5,000 watchers, 100 rapid events", Delivered, 100.0),
    Row::new("burst-5000", "5,000 watchers, per event", CpuMicros, 4.0),
];

/// Returns the row called `name`.
pub(crate) fn find(name: &str) -> Option<&'static Row> {
    ROWS.iter().find(|row| row.name == name)
}

//! What is measured, in which unit, and how much of it a server may use.

/// How a row's figures read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    /// Microseconds of server processor time per operation.
    CpuMicros,
    /// Milliseconds of server processor time per operation.
    CpuMillis,
    /// Milliseconds on the clock.
    Millis,
    /// Megabytes of resident memory.
    Megabytes,
    /// Percent of one core.
    Percent,
    /// Percent of the events that were delivered; the only one where more is better.
    Delivered,
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
        }
    }

    /// Whether a slower machine may need more of it, so that the budget moves with the machine.
    pub(crate) fn scales(self) -> bool {
        matches!(self, Self::CpuMicros | Self::CpuMillis | Self::Millis)
    }
}

/// One line of the table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    pub(crate) unit: Unit,
    /// What the limit server used on the machine on which the budgets were set.
    pub(crate) reference: Option<f64>,
    /// What ours may use there.
    pub(crate) budget: f64,
}

const fn row(name: &'static str, title: &'static str, unit: Unit, reference: Option<f64>, budget: f64) -> Row {
    Row {
        name,
        title,
        unit,
        reference,
        budget,
    }
}

/// Every row, in the order of measuring: what must find the server fresh comes first.
pub(crate) const ROWS: &[Row] = &[
    row("start", "start to ready, empty", Unit::Millis, None, 100.0),
    row("idle-memory", "memory, idle", Unit::Megabytes, None, 40.0),
    row("idle-cpu", "idle processor use", Unit::Percent, None, 0.1),
    row(
        "used-memory",
        "memory after 5,000 objects and writes",
        Unit::Megabytes,
        None,
        80.0,
    ),
    row("get", "GET, 1.4 KB object", Unit::CpuMicros, Some(22.0), 45.0),
    row("list", "LIST 5,000 objects (7 MB)", Unit::CpuMillis, Some(3.3), 5.0),
    row("page", "LIST page of 500", Unit::CpuMillis, None, 0.6),
    row("selector", "LIST by label, 312 of 5,000", Unit::CpuMillis, None, 0.6),
    row(
        "create",
        "create, durable, 16 writers",
        Unit::CpuMicros,
        Some(34.0),
        110.0,
    ),
    row(
        "latency",
        "create, durable, one writer, p50",
        Unit::Millis,
        Some(0.5),
        1.0,
    ),
    row("update", "update, 16 writers", Unit::CpuMicros, None, 130.0),
    row("patch", "merge patch, 16 writers", Unit::CpuMicros, None, 150.0),
    row("apply", "apply, 16 writers", Unit::CpuMicros, None, 200.0),
    row("watch", "watch, per event, 200 watchers", Unit::CpuMicros, None, 4.0),
    row("watch-p99", "watch, event latency p99", Unit::Millis, None, 3.0),
    row(
        "fan-out",
        "2,000 watchers, 100 rapid events",
        Unit::Delivered,
        None,
        100.0,
    ),
];

/// The row called `name`.
pub(crate) fn find(name: &str) -> Option<&'static Row> {
    ROWS.iter().find(|row| row.name == name)
}

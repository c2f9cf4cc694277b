//! Lasting faults of a store: for health checks, metrics and the log.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use planesmith_clock::{Clock, SystemClock};

/// A fault of a store that outlasts a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alarm {
    /// The kind of fault.
    pub kind: AlarmKind,
    /// The time at which the fault was first detected.
    pub since: SystemTime,
    /// The cause, fit for clients: without paths or other details of the host.
    pub reason: String,
}

/// The kinds of faults that a store reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AlarmKind {
    /// The store elsewhere does not answer.
    Disconnected,
    /// The disk is full: writes that make the state larger are refused.
    NoSpace,
    /// No write is accepted any more, because the disk failed too often.
    ReadOnly,
    /// History cannot be settled, so its space is not freed.
    Settling,
}

impl AlarmKind {
    /// Every kind, sorted by name.
    pub const ALL: [Self; 4] = [Self::Disconnected, Self::NoSpace, Self::ReadOnly, Self::Settling];

    /// The name in metrics, logs and health checks, e.g. `no-space`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Disconnected => "disconnected",
            Self::NoSpace => "no-space",
            Self::ReadOnly => "read-only",
            Self::Settling => "settling",
        }
    }
}

impl fmt::Display for Alarm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind.name(), self.reason)
    }
}

/// The alarms that one part of a store has raised. Clones share them.
#[derive(Clone, Debug)]
pub struct Alarms {
    clock: Arc<dyn Clock>,
    raised: Arc<Mutex<BTreeMap<AlarmKind, Alarm>>>,
}

/// No alarms, and the clock of the operating system.
impl Default for Alarms {
    fn default() -> Self {
        Self::new(Arc::new(SystemClock))
    }
}

impl Alarms {
    /// Returns no alarms; `clock` has the times since when they are raised.
    #[must_use]
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self {
            clock,
            raised: Arc::default(),
        }
    }

    /// Raises the alarm `kind`, or changes the `reason` of a raised one; the time since when it is raised stays.
    ///
    /// `reason` is for clients; `details`, with paths and errors of the operating system, are logged once for each
    /// reason.
    pub fn raise(&self, kind: AlarmKind, reason: impl Into<String>, details: &dyn fmt::Display) {
        let reason = reason.into();
        let mut raised = self.lock();
        let known = raised.get(&kind);
        if known.is_some_and(|known| known.reason == reason) {
            return;
        }
        let since = known.map_or_else(|| self.clock.now(), |known| known.since);
        tracing::error!(alarm = kind.name(), reason, %details, "the store raises an alarm");
        raised.insert(kind, Alarm { kind, since, reason });
    }

    /// Clears the alarm `kind`, if it is raised.
    pub fn clear(&self, kind: AlarmKind) {
        if self.lock().remove(&kind).is_some() {
            tracing::info!(alarm = kind.name(), "the store clears an alarm");
        }
    }

    /// The raised alarms, at most one of each kind.
    #[must_use]
    pub fn all(&self) -> Vec<Alarm> {
        self.lock().values().cloned().collect()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<AlarmKind, Alarm>> {
        // A panic cannot interrupt a change half way.
        self.raised.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Merges `alarms`: of each kind the one that was raised first.
pub(crate) fn merged(alarms: impl IntoIterator<Item = Alarm>) -> Vec<Alarm> {
    let mut by_kind: BTreeMap<AlarmKind, Alarm> = BTreeMap::new();
    for alarm in alarms {
        let first = by_kind.get(&alarm.kind).is_none_or(|known| alarm.since < known.since);
        if first {
            by_kind.insert(alarm.kind, alarm);
        }
    }
    by_kind.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::{AlarmKind, Alarms, merged};

    #[test]
    fn an_alarm_is_raised_since_its_first_reason_and_ends_once() {
        let alarms = Alarms::default();
        alarms.raise(AlarmKind::Settling, "first", &"/path: first");
        let first = alarms.all();
        alarms.raise(AlarmKind::Settling, "second", &"/path: second");
        let second = alarms.all();
        assert_eq!(second.len(), 1);
        assert_eq!((second[0].since, &*second[0].reason), (first[0].since, "second"));
        assert_eq!(second[0].to_string(), "settling: second");
        alarms.clear(AlarmKind::Settling);
        alarms.clear(AlarmKind::Settling);
        assert!(alarms.all().is_empty());
    }

    #[test]
    fn of_several_alarms_of_one_kind_the_first_counts() {
        let (one, other) = (Alarms::default(), Alarms::default());
        one.raise(AlarmKind::NoSpace, "one", &"");
        other.raise(AlarmKind::NoSpace, "other", &"");
        other.raise(AlarmKind::ReadOnly, "third", &"");
        let both = merged(other.all().into_iter().chain(one.all()));
        let reasons: Vec<_> = both.iter().map(|alarm| &*alarm.reason).collect();
        assert_eq!(reasons, ["one", "third"]);
    }

    #[test]
    fn the_names_are_in_order_and_one_for_each() {
        let names = AlarmKind::ALL.map(AlarmKind::name);
        assert!(names.is_sorted_by(|one, next| one < next));
        assert!(AlarmKind::ALL.is_sorted());
    }
}

//! The state of the member in use, read every second: its size, its alarms, and that it answers.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use planesmith_store::{AlarmKind, Alarms};
use tonic::Request;

use crate::client::{Client, send};
use crate::failure::Failure;
use crate::protocol::maintenance::{STATUS, Status, StatusAnswer};

const INTERVAL: Duration = Duration::from_secs(1);

/// Maximum time until a member answers. A connection that was cut without a word is noticed by this.
const STATUS_TIMEOUT: Duration = Duration::from_secs(2);

/// A member may be without a leader while one is elected.
const MAX_PROBES_WITHOUT_LEADER: u32 = 2;

/// The state of the cluster when a member last reported it.
#[derive(Clone, Default)]
pub(crate) struct Report {
    size: Arc<AtomicU64>,
    pub(crate) alarms: Alarms,
}

impl Report {
    /// Bytes on disk of one member; 0 before the first report.
    pub(crate) fn size(&self) -> u64 {
        self.size.load(Ordering::Relaxed)
    }

    fn update(&self, status: &StatusAnswer) {
        self.size.store(status.db_size.max(0).unsigned_abs(), Ordering::Relaxed);
        let has = |alarm: &str| status.errors.iter().any(|error| error.contains(alarm));
        self.set(
            AlarmKind::NoSpace,
            has("alarm:NOSPACE"),
            "etcd has no space: its quota is used up",
            status,
        );
        self.set(
            AlarmKind::ReadOnly,
            has("alarm:CORRUPT"),
            "etcd reports corrupt data",
            status,
        );
    }

    fn set(&self, kind: AlarmKind, is_raised: bool, reason: &str, status: &StatusAnswer) {
        match is_raised {
            true => self.alarms.raise(kind, reason, &status.errors.join("; ")),
            false => self.alarms.clear(kind),
        }
    }
}

/// Reads the state once.
pub(crate) async fn check(client: &Client, report: &Report) -> Result<StatusAnswer, Failure> {
    let link = client.members.link();
    let sending = tokio::time::timeout(STATUS_TIMEOUT, send(&link, &STATUS, Request::new(Status {})));
    let answered = sending.await.unwrap_or_else(|_| Err(Failure::late()));
    match &answered {
        Ok(status) => report.update(status),
        Err(failure) => {
            client.members.leave(&link, &failure.reason());
            if client.members.count() > 1 {
                client.members.abandon();
            }
        }
    }
    answered
}

/// Reads the state for as long as the task lives; `first` was read before.
pub(crate) async fn run(client: Arc<Client>, report: Report, first: StatusAnswer) {
    let mut without_leader = 0;
    let mut term = first.header.unwrap_or_default().raft_term;
    loop {
        tokio::time::sleep(INTERVAL).await;
        let link = client.members.link();
        let Ok(status) = check(&client, &report).await else {
            continue;
        };
        let at = status.header.unwrap_or_default().raft_term;
        // Requests that were passed on to the leader before are lost with it; members answer them after seconds.
        if at > term {
            tracing::info!(term = at, "etcd has elected a leader");
            client.members.abandon();
        }
        term = term.max(at);
        without_leader = if status.leader == 0 { without_leader + 1 } else { 0 };
        if without_leader >= MAX_PROBES_WITHOUT_LEADER {
            without_leader = 0;
            client.members.leave(&link, "the member knows no leader");
        }
    }
}

#[cfg(test)]
mod tests {
    use planesmith_store::AlarmKind;

    use super::Report;
    use crate::protocol::maintenance::StatusAnswer;

    #[test]
    fn alarms_follow_the_report() {
        let report = Report::default();
        let full = StatusAnswer {
            db_size: 7,
            errors: vec!["memberID:1 alarm:NOSPACE ".to_owned()],
            ..StatusAnswer::default()
        };
        report.update(&full);
        let raised: Vec<_> = report.alarms.all().iter().map(|alarm| alarm.kind).collect();
        assert_eq!((report.size(), raised), (7, vec![AlarmKind::NoSpace]));
        report.update(&StatusAnswer::default());
        assert!(report.alarms.all().is_empty());
    }
}

//! The election of one of several servers on a store, whose controllers work.
//!
//! As in Kubernetes, the leader holds a Lease, which it renews; another server takes it over when it was not renewed for its
//! duration, by its own clock. Writes of controllers wait while their server does not lead, so a server that lost its lease,
//! for example because the store did not answer, goes on when it has it again.

use std::time::Duration;

use http::{Method, StatusCode};
use planesmith_machinery::micro_time::MicroTime;
use planesmith_server::hooks::Hook;
use planesmith_server::shutdown::Shutdown;
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::time::Instant;

use crate::bootstrap::system_namespaces;
use crate::loopback::{Loopback, LoopbackError};
use crate::resource_client::text;
use planesmith_server::task;

/// The time for which a lease is valid after it was renewed, in seconds.
const DURATION: u64 = 15;

/// The time after which a leader that cannot renew its lease stops to lead, well before others take it over.
const DEADLINE: Duration = Duration::from_secs(10);

/// The time between two attempts to take or renew the lease.
const RETRY: Duration = Duration::from_secs(2);

const LEASES: &str = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases";

/// Tells if this server leads; clones tell the same.
#[derive(Clone, Debug)]
pub(crate) struct Leadership {
    leads: watch::Receiver<bool>,
}

impl Leadership {
    /// Returns a leadership that does not begin before the returned hook runs. The lease has the name `name`; `loopback` is the
    /// client of the server itself.
    pub(crate) fn elected(name: &str, loopback: &Loopback) -> (Self, Hook) {
        let (tell, leads) = watch::channel(false);
        let candidate = Candidate {
            loopback: loopback.clone(),
            name: name.to_owned(),
            identity: format!("{}_{}", host(), uuid::Uuid::new_v4()),
            observed: None,
        };
        let hook = Hook::new("start-leader-election", move |shutdown| async move {
            task::spawn(candidate.run(tell, shutdown));
            Ok(())
        });
        (Self { leads }, hook.after(system_namespaces::HOOK))
    }

    /// True while this server leads.
    pub(crate) fn signal(&self) -> watch::Receiver<bool> {
        self.leads.clone()
    }

    /// Waits until this server leads; false if it never will again, because it stops.
    pub(crate) async fn begins(&self) -> bool {
        self.leads.clone().wait_for(|leads| *leads).await.is_ok()
    }
}

fn host() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// A server that wants to lead.
struct Candidate {
    loopback: Loopback,
    name: String,
    /// Unique for each start of a server.
    identity: String,
    /// The last known resourceVersion of the lease, and the time at which it was seen first. Clocks of other servers do not count.
    observed: Option<(String, Instant)>,
}

impl Candidate {
    async fn run(mut self, sender: watch::Sender<bool>, mut shutdown: Shutdown) {
        let mut renewed: Option<Instant> = None;
        loop {
            let begun = Instant::now();
            let deadline = renewed.map_or(begun, |renewed| renewed.max(begun - DEADLINE)) + DEADLINE;
            let holds = tokio::select! {
                () = shutdown.requested() => break,
                holds = tokio::time::timeout_at(deadline, self.attempt()) => holds,
            };
            match holds {
                // It counts from before the request.
                Ok(Ok(true)) => renewed = Some(begun),
                Ok(Ok(false)) => renewed = None,
                // The server stops.
                Ok(Err(LoopbackError::NotReady)) if shutdown.is_requested() => break,
                Ok(Err(error)) => {
                    tracing::warn!(lease = self.name, %error, "the lease of the leader cannot be renewed")
                }
                Err(_) => tracing::warn!(lease = self.name, "the lease of the leader was not renewed in time"),
            }
            self.publish(&sender, renewed.is_some_and(|renewed| renewed.elapsed() < DEADLINE));
            tokio::select! {
                () = shutdown.requested() => break,
                () = tokio::time::sleep(RETRY) => {}
            }
        }
        let led = sender.send_replace(false);
        if led && let Err(error) = self.release().await {
            tracing::debug!(lease = self.name, %error, "the lease of the leader is not released, and expires");
        }
    }

    fn publish(&self, sender: &watch::Sender<bool>, leads: bool) {
        let changed = sender.send_if_modified(|led| std::mem::replace(led, leads) != leads);
        match (changed, leads) {
            (true, true) => tracing::info!(lease = self.name, "this server leads: its controllers work"),
            (true, false) => tracing::warn!(
                lease = self.name,
                "this server does not lead any more: its controllers wait"
            ),
            (false, _) => {}
        }
    }

    /// Takes or renews the lease; false if another server holds it.
    async fn attempt(&mut self) -> Result<bool, LoopbackError> {
        let path = format!("{LEASES}/{}", self.name);
        let now = MicroTime::from(self.loopback.clock().now()).to_string();
        let mut lease = match self.loopback.send(Method::GET, &path, None).await {
            Ok(lease) => lease,
            Err(error) if error.status() == Some(StatusCode::NOT_FOUND) => {
                let lease = self.lease(&now);
                return won(self.loopback.call(Method::POST, LEASES, Some(&lease)).await);
            }
            Err(error) => return Err(error),
        };
        if self.is_held_by_another(&lease, Instant::now()) {
            return Ok(false);
        }
        let spec = &mut lease["spec"];
        if spec["holderIdentity"] != *self.identity {
            spec["leaseTransitions"] = (spec["leaseTransitions"].as_i64().unwrap_or(0) + 1).into();
            spec["acquireTime"] = now.as_str().into();
            spec["holderIdentity"] = self.identity.as_str().into();
        }
        spec["leaseDurationSeconds"] = DURATION.into();
        spec["renewTime"] = now.into();
        won(self.loopback.call(Method::PUT, &path, Some(&lease)).await)
    }

    /// True if another server holds the lease, and has renewed it within its duration.
    fn is_held_by_another(&mut self, lease: &Value, now: Instant) -> bool {
        let version = text(lease, "/metadata/resourceVersion");
        let since = match &self.observed {
            Some((observed, since)) if observed == version => *since,
            _ => {
                self.observed = Some((version.to_owned(), now));
                now
            }
        };
        let holder = text(lease, "/spec/holderIdentity");
        if holder.is_empty() || holder == self.identity {
            return false;
        }
        let seconds = lease["spec"]["leaseDurationSeconds"].as_u64().unwrap_or(DURATION);
        now < since + Duration::from_secs(seconds)
    }

    fn lease(&self, now: &str) -> Value {
        json!({
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": {"name": self.name, "namespace": "kube-system"},
            "spec": {
                "holderIdentity": self.identity, "leaseDurationSeconds": DURATION,
                "acquireTime": now, "renewTime": now, "leaseTransitions": 0,
            },
        })
    }

    /// Gives the lease up, so that another server takes it at once. The last renewal, which the shutdown interrupted, may be
    /// performed meanwhile; then the lease is read again.
    async fn release(&self) -> Result<(), LoopbackError> {
        let path = format!("{LEASES}/{}", self.name);
        loop {
            let mut lease = self.loopback.send(Method::GET, &path, None).await?;
            if lease["spec"]["holderIdentity"] != *self.identity {
                return Ok(());
            }
            let spec = &mut lease["spec"];
            spec["holderIdentity"] = "".into();
            spec["leaseDurationSeconds"] = 1.into();
            if won(self.loopback.call(Method::PUT, &path, Some(&lease)).await)? {
                return Ok(());
            }
        }
    }
}

/// True if the write of the lease was performed, false if another server was faster.
fn won(written: Result<(), LoopbackError>) -> Result<bool, LoopbackError> {
    match written {
        Ok(()) => Ok(true),
        Err(error) if error.status() == Some(StatusCode::CONFLICT) => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use planesmith_machinery::clock::SystemClock;

    use super::*;

    fn candidate() -> Candidate {
        Candidate {
            loopback: Loopback::new(Arc::new(SystemClock)),
            name: "controllers".to_owned(),
            identity: "own".to_owned(),
            observed: None,
        }
    }

    fn lease(version: &str, holder: &str) -> Value {
        json!({
            "metadata": {"resourceVersion": version},
            "spec": {"holderIdentity": holder, "leaseDurationSeconds": 15},
        })
    }

    #[test]
    fn a_lease_is_free_when_it_was_not_renewed_for_its_duration() {
        let (mut candidate, start) = (candidate(), Instant::now());
        let after = |seconds| start + Duration::from_secs(seconds);
        assert!(candidate.is_held_by_another(&lease("1", "other"), start));
        assert!(candidate.is_held_by_another(&lease("1", "other"), after(14)));
        assert!(candidate.is_held_by_another(&lease("2", "other"), after(14)));
        assert!(candidate.is_held_by_another(&lease("2", "other"), after(28)));
        assert!(!candidate.is_held_by_another(&lease("2", "other"), after(29)));
        assert!(
            !candidate.is_held_by_another(&lease("3", ""), after(29)),
            "it was released"
        );
        assert!(!candidate.is_held_by_another(&lease("4", "own"), after(29)));
    }

    #[tokio::test]
    async fn a_server_without_an_answer_does_not_lead() {
        let (tell, leads) = watch::channel(true);
        let leadership = Leadership { leads };
        let (stop, shutdown) = planesmith_server::shutdown::Stop::new();
        let running = tokio::spawn(candidate().run(tell, shutdown));
        // Its loopback is not connected.
        let waiting = leadership.leads.clone().wait_for(|leads| !*leads).await.map(drop);
        waiting.unwrap();
        stop.now();
        running.await.unwrap();
        assert!(!leadership.begins().await, "the server has stopped");
    }
}

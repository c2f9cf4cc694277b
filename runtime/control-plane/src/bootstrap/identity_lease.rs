//! The identity leases of servers: each server holds one, and leases that were not renewed are removed.

use std::sync::Arc;
use std::time::Duration;

use planesmith_machinery::micro_time::MicroTime;
use planesmith_server::hooks::Hook;
use planesmith_server::shutdown::Shutdown;
use planesmith_server::stores::Stores;
use ring::digest::{SHA256, digest};
use serde_json::{Map, Value, json};
use tokio::sync::Mutex;
use tokio::time::error::Elapsed;

use super::Announcement;
use crate::loopback::{Loopback, LoopbackError};
use crate::periodic::{self, Periodic};
use crate::resource_client::{ResourceClient, text};
use planesmith_server::task;

/// The feature gate.
pub(crate) const GATE: &str = "APIServerIdentity";

/// The hook after which the server has its lease.
pub(super) const HOOK: &str = "start-kube-apiserver-identity-lease-controller";

/// The namespace of the leases.
pub(crate) const NAMESPACE: &str = "kube-system";

/// The label of such leases, and its value.
pub(crate) const LABEL: &str = "apiserver.kubernetes.io/identity";
pub(crate) const LABEL_VALUE: &str = "kube-apiserver";

/// The lifetime of a lease, in seconds.
const LIFETIME: i64 = 3600;

/// The longest time that a start or a stop waits for the deletion of the lease, as in kube-apiserver.
const DELETION: Duration = Duration::from_secs(10);

/// The time between two renewals of the server's lease.
const RENEWAL: Duration = Duration::from_secs(10);

/// Returns the hooks that create and renew the server's lease and delete those of crashed servers, and the one that deletes the
/// server's own at the end. `None` for a server without leases.
pub(super) fn hooks(stores: &Stores, loopback: &Loopback, announcement: &Announcement) -> Option<([Hook; 2], Hook)> {
    let leases = ResourceClient::of(stores, loopback, "coordination.k8s.io", "v1", "leases")?;
    let host = own_host();
    let name = lease_name(&host);
    let lease = IdentityLease {
        leases: leases.clone(),
        holder: format!("{name}_{}", uuid::Uuid::new_v4()),
        name,
        host,
        address: announcement.public_address(),
        is_released: Arc::default(),
    };
    let last = lease.clone();
    let hold = Hook::new(HOOK, move |shutdown| async move {
        // The lease of a server that crashed names an address at which none listens any more.
        lease.delete_or_warn().await;
        lease.renew_or_warn().await;
        task::spawn(lease.hold(shutdown));
        Ok(())
    });
    let release = Hook::new("stop-kube-apiserver-identity-lease-controller", move |_| async move {
        last.release().await;
        Ok(())
    });
    let collect = Hook::new(
        "start-kube-apiserver-identity-lease-garbage-collector",
        move |shutdown| async move {
            task::spawn(periodic::run(OldLeases { leases }, shutdown));
            Ok(())
        },
    );
    Some(([hold, collect], release))
}

#[derive(Clone)]
struct IdentityLease {
    leases: ResourceClient,
    name: String,
    holder: String,
    host: String,
    address: String,
    /// True once the server stops. Locked while the lease is renewed or deleted, so that no renewal restores a deleted lease.
    is_released: Arc<Mutex<bool>>,
}

impl IdentityLease {
    async fn hold(self, mut shutdown: Shutdown) {
        loop {
            tokio::select! {
                () = shutdown.requested() => return,
                () = tokio::time::sleep(RENEWAL) => self.renew_or_warn().await,
            }
        }
    }

    async fn renew_or_warn(&self) {
        let is_released = self.is_released.lock().await;
        if *is_released {
            return;
        }
        if let Err(error) = self.renew().await {
            tracing::warn!(%error, "the server's own lease cannot be renewed");
        }
    }

    /// Deletes the lease, and renews it no more.
    async fn release(&self) {
        let release = async {
            let mut is_released = self.is_released.lock().await;
            *is_released = true;
            self.leases.delete(NAMESPACE, &self.name).await
        };
        warn_of(tokio::time::timeout(DELETION, release).await);
    }

    async fn delete_or_warn(&self) {
        let delete = self.leases.delete(NAMESPACE, &self.name);
        warn_of(tokio::time::timeout(DELETION, delete).await);
    }

    async fn renew(&self) -> Result<(), LoopbackError> {
        let now = MicroTime::from(self.leases.clock().now()).to_string();
        let Some(mut lease) = self.leases.get(NAMESPACE, &self.name) else {
            return self.leases.create(&self.lease(&now)).await;
        };
        let wanted = self.lease(&now);
        for map in ["labels", "annotations"] {
            let metadata = lease["metadata"].as_object_mut();
            let Some(have) = metadata.map(|metadata| metadata.entry(map).or_insert_with(|| Map::new().into())) else {
                continue;
            };
            for (key, value) in wanted["metadata"][map].as_object().into_iter().flatten() {
                have[key] = value.clone();
            }
        }
        lease["spec"]["renewTime"] = now.into();
        self.leases.replace(&lease).await
    }

    fn lease(&self, now: &str) -> Value {
        json!({
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": {
                "name": self.name,
                "namespace": NAMESPACE,
                "labels": {LABEL: LABEL_VALUE, "kubernetes.io/hostname": self.host},
                "annotations": {"kubernetes.io/peer-advertise-address": self.address},
            },
            "spec": {"holderIdentity": self.holder, "leaseDurationSeconds": LIFETIME, "renewTime": now},
        })
    }
}

/// Returns the name that identifies this server among several.
pub(crate) fn own_name() -> String {
    lease_name(&own_host())
}

fn own_host() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// Returns the name of the lease of the server on a host, the same at every start.
fn lease_name(host: &str) -> String {
    let digest = digest(&SHA256, host.as_bytes());
    format!("apiserver-{}", base32(&digest.as_ref()[..16]))
}

/// Encodes in base32 (RFC 4648), lower case, without padding.
fn base32(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
    let mut text = String::new();
    let (mut held, mut bits) = (0_u32, 0);
    for byte in bytes {
        held = (held << 8) | u32::from(*byte);
        bits += 8;
        while bits >= 5 {
            bits -= 5;
            text.push(char::from(DIGITS[(held >> bits) as usize & 31]));
        }
    }
    if bits > 0 {
        text.push(char::from(DIGITS[(held << (5 - bits)) as usize & 31]));
    }
    text
}

/// Logs that a deletion failed, or took too long.
fn warn_of(deleted: Result<Result<(), LoopbackError>, Elapsed>) {
    let why = match deleted {
        Ok(Ok(())) => return,
        Ok(Err(error)) => error.to_string(),
        Err(late) => late.to_string(),
    };
    tracing::warn!(why, "the server's own lease cannot be deleted");
}

/// Deletes leases that were not renewed.
struct OldLeases {
    leases: ResourceClient,
}

impl Periodic for OldLeases {
    const NAME: &'static str = "removal of leases of terminated servers";
    const INTERVAL: Duration = Duration::from_secs(3600);

    async fn work(&self) -> Result<(), LoopbackError> {
        let now = MicroTime::from(self.leases.clock().now());
        for lease in self.leases.all(NAMESPACE) {
            if lease["metadata"]["labels"][LABEL] == LABEL_VALUE && is_over(&lease, now) {
                self.leases.delete(NAMESPACE, text(&lease, "/metadata/name")).await?;
            }
        }
        Ok(())
    }
}

/// True if the lease was not renewed in time, or does not say when it was.
fn is_over(lease: &Value, now: MicroTime) -> bool {
    let second = |time: MicroTime| time.timestamp().map(|timestamp| timestamp.as_second());
    let renewed = text(lease, "/spec/renewTime").parse().ok().and_then(second);
    let life = lease["spec"]["leaseDurationSeconds"].as_i64();
    let end = renewed.zip(life).map(|(renewed, life)| renewed.saturating_add(life));
    end.is_none_or(|end| second(now).is_some_and(|now| end < now))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base32_is_that_of_the_standard() {
        for (text, encoded) in [("f", "my"), ("fo", "mzxq"), ("foobar", "mzxw6ytboi")] {
            assert_eq!(base32(text.as_bytes()), encoded);
        }
    }

    #[test]
    fn a_host_has_one_lease() {
        assert_eq!(lease_name("vm"), lease_name("vm"));
        assert_ne!(lease_name("vm"), lease_name("other"));
        assert_eq!(lease_name("vm").len(), "apiserver-".len() + 26);
    }

    #[test]
    fn leases_end_when_they_are_not_renewed() {
        let lease = |renewed: &str| json!({"spec": {"renewTime": renewed, "leaseDurationSeconds": 60}});
        let now: MicroTime = "2026-01-01T00:01:01.000000Z".parse().unwrap();
        assert!(is_over(&lease("2026-01-01T00:00:00.000000Z"), now));
        assert!(!is_over(&lease("2026-01-01T00:00:30.000000Z"), now));
        assert!(is_over(&json!({"spec": {}}), now));
    }
}

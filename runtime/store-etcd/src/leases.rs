//! Leases that several objects share: one each would cost etcd more than the objects.

use std::collections::HashMap;
use std::time::Duration;

use tokio::sync::Mutex;
use tokio::time::Instant;

use crate::client::{Client, QUICK};
use crate::failure::Failure;
use crate::protocol::lease::{GRANT, Grant};

/// The leases that new objects are attached to, by their TTL in seconds.
pub(crate) struct Leases {
    reuse: Duration,
    most_objects: u64,
    open: Mutex<HashMap<i64, Lease>>,
}

#[derive(Clone, Copy, Debug)]
struct Lease {
    id: i64,
    /// The lease ends, if nothing goes wrong.
    end: Instant,
    objects: u64,
}

impl Leases {
    /// Returns leases that take new objects for `reuse`, and `most_objects` at most.
    pub(crate) fn new(reuse: Duration, most_objects: u64) -> Self {
        Self {
            reuse,
            most_objects,
            open: Mutex::default(),
        }
    }

    /// Returns a lease for one object that lasts for `ttl` or a little longer.
    pub(crate) async fn lease(&self, client: &Client, ttl: Duration) -> Result<i64, Failure> {
        let seconds = i64::try_from(ttl.as_secs()).unwrap_or(i64::MAX).max(1);
        let mut open = self.open.lock().await;
        let now = Instant::now();
        open.retain(|_, lease| lease.end > now);
        if let Some(lease) = open.get_mut(&seconds)
            && lease.objects < self.most_objects
            && lease.end >= now + ttl
        {
            lease.objects += 1;
            return Ok(lease.id);
        }
        let extra = self.extra(seconds);
        let granted = client.repeat(&GRANT, Grant { ttl: seconds + extra }, QUICK).await?;
        if extra > 0 {
            let lease = Lease {
                id: granted.id,
                end: now + Duration::from_secs(granted.ttl.max(0).unsigned_abs()),
                objects: 1,
            };
            open.insert(seconds, lease);
        }
        Ok(granted.id)
    }

    /// Uses the lease `id` no more.
    pub(crate) async fn forget(&self, id: i64) {
        self.open.lock().await.retain(|_, lease| lease.id != id);
    }

    /// Returns the seconds by which a lease of `ttl` seconds is longer.
    fn extra(&self, ttl: i64) -> i64 {
        let reuse = i64::try_from(self.reuse.as_secs()).unwrap_or(i64::MAX);
        reuse.min(ttl / 20)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::Leases;

    #[test]
    fn objects_outlive_their_time_by_a_twentieth_at_most() {
        let leases = Leases::new(Duration::from_secs(60), 1000);
        assert_eq!(leases.extra(15), 0);
        assert_eq!(leases.extra(100), 5);
        assert_eq!(leases.extra(3600), 60);
    }
}

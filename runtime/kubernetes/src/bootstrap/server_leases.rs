//! The servers that share the store: each renews a lease under its address, and a lease that is not renewed expires.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use planesmith_store::{Collection, Draft, Expect, ListQuery, NoIndex, Op, Row, Storage, WriteError};
use serde_json::json;

/// The prefix of the leases' keys; kube-apiserver's, so that both can work on one store.
const PREFIX: &str = "/registry/masterleases/";

/// The lifetime of a lease: one and a half times the interval of renewals.
const LIFETIME: Duration = Duration::from_secs(15);

/// The leases of all servers on one store.
#[derive(Clone, Debug)]
pub(super) struct ServerLeases {
    leases: Arc<Collection>,
}

impl ServerLeases {
    pub(super) fn new(storage: &Storage) -> Self {
        Self {
            leases: storage.collection(PREFIX, Arc::new(NoIndex)),
        }
    }

    /// Announces a server at an address.
    pub(super) async fn renew(&self, address: IpAddr) -> Result<(), WriteError> {
        let text = address.to_string();
        let lease = json!({
            "kind": "Endpoints",
            "apiVersion": "v1",
            "metadata": {},
            "subsets": [{"addresses": [{"ip": text}]}],
        });
        let op = Op::Put {
            key: key(address),
            draft: Draft::gapless(lease.to_string().into_bytes()),
            row: Row::default(),
            expect: Expect::Any,
            ttl: Some(LIFETIME),
        };
        self.leases.write(op).await.map(drop)
    }

    /// Removes the server at an address; nothing is done if its lease has expired.
    pub(super) async fn remove_server(&self, address: IpAddr) -> Result<(), WriteError> {
        let op = Op::Delete {
            key: key(address),
            expect: Expect::Any,
            last: None,
        };
        match self.leases.write(op).await {
            Ok(_) | Err(WriteError::Conflict { current: None }) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Returns the addresses of all servers that other machines can reach, sorted as text.
    pub(super) fn addresses(&self) -> Vec<IpAddr> {
        // The newest state is never compacted.
        let entries = self
            .leases
            .list(&ListQuery::all(PREFIX))
            .map(|page| page.entries)
            .unwrap_or_default();
        let addresses = entries
            .iter()
            .filter_map(|entry| entry.key().strip_prefix(PREFIX)?.parse::<IpAddr>().ok());
        // A kube-apiserver without a network has a lease, too, but endpoints cannot have its address.
        addresses.filter(|address| !address.is_loopback()).collect()
    }
}

fn key(address: IpAddr) -> Arc<str> {
    format!("{PREFIX}{address}").into()
}

#[cfg(test)]
mod tests {
    use planesmith_store::{MemoryLog, StorageOptions};

    use super::*;

    #[tokio::test]
    async fn servers_on_one_store_know_each_other() {
        let storage = Storage::open(MemoryLog::new(), &StorageOptions::default()).unwrap();
        let (one, other) = (ServerLeases::new(&storage), ServerLeases::new(&storage));
        let (first, second) = (IpAddr::from([10, 0, 0, 10]), IpAddr::from([10, 0, 0, 9]));
        one.renew(first).await.unwrap();
        other.renew(second).await.unwrap();
        one.renew(IpAddr::from([127, 0, 0, 1])).await.unwrap();
        one.renew(first).await.unwrap();
        assert_eq!(other.addresses(), [first, second]);
        one.remove_server(first).await.unwrap();
        assert_eq!(other.addresses(), [second]);
        one.remove_server(first).await.unwrap();
    }
}

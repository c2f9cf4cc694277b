//! The node ports that all servers on a store have allocated: kube-apiserver's bitmap of the range, changed by transactions.

use std::collections::BTreeSet;
use std::sync::Arc;

use planesmith_api_defs::core::v1::RangeAllocation;
use planesmith_machinery::byte_string::ByteString;
use planesmith_machinery::json;
use planesmith_machinery::object::Resource as _;
use planesmith_machinery::status::{ApiError, ApiResult};
use planesmith_server::stores::{ResourceStore, Stores, row_of};
use planesmith_store::{Draft, Entry, Expect, Op};

use crate::options::PortRange;

/// The name in the key of the bitmap.
const NAME: &str = "servicenodeports";

/// The node ports that all servers on a store have allocated.
#[derive(Clone, Debug)]
pub(super) struct StoredPorts {
    range: PortRange,
    ranges: Arc<ResourceStore>,
}

impl StoredPorts {
    /// Returns the ports in the store; `None` if no other server writes to it.
    pub(super) fn of(stores: &Stores, range: PortRange) -> Option<Self> {
        let is_shared = stores.storage().is_shared();
        is_shared.then(|| Self::new(range, stores.resource(RangeAllocation::RESOURCE)))
    }

    /// Returns the ports whose bitmap is in `ranges`.
    pub(super) fn new(range: PortRange, ranges: Arc<ResourceStore>) -> Self {
        Self { range, ranges }
    }

    /// The store of the bitmap.
    pub(super) fn ranges(&self) -> &Arc<ResourceStore> {
        &self.ranges
    }

    /// Returns the allocated ports, as far as they are known here.
    pub(super) fn known(&self) -> ApiResult<BTreeSet<i32>> {
        self.read(self.entry()?.as_deref())
    }

    /// Changes the allocated ports by `change`, which gets all that are allocated. It is called again whenever another server
    /// has changed them meanwhile, so that what it decides is true.
    ///
    /// # Errors
    ///
    /// Those of `change`, and of the store.
    pub(super) async fn change<T>(&self, mut change: impl FnMut(&mut BTreeSet<i32>) -> ApiResult<T>) -> ApiResult<T> {
        let mut is_fresh = false;
        loop {
            let entry = self.entry()?;
            let before = self.read(entry.as_deref())?;
            let mut after = before.clone();
            let changed = change(&mut after);
            let is_same = entry.is_some() && after == before;
            if !is_fresh && (changed.is_err() || is_same) {
                self.ranges.fresh().await?;
                is_fresh = true;
                continue;
            }
            let result = changed?;
            if is_same || self.write(entry.as_deref(), &after).await? {
                return Ok(result);
            }
        }
    }

    /// Releases `ports`. The repair finds what fails here.
    pub(super) async fn release(&self, ports: &[i32]) {
        if ports.is_empty() {
            return;
        }
        let release = |taken: &mut BTreeSet<i32>| {
            for port in ports {
                taken.remove(port);
            }
            Ok(())
        };
        if let Err(error) = self.change(release).await {
            tracing::warn!(?ports, error = error.message(), "node ports cannot be released");
        }
    }

    fn entry(&self) -> ApiResult<Option<Arc<Entry>>> {
        let key = self.ranges.key("", NAME)?;
        Ok(self.ranges.collection().get(&key))
    }

    fn read(&self, entry: Option<&Entry>) -> ApiResult<BTreeSet<i32>> {
        let Some(entry) = entry else {
            return Ok(BTreeSet::new());
        };
        let unreadable = || ApiError::internal("the allocated node ports cannot be read");
        let stored: RangeAllocation = self.ranges.typed(entry).ok_or_else(unreadable)?;
        // The server that stored it may have had another range.
        let range: PortRange = stored.range.parse().map_err(|_| unreadable())?;
        Ok(ports_of(range, &stored.data))
    }

    /// Stores the allocated ports in place of `entry`; false if another server was faster.
    async fn write(&self, entry: Option<&Entry>, ports: &BTreeSet<i32>) -> ApiResult<bool> {
        let stored = RangeAllocation {
            range: self.range.to_string(),
            data: bitmap_of(self.range, ports),
            ..RangeAllocation::default()
        };
        let encoded = json::encode_for_storage(&stored);
        let op = Op::Put {
            key: self.ranges.key("", NAME)?.into(),
            draft: Draft::new(encoded.bytes, encoded.gap),
            row: row_of(&stored),
            expect: entry.map_or(Expect::Absent, |entry| Expect::Revision(entry.revision())),
            ttl: None,
        };
        self.ranges.write(op).await
    }
}

/// The ports whose bits are set: the bytes are one number, the highest first, and bit 0 is the first port.
fn ports_of(range: PortRange, bitmap: &ByteString) -> BTreeSet<i32> {
    let ports = range.ports();
    let is_set = |offset: usize| {
        let byte = bitmap
            .0
            .len()
            .checked_sub(1 + offset / 8)
            .and_then(|place| bitmap.0.get(place));
        byte.is_some_and(|byte| byte >> (offset % 8) & 1 == 1)
    };
    let all = ports.enumerate().filter(|(offset, _)| is_set(*offset));
    all.map(|(_, port)| i32::from(port)).collect()
}

/// The bitmap of those of `ports` that are in `range`, without leading zero bytes.
fn bitmap_of(range: PortRange, ports: &BTreeSet<i32>) -> ByteString {
    let mut bytes = vec![0_u8; range.ports().len().div_ceil(8)];
    for (offset, port) in range.ports().enumerate() {
        if ports.contains(&i32::from(port)) {
            let place = bytes.len() - 1 - offset / 8;
            bytes[place] |= 1 << (offset % 8);
        }
    }
    let first = bytes.iter().position(|byte| *byte != 0).unwrap_or(bytes.len());
    ByteString(bytes.split_off(first))
}

#[cfg(test)]
mod tests {
    use planesmith_machinery::scheme::Scheme;
    use planesmith_store::backend::Backend;
    use planesmith_store::conformance::{REGISTRY, SeveralWriters};
    use planesmith_store::{Storage, StorageOptions};

    use super::super::node_ports::NodePorts;
    use super::*;

    #[test]
    fn the_bitmap_is_that_of_kube_apiserver() {
        let range = PortRange::new(30_000, 32_767).unwrap();
        assert!(bitmap_of(range, &BTreeSet::new()).0.is_empty());
        let ports = BTreeSet::from([30_000, 30_009, 32_767, 99]);
        let bitmap = bitmap_of(range, &ports);
        assert_eq!(bitmap.0.len(), 346);
        assert_eq!((bitmap.0[0], bitmap.0[344], bitmap.0[345]), (0x80, 2, 1));
        assert_eq!(ports_of(range, &bitmap), BTreeSet::from([30_000, 30_009, 32_767]));
        let few = bitmap_of(range, &BTreeSet::from([30_009]));
        assert_eq!(few.0, [2, 0]);
        assert_eq!(ports_of(range, &few), BTreeSet::from([30_009]));
    }

    async fn server(backend: &SeveralWriters, range: PortRange) -> StoredPorts {
        let backend: Arc<dyn Backend> = Arc::new(backend.clone());
        let storage = Storage::connect(backend, REGISTRY, &StorageOptions::default()).await;
        let mut scheme = Scheme::new();
        scheme.add::<RangeAllocation>();
        StoredPorts::of(&Stores::new(storage.unwrap(), Arc::new(scheme)), range).unwrap()
    }

    #[tokio::test]
    async fn two_servers_give_no_port_twice() {
        let backend = SeveralWriters::default();
        let range = PortRange::new(30_000, 30_039).unwrap();
        let (one, other) = (server(&backend, range).await, server(&backend, range).await);
        let take = |ports: &mut BTreeSet<i32>| {
            let all = NodePorts::holding(range, ports.clone());
            let port = all.take_any().map_err(ApiError::internal)?;
            *ports = all.all();
            Ok(port)
        };
        let mut given = BTreeSet::new();
        for _ in 0..20 {
            let (first, second) = tokio::join!(one.change(take), other.change(take));
            assert!(given.insert(first.unwrap()) && given.insert(second.unwrap()));
        }
        assert!(one.change(take).await.is_err(), "all are taken");
        other.release(&[30_007, 30_008]).await;
        let mut again = BTreeSet::from([one.change(take).await.unwrap(), one.change(take).await.unwrap()]);
        assert_eq!(again, BTreeSet::from([30_007, 30_008]));
        again.extend(given);
        assert_eq!(other.change(|ports| Ok(ports.clone())).await.unwrap(), again);
    }

    #[tokio::test]
    async fn another_range_keeps_the_ports_that_it_has() {
        let backend = SeveralWriters::default();
        let [old, new] = [(30_000, 30_009), (30_005, 30_020)].map(|(first, last)| PortRange::new(first, last).unwrap());
        let insert = |ports: &mut BTreeSet<i32>| Ok(ports.insert(30_003) && ports.insert(30_007));
        server(&backend, old).await.change(insert).await.unwrap();
        let server = server(&backend, new).await;
        server.change(|ports| Ok(ports.insert(30_020))).await.unwrap();
        assert_eq!(server.known().unwrap(), BTreeSet::from([30_007, 30_020]));
    }
}

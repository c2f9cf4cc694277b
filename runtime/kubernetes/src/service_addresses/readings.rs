//! The numbers of allocated and free addresses and ports, for metrics.

use std::sync::Weak;

use planesmith_machinery::ip;
use planesmith_server::metrics::{AllocatorReadings, RangeReading};
use planesmith_server::stores::ResourceStore;
use planesmith_store::ListQuery;

use super::addresses::pools_of;
use super::node_ports::NodePorts;
use super::stored_ports::StoredPorts;

/// Reads the numbers when the metrics are rendered. The metrics belong to the stores, so it keeps none of these alive.
pub(super) struct Readings {
    pub(super) taken: Weak<ResourceStore>,
    pub(super) ranges: Weak<ResourceStore>,
    pub(super) ports: NodePorts,
    /// The ports that all servers have allocated.
    pub(super) stored_ports: Option<Weak<ResourceStore>>,
}

impl AllocatorReadings for Readings {
    fn addresses(&self) -> Vec<RangeReading> {
        let (Some(taken), Some(ranges)) = (self.taken.upgrade(), self.ranges.upgrade()) else {
            return Vec::new();
        };
        let collection = taken.collection();
        let entries = collection.list(&ListQuery::all(collection.prefix()));
        let entries = entries.map(|page| page.entries).unwrap_or_default();
        let names = entries.iter().map(|entry| taken.names(entry.key()).1);
        let addresses: Vec<_> = names.filter_map(ip::parse).collect();
        let reading = |pool: super::pool::Pool| {
            let allocated = addresses.iter().filter(|address| pool.contains(**address)).count();
            let allocated = i64::try_from(allocated).unwrap_or(i64::MAX);
            RangeReading {
                cidr: pool.range().to_string(),
                allocated,
                available: i64::try_from(pool.size()).unwrap_or(i64::MAX) - allocated,
            }
        };
        pools_of(&ranges).into_iter().map(reading).collect()
    }

    fn ports(&self) -> (i64, i64) {
        let allocated = match &self.stored_ports {
            None => self.ports.all().len(),
            Some(ranges) => {
                let known = ranges
                    .upgrade()
                    .map(|ranges| StoredPorts::new(self.ports.range(), ranges).known());
                // A bitmap that cannot be read is reported by the repair.
                known.and_then(Result::ok).map_or(0, |ports| ports.len())
            }
        };
        let all = self.ports.range().ports().len();
        let number = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
        (number(allocated), number(all.saturating_sub(allocated)))
    }
}

//! Seeds that the plugin has decrypted.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::data_key::DataKey;
use super::envelope::SeedId;

/// Time after its last use for which a seed is kept.
const LIFE: Duration = Duration::from_secs(24 * 60 * 60);

#[derive(Default)]
pub(super) struct Seeds {
    by_id: HashMap<SeedId, Seed>,
}

struct Seed {
    key: Arc<DataKey>,
    used: Instant,
}

impl Seeds {
    pub(super) fn get(&mut self, id: &SeedId) -> Option<Arc<DataKey>> {
        let seed = self.by_id.get_mut(id)?;
        seed.used = Instant::now();
        Some(Arc::clone(&seed.key))
    }

    pub(super) fn has(&self, id: &SeedId) -> bool {
        self.by_id.contains_key(id)
    }

    pub(super) fn insert(&mut self, id: SeedId, key: Arc<DataKey>) {
        let used = Instant::now();
        self.by_id.insert(id, Seed { key, used });
    }

    /// Drops the seeds that were not used for a day.
    pub(super) fn expire(&mut self) {
        self.by_id.retain(|_, seed| seed.used.elapsed() < LIFE);
    }
}

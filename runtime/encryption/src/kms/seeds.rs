//! Seeds that the plugin has decrypted.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::data_key::DataKey;
use super::envelope::SeedId;

/// Time after its last use for which a seed is cached.
const TTL: Duration = Duration::from_secs(24 * 60 * 60);

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

    /// True if the seed is cached. Its value is read next, so it counts as used.
    pub(super) fn has(&mut self, id: &SeedId) -> bool {
        self.get(id).is_some()
    }

    pub(super) fn insert(&mut self, id: SeedId, key: Arc<DataKey>) {
        let used = Instant::now();
        self.by_id.insert(id, Seed { key, used });
    }

    /// Drops the seeds that were not used for a day before `now`. The one that writes, `writer`, is in use.
    pub(super) fn expire(&mut self, writer: Option<&SeedId>, now: Instant) {
        if let Some(seed) = writer.and_then(|id| self.by_id.get_mut(id)) {
            seed.used = now;
        }
        self.by_id
            .retain(|_, seed| now.saturating_duration_since(seed.used) < TTL);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_seed_that_writes_never_expires() {
        let (writer, other) = ([1; 32], [2; 32]);
        let mut seeds = Seeds::default();
        for id in [writer, other] {
            seeds.insert(id, Arc::new(DataKey::new(&id, true).unwrap()));
        }
        let now = Instant::now();
        seeds.expire(Some(&writer), now + TTL / 2);
        seeds.expire(Some(&writer), now + 2 * TTL);
        assert!(seeds.by_id.contains_key(&writer) && !seeds.by_id.contains_key(&other));
        // After a rotation it was in use until then.
        seeds.expire(Some(&other), now + 2 * TTL + TTL / 2);
        assert!(seeds.by_id.contains_key(&writer));
        seeds.expire(Some(&other), now + 3 * TTL);
        assert!(seeds.by_id.is_empty());
    }
}

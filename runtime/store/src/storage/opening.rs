//! The loaded states of a collection that is opened.

use std::sync::Arc;

use super::{Shared, Storage};
use crate::committer::Expiry;
use crate::compression::Compressor;
use crate::log::{Author, Record};
use crate::unclaimed::Unclaimed;
use crate::values::Values;
use crate::{Collection, Entry, Indexer, Revision};

impl Storage {
    /// Decodes the states under `prefix` that a backend in which others write has stored. Changes are applied meanwhile: nothing is
    /// locked while values are decrypted.
    pub(super) fn decode_stored(
        &self,
        prefix: &str,
        read: (&dyn Indexer, &Values),
        compressor: &Compressor,
    ) -> Vec<Arc<Entry>> {
        if self.shared.collections.get(prefix).is_some() {
            return Vec::new();
        }
        let records = self.shared.unclaimed().states_under(prefix);
        let mut compressor = compressor.of_thread();
        let decode = |record: Record| {
            let entry = Entry::decoded(&record.key, record.revision, &record.bytes, read);
            Arc::new(entry.compressed_in(&mut compressor))
        };
        records.into_iter().map(decode).collect()
    }

    /// Fetches what opening the loaded values under `prefix` needs from elsewhere: the keys may have changed since they were loaded.
    pub(super) fn prepare(&self, prefix: &str) {
        let Some(transformers) = &self.shared.transformers else {
            return;
        };
        // Not locked while it waits.
        let preparation = transformers.prepare(&mut self.shared.unclaimed().values_under(prefix));
        if let Some(preparation) = preparation {
            preparation.wait();
        }
    }

    /// The values with keys under `prefix`, which may be a whole key.
    pub(super) fn values(&self, prefix: &str) -> Values {
        let Shared {
            transformers,
            stored_keys,
            ..
        } = &*self.shared;
        Values::new(prefix, transformers.as_ref(), stored_keys.as_ref())
    }

    /// Moves the states of `collection` into it. States that a program like this one has written are not decoded. Returns those
    /// that expire.
    pub(super) fn claim(&self, unclaimed: &mut Unclaimed, collection: &Arc<Collection>) -> Vec<Expiry> {
        let (log, prefix) = (&self.shared.log, collection.prefix());
        let fingerprint = collection.indexer().fingerprint();
        let known = log.author(prefix).filter(|author| Some(author.program) == fingerprint);
        let claimed = unclaimed.claim(collection, known.map(|author| author.after));
        if let Some(program) = fingerprint {
            let after = match claimed.is_current {
                true => Revision::ZERO,
                false => known.map_or(self.revision(), |author| author.after),
            };
            let author = Author { program, after };
            self.shared.authorship.begin(collection, author, claimed.states);
        }
        claimed.expiring
    }
}

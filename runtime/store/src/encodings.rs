//! Encodings beside the canonical one: computed on first use, shared, dropped when their memory is needed.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError, Weak};

use bytes::Bytes;

/// Identifies an encoding; the caller assigns the numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct EncodingId(pub u32);

impl EncodingId {
    /// The same number among those of frames, which are beside the encodings of their entry.
    pub(crate) fn of_frame(self) -> Self {
        debug_assert!(self.0 & Self::FRAME == 0, "callers assign few numbers");
        Self(self.0 | Self::FRAME)
    }

    const FRAME: u32 = 1 << 31;
}

/// Maximum bytes of the derived encodings of a store.
const BUDGET: usize = 8 << 20;

/// The same for small encodings, which readers of many entries use.
const SMALL_BUDGET: usize = 16 << 20;

/// The memory for derived encodings of the entries and events of one store. Callers pass it to each use, so that entries
/// need no reference to their store.
#[derive(Debug)]
pub struct EncodingCache {
    /// The budget of encodings.
    pub(crate) common: Budget,
    /// The budget of small encodings.
    pub(crate) small: Budget,
}

impl Default for EncodingCache {
    /// 8 MiB for encodings, and 16 MiB for small ones.
    fn default() -> Self {
        Self {
            common: Budget::new(BUDGET),
            small: Budget::new(SMALL_BUDGET),
        }
    }
}

/// The derived encodings of an entry, and the frames of its event: one lock and one pointer when unused.
#[derive(Debug, Default)]
pub(crate) struct Encodings {
    slot: Mutex<Option<Box<CachedEncodings>>>,
}

#[derive(Debug)]
struct CachedEncodings {
    encodings: Vec<(EncodingId, Bytes)>,
    /// True if it was used since the budget last checked.
    hot: AtomicBool,
}

/// An owner of encodings, which the budget can drop.
pub(crate) trait Holder: Send + Sync {
    fn encodings(&self) -> &Encodings;
}

impl Encodings {
    /// The encoding `id`, computed if it is not cached. A failure is not cached.
    ///
    /// No lock is held while it is computed, because that may take long and may need another caller of the same
    /// encoding: concurrent callers each compute their own, and the first one is cached.
    pub(crate) fn get<E>(
        &self,
        holder: impl FnOnce() -> Weak<dyn Holder>,
        id: EncodingId,
        budget: &Budget,
        make: impl FnOnce() -> Result<Bytes, E>,
    ) -> Result<Bytes, E> {
        if let Some(bytes) = self.cached(id) {
            return Ok(bytes);
        }
        let made = make()?;
        let mut slot = self.lock();
        let cached = slot.get_or_insert_with(|| {
            Box::new(CachedEncodings {
                encodings: Vec::with_capacity(1),
                hot: AtomicBool::new(false),
            })
        });
        if let Some(bytes) = cached.find(id) {
            return Ok(bytes);
        }
        cached.encodings.push((id, made.clone()));
        // The budget locks slots, so it is called without this slot's lock.
        drop(slot);
        budget.admit(Ticket {
            holder: holder(),
            id,
            size: made.len(),
        });
        Ok(made)
    }

    /// The encoding `id`, if it is cached.
    pub(crate) fn cached(&self, id: EncodingId) -> Option<Bytes> {
        self.lock().as_ref().and_then(|cached| cached.find(id))
    }

    fn lock(&self) -> MutexGuard<'_, Option<Box<CachedEncodings>>> {
        // A panic cannot interrupt a change of the slot.
        self.slot.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Drops the encoding `id`, unless it was used since the last call or its slot is locked.
    fn release(&self, id: EncodingId) -> bool {
        // The whole store shares the budget's lock, so it waits for no other lock.
        let mut slot = match self.slot.try_lock() {
            Ok(slot) => slot,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return false,
        };
        let Some(cached) = slot.as_mut() else {
            return true;
        };
        if cached.hot.swap(false, Ordering::Relaxed) {
            return false;
        }
        Self::forget(&mut slot, id);
        true
    }

    /// Drops the encoding `id`, even if it is in use.
    fn drop_encoding(&self, id: EncodingId) {
        // The slot's lock is only held for a moment.
        Self::forget(&mut self.lock(), id);
    }

    fn forget(slot: &mut Option<Box<CachedEncodings>>, id: EncodingId) {
        if let Some(cached) = slot {
            cached.encodings.retain(|(known, _)| *known != id);
            if cached.encodings.is_empty() {
                *slot = None;
            }
        }
    }
}

impl CachedEncodings {
    /// The encoding `id`, which counts as used by this.
    fn find(&self, id: EncodingId) -> Option<Bytes> {
        let (_, bytes) = self.encodings.iter().find(|(known, _)| *known == id)?;
        self.hot.store(true, Ordering::Relaxed);
        Some(bytes.clone())
    }
}

/// First in, first out, with a second chance for encodings that were used meanwhile.
#[derive(Debug)]
pub(crate) struct Budget {
    /// Maximum bytes.
    limit: usize,
    queue: Mutex<(VecDeque<Ticket>, usize)>,
}

#[derive(Debug)]
struct Ticket {
    holder: Weak<dyn Holder>,
    id: EncodingId,
    size: usize,
}

impl Budget {
    fn new(limit: usize) -> Self {
        Self {
            limit,
            queue: Mutex::default(),
        }
    }

    fn admit(&self, ticket: Ticket) {
        let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        let (tickets, total) = &mut *queue;
        *total += ticket.size;
        tickets.push_back(ticket);
        // Each ticket gets at most one second chance per admission.
        let mut chances = tickets.len();
        while *total > self.limit
            && let Some(oldest) = tickets.pop_front()
        {
            let released = match oldest.holder.upgrade() {
                Some(holder) if chances > 0 => holder.encodings().release(oldest.id),
                Some(holder) => {
                    holder.encodings().drop_encoding(oldest.id);
                    true
                }
                None => true,
            };
            if released {
                *total -= oldest.size;
            } else {
                chances -= 1;
                tickets.push_back(oldest);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::sync::Arc;

    use super::*;
    use crate::{Entry, RowRef};

    /// If a lock were held meanwhile, the readers that wait for it would block all workers, and with them the one that
    /// has it.
    #[test]
    fn readers_whose_encodings_wait_for_each_other_get_on_with_few_workers() {
        const READERS: usize = 5;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .build()
            .unwrap();
        let entry = Arc::new(Entry::unstored("/a", Bytes::from_static(b"{}"), RowRef::default()));
        let all = Arc::new(tokio::sync::Barrier::new(READERS));
        let cache = Arc::new(EncodingCache::default());
        let (done, outcome) = std::sync::mpsc::channel();
        for _ in 0..READERS {
            let (entry, all, done) = (Arc::clone(&entry), Arc::clone(&all), done.clone());
            let cache = Arc::clone(&cache);
            runtime.spawn(async move {
                let made = entry.encoding(&cache, EncodingId(1), |_| {
                    tokio::task::block_in_place(|| tokio::runtime::Handle::current().block_on(all.wait()));
                    Ok::<_, Infallible>(Bytes::from_static(b"made"))
                });
                let _ = done.send(made);
            });
        }
        for _ in 0..READERS {
            let made = outcome.recv_timeout(std::time::Duration::from_secs(20));
            assert_eq!(
                made,
                Ok(Ok(Bytes::from_static(b"made"))),
                "readers wait for each other for ever"
            );
        }
        let kept = entry.encoding(&cache, EncodingId(1), |_| Err(()));
        assert_eq!(kept, Ok(Bytes::from_static(b"made")));
        runtime.shutdown_background();
    }

    #[test]
    fn a_failed_encoding_is_tried_again() {
        let entry = Arc::new(Entry::unstored("/a", Bytes::from_static(b"{}"), RowRef::default()));
        let (cache, id) = (EncodingCache::default(), EncodingId(1));
        assert_eq!(entry.encoding(&cache, id, |_| Err("no")), Err("no"));
        assert_eq!(
            entry.encoding(&cache, id, |_| Ok::<_, &str>(Bytes::new())),
            Ok(Bytes::new())
        );
        assert_eq!(entry.encoding(&cache, id, |_| Err("no")), Ok(Bytes::new()));
    }

    #[test]
    fn an_encoding_that_leaves_the_budget_leaves_its_entry() {
        let entry = || Arc::new(Entry::unstored("/a", Bytes::from_static(b"{}"), RowRef::default()));
        let (cache, budget) = (EncodingCache::default(), Budget::new(BUDGET));
        let entries = [entry(), entry()];
        for entry in &entries {
            let made = entry.encoding(&cache, EncodingId(1), |_| {
                Ok::<_, Infallible>(Bytes::from_static(b"made"))
            });
            assert!(made.is_ok());
            // All encodings are in use all the time.
            assert!(entry.encodings().cached(EncodingId(1)).is_some());
            let holder: Weak<dyn Holder> = Arc::downgrade(&(Arc::clone(entry) as Arc<dyn Holder>));
            budget.admit(Ticket {
                holder,
                id: EncodingId(1),
                size: BUDGET / 2 + 1,
            });
            let _ = entry.encodings().cached(EncodingId(1));
        }
        let kept = entries
            .iter()
            .filter(|entry| entry.encodings().cached(EncodingId(1)).is_some())
            .count();
        let (tickets, total) = &*budget.queue.lock().unwrap();
        assert_eq!((kept, tickets.len(), *total), (1, 1, BUDGET / 2 + 1));
    }

    #[test]
    fn stores_do_not_take_each_others_memory() {
        let entry = || Arc::new(Entry::unstored("/a", Bytes::from_static(b"{}"), RowRef::default()));
        let large = |_: &Entry| Ok::<_, Infallible>(vec![0; BUDGET / 2 + 1].into());
        let (own, other) = (EncodingCache::default(), EncodingCache::default());
        let entries = [entry(), entry(), entry()];
        for (entry, cache) in entries.iter().zip([&own, &other, &other]) {
            entry.encoding(cache, EncodingId(1), large).unwrap();
        }
        let cached = entries.map(|entry| entry.cached_encoding(EncodingId(1)).is_some());
        // The second store had no memory for both of its encodings.
        assert_eq!(cached, [true, false, true]);
    }
}

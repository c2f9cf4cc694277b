//! How many large bodies are worked on at a time.

use planesmith_machinery::room::room_for;
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::aside::LARGE;

const MIB: usize = 1 << 20;
/// Memory for the objects of all large bodies, in MiB: five bodies of the largest size, or a hundred and more of the smallest
/// that count.
const TOTAL: usize = 1024;

/// Room for what large bodies are decoded to. Hundreds of writes may be in flight, and each byte of a body may take tens
/// in memory.
#[derive(Debug)]
pub(crate) struct LargeBodies(Semaphore);

impl Default for LargeBodies {
    fn default() -> Self {
        Self(Semaphore::new(TOTAL))
    }
}

impl LargeBodies {
    /// Waits until there is room for a body of `size` bytes, which is taken until the result is dropped; none for a small
    /// one. Who came first goes first.
    pub(crate) async fn room(&self, size: usize) -> Option<SemaphorePermit<'_>> {
        if size < LARGE {
            return None;
        }
        let wanted = (room_for(size) / MIB).min(TOTAL);
        // The semaphore is never closed.
        self.0.acquire_many(u32::try_from(wanted).ok()?).await.ok()
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    #[test]
    fn large_bodies_wait_for_each_other_and_small_ones_do_not() {
        let bodies = LargeBodies::default();
        let mut rooms = Vec::new();
        while let Some(room) = bodies.room(3 * MIB).now_or_never() {
            rooms.push(room.expect("a large body"));
        }
        assert_eq!(rooms.len(), 5);
        assert!(bodies.room(1000).now_or_never().is_some_and(|room| room.is_none()));
        rooms.pop();
        assert!(bodies.room(3 * MIB).now_or_never().is_some());
        assert!(bodies.room(usize::MAX / 1000).now_or_never().is_none());
    }
}

//! The unsent bytes of a watch.

use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;

use bytes::Bytes;
use futures_util::task::AtomicWaker;

/// Maximum unsent bytes of one watch for which it creates further frames. One chunk of the usual size mostly reaches
/// it, so that the next one waits until it was sent.
const MAX_UNSENT: usize = 8 << 10;

/// Counts the bytes of one watch from their creation until its connection has written and dropped them.
#[derive(Clone, Debug, Default)]
pub(super) struct Unsent(Arc<Count>);

#[derive(Debug, Default)]
struct Count {
    bytes: AtomicUsize,
    watch: AtomicWaker,
}

/// An unsent chunk.
struct Underway {
    chunk: Bytes,
    unsent: Unsent,
}

impl Unsent {
    /// The same bytes, counted until they are dropped.
    pub(super) fn count(&self, chunk: Bytes) -> Bytes {
        self.0.bytes.fetch_add(chunk.len(), Ordering::Relaxed);
        Bytes::from_owner(Underway {
            chunk,
            unsent: self.clone(),
        })
    }

    /// True if all bytes were written.
    pub(super) fn is_empty(&self) -> bool {
        self.0.bytes.load(Ordering::Acquire) == 0
    }

    /// True if further frames may be created.
    pub(super) fn has_room(&self) -> bool {
        self.0.bytes.load(Ordering::Acquire) < MAX_UNSENT
    }

    /// Returns once further frames may be created.
    pub(super) async fn writable(&self) {
        poll_fn(|cx| {
            if self.has_room() {
                return Poll::Ready(());
            }
            self.0.watch.register(cx.waker());
            match self.has_room() {
                true => Poll::Ready(()),
                false => Poll::Pending,
            }
        })
        .await;
    }
}

impl AsRef<[u8]> for Underway {
    fn as_ref(&self) -> &[u8] {
        &self.chunk
    }
}

impl Drop for Underway {
    fn drop(&mut self) {
        let count = &self.unsent.0;
        let before = count.bytes.fetch_sub(self.chunk.len(), Ordering::AcqRel);
        if before >= MAX_UNSENT && before - self.chunk.len() < MAX_UNSENT {
            count.watch.wake();
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    #[tokio::test]
    async fn there_is_room_again_once_chunks_are_dropped() {
        let unsent = Unsent::default();
        assert!(unsent.is_empty() && unsent.has_room());
        let chunk = Bytes::from(vec![b'x'; MAX_UNSENT / 2]);
        let (first, second) = (unsent.count(chunk.clone()), unsent.count(chunk.clone()));
        assert_eq!(first.as_ptr(), chunk.as_ptr(), "nothing is copied");
        assert!(!unsent.is_empty() && !unsent.has_room());
        assert!(unsent.writable().now_or_never().is_none());
        let waits = tokio::spawn({
            let unsent = unsent.clone();
            async move { unsent.writable().await }
        });
        tokio::task::yield_now().await;
        let part = first.slice(..1);
        drop(first);
        assert!(!unsent.has_room(), "a part is still there");
        drop(part);
        waits.await.expect("no panic");
        drop(second);
        assert!(unsent.is_empty());
    }
}

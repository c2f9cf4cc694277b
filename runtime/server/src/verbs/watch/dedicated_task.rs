//! Body chunks that are created in a task of their own.

use std::pin::pin;

use crate::task;
use futures_core::Stream;
use futures_util::{StreamExt as _, stream};
use tokio::sync::mpsc;

/// Returns the same chunks, one of which is created ahead.
///
/// The chunks of most watches are created in the task of their connection. Those of kinds with a converter block a
/// thread until it has answered, and nothing else on the connection must wait for that. The task ends when the result
/// is dropped.
pub(super) fn run<T: Send + 'static>(chunks: impl Stream<Item = T> + Send + 'static) -> impl Stream<Item = T> + Send {
    let (sender, receiver) = mpsc::channel(1);
    task::spawn(async move {
        let mut chunks = pin!(chunks);
        loop {
            let chunk = tokio::select! {
                chunk = chunks.next() => chunk,
                () = sender.closed() => return,
            };
            let Some(chunk) = chunk else {
                return;
            };
            if sender.send(chunk).await.is_err() {
                return;
            }
        }
    });
    stream::unfold(receiver, |mut receiver| async move {
        let chunk = receiver.recv().await?;
        Some((chunk, receiver))
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[tokio::test]
    async fn everything_arrives_in_order() {
        let chunks = run(stream::iter(0..100));
        assert_eq!(chunks.collect::<Vec<_>>().await, (0..100).collect::<Vec<_>>());
    }

    #[tokio::test]
    async fn frames_without_a_reader_are_dropped() {
        let kept = Arc::new(());
        let held = Arc::clone(&kept);
        let endless = stream::pending::<()>().inspect(move |()| drop(Arc::clone(&held)));
        drop(Box::pin(run(endless)));
        while Arc::strong_count(&kept) > 1 {
            tokio::task::yield_now().await;
        }
    }
}

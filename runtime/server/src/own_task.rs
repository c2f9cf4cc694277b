//! Work in a task of its own.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::task;
use tokio::task::JoinHandle;

/// Work that may take long or block a thread; aborted when this is dropped.
#[derive(Debug)]
pub struct OwnTask<T>(JoinHandle<T>);

impl<T: Send + 'static> OwnTask<T> {
    /// Begins `work`.
    pub fn run(work: impl Future<Output = T> + Send + 'static) -> Self {
        Self(task::spawn(work))
    }
}

impl<T> Future for OwnTask<T> {
    /// `None` when the work panicked.
    type Output = Option<T>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<T>> {
        Pin::new(&mut self.0).poll(cx).map(Result::ok)
    }
}

impl<T> Drop for OwnTask<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::oneshot;

    use super::*;

    #[tokio::test]
    async fn work_that_nobody_waits_for_ends() {
        let (sender, receiver) = oneshot::channel::<()>();
        let work = OwnTask::run(async move {
            std::future::pending::<()>().await;
            drop(sender);
        });
        drop(work);
        assert!(receiver.await.is_err(), "the work is dropped");
    }

    #[tokio::test]
    async fn a_panic_in_there_is_no_answer() {
        assert!(
            OwnTask::run(async { panic!("on purpose") })
                .await
                .is_none_or(|()| false)
        );
    }
}

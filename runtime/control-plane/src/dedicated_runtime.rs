//! A dedicated runtime, for answers that must come whatever else the server does, also where nothing can be awaited.

use std::sync::{Arc, OnceLock, mpsc};

use tokio::runtime::{Builder, Handle, Runtime, RuntimeFlavor};
use tokio::task::JoinSet;

/// A runtime beside that of the process, on which no task blocks; cheap to clone. Its thread starts with its first work, and ends
/// with the last clone.
#[derive(Clone, Debug, Default)]
pub struct DedicatedRuntime(Arc<Started>);

#[derive(Debug, Default)]
struct Started(OnceLock<Result<Runtime, String>>);

impl DedicatedRuntime {
    /// Blocks until `work` is done. It runs on the dedicated runtime, so it progresses however many threads of the server
    /// are blocked here.
    ///
    /// The calling thread passes its tasks on to other threads meanwhile, if the runtime has several.
    ///
    /// # Errors
    ///
    /// If the work cannot be done, because no thread can be started for it or because it panicked.
    pub fn block_on<T: Send + 'static>(&self, work: impl Future<Output = T> + Send + 'static) -> Result<T, String> {
        let (answer, answered) = mpsc::sync_channel(1);
        self.handle()?.spawn(async move {
            // The caller is waiting.
            let _ = answer.send(work.await);
        });
        let wait = || {
            answered
                .recv()
                .map_err(|_| "the work was cancelled or panicked".to_owned())
        };
        match Handle::try_current().map(|here| here.runtime_flavor()) {
            Ok(RuntimeFlavor::MultiThread) => tokio::task::block_in_place(wait),
            _ => wait(),
        }
    }

    /// As [`block_on`](Self::block_on), for callers that can await. Work is cancelled when its future is dropped.
    ///
    /// # Errors
    ///
    /// As [`block_on`](Self::block_on).
    pub async fn run<T: Send + 'static>(&self, work: impl Future<Output = T> + Send + 'static) -> Result<T, String> {
        let mut only = JoinSet::new();
        only.spawn_on(work, self.handle()?);
        let done = only.join_next().await.and_then(Result::ok);
        done.ok_or_else(|| "the work was cancelled or panicked".to_owned())
    }

    fn handle(&self) -> Result<&Handle, String> {
        let start = || {
            let mut runtime = Builder::new_multi_thread();
            runtime.worker_threads(1).thread_name("dedicated").enable_all();
            runtime.build().map_err(|error| error.to_string())
        };
        match self.0.0.get_or_init(start) {
            Ok(runtime) => Ok(runtime.handle()),
            Err(error) => Err(error.clone()),
        }
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        if let Some(Ok(runtime)) = self.0.take() {
            // The last clone may be dropped in a task, where nothing can wait for the thread.
            runtime.shutdown_background();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use tokio::sync::Barrier;

    use super::*;

    #[test]
    fn blocked_callers_may_outnumber_the_workers() {
        const READERS: usize = 6;
        let runtime = Builder::new_multi_thread().worker_threads(2).build().unwrap();
        let dedicated = DedicatedRuntime::default();
        let all = Arc::new(Barrier::new(READERS));
        let (done, outcome) = mpsc::channel();
        for _ in 0..READERS {
            let (all, done, dedicated) = (Arc::clone(&all), done.clone(), dedicated.clone());
            runtime.spawn(async move {
                let waited = dedicated.block_on(async move { all.wait().await.is_leader() });
                let _ = done.send(waited);
            });
        }
        for _ in 0..READERS {
            assert!(matches!(outcome.recv_timeout(Duration::from_secs(20)), Ok(Ok(_))));
        }
        runtime.shutdown_background();
    }

    #[test]
    fn a_single_threaded_runtime_can_block() {
        let runtime = Builder::new_current_thread().build().unwrap();
        let dedicated = DedicatedRuntime::default();
        let waited = runtime.block_on(async { dedicated.block_on(std::future::ready(7)) });
        assert_eq!(waited, Ok(7));
        assert_eq!(dedicated.block_on(std::future::ready(8)), Ok(8));
    }

    #[tokio::test]
    async fn work_is_cancelled_when_its_future_is_dropped() {
        let dedicated = DedicatedRuntime::default();
        assert_eq!(dedicated.run(std::future::ready(7)).await, Ok(7));
        let (held, gone) = tokio::sync::oneshot::channel::<()>();
        let work = dedicated.run(async move {
            let _held = held;
            std::future::pending::<()>().await;
        });
        let mut work = Box::pin(work);
        tokio::select! {
            biased;
            _ = &mut work => panic!("it never ends"),
            () = tokio::task::yield_now() => {}
        }
        drop(work);
        assert!(gone.await.is_err());
    }

    #[tokio::test]
    async fn the_thread_ends_with_the_last_clone() {
        let (held, released) = tokio::sync::oneshot::channel::<()>();
        let dedicated = DedicatedRuntime::default();
        let other = dedicated.clone();
        dedicated.handle().unwrap().spawn(async move {
            let _held = held;
            std::future::pending::<()>().await;
        });
        drop(dedicated);
        assert_eq!(other.run(std::future::ready(7)).await, Ok(7));
        drop(other);
        assert!(released.await.is_err());
    }
}

//! Runs work on a dedicated runtime, for answers that must come whatever else the server does, also where nothing can
//! be awaited.

use std::sync::{OnceLock, mpsc};

use tokio::runtime::{Builder, Handle, Runtime, RuntimeFlavor};
use tokio::task::JoinSet;

/// Blocks until `work` is done. It runs on a dedicated runtime, so it progresses however many threads of the server
/// are blocked here.
///
/// The calling thread passes its tasks on to other threads meanwhile, if the runtime has several.
///
/// # Errors
///
/// If the work cannot be done, because no thread can be started for it or because it panicked.
pub fn block_on<T: Send + 'static>(work: impl Future<Output = T> + Send + 'static) -> Result<T, String> {
    let (answer, answered) = mpsc::sync_channel(1);
    runtime()?.spawn(async move {
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

/// As [`block_on`], for callers that can await. Work is cancelled when its future is dropped.
///
/// # Errors
///
/// As [`block_on`].
pub async fn run<T: Send + 'static>(work: impl Future<Output = T> + Send + 'static) -> Result<T, String> {
    let mut only = JoinSet::new();
    only.spawn_on(work, runtime()?.handle());
    let done = only.join_next().await.and_then(Result::ok);
    done.ok_or_else(|| "the work was cancelled or panicked".to_owned())
}

fn runtime() -> Result<&'static Runtime, String> {
    static RUNTIME: OnceLock<Result<Runtime, String>> = OnceLock::new();
    let start = || {
        let mut runtime = Builder::new_multi_thread();
        runtime.worker_threads(1).thread_name("dedicated").enable_all();
        runtime.build().map_err(|error| error.to_string())
    };
    RUNTIME.get_or_init(start).as_ref().map_err(Clone::clone)
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
        let all = Arc::new(Barrier::new(READERS));
        let (done, outcome) = mpsc::channel();
        for _ in 0..READERS {
            let (all, done) = (Arc::clone(&all), done.clone());
            runtime.spawn(async move {
                let waited = block_on(async move { all.wait().await.is_leader() });
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
        let waited = runtime.block_on(async { block_on(std::future::ready(7)) });
        assert_eq!(waited, Ok(7));
        assert_eq!(block_on(std::future::ready(8)), Ok(8));
    }

    #[tokio::test]
    async fn work_is_cancelled_when_its_future_is_dropped() {
        assert_eq!(run(std::future::ready(7)).await, Ok(7));
        let (held, gone) = tokio::sync::oneshot::channel::<()>();
        let work = run(async move {
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
}

//! Tasks.

use std::future::Future;
use std::pin::Pin;

use tokio::task::JoinHandle;

/// Starts a task on the current runtime.
///
/// All tasks that start here have one type. Tokio compiles some 20 functions for each type of task, once per scheduler, which takes
/// more space and time to build than most tasks themselves.
///
/// # Panics
///
/// Outside a runtime.
pub fn spawn<T: Send + 'static>(work: impl Future<Output = T> + Send + 'static) -> JoinHandle<T> {
    let work: Pin<Box<dyn Future<Output = T> + Send>> = Box::pin(work);
    tokio::spawn(work)
}

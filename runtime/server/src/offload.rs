//! Expensive work, run outside of the runtime's workers.
//!
//! The runtime has as few workers as the machine has cores, and a worker that computes answers no other request. Work
//! of [`Cost::INLINE`] or more therefore runs with its thread taken out of the runtime, so that other tasks continue.
//! [`Offload`] bounds how many threads do so at once, and how many requests wait for one: the kernel always has time
//! left for the workers, which answer health checks and small requests.

mod cost;
mod lane;
mod turns;

use std::sync::Arc;
use std::thread::available_parallelism;

#[cfg(test)]
use futures_util::FutureExt as _;
use planesmith_access::user::UserInfo;
use tokio::runtime::{Handle, RuntimeFlavor};

pub(crate) use cost::Cost;
pub(crate) use turns::{Permit, Turns};

use lane::Lane;

/// Runs expensive work of all requests of a server: a few pieces at once, the waiting users in rotation.
///
/// Short and long pieces have threads of their own, so that a piece of milliseconds never waits for one of seconds.
#[derive(Debug)]
pub(crate) struct Offload {
    short: Arc<Lane>,
    long: Arc<Lane>,
}

impl Default for Offload {
    fn default() -> Self {
        Self::new(available_parallelism().map_or(2, usize::from))
    }
}

impl Offload {
    /// Returns an offload for a machine of `cores`: one thread per core, and two at least, for short pieces, half as
    /// many for long ones.
    pub(crate) fn new(cores: usize) -> Self {
        Self {
            short: Lane::new(cores.max(2)),
            long: Lane::new((cores / 2).max(1)),
        }
    }

    /// The turns of one request of `user`.
    pub(crate) fn turns(self: &Arc<Self>, user: &UserInfo) -> Turns {
        Turns::new(Arc::clone(self), user)
    }

    fn lane(&self, cost: Cost) -> &Arc<Lane> {
        match cost.is_long() {
            true => &self.long,
            false => &self.short,
        }
    }
}

#[cfg(test)]
impl Offload {
    /// Takes all threads for short pieces until the result is dropped.
    pub(crate) fn occupy(&self) -> Box<dyn Send> {
        let free = || self.short.enter(u64::MAX, false).now_or_never();
        Box::new(std::iter::from_fn(free).collect::<Vec<_>>())
    }
}

/// Runs `work`, and moves the other tasks of this thread elsewhere meanwhile, if the runtime can do so.
pub fn block_in_place<T>(work: impl FnOnce() -> T) -> T {
    let mut work = Some(work);
    let mut done = None;
    run_in_place(&mut || done = work.take().map(|work| work()));
    done.expect("the work was run")
}

/// Compiled once for all kinds of work.
fn run_in_place(work: &mut dyn FnMut()) {
    let flavor = Handle::try_current().map(|runtime| runtime.runtime_flavor());
    match matches!(flavor, Ok(RuntimeFlavor::MultiThread)) {
        true => tokio::task::block_in_place(work),
        false => work(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use tokio::runtime::Builder;

    use super::*;

    #[test]
    fn the_only_worker_is_free_while_expensive_work_goes_on() {
        for cost in [Cost::INLINE, Cost::LONG] {
            let runtime = Builder::new_multi_thread()
                .worker_threads(1)
                .build()
                .expect("a runtime");
            let turns = Arc::new(Offload::new(1)).turns(&UserInfo::default());
            let (let_go, held) = mpsc::channel::<()>();
            let expensive = runtime.spawn(async move {
                turns
                    .run(cost, move || held.recv_timeout(Duration::from_secs(20)).is_ok())
                    .await
            });
            runtime.spawn(async move { let_go.send(()) });
            assert!(
                runtime
                    .block_on(expensive)
                    .expect("no panic")
                    .expect("nobody else waits")
            );
        }
    }

    #[test]
    fn threads_without_other_tasks_do_the_work_themselves() {
        assert_eq!(block_in_place(|| 1), 1);
        let runtime = Builder::new_current_thread().build().expect("a runtime");
        assert_eq!(runtime.block_on(async { block_in_place(|| 2) }), 2);
    }
}

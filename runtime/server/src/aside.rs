//! Work that may keep a thread for long.

use tokio::runtime::{Handle, RuntimeFlavor};

/// Bytes from which on work is done aside. Whatever is done with fewer is done within milliseconds.
pub(crate) const LARGE: usize = 64 << 10;

/// Does `work`, which is about `size` bytes of documents.
///
/// When that may take long, the other tasks of this thread go on elsewhere meanwhile, where the runtime can do so: no
/// number of large requests keeps others, health checks and leases among them, from being answered.
pub(crate) fn aside<T>(size: usize, work: impl FnOnce() -> T) -> T {
    let multi_threaded = || {
        let here = Handle::try_current().map(|here| here.runtime_flavor());
        matches!(here, Ok(RuntimeFlavor::MultiThread))
    };
    match size >= LARGE && multi_threaded() {
        true => tokio::task::block_in_place(work),
        false => work(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use super::*;

    #[test]
    fn the_only_worker_is_free_while_large_work_goes_on() {
        let mut builder = tokio::runtime::Builder::new_multi_thread();
        let runtime = builder.worker_threads(1).build().expect("a runtime");
        let (let_go, held) = mpsc::channel::<()>();
        let large = runtime.spawn(async move { aside(LARGE, || held.recv_timeout(Duration::from_secs(20)).is_ok()) });
        runtime.spawn(async move { let_go.send(()) });
        assert!(runtime.block_on(large).expect("no panic"));
    }

    #[test]
    fn threads_without_others_do_it_themselves() {
        assert_eq!(aside(LARGE, || 1), 1);
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .expect("a runtime");
        assert_eq!(runtime.block_on(async { aside(LARGE, || 2) }), 2);
    }
}

//! The memory backend, and the engine's behaviour with any backend.

#![allow(clippy::unwrap_used, reason = "a panic is how a test reports")]

mod claimed;
mod compressed;
mod crowd;
mod faults;
mod model;
mod transformed;

mod memory {
    use planesmith_store::MemoryLog;

    planesmith_store::suite!({
        let log = MemoryLog::new();
        move || Box::new(log.clone()) as Box<dyn planesmith_store::log::Log>
    });
}

/// The same when older history is read back.
mod memory_with_history {
    use planesmith_store::MemoryLog;

    planesmith_store::suite!({
        let log = MemoryLog::new().keeping_history();
        move || Box::new(log.clone()) as Box<dyn planesmith_store::log::Log>
    });
}

/// The guarantees of a store in which others write, too, on the backend of the suite.
mod shared {
    planesmith_store::shared_suite!();
}

//! The memory backend, and what the engine does whatever the backend.

mod memory {
    use planesmith_store::MemoryLog;

    planesmith_store::suite!({
        let log = MemoryLog::new();
        move || Box::new(log.clone()) as Box<dyn planesmith_store::log::Log>
    });
}

//! Revisions, the store contract, the engine, the cache and the memory backend.

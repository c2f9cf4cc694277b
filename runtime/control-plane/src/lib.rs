//! The core server, its options and the chain.

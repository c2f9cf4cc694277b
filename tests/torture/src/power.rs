//! A simulated disk, which decides the bytes of a traced process that survive a loss of power.
//!
//! A child process works under `strace`. From the trace, the disk knows at each moment which bytes have reached the
//! disk, those that `fsync` and `fdatasync` covered, and any part of the rest. The observations of the clients are in the
//! same trace, so it is also known what had been answered by then.

pub(crate) mod disk;
pub(crate) mod trace;

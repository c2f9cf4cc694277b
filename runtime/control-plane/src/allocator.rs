//! The memory allocator.

use tikv_jemallocator::Jemalloc;

/// The allocator of every program that runs a control plane.
///
/// Beside the C library's it takes a fifth off the processor time of a write, which makes and drops hundreds of small
/// texts. Among those that do, it is the one that gives back what a burst took: a definition of 300 KB is tens of
/// megabytes while it is checked, on whichever thread does it. Its settings are compiled into it, by `.cargo/config.toml`:
/// one thread of its own returns memory that nobody used for a second. Where they are not, it keeps more for longer.
#[global_allocator]
static ALLOCATOR: Jemalloc = Jemalloc;

//! The memory allocator.

/// The type of [`ALLOCATOR`].
#[cfg(feature = "jemalloc")]
pub type Allocator = tikv_jemallocator::Jemalloc;

/// The type of [`ALLOCATOR`].
#[cfg(not(feature = "jemalloc"))]
pub type Allocator = std::alloc::System;

/// The allocator for programs that run a control plane, which `main` installs: a process has one.
///
/// It is that of the system, or jemalloc with the feature `jemalloc`. Compared with the C library's, jemalloc saves a fifth of the
/// processor time of a write, which allocates and frees hundreds of short texts, and costs a minute when everything is built anew.
/// Among the fast ones, it is the one that returns memory after a burst: a definition of 300 KB takes tens of megabytes while it
/// is checked, on any thread. Its settings are compiled into it, by `.cargo/config.toml`: a background thread returns memory that
/// was unused for a second. Without those settings, it retains more for longer.
#[cfg(feature = "jemalloc")]
pub const ALLOCATOR: Allocator = tikv_jemallocator::Jemalloc;

/// The allocator of the system. Programs under load have the feature `jemalloc`, with which this is jemalloc.
#[cfg(not(feature = "jemalloc"))]
pub const ALLOCATOR: Allocator = std::alloc::System;

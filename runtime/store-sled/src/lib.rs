//! The embedded store: a checksummed journal in front of sled databases that are written once.
//!
#![doc = include_str!("../FORMAT.md")]

mod disk;
mod folder;
mod frame;
mod generation;
mod journal;
mod log;
mod merge;
mod space;
mod worker;

#[doc(hidden)]
pub use disk::SyncFault;
pub use folder::lock;
pub use log::SledLog;

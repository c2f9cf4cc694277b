//! The embedded store: a checksummed journal, and the state before it.
//!
//! The crate has its name from the database that it was planned on; below is why it does without.
//!
#![doc = include_str!("../FORMAT.md")]

mod folder;
mod frame;
mod journal;
mod log;
mod merge;
mod space;
mod state;

pub use log::SledLog;

//! The embedded store: a checksummed journal in front, sled behind it.
//!
#![doc = include_str!("../FORMAT.md")]

mod folder;
mod journal;
mod log;
mod settled;
mod space;

pub use log::SledLog;

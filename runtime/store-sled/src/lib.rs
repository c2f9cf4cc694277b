//! The embedded store: a checksummed journal in front of sled databases that are written once.
//!
#![doc = include_str!("../FORMAT.md")]

mod authors;
mod changes;
mod checksummed;
mod disk;
mod errors;
mod file_system;
mod folder;
mod format;
mod frame;
mod generation;
mod history;
mod inspection;
mod journal;
mod loading;
mod log;
mod merge;
mod random;
mod settling;
mod space;
mod split;
mod state;
mod worker;

#[doc(hidden)]
pub use disk::{CutWrite, DiskFault};
pub use folder::lock;
pub use inspection::{InspectedFile, Inspection, LostState, UnnamedLoss, known_revision};
pub use log::SledLog;
#[doc(hidden)]
pub use space::{DiskSize, Meter};

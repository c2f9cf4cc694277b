//! The storage of objects: revisions, the store contract, the engine, and the cache that serves reads.
//!
//! A [`Storage`] is an embedded store on a [`log::Log`]: it loads the content of the log, and one thread orders all
//! writes (group commit: durable before visible, visible before acknowledged). Its [`Collection`]s answer reads from
//! memory, wire first: an [`Entry`] is the bytes that clients receive and the [`Row`] that selectors read. Recent
//! changes are cached as [`Event`]s, shared by all [`Watcher`]s and by lists at older revisions.
//!
//! Collections know only a [`Sequencer`], so the same cache serves a store elsewhere, in which others write, too: a
//! [`backend::Backend`], which [`Storage::connect`] follows.
//!
//! This crate knows nothing of the meaning of the bytes, nor of kinds, HTTP or the syntax of selectors.

mod alarm;
mod authorship;
pub mod backend;
mod backup;
mod collection;
mod collections;
mod committer;
mod compactor;
mod compression;
#[cfg(feature = "conformance")]
pub mod conformance;
mod draft;
mod encodings;
mod entry;
mod event;
mod history;
mod key;
pub mod log;
mod memory;
mod options;
mod progress;
mod remote;
mod revision;
mod revision_window;
mod row;
mod settler;
mod storage;
mod subscribers;
mod transfer;
mod transformer;
mod unclaimed;
mod values;
mod watcher;
mod write;

pub use alarm::{Alarm, AlarmKind, Alarms};
pub use backup::{BackupEncoder, BackupError, BackupHeader, BackupReader};
pub use collection::{
    At, Collection, CollectionSize, CollectionStats, Compacted, ListQuery, Page, Sequencer, Submission,
};
pub use draft::Draft;
pub use encodings::{EncodingCache, EncodingId};
pub use entry::{Entry, SchemaEpoch};
pub use event::{Event, EventKind};
pub use history::Position;
pub use memory::MemoryLog;
pub use options::{HistoryLimits, StorageOptions};
pub use planesmith_clock::{Clock, ManualClock, SystemClock};
pub use progress::{OnProgress, Progress};
pub use remote::Stale;
pub use revision::Revision;
pub use revision_window::RevisionWindow;
pub use row::{Decoded, Indexer, Loaded, NoIndex, Row, RowRef, StoredForm};
pub use storage::{OpenError, Rewritten, StaleObjects, Storage, StorageContent, StorageStats};
pub use subscribers::{ChangeSignal, WakeGroup};
pub use transfer::{
    Amount, Fidelity, Ledger, LoadedSource, LogTarget, Mismatch, OnAmount, RevisionShift, Source, Target,
    TransferError, transfer,
};
pub use transformer::{
    ENCRYPTED, PlainValue, Preparation, Reason, TransformError, Transformer, Transformers, is_encrypted,
};
pub use watcher::{WatchError, WatchFrom, Watcher};
pub use write::{CLOSED_MEANWHILE, Expect, Op, WriteError, WriteResult, Written};

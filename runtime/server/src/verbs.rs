//! The verbs of objects: one file per verb, all of them over the tables of the kinds.
//!
//! Reading order: [`get`] and [`list`] (from the cache), [`watch`] (changes as they happen), [`create`] and [`update`]
//! (the steps of every write, in [`write`]), then the verbs that build on them.

mod apply;
mod continue_token;
mod create;
mod decode;
mod delete;
mod delete_collection;
mod get;
mod list;
pub(crate) mod options;
mod owners;
mod patch;
mod scale;
pub(crate) mod selection;
mod submission;
mod update;
mod watch;
mod write;

pub use submission::{Posted, Submission};
pub(crate) use write::store_failure;

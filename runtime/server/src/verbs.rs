//! The verbs of objects: one file per verb, all of them over the tables of the kinds.
//!
//! Reading order: `dispatch` (finds the verb of a request), `get` and `list` (from the cache), `watch` (changes as
//! they happen), `create` and `update` (over the steps of `crate::write`), then the verbs that build on them.

mod apply;
mod computed;
mod continue_token;
mod create;
mod delete;
mod delete_collection;
mod dispatch;
mod finalize;
mod get;
mod list;
mod object_part;
mod patch;
mod responder;
mod scale;
mod selection;
mod submission;
mod update;
mod watch;

pub use crate::representation::check_changed_kind;
pub use finalize::Finalize;
pub use object_part::ObjectPart;
pub use responder::Responder;
pub use scale::{scale_of, set_replicas};
pub use submission::{AcceptedKinds, Submission};

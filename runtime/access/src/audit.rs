//! Audit: the record of requests, as `audit.k8s.io/v1` describes it.
//!
//! Reading order: [`Level`] and [`Stage`], [`Policy`] (decides how much of a request is recorded), [`Event`] (the record of one
//! stage), [`Annotations`] (the notes of other parts of the server) and [`Sink`] (receives events). Nothing here knows files or other servers.

mod annotations;
mod event;
mod level;
mod managed_fields;
mod policy;
mod sink;

pub use annotations::Annotations;
pub use event::{Event, ObjectReference, encode_both, legacy_line};
pub use level::{Level, Stage, Stages};
pub use managed_fields::without_managed_fields;
pub use policy::{AuditDecision, Policy, PolicyError};
pub use sink::{Failed, Recording, Sink};

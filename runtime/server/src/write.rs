//! The way of a write: a pipeline whose steps are types.
//!
//! A value of a step's type proves that the step and all before it were done: each is made of the one before only. One
//! file has one step:
//!
//! | File | Type | Step |
//! | --- | --- | --- |
//! | [`body`] | [`SentBody`] | The body is read, within its limit. |
//! | [`decoded`] | [`Decoded`] | It is an object of the expected kind, in the version of the request. |
//! | [`defaulted`] | [`Defaulted`] | The object is that of the path, and has its defaults. |
//! | [`tracked`] | [`Tracked`] | Managed fields are updated; the object is in the version that the write works on. |
//! | [`mutated`] | [`Mutated`] | The mutating admission plugins have changed it. |
//! | [`validated`] | [`Validated`] | Fields that the client cannot set are restored ([`prepared`]); the rest is valid. |
//! | [`admitted`] | [`Admitted`] | The validating admission plugins have accepted it. |
//! | [`encoded`] | [`Encoded`] | It is encoded in the storage version, as an operation of the store. |
//! | [`committed`] | [`Committed`] | The store has performed the operation, or a dry run has ended before it. |
//!
//! Managed fields come before admission, as in kube-apiserver: a change by a plugin belongs to the client whose request
//! it changed.
//!
//! A create takes the steps once ([`creation`]). An update, a patch or an apply takes those up to [`Defaulted`] for each
//! state of the object that it meets, until no other writer comes between ([`change`]). [`request`] is the running
//! write, which all steps read: the request, its options and its field manager.

mod admitted;
mod body;
mod change;
mod committed;
mod creation;
mod decoded;
mod defaulted;
mod encoded;
mod expected;
mod mutated;
mod owners;
mod part;
mod plugins;
mod prepared;
mod replicas;
mod request;
mod tracked;
mod validated;

#[cfg(test)]
mod tests;

pub(crate) use self::body::SentBody;
pub(crate) use self::change::{Change, Make};
pub(crate) use self::committed::Committed;
pub(crate) use self::decoded::{Decoded, Decoder};
pub(crate) use self::defaulted::Defaulted;
pub(crate) use self::encoded::Encoded;
pub(crate) use self::expected::{Expected, Mismatch, is_of_machinery, mismatch, missing_kind};
pub(crate) use self::mutated::Mutated;
pub(crate) use self::part::{Part, PartStrategy};
pub(crate) use self::replicas::{find_replicas, replicas_at};
pub(crate) use self::request::Write;

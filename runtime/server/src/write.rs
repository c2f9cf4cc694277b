//! The write pipeline: its steps are types.
//!
//! A value of a step's type proves that the step and all before it were done. Only the file of a step makes values of its
//! type, and out of the type of the step before:
//!
//! | File | Type | Step |
//! | --- | --- | --- |
//! | [`body`] | [`SentBody`] | The body is read, within its limit. |
//! | [`decoded`] | [`Decoded`] | It is an object of the expected kind, in the version of the request. |
//! | [`defaulted`] | [`Defaulted`] | The object is that of the path, and has its defaults. |
//! | [`tracked`] | [`Tracked`](tracked::Tracked) | Managed fields are updated. |
//! | [`working`] | [`Working`](working::Working) | The object is in the version that the write works on. |
//! | [`mutated`] | [`Mutated`](mutated::Mutated) | The mutating admission plugins have changed it. |
//! | [`identified`] | [`Identified`](identified::Identified) | A new object has UID, creation time and name; a changed one replaces the state that its client means. |
//! | [`reserved`] | [`Reserved`](reserved::Reserved) | It has what it takes from a pool, such as addresses. |
//! | [`validated`] | [`Validated`](validated::Validated) | Fields that the client cannot set are restored ([`prepared`]); the rest is valid. |
//! | [`admitted`] | [`Admitted`](admitted::Admitted) | The validating admission plugins have accepted it. |
//! | [`storable`] | [`Storable`](storable::Storable) | It is in the storage version, as clients will read it. |
//! | [`encoded`] | [`Encoded`] | It is encoded, as an operation of the store. |
//! | [`committed`] | [`Committed`] | The store has performed the operation, or a dry run has ended before it. |
//!
//! From [`tracked`] to [`storable`] the types have a parameter, the [purpose](candidate::Purpose) of the write: to create an
//! object, or to change a state of an existing one. The steps of the one cannot continue those of the other.
//!
//! Managed fields come before admission, as in kube-apiserver: a change by a plugin belongs to the client whose request
//! it changed.
//!
//! A create takes the steps once ([`creation`]), except that a generated name that is taken repeats those from
//! [`identified`] on. An update is decoded and defaulted once, and takes the others for each state of the object that it
//! meets, until no other writer comes between ([`change`], [`attempt`]). A patch, an apply and a Scale start from such a state, and
//! turn it into a [`Defaulted`] without a [`Decoded`].
//!
//! Objects that are answered and not stored end with [`mutated`]: their handlers check them. A deletion has no new object;
//! its steps in front of [`encoded`] are in [`deletion`]. An object that cannot be read is removed without any of them.
//!
//! [`request`] is the running write, which all steps read: the request, its options and its field manager. [`document_facts`] is
//! what a new object does not show of its document, and goes with it until the object is valid.

mod admitted;
mod attempt;
mod body;
mod candidate;
mod change;
mod committed;
mod creation;
mod decoded;
mod defaulted;
mod deletion;
mod document_facts;
mod encoded;
mod identified;
mod mutated;
mod owners;
mod part;
mod plugins;
mod prepared;
mod request;
mod reserved;
mod storable;
mod tracked;
mod validated;
mod working;

#[cfg(test)]
mod tests;

pub(crate) use self::attempt::{Attempt, Attempts};
pub(crate) use self::body::SentBody;
pub(crate) use self::change::{Change, Make};
pub(crate) use self::committed::Committed;
pub(crate) use self::decoded::{Decoded, Decoder};
pub(crate) use self::defaulted::Defaulted;
pub(crate) use self::deletion::AdmittedDeletion;
pub(crate) use self::document_facts::DocumentFacts;
pub(crate) use self::encoded::Encoded;
pub(crate) use self::part::{Part, PartStrategy};
pub(crate) use self::request::Write;

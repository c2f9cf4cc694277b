//! Admission that stored objects configure: webhooks and policies.
//!
//! Reading order, groundwork first: [`Request`] (a request as webhooks and policies see it), [`Target`] (the version in which
//! they see it) and [`Equivalents`] (the other versions of a resource); then the parts of a match: [`rules`] and
//! [`Selectors`]; [`documents`] (objects in the version of a target) and [`WorkingObject`] (the new object while others
//! change it); `evaluation` (their expressions, and decisions of the authorizer for them). [`Sources`] are the parts of a server that
//! all of them need.
//!
//! A program lists [`COMPONENT`] to have the plugins, which take their places in its list of admission plugins.

mod component;
pub mod documents;
mod equivalents;
mod evaluation;
mod policy;
mod reinvocation;
mod request;
pub mod rules;
mod selectors;
mod sources;
mod target;
mod webhook;
mod working_object;

pub use component::COMPONENT;
pub use equivalents::Equivalents;
pub use request::Request;
pub use selectors::{ObjectLabels, Selectors};
pub use sources::{Sources, store_of};
pub use target::Target;
pub use working_object::WorkingObject;

/// The group of configurations and policies.
pub const GROUP: &str = "admissionregistration.k8s.io";

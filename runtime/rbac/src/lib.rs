//! Role-based access control: the authorizer of the mode RBAC, and everything that its kinds do beyond being stored.
//!
//! Reading order: [`COMPONENT`], which a program lists to have all of this; `stored_policy` (the stored roles and bindings as a
//! policy, which a request after a write sees), `authorizer` (the mode), `escalation` (writes that would give away more than
//! their user has), `default_roles` (made at start), `cluster_role_aggregation` (the controller), and `reviews` (kinds that are
//! questions to the server about users and their access). The decisions themselves are in
//! `planesmith_access::authorization::rbac`. This crate must not know other kinds than roles, bindings and reviews.

mod authorizer;
mod cluster_role_aggregation;
mod component;
mod default_roles;
mod escalation;
mod policy_kinds;
mod reviews;
mod stored_policy;

pub use component::COMPONENT;

/// The group of roles and bindings.
const GROUP: &str = "rbac.authorization.k8s.io";

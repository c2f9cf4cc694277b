//! Role-based access control: decisions by roles and their bindings.
//!
//! Reading order: [`Rule`] (a permission), [`Role`] (permissions under a name), [`Binding`] (gives a role to subjects),
//! [`Policy`] (all of them, indexed by subject), `escalation` (a user may not give away more than they have), `explanation` (the
//! bindings, roles and rules that decide). A policy is immutable once it is published; its clones share what did not change, so a
//! change costs little, however many bindings there are.

mod action;
mod binding;
mod escalation;
mod explanation;
mod permissions;
mod policy;
mod role;
mod rule;
mod sharded;
mod subject_grants;
mod user_grants;
mod verb_set;

pub use self::action::Action;
pub use self::binding::{Binding, Grant, RoleKind, RoleRef, Subject, SubjectKind};
pub use self::escalation::{escalation, uncovered};
pub use self::explanation::{Candidate, Explanation, Permitted};
pub use self::policy::Policy;
pub use self::role::Role;
pub use self::rule::Rule;

#[cfg(test)]
mod tests;

//! Who asks, and what they may do.
//!
//! Reading order: [`user`] (who), [`authentication`] (from credentials to a user), [`authorization`] (from a user and
//! an action to a decision). Nothing here knows a route, a store or a kind.

pub mod authentication;
pub mod authorization;
pub mod user;

//! Who asks, and what they may do.
//!
//! Reading order: [`user`] (who), [`authentication`] (from credentials to a user), [`authorization`] (from a user and
//! an action to a decision), [`admission`] (what plugins make of a write); and [`upgrade`], requests that go on in another
//! protocol, which may carry their credentials elsewhere. Nothing here knows a route or a store.

pub mod admission;
pub mod authentication;
pub mod authorization;
pub mod upgrade;
pub mod user;

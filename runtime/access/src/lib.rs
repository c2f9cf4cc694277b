//! Authentication, authorization and admission.
//!
//! Reading order: [`user`] (the identity of a client), [`authentication`] (maps credentials to a user), [`authorization`]
//! (decides about a user's actions), [`admission`] (plugins that change or refuse writes); and [`upgrade`], requests that
//! switch to another protocol, which may carry their credentials elsewhere; [`outcome`], results that may have to be waited for; and [`secret`], the
//! comparison of secrets. This crate knows neither routes nor stores, and opens no connections.

pub mod admission;
pub mod audit;
pub mod authentication;
pub mod authorization;
pub mod outcome;
pub mod secret;
pub mod upgrade;
pub mod user;

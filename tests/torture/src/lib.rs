//! The torture of stores: random histories, crashes, losses of power and faults, and the checks of what a store promises.
//!
//! Clients and watches work on an open [`planesmith_store::Storage`] and record each call, answer and delivery
//! ([`history`]). [`check`] compares the records with the promises. A [`scenario`] gives the store a life between
//! crashes, faults and restarts. [`endurance`] is about space: millions of writes on a small disk.
//!
//! A seed determines what the clients plan and which faults occur. It does not determine how threads overlap.

pub mod check;
mod client;
pub mod cluster;
pub mod endurance;
pub mod history;
pub mod machine;
pub mod payload;
pub mod power;
pub mod record;
pub mod report;
pub mod scenario;
pub mod target;
mod temporary;
mod watch_client;
mod workload;

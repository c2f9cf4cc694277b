//! The embedded store in real folders: the scenarios of every backend, and what crashes leave.

#![allow(clippy::unwrap_used, reason = "a panic is how a test reports")]

mod conformance;

//! The checks find each kind of fault, and the scenarios run.

#![allow(clippy::unwrap_used, reason = "a panic is how a test reports")]

mod broken_histories;
mod broken_stores;
mod scenarios;

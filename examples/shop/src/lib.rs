//! A user's own API group, `shop.example.com`: orders in two versions and products.
//!
//! Everything here is what a user writes; `cargo xtask generate` writes the rest. See the README beside this crate.

pub mod admission;
pub mod generated;
pub mod shop;

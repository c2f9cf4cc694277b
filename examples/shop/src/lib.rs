//! A custom API group, `shop.example.com`: orders in two versions, and products.
//!
//! This crate contains the hand-written files; `cargo xtask generate` generates the rest. See the README of this crate.

pub mod admission;
pub mod components;
pub mod generated;
pub mod shop;

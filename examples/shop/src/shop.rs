//! `shop.example.com`: products and their orders.

pub mod v1;
pub mod v1alpha1;

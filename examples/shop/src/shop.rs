//! `shop.example.com`: what is sold and who ordered it.

pub mod v1;
pub mod v1alpha1;

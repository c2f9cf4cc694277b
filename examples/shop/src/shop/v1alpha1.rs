//! `shop.example.com/v1alpha1`, the first version, still served for old clients.

mod order;

pub use order::{Order, OrderItem, OrderSpec, OrderStatus};

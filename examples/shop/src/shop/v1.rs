//! `shop.example.com/v1`, the storage version.

mod order;
mod product;

pub use order::{Customer, DEFAULT_CURRENCY, DEFAULT_PRIORITY, Order, OrderItem, OrderSpec, OrderStatus};
pub use product::{Product, ProductSpec};

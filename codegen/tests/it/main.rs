//! The derives as users meet them.

mod hygiene;
mod tables;
mod ui;

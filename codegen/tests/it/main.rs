//! The derives as users meet them.

mod tables;

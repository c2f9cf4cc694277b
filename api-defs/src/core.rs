//! The core group, whose name is empty.

pub mod v1;

//! The model library as the derives use it.

mod expansions;
mod mangled;

//! Tests of the library that implements the derives.

mod expansions;
mod mangled;

//! Everything that reads what clients send, ready to be fed with anything.
//!
//! A [`Target`] takes any bytes and panics when something does not hold: that nothing panics, that what was read and
//! written is read as the same, that what is done twice is as good as done once. The tests of this package run each
//! target for a moment from fixed random numbers; `cargo xtask fuzz` runs one for as long as it likes, guided by
//! coverage. An input that broke something stays in `findings/TARGET` and is run by the tests ever after.

mod kinds;
mod mutate;
mod target;
mod targets;

pub use mutate::Mutator;
pub use target::{TARGETS, Target};

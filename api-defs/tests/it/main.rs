//! What the definitions promise, proved on the kinds that the server registers.

#![expect(clippy::print_stdout, reason = "a skipped test says so")]

mod facts;
mod fixtures;
mod golden;
mod reference;

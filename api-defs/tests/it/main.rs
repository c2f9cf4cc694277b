//! Properties of the definitions, tested on the kinds that the server registers.

#![expect(clippy::print_stdout, reason = "a skipped test says so")]

mod columns;
mod etcd;
mod facts;
mod fixtures;
mod golden;
mod messages;
mod metadata;
mod reference;
mod registry_codec;

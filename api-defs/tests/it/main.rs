//! What the definitions promise, proved on the kinds that the server registers.

mod facts;
mod fixtures;
mod reference;

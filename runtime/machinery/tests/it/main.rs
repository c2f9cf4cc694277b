//! The crate from outside: derived types against reference data and the codecs against random input.

mod codecs;
mod reference;
mod storage;

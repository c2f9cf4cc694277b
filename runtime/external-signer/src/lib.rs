//! Tokens of service accounts that a program outside of the server signs (`--service-account-signing-endpoint`). A program lists
//! [`COMPONENT`] to have this flag.
//!
//! Reading order: `protocol` (the messages, declared by hand), `client` (calls over the socket), `token_header` (the first part of a
//! token, which the signer returns), `signer` (its keys, and the tokens).

mod client;
mod component;
mod protocol;
mod signer;
mod token_header;

pub use component::COMPONENT;

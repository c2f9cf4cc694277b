//! Stored objects are encrypted as an EncryptionConfiguration says (`--encryption-provider-config`). A program lists [`COMPONENT`]
//! to have the flags.
//!
//! Reading order: `options`, `loading` (the file as providers), `component`, `health` (checks of plugins), `reload` (follows the
//! file and the keys).

mod component;
mod health;
mod loading;
mod options;
mod reload;

pub use component::COMPONENT;

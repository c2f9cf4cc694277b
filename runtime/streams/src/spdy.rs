//! SPDY/3.1 as a client, which kubelets speak for streams into pods. No maintained crate has it.
//!
//! Reading order: [`Connection`] (streams and their events), `writer` (one task's frames, in order), `frame`,
//! `header_block`. Kubelets neither count flow-control windows nor push streams: windows are not awaited, and streams
//! that the other side opens are reset. Incoming data is read as fast as the caller takes it, in pieces of at most 32
//! KiB.

mod connection;
mod frame;
mod header_block;
mod writer;

pub use self::connection::{Connection, Event, SpdyError, StreamId};
pub use self::writer::{Driver, Sender};

/// The protocol's name in HTTP upgrades.
pub const PROTOCOL: &str = "SPDY/3.1";

#[cfg(test)]
pub(crate) mod tests;

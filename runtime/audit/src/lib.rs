//! The audit of a program: its flags, a log and a webhook that receive the events. A program lists [`COMPONENT`] to have it.
//!
//! Reading order: `options` (flags), `component`, `event_sink` (encodes and truncates events, and passes them on at once or in
//! batches), `shared_writes` (events of requests that wait, together), `queue` (batches that no request waits for), `losses`, then the
//! destinations: `log_file` with `rotation`, and `webhook`.

mod component;
mod destination;
mod event_sink;
mod log_file;
mod losses;
mod options;
mod queue;
mod rotation;
mod shared_writes;
mod webhook;

pub use component::COMPONENT;

//! `events.k8s.io/v1`: events in the newer format.

mod event;

pub use event::{Event, EventSeries};

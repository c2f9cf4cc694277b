//! `events.k8s.io/v1`: events in their newer form.

mod event;

pub use event::{Event, EventSeries};

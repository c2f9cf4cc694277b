//! `events.k8s.io/v1beta1`, which is no longer served.

mod event;

pub use event::Event;

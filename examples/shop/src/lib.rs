//! A user's own API group.

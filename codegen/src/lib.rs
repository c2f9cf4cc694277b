//! Derives for objects and resources.

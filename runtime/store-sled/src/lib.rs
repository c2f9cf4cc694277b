//! The embedded store on sled.

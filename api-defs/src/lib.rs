//! The built-in Kubernetes groups as Rust structs.

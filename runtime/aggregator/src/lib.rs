//! The aggregation server.

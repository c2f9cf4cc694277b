//! The API-extensions server.

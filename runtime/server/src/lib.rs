//! One API server: routes, verbs, filters, discovery, health, lifecycle.

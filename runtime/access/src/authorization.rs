//! From a user and an action to a decision.

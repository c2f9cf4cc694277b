//! The embedded store in real folders: the scenarios of every backend, and what crashes leave.

mod conformance;

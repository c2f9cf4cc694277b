//! Components of the shop's server.
//!
//! A module `components` declares what the server has besides the kinds of its crate. Without roles and bindings only members of
//! `system:masters` could do anything.

use planesmith_control_plane::Component;

/// The components.
pub const COMPONENTS: &[&dyn Component] = &[planesmith_rbac::COMPONENT];

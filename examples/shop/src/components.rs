//! Components of the shop's server.
//!
//! A module `components` declares what the server has besides the kinds of its crate. Without roles and bindings only members of
//! `system:masters` could do anything.

use planesmith_control_plane::Component;
use planesmith_control_plane::default_roles::DefaultRoles;

/// The components.
pub const COMPONENTS: &[&dyn Component] = &[planesmith_rbac::COMPONENT, &Shop];

/// The behaviour of the shop that no kind can declare.
#[derive(Debug)]
struct Shop;

impl Component for Shop {
    fn default_roles(&self) -> DefaultRoles {
        DefaultRoles {
            cluster_roles: include_str!("default_roles.yaml"),
            ..DefaultRoles::default()
        }
    }
}

//! The kinds that a control plane needs besides those of its program: namespaces, and the kinds that controllers work
//! with.

use planesmith_api_defs::coordination::v1::Lease;
use planesmith_api_defs::core::v1::{ConfigMap, Event, Namespace, Secret, ServiceAccount};
use planesmith_machinery::scheme::Scheme;
use planesmith_server::routes::Routes;
use planesmith_server::stores::Stores;

use crate::group_version::GroupVersion;
use crate::program::Program;

/// The group versions that are served in addition to those of a program that does not bring them itself.
pub const GROUPS: &[GroupVersion] = &[
    GroupVersion {
        group: "",
        version: "v1",
        on_by_default: true,
        register: register_core,
        install: install_core,
    },
    GroupVersion::of_kind::<Lease>("coordination.k8s.io", "v1"),
];

/// Returns the group versions of the program, after those of every control plane and of its components that it does not bring
/// itself.
pub(crate) fn with_groups_of(program: &Program) -> impl Iterator<Item = &'static GroupVersion> {
    let groups = program.groups;
    let brings = move |added: &GroupVersion| {
        let mut own = groups.iter();
        own.any(|own| own.group == added.group && own.version == added.version)
    };
    let of_components = program.components.iter().flat_map(|component| component.groups());
    let added = GROUPS.iter().chain(of_components);
    added.filter(move |added| !brings(added)).chain(groups)
}

fn register_core(scheme: &mut Scheme) {
    scheme.add::<ConfigMap>();
    scheme.add::<Event>();
    scheme.add::<Namespace>();
    scheme.add::<Secret>();
    scheme.add::<ServiceAccount>();
}

fn install_core(routes: &mut Routes, stores: &Stores) {
    routes.serve::<ConfigMap>(stores);
    routes.serve::<Event>(stores);
    routes.serve::<Namespace>(stores);
    routes.serve::<Secret>(stores);
    routes.serve::<ServiceAccount>(stores);
}

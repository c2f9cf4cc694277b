//! The kinds that a control plane needs besides those of its program: namespaces, and the kinds that controllers work
//! with.

use planesmith_api_defs::coordination::v1::{self as coordination, Lease};
use planesmith_api_defs::core::v1::{self as core, ConfigMap, Event, Namespace, Secret, ServiceAccount};
use planesmith_machinery::scheme::Scheme;
use planesmith_server::routes::Routes;
use planesmith_server::stores::Stores;

use crate::group_version::GroupVersion;

/// The group versions that are served in addition to those of a program that does not bring them itself.
pub const GROUPS: &[GroupVersion] = &[
    GroupVersion {
        group: "",
        version: "v1",
        on_by_default: true,
        priority: core::PRIORITY,
        register: register_core,
        install: install_core,
    },
    GroupVersion::of_kind::<Lease>("coordination.k8s.io", "v1").with_priority(coordination::PRIORITY),
];

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

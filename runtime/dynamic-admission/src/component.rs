//! The contribution of this crate to a server.

use anyhow::Result;
use planesmith_api_defs::admissionregistration::v1::{
    MutatingAdmissionPolicy, MutatingAdmissionPolicyBinding, MutatingWebhookConfiguration, PRIORITY,
    ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding, ValidatingWebhookConfiguration,
};
use planesmith_control_plane::admission::Registration;
use planesmith_control_plane::component::{Contribution, ServerContext};
use planesmith_control_plane::options::ControllerName;
use planesmith_control_plane::{Component, GroupVersion};
use planesmith_machinery::scheme::Scheme;
use planesmith_server::routes::Routes;
use planesmith_server::stores::Stores;

use crate::GROUP;
use crate::policy::{CONTROLLER, MUTATING_POLICIES, VALIDATING_POLICIES, type_checking};
use crate::webhook::{MUTATING_WEBHOOKS, VALIDATING_WEBHOOKS};

/// The component of a program whose admission is configured by stored objects.
pub const COMPONENT: &dyn Component = &DynamicAdmissionComponent;

const GROUPS: [GroupVersion; 1] = [GroupVersion {
    group: GROUP,
    version: "v1",
    on_by_default: true,
    priority: PRIORITY,
    register,
    install,
}];

const PLUGINS: [Registration; 4] = [
    MUTATING_POLICIES,
    MUTATING_WEBHOOKS,
    VALIDATING_POLICIES,
    VALIDATING_WEBHOOKS,
];

#[derive(Clone, Copy, Debug)]
struct DynamicAdmissionComponent;

impl Component for DynamicAdmissionComponent {
    fn groups(&self) -> &'static [GroupVersion] {
        &GROUPS
    }

    fn controller_names(&self) -> &'static [ControllerName] {
        &[CONTROLLER]
    }

    fn install<'a>(&self, context: &ServerContext<'a>) -> Result<Contribution<'a>> {
        Ok(Contribution {
            controllers: vec![type_checking(context)],
            ..Contribution::default()
        })
    }

    fn admission(&self) -> &'static [Registration] {
        &PLUGINS
    }
}

fn register(scheme: &mut Scheme) {
    scheme.add::<MutatingAdmissionPolicy>();
    scheme.add::<MutatingAdmissionPolicyBinding>();
    scheme.add::<MutatingWebhookConfiguration>();
    scheme.add::<ValidatingAdmissionPolicy>();
    scheme.add::<ValidatingAdmissionPolicyBinding>();
    scheme.add::<ValidatingWebhookConfiguration>();
}

fn install(routes: &mut Routes, stores: &Stores) {
    routes.serve::<MutatingAdmissionPolicy>(stores);
    routes.serve::<MutatingAdmissionPolicyBinding>(stores);
    routes.serve::<MutatingWebhookConfiguration>(stores);
    routes.serve::<ValidatingAdmissionPolicy>(stores);
    routes.serve::<ValidatingAdmissionPolicyBinding>(stores);
    routes.serve::<ValidatingWebhookConfiguration>(stores);
}

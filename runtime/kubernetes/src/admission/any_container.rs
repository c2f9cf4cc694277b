//! Containers of a pod, of all three sorts.

use planesmith_api_defs::core::v1::{
    Container, ContainerPort, EnvFromSource, EnvVar, EphemeralContainerCommon, Lifecycle, PodSpec, Probe,
    SecurityContext,
};

/// The fields of a container that plugins read.
pub(super) struct AnyContainer<'p> {
    pub(super) name: &'p str,
    pub(super) image: &'p str,
    pub(super) ports: &'p [ContainerPort],
    pub(super) env: &'p [EnvVar],
    pub(super) env_from: &'p [EnvFromSource],
    pub(super) probes: [Option<&'p Probe>; 3],
    pub(super) lifecycle: Option<&'p Lifecycle>,
    pub(super) security_context: Option<&'p SecurityContext>,
    pub(super) image_pull_policy: &'p str,
}

/// Init containers, containers, ephemeral containers, in this order.
pub(super) fn containers(spec: &PodSpec) -> impl Iterator<Item = AnyContainer<'_>> {
    let ephemeral = spec.ephemeral_containers.iter();
    spec.init_containers
        .iter()
        .chain(&spec.containers)
        .map(AnyContainer::from)
        .chain(ephemeral.map(|container| (&container.ephemeral_container_common).into()))
}

macro_rules! view_of {
    ($($kind:ty),*) => {$(
        impl<'p> From<&'p $kind> for AnyContainer<'p> {
            fn from(container: &'p $kind) -> Self {
                Self {
                    name: &container.name,
                    image: &container.image,
                    ports: &container.ports,
                    env: &container.env,
                    env_from: &container.env_from,
                    probes: [&container.liveness_probe, &container.readiness_probe, &container.startup_probe]
                        .map(Option::as_ref),
                    lifecycle: container.lifecycle.as_ref(),
                    security_context: container.security_context.as_ref(),
                    image_pull_policy: &container.image_pull_policy,
                }
            }
        }
    )*};
}

// The two have the same fields for historical reasons; there is no type for the common ones.
view_of!(Container, EphemeralContainerCommon);

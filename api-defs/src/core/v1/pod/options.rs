//! Exceptions to the usual rules for pods and templates.

use planesmith_machinery::feature::Features;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::validation::{SelectorValues, check_label_selector};

use super::PodSpec;
use super::annotations::has_bad_deletion_cost;
use crate::core::v1::resource_requirements::has_odd_huge_pages;
use crate::core::v1::toleration::{compare_numbers, may_compare};
use crate::core::v1::volume::check_unreserved;
use crate::core::v1::{Pod, PodTemplateSpec};
use crate::features::RESTART_ALL_CONTAINERS_ON_CONTAINER_EXITS;

/// Exceptions to the usual rules: a rule that was introduced later does not block updates of objects that break it
/// already.
#[derive(Clone, Copy, Debug, Default)]
pub struct PodOptions {
    /// True for the spec of a pod, which must be complete, instead of a template.
    pub of_pod: bool,
    /// Refuses all device claims: the pod mirrors a static one.
    pub(crate) no_claims: bool,
    /// Permits deletion costs that are not numbers.
    pub(crate) any_deletion_cost: bool,
    /// Permits illegal label values in pod label selectors.
    pub(crate) any_selector_values: bool,
    /// Permits illegal label values in node selectors.
    pub(crate) any_node_selector_values: bool,
    /// Permits illegal label selectors in topology spread constraints.
    pub(crate) any_spread_selector: bool,
    /// Permits amounts of huge pages that are no multiple of the page size.
    pub(crate) odd_huge_pages: bool,
    /// Permits reserved paths of projected tokens.
    pub(crate) any_token_path: bool,
    /// Permits sysctls of namespaces that are shared with the node.
    pub(crate) host_sysctls: bool,
    /// Permits tolerations that compare numbers, although the feature is disabled.
    pub(crate) number_tolerations: bool,
    /// Permits pods with their own user namespace in the node's network, although the feature is disabled.
    pub(crate) own_users_in_host_network: bool,
    /// Permits any SELinux change policy, although the feature is disabled.
    pub(crate) any_label_change: bool,
    /// Permits block devices in pods with their own user namespace.
    pub(crate) own_users_with_devices: bool,
    /// Permits resize policies that restart init containers.
    pub(crate) restarting_init_containers: bool,
    /// Permits rules that restart all containers, and restart rules of sidecars, although the feature is disabled.
    pub(crate) restart_all: bool,
}

impl PodOptions {
    /// Returns the options for a pod that replaces `old`.
    #[must_use]
    pub fn of_pod(old: Option<&Pod>) -> Self {
        let options = old.map_or_else(Self::default, |old| Self::after(&old.metadata, &old.spec));
        Self {
            of_pod: true,
            ..options
        }
    }

    /// Returns the options for a template that replaces `old`.
    #[must_use]
    pub fn of_template(old: Option<&PodTemplateSpec>) -> Self {
        old.map_or_else(Self::default, |old| Self::after(&old.metadata, &old.spec))
    }

    /// Returns the options that permit the deviations which the stored spec already has.
    fn after(meta: &ObjectMeta, spec: &PodSpec) -> Self {
        let affinity = spec.affinity.as_ref();
        let context = spec.security_context.as_ref();
        let host_sysctls = context.is_some_and(|context| {
            context
                .sysctls
                .iter()
                .any(|sysctl| sysctl.shared_with_node(spec).is_some())
        });
        Self {
            of_pod: false,
            no_claims: false,
            any_deletion_cost: has_bad_deletion_cost(&meta.annotations),
            any_selector_values: affinity.is_some_and(|affinity| affinity.has_illegal_selector_value()),
            any_node_selector_values: affinity.is_some_and(|affinity| affinity.has_illegal_node_value()),
            any_spread_selector: has_bad_spread_selector(spec),
            odd_huge_pages: uses_odd_huge_pages(spec),
            any_token_path: has_wild_token_path(spec),
            host_sysctls,
            number_tolerations: compare_numbers(&spec.tolerations),
            any_label_change: context.is_some_and(|context| context.se_linux_change_policy.is_some()),
            own_users_in_host_network: spec.host_users == Some(false) && spec.host_network,
            own_users_with_devices: spec.host_users == Some(false) && spec.uses_devices(),
            restarting_init_containers: restarts_init_containers(spec),
            restart_all: spec.has_new_restart_rules(),
        }
    }

    /// True if tolerations may compare numbers.
    pub(crate) fn may_compare_numbers(self, features: &Features) -> bool {
        self.number_tolerations || may_compare(&[], features)
    }

    /// True if rules may restart all containers and sidecars may have restart rules.
    pub(crate) fn may_restart_all(self, features: &Features) -> bool {
        self.restart_all || features.has(&RESTART_ALL_CONTAINERS_ON_CONTAINER_EXITS)
    }

    pub(crate) fn selector_values(self) -> SelectorValues {
        values(self.any_selector_values)
    }

    pub(crate) fn node_selector_values(self) -> SelectorValues {
        values(self.any_node_selector_values)
    }
}

fn values(any: bool) -> SelectorValues {
    if any {
        SelectorValues::Any
    } else {
        SelectorValues::Legal
    }
}

fn restarts_init_containers(spec: &PodSpec) -> bool {
    let mut containers = spec.init_containers.iter();
    containers.any(|container| !container.is_sidecar() && container.restarts_after_resizing())
}

fn has_bad_spread_selector(spec: &PodSpec) -> bool {
    let selectors = spec.topology_spread_constraints.iter();
    selectors
        .filter_map(|constraint| constraint.label_selector.as_ref())
        .any(|selector| {
            let mut errors = planesmith_machinery::field_error::FieldErrors::default();
            check_label_selector(selector, SelectorValues::Legal, &mut errors);
            !errors.is_empty()
        })
}

fn uses_odd_huge_pages(spec: &PodSpec) -> bool {
    let containers = spec.init_containers.iter().chain(&spec.containers);
    let mut lists = containers.flat_map(|container| [&container.resources.limits, &container.resources.requests]);
    lists.any(has_odd_huge_pages) || has_odd_huge_pages(&spec.overhead)
}

fn has_wild_token_path(spec: &PodSpec) -> bool {
    let projected = spec
        .volumes
        .iter()
        .filter_map(|volume| volume.volume_source.projected.as_ref());
    let sources = projected.flat_map(|projected| &projected.sources);
    sources
        .filter_map(|source| source.service_account_token.as_ref())
        .any(|token| {
            let mut errors = planesmith_machinery::field_error::FieldErrors::default();
            check_unreserved("path", &token.path, &mut errors);
            !errors.is_empty()
        })
}

//! Legal names of resources with quantities, such as `cpu` or `example.com/gpu`.

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::names;

/// Resources without a domain that containers can request.
const OF_CONTAINERS: [&str; 3] = ["cpu", "memory", "ephemeral-storage"];

/// Further resources without a domain, which quotas count or claims request.
const OTHERS: [&str; 17] = [
    "requests.cpu",
    "requests.memory",
    "requests.ephemeral-storage",
    "limits.cpu",
    "limits.memory",
    "limits.ephemeral-storage",
    "pods",
    "resourcequotas",
    "services",
    "replicationcontrollers",
    "secrets",
    "persistentvolumeclaims",
    "configmaps",
    "storage",
    "requests.storage",
    "services.nodeports",
    "services.loadbalancers",
];

/// Resources that are counted in integers.
const COUNTED: [&str; 9] = [
    "pods",
    "resourcequotas",
    "services",
    "replicationcontrollers",
    "secrets",
    "configmaps",
    "persistentvolumeclaims",
    "services.nodeports",
    "services.loadbalancers",
];

/// Prefix of huge page resources; the page size follows.
const HUGE_PAGES: &str = "hugepages-";

/// Domain of Kubernetes' own resources.
const NATIVE: &str = "kubernetes.io/";

/// Reports errors in `name` at `field` as any kind of resource. Returns true if its syntax is legal.
pub(super) fn check_resource(errors: &mut FieldErrors, field: &str, name: &str) -> bool {
    let problems = names::qualified_name(name);
    let qualified = problems.is_empty();
    for problem in problems {
        errors.invalid(field, name, problem);
    }
    let standard = OF_CONTAINERS.contains(&name) || OTHERS.contains(&name) || is_huge_pages_of_quota(name);
    if qualified && !name.contains('/') && !standard {
        errors.invalid(field, name, "must be a standard resource type or fully qualified");
    }
    qualified
}

/// Reports errors in `name` at `field` as a resource that a container requests.
pub fn check_container_resource(errors: &mut FieldErrors, field: &str, name: &str) {
    check_resource(errors, field, name);
    if !name.contains('/') {
        if !OF_CONTAINERS.contains(&name) && !name.starts_with(HUGE_PAGES) {
            errors.invalid(field, name, "must be a standard resource for containers");
        }
    } else if !name.contains(NATIVE) && !is_extended(name) {
        errors.invalid(field, name, "doesn't follow extended resource name standard");
    }
}

/// Reports errors in `name` at `field` as a resource that a quota limits.
pub(super) fn check_quota_resource(errors: &mut FieldErrors, field: &str, name: &str) {
    check_resource(errors, field, name);
    if !name.contains('/') && !is_quota_resource(name) {
        errors.invalid(field, name, "must be a standard resource for quota");
    }
}

/// True if quotas support the resource name, which has no domain prefix.
pub(super) fn is_quota_resource(name: &str) -> bool {
    let known = OF_CONTAINERS.contains(&name) || OTHERS.contains(&name);
    (known && name != "storage") || is_huge_pages_of_quota(name)
}

fn is_huge_pages_of_quota(name: &str) -> bool {
    name.strip_prefix("requests.").unwrap_or(name).starts_with(HUGE_PAGES)
}

/// True if quantities of `name` must be integers, because the resource consists of countable objects.
pub(super) fn counts_whole(name: &str) -> bool {
    COUNTED.contains(&name) || (name.contains('/') && !name.contains(NATIVE) && is_extended(name))
}

/// True if `name` is an extended resource, which nodes can offer and quotas can count; the caller has checked that it
/// has a foreign domain.
fn is_extended(name: &str) -> bool {
    !name.starts_with("requests.") && names::qualified_name(&format!("requests.{name}")).is_empty()
}

/// True if `name` is a huge page size.
pub(super) fn is_huge_page(name: &str) -> bool {
    name.starts_with("hugepages-")
}

/// True if `name` can be overcommitted: Kubernetes' own resources, except huge pages.
pub(super) fn is_overcommitted(name: &str) -> bool {
    (!name.contains('/') || name.contains(NATIVE)) && !is_huge_page(name)
}

/// True if pods can request `name` at pod level.
pub(super) fn is_of_pods(name: &str) -> bool {
    matches!(name, "cpu" | "memory") || is_huge_page(name)
}

/// Reports errors in `name` at `field` as a pod-level resource.
pub(super) fn check_pod_resource(errors: &mut FieldErrors, field: &str, name: &str) {
    let problems = names::qualified_name(name);
    let standard = name.contains('/') || OF_CONTAINERS.contains(&name) || OTHERS.contains(&name) || is_huge_page(name);
    if problems.is_empty() && !standard {
        errors.invalid(field, name, "must be a standard resource type or fully qualified");
    } else if problems.is_empty() && !is_of_pods(name) {
        errors.not_supported(field, name, &["cpu", "hugepages-", "memory"]);
    }
    for problem in problems {
        errors.invalid(field, name, problem);
    }
}

/// True if `name` is an extended resource, with a domain outside of kubernetes.io, which pods can request.
pub(crate) fn is_extended_resource(name: &str) -> bool {
    name.contains('/') && !name.contains(NATIVE) && is_extended(name)
}

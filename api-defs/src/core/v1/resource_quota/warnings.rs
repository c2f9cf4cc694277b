//! Warnings about quotas.

use crate::core::v1::resource_list::ResourceList;

/// Resources with requests and limits, and true if the resource's own name limits its requests as well.
const RESOURCES: [(&str, bool); 4] = [
    ("cpu", true),
    ("memory", true),
    ("storage", false),
    ("ephemeral-storage", false),
];

/// Returns a warning for each resource whose total of requests may exceed its total of limits.
pub(super) fn requests_above_limits(hard: &ResourceList) -> Vec<String> {
    let warning = |(resource, is_short): (&str, bool)| {
        let amount = |name: String| hard.get(&name).map(|amount| (name, amount));
        let own = || is_short.then(|| amount(resource.to_owned())).flatten();
        let (request, requested) = amount(format!("requests.{resource}")).or_else(own)?;
        let (limit, limited) = amount(format!("limits.{resource}"))?;
        (requested > limited).then(|| {
            let (requested, limited) = (requested.as_str(), limited.as_str());
            format!("ResourceQuota {request} ({requested}) should be less than {limit} ({limited})")
        })
    };
    RESOURCES.into_iter().filter_map(warning).collect()
}

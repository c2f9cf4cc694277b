//! Resources that can only be used in namespaces with a quota that covers them.

use anyhow::{Result, bail};
use planesmith_api_defs::core::v1::ScopedResourceSelectorRequirement;
use planesmith_control_plane::admission::parse_configuration;
use serde::Deserialize;

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "camelCase")]
struct ResourceQuotaConfiguration {
    limited_resources: Vec<LimitedResource>,
}

/// The resources of a kind that can only be used under a quota.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "camelCase")]
pub(super) struct LimitedResource {
    pub(super) api_group: String,
    pub(super) resource: String,
    /// Parts of the names of the counted resources.
    pub(super) match_contains: Vec<String>,
    match_scopes: Vec<Scope>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "camelCase")]
struct Scope {
    scope_name: String,
    operator: String,
    values: Vec<String>,
}

impl LimitedResource {
    /// Returns the scopes that need a quota.
    pub(super) fn scopes(&self) -> impl Iterator<Item = ScopedResourceSelectorRequirement> {
        self.match_scopes.iter().map(|scope| ScopedResourceSelectorRequirement {
            scope_name: scope.scope_name.clone(),
            operator: scope.operator.clone(),
            values: scope.values.clone(),
        })
    }
}

/// Reads the plugin's part of the configuration file.
///
/// # Errors
///
/// The problems of the configuration.
pub(super) fn read(value: Option<&serde_json::Value>) -> Result<Vec<LimitedResource>> {
    let kind = value.and_then(|value| value.get("kind")).and_then(|kind| kind.as_str());
    // The kind was renamed when it moved to the group of the other configurations.
    let configuration: ResourceQuotaConfiguration = match kind {
        Some("Configuration") => parse_configuration(
            value,
            "Configuration",
            &[
                "resourcequota.admission.k8s.io/v1",
                "resourcequota.admission.k8s.io/v1beta1",
                "resourcequota.admission.k8s.io/v1alpha1",
            ],
        )?,
        _ => parse_configuration(value, "ResourceQuotaConfiguration", &["apiserver.config.k8s.io/v1"])?,
    };
    let mut limited = configuration.limited_resources.iter();
    if let Some(index) = limited.position(|limited| limited.resource.is_empty()) {
        bail!("limitedResources[{index}].resource: Required value");
    }
    Ok(configuration.limited_resources)
}

//! The enabled group versions and resources: the defaults, and the switches of `--runtime-config`.

use std::collections::{BTreeSet, HashMap, HashSet};

use planesmith_machinery::resource::ResourceFacts;

use crate::component::GatedResource;
use crate::feature_gates::FeatureGates;
use crate::group_version::GroupVersion;
use crate::options::Switches;

/// The switches for many group versions at once, in the order in which they are applied.
const MATCHERS: [(&str, Option<Maturity>); 4] = [
    ("api/all", None),
    ("api/ga", Some(Maturity::Stable)),
    ("api/beta", Some(Maturity::Beta)),
    ("api/alpha", Some(Maturity::Alpha)),
];

/// The maturity of a version, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Maturity {
    Alpha,
    Beta,
    Stable,
}

impl Maturity {
    fn from_version(version: &str) -> Self {
        match version {
            version if version.contains("alpha") => Self::Alpha,
            version if version.contains("beta") => Self::Beta,
            _ => Self::Stable,
        }
    }
}

/// The enabled group versions and resources.
///
/// Without a switch a group version is on if its declaration says so ([`GroupVersion::on_by_default`]).
/// `api/all`, `api/ga`, `api/beta` and `api/alpha` are applied in this order, then the switches for group versions
/// (`apps/v1`; `v1` or `api/v1` for the core group), then those for resources (`apps/v1/deployments`, `api/v1/pods`). A
/// resource that is switched by itself does not follow its version.
///
/// Some resources have a feature gate as well (`--feature-gates`): they are off while their feature is off, whatever
/// other switches say. `api/all=true` enables those, too, unless their feature is switched off by name.
#[derive(Clone, Debug, Default)]
pub struct Enablement {
    versions: HashMap<String, bool>,
    resources: HashMap<String, bool>,
    /// Resources that are off with their feature, by group and name.
    off: HashSet<(&'static str, &'static str)>,
}

impl Enablement {
    /// Applies `switches` and the features in `gates` to the defaults of `groups` and of the resources in `gated`.
    ///
    /// # Errors
    ///
    /// For a switch whose name is invalid, or a group or a version that the program does not have.
    pub fn new<'g>(
        groups: impl IntoIterator<Item = &'g GroupVersion>,
        gated: impl IntoIterator<Item = &'g GatedResource>,
        switches: &Switches,
        gates: &FeatureGates,
    ) -> Result<Self, String> {
        let groups: Vec<&GroupVersion> = groups.into_iter().collect();
        let switches = &switches.renamed(in_core_group);
        if switches.get("api/all") == Some(false) && switches.names().count() == 1 {
            return Err("--runtime-config: invalid key with only api/all=false".to_owned());
        }
        let all = switches.get("api/all") == Some(true);
        let is_off = |feature: &str| match gates.switched(feature) {
            Some(on) => !on,
            None => !all && !gates.enabled(feature),
        };
        let off = gated.into_iter().filter(|gated| is_off(gated.feature));
        let mut enablement = Self {
            off: off.map(|gated| (gated.group, gated.resource)).collect(),
            ..Self::default()
        };
        for group in &groups {
            let maturity = Maturity::from_version(group.version);
            let mut enabled = group.on_by_default;
            for (matcher, wanted) in MATCHERS {
                if wanted.is_none_or(|wanted| wanted == maturity) {
                    enabled = switches.get(matcher).unwrap_or(enabled);
                }
            }
            let version = group.api_version();
            enabled = switches.get(&version).unwrap_or(enabled);
            enablement.versions.insert(version, enabled);
        }
        let mut unknown = BTreeSet::new();
        for name in switches.names() {
            unknown.extend(enablement.check(name, &groups)?);
            if let (3, Some(enabled)) = (name.split('/').count(), switches.get(name)) {
                enablement.resources.insert(name.to_owned(), enabled);
            }
        }
        if !unknown.is_empty() {
            let unknown = unknown.into_iter().collect::<Vec<_>>().join(",");
            return Err(format!("--runtime-config: unknown api groups {unknown}"));
        }
        Ok(enablement)
    }

    /// Checks that `name` can be switched. Returns its group if the program does not have it.
    fn check<'n>(&self, name: &'n str, groups: &[&GroupVersion]) -> Result<Option<&'n str>, String> {
        if MATCHERS.iter().any(|(matcher, _)| *matcher == name) || self.versions.contains_key(name) {
            return Ok(None);
        }
        let parts: Vec<&str> = name.split('/').collect();
        let [group, version, resource @ ..] = parts.as_slice() else {
            return Err(format!("--runtime-config: runtime-config invalid key {name}"));
        };
        if resource.len() > 1 {
            return Err(format!("--runtime-config: runtime-config invalid key {name}"));
        }
        if let [resource] = resource
            && resource.to_lowercase() != *resource
        {
            return Err(format!(
                "--runtime-config: invalid key {name}: group/version/resource and resource is always lowercase plural, got {resource}"
            ));
        }
        if !groups.iter().any(|known| known.group == *group) {
            return Ok(Some(group));
        }
        let registered = match *group {
            "" => self.versions.contains_key(*version),
            group => self.versions.contains_key(&format!("{group}/{version}")),
        };
        if !registered {
            return Err(format!(
                "--runtime-config: group version {group}/{version} that has not been registered"
            ));
        }
        Ok(None)
    }

    /// True if any resource of a group version may be enabled.
    #[must_use]
    pub fn version(&self, group: &GroupVersion) -> bool {
        let version = group.api_version();
        let below = format!("{version}/");
        self.versions.get(&version).copied().unwrap_or(true)
            || self
                .resources
                .iter()
                .any(|(name, enabled)| *enabled && name.starts_with(&below))
    }

    /// True if a resource is enabled.
    #[must_use]
    pub fn resource(&self, facts: &ResourceFacts) -> bool {
        if self.off.contains(&(&facts.group, &facts.plural)) {
            return false;
        }
        let version = self.versions.get(&*facts.api_version).copied().unwrap_or(true);
        if self.resources.is_empty() {
            return version;
        }
        let name = format!("{}/{}/{}", facts.group, facts.version, facts.plural);
        self.resources.get(&name).copied().unwrap_or(version)
    }
}

/// Returns the name of a switch without the first segment that paths of the core group have: `v1` for `api/v1`,
/// `/v1/pods` for `api/v1/pods`.
fn in_core_group(name: &str) -> String {
    match name.strip_prefix("api/") {
        Some(version) if !MATCHERS.iter().any(|(matcher, _)| *matcher == name) => match version.contains('/') {
            true => format!("/{version}"),
            false => version.to_owned(),
        },
        _ => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use planesmith_machinery::group_version::GroupVersionPriority;
    use planesmith_machinery::object::Resource;

    use super::*;

    const fn group_version(group: &'static str, version: &'static str, on_by_default: bool) -> GroupVersion {
        GroupVersion {
            group,
            version,
            on_by_default,
            priority: GroupVersionPriority::CUSTOM,
            register: |_| {},
            install: |_, _| {},
        }
    }

    const GROUPS: [GroupVersion; 6] = [
        group_version("", "v1", true),
        group_version("apps", "v1", true),
        group_version("coordination.k8s.io", "v1", true),
        group_version("coordination.k8s.io", "v1beta1", false),
        group_version("coordination.k8s.io", "v1alpha2", false),
        group_version("shop.example.com", "v1alpha1", true),
    ];

    const fn gated(group: &'static str, resource: &'static str, feature: &'static str) -> GatedResource {
        GatedResource {
            group,
            resource,
            feature,
        }
    }

    const GATED: [GatedResource; 2] = [
        gated("certificates.k8s.io", "clustertrustbundles", "ClusterTrustBundle"),
        gated(
            "admissionregistration.k8s.io",
            "mutatingadmissionpolicies",
            "MutatingAdmissionPolicy",
        ),
    ];

    fn enablement(switches: &str) -> Result<Enablement, String> {
        Enablement::new(&GROUPS, &GATED, &switches.parse()?, &FeatureGates::default())
    }

    /// The group versions that are on.
    #[track_caller]
    fn check(switches: &str, expected: &str) {
        let enablement = enablement(switches).unwrap();
        let on = GROUPS.iter().filter(|group| enablement.version(group));
        let on: Vec<String> = on.map(GroupVersion::api_version).collect();
        assert_eq!(on.join(" "), expected, "{switches}");
    }

    #[test]
    fn versions_are_off_whose_group_says_so() {
        check("", "v1 apps/v1 coordination.k8s.io/v1 shop.example.com/v1alpha1");
    }

    #[test]
    fn the_narrowest_switch_wins() {
        let all = "v1 apps/v1 coordination.k8s.io/v1 coordination.k8s.io/v1beta1 coordination.k8s.io/v1alpha2 \
                   shop.example.com/v1alpha1";
        check("api/all=true", all);
        check("api/alpha=true,api/beta=true", all);
        check("api/all=false,v1=true", "v1");
        check("api/all=false,api/beta=true", "coordination.k8s.io/v1beta1");
        check("api/all=false,api/v1=true", "v1");
        check("api/all=false,api/v1,apps/v1", "v1 apps/v1");
        check("api/all=false,apps/v1=", "apps/v1");
        check(
            "api/beta=true,coordination.k8s.io/v1beta1=false,apps/v1=false",
            "v1 coordination.k8s.io/v1 shop.example.com/v1alpha1",
        );
    }

    #[test]
    fn resources_are_switched_one_by_one() {
        let lease = planesmith_api_defs::coordination::v1::Lease::RESOURCE;
        let off = enablement("coordination.k8s.io/v1/leases=false").unwrap();
        assert!(!off.resource(lease) && off.version(&GROUPS[2]));
        let on = enablement("coordination.k8s.io/v1=false,coordination.k8s.io/v1/leases=true").unwrap();
        assert!(on.resource(lease) && on.version(&GROUPS[2]));
        let pod = planesmith_api_defs::core::v1::Pod::RESOURCE;
        assert!(!enablement("api/v1/pods=false").unwrap().resource(pod));
        let on = enablement("coordination.k8s.io/v1beta1/leasecandidates=true").unwrap();
        assert!(on.version(&GROUPS[3]) && on.resource(lease));
    }

    #[test]
    fn resources_behind_a_feature_need_it() {
        let bundle = planesmith_api_defs::certificates::v1beta1::ClusterTrustBundle::RESOURCE;
        let policy = planesmith_api_defs::admissionregistration::v1::MutatingAdmissionPolicy::RESOURCE;
        for (switches, gates, bundles, policies) in [
            ("api/beta=true", "", false, true),
            ("api/beta=true", "ClusterTrustBundle=true", true, true),
            ("api/all=true", "", true, true),
            (
                "api/all=true",
                "AllBeta=false,MutatingAdmissionPolicy=false",
                false,
                false,
            ),
        ] {
            let enablement =
                Enablement::new(&GROUPS, &GATED, &switches.parse().unwrap(), &gates.parse().unwrap()).unwrap();
            let on = (enablement.resource(bundle), enablement.resource(policy));
            assert_eq!(on, (bundles, policies), "{switches} {gates}");
        }
    }

    #[test]
    fn invalid_switches_are_refused() {
        for (switches, expected) in [
            ("api/all=false", "invalid key with only api/all=false"),
            ("v2=true", "runtime-config invalid key v2"),
            ("api/v2", "runtime-config invalid key v2"),
            ("api/v2/pods", "group version /v2 that has not been registered"),
            ("apps/v9=true", "group version apps/v9 that has not been registered"),
            ("apps/v1/a/b=true", "runtime-config invalid key apps/v1/a/b"),
            (
                "foo/v1=true,api/all=true,example.org/v1/things=false,foo/v2=true,apps/v1=true",
                "unknown api groups example.org,foo",
            ),
            (
                "apps/v1/Deployments=true",
                "resource is always lowercase plural, got Deployments",
            ),
        ] {
            let error = enablement(switches).unwrap_err();
            assert!(error.contains(expected), "{switches}: {error}");
        }
    }
}

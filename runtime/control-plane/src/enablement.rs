//! The enabled group versions and resources: the defaults, and the switches of `--runtime-config`.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use planesmith_machinery::resource::ResourceFacts;
use planesmith_machinery::scheme::Scheme;

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
/// A resource that names a feature ([`ResourceTable::feature`]) is off while `--feature-gates` has this feature off, whatever
/// the switches say.
///
/// [`ResourceTable::feature`]: planesmith_machinery::resource::ResourceTable::feature
#[derive(Clone, Debug, Default)]
pub struct Enablement {
    versions: HashMap<String, bool>,
    resources: HashMap<String, bool>,
    gates: FeatureGates,
}

impl Enablement {
    /// Applies `switches` and the features in `gates` to the defaults of `groups` and of their resources.
    ///
    /// # Errors
    ///
    /// For a switch whose name is invalid, or a group or a version that the program does not have.
    pub fn new<'g>(
        groups: impl IntoIterator<Item = &'g GroupVersion>,
        switches: &Switches,
        gates: &FeatureGates,
    ) -> Result<Self, String> {
        let groups: Vec<&GroupVersion> = groups.into_iter().collect();
        let switches = &switches.renamed(in_core_group);
        if switches.get("api/all") == Some(false) && switches.names().count() == 1 {
            return Err("--runtime-config: invalid key with only api/all=false".to_owned());
        }
        let mut enablement = Self {
            gates: gates.clone(),
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
        if facts.feature.is_some_and(|feature| !self.gates.enabled(feature.name())) {
            return false;
        }
        let version = self.versions.get(&*facts.api_version).copied().unwrap_or(true);
        if self.resources.is_empty() {
            return version;
        }
        let name = format!("{}/{}/{}", facts.group, facts.version, facts.plural);
        self.resources.get(&name).copied().unwrap_or(version)
    }

    /// Returns the paths of the group versions in `served` some of whose resources are off, with the names of these.
    #[must_use]
    pub(crate) fn unserved(&self, scheme: &Scheme, served: &[GroupVersion]) -> BTreeMap<String, Vec<String>> {
        let mut unserved: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for facts in scheme.iter().filter(|facts| facts.served && !self.resource(facts)) {
            let version = served.iter().find(|version| version.api_version() == facts.api_version);
            if let Some(version) = version {
                unserved
                    .entry(version.path())
                    .or_default()
                    .push(facts.plural.to_string());
            }
        }
        unserved
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

    const GROUPS: [GroupVersion; 7] = [
        group_version("", "v1", true),
        group_version("apps", "v1", true),
        group_version("coordination.k8s.io", "v1", true),
        group_version("coordination.k8s.io", "v1beta1", false),
        group_version("coordination.k8s.io", "v1alpha2", false),
        group_version("scheduling.k8s.io", "v1alpha2", false),
        group_version("shop.example.com", "v1alpha1", true),
    ];

    fn enablement(switches: &str) -> Result<Enablement, String> {
        Enablement::new(&GROUPS, &switches.parse()?, &FeatureGates::default())
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
                   scheduling.k8s.io/v1alpha2 shop.example.com/v1alpha1";
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
        let workload = planesmith_api_defs::scheduling::v1alpha2::Workload::RESOURCE;
        for (switches, gates, bundles, workloads) in [
            ("api/beta=true", "", false, false),
            ("api/beta=true", "ClusterTrustBundle=true", true, false),
            ("api/all=true", "", false, false),
            ("api/all=true", "AllAlpha=true", false, true),
            (
                "api/all=true",
                "AllAlpha=true,AllBeta=true,GenericWorkload=false",
                true,
                false,
            ),
            ("scheduling.k8s.io/v1alpha2/workloads=true", "", false, false),
        ] {
            let enablement = Enablement::new(&GROUPS, &switches.parse().unwrap(), &gates.parse().unwrap()).unwrap();
            let on = (enablement.resource(bundle), enablement.resource(workload));
            assert_eq!(on, (bundles, workloads), "{switches} {gates}");
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

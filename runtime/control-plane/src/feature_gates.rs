//! `--feature-gates`: the enabled features of Kubernetes, and of the components of a program.
//!
//! All names of Kubernetes are `known`; those that change the behaviour of this server are queried by [`FeatureGates::enabled`].

mod gate;
mod known;

use std::collections::BTreeMap;
use std::str::FromStr;

use planesmith_machinery::{feature, go_format};

pub use self::gate::FeatureGate;
use self::gate::{Feature, Stage};
use self::known::KNOWN;

/// The names that stand for all features of a stage.
const STAGES: [(&str, Stage); 2] = [("AllAlpha", Stage::Alpha), ("AllBeta", Stage::Beta)];

/// The enabled features: the defaults of Kubernetes and of the program's components, and the switches of the flag.
///
/// Each term is `Name=true` or `Name=false`, optionally with the prefix `kube:`. `AllAlpha` and `AllBeta` stand for
/// all features of that stage that are not named themselves. Each occurrence of the flag is parsed alone; see
/// [`FeatureGates::and`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FeatureGates {
    /// The features that were named, and their switches.
    switched: BTreeMap<&'static str, bool>,
    stages: BTreeMap<&'static str, bool>,
    of_components: Vec<FeatureGate>,
}

impl FeatureGates {
    /// Parses one occurrence of the flag, in a program whose components have the gates `of_components`.
    ///
    /// # Errors
    ///
    /// The term that is wrong, in the words of kube-apiserver.
    pub fn parse(text: &str, of_components: &[FeatureGate]) -> Result<Self, String> {
        let mut gates = Self::default().with(of_components);
        let mut problems = Vec::new();
        for (name, on) in terms(text)? {
            if let Some((all, _)) = STAGES.iter().find(|(all, _)| *all == name) {
                gates.stages.insert(all, on);
                continue;
            }
            let Some(feature) = gates.find(name) else {
                return Err(format!("unrecognized feature gate: {name}"));
            };
            if feature.locked && feature.default != on {
                problems.push(format!(
                    "cannot set feature gate {name} to {on}, feature is locked to {}",
                    feature.default
                ));
                continue;
            }
            let name = feature.name;
            gates.switched.insert(name, on);
        }
        join_problems(&problems).map_or(Ok(gates), Err)
    }

    /// Returns the same switches in a program whose components have the gates `of_components`.
    #[must_use]
    pub fn with(self, of_components: &[FeatureGate]) -> Self {
        let of_components = of_components.to_vec();
        Self { of_components, ..self }
    }

    /// Returns a name that two gates share: of components, or of one and Kubernetes.
    #[must_use]
    pub fn shared_name(&self) -> Option<&'static str> {
        let of_components = self.of_components.iter().enumerate();
        let mut shared = of_components.filter_map(|(place, gate)| {
            let name = gate.facts.name;
            let before = self.of_components[..place].iter().map(|gate| &gate.facts);
            KNOWN
                .iter()
                .chain(before)
                .find(|known| known.name == name)
                .map(|_| name)
        });
        shared.next()
    }

    fn all_features(&self) -> impl Iterator<Item = &Feature> {
        KNOWN.iter().chain(self.of_components.iter().map(|gate| &gate.facts))
    }

    fn find(&self, name: &str) -> Option<&Feature> {
        self.all_features().find(|feature| feature.name == name)
    }

    /// True if a feature is on; one that neither Kubernetes nor the program knows is off.
    #[must_use]
    pub fn enabled(&self, name: &str) -> bool {
        self.switched(name)
            .unwrap_or_else(|| self.find(name).is_some_and(|feature| feature.default))
    }

    /// Returns the switch of a feature, set by its name or with its stage; `None` if neither was named.
    fn switched(&self, name: &str) -> Option<bool> {
        self.switched.get(name).copied().or_else(|| {
            let stage = self.find(name)?.stage;
            let (all, _) = STAGES.iter().find(|(_, known)| *known == stage)?;
            self.stages.get(all).copied()
        })
    }

    /// Returns the features that code reads, and their states.
    #[must_use]
    pub fn states(&self) -> Vec<(&'static feature::Feature, bool)> {
        let server = planesmith_server::features::ALL.iter();
        let read = server.chain(&planesmith_api_defs::features::ALL).copied();
        let read = read.chain(self.of_components.iter().map(|gate| gate.feature));
        read.map(|feature| (feature, self.enabled(feature.name()))).collect()
    }

    /// All features: name, stage as metrics call it, and whether it is on.
    pub fn all(&self) -> impl Iterator<Item = (&'static str, &'static str, bool)> + '_ {
        self.all_features().map(|feature| {
            let stage = match feature.stage {
                Stage::Alpha => "ALPHA",
                Stage::Beta => "BETA",
                Stage::Stable => "",
                Stage::Deprecated => "DEPRECATED",
            };
            (feature.name, stage, self.enabled(feature.name))
        })
    }

    /// Returns the named features that are stable or deprecated.
    pub fn outdated(&self) -> impl Iterator<Item = (&'static str, bool)> + '_ {
        let outdated = |name: &str| {
            self.find(name)
                .is_some_and(|feature| matches!(feature.stage, Stage::Stable | Stage::Deprecated))
        };
        let named = self.switched.iter().map(|(name, on)| (*name, *on));
        named.filter(move |(name, _)| outdated(name))
    }

    /// Returns these switches, overridden by `later`.
    #[must_use]
    pub fn and(mut self, later: Self) -> Self {
        self.switched.extend(later.switched);
        self.stages.extend(later.stages);
        if self.of_components.is_empty() {
            self.of_components = later.of_components;
        }
        self
    }

    /// Reports features that are on without those that they need; `None` if there are none.
    #[must_use]
    pub fn unmet_dependencies(&self) -> Option<String> {
        let on = KNOWN.iter().filter(|feature| self.enabled(feature.name));
        let problems = on.filter_map(|feature| {
            let needs = feature.needs.iter().copied();
            let off: Vec<&str> = needs.filter(|need| !self.enabled(need)).collect();
            (!off.is_empty()).then(|| {
                format!(
                    "{} is enabled, but depends on features that are disabled: [{}]",
                    feature.name,
                    off.join(" ")
                )
            })
        });
        join_problems(&problems.collect::<Vec<_>>())
    }
}

/// Joins several problems in one sentence, in Kubernetes' form; `None` if there are none.
fn join_problems(problems: &[String]) -> Option<String> {
    (!problems.is_empty()).then(|| go_format::aggregate(problems))
}

impl FromStr for FeatureGates {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::parse(text, &[])
    }
}

/// Parses the named switches, in the order of their names; the last one of a name wins.
fn terms(text: &str) -> Result<BTreeMap<&str, bool>, String> {
    let mut terms = BTreeMap::new();
    for term in text.split(',').map(str::trim).filter(|term| !term.is_empty()) {
        let term = match term.split_once(':') {
            None | Some(("", _)) => term.trim_start_matches(':'),
            Some(("kube", term)) => term,
            Some((component, _)) => return Err(format!("component not registered: {component}")),
        };
        let Some((name, value)) = term.split_once('=') else {
            return Err(format!("missing bool value for {}", term.trim()));
        };
        let (name, value) = (name.trim(), value.trim());
        let on = match value {
            "1" | "t" | "T" | "true" | "TRUE" | "True" => true,
            "0" | "f" | "F" | "false" | "FALSE" | "False" => false,
            _ => {
                return Err(format!(
                    "invalid value of {name}={value}, err: strconv.ParseBool: parsing \"{value}\": invalid syntax"
                ));
            }
        };
        terms.insert(name, on);
    }
    Ok(terms)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use planesmith_machinery::feature::Features;

    use super::*;

    fn gates(text: &str) -> FeatureGates {
        text.parse().unwrap()
    }

    #[test]
    fn defaults_are_those_of_kubernetes() {
        let gates = gates("");
        assert!(gates.enabled("WatchList") && gates.enabled("MutatingAdmissionPolicy"));
        assert!(!gates.enabled("CBORServingAndStorage") && !gates.enabled("ClusterTrustBundle"));
        assert!(!gates.enabled("AllowDNSOnlyNodeCSR") && !gates.enabled("Nonsense"));
        assert_eq!(gates.switched("WatchList"), None);
    }

    #[test]
    fn features_that_code_reads_have_the_defaults_of_kubernetes() {
        let states = |text: &str| gates(text).states();
        assert!(
            states("")
                .iter()
                .all(|(feature, _)| gates("").find(feature.name()).is_some())
        );
        assert_eq!(states("").into_iter().collect::<Features>(), *Features::defaults());
        let features: Features = states("WatchList=false,HPAScaleToZero=true").into_iter().collect();
        assert_eq!(
            format!("{features:?}"),
            "Features, changed: [\"HPAScaleToZero\", \"WatchList\"]"
        );
    }

    #[test]
    fn the_table_is_in_order_and_its_defaults_go_together() {
        let names: Vec<String> = KNOWN.iter().map(|feature| feature.name.to_lowercase()).collect();
        assert!(names.is_sorted());
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len());
        assert!(
            KNOWN
                .iter()
                .flat_map(|feature| feature.needs)
                .all(|need| gates("").find(need).is_some())
        );
        assert_eq!(gates("").unmet_dependencies(), None);
    }

    #[test]
    fn features_are_switched_by_name_or_by_stage() {
        let named = gates("ClusterTrustBundle=true, kube:WatchList=0,");
        assert!(named.enabled("ClusterTrustBundle") && !named.enabled("WatchList"));
        let all = gates("AllAlpha=true,AllBeta=true,HPAScaleToZero=false");
        assert!(all.enabled("GenericWorkload") && all.enabled("ClusterTrustBundle") && !all.enabled("HPAScaleToZero"));
        assert!(!gates("AllBeta=false").enabled("OpenAPIEnums"));
        assert_eq!(
            gates("KMSv1=true,WatchList=true").outdated().collect::<Vec<_>>(),
            [("KMSv1", true)]
        );
    }

    #[test]
    fn gates_of_components_are_switched_like_those_of_kubernetes() {
        static FAST_LANES: feature::Feature = feature::Feature::on("FastLanes");
        static LOCKERS: feature::Feature = feature::Feature::off("Lockers");
        let known = [FeatureGate::beta(&FAST_LANES), FeatureGate::alpha(&LOCKERS)];
        let parsed = |text: &str| FeatureGates::parse(text, &known).unwrap();

        let defaults = parsed("");
        assert!(defaults.enabled("FastLanes") && !defaults.enabled("Lockers"));
        let switched = FeatureGates::default().and(parsed("FastLanes=false,kube:Lockers=true"));
        assert!(!switched.enabled("FastLanes") && switched.enabled("Lockers"));
        let features: Features = switched.states().into_iter().collect();
        assert!(!features.has(&FAST_LANES) && features.has(&LOCKERS));
        assert!(parsed("AllAlpha=true").enabled("Lockers"));
        assert!(switched.all().any(|metric| metric == ("Lockers", "ALPHA", true)));
        assert_eq!(switched.shared_name(), None);

        assert_eq!(
            "Lockers=true".parse::<FeatureGates>().unwrap_err(),
            "unrecognized feature gate: Lockers"
        );
        let twice = FeatureGates::default().with(&[known[0], known[1], known[0]]);
        assert_eq!(twice.shared_name(), Some("FastLanes"));
        static WATCH_LIST: feature::Feature = feature::Feature::on("WatchList");
        let taken = FeatureGates::default().with(&[FeatureGate::stable(&WATCH_LIST)]);
        assert_eq!(taken.shared_name(), Some("WatchList"));
    }

    #[test]
    fn mistakes_are_reported_as_by_kubernetes() {
        for (text, expected) in [
            ("Nonsense=true", "unrecognized feature gate: Nonsense"),
            ("WatchList", "missing bool value for WatchList"),
            (
                "WatchList=maybe",
                "invalid value of WatchList=maybe, err: strconv.ParseBool: parsing \"maybe\": invalid syntax",
            ),
            (
                "SidecarContainers=false",
                "cannot set feature gate SidecarContainers to false, feature is locked to true",
            ),
            (
                "NodeSwap=false,WinDSR=false",
                "[cannot set feature gate NodeSwap to false, feature is locked to true, cannot set feature gate WinDSR \
                 to false, feature is locked to true]",
            ),
            ("other:WatchList=true", "component not registered: other"),
        ] {
            assert_eq!(text.parse::<FeatureGates>().unwrap_err(), expected, "{text}");
        }
        let alone = gates("ClusterTrustBundleProjection=true");
        assert_eq!(
            alone.unmet_dependencies().as_deref(),
            Some(
                "ClusterTrustBundleProjection is enabled, but depends on features that are disabled: [ClusterTrustBundle]"
            )
        );
        assert_eq!(alone.and(gates("ClusterTrustBundle=true")).unmet_dependencies(), None);
    }
}

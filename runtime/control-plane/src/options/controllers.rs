//! Which embedded controllers run.

use std::str::FromStr;

/// Names of the embedded controllers, as kube-controller-manager calls them; and what it called them before.
const CONTROLLERS: [(&str, Option<&str>); 14] = [
    ("certificatesigningrequest-approving-controller", Some("csrapproving")),
    ("certificatesigningrequest-cleaner-controller", Some("csrcleaner")),
    ("certificatesigningrequest-signing-controller", Some("csrsigning")),
    ("clusterrole-aggregation-controller", Some("clusterrole-aggregation")),
    ("garbage-collector-controller", Some("garbagecollector")),
    (
        "legacy-serviceaccount-token-cleaner-controller",
        Some("legacy-service-account-token-cleaner"),
    ),
    ("namespace-controller", Some("namespace")),
    ("resourcequota-controller", Some("resourcequota")),
    (
        "root-ca-certificate-publisher-controller",
        Some("root-ca-cert-publisher"),
    ),
    ("service-cidr-controller", None),
    ("serviceaccount-controller", Some("serviceaccount")),
    ("serviceaccount-token-controller", Some("serviceaccount-token")),
    (
        "storageversion-garbage-collector-controller",
        Some("storage-version-gc"),
    ),
    ("ttl-after-finished-controller", Some("ttl-after-finished")),
];

/// Which embedded controllers run, in kube-controller-manager's syntax: `*`, `name`, `-name`, `-*`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Controllers {
    terms: Vec<String>,
}

impl Controllers {
    /// Whether the controller called `name` runs: named ones first, then `*`.
    #[must_use]
    pub fn enabled(&self, name: &str) -> bool {
        for term in &self.terms {
            if term == name {
                return true;
            }
            if term.strip_prefix('-') == Some(name) {
                return false;
            }
        }
        self.terms.iter().any(|term| term == "*")
    }

    /// The same for a server behind another one, which collects garbage there, too: it alone knows owners and dependents on
    /// both sides. Who names the collector gets it.
    #[must_use]
    pub fn behind_another(&self) -> Self {
        let mut terms = self.terms.clone();
        terms.push("-garbage-collector-controller".to_owned());
        Self { terms }
    }
}

impl FromStr for Controllers {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut terms = Vec::new();
        for term in text.split(',').map(str::trim).filter(|term| !term.is_empty()) {
            let (minus, name) = match term.strip_prefix('-') {
                Some(name) => ("-", name),
                None => ("", term),
            };
            let known = CONTROLLERS
                .iter()
                .find(|(known, before)| *known == name || *before == Some(name));
            match known {
                Some((known, _)) => terms.push(format!("{minus}{known}")),
                None if name == "*" => terms.push(term.to_owned()),
                None => {
                    let names = CONTROLLERS.map(|(known, _)| known).join(", ");
                    return Err(format!("unknown controller `{name}`; there are: {names}"));
                }
            }
        }
        Ok(Self { terms })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_named_controller_wins_over_the_star() {
        let enabled = |text: &str| Controllers::from_str(text).unwrap().enabled("namespace-controller");
        assert!(enabled("*"));
        assert!(!enabled("*,-namespace"));
        assert!(!enabled("*,-namespace-controller"));
        assert!(enabled("-*,namespace"));
        assert!(!enabled("-*"));
        assert!(!enabled(""));
    }

    #[test]
    fn garbage_is_collected_by_the_server_in_front() {
        let enabled = |text: &str, name: &str| Controllers::from_str(text).unwrap().behind_another().enabled(name);
        assert!(!enabled("*", "garbage-collector-controller"));
        assert!(enabled("*,garbagecollector", "garbage-collector-controller"));
        assert!(enabled("*", "namespace-controller"));
    }
}

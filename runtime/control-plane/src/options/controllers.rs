//! The embedded controllers that run.

use std::str::FromStr;

/// The name of a controller in `--controllers`.
#[derive(Clone, Copy, Debug)]
pub struct ControllerName {
    /// The name, that of kube-controller-manager.
    pub name: &'static str,
    /// A former name that is still accepted.
    pub former: Option<&'static str>,
}

impl ControllerName {
    /// A name without a former one.
    #[must_use]
    pub const fn new(name: &'static str) -> Self {
        Self { name, former: None }
    }

    /// A name with a former one.
    #[must_use]
    pub const fn renamed(name: &'static str, former: &'static str) -> Self {
        Self {
            name,
            former: Some(former),
        }
    }
}

/// The controllers of every server.
pub(crate) const CONTROLLERS: [ControllerName; 8] = [
    ControllerName::renamed("garbage-collector-controller", "garbagecollector"),
    ControllerName::renamed(
        "legacy-serviceaccount-token-cleaner-controller",
        "legacy-service-account-token-cleaner",
    ),
    ControllerName::renamed("namespace-controller", "namespace"),
    ControllerName::renamed("root-ca-certificate-publisher-controller", "root-ca-cert-publisher"),
    ControllerName::renamed("serviceaccount-controller", "serviceaccount"),
    ControllerName::renamed("serviceaccount-token-controller", "serviceaccount-token"),
    ControllerName::new("storage-version-migrator-controller"),
    ControllerName::renamed("storageversion-garbage-collector-controller", "storage-version-gc"),
];

/// The embedded controllers that run, in kube-controller-manager's syntax: `*`, `name`, `-name`, `-*`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Controllers {
    terms: Vec<String>,
}

impl Controllers {
    /// True if the controller called `name` runs: named ones first, then `*`.
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

    /// Returns the same controllers, but the garbage collector only if it is named. Of a server behind another one, the server in
    /// front collects garbage on both sides, as it alone knows all owners and dependents.
    #[must_use]
    pub fn without_garbage_collector(&self) -> Self {
        let mut terms = self.terms.clone();
        terms.push("-garbage-collector-controller".to_owned());
        Self { terms }
    }
}

impl FromStr for Controllers {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::parse(text, &CONTROLLERS)
    }
}

impl Controllers {
    /// Parses the flag of a server with the controllers `known`.
    ///
    /// # Errors
    ///
    /// An unknown name, with the known ones.
    pub fn parse(text: &str, known: &[ControllerName]) -> Result<Self, String> {
        let mut terms = Vec::new();
        for term in text.split(',').map(str::trim).filter(|term| !term.is_empty()) {
            let (minus, name) = match term.strip_prefix('-') {
                Some(name) => ("-", name),
                None => ("", term),
            };
            let found = known
                .iter()
                .find(|known| known.name == name || known.former == Some(name));
            match found {
                Some(found) => terms.push(format!("{minus}{}", found.name)),
                None if name == "*" => terms.push(term.to_owned()),
                None => {
                    let mut names: Vec<&str> = known.iter().map(|known| known.name).collect();
                    names.sort_unstable();
                    let names = names.join(", ");
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
        let enabled = |text: &str, name: &str| {
            Controllers::from_str(text)
                .unwrap()
                .without_garbage_collector()
                .enabled(name)
        };
        assert!(!enabled("*", "garbage-collector-controller"));
        assert!(enabled("*,garbagecollector", "garbage-collector-controller"));
        assert!(enabled("*", "namespace-controller"));
    }
}

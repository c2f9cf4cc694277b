//! Which embedded controllers run.

use std::str::FromStr;

/// Names of the embedded controllers, as kube-controller-manager calls them.
pub(super) const CONTROLLERS: &[&str] = &["garbage-collector-controller", "namespace", "service-cidr-controller"];

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
}

impl FromStr for Controllers {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut terms = Vec::new();
        for term in text.split(',').map(str::trim).filter(|term| !term.is_empty()) {
            let name = term.strip_prefix('-').unwrap_or(term);
            if name != "*" && !CONTROLLERS.contains(&name) {
                return Err(format!(
                    "unknown controller `{name}`; there are: {}",
                    CONTROLLERS.join(", ")
                ));
            }
            terms.push(term.to_owned());
        }
        Ok(Self { terms })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_named_controller_wins_over_the_star() {
        let enabled = |text: &str| Controllers::from_str(text).unwrap().enabled("namespace");
        assert!(enabled("*"));
        assert!(!enabled("*,-namespace"));
        assert!(enabled("-*,namespace"));
        assert!(!enabled("-*"));
        assert!(!enabled(""));
    }
}

//! IP ranges of a node's pods.

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::ip::{self, Family};

use super::NodeSpec;

impl NodeSpec {
    /// Synchronizes `podCIDR` with the first entry of `podCIDRs`. If the two differ, `podCIDR` takes precedence,
    /// because older clients know only this field.
    pub(super) fn unite_pod_cidrs(&mut self) {
        let single = &self.pod_cidr;
        if !single.is_empty() && self.pod_cidrs.first() != Some(single) {
            self.pod_cidrs = vec![single.clone()];
        }
        if let Some(first) = self.pod_cidrs.first() {
            self.pod_cidr.clone_from(first);
        }
    }

    /// Reports malformed ranges and several ranges of one IP family.
    pub(super) fn check_pod_cidrs(&self, errors: &mut FieldErrors) {
        let cidrs = &self.pod_cidrs;
        for (index, cidr) in cidrs.iter().enumerate() {
            for problem in ip::check_legacy_range(cidr, errors.features()) {
                errors
                    .at_index("spec.podCIDRs", index)
                    .invalid("", cidr.as_str(), problem);
            }
        }
        if cidrs.len() < 2 {
            return;
        }
        let families: Vec<Option<Family>> = cidrs
            .iter()
            .map(|cidr| ip::parse_range(cidr).map(|(address, _)| Family::from_address(address)))
            .collect();
        if let Some(index) = families.iter().position(Option::is_none) {
            let bad = &cidrs[index];
            errors.internal(
                "spec.podCIDRs",
                format!(
                    "invalid PodCIDRs. failed to check with dual stack with error:invalid CIDR[{index}]: <nil> (invalid \
                     CIDR address: {bad})"
                ),
            );
        }
        let one_each = matches!(families[..], [Some(first), Some(second)] if first != second);
        if !one_each {
            let problem = "may specify no more than one CIDR for each IP family";
            errors.invalid("spec.podCIDRs", cidrs.as_slice(), problem);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(single: &str, cidrs: &[&str]) -> NodeSpec {
        NodeSpec {
            pod_cidr: single.to_owned(),
            pod_cidrs: cidrs.iter().map(|cidr| (*cidr).to_owned()).collect(),
            ..NodeSpec::default()
        }
    }

    #[test]
    fn the_single_range_and_the_list_agree_after_defaulting() {
        let cases = [
            (
                ("", &["10.0.0.0/24", "fd00::/64"][..]),
                ("10.0.0.0/24", &["10.0.0.0/24", "fd00::/64"][..]),
            ),
            (("10.0.0.0/24", &[]), ("10.0.0.0/24", &["10.0.0.0/24"])),
            (("10.0.1.0/24", &["10.0.0.0/24"]), ("10.0.1.0/24", &["10.0.1.0/24"])),
            (("", &[]), ("", &[])),
        ];
        for (given, expected) in cases {
            let mut given = spec(given.0, given.1);
            given.unite_pod_cidrs();
            assert_eq!(given, spec(expected.0, expected.1));
        }
    }

    #[test]
    fn ranges_are_legal_and_one_per_family() {
        let problems = |cidrs: &[&str]| {
            let mut errors = FieldErrors::default();
            spec("", cidrs).check_pod_cidrs(&mut errors);
            errors
                .as_slice()
                .iter()
                .map(|error| error.message())
                .collect::<Vec<_>>()
        };
        assert!(problems(&["10.0.0.0/24", "fd00::/64"]).is_empty());
        assert_eq!(
            problems(&["10.0.0.0/33"]),
            [
                "spec.podCIDRs[0]: Invalid value: \"10.0.0.0/33\": must be a valid CIDR value, (e.g. 10.9.8.0/24 or \
              2001:db8::/64)"
            ]
        );
        assert_eq!(
            problems(&["10.0.0.0/24", "10.0.0.0/24"]),
            [
                "spec.podCIDRs: Invalid value: [\"10.0.0.0/24\",\"10.0.0.0/24\"]: may specify no more than one CIDR for \
                 each IP family",
            ]
        );
    }
}

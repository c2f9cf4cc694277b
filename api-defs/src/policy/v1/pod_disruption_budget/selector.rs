//! Conversion of budgets' selectors: an empty selector matches everything in `v1` and nothing in `v1beta1`.
//!
//! Each version expresses the opposite with a requirement on a label that no pod has. This requirement is always the
//! only one.

use planesmith_machinery::meta::{LabelSelector, LabelSelectorRequirement};

/// Label that no pod has.
const LABEL: &str = "pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match";

/// The selector that matches everything in a version. The other version's selector for everything matches nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::policy) enum Everything {
    /// `v1`, in which the empty selector matches everything.
    V1,
    /// `v1beta1`, in which the absence of the special label matches everything.
    V1beta1,
}

impl Everything {
    /// Removes the special label unless the whole selector is the version's special selector.
    pub(in crate::policy) fn tidy(self, selector: &mut LabelSelector) {
        if *selector != self.special() {
            selector.match_labels.remove(LABEL);
            selector
                .match_expressions
                .retain(|requirement| requirement.key != LABEL);
        }
    }

    /// Converts a selector of this version to the other version.
    pub(in crate::policy) fn translated(self, selector: &LabelSelector) -> LabelSelector {
        let empty = LabelSelector::default();
        let other = match self {
            Everything::V1 => Everything::V1beta1,
            Everything::V1beta1 => Everything::V1,
        };
        if *selector == empty {
            return other.special();
        }
        if *selector == self.special() {
            return empty;
        }
        let mut selector = selector.clone();
        other.tidy(&mut selector);
        selector
    }

    /// Returns the selector that the version needs besides the empty one: it matches nothing in `v1` and everything in
    /// `v1beta1`.
    fn special(self) -> LabelSelector {
        let operator = match self {
            Everything::V1 => "Exists",
            Everything::V1beta1 => "DoesNotExist",
        };
        LabelSelector {
            match_expressions: vec![LabelSelectorRequirement {
                key: LABEL.to_owned(),
                operator: operator.to_owned(),
                values: Vec::new(),
            }],
            ..LabelSelector::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_and_nothing_are_translated_both_ways() {
        for version in [Everything::V1, Everything::V1beta1] {
            let other = match version {
                Everything::V1 => Everything::V1beta1,
                Everything::V1beta1 => Everything::V1,
            };
            for selector in [LabelSelector::default(), version.special()] {
                assert_eq!(other.translated(&version.translated(&selector)), selector);
            }
        }
        assert_eq!(
            Everything::V1.translated(&LabelSelector::default()),
            Everything::V1beta1.special()
        );
    }

    #[test]
    fn the_label_does_not_stand_beside_others() {
        let mut selector = Everything::V1.special();
        Everything::V1.tidy(&mut selector);
        assert_eq!(selector, Everything::V1.special());
        selector.match_labels.insert("app".to_owned(), "web".to_owned());
        Everything::V1.tidy(&mut selector);
        assert!(selector.match_expressions.is_empty());
        assert_eq!(selector.match_labels.len(), 1);
    }
}

//! Features that kubelets declare.

use planesmith_machinery::feature::Features;
use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::go_format::quote;

use super::NodeStatus;
use crate::features::NODE_DECLARED_FEATURES;

/// Maximum length of a feature's name.
const MAX_NAME: usize = 253;

impl NodeStatus {
    /// Drops declared features if the gate is disabled, unless the stored node has them.
    pub(super) fn drop_declared_features(&mut self, old: Option<&Self>, features: &Features) {
        let had_any = old.is_some_and(|old| !old.declared_features.is_empty());
        if !features.has(&NODE_DECLARED_FEATURES) && !had_any {
            self.declared_features.clear();
        }
    }

    /// Reports feature names that are malformed, duplicate or unsorted.
    pub(super) fn check_declared_features(&self, errors: &mut FieldErrors) {
        const FIELD: &str = "status.declaredFeatures";
        let features = &self.declared_features;
        for (index, feature) in features.iter().enumerate() {
            if let Some(problem) = name_problem(feature) {
                errors.at_index(FIELD, index).invalid("", feature, problem);
            }
            let Some(next) = features.get(index + 1) else {
                break;
            };
            let errors = &mut *errors.at_index(FIELD, index + 1);
            if feature == next {
                errors.duplicate("", next);
            } else if feature > next {
                errors.invalid("", next, "list must be sorted alphabetically");
            }
        }
    }
}

/// Returns the error in a feature's name; `None` when it is legal.
fn name_problem(name: &str) -> Option<String> {
    let problem = if name.len() > MAX_NAME {
        format!("must be no more than {MAX_NAME} characters")
    } else if !is_well_formed(name) {
        "must start with an UpperCamelCase segment, with subsequent segments separated by '/' (e.g., MyFeature or \
         MyFeature/mySubFeature), and contain only alphanumeric characters and slashes"
            .to_owned()
    } else {
        return None;
    };
    Some(format!("invalid feature name {}: {problem}", quote(name)))
}

fn is_well_formed(name: &str) -> bool {
    let mut segments = name.split('/');
    name.starts_with(|first: char| first.is_ascii_uppercase())
        && segments.all(|segment| {
            segment.starts_with(|first: char| first.is_ascii_alphabetic())
                && segment.bytes().all(|byte| byte.is_ascii_alphanumeric())
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(features: &[&str]) -> Vec<String> {
        let status = NodeStatus {
            declared_features: features.iter().map(|&feature| feature.to_owned()).collect(),
            ..NodeStatus::default()
        };
        let mut errors = FieldErrors::default();
        status.check_declared_features(&mut errors);
        errors.as_slice().iter().map(|error| error.message()).collect()
    }

    #[test]
    fn features_have_names_in_camel_case() {
        assert!(problems(&["A", "B1/sub/Part"]).is_empty());
        for bad in ["", "a", "A/", "A/1", "A-b", "A\n"] {
            assert_eq!(problems(&[bad]).len(), 1, "{bad}");
        }
        assert_eq!(problems(&[&"A".repeat(MAX_NAME + 1)]).len(), 1);
    }

    #[test]
    fn features_are_sorted_and_stand_once() {
        assert_eq!(
            problems(&["B", "A", "A"]),
            [
                "status.declaredFeatures[1]: Invalid value: \"A\": list must be sorted alphabetically",
                "status.declaredFeatures[2]: Duplicate value: \"A\""
            ]
        );
    }
}

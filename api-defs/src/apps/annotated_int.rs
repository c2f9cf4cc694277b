//! Numbers in annotations, which are fields of kube-apiserver's internal types.

use std::num::IntErrorKind;

use planesmith_machinery::go_format::quote;

/// Parses a decimal number of 64 bits; the error is that of Go's parser.
pub(crate) fn parse_int(text: &str) -> Result<i64, String> {
    text.parse().map_err(|error: std::num::ParseIntError| {
        let problem = match error.kind() {
            IntErrorKind::PosOverflow | IntErrorKind::NegOverflow => "value out of range",
            _ => "invalid syntax",
        };
        format!("strconv.ParseInt: parsing {}: {problem}", quote(text))
    })
}

#[cfg(test)]
mod tests {
    use planesmith_machinery::strategy::StrategyExtensions as _;

    use crate::apps::v1::{DaemonSet, Deployment, ROLLBACK_TO, TEMPLATE_GENERATION};

    fn problems(text: &str) -> [Option<String>; 2] {
        let annotation = |key: &str| (key.to_owned(), text.to_owned());
        let (mut set, mut deployment) = (DaemonSet::default(), Deployment::default());
        set.metadata.annotations.extend([annotation(TEMPLATE_GENERATION)]);
        deployment.metadata.annotations.extend([annotation(ROLLBACK_TO)]);
        [set.conversion_problem(), deployment.conversion_problem()]
    }

    #[test]
    fn annotated_numbers_are_numbers() {
        for (text, problem) in [
            ("5", None),
            ("-5", None),
            ("x", Some("parsing \"x\": invalid syntax")),
            (
                "99999999999999999999",
                Some("parsing \"99999999999999999999\": value out of range"),
            ),
        ] {
            let of_set = problem.map(|problem| format!("strconv.ParseInt: {problem}"));
            let of_deployment = of_set.clone().map(|problem| {
                format!("failed to parse annotation[deprecated.deployment.rollback.to]={text} as int64: {problem}")
            });
            assert_eq!(problems(text), [of_set, of_deployment], "{text}");
        }
        let empty = "strconv.ParseInt: parsing \"\": invalid syntax".to_owned();
        assert_eq!(problems(""), [Some(empty), None]);
        assert_eq!(DaemonSet::default().conversion_problem(), None);
    }
}

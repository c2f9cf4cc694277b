//! The selectors that a review limits its question to.

use planesmith_api_defs::authorization::v1::ResourceAttributes;
use planesmith_machinery::meta::{FieldSelectorRequirement, LabelSelector, LabelSelectorRequirement};
use planesmith_machinery::selector::{FieldQuery, LabelQuery};

/// The selectors of a review in the form of a query, and the terms that cannot be parsed. A term that cannot be
/// parsed is left out, which makes the question broader: a user that may do more may do this, too.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ParsedSelectors {
    pub(super) field: String,
    pub(super) label: String,
    /// The problems, for the answer.
    pub(super) problems: Vec<String>,
}

impl ParsedSelectors {
    pub(super) fn from_attributes(resource: &ResourceAttributes) -> Self {
        let mut parsed = Self::default();
        if let Some(selector) = &resource.field_selector {
            let terms = terms(&selector.raw_selector, &selector.requirements, FieldQuery::parse, field);
            parsed.field = parsed.read("fieldSelector", terms);
        }
        if let Some(selector) = &resource.label_selector {
            let terms = terms(&selector.raw_selector, &selector.requirements, LabelQuery::parse, label);
            parsed.label = parsed.read("labelSelector", terms);
        }
        parsed
    }

    /// Returns the terms that could be parsed.
    fn read(&mut self, name: &str, terms: Vec<Option<String>>) -> String {
        let count = terms.len();
        let read: Vec<String> = terms.into_iter().flatten().collect();
        if read.len() < count {
            let partially = if read.is_empty() { "" } else { "partially " };
            let problem = format!("spec.resourceAttributes.{name} {partially}ignored due to parse error");
            self.problems.push(problem);
        }
        read.join(",")
    }
}

/// Returns the terms of a selector, `None` for each that cannot be parsed. A selector in text form is one term.
fn terms<Requirement, Query, Error>(
    raw: &str,
    requirements: &[Requirement],
    parse: fn(&str) -> Result<Query, Error>,
    write: fn(&Requirement) -> Option<String>,
) -> Vec<Option<String>> {
    match (requirements, raw) {
        ([], "") => Vec::new(),
        ([], _) => vec![parse(raw).is_ok().then(|| raw.to_owned())],
        _ => requirements.iter().map(write).collect(),
    }
}

fn field(requirement: &FieldSelectorRequirement) -> Option<String> {
    let sign = match requirement.operator.as_str() {
        "In" => "=",
        "NotIn" => "!=",
        _ => return None,
    };
    match &requirement.values[..] {
        [value] => Some(format!("{}{sign}{}", requirement.key, escaped(value))),
        _ => None,
    }
}

/// Escapes the characters that could end a term.
fn escaped(value: &str) -> String {
    let mut text = String::with_capacity(value.len());
    for c in value.chars() {
        if matches!(c, '\\' | ',' | '=') {
            text.push('\\');
        }
        text.push(c);
    }
    text
}

fn label(requirement: &LabelSelectorRequirement) -> Option<String> {
    let selector = LabelSelector {
        match_expressions: vec![requirement.clone()],
        ..LabelSelector::default()
    };
    LabelQuery::of_selector(&selector).ok()?;
    let (key, values) = (&requirement.key, requirement.values.join(","));
    Some(match requirement.operator.as_str() {
        "In" => format!("{key} in ({values})"),
        "NotIn" => format!("{key} notin ({values})"),
        "DoesNotExist" => format!("!{key}"),
        _ => key.clone(),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(resource: serde_json::Value, expected: [&str; 2], problems: &[&str]) {
        let resource: ResourceAttributes = serde_json::from_value(resource).unwrap();
        let parsed = ParsedSelectors::from_attributes(&resource);
        assert_eq!([&*parsed.field, &*parsed.label], expected);
        assert_eq!(parsed.problems, problems);
    }

    #[test]
    fn readable_selectors_limit_the_review() {
        check(json!({}), ["", ""], &[]);
        check(
            json!({"fieldSelector": {"rawSelector": "a=b"}, "labelSelector": {"rawSelector": "c in (d)"}}),
            ["a=b", "c in (d)"],
            &[],
        );
        let fields = json!({"requirements": [{"key": "a", "operator": "NotIn", "values": ["b,c"]}]});
        let labels = json!({"requirements": [
            {"key": "d", "operator": "In", "values": ["e", "f"]},
            {"key": "g", "operator": "DoesNotExist"},
        ]});
        check(
            json!({"fieldSelector": fields, "labelSelector": labels}),
            ["a!=b\\,c", "d in (e,f),!g"],
            &[],
        );
    }

    #[test]
    fn unreadable_selectors_are_reported() {
        check(
            json!({"fieldSelector": {"rawSelector": "a"}, "labelSelector": {"rawSelector": "a b"}}),
            ["", ""],
            &[
                "spec.resourceAttributes.fieldSelector ignored due to parse error",
                "spec.resourceAttributes.labelSelector ignored due to parse error",
            ],
        );
        let fields = json!({"requirements": [
            {"key": "a", "operator": "Exists"},
            {"key": "b", "operator": "In", "values": ["c"]},
        ]});
        let labels = json!({"requirements": [{"key": "d", "operator": "Like", "values": ["e"]}, {"key": "f", "operator": "Exists"}]});
        check(
            json!({"fieldSelector": fields, "labelSelector": labels}),
            ["b=c", "f"],
            &[
                "spec.resourceAttributes.fieldSelector partially ignored due to parse error",
                "spec.resourceAttributes.labelSelector partially ignored due to parse error",
            ],
        );
    }
}

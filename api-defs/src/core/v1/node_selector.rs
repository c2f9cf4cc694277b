//! Selectors of nodes.

use planesmith_machinery::Struct;
use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::names;
use planesmith_machinery::validation::check_label_key;

/// A selector of nodes. A node matches if it matches at least one of the terms.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(atomic)]
pub struct NodeSelector {
    /// Alternative terms. A node is selected if it matches one of them.
    #[field(proto = 1, keep, list_type = atomic)]
    pub node_selector_terms: Vec<NodeSelectorTerm>,
}

/// Requirements that a node must all fulfil. An empty term matches no node.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(atomic)]
pub struct NodeSelectorTerm {
    /// Requirements on labels of the node.
    #[field(proto = 1, list_type = atomic)]
    pub match_expressions: Vec<NodeSelectorRequirement>,
    /// Requirements on fields of the node. Only metadata.name is supported.
    #[field(proto = 2, list_type = atomic)]
    pub match_fields: Vec<NodeSelectorRequirement>,
}

/// A requirement on a label or field of nodes.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct NodeSelectorRequirement {
    /// Key of the label or, in matchFields, the name of the field.
    #[field(proto = 1, keep)]
    pub key: String,
    /// Relation to the values: In, NotIn, Exists, DoesNotExist, Gt or Lt.
    #[field(
        proto = 2,
        keep,
        known("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"),
        go_type = "NodeSelectorOperator"
    )]
    pub operator: String,
    /// Values: at least one for In and NotIn, none for Exists and DoesNotExist, an integer for Gt and Lt.
    #[field(proto = 3, list_type = atomic)]
    pub values: Vec<String>,
}

/// Policy for the values of a requirement on node labels.
pub(crate) use planesmith_machinery::validation::SelectorValues;

impl NodeSelector {
    /// Reports errors in the selector.
    pub(crate) fn check(&self, values: SelectorValues, errors: &mut FieldErrors) {
        if self.node_selector_terms.is_empty() {
            errors.required("nodeSelectorTerms", "must have at least one node selector term");
        }
        for (index, term) in self.node_selector_terms.iter().enumerate() {
            term.check(values, &mut errors.at_index("nodeSelectorTerms", index));
        }
    }
}

impl NodeSelectorTerm {
    /// Reports errors in the term.
    pub(crate) fn check(&self, values: SelectorValues, errors: &mut FieldErrors) {
        for (index, requirement) in self.match_expressions.iter().enumerate() {
            requirement.check_of_labels(values, &mut errors.at_index("matchExpressions", index));
        }
        for (index, requirement) in self.match_fields.iter().enumerate() {
            requirement.check_of_fields(&mut errors.at_index("matchFields", index));
        }
    }
}

impl NodeSelectorRequirement {
    fn check_of_labels(&self, values: SelectorValues, errors: &mut FieldErrors) {
        match (self.operator.as_str(), self.values.len()) {
            ("In" | "NotIn", 0) => {
                errors.required("values", "must be specified when `operator` is 'In' or 'NotIn'");
            }
            ("Exists" | "DoesNotExist", 1..) => {
                let problem = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
                errors.forbidden("values", problem);
            }
            ("Gt" | "Lt", 0 | 2..) => {
                errors.required(
                    "values",
                    "must be specified single value when `operator` is 'Lt' or 'Gt'",
                );
            }
            ("In" | "NotIn" | "Exists" | "DoesNotExist" | "Gt" | "Lt", _) => {}
            (other, _) => errors.invalid("operator", other, "not a valid selector operator"),
        }
        check_label_key("key", &self.key, errors);
        if values == SelectorValues::Legal {
            for (index, value) in self.values.iter().enumerate() {
                for problem in names::label_value(value) {
                    errors.at_index("values", index).invalid("", value, problem);
                }
            }
        }
    }

    fn check_of_fields(&self, errors: &mut FieldErrors) {
        match self.operator.as_str() {
            "In" | "NotIn" if self.values.len() != 1 => {
                let problem = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector";
                errors.required("values", problem);
            }
            "In" | "NotIn" => {}
            other => errors.invalid("operator", other, "not a valid selector operator"),
        }
        if self.key != "metadata.name" {
            errors.invalid("key", &self.key, "not a valid field selector key");
            return;
        }
        for (index, name) in self.values.iter().enumerate() {
            for problem in names::dns_subdomain(name) {
                errors.at_index("values", index).invalid("", name, problem);
            }
        }
    }

    /// True if a value is no legal label value.
    pub(crate) fn has_illegal_value(&self) -> bool {
        self.values.iter().any(|value| !names::label_value(value).is_empty())
    }
}

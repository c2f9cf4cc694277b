//! Parameters of admission policies.

use planesmith_machinery::Struct;
use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::meta::LabelSelector;
use planesmith_machinery::names;
use planesmith_machinery::table::Cell;
use planesmith_machinery::validation::{SelectorValues, check_label_selector};

/// Table cell of a policy without parameters.
const UNSET: &str = "<unset>";

/// Kind of a policy's parameter objects.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(atomic)]
pub struct ParamKind {
    /// API version of the kind, as group/version.
    #[field(proto = 1)]
    pub api_version: String,
    /// Kind of the parameter objects, such as ConfigMap or a custom kind.
    #[field(proto = 2)]
    pub kind: String,
}

/// Parameter objects of a binding, selected by name or by labels.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(atomic)]
pub struct ParamRef {
    /// Name of the object. Excludes selector.
    #[field(proto = 1)]
    pub name: String,
    /// Namespace of the objects. That of the request when empty.
    #[field(proto = 2)]
    pub namespace: String,
    /// Labels of the objects. The policy is evaluated for each of them. Excludes name.
    #[field(proto = 3)]
    pub selector: Option<LabelSelector>,
    /// Behavior when no parameter object is found: Allow or Deny.
    #[field(proto = 4, go_type = "ParameterNotFoundActionType")]
    pub parameter_not_found_action: Option<String>,
}

impl ParamKind {
    /// Renders the parameter kind as a table cell.
    pub(super) fn cell(kind: Option<&Self>) -> Cell {
        let rendered = |kind: &Self| format!("{}/{}", kind.api_version, kind.kind);
        Cell::Text(kind.map_or_else(|| UNSET.to_owned(), rendered))
    }

    pub(super) fn check(&self, errors: &mut FieldErrors) {
        const FIELD: &str = "apiVersion";
        let version = self.api_version.as_str();
        let parts: Vec<&str> = version.split('/').collect();
        match parts.as_slice() {
            _ if version.is_empty() => errors.required(FIELD, ""),
            _ if version == "/" => errors.invalid(FIELD, version, "version must be specified"),
            [version] => check_version(version, version, errors),
            [group, short] => {
                let complaints = names::dns_subdomain(group);
                if !group.is_empty() && !complaints.is_empty() {
                    errors.invalid(FIELD, *group, complaints.join(","));
                }
                check_version(short, version, errors);
            }
            _ => errors.invalid(FIELD, version, format!("unexpected GroupVersion string: {version}")),
        }
        if self.kind.is_empty() {
            errors.required("kind", "");
            return;
        }
        let complaints = names::dns_label_1035(&self.kind.to_lowercase());
        if !complaints.is_empty() {
            let detail = format!(
                "may have mixed case, but should otherwise match: {}",
                complaints.join(",")
            );
            errors.invalid("kind", &self.kind, detail);
        }
    }
}

fn check_version(version: &str, whole: &str, errors: &mut FieldErrors) {
    if version.is_empty() {
        errors.invalid("apiVersion", whole, "version must be specified");
        return;
    }
    let complaints = names::dns_label_1035(version);
    if !complaints.is_empty() {
        errors.invalid("apiVersion", version, complaints.join(","));
    }
}

impl ParamRef {
    pub(super) fn check(&self, errors: &mut FieldErrors) {
        const BOTH: &str = "name and selector are mutually exclusive";
        let named = !self.name.is_empty();
        if named {
            for complaint in names::path_segment(&self.name) {
                errors.invalid("name", &self.name, complaint);
            }
            if self.selector.is_some() {
                errors.forbidden("name", BOTH);
            }
        }
        if let Some(selector) = &self.selector {
            check_label_selector(selector, SelectorValues::Legal, &mut errors.at("selector"));
            if named {
                errors.forbidden("selector", BOTH);
            }
        } else if !named {
            errors.required("", "one of name or selector must be specified");
        }
        match self.parameter_not_found_action.as_deref() {
            None | Some("") => errors.required("parameterNotFoundAction", ""),
            Some("Allow" | "Deny") => {}
            Some(action) => errors.not_supported_in_order("parameterNotFoundAction", action, &["Deny", "Allow"]),
        }
    }

    /// Renders the parameter reference as a table cell.
    pub(super) fn cell(reference: Option<&Self>) -> Cell {
        Cell::Text(reference.map_or_else(|| UNSET.to_owned(), Self::rendered))
    }

    fn rendered(&self) -> String {
        match (&self.selector, self.namespace.as_str()) {
            (Some(selector), _) if self.name.is_empty() => go_selector(selector),
            (None, _) if self.name.is_empty() => UNSET.to_owned(),
            // The scope of the parameters is not known here.
            (_, "") => format!("*/{}", self.name),
            (_, namespace) => format!("{namespace}/{}", self.name),
        }
    }
}

/// Renders a selector as Go prints it.
fn go_selector(selector: &LabelSelector) -> String {
    let labels = selector
        .match_labels
        .iter()
        .map(|(key, value)| format!("{key}: {value},"));
    let expressions = selector.match_expressions.iter().map(|requirement| {
        let values = requirement.values.join(" ");
        format!(
            "LabelSelectorRequirement{{Key:{},Operator:{},Values:[{values}],}},",
            requirement.key, requirement.operator
        )
    });
    format!(
        "&LabelSelector{{MatchLabels:map[string]string{{{}}},MatchExpressions:[]LabelSelectorRequirement{{{}}},}}",
        labels.collect::<String>(),
        expressions.collect::<String>()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_without_a_namespace_may_be_in_any() {
        let rendered = |namespace: &str, name: &str| {
            let reference = ParamRef {
                namespace: namespace.to_owned(),
                name: name.to_owned(),
                ..ParamRef::default()
            };
            reference.rendered()
        };
        assert_eq!(rendered("a", "b"), "a/b");
        assert_eq!(rendered("", "b"), "*/b");
        assert_eq!(rendered("a", ""), UNSET);
    }
}

//! The question about an action.

use planesmith_access::authorization::{Attributes, Selectors, Target};
use planesmith_machinery::selector::{FieldQuery, FieldTerm, LabelQuery, Operator};
use serde_json::{Value, json};

/// Returns the spec of the review of an action, in `authorization.k8s.io/v1`, with all members of attributes and user, also empty
/// ones.
#[must_use]
pub fn review_spec(attributes: &Attributes<'_>) -> Value {
    let user = attributes.user;
    let mut spec = json!({"user": user.name, "uid": user.uid, "groups": user.groups, "extra": user.extra});
    match attributes.target {
        Target::Path(path) => {
            spec["nonResourceAttributes"] = json!({"path": path, "verb": attributes.verb});
        }
        Target::Resource {
            group,
            version,
            resource,
            subresource,
            namespace,
            name,
        } => {
            spec["resourceAttributes"] = json!({
                "verb": attributes.verb,
                "group": group,
                "version": version,
                "resource": resource,
                "subresource": subresource,
                "namespace": namespace,
                "name": name,
            });
            let Selectors { field, label } = attributes.selectors;
            for (member, requirements) in [("fieldSelector", of_fields(field)), ("labelSelector", of_labels(label))] {
                if !requirements.is_empty() {
                    spec["resourceAttributes"][member] = json!({"requirements": requirements});
                }
            }
        }
    }
    spec
}

/// Removes the members of a spec, and of its attributes, that are empty.
pub(super) fn without_empty_members(spec: &mut Value) {
    let Value::Object(members) = spec else { return };
    for name in ["resourceAttributes", "nonResourceAttributes"] {
        if let Some(Value::Object(attributes)) = members.get_mut(name) {
            attributes.retain(|_, value| !is_empty(value));
        }
    }
    members.retain(|_, value| !is_empty(value));
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::String(text) => text.is_empty(),
        Value::Array(elements) => elements.is_empty(),
        Value::Object(members) => members.is_empty(),
        _ => false,
    }
}

/// Returns the requirements of a field selector. One that cannot be parsed has none: the question is broader than the
/// request then, and the request is refused for it later.
fn of_fields(selector: &str) -> Vec<Value> {
    let query = FieldQuery::parse(selector).unwrap_or_default();
    let requirement = |term: &FieldTerm| {
        let operator = if term.negated { "NotIn" } else { "In" };
        json!({"key": term.field, "operator": operator, "values": [term.value]})
    };
    query.terms().iter().map(requirement).collect()
}

/// Returns the requirements of a label selector. Comparisons are left out: reviews have no operator for them.
fn of_labels(selector: &str) -> Vec<Value> {
    let query = LabelQuery::parse(selector).unwrap_or_default();
    let requirements = query.requirements().iter().filter_map(|requirement| {
        let operator = match requirement.operator() {
            Operator::In | Operator::Equals | Operator::DoubleEquals => "In",
            Operator::NotIn | Operator::NotEquals => "NotIn",
            Operator::Exists => "Exists",
            Operator::DoesNotExist => "DoesNotExist",
            Operator::GreaterThan | Operator::LessThan => return None,
        };
        let mut said = json!({"key": requirement.key(), "operator": operator});
        if !requirement.values().is_empty() {
            said["values"] = json!(requirement.values());
        }
        Some(said)
    });
    requirements.collect()
}

#[cfg(test)]
mod tests {
    use planesmith_access::user::UserInfo;

    use super::*;

    #[test]
    fn the_whole_question_is_passed_on() {
        let user = UserInfo {
            name: "carol".to_owned(),
            groups: vec!["dev".to_owned()],
            ..UserInfo::default()
        };
        let asked = |target| {
            review_spec(&Attributes {
                user: &user,
                verb: "get",
                target,
                selectors: Selectors {
                    field: "spec.nodeName=a,status.phase!=Failed",
                    label: "app in (x, y),!old,size>3",
                },
            })
        };
        let path = asked(Target::Path("/version"));
        assert_eq!(
            path["nonResourceAttributes"],
            json!({"path": "/version", "verb": "get"})
        );
        assert_eq!((&path["user"], &path["groups"]), (&json!("carol"), &json!(["dev"])));
        let resource = asked(Target::Resource {
            group: "shop.example.com",
            version: "v1",
            resource: "orders",
            subresource: "status",
            namespace: "a",
            name: "o",
        });
        let resource = &resource["resourceAttributes"];
        assert_eq!(resource["subresource"], "status");
        let fields = json!([
            {"key": "spec.nodeName", "operator": "In", "values": ["a"]},
            {"key": "status.phase", "operator": "NotIn", "values": ["Failed"]},
        ]);
        assert_eq!(resource["fieldSelector"]["requirements"], fields);
        let labels = json!([
            {"key": "app", "operator": "In", "values": ["x", "y"]},
            {"key": "old", "operator": "DoesNotExist"},
        ]);
        assert_eq!(resource["labelSelector"]["requirements"], labels);
        assert_eq!((of_fields("nonsense"), of_labels("=,")), (Vec::new(), Vec::new()));
    }

    #[test]
    fn empty_members_are_not_sent() {
        let user = UserInfo {
            name: "carol".to_owned(),
            ..UserInfo::default()
        };
        let target = Target::Resource {
            group: "",
            version: "v1",
            resource: "pods",
            subresource: "",
            namespace: "",
            name: "",
        };
        let mut spec = review_spec(&Attributes::new(&user, "list", target));
        assert_eq!((&spec["uid"], &spec["extra"]), (&json!(""), &json!({})));
        without_empty_members(&mut spec);
        let attributes = json!({"verb": "list", "version": "v1", "resource": "pods"});
        assert_eq!(spec, json!({"user": "carol", "resourceAttributes": attributes}));
    }
}

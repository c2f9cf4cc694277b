//! Asks the server in front if a user may do something.

use std::sync::Arc;
use std::time::Instant;

use http::Method;
use planesmith_access::authorization::{Attributes, Authorizer, Decision, Reason, Selectors, Target, Verdict};
use planesmith_machinery::selector::{FieldQuery, FieldTerm, LabelQuery, Operator};
use serde_json::{Value, json};

use super::Host;
use super::remembered::Remembered;
use crate::resource_client::text;

const PATH: &str = "/apis/authorization.k8s.io/v1/subjectaccessreviews";

/// The text that a client reads when the server in front does not answer; the reason is only logged.
const UNKNOWN: &str = "the action cannot be reviewed";

/// Authorizes by SubjectAccessReviews.
#[derive(Debug)]
pub(crate) struct AccessReviews {
    host: Host,
    known: Arc<Remembered<Decision>>,
}

impl AccessReviews {
    /// Creates the authorizer, which asks `host`.
    pub(crate) fn new(host: Host) -> Self {
        Self {
            host,
            known: Arc::new(Remembered::new()),
        }
    }
}

impl Authorizer for AccessReviews {
    fn authorize(&self, attributes: &Attributes<'_>) -> Verdict {
        let now = Instant::now();
        let review = json!({
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SubjectAccessReview",
            "spec": spec(attributes),
        });
        let question = review.to_string();
        if let Some(decision) = self.known.get(&question, now) {
            return decision.into();
        }
        let (host, known) = (self.host.clone(), Arc::clone(&self.known));
        Verdict::pending(async move {
            match host.send(Method::POST, PATH, Some(&review)).await {
                Ok(answer) => {
                    let decision = decision(&answer);
                    known.put(question, decision.clone(), now);
                    decision
                }
                Err(error) => {
                    tracing::warn!(error, "an action cannot be reviewed");
                    Decision::Failed(UNKNOWN.to_owned())
                }
            }
        })
    }
}

fn spec(attributes: &Attributes<'_>) -> Value {
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

fn decision(answer: &Value) -> Decision {
    let says = |field| answer.pointer(field) == Some(&Value::Bool(true));
    let reason = text(answer, "/status/reason").to_owned();
    match (says("/status/allowed"), says("/status/denied")) {
        // An answer with both denies.
        (_, true) => Decision::Deny(reason),
        (true, false) => Decision::Allow(Reason::new("", Arc::new(reason))),
        (false, false) => Decision::NoOpinion(reason),
    }
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
            spec(&Attributes {
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
    fn no_answer_is_no_permission() {
        assert_eq!(decision(&json!({"status": {"allowed": true}})), Decision::ALLOW);
        let denied = json!({"status": {"denied": true, "reason": "never"}});
        assert_eq!(decision(&denied), Decision::Deny("never".to_owned()));
        let both = json!({"status": {"allowed": true, "denied": true}});
        assert_eq!(decision(&both), Decision::Deny(String::new()));
        assert_eq!(decision(&json!({})), Decision::NoOpinion(String::new()));
    }
}

//! Conditions under which an authorizer is consulted: expressions about the action.

use serde_json::Value as Json;

use crate::program::{Environment, PER_CALL_LIMIT, Program};
use crate::types::Type;
use crate::value::{Value, from_plain_json};

/// The budget of all conditions about one action, in kube-apiserver's units: that of the match conditions of webhooks.
const BUDGET: u64 = 2_500_000;

/// The cost that the conditions about one action may still have.
#[derive(Clone, Copy, Debug)]
pub struct ConditionBudget(u64);

impl Default for ConditionBudget {
    fn default() -> Self {
        Self(BUDGET)
    }
}

/// A compiled condition about `request`, the spec of a SubjectAccessReview.
#[derive(Debug)]
pub struct Condition {
    text: String,
    program: Program,
}

impl Condition {
    /// Compiles an expression that is true or false.
    ///
    /// # Errors
    ///
    /// The compile errors, worded as kube-apiserver words them.
    pub fn new(text: &str) -> Result<Self, String> {
        let program = Environment::new()
            .with("request", request())
            .compile(text)
            .map_err(|problems| format!("compilation failed: {problems}"))?;
        match program.result_type() {
            Type::Bool => Ok(Self {
                text: text.to_owned(),
                program: program.instantiated()?,
            }),
            other => Err(format!("must evaluate to bool but got {other}")),
        }
    }

    /// Evaluates the condition for the spec of a SubjectAccessReview in `authorization.k8s.io/v1`, within `budget`.
    ///
    /// # Errors
    ///
    /// The reason that there is no result, with the expression.
    pub fn matches(&self, spec: &Json, budget: &mut ConditionBudget) -> Result<bool, String> {
        let variables = [("request", Ok(from_plain_json(spec)))];
        let evaluation = self.program.evaluate(&variables, PER_CALL_LIMIT.min(budget.0));
        budget.0 = budget.0.saturating_sub(evaluation.cost);
        let why = match evaluation.result {
            Ok(Value::Bool(matches)) => return Ok(matches),
            Ok(_) => "the result is no boolean".to_owned(),
            Err(fault) => fault.message().to_owned(),
        };
        let text = &self.text;
        Err(format!(
            "cel evaluation error: expression '{text}' resulted in error: {why}"
        ))
    }
}

fn object<const N: usize>(name: &str, fields: [(&str, Type); N]) -> Type {
    Type::object(name, fields.map(|(name, ty)| (name.to_owned(), ty)).into())
}

fn request() -> Type {
    let requirement = object(
        "kubernetes.SelectorRequirement",
        [
            ("key", Type::String),
            ("operator", Type::String),
            ("values", Type::list(Type::String)),
        ],
    );
    let selector = |name| {
        let requirements = Type::list(requirement.clone());
        object(name, [("rawSelector", Type::String), ("requirements", requirements)])
    };
    let resource = object(
        "kubernetes.ResourceAttributes",
        [
            ("namespace", Type::String),
            ("verb", Type::String),
            ("group", Type::String),
            ("version", Type::String),
            ("resource", Type::String),
            ("subresource", Type::String),
            ("name", Type::String),
            ("fieldSelector", selector("kubernetes.FieldSelectorAttributes")),
            ("labelSelector", selector("kubernetes.LabelSelectorAttributes")),
        ],
    );
    let path = object(
        "kubernetes.NonResourceAttributes",
        [("path", Type::String), ("verb", Type::String)],
    );
    object(
        "kubernetes.SubjectAccessReviewSpec",
        [
            ("resourceAttributes", resource),
            ("nonResourceAttributes", path),
            ("user", Type::String),
            ("groups", Type::list(Type::String)),
            ("extra", Type::map(Type::list(Type::String))),
            ("uid", Type::String),
        ],
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn matches(expression: &str) -> Result<bool, String> {
        let spec = json!({
            "user": "carol",
            "uid": "",
            "groups": ["dev"],
            "extra": {"acme.io/scope": ["a"]},
            "resourceAttributes": {
                "namespace": "work", "verb": "list", "group": "", "version": "v1", "resource": "pods", "subresource": "",
                "name": "",
                "labelSelector": {"requirements": [{"key": "app", "operator": "In", "values": ["x"]}]},
            },
        });
        Condition::new(expression)?.matches(&spec, &mut ConditionBudget::default())
    }

    #[test]
    fn conditions_of_one_action_share_a_budget() {
        let condition = Condition::new("[1, 2, 3, 4].all(a, [1, 2, 3, 4].all(b, a + b > 0))").unwrap();
        let mut budget = ConditionBudget(300);
        let mut evaluate = || condition.matches(&json!({}), &mut budget);
        assert_eq!(evaluate(), Ok(true));
        let failure = (0..10).find_map(|_| evaluate().err()).expect("the budget ends");
        assert!(failure.contains("cost limit exceeded"), "{failure}");
        assert!(evaluate().is_err());
    }

    #[test]
    fn conditions_are_about_the_action_and_its_user() {
        for expression in [
            "has(request.resourceAttributes) && request.resourceAttributes.namespace == 'work'",
            "!has(request.nonResourceAttributes)",
            "request.resourceAttributes.verb in ['list', 'watch'] && request.resourceAttributes.name == ''",
            "'dev' in request.groups && !request.user.startsWith('system:')",
            "request.extra['acme.io/scope'] == ['a']",
            "request.resourceAttributes.labelSelector.requirements.exists(r, r.key == 'app' && 'x' in r.values)",
            "!has(request.resourceAttributes.fieldSelector)",
        ] {
            assert_eq!(matches(expression), Ok(true), "{expression}");
        }
    }

    #[test]
    fn an_invalid_condition_is_refused() {
        assert_eq!(
            matches("request.user"),
            Err("must evaluate to bool but got string".to_owned())
        );
        let problem = matches("request.name == ''").unwrap_err();
        assert!(
            problem.starts_with("compilation failed: ERROR: <input>:1:8: undefined field 'name'"),
            "{problem}"
        );
        assert_eq!(
            matches("request.nonResourceAttributes.path == '/x'").unwrap_err(),
            "cel evaluation error: expression 'request.nonResourceAttributes.path == '/x'' resulted in error: no such key: \
             nonResourceAttributes"
        );
    }
}

//! Validating policies.

use super::*;

fn validation(expression: &str) -> Validation<'_> {
    Validation {
        expression,
        ..Validation::default()
    }
}

/// Renders the decisions of a policy with one validation and `variables`.
fn decide(request: &Request, variables: &[(&str, &str)], validation: Validation<'_>) -> String {
    let source = PolicySource {
        variables: variables.to_vec(),
        ..PolicySource::default()
    };
    let policy = ValidatingPolicy::new(&source, &[validation], &[]);
    match policy.validate(&request.inputs(), false) {
        Ok(validated) => rendered(&validated),
        Err(Suspended) => "suspended".to_owned(),
    }
}

fn rendered(validated: &Validated) -> String {
    let rendered = |decision: &Decision| match decision.outcome {
        Outcome::Admitted => "admitted".to_owned(),
        Outcome::Denied => format!("denied: {}", decision.message),
        Outcome::Failed => format!("failed: {}", decision.message),
    };
    validated.decisions.iter().map(rendered).collect::<Vec<_>>().join("; ")
}

#[track_caller]
fn check(expression: &str, expected: &str) {
    assert_eq!(
        decide(&Request::new(), &[], validation(expression)),
        expected,
        "{expression}"
    );
}

#[test]
fn expressions_see_the_request() {
    check(
        "object.data.k == 'v' && oldObject == null && params == null",
        "failed: compilation error: compilation failed: ERROR: <input>:1:46: undeclared reference to 'params' (in container '')\n | object.data.k == 'v' && oldObject == null && params == null\n | .............................................^",
    );
    check("object.data.k == 'v' && oldObject == null", "admitted");
    check(
        "request.operation == 'CREATE' && request.userInfo.username == 'alice'",
        "admitted",
    );
    check(
        "namespaceObject.metadata.creationTimestamp.getFullYear() == 2026 && namespaceObject.status.phase == 'Active'",
        "admitted",
    );
    check(
        "request.namespace == 'n'",
        "failed: expression 'request.namespace == 'n'' resulted in error: no such key: namespace",
    );
    check(
        "int(object.data.n) < 5",
        "failed: expression 'int(object.data.n) < 5' resulted in error: type conversion error from 'string' to 'int'",
    );
    check(
        "object.data.n < 5",
        "failed: expression 'object.data.n < 5' resulted in error: no such overload",
    );
}

#[test]
fn a_message_is_evaluated_written_or_the_expression() {
    let request = Request::new();
    check(" false ", "denied: failed expression: false");
    let with = |message, message_expression| Validation {
        expression: "false",
        message,
        message_expression,
        reason: Some("Forbidden"),
    };
    assert_eq!(decide(&request, &[], with(" no ", "")), "denied: no");
    assert_eq!(
        decide(&request, &[], with("no", "'not ' + object.metadata.name")),
        "denied: not a"
    );
    for fallback in ["'a\\nb'", "''", "object.nosuch", "' '"] {
        assert_eq!(decide(&request, &[], with("no", fallback)), "denied: no", "{fallback}");
    }
    let long = format!("'{}'", "x".repeat(6000));
    assert_eq!(decide(&request, &[], with("no", &long)), "denied: no");
    let policy = ValidatingPolicy::new(&PolicySource::default(), &[with("no", "")], &[]);
    let validated = policy.validate(&request.inputs(), false).unwrap();
    assert_eq!(validated.decisions[0].reason.as_deref(), Some("Forbidden"));
}

#[test]
fn variables_are_lazy_and_may_use_earlier_ones() {
    let request = Request::new();
    let variables = [
        ("broken", "object.nosuch.field"),
        ("data", "object.data"),
        ("key", "variables.data.k"),
    ];
    let decide = |expression| decide(&request, &variables, validation(expression));
    assert_eq!(decide("variables.key == 'v' && has(variables.broken)"), "admitted");
    assert_eq!(decide("true || variables.broken"), "admitted");
    assert_eq!(
        decide("variables.broken == 1"),
        "failed: expression 'variables.broken == 1' resulted in error: composited variable \"broken\" fails to evaluate: no such key: nosuch"
    );
}

#[test]
fn a_variable_that_uses_itself_fails() {
    let request = Request::new();
    let variables = [("a", "1"), ("a", "variables.a + 1")];
    let shown = decide(&request, &variables, validation("variables.a == 1"));
    assert!(shown.contains("nested too deeply"), "{shown}");
    let names: Vec<String> = (0..400).map(|number| format!("v{number}")).collect();
    let texts: Vec<String> = (0..400)
        .map(|number| format!("variables.v{} + 1", number - 1))
        .collect();
    let mut chain: Vec<(&str, &str)> = vec![("v0", "1")];
    chain.extend((1..400).map(|number| (names[number].as_str(), texts[number].as_str())));
    assert_eq!(decide(&request, &chain, validation("variables.v20 == 21")), "admitted");
    let shown = decide(&request, &chain, validation("variables.v399 == 400"));
    assert!(shown.contains("nested too deeply"), "{shown}");
}

#[test]
fn costs_of_all_validations_count_together() {
    let request = Request::new();
    let costly = "[1,2,3,4,5,6,7,8,9,10].all(a, [1,2,3,4,5,6,7,8,9,10].all(b, [1,2,3,4,5,6,7,8,9,10].all(c, \
                  [1,2,3,4,5,6,7,8,9,10].all(d, [1,2,3,4,5,6,7,8,9,10].all(e, a + b + c + d + e > 0)))))";
    let validations = vec![validation(costly); 20];
    let policy = ValidatingPolicy::new(&PolicySource::default(), &validations, &[]);
    let validated = policy.validate(&request.inputs(), false).unwrap();
    assert_eq!(
        rendered(&validated),
        "failed: validation failed due to running out of cost budget, no further validation rules will be run"
    );
}

#[test]
fn conditions_exclude_requests() {
    let request = Request::new();
    let validate = |conditions: &[(&str, &str)], ignores| {
        let source = PolicySource {
            conditions: conditions.to_vec(),
            ..PolicySource::default()
        };
        let policy = ValidatingPolicy::new(&source, &[validation("false")], &[]);
        rendered(&policy.validate(&request.inputs(), ignores).unwrap())
    };
    assert_eq!(
        validate(&[("c", "object.data.k == 'v'")], false),
        "denied: failed expression: false"
    );
    assert_eq!(validate(&[("c", "bool(object.nosuch)"), ("d", "false")], false), "");
    assert_eq!(validate(&[("c", "bool(object.nosuch)")], true), "");
    assert_eq!(
        validate(
            &[
                ("c", "bool(object.nosuch)"),
                ("d", "bool(object.other)"),
                ("e", "bool(object.nosuch)")
            ],
            false
        ),
        "failed: [expression 'bool(object.nosuch)' resulted in error: no such key: nosuch, expression 'bool(object.other)' resulted in error: no such key: other]"
    );
    assert_eq!(validate(&[("c", "namespaceObject != null")], false), "");
}

#[test]
fn annotations_have_values_or_errors() {
    let request = Request::new();
    let annotations = [
        ("k", "' ' + object.data.k"),
        ("empty", "' '"),
        ("null", "null"),
        ("broken", "string(object.nosuch)"),
    ];
    let policy = ValidatingPolicy::new(&PolicySource::default(), &[], &annotations);
    let validated = policy.validate(&request.inputs(), false).unwrap();
    let expected = [
        AnnotationResult::Publish("k".to_owned(), "v".to_owned()),
        AnnotationResult::Failed(
            "expression 'string(object.nosuch)' resulted in error: no such key: nosuch".to_owned(),
        ),
    ];
    assert_eq!(validated.annotations, expected);
}

#[test]
fn the_authorizer_decides_and_suspends() {
    let mut request = Request::new();
    let expression = "authorizer.requestResource.check('create').allowed() && \
                      !authorizer.serviceAccount('n', 's').group('apps').resource('deployments').subresource('scale')\
                      .namespace('n').name('d').check('get').allowed()";
    let mut queries = Vec::new();
    while decide(&request, &[], validation(expression)) == "suspended" {
        let query = request.decisions.take_wanted().unwrap();
        let verdict = AuthorizerDecision {
            allowed: query.service_account.is_none(),
            reason: "why".to_owned(),
            error: None,
        };
        queries.push(query.clone());
        request.decisions.record(query, verdict);
    }
    assert_eq!(decide(&request, &[], validation(expression)), "admitted");
    let scale = ResourceCheck {
        group: "apps".to_owned(),
        resource: "deployments".to_owned(),
        subresource: "scale".to_owned(),
        namespace: "n".to_owned(),
        name: "d".to_owned(),
        ..ResourceCheck::default()
    };
    let account = ServiceAccount {
        namespace: "n".to_owned(),
        name: "s".to_owned(),
    };
    let query = |service_account, verb: &str, check| Query {
        service_account,
        verb: verb.to_owned(),
        check,
    };
    let expected = [
        query(None, "create", Check::Resource(request.resource.clone())),
        query(Some(account), "get", Check::Resource(scale)),
    ];
    assert_eq!(queries, expected);
    let path = Query {
        check: Check::Path("/healthz".to_owned()),
        ..queries[0].clone()
    };
    let verdict = AuthorizerDecision {
        error: Some("broken".to_owned()),
        ..AuthorizerDecision::default()
    };
    request.decisions.record(path, verdict);
    let errored = "authorizer.path('/healthz').check('create').error() == 'broken'";
    assert_eq!(decide(&request, &[], validation(errored)), "admitted");
    check(
        "authorizer.path(' ').check('get').allowed()",
        "failed: expression 'authorizer.path(' ').check('get').allowed()' resulted in error: path must not be empty",
    );
}

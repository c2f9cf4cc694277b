//! Mutating policies.

use super::*;

fn changes(variables: &[(&str, &str)], mutation: Mutation<'_>) -> Result<Changes, String> {
    let request = Request::new();
    let source = PolicySource {
        variables: variables.to_vec(),
        ..PolicySource::default()
    };
    let policy = MutatingPolicy::new(&source, &[mutation]);
    assert_eq!(policy.mutations(), 1);
    policy.changes(0, &request.inputs()).map_err(|failure| match failure {
        Failure::Failed(why) => why,
        Failure::Suspended => "suspended".to_owned(),
    })
}

fn merge(expression: &str) -> Result<Json, String> {
    changes(&[("v", "'var'")], Mutation::ApplyConfiguration(expression)).map(|changes| match changes {
        Changes::Merge(document) => document,
        Changes::Patch(_) => Json::Null,
    })
}

#[test]
fn objects_are_constructed_without_a_schema() {
    assert_eq!(
        merge(
            "Object{metadata: Object.metadata{labels: {'by': variables.v}}, data: {'a': object.metadata.name + '-x'}}"
        ),
        Ok(json!({"metadata": {"labels": {"by": "var"}}, "data": {"a": "a-x"}}))
    );
    assert_eq!(
        merge("Object{spec: Object.spec{list: [Object.spec.list{name: 'n', ?absent: optional.none(), number: 1.5}]}}"),
        Ok(json!({"spec": {"list": [{"name": "n", "number": 1.5}]}}))
    );
    assert_eq!(
        merge("has(object.spec) ? Object{} : Object{data: {'only': string(Object{a: 1}.a == 1)}}"),
        Ok(json!({"data": {"only": "true"}}))
    );
}

#[test]
fn type_names_follow_the_fields() {
    let refused = merge("Object{spec: Object.wrong{a: 1}}").unwrap_err();
    assert_eq!(
        refused,
        "type mismatch: unexpected type name \"Object.wrong\", expected \"Object.spec\", which matches field name path from root Object type"
    );
    let refused = merge("[Object{}]").unwrap_err();
    assert_eq!(refused, "must evaluate to Object but got list(Object)");
}

#[test]
fn operations_of_a_patch_are_evaluated() {
    let expression = "[JSONPatch{op: 'test', path: '/data/k', value: 'v'}, \
                      JSONPatch{op: 'move', from: '/a', path: '/metadata/annotations/' + jsonpatch.escapeKey('a/b~c')}, \
                      JSONPatch{op: 'add', path: '/spec', value: Object.spec{n: 3, list: [1, 2]}}]";
    let changes = changes(&[], Mutation::JsonPatch(expression));
    let Ok(Changes::Patch(operations)) = changes else {
        panic!("{changes:?}")
    };
    let shown: Vec<Json> = operations
        .iter()
        .map(|operation| json!([operation.op, operation.path, operation.from, operation.value]))
        .collect();
    assert_eq!(
        shown,
        [
            json!(["test", "/data/k", "", "v"]),
            json!(["move", "/metadata/annotations/a~1b~0c", "/a", null]),
            json!(["add", "/spec", "", {"n": 3, "list": [1, 2]}]),
        ]
    );
    assert_eq!(operations[1].value, None);
}

#[test]
fn a_document_cannot_grow_without_bound() {
    let doubled = "cel.bind(x, [1], x)";
    assert!(changes(&[], Mutation::ApplyConfiguration(doubled)).is_err());
    let mut variables = vec![("v0".to_owned(), "[[1, 2, 3, 4, 5, 6, 7, 8]]".to_owned())];
    for number in 1..24 {
        let before = number - 1;
        variables.push((
            format!("v{number}"),
            format!("[variables.v{before}, variables.v{before}]"),
        ));
    }
    let variables: Vec<(&str, &str)> = variables
        .iter()
        .map(|(name, text)| (name.as_str(), text.as_str()))
        .collect();
    let refused = changes(&variables, Mutation::ApplyConfiguration("Object{data: variables.v23}"));
    assert_eq!(
        refused,
        Err("invalid return type: the document is too large".to_owned())
    );
}

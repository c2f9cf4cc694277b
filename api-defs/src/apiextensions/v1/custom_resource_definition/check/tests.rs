use planesmith_machinery::json::{Strictness, decode};
use planesmith_machinery::strategy::Strategy as _;
use serde_json::{Value, json};

use super::*;

/// Returns a definition with `schema`, modified by `change`.
#[expect(clippy::needless_pass_by_value, reason = "cases are written in place")]
fn definition(schema: Value, change: impl FnOnce(&mut Value)) -> CustomResourceDefinition {
    let mut document = json!({
        "metadata": {"name": "kites.play.example.com"},
        "spec": {
            "group": "play.example.com", "scope": "Namespaced",
            "names": {"plural": "kites", "singular": "kite", "kind": "Kite", "listKind": "KiteList"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}}],
        },
    });
    change(&mut document);
    let mut definition = CustomResourceDefinition::default();
    decode(document.to_string().as_bytes(), &mut definition, Strictness::Lenient).unwrap();
    definition.set_defaults();
    definition
}

fn problems(definition: &CustomResourceDefinition) -> String {
    let mut errors = FieldErrors::default();
    check(definition, &mut errors);
    errors.joined().unwrap_or_default()
}

#[track_caller]
#[expect(clippy::needless_pass_by_value, reason = "cases are written in place")]
fn check_property(property: Value, expected: &str) {
    let schema = json!({"type": "object", "properties": {"a": property}});
    let expected = match expected {
        "" => String::new(),
        expected => format!("spec.validation.openAPIV3Schema.properties[a]{expected}"),
    };
    assert_eq!(problems(&definition(schema, |_| {})), expected);
}

#[test]
fn schemas_say_the_type_of_everything() {
    let either = json!([{"type": "integer"}, {"type": "string"}]);
    for (property, expected) in [
        (json!({"type": "string"}), ""),
        (json!({"x-kubernetes-int-or-string": true, "anyOf": either}), ""),
        (json!({"x-kubernetes-preserve-unknown-fields": true}), ""),
        (
            json!({}),
            ".type: Required value: must not be empty for specified object fields",
        ),
        (json!({"type": "array"}), ".items: Required value: must be specified"),
        (
            json!({"type": "string", "anyOf": [{"type": "string"}]}),
            ".anyOf[0].type: Forbidden: must be empty to be structural",
        ),
        (
            json!({"type": "object", "x-kubernetes-embedded-resource": true}),
            ".properties: Required value: must not be empty if x-kubernetes-embedded-resource is true without \
             x-kubernetes-preserve-unknown-fields",
        ),
    ] {
        check_property(property, expected);
    }
}

#[test]
fn empty_keywords_are_keywords() {
    check_property(
        json!({"type": "string", "dependencies": {}, "definitions": {}, "enum": []}),
        ".dependencies: Forbidden: dependencies is not supported",
    );
    let has_status = |document: &mut Value| document["spec"]["versions"][0]["subresources"] = json!({"status": {}});
    for (keyword, value, rendered) in [
        ("enum", json!([]), "\"Enum\":[],"),
        ("anyOf", json!([]), "\"AnyOf\":[],"),
        ("definitions", json!({}), "\"Definitions\":{},"),
        ("x-kubernetes-list-map-keys", json!([]), "\"XListMapKeys\":[],"),
    ] {
        let mut schema = json!({"type": "object"});
        assert_eq!(problems(&definition(schema.clone(), has_status)), "");
        schema[keyword] = value;
        let found = problems(&definition(schema.clone(), has_status));
        assert!(
            found.contains("fields are allowed at the root of the schema"),
            "{keyword}: {found}"
        );
        assert!(found.contains(rendered), "{keyword}: {found}");
        assert_eq!(problems(&definition(schema, |_| {})), "", "{keyword}");
    }
}

#[test]
fn lists_have_keys_that_are_there() {
    let items = |required: Value| {
        json!({
            "type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"],
            "items": {"type": "object", "required": required, "properties": {"k": {"type": "string"}}},
        })
    };
    check_property(items(json!(["k"])), "");
    check_property(
        items(json!([])),
        ".items.properties[k].default: Required value: this property is in x-kubernetes-list-map-keys, so it must have a \
         default or be a required property",
    );
    check_property(
        json!({"type": "string", "x-kubernetes-list-type": "set"}),
        ".type: Invalid value: \"string\": must be array if x-kubernetes-list-type is specified",
    );
}

#[test]
fn defaults_fit_their_schema() {
    check_property(json!({"type": "integer", "default": 1}), "");
    check_property(
        json!({"type": "object", "properties": {"b": {"type": "string"}}, "default": {"c": 1}}),
        ".default: Invalid value: {\"c\":1}: must not have unknown fields",
    );
}

#[test]
fn defaults_are_checked_against_the_schema_as_it_is_written() {
    let either = json!({"x-kubernetes-int-or-string": true});
    let text = json!({"type": "string"});
    for (property, expected) in [
        (json!({"x-kubernetes-int-or-string": true, "default": []}), ""),
        (
            json!({"type": "object", "properties": {"b": either}, "default": {"b": true}}),
            "",
        ),
        (json!({"type": "boolean", "format": "foo", "default": "x"}), ""),
        (
            json!({"type": "string", "format": "binary", "default": 1}),
            ".default: Invalid value: \"int64\":  in body must be of type binary: \"int64\"",
        ),
        (
            json!({
                "x-kubernetes-int-or-string": true, "default": [], "x-kubernetes-validations": [{"rule": "self == 1"}],
            }),
            ".default: Invalid value: \"\": invalid data, expected XIntOrString value to be either a string or integer \
             evaluating rule: self == 1",
        ),
        (
            json!({"type": "array", "items": text, "default": ["a", 2]}),
            ".default.[1]: Invalid value: \"integer\": [1] in body must be of type string: \"integer\"",
        ),
        (
            json!({
                "type": "array", "default": ["a"],
                "items": {"type": "string", "x-kubernetes-validations": [{"rule": "self == 'b'"}]},
            }),
            ".default[0]: Invalid value: \"a\": failed rule: self == 'b'",
        ),
    ] {
        check_property(property, expected);
    }
}

#[test]
fn messages_about_versions_have_their_schemas() {
    let schema = json!({"type": "array", "items": {"type": "string"}});
    let said = problems(&definition(json!({"type": "object"}), |document| {
        let version = |name: &str, schema: Value| {
            let schema = json!({"openAPIV3Schema": {"type": "object", "properties": {"a": schema}}});
            json!({"name": name, "served": true, "storage": true, "schema": schema})
        };
        document["spec"]["versions"] = json!([version("v1", schema), version("v2", json!({"type": "string"}))]);
    }));
    for part in [
        "[{\"Name\":\"v1\",\"Served\":true,\"Storage\":true,\"Deprecated\":false,\"DeprecationWarning\":null,\
         \"Schema\":{\"OpenAPIV3Schema\":{\"ID\":\"\",\"Schema\":\"\",",
        "\"Items\":{\"Schema\":{\"ID\":\"\",",
        "},\"JSONSchemas\":null},",
        "\"Subresources\":null,\"AdditionalPrinterColumns\":null,\"SelectableFields\":null}]: must have exactly one version \
         marked as storage version",
    ] {
        assert!(said.contains(part), "{said}");
    }
}

#[test]
fn absent_versions_are_null_in_messages() {
    let said = problems(&definition(json!({"type": "object"}), |document| {
        document["spec"]["versions"] = Value::Null;
    }));
    assert!(
        said.contains("spec.versions: Invalid value: null: must have exactly one version"),
        "{said}"
    );
}

#[test]
fn defaults_meet_the_rules_of_their_schema() {
    let text = |rule: &str| json!({"type": "string", "default": "a", "x-kubernetes-validations": [{"rule": rule}]});
    check_property(text("self == 'a' && oldSelf == self"), "");
    check_property(
        text("self == 'b'"),
        ".default: Invalid value: \"a\": failed rule: self == 'b'",
    );
    // Checks the stored definition, too.
    check_property(
        text("self != oldSelf"),
        ".default: Invalid value: \"a\": failed rule: self != oldSelf",
    );
    check_property(
        json!({
            "type": "object", "default": {"b": 1}, "properties": {"b": {
                "type": "integer", "x-kubernetes-validations": [{"rule": "self > 1", "message": "more"}],
            }},
        }),
        ".default.b: Invalid value: 1: more",
    );
}

#[test]
fn defaults_in_metadata_make_metadata() {
    let named = |name: &str| {
        json!({
            "type": "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true,
            "properties": {"metadata": {"type": "object", "properties": {"name": {"type": "string", "default": name}}}},
        })
    };
    check_property(named("b"), "");
    check_property(
        named("b/c"),
        ".properties[metadata].properties[name].default: Invalid value: \"b/c\": must result in valid metadata: \
         metadata.name: Invalid value: \"b/c\": may not contain '/'",
    );
}

#[test]
fn elements_are_judged_though_their_list_is_wrong() {
    let rules = json!([{"rule": "self == 1"}]);
    let schema = json!({"type": "object", "properties": {"a": {
        "type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"],
        "x-kubernetes-validations": rules,
        "items": {
            "type": "object", "properties": {"k": {"type": "string"}}, "x-kubernetes-validations": rules,
        },
    }}});
    let said = problems(&definition(schema, |_| {}));
    assert!(
        said.contains("properties[a].items.properties[k].default: Required"),
        "{said}"
    );
    assert!(
        said.contains("properties[a].items.x-kubernetes-validations[0].rule: Invalid"),
        "{said}"
    );
    assert!(!said.contains("properties[a].x-kubernetes-validations"), "{said}");
}

#[test]
fn the_cost_of_a_rule_is_not_checked_while_its_schema_stays() {
    let schema = json!({"type": "object", "properties": {"a": {
        "type": "array", "maxItems": 2000, "items": {"type": "integer"},
        "x-kubernetes-validations": [{"rule": "self.all(x, self.all(y, x == y))"}],
    }}});
    let old = definition(schema, |_| {});
    assert!(
        problems(&old).contains("estimated rule cost exceeds budget"),
        "{}",
        problems(&old)
    );
    let change = |new: &CustomResourceDefinition| {
        let mut errors = FieldErrors::default();
        check_change(new, &old, &mut errors);
        errors.joined().unwrap_or_default()
    };
    let mut new = old.clone();
    new.spec.names.categories.push("all".to_owned());
    assert_eq!(change(&new), "");
    let schema = new.spec.versions[0].schema.as_mut().unwrap();
    schema.open_apiv3_schema.as_mut().unwrap().description = "other".to_owned();
    assert!(change(&new).contains("estimated rule cost exceeds budget"));
}

#[test]
fn rules_are_judged_where_nothing_else_is_wrong() {
    let rules = json!([{"rule": "self == 1"}]);
    let broken = json!({"type": "array", "uniqueItems": true, "items": {"type": "string"}});
    let schema = json!({"type": "object", "properties": {
        "a": broken,
        "b": {"type": "string", "x-kubernetes-validations": rules},
        "c": {"type": "object", "properties": {"d": broken}, "x-kubernetes-validations": rules},
    }});
    let said = problems(&definition(schema, |_| {}));
    let fields = [
        "a].uniqueItems",
        "c].properties[d].uniqueItems",
        "b].x-kubernetes-validations[0].rule",
    ];
    let places = fields.map(|field| {
        said.find(&format!("properties[{field}: "))
            .unwrap_or_else(|| panic!("{said}"))
    });
    assert!(places.is_sorted(), "{said}");
    assert!(!said.contains("properties[c].x-kubernetes-validations"), "{said}");
}

#[test]
fn an_error_in_all_versions_is_reported_once() {
    let second = |document: &mut Value| {
        let mut second = document["spec"]["versions"][0].clone();
        second["name"] = json!("v2");
        second["storage"] = json!(false);
        second["schema"]["openAPIV3Schema"]["properties"] = json!({"b": {}});
        document["spec"]["versions"].as_array_mut().unwrap().push(second);
    };
    assert_eq!(
        problems(&definition(json!({"type": "object"}), second)),
        "spec.versions[1].schema.openAPIV3Schema.properties[b].type: Required value: must not be empty for specified \
         object fields"
    );
}

#[test]
fn names_and_scope_stay_once_the_kind_is_served() {
    let old = definition(json!({"type": "object"}), |document| {
        document["status"] =
            json!({"conditions": [{"type": "Established", "status": "True"}], "storedVersions": ["v1"]});
    });
    let mut new = old.clone();
    "Cluster".clone_into(&mut new.spec.scope);
    let mut errors = FieldErrors::default();
    check_change(&new, &old, &mut errors);
    let expected = "spec.scope: Invalid value: \"Cluster\": field is immutable";
    assert_eq!(errors.joined().as_deref(), Some(expected));
}

#[test]
fn unchanged_errors_are_tolerated() {
    let set = json!({"type": "object", "properties": {"a": {
        "type": "array", "x-kubernetes-list-type": "set", "items": {"type": "object"},
    }}});
    let old = definition(set, |_| {});
    assert_ne!(problems(&old), "");
    let mut errors = FieldErrors::default();
    check_change(&old, &old, &mut errors);
    assert_eq!(errors.joined(), None);
}

#[test]
fn groups_of_kubernetes_need_an_approval() {
    let protected = |approval: Option<&str>| {
        let mut definition = definition(json!({"type": "object"}), |_| {});
        "play.k8s.io".clone_into(&mut definition.spec.group);
        "kites.play.k8s.io".clone_into(&mut definition.metadata.name);
        if let Some(approval) = approval {
            let annotations = &mut definition.metadata.annotations;
            annotations.insert("api-approved.kubernetes.io".to_owned(), approval.to_owned());
        }
        problems(&definition)
    };
    assert_eq!(protected(Some("https://example.com/1")), "");
    assert_eq!(protected(Some("unapproved, a test")), "");
    assert!(protected(None).contains("protected groups must have approval annotation"));
    assert!(protected(Some("yes")).contains("with either a URL or a reason starting with"));
}

#[test]
fn the_name_is_that_of_what_is_declared() {
    let named = |meta: Value| {
        let schema = json!({"type": "object"});
        problems(&definition(schema, |document| document["metadata"] = meta))
    };
    let wrong = "Invalid value: \"x-\": must be spec.names.plural+\".\"+spec.group";
    assert_eq!(named(json!({})), "");
    assert_eq!(named(json!({"name": "x-"})), format!("metadata.name: {wrong}"));
    let generated = json!({"name": "kites.play.example.com", "generateName": "x-"});
    assert_eq!(named(generated), format!("metadata.generateName: {wrong}"));
}

#[test]
fn of_two_versions_of_one_name_one_is_stored() {
    let found = problems(&definition(json!({"type": "object"}), |document| {
        let versions = document["spec"]["versions"].as_array_mut().unwrap();
        versions.push(versions[0].clone());
    }));
    let expected = "status.storedVersions: Invalid value: [\"v1\"]: must have the storage version v1";
    assert!(found.contains(expected), "{found}");
}

#[test]
fn elements_without_a_schema_are_not_kept() {
    let schema = json!({"type": "object", "properties": {"a": {"type": "string", "items": "text"}}});
    let definition = definition(schema, |_| {});
    assert_eq!(problems(&definition), "");
    let kept = planesmith_machinery::json::to_value(&definition.spec);
    let schema = &kept["versions"][0]["schema"]["openAPIV3Schema"];
    assert_eq!(schema["properties"]["a"], json!({"type": "string"}));
}

#[test]
fn rules_inside_of_what_expressions_cannot_see_cannot_be_read() {
    let rules = json!([{"rule": "true"}]);
    let inner = json!({"type": "object", "properties": {"b": {"type": "string"}}, "x-kubernetes-validations": rules});
    let middle = json!({"type": "object", "properties": {"inner": inner}});
    let outer = |kind: &str| {
        let property = json!({"type": kind, "properties": {"middle": middle}, "x-kubernetes-validations": rules});
        problems(&definition(
            json!({"type": "object", "properties": {"a": property}}),
            |_| {},
        ))
    };
    assert_eq!(outer("object"), "");
    let found = outer("thing");
    let expected = "properties[inner].x-kubernetes-validations: Internal error: internal error: failed to construct type \
                    information";
    assert!(found.contains(expected), "{found}");
}

#[test]
fn a_webhook_that_says_nothing_is_not_kept() {
    let conversion = |webhook: Value| {
        let definition = definition(json!({"type": "object"}), |document| {
            document["spec"]["conversion"] = json!({"strategy": "None", "webhook": webhook});
        });
        definition.spec.conversion.and_then(|conversion| conversion.webhook)
    };
    assert_eq!(conversion(json!({})), None);
    assert!(conversion(json!({"conversionReviewVersions": ["v1"]})).is_some());
}

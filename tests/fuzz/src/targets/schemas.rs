//! Structural schemas and the objects that they describe.

use planesmith_dynamic::structural::{Malformed, Structural};
use planesmith_expressions::rules::Rules;
use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::json::{self, Strictness};

use crate::kinds::{join, pieces};

/// Any document can be validated against any schema; pruning and defaulting are idempotent.
pub(crate) fn run(input: &[u8]) {
    let Some([schema, document]) = pieces(input) else {
        return;
    };
    let read = |text| json::parse_value(text, Strictness::Lenient).map(|(tree, _)| tree);
    let (Ok(schema), Ok(mut document)) = (read(schema), read(document)) else {
        return;
    };
    let schema = Structural::compile(&schema);
    let mut errors = FieldErrors::default();
    schema.validate(&document, "", &mut errors);
    let old = document.clone();
    drop(schema.prune(&mut document));
    let pruned = document.clone();
    drop(schema.prune(&mut document));
    assert_eq!(pruned, document, "pruned twice");
    schema.fill_defaults(&mut document);
    let filled = document.clone();
    schema.fill_defaults(&mut document);
    assert_eq!(filled, document, "defaulted twice");
    if schema.complete_embedded(&mut document, Malformed::Dropped).is_ok() {
        let completed = document.clone();
        let again = schema.complete_embedded(&mut document, Malformed::Dropped);
        assert!(again.is_ok_and(|dropped| dropped.is_empty()), "completed twice");
        assert_eq!(completed, document, "completed twice");
    }
    schema.validate_update(&document, &old, "", &mut errors);
    schema.check_embedded(&document, &mut errors);
    schema.check_lists(&document, &mut errors);
    Rules::compile(&schema).check(&schema, &document, Some(&old), &mut errors);
    drop(errors.joined());
}

/// A schema that uses all keywords.
const SCHEMA: &str = r#"{"type":"object","required":["spec"],"properties":{"spec":{"type":"object","default":{},
"x-kubernetes-validations":[{"rule":"self.size >= oldSelf.size || self.name.startsWith('a')","message":"m","fieldPath":".size"}],
"properties":{"name":{"type":"string","minLength":1,"maxLength":9,"pattern":"^[a-z]*$","enum":["a","b"],"default":"a"},
"size":{"type":"integer","format":"int32","minimum":0,"maximum":10,"exclusiveMaximum":true,"multipleOf":2,"nullable":true},
"ratio":{"type":"number","format":"double"},"when":{"type":"string","format":"date-time"},"any":{"x-kubernetes-preserve-unknown-fields":true},
"port":{"x-kubernetes-int-or-string":true,"anyOf":[{"type":"integer"},{"type":"string"}]},
"set":{"type":"array","x-kubernetes-list-type":"set","maxItems":3,"items":{"type":"string"}},
"map":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["k"],"items":{"type":"object","required":["k"],"properties":{"k":{"type":"string"},"v":{"type":"integer","default":1}}}},
"labels":{"type":"object","maxProperties":2,"additionalProperties":{"type":"string","format":"ipv4"}},
"object":{"type":"object","x-kubernetes-embedded-resource":true,"x-kubernetes-preserve-unknown-fields":true},
"either":{"type":"object","oneOf":[{"required":["a"]},{"required":["b"]}],"not":{"required":["c"]},"allOf":[{"properties":{"a":{"minimum":1}}}],"properties":{"a":{"type":"integer"},"b":{"type":"boolean"},"c":{"type":"string"}}}}}}}"#;

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let documents = [
        r#"{"apiVersion":"a/v1","kind":"K","metadata":{"name":"x"},"spec":{"name":"a","size":4,"ratio":0.5,"when":"2020-01-01T00:00:00Z","any":{"x":[1]},"port":"http","set":["a","b"],"map":[{"k":"a"},{"k":"b","v":2}],"labels":{"a":"1.2.3.4"},"object":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"y","nope":1}},"either":{"a":1}}}"#,
        r#"{"spec":{"name":"","size":null,"unknown":true,"set":["a","a"],"map":[{"k":"a"},{"k":"a"}],"labels":null,"object":{"metadata":7},"either":{"a":0,"b":true,"c":""}}}"#,
        "[]",
    ];
    let mut seeds: Vec<_> = documents
        .map(|document| join(&[SCHEMA.as_bytes(), document.as_bytes()]))
        .into();
    seeds.push(join(&[
        br#"{"type":"array","items":{"type":"array","items":{"type":"integer"}}}"#,
        "[".repeat(4_000).as_bytes(),
    ]));
    seeds
}

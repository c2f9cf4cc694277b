//! Custom resource definitions.

use planesmith_api_defs::apiextensions::v1::CustomResourceDefinition;
use planesmith_dynamic::structural::Structural;
use planesmith_expressions::definition;
use planesmith_machinery::environment::Environment;
use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::json::{self, Strictness};
use planesmith_machinery::json_path::JsonPath;
use planesmith_machinery::object::Resource;
use planesmith_machinery::strategy::Context;
use planesmith_machinery::{defaulting, validation, yaml};
use serde_json::Value;

use crate::kinds::KINDS;

/// Any definition is refused or served: its rules compile or are reported, and objects can be validated by its schema.
pub(crate) fn run(input: &[u8]) {
    let Ok(document) = yaml::to_json(input) else { return };
    let mut object = CustomResourceDefinition::RESOURCE.zero();
    if json::decode(&document.json, &mut *object, Strictness::Lenient).is_err() {
        return;
    }
    defaulting::set_defaults(&mut *object, Environment::defaults());
    let errors = validation::check_create(&*object, &Context::default());
    let document = json::to_value(&*object);
    let versions = document.pointer("/spec/versions").and_then(Value::as_array);
    for version in versions.into_iter().flatten() {
        let Some(schema) = version.pointer("/schema/openAPIV3Schema") else {
            continue;
        };
        let structural = Structural::compile(schema);
        let mut empty = Value::Object(serde_json::Map::new());
        structural.fill_defaults(&mut empty);
        drop(structural.prune(&mut empty));
        let columns = version.get("additionalPrinterColumns").and_then(Value::as_array);
        for column in columns.into_iter().flatten() {
            let path = column.get("jsonPath").and_then(Value::as_str).unwrap_or_default();
            let _ = JsonPath::parse(path).map(|path| path.find(&empty).map(drop));
        }
        if errors.is_empty() {
            definition::check(schema, definition::CheckContext::default(), &mut FieldErrors::default());
        }
    }
    drop(errors.joined());
}

/// A definition that uses all features except a large schema.
const WIDGETS: &str = r#"
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget, listKind: WidgetList, shortNames: [w], categories: [all]}
  conversion: {strategy: Webhook, webhook: {conversionReviewVersions: [v1], clientConfig: {url: "https://x.example/c"}}}
  versions:
  - name: v1
    served: true
    storage: true
    deprecated: true
    subresources: {status: {}, scale: {specReplicasPath: .spec.n, statusReplicasPath: .status.n, labelSelectorPath: .status.s}}
    additionalPrinterColumns: [{name: N, type: integer, jsonPath: .spec.n, priority: 1}, {name: D, type: date, jsonPath: ".status.c[?(@.t=='x')].w"}]
    selectableFields: [{jsonPath: .spec.name}]
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            x-kubernetes-validations: [{rule: "self.n > 0 && self.name.size() < 5", messageExpression: "'x' + self.name", reason: FieldValueInvalid}]
            properties:
              n: {type: integer, default: 1, minimum: 0}
              name: {type: string, maxLength: 5, pattern: "^[a-z]+$"}
              l: {type: array, maxItems: 4, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k], items: {type: object, required: [k], properties: {k: {type: string}}}}
              o: {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}
          status: {type: object, x-kubernetes-preserve-unknown-fields: true}
  - {name: v1beta1, served: false, storage: false, schema: {openAPIV3Schema: {type: object}}}
"#;

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = vec![WIDGETS.as_bytes().to_vec()];
    let samples = crate::kinds::samples(|object| json::to_vec(object));
    let definitions = KINDS.iter().position(|kind| kind.kind == "CustomResourceDefinition");
    let own = samples
        .into_iter()
        .filter(|seed| definitions == seed.first().map(|kind| usize::from(*kind)));
    seeds.extend(own.map(|seed| seed[1..].to_vec()));
    seeds
}

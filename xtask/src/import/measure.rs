//! The loss between definitions of other projects and those generated from their drafts: nothing is lost without a mark.
//!
//! Works in a tree with the sources of machinery, without compiling. [`compare`] defines equality.

mod compare;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use planesmith_e2e::skip::skip;
use serde_json::{Value, json};

use self::compare::text_of;
use super::document::{Found, documents};
use super::draft::Draft;
use super::end_to_end::{definitions, reference};
use super::{merged, write};
use crate::cargo::workspace;
use crate::generate::{self, QUANTITY};
use crate::workspace_copy::copy;

#[test]
fn definitions_of_other_projects_are_drafted_or_marked() -> Result<()> {
    let Some(folder) = reference("crds") else {
        skip("drafts of definitions of other projects", "there is no ../shared/crds");
        return Ok(());
    };
    let mut found = Vec::new();
    for text in definitions(&folder)? {
        found.extend(documents(&text)?);
    }
    found.retain(|document| document["kind"] == "CustomResourceDefinition");
    let lost = lost(&found)?;
    assert!(lost.is_empty(), "{} losses:\n{}", lost.len(), lost.join("\n"));
    Ok(())
}

/// A definition that uses every feature.
const EVERYTHING: &str = r#"
kind: CustomResourceDefinition
metadata:
  name: things.all.example.com
  annotations: {example.com/owner: us}
  labels: {app: things}
spec:
  group: all.example.com
  names: {plural: things, singular: thing, kind: Thing, listKind: ThingList, shortNames: [th], categories: [all]}
  scope: Cluster
  conversion: {strategy: Webhook, webhook: {conversionReviewVersions: [v1]}}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}, scale: {specReplicasPath: .spec.size, statusReplicasPath: .status.size}}
    selectableFields: [{jsonPath: .spec.color}, {jsonPath: .spec.nowhere}]
    additionalPrinterColumns:
    - {name: Ready, type: string, description: Whether., jsonPath: '.status.conditions[?(@.type=="Ready")].status'}
    - {name: Label, type: string, jsonPath: '.metadata.labels.example\.com/x'}
    - {name: Size, type: integer, format: int32, priority: 1, jsonPath: .spec.size}
    - {name: Nowhere, type: string, jsonPath: .spec.nowhere}
    - {name: Old, type: date, jsonPath: .metadata.creationTimestamp}
    schema:
      openAPIV3Schema:
        type: object
        required: [spec]
        x-kubernetes-validations: [{rule: "self.metadata.name != 'a'", message: not a}]
        properties:
          apiVersion: {type: string}
          kind: {type: string}
          metadata: {type: object, properties: {name: {type: string, maxLength: 10}}}
          status:
            type: object
            properties:
              size: {type: integer}
              conditions:
                type: array
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [type]
                items:
                  type: object
                  required: [type, status]
                  properties: {type: {type: string}, status: {type: string, enum: ["True", "False"]}}
          spec:
            type: object
            required: [color, size, free, active, empty, full, inner, outer, kept, when]
            oneOf: [{required: [color]}, {required: [size]}]
            properties:
              color: {type: string, enum: [red, green], x-kubernetes-validations: [{rule: self == oldSelf, message: field is immutable}]}
              size: {type: integer, format: int32, minimum: -1, maximum: 9, default: -1}
              free: {type: string}
              active: {type: boolean}
              shown: {type: boolean, default: false}
              flags: {type: array, items: {type: boolean, default: false}}
              when: {type: string, format: date-time}
              empty: {type: array, items: {type: string}}
              full: {type: array, minItems: 1, items: {type: string, minLength: 1, enum: [a, b]}}
              inner: {type: object, properties: {any: {type: string, default: ""}}}
              outer: {type: object, required: [name], properties: {name: {type: string, minLength: 1}}, default: {name: x}}
              kept: {type: object, required: [name], properties: {name: {type: string}}}
              email: {type: string, format: email}
              part: {type: number, minimum: 0.5, maximum: 2.0, exclusiveMaximum: true, multipleOf: 0.5}
              code: {type: integer, enum: [1, 2]}
              amount: {x-kubernetes-int-or-string: true, anyOf: [{type: integer}, {type: string}], pattern: QUANTITY}
              port: {x-kubernetes-int-or-string: true, anyOf: [{type: integer}, {type: string}], maxLength: 3}
              rows: {type: array, items: {type: array, x-kubernetes-list-type: set, items: {type: integer, format: int64, maximum: 5}}}
              pages: {type: array, maxItems: 3, x-kubernetes-list-type: set, items: {type: string, pattern: "^[a-z]+$"}, default: [a]}
              named: {type: object, maxProperties: 4, x-kubernetes-map-type: atomic, additionalProperties: {type: string, maxLength: 5}}
              deep: {type: object, additionalProperties: {type: object, required: [a], properties: {a: {type: string}}}}
              perhaps: {type: string, nullable: true}
              none: {type: object}
              raw: {type: object, x-kubernetes-preserve-unknown-fields: true}
              any: {x-kubernetes-preserve-unknown-fields: true}
              open: {type: object, x-kubernetes-preserve-unknown-fields: true, properties: {a: {type: string}}}
              whole: {type: object, x-kubernetes-map-type: atomic, properties: {a: {type: string}}}
              object: {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}
              few: {type: object, minProperties: 1, maxProperties: 2, properties: {a: {type: string}}}
              bytes: {type: string, format: byte, maxLength: 9}
              odd: {type: string, pattern: "(?<!a)b"}
              not: {type: string, not: {pattern: a}}
              elements: {type: array, items: {type: object, nullable: true, properties: {a: {type: string}}, x-kubernetes-validations: [{rule: has(self.a)}]}}
  - name: v1beta1
    served: false
    storage: false
    deprecated: true
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {color: {type: string}}}}}}
"#;

#[test]
fn every_part_of_a_definition_is_drafted_or_marked() -> Result<()> {
    let text = EVERYTHING.replace("QUANTITY", &json!(QUANTITY).to_string());
    let lost = lost(&documents(text.as_bytes())?)?;
    assert!(lost.is_empty(), "{} losses:\n{}", lost.len(), lost.join("\n"));
    Ok(())
}

/// Returns content of definitions that is missing in those generated from their drafts, unless it is marked.
fn lost(definitions: &[Value]) -> Result<Vec<String>> {
    let drafts = merged(Found::of(definitions)?.drafts)?;
    let tree = tree(&drafts)?;
    let generated = generate::definitions(tree.path())?;
    let mut lost = Vec::new();
    for definition in definitions {
        let spec = &definition["spec"];
        let name = format!("{}.{}", text_of(&spec["names"]["plural"]), text_of(&spec["group"]));
        match generated.iter().find(|other| other["metadata"]["name"] == *name) {
            Some(other) => {
                let differences = compare::definitions(definition, other, &drafts);
                lost.extend(differences.into_iter().map(|what| format!("{name} {what}")));
            }
            None => lost.push(format!("{name}: nothing is generated")),
        }
    }
    Ok(lost)
}

/// Creates a tree with drafts and the sources that they need.
fn tree(drafts: &[Draft]) -> Result<tempfile::TempDir> {
    let tree = tempfile::tempdir()?;
    let root = tree.path();
    for folder in ["runtime/machinery/src", "api-defs/src"] {
        std::fs::create_dir_all(root.join(folder))?;
    }
    copy(
        &workspace().join("runtime/machinery/src"),
        &root.join("runtime/machinery/src"),
    )?;
    put(
        root,
        "runtime/machinery/Cargo.toml",
        "name = \"planesmith-machinery\"\n",
    )?;
    put(root, "api-defs/Cargo.toml", "name = \"planesmith-api-defs\"\n")?;
    put(root, "api-defs/src/lib.rs", "")?;
    put(root, "examples/imported/Cargo.toml", "name = \"planesmith-imported\"\n")?;
    let mut lib = "pub mod generated;\n".to_owned();
    let modules: BTreeSet<String> = drafts.iter().map(|draft| write::module(&draft.group)).collect();
    modules
        .iter()
        .for_each(|module| lib.push_str(&format!("pub mod {module};\n")));
    put(root, "examples/imported/src/lib.rs", &lib)?;
    for (path, text) in write::files(drafts) {
        put(&root.join("examples/imported/src"), path, &text)?;
    }
    Ok(tree)
}

fn put(root: &Path, path: impl Into<PathBuf>, text: &str) -> Result<()> {
    let path = root.join(path.into());
    std::fs::create_dir_all(path.parent().context("a folder")?)?;
    std::fs::write(path, text)?;
    Ok(())
}

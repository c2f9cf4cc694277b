//! Drafts of small descriptions.

use std::collections::BTreeMap;

use super::*;

pub(super) const CRD: &str = r#"
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: orders.shop.example.com}
spec:
  group: shop.example.com
  names: {plural: orders, singular: order, kind: Order, listKind: OrderList, shortNames: [ord]}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    additionalPrinterColumns:
    - {name: Customer, type: string, jsonPath: .spec.customer}
    - {name: Age, type: date, jsonPath: .metadata.creationTimestamp}
    schema:
      openAPIV3Schema:
        type: object
        description: Things that a customer ordered.
        properties:
          apiVersion: {type: string}
          kind: {type: string}
          metadata: {type: object}
          spec:
            type: object
            required: [customer]
            properties:
              customer: {type: string, maxLength: 80}
              clusterIP: {type: string}
              gift: {type: object, properties: {to: {type: string}}}
              gifts: {type: array, items: {type: object, properties: {to: {type: string}}}}
              express: {type: boolean}
              lines:
                type: array
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [sku]
                items:
                  type: object
                  required: [sku]
                  properties:
                    sku: {type: string, minLength: 1}
                    count: {type: integer, format: int32, minimum: 1, default: 1}
          status:
            type: object
            properties:
              phase: {type: string, enum: [Pending, Ready]}
"#;

fn drafted(text: &str) -> BTreeMap<String, String> {
    let found = Found::read(text.as_bytes()).expect("a description");
    let drafts = merged(found.drafts).expect("drafts that can be written");
    write::files(&drafts)
        .into_iter()
        .map(|(path, text)| (path.display().to_string(), text))
        .collect()
}

#[test]
fn a_custom_resource_definition_becomes_a_kind_with_its_types() {
    let files = drafted(CRD);
    assert_eq!(
        files.keys().collect::<Vec<_>>(),
        ["shop.rs", "shop/v1.rs", "shop/v1/order.rs"]
    );
    let order = &files["shop/v1/order.rs"];
    for expected in [
        "/// Things that a customer ordered.",
        "short(\"ord\")",
        "status",
        "column(name = \"Customer\", type = \"string\", path = \"spec.customer\")",
        "pub spec: Option<OrderSpec>,",
        "    #[field(required, max_length = 80)]\n    pub customer: Option<String>,",
        "    #[field(name = \"clusterIP\")]\n    pub cluster_ip: String,",
        "pub express: Option<bool>,",
        "pub gift: Option<OrderSpecGift>,",
        "pub gifts: Vec<OrderSpecGiftItem>,",
        "list_type = map, list_map_keys(\"sku\"), unique)]\n    pub lines: Vec<OrderSpecLine>,",
        "    #[field(default = 1, minimum = 1)]\n    pub count: Option<i32>,",
        "    #[field(required, min_length = 1)]\n    pub sku: String,",
        "one_of(\"Pending\", \"Ready\")",
    ] {
        assert!(order.contains(expected), "no {expected:?} in:\n{order}");
    }
}

#[test]
fn a_draft_is_a_definition_without_problems() {
    let files = drafted(CRD);
    let files: Vec<(String, &str)> = files
        .iter()
        .map(|(path, text)| (format!("examples/shop/src/{path}"), text.as_str()))
        .collect();
    crate::generate::tests::renders(&files);
}

#[test]
fn facts_become_the_tables_that_they_are_about() {
    let facts = r#"{"group": "shop.example.com", "version": "v1", "types": {
        "Policy": {"kind": "alias", "of": "string", "markers": ["+enum"], "values": ["Always", "Never"]},
        "Crate": {"kind": "struct", "fields": [
            {"go": "TypeMeta", "inline": true, "type": "metav1.TypeMeta"},
            {"go": "ObjectMeta", "json": "metadata", "type": "metav1.ObjectMeta", "omit": "omitempty", "proto": "bytes,1,opt,name=metadata"},
            {"go": "Policy", "json": "policy", "type": "Policy", "proto": "bytes,2,opt,name=policy", "markers": ["+optional", "+k8s:optional", "+k8s:alpha(since: \"1.36\")=+k8s:maxLength=63", "+---+"]},
            {"go": "Inner", "json": "inner", "type": "*Crate", "omit": "omitempty", "proto": "bytes,3,opt,name=inner"}
        ]}}}"#;
    let files = drafted(facts);
    let text = &files["shop/v1/crate_.rs"];
    assert!(
        text.contains("#[field(proto = 2, keep, optional, known(\"Always\", \"Never\"))]\n    pub policy: String,"),
        "{text}"
    );
    assert!(text.contains("pub inner: Option<Box<Crate>>,"), "{text}");
    assert_eq!(text.matches("TODO(import)").count(), 1, "{text}");
    assert!(
        text.contains("// TODO(import): marker +k8s:alpha(since: \"1.36\")=+k8s:maxLength=63"),
        "{text}"
    );
}

#[test]
fn mistakes_are_pointed_at() {
    let version = "{group: a.b, names: {kind: A}, versions: [VERSION]}";
    let definition = |version_: &str| {
        format!(
            "kind: CustomResourceDefinition\nspec: {}\n",
            version.replace("VERSION", version_)
        )
    };
    let schema = "schema: {openAPIV3Schema: {properties: {a-b: {}, a_b: {}}}}";
    for (text, expected) in [
        (
            "kind: Pod\n".to_owned(),
            "no kind is described; expected a CustomResourceDefinition",
        ),
        (String::new(), "no kind is described"),
        ("a: 1\n".to_owned(), "neither a CustomResourceDefinition"),
        (
            "swagger: '2.0'\n".to_owned(),
            "an OpenAPI v2 document; expected version 3",
        ),
        ("openapi: 3.0.0\n".to_owned(), "no kind is described"),
        ("types: {}\n".to_owned(), "group is missing"),
        ("a: b: c\n".to_owned(), "mapping values are not allowed"),
        (
            "kind: CustomResourceDefinition\nspec: {}\n".to_owned(),
            "spec.group is missing",
        ),
        (definition("{schema: {}}"), "spec.versions[0].name is missing"),
        (
            definition("{name: v1}"),
            "spec.versions[0].schema.openAPIV3Schema is missing",
        ),
        (
            definition(&format!("{{name: one, {schema}}}")),
            "`one` is not a version",
        ),
        (
            definition(&format!("{{name: v1, {schema}}}")),
            "A has two fields with the Rust name a_b",
        ),
        (
            format!(
                "{}---\na: 1\n",
                definition(&format!("{{name: v1, {}}}", schema.replace("a_b", "c")))
            ),
            "document 2: neither",
        ),
        (
            format!(
                "{0}---\n{0}",
                definition(&format!("{{name: v1, {}}}", schema.replace("a_b", "c")))
            ),
            "a.b/v1: there are two types A",
        ),
    ] {
        let found = Found::read(text.as_bytes()).and_then(|found| merged(found.drafts));
        let error = found.expect_err(&text);
        let error = format!("{error:#}");
        assert!(error.contains(expected), "{text}: {error}");
    }
}

#[test]
fn other_objects_beside_definitions_are_passed_over_and_lists_are_opened() {
    let indented = |text: &str| -> String { text.trim().lines().map(|line| format!("    {line}\n")).collect() };
    let text = format!(
        "--- # first\nkind: Namespace\nmetadata: {{name: shop}}\n---\nkind: List\nitems:\n  - kind: Deployment\n  -\n{}",
        indented(CRD)
    );
    let found = Found::read(text.as_bytes()).expect("a definition");
    assert_eq!(
        found.skipped,
        ["document 1: a Namespace shop", "document 2: items[0]: a Deployment"]
    );
    assert_eq!(found.drafts.len(), 1);
}

#[test]
fn remaining_steps_are_listed() {
    let crd = CRD.replace(
        "clusterIP: {type: string}",
        "clusterIP: {type: string, x-kubernetes-validations: [{rule: isIP(self), message: no IP}]}",
    );
    let out = tempfile::tempdir().expect("a folder");
    let import = |crd: &str| {
        let drafts = merged(Found::read(crd.as_bytes()).expect("a definition").drafts).expect("drafts");
        let import = Import {
            files: Vec::new(),
            out: out.path().to_owned(),
        };
        let mut report = Report::from_drafts(&drafts);
        report.crate_root(&import.out, &drafts);
        for (path, text) in write::files(&drafts) {
            import.write(&path, &text, &mut report).expect("a file");
        }
        report.read_marks().expect("what was written");
        report.render().replace(&out.path().display().to_string(), "src")
    };
    let first = import(&crd);
    for expected in [
        "1 kind and 5 other structs\n  shop.example.com/v1 Order\n",
        "1 thing that the files do not say, marked there with TODO(import):\n  src/shop/v1/order.rs:",
        ": rule `isIP(self)` (message \"no IP\"): write it in `Strategy::validate`\n",
        "  add `pub mod shop;` to src/lib.rs\n  that file does not exist: `cargo xtask new-group ",
    ] {
        assert!(first.contains(expected), "no {expected:?} in:\n{first}");
    }
    std::fs::write(out.path().join("lib.rs"), "pub mod shop;\n").expect("a file");
    let second = import(&CRD.replace("order", "crate").replace("Order", "Crate"));
    assert!(
        second.ends_with(
            "next:\n  add to src/shop/v1.rs:\n    mod crate_;\n    pub use crate_::Crate;\n    pub use crate_::CrateSpec;\n    \
             pub use crate_::CrateSpecGift;\n    pub use crate_::CrateSpecGiftItem;\n    pub use crate_::CrateSpecLine;\n    \
             pub use crate_::CrateStatus;\n  cargo xtask generate\n"
        ),
        "{second}"
    );
    let third = import(CRD);
    assert!(
        third.ends_with(
            "next:\n  src/shop/v1/order.rs was kept: to replace it by the draft, remove it and import again\n  \
             see to the marks; a kind with `strategy` in #[resource(...)] has functions in `impl Strategy`\n  cargo xtask generate\n"
        ),
        "{third}"
    );
}

#[test]
fn groups_that_would_share_a_module_are_refused() {
    let text = format!("{CRD}---\n{}", CRD.replace("shop.example.com", "shop.example.org"));
    let found = Found::read(text.as_bytes()).expect("definitions");
    let error = merged(found.drafts).expect_err("one module").to_string();
    assert!(error.contains("would share the module shop"), "{error}");
}

#[test]
fn unions_of_documents_are_kept() {
    let document = r##"{"openapi": "3.0.0", "paths": {}, "components": {"schemas": {
        "com.example.Lamp": {
            "type": "object", "properties": {"metadata": {"type": "object"}, "power": {"$ref": "#/com.example.Power"}},
            "x-kubernetes-group-version-kind": [{"group": "shop.example.com", "version": "v1", "kind": "Lamp"}]},
        "com.example.Power": {
            "type": "object", "required": ["kind"],
            "properties": {"kind": {"type": "string", "default": ""}, "battery": {"type": "string"}},
            "x-kubernetes-unions": [{"discriminator": "kind", "fields-to-discriminateBy": {"battery": "Battery"}}]}}}}"##;
    let text = &drafted(document)["shop/v1/lamp.rs"];
    for expected in [
        "#[schema(union)]\npub struct Power {",
        "#[field(keep, discriminator)]\n    pub kind: String,",
    ] {
        assert!(text.contains(expected), "no {expected:?} in:\n{text}");
    }
    assert!(!text.contains("TODO"), "{text}");
}

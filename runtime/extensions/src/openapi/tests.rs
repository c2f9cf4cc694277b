use std::borrow::Cow;

use planesmith_dynamic::custom::CustomKind;
use planesmith_machinery::resource::ResourceTable;

use super::*;

static TABLE: ResourceTable = ResourceTable {
    group: Cow::Borrowed("shop.example.com"),
    version: Cow::Borrowed("v1"),
    api_version: Cow::Borrowed("shop.example.com/v1"),
    kind: Cow::Borrowed("Order"),
    list_kind: Cow::Borrowed("OrderList"),
    plural: Cow::Borrowed("orders"),
    ..CustomKind::FACTS
};
static FACTS: ResourceFacts = ResourceFacts::declared(&TABLE);

#[test]
fn number_or_text_is_published_in_the_words_of_openapi() {
    let schema = json!({"type": "object", "properties": {"port": {"x-kubernetes-int-or-string": true}}});
    let model = model::of_kind(&FACTS, &schema, Dialect::V3 { template: &Value::Null });
    let either = json!([{"type": "integer"}, {"type": "string"}]);
    assert_eq!(model["properties"]["port"]["anyOf"], either);
    let kind = json!([{"group": "shop.example.com", "kind": "Order", "version": "v1"}]);
    assert_eq!(model["x-kubernetes-group-version-kind"], kind);
    assert!(model["properties"]["metadata"]["allOf"][0]["$ref"].is_string());
    // Upstream's conformance test of `kubectl explain` matches this text.
    assert_eq!(
        model["properties"]["metadata"]["description"],
        "Standard object's metadata."
    );
}

#[test]
fn version_2_has_nothing_that_its_readers_cannot_cope_with() {
    let schema = json!({"type": "object", "properties": {"spec": {
        "type": "object", "required": ["gone", "stays"],
        "properties": {
            "gone": {"type": "object", "nullable": true, "properties": {"a": {"type": "string"}}},
            "stays": {"type": "string", "default": "b", "anyOf": [{"pattern": "a"}]},
            "any": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
        },
    }}});
    let model = model::of_kind(&FACTS, &schema, Dialect::V2);
    let expected = json!({
        "type": "object", "required": ["stays"],
        "properties": {
            "gone": {},
            "stays": {"type": "string"},
            "any": {"x-kubernetes-preserve-unknown-fields": true},
        },
    });
    assert_eq!(model["properties"]["spec"], expected);
}

#[test]
fn paths_are_named_after_the_group_the_version_and_the_kind() {
    let paths = paths::of_kind(&FACTS, &Value::Null, Dialect::V3 { template: &Value::Null });
    let id = |path: &str, method: &str| {
        paths[path][method]["operationId"]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    };
    let one = "/apis/shop.example.com/v1/namespaces/{namespace}/orders/{name}";
    assert_eq!(id(one, "put"), "replaceShopExampleComV1NamespacedOrder");
    assert_eq!(paths[one]["put"]["tags"], json!(["shopExampleCom_v1"]));
    assert!(paths.contains_key("/apis/shop.example.com/v1/orders"));
}

/// The names of parameters.
fn names(parameters: &Value) -> Vec<&str> {
    let listed = parameters.as_array().map(Vec::as_slice).unwrap_or_default();
    listed.iter().map(parameters::name).collect()
}

const COLLECTION: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

#[test]
fn paths_of_version_2_have_their_bodies_as_parameters() {
    let body = |name: &str| json!({"in": "body", "name": "body", "schema": {"$ref": format!("#/definitions/{name}")}});
    let template = json!({"paths": {COLLECTION: {
        "parameters": [{"$ref": "#/parameters/pretty-tJGM1-ng"}],
        "post": {"x-kubernetes-action": "post", "parameters": [body("CustomResourceDefinition"), {"name": "dryRun"}]},
        "delete": {"x-kubernetes-action": "deletecollection", "parameters": [{"$ref": "#/parameters/body-2Y1dVQaQ"}]},
    }}});
    let paths = paths::of_kind(&FACTS, &template, Dialect::V2);
    let path = &paths["/apis/shop.example.com/v1/namespaces/{namespace}/orders"];
    let shared = parameters::shared();
    let (key, namespace) = shared.as_object().unwrap().iter().next().unwrap();
    assert_eq!(path["parameters"][0]["$ref"], format!("#/parameters/{key}"));
    assert_eq!(namespace["type"], "string");
    assert_eq!(path["parameters"][1]["$ref"], "#/parameters/pretty-tJGM1-ng");
    let order = "#/definitions/com.example.shop.v1.Order";
    assert_eq!(
        path["post"]["parameters"],
        json!([body("com.example.shop.v1.Order"), {"name": "dryRun"}])
    );
    assert_eq!(path["post"]["responses"]["201"]["schema"]["$ref"], order);
    assert_eq!(
        path["post"]["consumes"],
        json!(["application/json", "application/yaml"])
    );
    assert_eq!(path["delete"].get("parameters"), None);
}

#[test]
fn collections_are_deleted_with_the_parameters_of_lists() {
    let template = json!({"paths": {COLLECTION: {
        "parameters": [{"name": "pretty"}],
        "get": {"x-kubernetes-action": "list", "parameters": [{"name": "limit"}, {"name": "watch"}]},
        "post": {"x-kubernetes-action": "post", "parameters": [{"name": "dryRun"}]},
        "delete": {"x-kubernetes-action": "deletecollection", "parameters": [{"name": "dryRun"}, {"name": "limit"}]},
    }}});
    let paths = paths::of_kind(&FACTS, &template, Dialect::V3 { template: &template });
    let path = &paths["/apis/shop.example.com/v1/namespaces/{namespace}/orders"];
    assert_eq!(names(&path["parameters"]), ["namespace", "pretty"]);
    assert_eq!(names(&path["get"]["parameters"]), ["limit", "watch"]);
    assert_eq!(names(&path["post"]["parameters"]), ["dryRun"]);
    assert_eq!(names(&path["delete"]["parameters"]), ["limit", "watch"]);
    // All parameters of the only operation of a path are those of the path.
    let everywhere = &paths["/apis/shop.example.com/v1/orders"];
    assert_eq!(names(&everywhere["parameters"]), ["limit", "pretty", "watch"]);
    assert_eq!(everywhere["get"].get("parameters"), None);
    let id = "listShopExampleComV1OrderForAllNamespaces";
    assert_eq!(everywhere["get"]["operationId"], id);
}

#[test]
fn identifiers_leave_the_domain_of_kubernetes_out() {
    static TABLE: ResourceTable = ResourceTable {
        group: Cow::Borrowed("3d.pipe-line.k8s.io"),
        version: Cow::Borrowed("v1"),
        api_version: Cow::Borrowed("3d.pipe-line.k8s.io/v1"),
        kind: Cow::Borrowed("Order"),
        plural: Cow::Borrowed("orders"),
        ..CustomKind::FACTS
    };
    let paths = paths::of_kind(&ResourceFacts::declared(&TABLE), &Value::Null, Dialect::V2);
    let path = &paths["/apis/3d.pipe-line.k8s.io/v1/orders"]["get"];
    assert_eq!(path["tags"], json!(["DPipeLine_v1"]));
    assert_eq!(path["operationId"], "readDPipeLineV1OrderForAllNamespaces");
}

#[test]
fn documents_have_the_models_that_custom_kinds_need() {
    let model =
        |name: &str| json!({"properties": {"a": {"allOf": [{"$ref": format!("#/components/schemas/{name}")}]}}});
    let time = "io.k8s.apimachinery.pkg.apis.meta.v1.Time";
    let template = json!({"components": {"schemas": {
        model::OBJECT_META: model(time),
        time: {"type": "string"},
        paths::DELETE_OPTIONS: {"x-kubernetes-group-version-kind": []},
        "io.k8s.apimachinery.pkg.apis.meta.v1.WatchEvent": model(time),
        "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON": {},
    }}});
    let mut models = shared_models::needed(&template);
    assert_eq!(
        models.keys().collect::<Vec<_>>(),
        [paths::DELETE_OPTIONS, model::OBJECT_META, time]
    );
    let kind = |group: &str| json!({"group": group, "kind": "DeleteOptions", "version": "v1"});
    let kinds = [kind(""), kind("apiextensions.k8s.io"), kind("apps")];
    let core = json!({"definitions": {paths::DELETE_OPTIONS: {"x-kubernetes-group-version-kind": kinds}, "a": {}}});
    let openapi = OpenApi::default();
    let templates = Templates {
        definitions: "",
        metadata: "api/v1",
        scales: &[],
    };
    let shared = SharedDocuments::new(&openapi, templates);
    assert_eq!(shared.delete_options(), None);
    openapi.make_v2("api/v1", move || core.to_string().into());
    shared_models::name_group_versions(&mut models, shared.delete_options().unwrap());
    let kinds = &models[paths::DELETE_OPTIONS]["x-kubernetes-group-version-kind"];
    assert_eq!(kinds, &json!([kind(""), kind("apps")]));
    openapi.remove_v2("api/v1");
    assert!(shared.delete_options().is_some(), "the document is read once");
}

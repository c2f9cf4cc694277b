//! Parts of sent objects that stored objects do not show: empty lists, and elements that nothing identifies.

use bytes::Bytes;
use http::Method;
use planesmith_e2e::{Answer, Binary, Connection, Home, Server};
use serde_json::{Value, json};

const MERGE: &str = "application/merge-patch+json";
const STRATEGIC: &str = "application/strategic-merge-patch+json";
const APPLY: &str = "application/apply-patch+yaml";

async fn serve(home: &Home) -> (Server, Connection) {
    let flags = ["--storage=memory", "--controllers=-*"];
    let server = home.start(&Binary::Planesmith.path().unwrap(), &flags).await.unwrap();
    let connection = server.connect().await.unwrap();
    (server, connection)
}

async fn call(connection: &Connection, method: Method, path: &str, body: &Value) -> Answer {
    connection.call(method, path, body.to_string()).await.unwrap()
}

async fn create(connection: &Connection, path: &str, body: &Value) -> Value {
    let answer = call(connection, Method::POST, path, body).await;
    answer.expect(201).unwrap().json().unwrap()
}

async fn patch(connection: &Connection, path: &str, kind: &str, body: &Value) -> Answer {
    let request = connection.request(Method::PATCH, path).header("content-type", kind);
    let body = Bytes::from(body.to_string());
    connection.finish(request.body(body.into()).unwrap()).await.unwrap()
}

async fn patched(connection: &Connection, path: &str, kind: &str, body: &Value) -> Value {
    let answer = patch(connection, path, kind, body).await;
    answer.expect(200).unwrap().json().unwrap()
}

fn message(answer: &Answer) -> String {
    answer.json().unwrap()["message"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn an_element_without_a_name_ends_the_tracking_of_a_service_account() {
    const ACCOUNTS: &str = "/api/v1/namespaces/default/serviceaccounts";
    const WHY: &str = "failed to create manager for existing fields: failed to convert new object (default/one; /v1, \
                       Kind=ServiceAccount) to smd typed: .secrets: element 1: associative list with keys has an element \
                       that omits all key fields [\"name\"] (and doesn't have default values for any key fields)";
    let home = Home::new().unwrap();
    let (_server, connection) = serve(&home).await;
    let account = json!({"metadata": {"name": "one", "labels": {"a": "1"}}});
    let created = create(&connection, ACCOUNTS, &account).await;
    assert!(created["metadata"]["managedFields"].is_array(), "{created}");
    let one = format!("{ACCOUNTS}/one");
    let secrets = json!({"secrets": [{"name": "a"}, {"kind": "x"}]});
    let changed = patched(&connection, &one, MERGE, &secrets).await;
    assert_eq!(changed["metadata"]["managedFields"], Value::Null);
    let applied = json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"labels": {"b": "1"}}});
    let refused = patch(&connection, &format!("{one}?fieldManager=m"), APPLY, &applied).await;
    assert_eq!((refused.status.as_u16(), message(&refused)), (500, WHY.to_owned()));
}

#[tokio::test]
async fn each_empty_list_is_a_change_of_a_kind_that_is_compared_exactly() {
    const POLICIES: &str = "/apis/networking.k8s.io/v1/namespaces/default/networkpolicies";
    const WEBHOOKS: &str = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations";
    let home = Home::new().unwrap();
    let (_server, connection) = serve(&home).await;
    let generation = |object: &Value| object["metadata"]["generation"].as_u64().unwrap();
    let policy = |spec: &Value| json!({"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "metadata": {"name": "one"}, "spec": spec});
    create(&connection, POLICIES, &policy(&json!({"podSelector": {}}))).await;
    let one = format!("{POLICIES}/one");
    let empty = json!({"ingress": []});
    for expected in [2, 3] {
        let answer = call(&connection, Method::PUT, &one, &policy(&empty)).await;
        assert_eq!(generation(&answer.expect(200).unwrap().json().unwrap()), expected);
    }
    let mut expected = 3;
    for kind in [STRATEGIC, MERGE] {
        expected += 1;
        let changed = patched(&connection, &one, kind, &json!({"spec": empty})).await;
        assert_eq!(generation(&changed), expected, "{kind}");
        // Absent is no change, and neither is an empty list that has a default.
        let same = patched(&connection, &one, kind, &json!({"spec": {"policyTypes": []}})).await;
        assert_eq!(generation(&same), expected, "{kind}");
    }
    let changed = patched(&connection, &format!("{one}?fieldManager=m"), APPLY, &policy(&empty)).await;
    assert_eq!(generation(&changed), 6);
    let mut webhooks = create(&connection, WEBHOOKS, &json!({"metadata": {"name": "one"}})).await;
    webhooks["webhooks"] = json!([]);
    let answer = call(&connection, Method::PUT, &format!("{WEBHOOKS}/one"), &webhooks).await;
    assert_eq!(generation(&answer.expect(200).unwrap().json().unwrap()), 2);
}

#[tokio::test]
async fn an_empty_list_is_shown_as_it_is_sent() {
    const INGRESSES: &str = "/apis/networking.k8s.io/v1/namespaces/default/ingresses";
    const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    let home = Home::new().unwrap();
    let (_server, connection) = serve(&home).await;
    for (spec, shown) in [(json!({"rules": []}), "[]"), (json!({}), "null")] {
        let ingress = json!({"metadata": {"name": "one"}, "spec": spec});
        let refused = call(&connection, Method::POST, INGRESSES, &ingress).await;
        let expected = format!(
            "Ingress.networking.k8s.io \"one\" is invalid: spec: Invalid value: {shown}: either `defaultBackend` or `rules` must \
             be specified"
        );
        assert_eq!(message(&refused), expected);
    }
    let definition = json!({"metadata": {"name": "widgets.example.com"}, "spec": {
        "group": "example.com", "scope": "Namespaced", "names": {"plural": "widgets", "kind": "Widget"},
        "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {"type": "object"}}}]}});
    create(&connection, DEFINITIONS, &definition).await;
    let one = format!("{DEFINITIONS}/widgets.example.com");
    let refused = patch(&connection, &one, MERGE, &json!({"spec": {"versions": []}})).await;
    let expected = "spec.versions: Invalid value: []: must have exactly one version marked as storage version";
    assert!(message(&refused).contains(expected), "{}", message(&refused));
    // A list that is written even if it is empty has its sender as a manager, in objects that are not stored, too.
    let token = json!({"spec": {"audiences": []}});
    let accounts = "/api/v1/namespaces/default/serviceaccounts";
    create(&connection, accounts, &json!({"metadata": {"name": "one"}})).await;
    let answer = create(&connection, &format!("{accounts}/one/token"), &token).await;
    let fields = &answer["metadata"]["managedFields"][0]["fieldsV1"]["f:spec"];
    assert_eq!(fields["f:audiences"], json!({}), "{answer}");
}

#[tokio::test]
async fn the_status_of_a_missing_service_creates_a_service_without_addresses() {
    const ONE: &str = "/api/v1/namespaces/default/services/one/status";
    let home = Home::new().unwrap();
    let (_server, connection) = serve(&home).await;
    let service = json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "one"},
                         "spec": {"ports": [{"port": 80}], "clusterIP": "10.0.0.99"}});
    let expected = "Service \"one\" is invalid: spec.clusterIPs: Required value";
    let refused = call(&connection, Method::PUT, ONE, &service).await;
    assert_eq!((refused.status.as_u16(), message(&refused)), (422, expected.to_owned()));
    let by = format!("{ONE}?fieldManager=m");
    let refused = patch(&connection, &by, APPLY, &service).await;
    assert_eq!((refused.status.as_u16(), message(&refused)), (422, expected.to_owned()));
    let refused = patch(&connection, &by, APPLY, &json!({})).await;
    let expected = "invalid object type: /, Kind=";
    assert_eq!((refused.status.as_u16(), message(&refused)), (400, expected.to_owned()));
    // Other kinds with a status are not created so.
    let pod = "/api/v1/namespaces/default/pods/one/status?fieldManager=m";
    assert_eq!(patch(&connection, pod, APPLY, &json!({})).await.status, 404);
}

#[tokio::test]
async fn the_status_of_the_first_address_range_is_applied_by_its_controller() {
    let home = Home::new().unwrap();
    let (_server, connection) = serve(&home).await;
    let range = connection
        .get_json("/apis/networking.k8s.io/v1/servicecidrs/kubernetes")
        .await
        .unwrap();
    let entry = &range["metadata"]["managedFields"][0];
    let shown = [&entry["manager"], &entry["operation"], &entry["subresource"]];
    assert_eq!(shown, ["kubernetes-service-cidr-controller", "Apply", "status"]);
    let ready = json!({".": {}, "f:lastTransitionTime": {}, "f:message": {}, "f:status": {}, "f:type": {}});
    let fields = json!({"f:status": {"f:conditions": {"k:{\"type\":\"Ready\"}": ready}}});
    assert_eq!(entry["fieldsV1"], fields);
}

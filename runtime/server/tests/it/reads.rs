//! Reads of single objects.

use serde_json::{Value, json};

use crate::harness::{NOTES, SHELVES, Server};

#[tokio::test]
async fn an_object_is_read_in_the_form_that_the_client_takes() {
    let server = Server::with_places().await;
    server.note("n", r#"{"k":"v"}"#).await;
    let path = format!("{NOTES}/n");
    let yaml = server.get_as("application/yaml", &path).await;
    assert_eq!(yaml.media_type, "application/yaml");
    assert!(
        yaml.text
            .starts_with("apiVersion: v1\ndata:\n  \"n\": \"n\"\nkind: Note\nmetadata:\n"),
        "{}",
        yaml.text
    );
    let protobuf = server.get_as("application/vnd.kubernetes.protobuf", &path).await;
    assert_eq!(protobuf.media_type, "application/vnd.kubernetes.protobuf");
    assert!(protobuf.text.starts_with("k8s\0"));
    let pretty = server.get(&format!("{path}?pretty=1")).await;
    assert!(
        pretty
            .text
            .starts_with("{\n  \"kind\": \"Note\",\n  \"apiVersion\": \"v1\",\n")
    );
    assert!(!pretty.text.ends_with('\n'));
    let partial = server
        .get_as("application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io", &path)
        .await
        .json();
    assert_eq!(partial["kind"], "PartialObjectMetadata");
    assert_eq!(partial["metadata"]["labels"], json!({ "k": "v" }));
    assert_eq!(partial.get("data"), None);
    let html = server.get_as("text/html", &path).await;
    assert_eq!(html.code, 406);
}

#[tokio::test]
async fn metadata_alone_hides_in_every_form_what_the_kind_hides() {
    let server = Server::with_places().await;
    let body =
        r#"{"metadata":{"name":"p","annotations":{"test.example.com/hidden":"unseen","test.example.com/seen":"x"}}}"#;
    server.create("/api/v1/sites", body).await;
    let of = |form: &str, target: &str| format!("application/{form};as={target};v=v1;g=meta.k8s.io");
    let (json, protobuf) = ("json", "vnd.kubernetes.protobuf");
    let (one, list) = ("PartialObjectMetadata", "PartialObjectMetadataList");
    for (accept, path) in [
        (of(json, one), "/api/v1/sites/p"),
        (of(json, list), "/api/v1/sites"),
        (of(json, "Table"), "/api/v1/sites/p"),
        (of(json, "Table"), "/api/v1/sites"),
        (of(protobuf, one), "/api/v1/sites/p"),
        (of(protobuf, list), "/api/v1/sites"),
    ] {
        let text = server.get_as(&accept, path).await.text;
        assert!(text.contains("test.example.com/seen"), "{accept} {path}: {text}");
        assert!(!text.contains("unseen"), "{accept} {path}: {text}");
    }
    let whole = server.get("/api/v1/sites/p").await.text;
    assert!(whole.contains("unseen"), "{whole}");
}

#[tokio::test]
async fn a_missing_object_is_reported_in_the_accepted_encoding() {
    let server = Server::with_places().await;
    let missing = server.get(&format!("{NOTES}/%3Ca%3E")).await;
    assert_eq!(missing.code, 404);
    let words = r#""message":"notes \"\u003ca\u003e\" not found""#;
    assert!(missing.text.contains(words), "{}", missing.text);
    let yaml = server.get_as("application/yaml", &format!("{NOTES}/x")).await;
    assert!(
        yaml.text
            .starts_with("apiVersion: v1\ncode: 404\ndetails:\n  kind: notes\n  name: x\nkind: Status\n")
    );
    let dot = server.get(&format!("{NOTES}/%2E")).await;
    assert_eq!(
        dot.refusal(),
        (400, "Name parameter invalid: \".\": may not be '.'".to_owned())
    );
}

#[tokio::test]
async fn a_read_may_ask_for_a_state_that_is_new_enough() {
    let server = Server::with_places().await;
    let version = server.note("n", "{}").await["metadata"]["resourceVersion"].clone();
    let version = version.as_str().expect("text");
    assert_eq!(
        server.get(&format!("{NOTES}/n?resourceVersion={version}")).await.code,
        200
    );
    assert_eq!(server.get(&format!("{NOTES}/n?resourceVersion=0")).await.code, 200);
    let future = server.get(&format!("{NOTES}/n?resourceVersion=1000000")).await;
    let words = format!("Timeout: Too large resource version: 1000000, current: {version}");
    assert_eq!(future.refusal(), (504, words));
    assert_eq!(future.at("/details/retryAfterSeconds"), 1);
    let text = server.get(&format!("{NOTES}/n?resourceVersion=abc")).await;
    let words = "resourceVersion: Invalid value: \"abc\": strconv.ParseUint: parsing \"abc\": invalid syntax";
    assert_eq!(text.refusal(), (500, words.to_owned()));
}

#[tokio::test]
async fn a_scale_is_a_view_of_its_object() {
    let server = Server::with_places().await;
    server
        .create(SHELVES, r#"{"metadata":{"name":"s"},"spec":{"size":3}}"#)
        .await;
    let status = r#"{"status":{"size":2,"selector":"app=s"}}"#;
    assert_eq!(
        server.patch("merge", &format!("{SHELVES}/s/status"), status).await.code,
        200
    );
    let path = format!("{SHELVES}/s/scale");
    let read = server.get(&path).await;
    assert_eq!(read.at("/kind"), "Scale");
    assert_eq!(read.at("/spec"), json!({ "replicas": 3 }));
    assert_eq!(read.at("/status"), json!({ "replicas": 2, "selector": "app=s" }));
    let stale = read.version();
    let body = r#"{"kind":"Scale","apiVersion":"autoscaling/v1","metadata":{"name":"s"},"spec":{"replicas":5}}"#;
    let put = server.put(&path, body).await;
    assert_eq!((put.code, put.at("/spec/replicas")), (200, json!(5)));
    let shelf = server.get(&format!("{SHELVES}/s")).await;
    assert_eq!(shelf.at("/metadata/generation"), 2);
    let managers = shelf.at("/metadata/managedFields");
    let scaled = managers
        .as_array()
        .expect("entries")
        .iter()
        .find(|entry| entry["subresource"] == "scale");
    assert_eq!(
        scaled.expect("an entry of the scale")["fieldsV1"],
        json!({ "f:spec": { "f:size": {} } })
    );
    let patched = server.patch("merge", &path, r#"{"spec":{"replicas":0}}"#).await;
    assert_eq!((patched.code, patched.at("/spec")), (200, json!({})));
    let old = format!(r#"{{"metadata":{{"resourceVersion":"{stale}"}},"spec":{{"replicas":1}}}}"#);
    assert_eq!(server.patch("merge", &path, &old).await.code, 409);
    let negative = server.patch("merge", &path, r#"{"spec":{"replicas":-1}}"#).await;
    let words =
        "Scale.autoscaling \"s\" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0";
    assert_eq!(negative.refusal(), (422, words.to_owned()));
    let plain = server
        .patch("merge", &path, r#"{"metadata":{"finalizers":["plain"]}}"#)
        .await;
    assert_eq!(plain.at("/details/causes/0/field"), "metadata.finalizers[0]");
    let other = server.patch("merge", &path, r#"{"metadata":{"uid":"other"}}"#).await;
    assert!(
        other
            .refusal()
            .1
            .contains("/scale.test.example.com \"s\": Precondition failed: UID in precondition: other, UID in"),
        "{}",
        other.text
    );
    assert_eq!(
        server.get(&format!("{SHELVES}/none/scale")).await.at("/details/kind"),
        Value::from("shelves")
    );
}

#[tokio::test]
async fn objects_are_not_exported() {
    let server = Server::with_places().await;
    server.note("n", "{}").await;
    let refused = "the export parameter, deprecated since v1.14, is no longer supported";
    for (query, expected) in [
        ("export=false", None),
        ("export", Some(refused)),
        ("export=1", Some(refused)),
    ] {
        let answer = server.get(&format!("{NOTES}/n?{query}")).await;
        match expected {
            None => assert_eq!(answer.code, 200, "{query}"),
            Some(message) => assert_eq!(answer.refusal(), (400, message.to_owned()), "{query}"),
        }
    }
}

//! Objects as tables.

use axum::body::Body;
use http::Request;
use serde_json::{Value, json};

use crate::harness::{NOTES, SHELVES, Server};

const TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io";

#[tokio::test]
async fn objects_and_lists_come_as_rows() {
    let server = Server::with_places().await;
    let note = server.note("n", r#"{"k":"v"}"#).await;
    let one = server.get_as(TABLE, &format!("{NOTES}/n")).await;
    assert_eq!(
        (one.at("/kind"), one.version()),
        (
            json!("Table"),
            note["metadata"]["resourceVersion"].as_str().expect("text").to_owned()
        )
    );
    assert_eq!(one.at("/columnDefinitions/0/name"), "Name");
    assert_eq!(one.at("/rows/0/cells/0"), "n");
    assert_eq!(one.at("/rows/0/object/kind"), "PartialObjectMetadata");
    assert_eq!(one.at("/rows/0/object/apiVersion"), "meta.k8s.io/v1");
    let list = server
        .get_as(TABLE, &format!("{NOTES}?includeObject=Object&limit=1"))
        .await;
    assert_eq!(list.at("/rows/0/object/data/n"), "n");
    let bare = server.get_as(TABLE, &format!("{NOTES}?includeObject=None")).await;
    assert_eq!(bare.at("/rows/0/object"), Value::Null);
    let wrong = server.get_as(TABLE, &format!("{NOTES}?includeObject=none")).await;
    let words = "Unable to convert to Table as requested: includeObject: Invalid value: \"none\": must be 'Metadata', \
                 'Object', 'None', or empty";
    assert_eq!(wrong.refusal(), (400, words.to_owned()));
    let missing = server.get_as(TABLE, &format!("{NOTES}/x")).await;
    assert_eq!((missing.code, missing.at("/kind")), (404, json!("Status")));
}

#[tokio::test]
async fn rows_are_those_of_the_object_as_it_is() {
    let server = Server::with_places().await;
    let one = format!("{SHELVES}/s");
    let row = async |path: &str| server.get_as(TABLE, path).await.at("/rows/0");
    let mut shelf = server.create(SHELVES, r#"{"metadata":{"name":"s"}}"#).await;
    for colour in ["white", "red"] {
        shelf["spec"]["colour"] = json!(colour);
        let stored = server.put(&one, &shelf.to_string()).await;
        assert_eq!(stored.code, 200, "{}", stored.text);
        let wanted = json!({"cells": ["s", colour], "object": {
            "kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": stored.at("/metadata"),
        }});
        // The first table caches the object's cells for the others.
        for path in [SHELVES, SHELVES, &one] {
            assert_eq!(row(path).await, wanted);
        }
        let bare = row(&format!("{SHELVES}?includeObject=None")).await;
        assert_eq!(bare, json!({"cells": ["s", colour], "object": null}));
        shelf = stored.json();
    }
}

#[tokio::test]
async fn old_clients_get_tables_and_metadata_of_the_version_that_they_name() {
    let server = Server::with_places().await;
    let body = r#"{"metadata":{"name":"n"},"data":{"a":"\"apiVersion\":\"meta.k8s.io/v1\""}}"#;
    server.create(NOTES, body).await;
    let old = |kind: &str| format!("application/json;as={kind};v=v1beta1;g=meta.k8s.io");
    let table = server
        .get_as(&old("Table"), &format!("{NOTES}?includeObject=Object"))
        .await;
    assert_eq!(table.at("/apiVersion"), "meta.k8s.io/v1beta1");
    assert_eq!(table.at("/rows/0/object/apiVersion"), "v1");
    assert_eq!(table.at("/rows/0/object/data/a"), "\"apiVersion\":\"meta.k8s.io/v1\"");
    let list = server.get_as(&old("PartialObjectMetadataList"), NOTES).await;
    assert_eq!(list.at("/apiVersion"), "meta.k8s.io/v1beta1");
    assert_eq!(list.at("/items/0/apiVersion"), "meta.k8s.io/v1beta1");
    let one = server
        .get_as(&old("PartialObjectMetadata"), &format!("{NOTES}/n"))
        .await;
    assert_eq!(one.at("/apiVersion"), "meta.k8s.io/v1beta1");
}

#[tokio::test]
async fn a_delete_that_asks_for_a_table_minds_its_parameters() {
    let server = Server::with_places().await;
    server.note("a", "{}").await;
    let request = Request::builder()
        .method("DELETE")
        .uri(format!("{NOTES}/a?includeObject=All"))
        .header("accept", "application/json;as=Table;v=v1;g=meta.k8s.io");
    let answer = server.send(request.body(Body::empty()).expect("legal")).await;
    assert_eq!(answer.code, 400, "{}", answer.text);
}

//! CBOR, on a server with the feature enabled.

use http::Method;
use http::header::{ACCEPT, CONTENT_TYPE};
use planesmith_e2e::{Answer, Binary, Connection, Home, Server};
use planesmith_machinery::cbor;
use serde_json::{Value, json};

use crate::objects::{CONFIG_MAPS, path};

const CBOR: &str = "application/cbor";

async fn server(flags: &[&str]) -> (Server, Home) {
    let home = Home::new().unwrap();
    let flags = [&["--storage=memory"], flags].concat();
    let server = home.start(&Binary::Planesmith.path().unwrap(), &flags).await.unwrap();
    (server, home)
}

async fn send(connection: &Connection, method: Method, path: &str, media_type: &str, body: &Value) -> Answer {
    let mut bytes = Vec::new();
    if !body.is_null() {
        cbor::from_json(body.to_string().as_bytes(), &mut bytes).unwrap();
    }
    let request = connection.request(method, path).header(CONTENT_TYPE, media_type);
    let request = request.header(ACCEPT, CBOR).body(bytes.into()).unwrap();
    connection.finish(request).await.unwrap()
}

fn read(answer: &Answer) -> Value {
    assert!(answer.body.starts_with(&cbor::SELF_DESCRIBED), "{}", answer.excerpt());
    serde_json::from_slice(&cbor::to_json(&answer.body).unwrap()).unwrap()
}

#[tokio::test]
async fn objects_are_written_read_listed_and_watched() {
    let (server, _home) = server(&["--feature-gates=CBORServingAndStorage=true"]).await;
    let connection = server.connect().await.unwrap();
    let object = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"},
                        "data": {"a": "1"}, "binaryData": {"b": "AQID"}});

    let made = send(&connection, Method::POST, CONFIG_MAPS, CBOR, &object)
        .await
        .expect(201)
        .unwrap();
    assert_eq!(made.headers[CONTENT_TYPE], CBOR);
    assert_eq!(read(&made)["binaryData"], json!({"b": "AQID"}));

    let got = send(&connection, Method::GET, &path("c"), CBOR, &Value::Null)
        .await
        .expect(200)
        .unwrap();
    assert_eq!(read(&got)["data"], json!({"a": "1"}));

    let all = format!("{CONFIG_MAPS}?fieldSelector=metadata.name%3Dc");
    let listed = send(&connection, Method::GET, &all, CBOR, &Value::Null)
        .await
        .expect(200)
        .unwrap();
    assert_eq!(read(&listed)["items"][0]["metadata"]["name"], "c");

    let watch = format!("{all}&watch=1&resourceVersion=0&timeoutSeconds=1");
    let watched = send(&connection, Method::GET, &watch, CBOR, &Value::Null)
        .await
        .expect(200)
        .unwrap();
    assert_eq!(watched.headers[CONTENT_TYPE], "application/cbor-seq");
    let event = read(&watched);
    assert_eq!(
        (&event["type"], &event["object"]["data"]["a"]),
        (&json!("ADDED"), &json!("1"))
    );

    let wanted = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"z": "2"}});
    let apply = format!("{}?fieldManager=m", path("c"));
    let applied = send(
        &connection,
        Method::PATCH,
        &apply,
        "application/apply-patch+cbor",
        &wanted,
    )
    .await;
    assert_eq!(read(&applied.expect(200).unwrap())["data"], json!({"a": "1", "z": "2"}));

    let missing = send(&connection, Method::GET, &path("none"), CBOR, &Value::Null)
        .await
        .expect(404)
        .unwrap();
    assert_eq!(read(&missing)["reason"], "NotFound");
}

#[tokio::test]
async fn cbor_is_sent_only_on_request() {
    let (server, _home) = server(&[]).await;
    let connection = server.connect().await.unwrap();
    let refused = send(&connection, Method::GET, CONFIG_MAPS, "application/json", &Value::Null).await;
    assert_eq!(refused.status, 406, "{}", refused.excerpt());
}

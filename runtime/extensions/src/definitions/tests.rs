use std::sync::atomic::{AtomicUsize, Ordering};

use axum::body::{Body, to_bytes};
use futures_util::{FutureExt as _, StreamExt as _};
use http::Request;
use planesmith_access::authentication::Chain;
use planesmith_access::authorization::AlwaysAllow;
use planesmith_dynamic::custom::{Checks, CustomKind, CustomObject, Unchecked};
use planesmith_dynamic::structural::Structural;
use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::scheme::Scheme;
use planesmith_server::chain::ApiServer;
use planesmith_server::connection::Connection;
use planesmith_server::lifecycle::{Config, PreparedServer};
use planesmith_server::routes::Routes;
use planesmith_store::{MemoryLog, Storage, StorageOptions};
use serde_json::json;

use super::*;

/// The number of schemas whose checks are in memory: they belong to facts, and go with them.
static ALIVE: AtomicUsize = AtomicUsize::new(0);

struct Counted;

impl Counted {
    fn checks() -> Arc<dyn Checks> {
        ALIVE.fetch_add(1, Ordering::Relaxed);
        Arc::new(Self)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        ALIVE.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Checks for Counted {
    fn check(&self, _: &Structural, _: &CustomObject, _: &mut FieldErrors) {}

    fn check_update(&self, _: &Structural, _: &CustomObject, _: &CustomObject, _: &mut FieldErrors) {}

    fn check_status(&self, _: &Structural, _: &CustomObject, _: &CustomObject, _: &mut FieldErrors) {}

    fn cost(&self, _: &Structural, _: usize) -> u64 {
        0
    }
}

fn definition(number: usize) -> Value {
    let group = format!("g{number}.example.com");
    let schema = json!({"type": "object", "properties": {"spec": {"type": "object", "properties": {
        format!("field{number}"): {"type": "string"}}}}});
    json!({
        "metadata": {"name": format!("rocks.{group}")},
        "spec": {"group": group, "scope": "Cluster", "versions": [
            {"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}}]},
        "status": {"acceptedNames": {"plural": "rocks", "singular": "rock", "kind": "Rock", "listKind": "RockList"}},
    })
}

async fn answer(server: &PreparedServer, request: Request<Body>) -> (u16, Value) {
    let response = server.front().serve(request, Arc::new(Connection::default())).await;
    let code = response.status().as_u16();
    let body = to_bytes(response.into_body(), 1 << 20).await.unwrap();
    (code, serde_json::from_slice(&body).unwrap_or_default())
}

async fn send(server: &PreparedServer, request: Request<Body>) -> u16 {
    answer(server, request).await.0
}

fn request(method: &str, path: &str, body: &Value) -> Request<Body> {
    let request = Request::builder().method(method).uri(path);
    let request = request.header("content-type", "application/json");
    request.body(body.to_string().into()).unwrap()
}

/// A server of definitions with an empty store.
fn serving(checks: fn() -> Arc<dyn Checks>) -> (Definitions, PreparedServer, OpenApi) {
    let storage = Storage::open(MemoryLog::new(), &StorageOptions::default()).unwrap();
    serving_from(&storage, checks)
}

fn serving_from(storage: &Storage, checks: fn() -> Arc<dyn Checks>) -> (Definitions, PreparedServer, OpenApi) {
    let stores = Stores::new(storage.clone(), Arc::new(Scheme::new()));
    let of_definitions = ResourceFacts::defined(vec![CustomKind::FACTS], 0).remove(0);
    let store = Arc::new(ResourceStore::with_versions(storage, &of_definitions, &Scheme::new()));
    let mut server = ApiServer::new("extensions", Routes::new());
    let templates = Templates {
        definitions: "apis/apiextensions.k8s.io/v1",
        metadata: "api/v1",
        scales: &[],
    };
    let openapi = OpenApi::default();
    let definitions = Definitions::new(
        &stores,
        &store,
        CustomResources::of(&mut server),
        KnownFacts::new(checks),
        (&openapi, templates),
    );
    let config = Config::new(Arc::new(Chain::new(vec![], true)), Arc::new(AlwaysAllow));
    let mut server = config.complete().unwrap().prepare(server).unwrap();
    server.set_installed();
    (definitions, server, openapi)
}

/// A definition of rocks whose `spec` has `properties`.
fn rocks(properties: &Value) -> Value {
    let mut definition = definition(0);
    let schema = &mut definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
    schema["properties"]["spec"]["properties"] = properties.clone();
    definition
}

const ROCKS: &str = "/apis/g0.example.com/v1/rocks";

fn rock(spec: &Value) -> Value {
    json!({"apiVersion": "g0.example.com/v1", "kind": "Rock", "metadata": {"name": "a"}, "spec": spec})
}

/// The `spec` of the rock, in an answer to a GET and in a list.
async fn spec(server: &PreparedServer) -> Value {
    let (_, one) = answer(server, request("GET", &format!("{ROCKS}/a"), &Value::Null)).await;
    let (_, all) = answer(server, request("GET", ROCKS, &Value::Null)).await;
    assert_eq!(one["spec"], all["items"][0]["spec"]);
    one["spec"].clone()
}

fn unchecked() -> Arc<dyn Checks> {
    Arc::new(Unchecked)
}

#[tokio::test]
async fn answers_follow_from_the_stored_object_and_the_present_schema_alone() {
    let text = json!({"type": "string"});
    let (a, ax) = (json!({"a": text}), json!({"a": text, "x": text}));
    let with_default = json!({"a": text, "x": text, "c": {"type": "string", "default": "C"}});
    let storage = Storage::open(MemoryLog::new(), &StorageOptions::default()).unwrap();
    let (definitions, server, _) = serving_from(&storage, unchecked);
    definitions.serve(&rocks(&ax));
    let created = send(&server, request("POST", ROCKS, &rock(&json!({"a": "1", "x": "2"})))).await;
    assert_eq!(created, 201);
    for (properties, expected) in [
        (&a, json!({"a": "1"})),
        (&ax, json!({"a": "1", "x": "2"})),
        (&with_default, json!({"a": "1", "c": "C", "x": "2"})),
        (&a, json!({"a": "1"})),
        (&ax, json!({"a": "1", "x": "2"})),
        (&with_default, json!({"a": "1", "c": "C", "x": "2"})),
    ] {
        definitions.serve(&rocks(properties));
        assert_eq!(spec(&server).await, expected);
        // A server that starts now says the same.
        let (others, other, _) = serving_from(&storage, unchecked);
        others.serve(&rocks(properties));
        assert_eq!(spec(&other).await, expected);
        definitions.serve(&rocks(&json!({})));
    }
    // A write reads and keeps the field that the schema has again.
    definitions.serve(&rocks(&ax));
    let patch = Request::patch(format!("{ROCKS}/a")).header("content-type", "application/merge-patch+json");
    let patch = patch.body(json!({"spec": {"a": "3"}}).to_string().into()).unwrap();
    assert_eq!(send(&server, patch).await, 200);
    assert_eq!(spec(&server).await, json!({"a": "3", "x": "2"}));
    // A write under a schema without the field stores the object without it, even if it changes nothing else.
    definitions.serve(&rocks(&a));
    let (_, shown) = answer(&server, request("GET", &format!("{ROCKS}/a"), &Value::Null)).await;
    assert_eq!(send(&server, request("PUT", &format!("{ROCKS}/a"), &shown)).await, 200);
    definitions.serve(&rocks(&ax));
    assert_eq!(spec(&server).await, json!({"a": "3"}));
}

#[tokio::test]
async fn a_change_of_the_definition_ends_watches_and_a_change_beside_it_does_not() {
    let (definitions, server, _) = serving(unchecked);
    let (before, after) = (
        rocks(&json!({"a": {"type": "string"}})),
        rocks(&json!({"b": {"type": "string"}})),
    );
    definitions.serve(&before);
    assert_eq!(
        send(&server, request("POST", ROCKS, &rock(&json!({"a": "1"})))).await,
        201
    );
    let (_, list) = answer(&server, request("GET", ROCKS, &Value::Null)).await;
    let version = list["metadata"]["resourceVersion"].as_str().unwrap().to_owned();
    let watch = async |version: &str| {
        let path = format!("{ROCKS}?watch=1&resourceVersion={version}");
        let response = server
            .front()
            .serve(request("GET", &path, &Value::Null), Arc::new(Connection::default()))
            .await;
        response.into_body().into_data_stream()
    };

    let mut running = watch(&version).await;
    let mut labelled = before.clone();
    labelled["metadata"]["labels"] = json!({"color": "red"});
    labelled["status"]["conditions"] = json!([{"type": "Odd", "status": "True"}]);
    definitions.serve(&labelled);
    assert!(running.next().now_or_never().is_none(), "it goes on");
    let mut changed = rock(&json!({"a": "2"}));
    changed["metadata"]["resourceVersion"] = json!(version);
    assert_eq!(
        send(&server, request("PUT", &format!("{ROCKS}/a"), &changed)).await,
        200
    );
    let event = running.next().await.unwrap().unwrap();
    assert!(event.starts_with(br#"{"type":"MODIFIED""#), "{event:?}");

    definitions.serve(&after);
    assert!(running.next().await.is_none(), "no error, the answer is over");
    let refusal = watch(&version).await.next().await.unwrap().unwrap();
    let refusal: Value = serde_json::from_slice(&refusal).unwrap();
    assert_eq!(
        (&refusal["type"], &refusal["object"]["code"]),
        (&json!("ERROR"), &json!(410))
    );

    let (_, list) = answer(&server, request("GET", ROCKS, &Value::Null)).await;
    assert_eq!(list["items"][0]["spec"], json!({}));
    let mut again = watch(list["metadata"]["resourceVersion"].as_str().unwrap()).await;
    assert!(again.next().now_or_never().is_none(), "it goes on");
    let mut renamed = after.clone();
    renamed["status"]["acceptedNames"]["shortNames"] = json!(["ro"]);
    definitions.serve(&renamed);
    assert!(again.next().await.is_none(), "accepted names count");
}

#[tokio::test]
async fn facts_go_with_their_definition_and_the_requests_for_it() {
    let (definitions, server, openapi) = serving(Counted::checks);
    for round in 0..3 {
        for number in 5 * round..5 * round + 5 {
            let definition = definition(number);
            definitions.serve(&definition);
            let path = format!("/apis/g{number}.example.com/v1/rocks");
            let object =
                json!({"apiVersion": format!("g{number}.example.com/v1"), "kind": "Rock", "metadata": {"name": "a"}});
            let create = Request::post(&path).header("content-type", "application/json");
            assert_eq!(
                send(&server, create.body(object.to_string().into()).unwrap()).await,
                201
            );
            let delete = Request::delete(format!("{path}/a"));
            assert_eq!(send(&server, delete.body(Body::empty()).unwrap()).await, 200);
            assert!(openapi.v3(&format!("apis/g{number}.example.com/v1")).is_some());
        }
        assert_eq!(ALIVE.load(Ordering::Relaxed), 5, "as many as there are definitions");
        let held = definitions.facts(&definition(5 * round));
        for number in 5 * round..5 * round + 5 {
            definitions.remove(&format!("rocks.g{number}.example.com"));
        }
        assert_eq!(ALIVE.load(Ordering::Relaxed), 1, "what is in use stays");
        drop(held);
        assert_eq!(ALIVE.load(Ordering::Relaxed), 0);
    }
}

use std::sync::atomic::{AtomicUsize, Ordering};

use axum::body::{Body, to_bytes};
use http::Request;
use planesmith_access::authentication::Chain;
use planesmith_access::authorization::AlwaysAllow;
use planesmith_dynamic::custom::{Checks, CustomKind, CustomObject};
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

async fn send(server: &PreparedServer, request: Request<Body>) -> u16 {
    let response = server.front().serve(request, Arc::new(Connection::default())).await;
    let code = response.status().as_u16();
    to_bytes(response.into_body(), 1 << 20).await.unwrap();
    code
}

#[tokio::test]
async fn facts_go_with_their_definition_and_the_requests_for_it() {
    let storage = Storage::open(MemoryLog::new(), &StorageOptions::default()).unwrap();
    let stores = Stores::new(storage.clone(), Arc::new(Scheme::new()));
    let of_definitions = ResourceFacts::defined(vec![CustomKind::FACTS], 0).remove(0);
    let store = Arc::new(ResourceStore::with_versions(&storage, &of_definitions, &Scheme::new()));
    let mut server = ApiServer::new("extensions", Routes::new());
    let templates = Templates {
        definitions: "apis/apiextensions.k8s.io/v1",
        scales: &[],
    };
    let openapi = OpenApi::default();
    let definitions = Definitions::new(
        &stores,
        &store,
        CustomResources::of(&mut server),
        KnownFacts::new(Counted::checks),
        (&openapi, templates),
    );
    let config = Config::new(Arc::new(Chain::new(vec![], true)), Arc::new(AlwaysAllow));
    let mut server = config.complete().unwrap().prepare(server).unwrap();
    server.set_installed();
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

//! Expensive steps of writes have turns.

use std::collections::BTreeMap;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use axum::body::Body;
use axum::response::Response;
use futures_util::FutureExt as _;
use http::{Method, Request};
use planesmith_access::admission::{AdmissionFuture, Attributes, Chain, Objects, Operation, Phase, Plugin, decided};
use planesmith_access::authorization::AlwaysAllow;
use planesmith_dynamic::custom::{CustomKind, CustomVersion, Unchecked};
use planesmith_dynamic::structural::Structural;
use planesmith_machinery::Resource;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::object::Resource as _;
use planesmith_machinery::resource::ResourceTable;
use planesmith_machinery::scheme::Scheme;
use planesmith_machinery::status::ApiResult;
use planesmith_machinery::strategy::{self, Strategy};
use planesmith_store::{MemoryLog, Storage, StorageOptions};
use serde_json::json;

use super::candidate::Existing;
use super::{Defaulted, DocumentFacts, Part, Write};
use crate::endpoint::{Call, Endpoint};
use crate::options::WriteOptions;
use crate::request::{Context, RequestInfo};
use crate::shutdown::Stop;
use crate::stores::{Stores, StoresOptions};

const PATH: &str = "/apis/test.example.com/v1/namespaces/a/parcels";

/// True once a parcel was prepared for an update.
static IS_PREPARED: AtomicBool = AtomicBool::new(false);

/// A kind with contents of any size.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "test.example.com", version = "v1", kind = "Parcel", strategy)]
struct Parcel {
    /// Metadata.
    metadata: ObjectMeta,
    /// The contents.
    data: BTreeMap<String, String>,
}

impl Strategy for Parcel {
    fn prepare_for_update(&mut self, _: &strategy::Context<'_>, _: &Self) {
        IS_PREPARED.store(true, Ordering::Relaxed);
    }
}

/// A plugin: takes all threads for short work when an update reaches a phase.
struct Busy {
    phase: Phase,
    stores: Mutex<Option<Stores>>,
    taken: Mutex<Option<Box<dyn Send>>>,
}

impl Busy {
    fn take(&self) {
        let stores = self.stores.lock().expect("no panic").clone();
        *self.taken.lock().expect("no panic") = stores.map(|stores| stores.offload().occupy());
    }

    fn give_back(&self) {
        *self.taken.lock().expect("no panic") = None;
    }
}

impl Plugin for Busy {
    fn name(&self) -> &'static str {
        "Busy"
    }

    fn handles(&self, operation: Operation, phase: Phase) -> bool {
        operation == Operation::Update && phase == self.phase
    }

    fn mutate<'a>(&'a self, _: &'a Attributes<'a>, _: &'a mut Objects<'_>) -> AdmissionFuture<'a> {
        self.take();
        decided(Ok(()))
    }

    fn validate<'a>(&'a self, _: &'a Attributes<'a>, _: &'a Objects<'_>) -> AdmissionFuture<'a> {
        self.take();
        decided(Ok(()))
    }
}

/// The endpoint of parcels, with the parcel `p` of more than 64 KiB.
async fn with_parcel(phase: Phase) -> (Endpoint, Arc<Busy>) {
    let storage = Storage::open(MemoryLog::new(), &StorageOptions::default()).expect("memory opens");
    let mut scheme = Scheme::new();
    scheme.add::<Parcel>();
    let busy = Arc::new(Busy {
        phase,
        stores: Mutex::default(),
        taken: Mutex::default(),
    });
    let admission = Chain::new(vec![Arc::clone(&busy) as Arc<dyn Plugin>]);
    let stores = Stores::with_options(
        storage,
        Arc::new(scheme),
        admission,
        StoresOptions::new(Arc::new(AlwaysAllow)),
    );
    *busy.stores.lock().expect("no panic") = Some(stores.clone());
    let endpoint = Endpoint::new(Parcel::RESOURCE, &stores);
    let body = format!(
        r#"{{"metadata":{{"name":"p"}},"data":{{"x":"{}"}}}}"#,
        "x".repeat(70_000)
    );
    let created = endpoint.create(&call(Method::POST, PATH), Body::from(body)).await;
    assert_eq!(created.expect("it is created").status(), 201);
    (endpoint, busy)
}

fn call(method: Method, path: &str) -> Call {
    let (_, shutdown) = Stop::new();
    let media_type = match method {
        Method::PATCH => "application/merge-patch+json",
        _ => "application/json",
    };
    let request = Request::builder().method(method).uri(path);
    let request = request.header("content-type", media_type).body(());
    let (parts, ()) = request.expect("legal").into_parts();
    let mut context = Context::unknown(shutdown);
    context.info = Arc::new(RequestInfo::new(&parts.method, &parts.uri));
    Call::new(context, parts)
}

/// True if `request` needs a thread while all threads are taken, which `busy` returns afterwards.
async fn waits_for_its_turn(busy: &Busy, request: impl Future<Output = ApiResult<Response>>, code: u16) -> bool {
    let mut request = pin!(request);
    let waits = request.as_mut().now_or_never().is_none();
    busy.give_back();
    if waits {
        let answered = request.await;
        assert_eq!(
            answered.map_or_else(|error| error.code(), |answer| answer.status().as_u16()),
            code
        );
    }
    waits
}

#[tokio::test]
async fn the_answer_to_a_small_patch_of_a_large_object_is_expensive() {
    let (endpoint, busy) = with_parcel(Phase::Validating).await;
    let call = call(Method::PATCH, &format!("{PATH}/p?dryRun=All"));
    let patch = endpoint.patch(&call, Body::from(r#"{"metadata":{"labels":{"a":"b"}}}"#));
    assert!(waits_for_its_turn(&busy, patch, 200).await);
}

#[tokio::test]
async fn a_large_object_is_prepared_in_its_turn() {
    let (endpoint, busy) = with_parcel(Phase::Mutating).await;
    let call = call(Method::PATCH, &format!("{PATH}/p"));
    let mut patch = pin!(endpoint.patch(&call, Body::from(r#"{"metadata":{"labels":{"a":"b"}}}"#)));
    assert!(patch.as_mut().now_or_never().is_none());
    assert!(!IS_PREPARED.load(Ordering::Relaxed));
    busy.give_back();
    assert_eq!(patch.await.expect("it is stored").status(), 200);
    assert!(IS_PREPARED.load(Ordering::Relaxed));
}

#[tokio::test]
async fn a_large_object_is_read_in_its_turn_to_delete_it() {
    let (endpoint, busy) = with_parcel(Phase::Validating).await;
    busy.take();
    let call = call(Method::DELETE, &format!("{PATH}/p"));
    let delete = endpoint.delete(&call, Body::from(r#"{"preconditions":{"uid":"another"}}"#));
    assert!(waits_for_its_turn(&busy, delete, 409).await);
}

#[tokio::test]
async fn a_large_custom_object_is_completed_in_its_turn() {
    let schema = Structural::compile(&json!({"type": "object", "properties": {"data": {"type": "string"}}}));
    let version = CustomVersion {
        table: ResourceTable {
            group: "custom.example.com".into(),
            version: "v1".into(),
            api_version: "custom.example.com/v1".into(),
            kind: "Crate".into(),
            plural: "crates".into(),
            storage_name: "crates".into(),
            hashed_version: "v1".into(),
            ..CustomKind::FACTS
        },
        schema: Arc::new(schema),
        checks: Arc::new(Unchecked),
    };
    let kind = &CustomKind::define(vec![version], 0, None)[0];
    let storage = Storage::open(MemoryLog::new(), &StorageOptions::default()).expect("memory opens");
    let stores = Stores::new(storage, Arc::new(Scheme::new()));
    let endpoint = Endpoint::new(kind, &stores);
    let path = "/apis/custom.example.com/v1/namespaces/a/crates";
    let body = json!({
        "apiVersion": kind.api_version,
        "kind": kind.kind,
        "metadata": {"name": "c"},
        "data": "x".repeat(70_000),
    });
    let created = endpoint
        .create(&call(Method::POST, path), Body::from(body.to_string()))
        .await;
    assert_eq!(created.expect("it is created").status(), 201);

    let call = call(Method::PATCH, &format!("{path}/c"));
    let options = WriteOptions::for_patch(call.query()).expect("no options");
    let write = Write::new(&endpoint, &call, &options, 40);
    let key = endpoint.store().key("a", "c").expect("a key");
    let entry = endpoint.store().collection().get(&key).expect("it exists");
    let old = endpoint.object_of(&call, &entry).await.expect("it can be read");
    let existing = Existing {
        key: &key,
        entry: &entry,
        old: &*old,
        part: Part::Object,
        size: write.size_with(&entry),
    };
    let patched = Defaulted::patched(&endpoint, &call, old.boxed(), DocumentFacts::default()).expect("the same names");
    let tracked = patched.track_change(&write, existing, &*old).await;
    let working = tracked.into_working_version(&write).await.expect("the same version");
    let mutated = working.mutate(&write).await.expect("no plugins");
    let identified = mutated.identify(&write).expect("the same version");
    let (reserved, _nothing) = identified.reserve(&write).await.expect("nothing to reserve");
    let validated = reserved.validate(&write).await.expect("valid");
    let admitted = validated.admit(&write).await.expect("no plugins");
    let taken = stores.offload().occupy();
    let mut storable = pin!(admitted.into_storage_version(&write));
    assert!(storable.as_mut().now_or_never().is_none());
    drop(taken);
    assert_eq!(storable.await.expect("no converter").object().meta().name, "c");
}

//! A server in process, and requests to it.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::body::Body;
use http::{Method, Request, Response};
use http_body_util::BodyExt as _;
use planesmith_access::admission::{
    AdmissionFuture, Attributes, Chain, NamespaceLifecycle, Objects, Operation, Phase, Plugin, decided,
};
use planesmith_access::authorization::AlwaysAllow;
use planesmith_machinery::feature::Features;
use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::object::{Object, Resource as _};
use planesmith_machinery::resource::ResourceFacts;
use planesmith_machinery::scheme::Scheme;
use planesmith_machinery::status::ApiError;
use planesmith_server::endpoint::WriteCheck;
use planesmith_server::features;
use planesmith_server::request::{Context, RequestInfo};
use planesmith_server::routes::{RouteTable, Routes};
use planesmith_server::shutdown::{Shutdown, Stop};
use planesmith_server::stores::{ResourceStore, Stores, StoresOptions};
use planesmith_server::verbs::Finalize;
use planesmith_store::{MemoryLog, Storage, StorageOptions};
use serde_json::Value;
use tokio::sync::Semaphore;

use crate::kinds::{Floor, Note, Shelf, Site};

/// An admission plugin: refuses to delete the object `kept` once its finalizers are removed.
struct Keeper;

impl Plugin for Keeper {
    fn name(&self) -> &'static str {
        "Keeper"
    }

    fn handles(&self, operation: Operation, phase: Phase) -> bool {
        operation == Operation::Delete && phase == Phase::Validating
    }

    fn validate<'a>(&'a self, attributes: &'a Attributes<'a>, objects: &'a Objects<'_>) -> AdmissionFuture<'a> {
        let is_free = objects.old.is_some_and(|old| old.meta().finalizers.is_empty());
        decided(match attributes.name == "kept" && is_free {
            true => Err(ApiError::bad_request("it is kept")),
            false => Ok(()),
        })
    }
}

/// A rule about other objects: the annotation `crowded` forbids the size.
struct Crowd;

impl WriteCheck for Crowd {
    fn field_errors(&self, new: &dyn Object, _: Option<&dyn Object>) -> FieldErrors {
        let mut errors = FieldErrors::default();
        if new.meta().annotations.contains_key("crowded") {
            errors.forbidden("spec.size", "others are too near");
        }
        errors
    }
}

/// An admission plugin: never decides about objects with the annotation `waits`, and counts its calls for them.
struct Slow(Arc<Semaphore>);

impl Plugin for Slow {
    fn name(&self) -> &'static str {
        "Slow"
    }

    fn handles(&self, operation: Operation, phase: Phase) -> bool {
        matches!(operation, Operation::Create | Operation::Update) && phase == Phase::Mutating
    }

    fn mutate<'a>(&'a self, _: &'a Attributes<'a>, objects: &'a mut Objects<'_>) -> AdmissionFuture<'a> {
        let waits = |new: &&mut dyn Object| new.meta().annotations.contains_key("waits");
        if !objects.new.as_ref().is_some_and(waits) {
            return decided(Ok(()));
        }
        Box::pin(async {
            self.0.add_permits(1);
            std::future::pending().await
        })
    }
}

/// Calls of [`Scripted`] for objects that are created, in both phases.
#[derive(Default)]
pub(crate) struct Calls {
    mutating: AtomicUsize,
    validating: AtomicUsize,
}

impl Calls {
    /// The number of mutating and of validating calls so far.
    pub(crate) fn counts(&self) -> (usize, usize) {
        let [mutating, validating] = [&self.mutating, &self.validating].map(|calls| calls.load(Ordering::Relaxed));
        (mutating, validating)
    }
}

/// An admission plugin: the annotation `denied` denies an update before it is validated, and `exists` denies a creation
/// afterwards, with the reason of a name that is taken.
struct Scripted(Arc<Calls>);

impl Plugin for Scripted {
    fn name(&self) -> &'static str {
        "Scripted"
    }

    fn handles(&self, operation: Operation, _: Phase) -> bool {
        matches!(operation, Operation::Create | Operation::Update)
    }

    fn mutate<'a>(&'a self, attributes: &'a Attributes<'a>, objects: &'a mut Objects<'_>) -> AdmissionFuture<'a> {
        if attributes.operation == Operation::Create {
            self.0.mutating.fetch_add(1, Ordering::Relaxed);
            return decided(Ok(()));
        }
        let is_denied = |new: &&mut dyn Object| new.meta().annotations.contains_key("denied");
        decided(match objects.new.as_ref().is_some_and(is_denied) {
            true => Err(ApiError::bad_request("it is denied")),
            false => Ok(()),
        })
    }

    fn validate<'a>(&'a self, attributes: &'a Attributes<'a>, objects: &'a Objects<'_>) -> AdmissionFuture<'a> {
        if attributes.operation != Operation::Create {
            return decided(Ok(()));
        }
        let calls = self.0.validating.fetch_add(1, Ordering::Relaxed);
        let exists = |new: &&mut dyn Object| new.meta().annotations.contains_key("exists");
        if !objects.new.as_ref().is_some_and(exists) {
            return decided(Ok(()));
        }
        assert!(calls < 100, "the creation is tried forever");
        let resource = attributes.resource.group_resource();
        decided(Err(ApiError::already_exists(&resource, "another")))
    }
}

/// A server in process.
pub(crate) struct Server {
    table: RouteTable,
    pub(crate) storage: Storage,
    pub(crate) stores: Stores,
    /// One permit for each write that waits for a plugin forever, because it has the annotation `waits`.
    pub(crate) waiting: Arc<Semaphore>,
    /// The features that determine how requests are answered.
    pub(crate) features: Features,
    /// The calls of an admission plugin for objects that are created.
    pub(crate) calls: Arc<Calls>,
    shutdown: Shutdown,
    pub(crate) stop: Stop,
}

/// The answer that a client received.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) code: u16,
    pub(crate) media_type: String,
    pub(crate) text: String,
    pub(crate) warnings: Vec<String>,
}

impl Server {
    pub(crate) fn start() -> Self {
        Self::with_options(StoresOptions {
            freshness_wait: Duration::ZERO,
            ..StoresOptions::new(Arc::new(AlwaysAllow))
        })
    }

    pub(crate) fn with_options(options: StoresOptions) -> Self {
        let storage = Storage::open(MemoryLog::new(), &StorageOptions::default()).expect("memory opens");
        Self::on(storage, options)
    }

    /// A server of all kinds on `storage`.
    pub(crate) fn on(storage: Storage, options: StoresOptions) -> Self {
        let mut scheme = Scheme::new();
        scheme.add::<Shelf>().add::<Note>().add::<Site>().add::<Floor>();
        let sites = ResourceStore::with_versions(&storage, Site::RESOURCE, &scheme);
        let waiting = Arc::new(Semaphore::new(0));
        let calls = Arc::<Calls>::default();
        let admission = Chain::new(vec![
            Arc::new(NamespaceLifecycle::new(Arc::new(sites))),
            Arc::new(Keeper),
            Arc::new(Slow(Arc::clone(&waiting))),
            Arc::new(Scripted(Arc::clone(&calls))),
        ]);
        let stores = Stores::with_options(storage.clone(), Arc::new(scheme), admission, options);
        stores.handle("", "sites", "finalize", Arc::new(Finalize));
        stores.check_writes(&Shelf::RESOURCE.group, &Shelf::RESOURCE.plural, Arc::new(Crowd));
        let mut routes = Routes::new();
        routes.serve::<Shelf>(&stores);
        routes.serve::<Note>(&stores);
        routes.serve::<Site>(&stores);
        routes.serve::<Floor>(&stores);
        let (stop, shutdown) = Stop::new();
        Self {
            table: routes.build(),
            storage,
            stores,
            waiting,
            features: Features::default(),
            calls,
            shutdown,
            stop,
        }
    }

    /// The same server, whose watches end within `grace` once it stops.
    pub(crate) fn with_watch_grace(mut self, grace: Duration) -> Self {
        (self.stop, self.shutdown) = Stop::with_watch_grace(grace);
        self
    }

    /// A server of these kinds on `storage`.
    pub(crate) fn of(storage: Storage, kinds: &[&ResourceFacts]) -> Self {
        let mut scheme = Scheme::new();
        for kind in kinds {
            scheme.add_facts(kind);
        }
        Self::of_scheme(storage, scheme)
    }

    /// A server of the kinds of `scheme` on `storage`.
    pub(crate) fn of_scheme(storage: Storage, scheme: Scheme) -> Self {
        Self::admitting(storage, scheme, Chain::default())
    }

    /// A server of the kinds of `scheme` on `storage`, whose writes the plugins of `admission` decide on.
    pub(crate) fn admitting(storage: Storage, scheme: Scheme, admission: Chain) -> Self {
        assert_eq!(scheme.check(), Ok(()));
        let options = StoresOptions::new(Arc::new(AlwaysAllow));
        let stores = Stores::with_options(storage.clone(), Arc::new(scheme), admission, options);
        let mut routes = Routes::new();
        for kind in stores.scheme().iter() {
            routes.serve_kind(kind, &stores);
        }
        let (stop, shutdown) = Stop::new();
        Self {
            table: routes.build(),
            storage,
            stores,
            waiting: Arc::new(Semaphore::new(0)),
            features: Features::default(),
            calls: Arc::default(),
            shutdown,
            stop,
        }
    }

    /// A server with the sites `a` and `b`.
    pub(crate) async fn with_places() -> Self {
        let server = Self::start();
        for name in ["a", "b"] {
            server
                .create("/api/v1/sites", &format!(r#"{{"metadata":{{"name":"{name}"}}}}"#))
                .await;
        }
        server
    }

    pub(crate) async fn open(&self, mut request: Request<Body>) -> (Response<Body>, Context) {
        let mut context = Context::unknown(self.shutdown.clone());
        context.features = self.features.clone();
        context.info = Arc::new(RequestInfo::new(request.method(), request.uri()));
        context.peer = request.extensions().get::<IpAddr>().copied();
        // As the filters do.
        request.extensions_mut().insert(context.clone());
        let info = &context.info;
        let handler = self
            .table
            .handler(info.group(), info.version(), info.resource())
            .expect("a known path");
        let response = Arc::clone(handler).serve(context.clone(), request).await;
        (response, context)
    }

    pub(crate) async fn send(&self, request: Request<Body>) -> Answer {
        let (response, context) = self.open(request).await;
        let (parts, body) = response.into_parts();
        let body = body.collect().await.expect("a whole body").to_bytes();
        let media_type = parts
            .headers
            .get("content-type")
            .map_or("", |value| value.to_str().expect("text"));
        Answer {
            code: parts.status.as_u16(),
            media_type: media_type.to_owned(),
            text: String::from_utf8_lossy(&body).into_owned(),
            warnings: context.warnings.take(),
        }
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.send(request(Method::GET, path, "")).await
    }

    pub(crate) async fn get_as(&self, accept: &str, path: &str) -> Answer {
        let request = Request::builder().uri(path).header("accept", accept);
        self.send(request.body(Body::empty()).expect("legal")).await
    }

    pub(crate) async fn post(&self, path: &str, body: &str) -> Answer {
        self.send(request(Method::POST, path, body)).await
    }

    pub(crate) async fn put(&self, path: &str, body: &str) -> Answer {
        self.send(request(Method::PUT, path, body)).await
    }

    pub(crate) async fn delete(&self, path: &str, body: &str) -> Answer {
        self.send(request(Method::DELETE, path, body)).await
    }

    /// A DELETE by a client outside of the server's process.
    pub(crate) async fn delete_remotely(&self, path: &str) -> Answer {
        let mut request = request(Method::DELETE, path, "");
        request.extensions_mut().insert(IpAddr::from([192, 0, 2, 1]));
        self.send(request).await
    }

    pub(crate) async fn patch(&self, kind: &str, path: &str, body: &str) -> Answer {
        let request = Request::builder()
            .method(Method::PATCH)
            .uri(path)
            .header("content-type", format!("application/{kind}-patch+json"))
            .header("content-length", body.len());
        self.send(request.body(Body::from(body.to_owned())).expect("legal"))
            .await
    }

    pub(crate) async fn apply(&self, path: &str, body: &str) -> Answer {
        let request = Request::builder()
            .method(Method::PATCH)
            .uri(path)
            .header("content-type", "application/apply-patch+yaml");
        self.send(request.body(Body::from(body.to_owned())).expect("legal"))
            .await
    }

    /// Creates an object that must be accepted.
    pub(crate) async fn create(&self, path: &str, body: &str) -> Value {
        let answer = self.post(path, body).await;
        assert_eq!(answer.code, 201, "{}", answer.text);
        answer.json()
    }

    /// Creates the note `name` in the site `a`.
    pub(crate) async fn note(&self, name: &str, labels: &str) -> Value {
        let body = format!(r#"{{"metadata":{{"name":"{name}","labels":{labels}}},"data":{{"n":"{name}"}}}}"#);
        self.create(NOTES, &body).await
    }
}

/// The path of notes.
pub(crate) const NOTES: &str = "/api/v1/namespaces/a/notes";
/// The path of shelves.
pub(crate) const SHELVES: &str = "/apis/test.example.com/v1/namespaces/a/shelves";

/// The features with the one of this name enabled.
pub(crate) fn with_feature(name: &str) -> Features {
    let feature = features::ALL.iter().find(|feature| feature.name() == name);
    Features::default().with(feature.expect("a feature of the server"), true)
}

fn request(method: Method, path: &str, body: &str) -> Request<Body> {
    let request = Request::builder().method(method).uri(path);
    request.body(Body::from(body.to_owned())).expect("legal")
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error}: {}", self.text))
    }

    /// The value at a JSON pointer, `Null` if there is none.
    pub(crate) fn at(&self, pointer: &str) -> Value {
        self.json().pointer(pointer).cloned().unwrap_or_default()
    }

    /// Code and message of a Status.
    pub(crate) fn refusal(&self) -> (u16, String) {
        (self.code, self.at("/message").as_str().unwrap_or_default().to_owned())
    }

    /// The names of a list's items.
    pub(crate) fn names(&self) -> Vec<String> {
        let items = self.at("/items");
        let items = items.as_array().unwrap_or_else(|| panic!("no list: {}", self.text));
        items.iter().map(|item| text(item, "/metadata/name")).collect()
    }

    /// The version of the object or list.
    pub(crate) fn version(&self) -> String {
        text(&self.json(), "/metadata/resourceVersion")
    }
}

/// The text at a JSON pointer.
pub(crate) fn text(value: &Value, pointer: &str) -> String {
    value
        .pointer(pointer)
        .and_then(Value::as_str)
        .unwrap_or_default()
        .to_owned()
}

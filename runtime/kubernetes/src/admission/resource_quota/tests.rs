use std::future::Future;
use std::pin::Pin;
use std::sync::Mutex as StdMutex;

use planesmith_api_defs::core::v1::{ConfigMap, PersistentVolumeClaim, Pod, Service};
use planesmith_machinery::clock::SystemClock;
use planesmith_machinery::object::{Object, Resource};
use planesmith_machinery::status::{ApiError, Reason};
use serde_json::{Value, json};
use tokio::sync::Notify;

use super::*;
use crate::admission::testing::{Few, Request, object};

/// Records usage, and refuses the first writes.
#[derive(Default)]
struct Book {
    refusals: StdMutex<usize>,
    /// Opened once, and stays open.
    gate: Option<Arc<Notify>>,
    /// Notified of each attempt.
    begun: Arc<Notify>,
    written: Arc<StdMutex<Vec<String>>>,
}

impl Book {
    fn refusing(refusals: usize) -> Self {
        Self {
            refusals: StdMutex::new(refusals),
            ..Self::default()
        }
    }

    /// The same with its gate, and the notification of attempts.
    fn shut(self) -> (Self, Arc<Notify>, Arc<Notify>) {
        let (gate, begun) = (Arc::new(Notify::new()), Arc::clone(&self.begun));
        let book = Self {
            gate: Some(Arc::clone(&gate)),
            ..self
        };
        (book, gate, begun)
    }
}

impl Writer for Book {
    fn write<'a>(&'a self, quota: &'a ResourceQuota) -> Pin<Box<dyn Future<Output = ApiResult<String>> + Send + 'a>> {
        let mut refusals = self.refusals.lock().unwrap();
        let answer = if *refusals > 0 {
            *refusals -= 1;
            Err(ApiError::new(Reason::Conflict, "changed meanwhile"))
        } else {
            let used = quota
                .status
                .used
                .iter()
                .map(|(name, amount)| format!("{name}={amount}"));
            self.written.lock().unwrap().push(used.collect::<Vec<_>>().join(","));
            Ok("2".to_owned())
        };
        let gate = self.gate.clone();
        self.begun.notify_one();
        Box::pin(async move {
            if let Some(gate) = gate {
                gate.notified().await;
                gate.notify_one();
            }
            answer
        })
    }
}

struct Scene {
    plugin: ResourceQuotas,
    written: Arc<StdMutex<Vec<String>>>,
}

impl Scene {
    fn new(quota: Value) -> Self {
        Self::with(quota, 0, None)
    }

    fn with(quota: Value, refusals: usize, configuration: Option<Value>) -> Self {
        Self::through(quota, Book::refusing(refusals), configuration)
    }

    fn through(mut quota: Value, book: Book, configuration: Option<Value>) -> Self {
        quota["metadata"] = json!({"name": "q", "namespace": "ns"});
        let few = Few::default().with::<ResourceQuota>(quota);
        let written = Arc::clone(&book.written);
        let limited = configuration::read(configuration.as_ref()).unwrap();
        let plugin = ResourceQuotas::with_writer(few.lister(), Arc::new(book), limited, Arc::new(SystemClock));
        Self { plugin, written }
    }

    fn create(&self, spec: Value) -> Result<Pod, String> {
        let pod = object(json!({"metadata": {"name": "p"}, "spec": spec}));
        self.created(pod)
    }

    fn created<R: Resource>(&self, mut object: R) -> Result<R, String> {
        in_runtime(Request::create::<R>().answer(&self.plugin, Some(&mut object), None))?;
        Ok(object)
    }

    fn updated<R: Resource>(&self, old: &R, new: R) -> Result<(), String> {
        self.changed(&Request::update::<R>(), old, new)
    }

    fn changed<R: Resource>(&self, request: &Request, old: &R, mut new: R) -> Result<(), String> {
        in_runtime(request.answer(&self.plugin, Some(&mut new), Some(old)))
    }

    fn written(&self) -> Vec<String> {
        self.written.lock().unwrap().clone()
    }
}

fn pod(cpu: &str) -> Pod {
    object(json!({"metadata": {"name": "p"}, "spec": requesting(cpu)}))
}

/// Charges are stored by tasks.
fn in_runtime<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
    runtime.unwrap().block_on(work)
}

fn quota(hard: Value, used: Value) -> Value {
    json!({"spec": {"hard": hard.clone()}, "status": {"hard": hard, "used": used}})
}

fn requesting(cpu: &str) -> Value {
    json!({"containers": [{"name": "c", "resources": {"requests": {"cpu": cpu}}}]})
}

#[test]
fn usage_is_charged() {
    let scene = Scene::new(quota(
        json!({"pods": "2", "requests.cpu": "1", "secrets": "1"}),
        json!({"pods": "1", "requests.cpu": "300m", "secrets": "1"}),
    ));
    scene.create(requesting("300m")).unwrap();
    assert_eq!(scene.written(), ["pods=2,requests.cpu=600m,secrets=1"]);
}

#[test]
fn too_much_is_refused() {
    let scene = Scene::new(quota(
        json!({"pods": "9", "requests.cpu": "1"}),
        json!({"pods": "1", "requests.cpu": "300m"}),
    ));
    assert_eq!(
        scene.create(requesting("900m")).unwrap_err(),
        "pods \"p\" is forbidden: exceeded quota: q, requested: requests.cpu=900m, used: requests.cpu=300m, limited: \
         requests.cpu=1"
    );
    assert_eq!(
        scene
            .create(json!({"containers": [{"name": "c"}, {"name": "a"}]}))
            .unwrap_err(),
        "pods \"p\" is forbidden: failed quota: q: must specify requests.cpu for: a,c"
    );
    assert!(scene.written().is_empty());
}

#[test]
fn amounts_that_nobody_can_count_are_too_much() {
    let used = || quota(json!({"requests.cpu": "1"}), json!({"requests.cpu": "300m"}));
    for cpu in ["1e40", "1e2147483647"] {
        let refusal = Scene::new(used()).create(requesting(cpu)).unwrap_err();
        assert!(refusal.contains("exceeded quota: q"), "{refusal}");
        let beside = json!({"containers": [
            {"name": "a", "resources": {"requests": {"cpu": "1n"}}}, {"name": "b", "resources": {"requests": {"cpu": cpu}}},
        ]});
        let refusal = Scene::new(used()).create(beside).unwrap_err();
        assert!(refusal.contains("exceeded quota: q"), "{refusal}");
    }
}

#[test]
fn quotas_count_once_their_usage_is_known() {
    let scene = Scene::new(quota(json!({"pods": "9"}), json!({})));
    assert_eq!(
        scene.create(json!({})).unwrap_err(),
        "pods \"p\" is forbidden: status unknown for quota: q, resources: pods"
    );
    let scene = Scene::new(json!({"spec": {"hard": {"pods": "0"}}}));
    assert!(scene.create(json!({})).is_ok());
}

#[test]
fn objects_are_counted_under_both_names() {
    let scene = Scene::new(quota(
        json!({"configmaps": "1", "count/configmaps": "5"}),
        json!({"configmaps": "0", "count/configmaps": "0"}),
    ));
    scene.created(ConfigMap::default()).unwrap();
    assert_eq!(scene.written(), ["configmaps=1,count/configmaps=1"]);
    // Updates change no number.
    let map = ConfigMap::default();
    scene.updated(&map, map.clone()).unwrap();
    assert_eq!(scene.written().len(), 1);
}

#[test]
fn scopes_select_what_is_counted() {
    let scoped = |scope: &str| {
        let mut value = quota(json!({"pods": "0"}), json!({"pods": "0"}));
        value["spec"]["scopes"] = json!([scope]);
        Scene::new(value)
    };
    assert!(
        scoped("BestEffort")
            .create(json!({"containers": [{"name": "c"}]}))
            .is_err()
    );
    assert!(scoped("BestEffort").create(requesting("1")).is_ok());
    assert!(scoped("Terminating").create(json!({})).is_ok());
    assert!(
        scoped("Terminating")
            .create(json!({"activeDeadlineSeconds": 1}))
            .is_err()
    );
    let mut value = quota(json!({"pods": "0"}), json!({"pods": "0"}));
    let class = json!({"scopeName": "PriorityClass", "operator": "In", "values": ["high"]});
    value["spec"]["scopeSelector"] = json!({"matchExpressions": [class]});
    let scene = Scene::new(value);
    assert!(scene.create(json!({"priorityClassName": "low"})).is_ok());
    assert!(scene.create(json!({"priorityClassName": "high"})).is_err());
}

#[test]
fn resizing_charges_the_difference() {
    let scene = Scene::new(quota(json!({"requests.cpu": "3"}), json!({"requests.cpu": "1"})));
    let request = Request::update::<Pod>().below("resize");
    let resize = |from: &str, to: &str| scene.changed(&request, &pod(from), pod(to));
    resize("1", "2500m").unwrap();
    resize("1", "500m").unwrap();
    assert_eq!(scene.written(), ["requests.cpu=2500m"]);
    assert!(resize("1", "4").is_err());
}

#[test]
fn a_pod_that_gets_a_deadline_is_counted_by_other_quotas() {
    let mut value = quota(json!({"pods": "1"}), json!({"pods": "0"}));
    value["spec"]["scopes"] = json!(["Terminating"]);
    let scene = Scene::new(value);
    let mut bounded = pod("1");
    bounded.spec.active_deadline_seconds = Some(60);
    scene.updated(&pod("1"), pod("1")).unwrap();
    assert_eq!(scene.written().len(), 0);
    scene.updated(&pod("1"), bounded).unwrap();
    assert_eq!(scene.written(), ["pods=1"]);
}

/// Charges pods that arrive while the charge of the first one is being stored. Returns the writes of the quota, and
/// for each pod whether it was accepted.
async fn crowd(refusals: usize, hard: &str) -> (Vec<String>, Vec<bool>) {
    const PODS: usize = 16;
    let (book, gate, begun) = Book::refusing(refusals).shut();
    let scene = Scene::through(quota(json!({"pods": hard}), json!({"pods": "0"})), book, None);
    let request = Request::create::<Pod>();
    let mut pods: Vec<Pod> = (0..PODS).map(|_| pod("1")).collect();
    let mut all = pods
        .iter_mut()
        .map(|pod| request.answer(&scene.plugin, Some(pod as &mut dyn Object), None));
    let first = all.next().unwrap();
    let others = async {
        begun.notified().await;
        let open = async {
            // All are under way by then.
            gate.notify_one();
        };
        tokio::join!(futures_util::future::join_all(all), open).0
    };
    let (first, mut outcomes) = tokio::join!(first, others);
    outcomes.push(first);
    (scene.written(), outcomes.iter().map(Result::is_ok).collect())
}

#[tokio::test]
async fn those_who_come_while_one_is_stored_are_stored_together() {
    let (written, outcomes) = crowd(0, "99").await;
    assert_eq!(written, ["pods=1", "pods=16"]);
    assert!(outcomes.iter().all(|allowed| *allowed));
}

#[tokio::test]
async fn charges_on_what_could_not_be_stored_are_made_again() {
    let (written, outcomes) = crowd(2, "3").await;
    // Before that the first two attempts were refused.
    assert_eq!(written.last().map(String::as_str), Some("pods=3"), "{written:?}");
    assert_eq!(outcomes.iter().filter(|allowed| **allowed).count(), 3);
}

#[tokio::test]
async fn a_client_that_leaves_takes_no_part_of_the_quota_with_it() {
    let (book, gate, begun) = Book::default().shut();
    let scene = Scene::through(quota(json!({"pods": "1"}), json!({"pods": "0"})), book, None);
    let request = Request::create::<Pod>();
    let mut left = pod("1");
    tokio::select! {
        biased;
        outcome = request.answer(&scene.plugin, Some(&mut left), None) => panic!("it is not stored yet: {outcome:?}"),
        () = begun.notified() => {}
    }
    gate.notify_one();
    // The gate is passed on when the usage is stored.
    gate.notified().await;
    gate.notify_one();
    // The stored quota still has no usage.
    assert_eq!(request.answer(&scene.plugin, Some(&mut pod("1")), None).await, Ok(()));
}

#[test]
fn a_quota_that_changed_meanwhile_is_charged_again() {
    let value = || quota(json!({"pods": "2"}), json!({"pods": "0"}));
    let scene = Scene::with(value(), 3, None);
    scene.create(json!({})).unwrap();
    assert_eq!(scene.written(), ["pods=1"]);
    let scene = Scene::with(value(), 4, None);
    assert_eq!(scene.create(json!({})).unwrap_err(), "changed meanwhile");
}

#[test]
fn a_limited_resource_needs_a_quota() {
    let limited = json!([{"resource": "pods", "matchContains": ["cpu"]}]);
    let configuration = json!({
        "apiVersion": "apiserver.config.k8s.io/v1",
        "kind": "ResourceQuotaConfiguration",
        "limitedResources": limited,
    });
    let scene = Scene::with(
        quota(json!({"pods": "2"}), json!({"pods": "0"})),
        0,
        Some(configuration),
    );
    assert_eq!(
        scene.create(requesting("1")).unwrap_err(),
        "pods \"p\" is forbidden: insufficient quota to consume: cpu,requests.cpu"
    );
    assert!(scene.create(json!({})).is_ok());
}

#[test]
fn claims_are_counted_by_class() {
    let of_class = "fast.storageclass.storage.k8s.io/requests.storage";
    let scene = Scene::new(quota(
        json!({"requests.storage": "9Gi", of_class: "2Gi"}),
        json!({"requests.storage": "0", of_class: "0"}),
    ));
    let create = |class: &str, storage: &str| {
        let spec = json!({"storageClassName": class, "resources": {"requests": {"storage": storage}}});
        let claim: PersistentVolumeClaim = object(json!({"metadata": {"name": "c"}, "spec": spec}));
        scene.created(claim).map(drop)
    };
    create("slow", "3Gi").unwrap();
    create("fast", "1Gi").unwrap();
    assert_eq!(
        scene.written(),
        [
            "fast.storageclass.storage.k8s.io/requests.storage=0,requests.storage=3Gi",
            "fast.storageclass.storage.k8s.io/requests.storage=1Gi,requests.storage=1Gi",
        ]
    );
    let refused = create("fast", "3Gi").unwrap_err();
    assert!(
        refused.contains("exceeded quota: q, requested: fast.storageclass"),
        "{refused}"
    );
}

#[test]
fn services_are_counted_with_their_ports() {
    let scene = Scene::new(quota(
        json!({"services.nodeports": "1"}),
        json!({"services.nodeports": "0"}),
    ));
    let service = |sort: &str, ports: usize| -> Service {
        let ports: Vec<Value> = (1..=ports).map(|port| json!({"port": port})).collect();
        object(json!({"metadata": {"name": "s"}, "spec": {"type": sort, "ports": ports}}))
    };
    let create = |new: Service| scene.created(new).map(drop);
    assert_eq!(create(service("ClusterIP", 2)), Ok(()));
    assert_eq!(create(service("LoadBalancer", 1)), Ok(()));
    assert_eq!(
        create(service("NodePort", 2)).unwrap_err(),
        "services \"s\" is forbidden: exceeded quota: q, requested: services.nodeports=2, used: services.nodeports=0, \
         limited: services.nodeports=1"
    );
    assert!(scene.updated(&service("ClusterIP", 2), service("NodePort", 2)).is_err());
}

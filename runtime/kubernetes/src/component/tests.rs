//! Servers with the built-in kinds in one process, each with flags of its own.

use http::header::ACCEPT;
use http::{Method, StatusCode};
use planesmith_api_defs::core::v1::{ConfigMap, Event, Namespace, Pod, Secret, Service, ServiceAccount};
use planesmith_control_plane::descriptors::Descriptors;
use planesmith_control_plane::group_version::GroupVersion;
use planesmith_control_plane::program::Documents;
use planesmith_control_plane::{Program, Server};
use planesmith_e2e::{Connection, Endpoint};
use planesmith_machinery::group_version::GroupVersionPriority;
use planesmith_server::lifecycle::{Signal, Signals};
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use super::*;
use crate::options::tests::options;

mod several_servers;

const PODS: &str = "/api/v1/namespaces/default/pods";

const PROGRAM: Program = Program {
    name: "pods",
    groups: &[GroupVersion {
        group: "",
        version: "v1",
        on_by_default: true,
        priority: GroupVersionPriority::CUSTOM,
        register: |scheme| {
            scheme.add::<ConfigMap>().add::<Event>().add::<Namespace>().add::<Pod>();
            scheme.add::<Secret>().add::<Service>().add::<ServiceAccount>();
        },
        install: |routes, stores| {
            routes.serve::<ConfigMap>(stores);
            routes.serve::<Event>(stores);
            routes.serve::<Namespace>(stores);
            routes.serve::<Pod>(stores);
            routes.serve::<Secret>(stores);
            routes.serve::<Service>(stores);
            routes.serve::<ServiceAccount>(stores);
        },
    }],
    openapi: Documents { v2: &[], v3: &[] },
    admission: &[],
    components: &[COMPONENT],
};

/// A running server, and its data folder.
struct Running {
    connection: Connection,
    signal: Signal,
    ended: JoinHandle<Result<()>>,
    _folder: tempfile::TempDir,
}

impl Running {
    async fn start(flags: &[&str]) -> Self {
        Self::of(&PROGRAM, flags).await
    }

    async fn of(program: &Program, flags: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let tokens = folder.path().join("tokens.csv");
        std::fs::write(&tokens, "secret,admin,1,system:masters\n").unwrap();
        let (data, tokens) = (
            format!("--data-dir={}", folder.path().join("data").display()),
            format!("--token-auth-file={}", tokens.display()),
        );
        let common = ["--storage=memory", "--secure-port=0", &data, &tokens];
        let options = options(&[&common, flags].concat()).unwrap();
        let server = Server::open(program, &options, Descriptors::current()).await.unwrap();
        // The advertised address may be another one.
        let (_, port) = server.url().rsplit_once(':').unwrap();
        let endpoint = Endpoint::new(&format!("https://127.0.0.1:{port}"), "secret", None).unwrap();
        let (signal, signals) = Signals::manual();
        let ended = tokio::spawn(server.run(signals));
        Self {
            connection: Connection::open(&endpoint).await.unwrap(),
            signal,
            ended,
            _folder: folder,
        }
    }

    /// Returns the code and the body of the answer to a new pod with `security` and a stop signal.
    async fn create(&self, security: Value) -> (StatusCode, Value) {
        let container = json!({
            "name": "c", "image": "i", "securityContext": security, "lifecycle": {"stopSignal": "SIGUSR1"},
        });
        let pod = json!({
            "metadata": {"generateName": "p-"},
            "spec": {"containers": [container], "serviceAccountName": "default", "os": {"name": "linux"}},
        });
        let answer = self.connection.call(Method::POST, PODS, pod.to_string()).await.unwrap();
        (answer.status, answer.json().unwrap())
    }

    async fn accepts_cbor(&self) -> bool {
        let request = self
            .connection
            .request(Method::GET, PODS)
            .header(ACCEPT, "application/cbor");
        let answer = self.connection.finish(request.body(Vec::new().into()).unwrap()).await;
        answer.unwrap().status == StatusCode::OK
    }

    async fn stop(self) {
        self.signal.stop();
        self.ended.await.unwrap().unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn servers_of_one_process_have_features_and_permissions_of_their_own() {
    let plain = Running::start(&[]).await;
    let gates = "--feature-gates=ContainerStopSignals=true,CBORServingAndStorage=true";
    let switched = Running::start(&["--allow-privileged", gates]).await;
    // The first one started before the second one had its flags, the last one after.
    let last = Running::start(&[]).await;

    let (signal, privileged) = ("/spec/containers/0/lifecycle/stopSignal", json!({"privileged": true}));
    for usual in [&plain, &last] {
        let (code, body) = usual.create(privileged.clone()).await;
        let why = "spec.containers[0].securityContext.privileged: Forbidden: disallowed by cluster policy";
        let message = body["message"].as_str().unwrap_or_default();
        assert!(
            code == StatusCode::UNPROCESSABLE_ENTITY && message.ends_with(why),
            "{body}"
        );
        let (code, pod) = usual.create(json!({})).await;
        assert_eq!((code, pod.pointer(signal)), (StatusCode::CREATED, None), "{pod}");
        assert!(!usual.accepts_cbor().await);
    }
    let (code, pod) = switched.create(privileged).await;
    assert_eq!(
        (code, pod.pointer(signal)),
        (StatusCode::CREATED, Some(&json!("SIGUSR1"))),
        "{pod}"
    );
    assert!(switched.accepts_cbor().await);

    for server in [plain, switched, last] {
        server.stop().await;
    }
}

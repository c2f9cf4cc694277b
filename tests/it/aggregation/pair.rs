//! Two servers, one of them behind the aggregator of the other.

use std::time::Duration;

use http::Method;
use planesmith_e2e::{Binary, Connection, Home, Server, Watch};
use serde_json::{Value, json};

pub(super) const API_SERVICES: &str = "/apis/apiregistration.k8s.io/v1/apiservices";
pub(super) const ORDERS: &str = "/apis/shop.example.com/v1/namespaces/default/orders";
pub(super) const NAMESPACES: &str = "/api/v1/namespaces";

/// The time limit for anything without a specific limit.
pub(super) const TIMEOUT: Duration = Duration::from_secs(60);

/// The front server, and the home of the server behind it.
pub(super) struct Pair {
    pub(super) front: Server,
    pub(super) front_home: Home,
    pub(super) behind: Home,
}

impl Pair {
    pub(super) async fn start() -> (Self, Server) {
        let front_home = Home::new().unwrap();
        let binary = Binary::Planesmith.path().unwrap();
        let front = front_home.start(&binary, &["--storage=memory"]).await.unwrap();
        let pair = Self {
            front,
            front_home,
            behind: Home::new().unwrap(),
        };
        let behind = pair.start_behind(&pair.behind).await;
        let port = behind.endpoint().port();
        let behind_home = pair.behind.with_port(port);
        let pair = Self {
            behind: behind_home,
            ..pair
        };
        pair.register(port).await;
        (pair, behind)
    }

    /// Starts the shop, which delegates authentication and authorization to the front server.
    pub(super) async fn start_behind(&self, home: &Home) -> Server {
        let kubeconfig = self.front_home.kubeconfig();
        let flag = |name: &str| format!("--{name}={}", kubeconfig.display());
        let flags = [flag("authentication-kubeconfig"), flag("authorization-kubeconfig")];
        let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
        home.start(&Binary::Shop.path().unwrap(), &flags).await.unwrap()
    }

    pub(super) async fn connect(&self) -> Connection {
        self.front.connect().await.unwrap()
    }

    /// Registers both versions of the shop, and waits until they are available.
    pub(super) async fn register(&self, port: u16) {
        let front = self.connect().await;
        let service = json!({
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": "shop"},
            "spec": {"type": "ExternalName", "externalName": "localhost"},
        });
        create(&front, "/api/v1/namespaces/default/services", &service).await;
        for (version, priority) in [("v1", 20), ("v1alpha1", 10)] {
            let api_service = json!({
                "apiVersion": "apiregistration.k8s.io/v1",
                "kind": "APIService",
                "metadata": {"name": format!("{version}.shop.example.com")},
                "spec": {
                    "group": "shop.example.com",
                    "version": version,
                    "groupPriorityMinimum": 2000,
                    "versionPriority": priority,
                    "service": {"namespace": "default", "name": "shop", "port": port},
                    "insecureSkipTLSVerify": true,
                },
            });
            create(&front, API_SERVICES, &api_service).await;
        }
        for version in ["v1", "v1alpha1"] {
            self.wait_for(version, "True").await;
        }
    }

    /// Waits until the condition Available of a version of the shop has this status.
    pub(super) async fn wait_for(&self, version: &str, status: &str) {
        let front = self.connect().await;
        let path = format!("{API_SERVICES}?watch=1&fieldSelector=metadata.name={version}.shop.example.com");
        let mut watch = front.watch(&path).await.unwrap();
        let shown = async {
            loop {
                let event = next(&mut watch).await;
                let conditions = event["object"]["status"]["conditions"]
                    .as_array()
                    .cloned()
                    .unwrap_or_default();
                if conditions.iter().any(|condition| condition["status"] == status) {
                    return;
                }
            }
        };
        let shown = tokio::time::timeout(TIMEOUT, shown).await;
        shown.unwrap_or_else(|_| panic!("{version} does not become {status}:\n{}", self.front.log()));
    }
}

/// Returns the next event of a watch.
pub(super) async fn next(watch: &mut Watch) -> Value {
    watch.event().await.unwrap().expect("the watch goes on")
}

/// Creates an object; returns the response.
pub(super) async fn create(connection: &Connection, path: &str, object: &Value) -> Value {
    let answer = connection.call(Method::POST, path, object.to_string()).await.unwrap();
    answer.expect(201).unwrap().json().unwrap()
}

/// Returns an order of some tea.
pub(super) fn order(name: &str) -> Value {
    json!({
        "apiVersion": "shop.example.com/v1",
        "kind": "Order",
        "metadata": {"name": name},
        "spec": {"customer": {"givenName": "Ada", "familyName": "L"}, "items": [{"product": "tea", "quantity": 1}]},
    })
}

//! Flow control: requests of a level wait for its seats, and are rejected when their queue is full.

use std::time::Duration;

use bytes::Bytes;
use http::{Method, Request};
use planesmith_e2e::{Answer, Binary, Connection, Home, RequestBody, Server};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use crate::objects::{CONFIG_MAPS, config_map};

/// The time limit for what happens within moments.
const TIMEOUT: Duration = Duration::from_secs(60);

const GROUP: &str = "/apis/flowcontrol.apiserver.k8s.io/v1";

/// Seats of the level `narrow`: one of 246 shares of 600 seats, rounded up.
const SEATS: usize = 3;
/// Requests of one flow that wait in the level: two queues of four.
const QUEUED: usize = 8;

/// A write of `user` whose body is not complete until the sender is dropped.
struct SlowWrite {
    body: mpsc::Sender<Bytes>,
    answer: JoinHandle<anyhow::Result<Answer>>,
}

fn request(connection: &Connection, user: &str, method: Method, path: &str) -> http::request::Builder {
    connection.request(method, path).header("impersonate-user", user)
}

async fn get_as(connection: &Connection, user: &str, path: &str) -> Answer {
    let request = request(connection, user, Method::GET, path);
    connection
        .finish(request.body(Bytes::new().into()).unwrap())
        .await
        .unwrap()
}

impl SlowWrite {
    fn begin(connection: &Connection, user: &str) -> Self {
        let (body, pieces) = RequestBody::pieces();
        let request: Request<RequestBody> = request(connection, user, Method::POST, CONFIG_MAPS)
            .header("content-type", "application/json")
            .body(pieces)
            .unwrap();
        let connection = connection.clone();
        let answer = tokio::spawn(async move { connection.finish(request).await });
        Self { body, answer }
    }

    /// Completes the body, and returns the answer.
    async fn complete(self, name: &str) -> Answer {
        self.body.send(config_map(name, "value")).await.unwrap();
        drop(self.body);
        self.answer.await.unwrap().unwrap()
    }
}

/// A level with few seats and short queues, for the ConfigMaps of all users but administrators.
async fn narrow_level(server: &Server) -> Connection {
    let connection = server.connect().await.unwrap();
    let level = json!({
        "apiVersion": "flowcontrol.apiserver.k8s.io/v1", "kind": "PriorityLevelConfiguration", "metadata": {"name": "narrow"},
        "spec": {"type": "Limited", "limited": {
            "nominalConcurrencyShares": 1, "lendablePercent": 0, "borrowingLimitPercent": 0,
            "limitResponse": {"type": "Queue", "queuing": {"queues": 16, "handSize": 2, "queueLengthLimit": 4}},
        }},
    });
    let schema = json!({
        "apiVersion": "flowcontrol.apiserver.k8s.io/v1", "kind": "FlowSchema", "metadata": {"name": "narrow"},
        "spec": {
            "priorityLevelConfiguration": {"name": "narrow"}, "matchingPrecedence": 50, "distinguisherMethod": {"type": "ByUser"},
            "rules": [{
                "subjects": [{"kind": "Group", "group": {"name": "system:authenticated"}}],
                "resourceRules": [{"verbs": ["*"], "apiGroups": [""], "resources": ["configmaps"], "namespaces": ["*"]}],
            }],
        },
    });
    for (kind, object) in [("prioritylevelconfigurations", level), ("flowschemas", schema)] {
        let path = format!("{GROUP}/{kind}");
        let made = connection.call(Method::POST, &path, object.to_string()).await.unwrap();
        assert_eq!(made.status, 201, "{}", made.excerpt());
    }
    connection
}

/// The numbers of waiting and executing requests, and of rejected ones, of the level.
async fn load(connection: &Connection) -> [usize; 3] {
    let page = connection
        .get("/debug/api_priority_and_fairness/dump_priority_levels")
        .await
        .unwrap();
    let text = String::from_utf8_lossy(&page.body).into_owned();
    let line = text
        .lines()
        .find(|line| line.starts_with("narrow,"))
        .expect("the level");
    let cells: Vec<&str> = line.split(',').map(str::trim).collect();
    [4, 5, 7].map(|column| cells[column].parse().unwrap())
}

async fn wait_for(connection: &Connection, expected: [usize; 3]) {
    let reached = async { while load(connection).await != expected {} };
    let reached = tokio::time::timeout(TIMEOUT, reached).await;
    assert!(reached.is_ok(), "{:?} instead of {expected:?}", load(connection).await);
}

async fn start(flags: &[&str]) -> (Home, Server) {
    let home = Home::new().unwrap();
    let flags = [&["--storage=memory", "--authorization-mode=AlwaysAllow"], flags].concat();
    let server = home.start(&Binary::Planesmith.path().unwrap(), &flags).await.unwrap();
    (home, server)
}

#[tokio::test]
async fn a_flood_waits_and_is_rejected_and_others_are_served() {
    let (_home, server) = start(&[]).await;
    let admin = narrow_level(&server).await;
    let connection = server.connect().await.unwrap();
    let mut writes = Vec::new();
    for number in 1..=SEATS + QUEUED {
        writes.push(SlowWrite::begin(&connection, "ann"));
        wait_for(&admin, [number.saturating_sub(SEATS), number.min(SEATS), 0]).await;
    }
    let refused = get_as(&connection, "ann", CONFIG_MAPS).await;
    assert_eq!(refused.status, 429, "{}", refused.excerpt());
    assert_eq!(refused.headers["retry-after"], "1");
    let level: Value = admin
        .get_json(&format!("{GROUP}/prioritylevelconfigurations/narrow"))
        .await
        .unwrap();
    assert_eq!(
        refused.headers["x-kubernetes-pf-prioritylevel-uid"],
        level["metadata"]["uid"].as_str().unwrap()
    );
    assert_eq!(&refused.body[..], b"Too many requests, please try again later.\n");

    // Others of the level wait in queues of their own, and go away if they do not want to wait.
    let mut bob = list_of(&connection, "bob");
    wait_for(&admin, [QUEUED + 1, SEATS, 1]).await;
    bob.abort();
    let gone = (&mut bob).await;
    assert!(gone.unwrap_err().is_cancelled());
    wait_for(&admin, [QUEUED, SEATS, 2]).await;
    // Other levels are not concerned.
    for path in ["/api/v1/namespaces/default", "/version", "/healthz"] {
        assert_eq!(get_as(&connection, "ann", path).await.status, 200, "{path}");
    }
    admin.get(CONFIG_MAPS).await.unwrap().expect(200).unwrap();

    let bob = list_of(&connection, "bob");
    wait_for(&admin, [QUEUED + 1, SEATS, 2]).await;
    let names: Vec<String> = (0..writes.len()).map(|number| format!("a-{number}")).collect();
    let completed = writes.into_iter().zip(&names).map(|(write, name)| write.complete(name));
    for answer in futures_util::future::join_all(completed).await {
        assert_eq!(answer.status, 201, "{}", answer.excerpt());
    }
    assert_eq!(bob.await.unwrap().status, 200);
    wait_for(&admin, [0, 0, 2]).await;
    let metrics = admin.get("/metrics").await.unwrap();
    let text = String::from_utf8_lossy(&metrics.body).into_owned();
    let flow = r#"flow_schema="narrow",priority_level="narrow""#;
    for line in [
        format!("apiserver_flowcontrol_rejected_requests_total{{{flow},reason=\"queue-full\"}} 1"),
        format!("apiserver_flowcontrol_rejected_requests_total{{{flow},reason=\"cancelled\"}} 1"),
        format!(
            "apiserver_flowcontrol_dispatched_requests_total{{{flow}}} {}",
            SEATS + QUEUED + 1
        ),
        format!("apiserver_flowcontrol_current_executing_seats{{{flow}}} 0"),
        format!("apiserver_flowcontrol_current_inqueue_requests{{{flow}}} 0"),
        r#"apiserver_flowcontrol_nominal_limit_seats{priority_level="narrow"} 3"#.to_owned(),
    ] {
        assert!(text.lines().any(|shown| shown == line), "{line} is not in\n{text}");
    }
}

/// A list of `user` that is under way.
fn list_of(connection: &Connection, user: &'static str) -> JoinHandle<Answer> {
    let connection = connection.clone();
    tokio::spawn(async move { get_as(&connection, user, CONFIG_MAPS).await })
}

#[tokio::test]
async fn watches_have_seats_only_until_they_have_started() {
    let (_home, server) = start(&[]).await;
    let admin = narrow_level(&server).await;
    let connection = server.connect().await.unwrap();
    let mut watches = Vec::new();
    for _ in 0..4 * SEATS {
        let request = request(
            &connection,
            "ann",
            Method::GET,
            "/api/v1/namespaces/default/configmaps?watch=1",
        );
        let watch = connection
            .send(request.body(Bytes::new().into()).unwrap())
            .await
            .unwrap();
        assert_eq!(watch.status(), 200);
        watches.push(watch);
    }
    wait_for(&admin, [0, 0, 0]).await;
    // Each write reaches all of them, so it keeps seats for them for a moment.
    let written = request(&connection, "ann", Method::POST, CONFIG_MAPS)
        .header("content-type", "application/json")
        .body(config_map("watched", "value").into())
        .unwrap();
    assert_eq!(connection.finish(written).await.unwrap().status, 201);
    let metrics = admin.get("/metrics").await.unwrap();
    let text = String::from_utf8_lossy(&metrics.body).into_owned();
    let sum = r#"apiserver_flowcontrol_watch_count_samples_sum{flow_schema="narrow",priority_level="narrow"} 12"#;
    assert!(text.lines().any(|line| line == sum), "{sum} is not in\n{text}");
}

#[tokio::test]
async fn without_flow_control_requests_in_flight_are_limited() {
    let flags = [
        "--enable-priority-and-fairness=false",
        "--max-mutating-requests-inflight=1",
    ];
    let (_home, server) = start(&flags).await;
    let connection = server.connect().await.unwrap();
    let answer = get_as(&connection, "ann", "/version").await;
    assert_eq!(answer.status, 200);
    assert!(!answer.headers.contains_key("x-kubernetes-pf-flowschema-uid"));
    let page = connection
        .get("/debug/api_priority_and_fairness/dump_queues")
        .await
        .unwrap();
    assert_eq!(page.status, 404);
    let slow = SlowWrite::begin(&connection, "ann");
    let refused = async {
        loop {
            let request = request(&connection, "bob", Method::POST, CONFIG_MAPS)
                .body(Bytes::new().into())
                .unwrap();
            let answer = connection.finish(request).await.unwrap();
            if answer.status == 429 {
                return answer;
            }
        }
    };
    let refused = tokio::time::timeout(TIMEOUT, refused)
        .await
        .expect("the only place is taken");
    assert_eq!(refused.headers["retry-after"], "1");
    assert_eq!(slow.complete("last").await.status, 201);
}

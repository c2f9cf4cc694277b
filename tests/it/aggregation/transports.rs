//! Transports between the aggregator and the server behind it.

use std::net::IpAddr;

use bytes::Bytes;
use http::header::{AUTHORIZATION, CONNECTION, HOST, UPGRADE};
use http::{Method, Request, StatusCode};
use http_body_util::{BodyExt as _, Empty};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use planesmith_e2e::{Binary, Connection, Home, Server, skip};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::fake::{Fake, PATH, SERVICE};
use super::pair::{API_SERVICES, TIMEOUT, create, next};

const SERVICES: &str = "/api/v1/namespaces/default/services";
const NAME: &str = "v1.fake.example.com";

/// A server in front of a [`Fake`].
struct Front {
    server: Server,
    connection: Connection,
    _home: Home,
}

impl Front {
    async fn start(flags: &[&str]) -> Self {
        let home = Home::new().unwrap();
        let flags = [&["--storage=memory"], flags].concat();
        let binary = Binary::Planesmith.path().unwrap();
        let server = home.start(&binary, &flags).await.unwrap();
        let connection = server.connect().await.unwrap();
        Self {
            server,
            connection,
            _home: home,
        }
    }

    /// Starts a server in front of `fake`, with a service of its name and trust in its certificate.
    async fn of(fake: &Fake) -> Self {
        let front = Self::start(&[]).await;
        front
            .serve_at(&json!({"type": "ExternalName", "externalName": "localhost"}))
            .await;
        front.register(fake.port, Some(&fake.certificate)).await;
        front.wait_for("True").await;
        front
    }

    async fn serve_at(&self, spec: &Value) {
        let service = json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": SERVICE}, "spec": spec});
        create(&self.connection, SERVICES, &service).await;
    }

    /// Registers the server behind a port of the service; without a `certificate`, all certificates are accepted.
    async fn register(&self, port: u16, certificate: Option<&str>) {
        let mut spec = json!({
            "group": "fake.example.com", "version": "v1", "groupPriorityMinimum": 100, "versionPriority": 10,
            "service": {"namespace": "default", "name": SERVICE, "port": port},
        });
        match certificate {
            Some(certificate) => spec["caBundle"] = json!(crate::base64::encoded(certificate.as_bytes())),
            None => spec["insecureSkipTLSVerify"] = json!(true),
        }
        let api_service = json!({
            "apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService",
            "metadata": {"name": NAME}, "spec": spec,
        });
        create(&self.connection, API_SERVICES, &api_service).await;
    }

    /// Waits until the condition Available has this status; returns the condition.
    async fn wait_for(&self, status: &str) -> Value {
        self.wait_until(|condition| condition["status"] == status).await
    }

    async fn wait_until(&self, is_wanted: impl Fn(&Value) -> bool) -> Value {
        let path = format!("{API_SERVICES}?watch=1&fieldSelector=metadata.name={NAME}");
        let mut watch = self.connection.watch(&path).await.unwrap();
        let mut last = Value::Null;
        let shown = async {
            loop {
                let event = next(&mut watch).await;
                last = event["object"]["status"]["conditions"][0].clone();
                if is_wanted(&last) {
                    return;
                }
            }
        };
        let shown = tokio::time::timeout(TIMEOUT, shown).await;
        shown.unwrap_or_else(|_| panic!("the condition stays {last}:\n{}", self.server.log()));
        last
    }

    /// Reads an object of the fake server, which is the request that it received.
    async fn get(&self, name: &str) -> Value {
        self.connection.get_json(&thing(name)).await.unwrap()
    }
}

fn thing(name: &str) -> String {
    format!("{PATH}/namespaces/default/things/{name}")
}

#[tokio::test]
async fn requests_arrive_over_http2_in_the_name_of_who_asks() {
    let fake = Fake::start().await;
    let front = Front::of(&fake).await;
    let arrived = front.get("a?pretty=1").await;
    assert_eq!(arrived["version"], "HTTP/2.0");
    assert!(
        arrived["uri"].as_str().unwrap().ends_with(&thing("a?pretty=1")),
        "{arrived}"
    );
    let headers = &arrived["headers"];
    assert_eq!(headers["x-remote-user"], "admin");
    assert_eq!(headers["x-remote-group"], "system:authenticated");
    assert!(headers["authorization"].is_null(), "{headers}");
    assert!(headers["x-forwarded-for"].is_string(), "{headers}");
}

#[tokio::test]
async fn events_arrive_one_by_one_and_a_watch_ends_with_its_client() {
    let fake = Fake::start().await;
    let front = Front::of(&fake).await;
    let path = format!("{PATH}/namespaces/default/things?watch=1");
    let mut watch = front.connection.watch(&path).await.unwrap();
    for number in 0..3 {
        let event = json!({"type": "ADDED", "object": {"metadata": {"name": format!("thing-{number}")}}});
        fake.send(event.clone());
        let received = tokio::time::timeout(TIMEOUT, next(&mut watch)).await;
        assert_eq!(received.expect("events are not held back"), event);
    }
}

#[tokio::test]
async fn a_stream_changes_its_protocol_through_the_aggregator() {
    let fake = Fake::start().await;
    let front = Front::of(&fake).await;
    let endpoint = front.server.endpoint();
    let stream = TokioIo::new(endpoint.open("http/1.1").await.unwrap());
    let (mut sender, connection) = http1::handshake(stream).await.unwrap();
    tokio::spawn(connection.with_upgrades());
    for protocol in ["websocket", "SPDY/3.1"] {
        let endpoint = front.server.endpoint();
        let stream = TokioIo::new(endpoint.open("http/1.1").await.unwrap());
        let (mut sender, connection) = http1::handshake(stream).await.unwrap();
        tokio::spawn(connection.with_upgrades());
        let mut answer = sender.send_request(upgrade(&front, "tube", protocol)).await.unwrap();
        assert_eq!(answer.status(), StatusCode::SWITCHING_PROTOCOLS, "{protocol}");
        assert_eq!(answer.headers()[UPGRADE], protocol);
        let mut stream = TokioIo::new(hyper::upgrade::on(&mut answer).await.unwrap());
        for text in ["first", "second"] {
            stream.write_all(text.as_bytes()).await.unwrap();
            let mut back = vec![0; text.len()];
            tokio::time::timeout(TIMEOUT, stream.read_exact(&mut back))
                .await
                .expect("bytes are not held back")
                .unwrap();
            assert_eq!(back, text.to_uppercase().as_bytes());
        }
    }
    // A server that refuses the protocol switch counts as unavailable.
    let answer = sender.send_request(upgrade(&front, "none", "websocket")).await.unwrap();
    assert_eq!(answer.status(), StatusCode::SERVICE_UNAVAILABLE);
    let body = answer.into_body().collect().await.unwrap().to_bytes();
    assert_eq!(&body[..], b"invalid upgrade response: status code 200\n");
}

fn upgrade(front: &Front, name: &str, protocol: &str) -> Request<Empty<Bytes>> {
    let endpoint = front.server.endpoint();
    Request::builder()
        .method(Method::GET)
        .uri(thing(name))
        .header(HOST, endpoint.authority())
        .header(AUTHORIZATION, format!("Bearer {}", endpoint.token()))
        .header(CONNECTION, "Upgrade")
        .header(UPGRADE, protocol)
        .body(Empty::new())
        .unwrap()
}

#[tokio::test]
async fn a_server_with_another_certificate_gets_no_requests() {
    let (fake, other) = (Fake::start().await, Fake::start().await);
    let front = Front::start(&[]).await;
    front
        .serve_at(&json!({"type": "ExternalName", "externalName": "localhost"}))
        .await;
    front.register(fake.port, Some(&other.certificate)).await;
    let condition = front.wait_for("False").await;
    assert_eq!(condition["reason"], "FailedDiscoveryCheck");
    let message = condition["message"].as_str().unwrap();
    let untrusted = "tls: failed to verify certificate: x509: certificate signed by unknown authority";
    assert!(message.ends_with(untrusted), "{message}");
    let answer = front.connection.get(&thing("a")).await.unwrap();
    assert_eq!(answer.status, StatusCode::SERVICE_UNAVAILABLE, "{}", answer.excerpt());
    assert!(answer.excerpt().contains("service unavailable"), "{}", answer.excerpt());
}

#[tokio::test]
async fn requests_go_to_what_is_ready_behind_a_service() {
    let Some(address) = Fake::address() else {
        return skip::skip("an address", "this machine has none but its loopback");
    };
    let fake = Fake::start().await;
    let front = Front::start(&[]).await;
    front
        .serve_at(&json!({"ports": [{"name": "https", "port": 443}]}))
        .await;
    front.register(443, Some(&fake.certificate)).await;
    let missing = front.wait_for("False").await;
    assert_eq!(missing["reason"], "EndpointsNotFound");

    let slice = |ready: bool| {
        json!({
            "apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice",
            "metadata": {"name": "fake-1", "labels": {"kubernetes.io/service-name": SERVICE}},
            "addressType": "IPv4", "ports": [{"name": "https", "port": fake.port}],
            "endpoints": [{"addresses": [address.to_string()], "conditions": {"ready": ready}}],
        })
    };
    let slices = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices";
    create(&front.connection, slices, &slice(false)).await;
    let missing = front
        .wait_until(|condition| condition["reason"] == "MissingEndpoints")
        .await;
    assert_eq!(
        missing["message"],
        "endpointslices for service/fake in \"default\" have no addresses with port name \"https\""
    );
    let answer = front
        .connection
        .call(Method::PUT, &format!("{slices}/fake-1"), slice(true).to_string())
        .await;
    answer.unwrap().expect(200).unwrap();
    front.wait_for("True").await;
    assert_eq!(front.get("a").await["headers"]["x-remote-user"], "admin");
}

#[tokio::test]
async fn endpoints_lead_to_a_server_where_there_are_no_slices() {
    let Some(address) = Fake::address() else {
        return skip::skip("an address", "this machine has none but its loopback");
    };
    let fake = Fake::start().await;
    let front = Front::start(&[]).await;
    front.serve_at(&json!({"ports": [{"port": 443}]})).await;
    front.register(443, None).await;
    front.wait_for("False").await;
    let endpoints = json!({
        "apiVersion": "v1", "kind": "Endpoints", "metadata": {"name": SERVICE},
        "subsets": [{"addresses": [{"ip": address.to_string()}], "ports": [{"port": fake.port}]}],
    });
    create(&front.connection, "/api/v1/namespaces/default/endpoints", &endpoints).await;
    front.wait_for("True").await;
    assert_eq!(front.get("a").await["headers"]["x-remote-user"], "admin");
}

/// Returns the length of a service range that contains the address, neither as its first or last address nor as the second,
/// which the service `kubernetes` has.
fn range_with(address: IpAddr) -> Option<u32> {
    let IpAddr::V4(address) = address else { return None };
    (20..=28).rev().find(|length| {
        let last = u32::MAX >> length;
        (2..last).contains(&(address.to_bits() & last))
    })
}

#[tokio::test]
async fn requests_go_to_the_address_of_a_service_when_they_are_told_to() {
    let Some(address) = Fake::address() else {
        return skip::skip("an address", "this machine has none but its loopback");
    };
    let Some(length) = range_with(address) else {
        return skip::skip("an address", "no range has that of this machine in its middle");
    };
    let fake = Fake::start().await;
    // The cluster IP is an address of this machine, as if it were routed.
    let range = format!("--service-cluster-ip-range={address}/{length}");
    let front = Front::start(&["--enable-aggregator-routing=false", &range]).await;
    let spec = json!({"clusterIP": address.to_string(), "ports": [{"name": "https", "port": fake.port}]});
    front.serve_at(&spec).await;
    // Endpoints with unreachable addresses: their readiness counts, their addresses do not.
    let slice = json!({
        "apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice",
        "metadata": {"name": "fake-1", "labels": {"kubernetes.io/service-name": SERVICE}},
        "addressType": "IPv4", "ports": [{"name": "https", "port": 1}],
        "endpoints": [{"addresses": ["203.0.113.1"]}],
    });
    create(
        &front.connection,
        "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices",
        &slice,
    )
    .await;
    front.register(fake.port, None).await;
    front.wait_for("True").await;
    assert_eq!(front.get("a").await["headers"]["x-remote-user"], "admin");
}

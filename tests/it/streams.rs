//! Streams into pods: logs, commands and forwarded ports from the client's perspective, with a kubelet on loopback.

mod kubectl;
mod kubelet;

use bytes::Bytes;
use futures_util::{SinkExt as _, StreamExt as _};
use http::header::{AUTHORIZATION, CONNECTION, HOST, HeaderMap, UPGRADE};
use http::{Method, Request, StatusCode};
use http_body_util::{BodyExt as _, Empty};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use planesmith_e2e::{Answer, Binary, Connection, Home, Server};
use serde_json::{Value, json};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::Role;

use self::kubelet::Kubelet;

const PODS: &str = "/api/v1/namespaces/default/pods";

/// A server, and a pod on a node whose kubelet is on loopback.
struct Setting {
    server: Server,
    connection: Connection,
    kubelet: Kubelet,
    home: Home,
}

impl Setting {
    async fn new() -> Self {
        let home = Home::new().unwrap();
        let kubelet = Kubelet::start(home.path()).await;
        let flags = kubelet.flags();
        let flags: Vec<&str> = flags.iter().map(|flag| &**flag).chain(["--storage=memory"]).collect();
        let server = home.start(&Binary::Planesmith.path().unwrap(), &flags).await.unwrap();
        let setting = Self {
            connection: server.connect().await.unwrap(),
            server,
            kubelet,
            home,
        };
        let account = json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "streams"}});
        setting
            .create("/api/v1/namespaces/default/serviceaccounts", &account)
            .await;
        let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {
            "nodeName": "n", "serviceAccountName": "streams", "automountServiceAccountToken": false,
            "containers": [{"name": "c", "image": "registry.example/app:1"}],
        }});
        let node = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}});
        setting.create("/api/v1/nodes", &node).await;
        setting.be_at("127.0.0.1").await;
        setting.create(PODS, &pod).await;
        let running = json!({"status": {"phase": "Running"}});
        setting.patch(&format!("{PODS}/p/status"), &running).await;
        setting
    }

    async fn create(&self, path: &str, object: &Value) {
        let made = self
            .connection
            .call(Method::POST, path, object.to_string())
            .await
            .unwrap();
        made.expect(201).unwrap();
    }

    /// Sets the address of the node.
    async fn be_at(&self, address: &str) {
        let status = json!({"status": {
            "addresses": [{"type": "InternalIP", "address": address}],
            "daemonEndpoints": {"kubeletEndpoint": {"Port": self.kubelet.port}},
        }});
        self.patch("/api/v1/nodes/n/status", &status).await;
    }

    async fn patch(&self, path: &str, patch: &Value) {
        let request = self.connection.request(Method::PATCH, path);
        let request = request.header("content-type", "application/merge-patch+json");
        let patched = self
            .connection
            .finish(request.body(patch.to_string().into()).unwrap())
            .await;
        patched.unwrap().expect(200).unwrap();
    }

    async fn get(&self, path: &str) -> Answer {
        self.connection.get(path).await.unwrap()
    }

    async fn upgrade(&self, method: Method, path: &str, headers: &[(&str, &str)]) -> http::Response<Incoming> {
        let endpoint = self.server.endpoint();
        let stream = TokioIo::new(endpoint.open("http/1.1").await.unwrap());
        let (mut sender, connection) = http1::handshake(stream).await.unwrap();
        tokio::spawn(connection.with_upgrades());
        let mut request = Request::builder()
            .method(method)
            .uri(path)
            .header(HOST, endpoint.authority())
            .header(AUTHORIZATION, format!("Bearer {}", endpoint.token()))
            .header(CONNECTION, "Upgrade");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        sender
            .send_request(request.body(Empty::<Bytes>::new()).unwrap())
            .await
            .unwrap()
    }

    async fn web_socket(&self, path: &str, protocol: &str) -> (HeaderMap, WebSocketStream<TokioIo<Upgraded>>) {
        let headers = [
            (UPGRADE.as_str(), "websocket"),
            ("sec-websocket-version", "13"),
            ("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="),
            ("sec-websocket-protocol", protocol),
        ];
        let mut answer = self.upgrade(Method::GET, path, &headers).await;
        assert_eq!(answer.status(), StatusCode::SWITCHING_PROTOCOLS);
        let stream = TokioIo::new(hyper::upgrade::on(&mut answer).await.unwrap());
        let client = WebSocketStream::from_raw_socket(stream, Role::Client, None).await;
        (answer.headers().clone(), client)
    }
}

#[tokio::test]
async fn a_node_on_loopback_is_no_proxy_into_the_server() {
    let mut setting = Setting::new().await;
    let port = setting.kubelet.port;
    for address in [
        "127.0.0.1",
        "localhost",
        "::1",
        "::127.0.0.1",
        "169.254.169.254",
        "fe80::1",
    ] {
        setting.be_at(address).await;
        for name in [
            "n".to_owned(),
            format!("n:{port}"),
            format!("https:n:{port}"),
            "n:1".to_owned(),
        ] {
            for rest in ["", "/", "/metrics?a=b"] {
                let refused = setting.get(&format!("/api/v1/nodes/{name}/proxy{rest}")).await;
                let refused = refused.expect(400).unwrap().json().unwrap();
                assert_eq!(refused["message"], "address not allowed", "{address} {name} {rest}");
                assert_eq!(refused["reason"], "BadRequest");
            }
        }
    }
    assert_eq!(setting.kubelet.request(), None, "the server dialled");
    // Pod subresources have fixed kubelet paths, so that kube-apiserver allows loopback addresses for them.
    setting.be_at("127.0.0.1").await;
    let log = setting.get(&format!("{PODS}/p/log")).await.expect(200).unwrap();
    assert_eq!(log.excerpt(), "lines");
    setting.be_at("169.254.169.254").await;
    let refused = setting.get(&format!("{PODS}/p/log")).await.expect(400).unwrap();
    assert_eq!(refused.json().unwrap()["message"], "address not allowed");
}

#[tokio::test]
async fn a_command_runs_over_web_socket() {
    let mut setting = Setting::new().await;
    let path = format!("{PODS}/p/exec?command=sh&command=-c&command=cat%3Bexit+3&stdin=true&stdout=true&container=c");
    let (headers, mut client) = setting.web_socket(&path, "v5.channel.k8s.io").await;
    assert_eq!(headers["sec-websocket-protocol"], "v5.channel.k8s.io");
    assert_eq!(client.next().await.unwrap().unwrap(), Message::binary(vec![1]));
    client.send(Message::binary(b"\0hello".to_vec())).await.unwrap();
    assert_eq!(
        client.next().await.unwrap().unwrap(),
        Message::binary(b"\x01hello".to_vec())
    );
    // After the input ends, the output continues.
    client.send(Message::binary(vec![255, 0])).await.unwrap();
    let status = client.next().await.unwrap().unwrap().into_data();
    let expected = "{\"metadata\":{},\"status\":\"Failure\",\"message\":\"command terminated with non-zero exit code: command \
                    terminated with exit code 3\",\"reason\":\"NonZeroExitCode\",\"details\":{\"causes\":[{\"reason\":\
                    \"ExitCode\",\"message\":\"3\"}]}}";
    assert_eq!(status[0], 3);
    assert_eq!(std::str::from_utf8(&status[1..]).unwrap(), expected);
    assert!(matches!(client.next().await, Some(Ok(Message::Close(_)))));
    let request = setting.kubelet.request().unwrap();
    let line = "POST /exec/default/p/c?command=sh&command=-c&command=cat%3Bexit+3&input=1&output=1 HTTP/1.1\r\n";
    assert!(request.starts_with(line), "{request}");

    // A forbidden address is refused before the protocol switch.
    setting.be_at("169.254.169.254").await;
    let headers = [
        (UPGRADE.as_str(), "websocket"),
        ("sec-websocket-version", "13"),
        ("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="),
        ("sec-websocket-protocol", "v5.channel.k8s.io"),
    ];
    let refused = setting.upgrade(Method::GET, &path, &headers).await;
    assert_eq!(refused.status(), StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn a_kubelet_that_speaks_web_socket_is_asked_in_it() {
    let mut setting = Setting::new().await;
    let declared = json!({"status": {"declaredFeatures": ["ExtendWebSocketsToKubelet"]}});
    setting.patch("/api/v1/nodes/n/status", &declared).await;
    for (stream, protocol, line) in [
        (
            "exec?command=true",
            "v5.channel.k8s.io",
            "GET /exec/default/p/c?command=true",
        ),
        (
            "attach?stdout=true",
            "v5.channel.k8s.io",
            "GET /attach/default/p/c?output=1",
        ),
        (
            "portforward",
            "SPDY/3.1+portforward.k8s.io",
            "GET /portForward/default/p",
        ),
    ] {
        let headers = [(UPGRADE.as_str(), "websocket"), ("sec-websocket-protocol", protocol)];
        // This kubelet declares the feature without supporting it.
        setting
            .upgrade(Method::GET, &format!("{PODS}/p/{stream}"), &headers)
            .await;
        let request = setting.kubelet.request().unwrap();
        assert!(request.starts_with(&format!("{line} HTTP/1.1\r\n")), "{request}");
        for header in ["upgrade: websocket", &format!("sec-websocket-protocol: {protocol}")] {
            assert!(request.contains(&format!("\r\n{header}\r\n")), "{request}");
        }
    }
}

#[tokio::test]
async fn ports_are_forwarded_over_web_socket_and_spdy() {
    let mut setting = Setting::new().await;
    let path = format!("{PODS}/p/portforward");
    let (headers, mut client) = setting.web_socket(&path, "SPDY/3.1+portforward.k8s.io").await;
    assert_eq!(headers["sec-websocket-protocol"], "SPDY/3.1+portforward.k8s.io");
    let ping = Message::binary(vec![0x80, 3, 0, 6, 0, 0, 0, 4, 0, 0, 0, 1]);
    client.send(ping.clone()).await.unwrap();
    assert_eq!(client.next().await.unwrap().unwrap(), ping);
    client.close(None).await.unwrap();
    let request = setting.kubelet.request().unwrap();
    assert!(
        request.starts_with("POST /portForward/default/p HTTP/1.1\r\n"),
        "{request}"
    );
    assert!(
        request
            .to_lowercase()
            .contains("x-stream-protocol-version: portforward.k8s.io\r\n"),
        "{request}"
    );

    let spdy = [
        (UPGRADE.as_str(), "SPDY/3.1"),
        ("x-stream-protocol-version", "portforward.k8s.io"),
    ];
    let answer = setting
        .upgrade(Method::POST, &format!("{path}?ports=80,443&ports=8080"), &spdy)
        .await;
    assert_eq!(answer.status(), StatusCode::SWITCHING_PROTOCOLS);
    let request = setting.kubelet.request().unwrap();
    assert!(
        request.starts_with("POST /portForward/default/p?port=80%2C443%2C8080 HTTP/1.1\r\n"),
        "{request}"
    );
    for (ports, why) in [
        ("80,x", "parsing \"x\": invalid syntax"),
        ("80,", "parsing \"\": invalid syntax"),
        ("-1", "parsing \"-1\": invalid syntax"),
        ("65536", "parsing \"65536\": value out of range"),
    ] {
        let refused = setting
            .upgrade(Method::POST, &format!("{path}?ports={ports}"), &spdy)
            .await;
        assert_eq!(refused.status(), StatusCode::BAD_REQUEST);
        let refused: Value = serde_json::from_slice(&refused.into_body().collect().await.unwrap().to_bytes()).unwrap();
        let expected = format!("cannot convert to []int32: strconv.ParseUint: {why}");
        assert_eq!(refused["message"], expected);
    }
    assert_eq!(setting.kubelet.request(), None);
}
